"""Runs a reader that is built on Textual's Markdown widget, and notes when that widget has its whole outline.

Usage: ``python outline_probe.py MARKER SCRIPT ARGUMENT...``. It runs in the reader's own environment, so it imports
nothing of this project. The moment is before the outline is painted, which favours the reader.
"""

import runpy
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from textual.widgets import Markdown

_marker = Path(sys.argv[1])
_begin = Markdown.TableOfContentsUpdated.__init__


def _note(self: Any, markdown: Any, table_of_contents: Any) -> None:  # noqa: ANN401 - differs by Textual's version
    _begin(self, markdown, table_of_contents)
    if table_of_contents:
        _marker.write_text(f"{monotonic()} {len(table_of_contents)}", "utf-8")


Markdown.TableOfContentsUpdated.__init__ = _note  # type: ignore[method-assign]
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
