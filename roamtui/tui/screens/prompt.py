"""A question whose answer is one typed line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.document.plain import plain_line

if TYPE_CHECKING:
    from textual.app import ComposeResult


class PromptScreen(ModalScreen[str | None]):
    """Lets a person type a line; the result is None where they leave, and never empty."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]
    DEFAULT_CSS = """
    PromptScreen {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 70;
            max-width: 92%;
            height: auto;
            padding: 1 2;
            background: $panel;
            border: round $primary;
        }
        & Input {
            height: 1;
            margin: 1 0;
            border: none;
            padding: 0 1;
            background: $background;
            &:focus { border: none; background-tint: $panel 0%; }
        }
        & .foot { color: $muted; }
    }
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

    def action_leave(self) -> None:
        """Type nothing."""
        self.dismiss(None)
