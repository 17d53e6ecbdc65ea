"""`SideBySideDialog`: the answers to one question about several sources, in columns if there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static
from typing_extensions import override

from roamtui.document.plain import sanitise_text, shorten
from roamtui.tui.chat.content_view import Target, TargetActivated
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.screens.dialogs import Dialog

_COLUMN_WIDTH_MIN = 34
"""In terminal cells. If a column would be narrower, the answers are stacked."""
_QUESTION_LENGTH_MAX = 500


class SideBySideDialog(Dialog[Target | None]):
    """Shows exchanges next to each other. The result is the target that the person clicked, or None."""

    AUTO_FOCUS = "VerticalScroll"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("s,q,enter", "leave", "Close")]

    def __init__(self, question: str, answers: Sequence[tuple[Content, ExchangeView]]) -> None:
        """Show the answers to a question, each with the name of its source."""
        super().__init__()
        self._question = question
        self._answers = answers

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            question = shorten(sanitise_text(self._question), _QUESTION_LENGTH_MAX)
            yield Static(Content.styled(question, "bold $primary"))
            with VerticalScroll(), Horizontal():
                for name, view in self._answers:
                    with Vertical():
                        yield Static(name)
                        yield view
            yield Static(Content("esc to close"), classes="foot")

    @on(events.Resize)
    def _arrange(self, event: events.Resize) -> None:
        self.set_class(event.size.width < _COLUMN_WIDTH_MIN * len(self._answers), "-stacked")

    @on(TargetActivated)
    def _go(self, event: TargetActivated) -> None:
        event.stop()
        self.dismiss(event.target)
