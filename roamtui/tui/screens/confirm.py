"""A question with yes and no."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.tui.screens.overlay import Overlay

if TYPE_CHECKING:
    from textual.app import ComposeResult


class ConfirmScreen(Overlay[bool]):
    """Asks before something that cannot be taken back, or that leaves this machine; the safe answer has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
        Binding("left,right", "app.focus_next", "Other button", show=False),
    ]
    DEFAULT_CSS = """
    ConfirmScreen {
        & > Vertical { border: round $accent; }
        & .detail { color: $accent; margin: 1 0; }
        & Horizontal { height: auto; width: auto; }
        & Button {
            margin-right: 2;
            background: $surface;
            color: $foreground;
            text-style: none;
            &:hover { background: $surface; text-style: underline; }
            &:focus { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        }
    }
    """

    def __init__(self, question: str, detail: str = "", *, yes: str = "Yes", no: str = "No") -> None:
        """Ask `question`.

        Args:
            question: Our own words.
            detail: What it is about, such as an address; may come from a document.
            yes: What the button that agrees says.
            no: What the other button says.
        """
        super().__init__()
        self._question = question
        self._detail = detail
        self._yes = yes
        self._no = no

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled(self._question, "bold"))
            if self._detail:
                yield Static(Content(plain_text(self._detail)), classes="detail")
            with Horizontal():
                yield Button(Content(f"{self._no} (n)"), id="no", compact=True)
                yield Button(Content(f"{self._yes} (y)"), id="yes", compact=True)

    @on(Button.Pressed)
    def _take_answer(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:  # noqa: FBT001 - the argument of a binding
        """Close with an answer."""
        self.dismiss(answer)
