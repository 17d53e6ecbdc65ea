"""`Asking`: what becomes of a question: shown, asked, asked again or about a section alone, stopped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.worker import Worker

from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.plain import plain_line, shorten
from roamtui.tui.node_names import name_whole

if TYPE_CHECKING:  # the screen has one of these
    from roamtui.tui.screens.main import MainScreen

_WORDS_LENGTH_MAX = 500
"""Characters of selected words in a question; the section itself goes with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a question is meant for."""

    instead_of: Exchange | None = None
    """The exchange whose place it takes."""
    within: str | None = None
    """Id of the section that it is about, None for the whole document."""
    opening: tuple[str, ...] = ()
    """Sections to open before it is asked."""


def aim_again(exchange: Exchange, library: Library) -> Aim:
    """Return what a question is meant for that is asked again: about the same section, if the document still has it."""
    within = exchange.within if exchange.within is not None and exchange.within in library else None
    return Aim(instead_of=exchange, within=within)


class Asking:
    """Asks what a person wants to know, one question at a time; the box shows what the next one is meant for."""

    def __init__(self, screen: MainScreen) -> None:
        """Ask what stands in the box of `screen`, by its workers."""
        self._screen = screen
        self._first = screen.first
        self._box = screen.question_box
        self._aim = Aim()
        self._worker: Worker[None] | None = None
        self._waiting: tuple[str, Aim] | None = None
        """A question that was sent and has not begun, and what it is meant for."""

    @property
    def is_under_way(self) -> bool:
        """Whether an answer is."""
        return self._worker is not None and not self._worker.is_finished

    def change(self) -> None:
        """Let the person change the last question before it is asked again."""
        library = self._first.state.library
        exchange = self._first.state.transcript.exchanges[-1]
        self._aim = aim_again(exchange, library)
        self._box.fill(exchange.question)
        about = f" in {name_whole(library, self._aim.within)}" if self._aim.within is not None else ""
        self._box.show_tag(f"the last question{about}, changed · esc keeps it as it is")

    def narrow(self, section_id: str | None, words: str = "") -> None:
        """Let the person ask about one section alone, or about words of it, which the question begins with."""
        if section_id is None:
            return
        self._aim = Aim(within=section_id)
        if words:
            self._box.fill(f"“{shorten(plain_line(words), _WORDS_LENGTH_MAX)}”\n{self._box.text}")
        self._box.show_tag(f"in {name_whole(self._first.state.library, section_id)} · esc asks the whole document")

    def leave(self) -> bool:
        """Go back to a new question for the whole document; return whether it was anything else."""
        aim = self._take_aim()
        if aim.instead_of is not None:
            self._box.clear()
        return aim != Aim()

    def _take_aim(self) -> Aim:
        """Return what the question is meant for; the one after it is a plain one again."""
        aim, self._aim = self._aim, Aim()
        if aim != Aim():
            self._box.show_tag("")
        return aim

    def send(self, question: str) -> None:
        """Ask what stands in the box."""
        self._box.clear()
        self._box.remember(question)
        self._start(question, self._take_aim())

    def repeat(self, opening: tuple[str, ...] = ()) -> None:
        """Ask the last question again, in its place, with some sections opened before."""
        exchange = self._first.state.transcript.exchanges[-1]
        self._start(exchange.question, replace(aim_again(exchange, self._first.state.library), opening=opening))

    def stop(self) -> None:
        """Stop the answer under way."""
        if self._worker is not None:
            self._worker.cancel()

    def note_begun(self) -> None:
        """Note that the question that was sent is part of the conversation."""
        self._waiting = None

    def note_worker(self, worker: Worker[object]) -> None:
        """Put a question that ended before it began back where it was typed, once its `worker` has ended."""
        if worker is not self._worker or not worker.is_finished or self._waiting is None:
            return
        (question, aim), self._waiting = self._waiting, None
        self._screen.chat_log.end_waiting()
        self._screen.status_line.change(is_asking=False)
        if not self._box.text:
            self._box.fill(question)
            self.narrow(aim.within)

    def _start(self, question: str, aim: Aim) -> None:
        """Show a question, then ask it: what answers it may have to be loaded, started or connected first."""
        self._waiting = question, aim
        if aim.instead_of is None:
            self.expect()
        self._worker = self._screen.run_worker(self._ask(question, aim), group="asking", exit_on_error=False)

    def expect(self) -> None:
        """Show the question that waits to begin, if there is one."""
        if self._waiting is None:
            return
        question, aim = self._waiting
        status = self._screen.status_line
        self._screen.chat_log.expect(question, aim.within, waiting_for=status.status.model)
        status.change(is_asking=True, step=0, message="")

    async def _ask(self, question: str, aim: Aim) -> None:
        if not self._first.is_whole:
            is_shown = asyncio.Event()
            self._screen.call_after_refresh(is_shown.set)
            await is_shown.wait()
        await self._screen.controller.ask(question, within=aim.within, replaces=aim.instead_of, open_first=aim.opening)
