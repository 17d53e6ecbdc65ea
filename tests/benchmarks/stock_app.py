"""An app with Textual's own widgets in the places of roamtui's, empty: `python -m tests.benchmarks.stock_app`."""

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static, TextArea, Tree
from typing_extensions import override


class StockApp(App[None]):
    """Outline, conversation, reader, question box and status line, with nothing in them."""

    DEFAULT_CSS = "StockApp { TextArea { height: 4; } Vertical { width: 1fr; border: round $primary; } }"

    @override
    def compose(self) -> ComposeResult:
        with Horizontal():
            with Vertical():
                yield Static("Outline")
                yield Tree("Document")
            with Vertical():
                yield VerticalScroll(Static("Welcome"))
                yield TextArea()
            with Vertical():
                yield VerticalScroll(Static("Reader"))
        yield Static("Status")


if __name__ == "__main__":
    StockApp().run()
