"""What the next question will be: a new one, one that takes the last one's place, or one about a section alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from roamtui.conversation.transcript import Exchange
    from roamtui.document.library import Library
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


def aim_again(exchange: Exchange, library: Library) -> Aim:
    """Return what a question is meant for that is asked again: about the same section, if the document still has it."""
    within = exchange.within if exchange.within is not None and exchange.within in library else None
    return Aim(instead_of=exchange.number, within=within)


class NextQuestion:
    """Shows in box and status line what the next question is meant for."""

    def __init__(self, box: QuestionBox, status: StatusLine) -> None:
        self._box = box
        self._status = status
        self._aim = Aim()

    def change(self, question: str, aim: Aim, library: Library) -> None:
        """Let the person change a question before it is asked again."""
        about = self._show_section(aim, library)
        self._aim = aim
        self._box.fill(question)
        self._status.change(message=f"changing the last question{about}; esc keeps it as it is")

    def narrow(self, section_id: str, library: Library) -> None:
        """Let the person ask about one section alone."""
        self._aim = Aim(within=section_id)
        about = self._show_section(self._aim, library)
        self._status.change(message=f"the next question is{about}; esc asks the whole document")

    def _show_section(self, aim: Aim, library: Library) -> str:
        """Show in the empty box which section a question is about; return it in words, with a space before them."""
        from roamtui.tui.chat.narration import name_section  # noqa: PLC0415 - not for the first screen

        if aim.within is None:
            return ""
        about = f" about “{name_section(aim.within, library)}” alone"
        self._box.placeholder = Content(f"Ask{about}…")
        return about

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
