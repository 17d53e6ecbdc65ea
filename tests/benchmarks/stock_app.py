"""An app with Textual's own widgets in the places of roamtui's, empty: `python -m tests.benchmarks.stock_app`."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Static, TextArea, Tree
from typing_extensions import override


class StockApp(App[None]):
    """Header, outline, conversation, reader, question box and status line, with nothing in them."""

    DEFAULT_CSS = """
    StockApp {
        .line { height: 1; }
        TextArea { height: 4; }
        Input { display: none; }
        Vertical { width: 1fr; border: round $primary; }
    }
    """

    @override
    def compose(self) -> ComposeResult:
        yield Static("Stock", classes="line")
        with Horizontal():
            with Vertical():
                yield Static("Outline", classes="line")
                yield Tree("Document")
                yield Input()
            with Vertical():
                yield Static("Conversation", classes="line")
                yield VerticalScroll(Static("Welcome"))
                yield TextArea()
            with Vertical():
                yield Static("Reader", classes="line")
                yield VerticalScroll()
                yield Input()
        yield Static("Status", classes="line")


if __name__ == "__main__":
    StockApp().run()
