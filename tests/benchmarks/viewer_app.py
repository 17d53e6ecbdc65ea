"""Textual's own MarkdownViewer with its outline beside it: ``python viewer_app.py FILE``."""

import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import MarkdownViewer
from typing_extensions import override


class Viewer(MarkdownViewer, can_focus=True):
    """A viewer that takes the keys itself."""


class ViewerApp(App[None]):
    """One file in one viewer."""

    AUTO_FOCUS = "Viewer"

    @override
    def compose(self) -> ComposeResult:
        yield Viewer(Path(sys.argv[1]).read_text("utf-8"), show_table_of_contents=True)


if __name__ == "__main__":
    ViewerApp().run()
