"""`QuestionController`: what becomes of a question: shown, asked, asked again or about a section alone, stopped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.worker import Worker

from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten
from roamtui.tui.labels import format_full_path

if TYPE_CHECKING:  # the screen has one of these
    from roamtui.tui.screens.main import MainScreen

_WORDS_LENGTH_MAX = 500
"""Characters of selected words in a question; the section itself goes with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What a question is meant for."""

    replaces: Exchange | None = None
    """The exchange whose place it takes."""
    within: str | None = None
    """Id of the section that it is about, None for the whole document."""
    open_first: tuple[str, ...] = ()
    """Sections to open before it is asked."""


def retry_options(exchange: Exchange, library: Library) -> AskOptions:
    """Return what a question is meant for that is asked again: about the same section, if the document still has it."""
    within = exchange.within if exchange.within is not None and exchange.within in library else None
    return AskOptions(replaces=exchange, within=within)


class QuestionController:
    """Asks what a person wants to know, one question at a time; the box shows what the next one is meant for."""

    def __init__(self, screen: MainScreen) -> None:
        """Ask what stands in the box of `screen`, by its workers."""
        self._screen = screen
        self._first = screen.startup
        self._box = screen.question_box
        self._aim = AskOptions()
        self._worker: Worker[None] | None = None
        self._waiting: tuple[str, AskOptions] | None = None
        """A question that was sent and has not begun, and what it is meant for."""

    @property
    def is_running(self) -> bool:
        """Whether an answer is."""
        return self._worker is not None and not self._worker.is_finished

    def edit_last(self) -> None:
        """Let the person change the last question before it is asked again."""
        library = self._first.state.library
        exchange = self._first.state.transcript.exchanges[-1]
        self._aim = retry_options(exchange, library)
        self._box.fill(exchange.question)
        about = f" in {format_full_path(library, self._aim.within)}" if self._aim.within is not None else ""
        self._box.set_border_label(f"the last question{about}, changed · esc keeps it as it is")

    def ask_about_section(self, section_id: str | None, words: str = "") -> None:
        """Let the person ask about one section alone, or about words of it, which the question begins with."""
        if section_id is None:
            return
        self._aim = AskOptions(within=section_id)
        if words:
            self._box.fill(f"“{shorten(sanitise_line(words), _WORDS_LENGTH_MAX)}”\n{self._box.text}")
        self._box.set_border_label(
            f"in {format_full_path(self._first.state.library, section_id)} · esc asks the whole document"
        )

    def reset_options(self) -> bool:
        """Go back to a new question for the whole document; return whether it was anything else."""
        aim = self._pop_options()
        if aim.replaces is not None:
            self._box.clear()
        return aim != AskOptions()

    def _pop_options(self) -> AskOptions:
        """Return what the question is meant for; the one after it is a plain one again."""
        aim, self._aim = self._aim, AskOptions()
        if aim != AskOptions():
            self._box.set_border_label("")
        return aim

    def submit(self, question: str) -> None:
        """Ask what stands in the box."""
        self._box.clear()
        self._box.remember(question)
        self._start(question, self._pop_options())

    def retry(self, opening: tuple[str, ...] = ()) -> None:
        """Ask the last question again, in its place, with some sections opened before."""
        exchange = self._first.state.transcript.exchanges[-1]
        self._start(exchange.question, replace(retry_options(exchange, self._first.state.library), open_first=opening))

    def stop(self) -> None:
        """Stop the answer under way."""
        if self._worker is not None:
            self._worker.cancel()

    def note_begun(self) -> None:
        """Note that the question that was sent is part of the conversation."""
        self._waiting = None

    def on_worker_done(self, worker: Worker[object]) -> None:
        """Put a question that ended before it began back where it was typed, once its `worker` has ended."""
        if worker is not self._worker or not worker.is_finished or self._waiting is None:
            return
        (question, aim), self._waiting = self._waiting, None
        self._screen.chat_log.discard_pending()
        self._screen.status_line.update_status(is_asking=False)
        if not self._box.text:
            self._box.fill(question)
            self.ask_about_section(aim.within)

    def _start(self, question: str, aim: AskOptions) -> None:
        """Show a question, then ask it: what answers it may have to be loaded, started or connected first."""
        self._waiting = question, aim
        if aim.replaces is None:
            self.expect()
        self._worker = self._screen.run_worker(self._ask(question, aim), group="asking", exit_on_error=False)

    def expect(self) -> None:
        """Show the question that waits to begin, if there is one."""
        if self._waiting is None:
            return
        question, aim = self._waiting
        status = self._screen.status_line
        self._screen.chat_log.show_pending(question, aim.within, waiting_for=status.status.model)
        status.update_status(is_asking=True, step=0, message="")

    async def _ask(self, question: str, aim: AskOptions) -> None:
        if not self._first.is_ready:
            is_shown = asyncio.Event()
            self._screen.call_after_refresh(is_shown.set)
            await is_shown.wait()
        await self._screen.controller.ask(question, within=aim.within, replaces=aim.replaces, open_first=aim.open_first)
