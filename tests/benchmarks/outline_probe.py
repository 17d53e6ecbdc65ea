"""Runs a reader that is built on Textual's Markdown widget, and notes when its outline is known, and when it is shown.

Usage: ``python outline_probe.py MARKER SCRIPT ARGUMENT...``. It runs in the reader's own environment, so it imports
nothing of this project. Shown means that its tree draws a first line, which is before that line is written and so
favours the reader.
"""

import runpy
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from textual.widgets import Markdown, Tree
from textual.widgets.markdown import MarkdownTableOfContents

_marker = Path(sys.argv[1])
_begin = Markdown.TableOfContentsUpdated.__init__
_draw = Tree.render_line
_shown: list[float] = []


def _note_known(self: Any, markdown: Any, table_of_contents: Any) -> None:  # noqa: ANN401 - differs by version
    _begin(self, markdown, table_of_contents)
    _note("known", len(table_of_contents))


def _note_shown(self: Any, y: int) -> Any:  # noqa: ANN401 - differs by version
    if not _shown and self.root.children and isinstance(self.parent, MarkdownTableOfContents):
        _shown.append(monotonic())
        _note("shown", len(self.root.children))
    return _draw(self, y)


def _note(what: str, headings: int) -> None:
    with _marker.open("a", encoding="utf-8") as marker:
        marker.write(f"{what} {headings} {monotonic()}\n")


Markdown.TableOfContentsUpdated.__init__ = _note_known  # type: ignore[method-assign]
Tree.render_line = _note_shown  # type: ignore[method-assign]
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
