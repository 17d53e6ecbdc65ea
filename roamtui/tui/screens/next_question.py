"""What the next question will be: a new one, one that takes the last one's place, or one about a section alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from roamtui.conversation.transcript import Exchange
    from roamtui.tui.question_box import QuestionBox
    from roamtui.tui.status_line import StatusLine

_PLACEHOLDER = "Ask this document…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a question is meant for."""

    instead_of: int | None = None
    """Number of the question whose place it takes."""
    within: str | None = None
    """Id of the section that it is about, None for the whole document."""


class NextQuestion:
    """Shows in box and status line what the next question is meant for."""

    def __init__(self, box: QuestionBox, status: StatusLine) -> None:
        self._box = box
        self._status = status
        self._aim = Aim()

    def change(self, exchange: Exchange) -> None:
        """Let the person change a question that was asked."""
        self._aim = Aim(instead_of=exchange.number)
        self._box.fill(exchange.question)
        self._status.change(message="changing the last question; esc leaves it as it is")

    def narrow(self, section_id: str, title: str) -> None:
        """Let the person ask about one section; `title` must be safe for the screen."""
        self._aim = Aim(within=section_id)
        self._box.placeholder = Content(f"Ask about “{title}” alone…")
        self._status.change(message=f"the next question is about “{title}” alone; esc asks the whole document")

    def leave(self) -> bool:
        """Go back to a new question for the whole document; return whether it was anything else."""
        aim = self.take()
        if aim.instead_of is not None:
            self._box.clear()
        return aim != Aim()

    def take(self) -> Aim:
        """Return what the question is meant for; the one after it is a plain one again."""
        aim, self._aim = self._aim, Aim()
        if aim != Aim():
            self._box.placeholder = Content(_PLACEHOLDER)
            self._status.change(message="")
        return aim
