"""A question whose answer is one typed line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.document.plain import plain_line
from roamtui.tui.screens.overlay import Overlay

if TYPE_CHECKING:
    from textual.app import ComposeResult


class PromptScreen(Overlay[str | None]):
    """Lets a person type a line; the result is None where they leave, and never empty."""

    DEFAULT_CSS = """
    PromptScreen > Vertical { width: 70; max-width: 92%; }
    """

    def __init__(self, heading: str, value: str, *, foot: str = "enter takes it, esc leaves") -> None:
        """Ask for a line.

        Args:
            heading: Our own words.
            value: What stands in the field at first; may come from a document.
            foot: Our own words below the field.
        """
        super().__init__()
        self._heading = heading
        self._value = plain_line(value)
        self._foot = foot

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._heading, "bold $primary"))
            yield Input(self._value, select_on_focus=False)
            yield Static(Content(self._foot), classes="foot")

    def on_mount(self) -> None:
        """Put the cursor behind what is proposed."""
        field = self.query_one(Input)
        field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        value = plain_line(event.value).strip()
        if value:
            self.dismiss(value)
