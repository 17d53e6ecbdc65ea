"""What becomes of a question: shown, asked, asked again or about a section alone, stopped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, assert_never

from textual.screen import Screen
from textual.worker import Worker
from typing_extensions import override

from roamtui.conversation.commands import Approval, Approver, CostApproval, ExpandSections, Origin, OriginApproval
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.plain import plain_line, shorten
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.context import FirstContext
from roamtui.tui.node_names import name_whole
from roamtui.tui.question_box import QuestionBox
from roamtui.tui.screens.pane_switch import Panes

if TYPE_CHECKING:
    from roamtui.conversation.session import Session
    from roamtui.tui.conversing import Conversing
    from roamtui.tui.screens.overlays import ConfirmScreen

_URL_LENGTH_MAX = 70
_WORDS_LENGTH_MAX = 500
"""Characters of selected words in a question; the section itself goes with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a question is meant for."""

    instead_of: int | None = None
    """Number of the question whose place it takes."""
    within: str | None = None
    """Id of the section that it is about, None for the whole document."""
    opening: tuple[str, ...] = ()
    """Sections to open before it is asked."""


def aim_again(exchange: Exchange, library: Library) -> Aim:
    """Return what a question is meant for that is asked again: about the same section, if the document still has it."""
    within = exchange.within if exchange.within is not None and exchange.within in library else None
    return Aim(instead_of=exchange.number, within=within)


class NextQuestion:
    """Shows at the box what the next question is meant for."""

    def __init__(self, box: QuestionBox) -> None:
        self._box = box
        self._aim = Aim()

    def change(self, question: str, aim: Aim, library: Library) -> None:
        """Let the person change a question before it is asked again."""
        self._aim = aim
        self._box.fill(question)
        about = f" in {name_whole(library, aim.within)}" if aim.within is not None else ""
        self._box.show_tag(f"the last question{about}, changed · esc keeps it as it is")

    def narrow(self, section_id: str, library: Library, words: str = "") -> None:
        """Let the person ask about one section alone, or about words of it, which the question begins with."""
        self._aim = Aim(within=section_id)
        if words:
            self._box.fill(f"“{shorten(plain_line(words), _WORDS_LENGTH_MAX)}”\n{self._box.text}")
        self._box.show_tag(f"in {name_whole(library, section_id)} · esc asks the whole document")

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
            self._box.show_tag("")
        return aim


class Asking:
    """Asks what a person wants to know, one question at a time."""

    def __init__(self, screen: Screen[None], first: FirstContext, panes: Panes) -> None:
        """Ask what `first` leads to, by workers of `screen`."""
        self._screen = screen
        self._first = first
        self._panes = panes
        self._log: ChatLog = panes.chat.log_view
        self._worker: Worker[None] | None = None
        self._asked: tuple[str, Aim, int] | None = None
        """The question under way, what it is meant for, and the number that it will have."""
        self.next = NextQuestion(panes.box)
        """The question that is being written."""

    @cached_property
    def conversing(self) -> Conversing:
        """What asks and dispatches."""
        from roamtui.tui.conversing import Conversing  # noqa: PLC0415 - not for the first screen
        from roamtui.tui.dispatch import EventDispatcher  # noqa: PLC0415

        agent = self._first.whole.agent
        agent.session.approver = AskingApprover(self._screen)
        dispatcher = EventDispatcher(self._panes.tree, self._log, self._panes.status)
        return Conversing(agent, dispatcher)

    @property
    def session(self) -> Session:
        """The conversation."""
        return self._first.whole.agent.session

    @property
    def is_under_way(self) -> bool:
        """Whether an answer is."""
        return self._worker is not None and not self._worker.is_finished

    def send(self, question: str) -> None:
        """Ask what stands in the box."""
        self._panes.box.clear()
        self._panes.box.remember(question)
        self._start(question, self.next.take())

    def repeat(self, opening: tuple[str, ...] = ()) -> None:
        """Ask the last question again, in its place, with some sections opened before."""
        exchange = self._first.state.transcript.exchanges[-1]
        aim = aim_again(exchange, self._first.state.library)
        self._start(exchange.question, replace(aim, opening=opening))

    def change(self) -> None:
        """Let the person change the last question."""
        library = self._first.state.library
        exchange = self._first.state.transcript.exchanges[-1]
        self.next.change(exchange.question, aim_again(exchange, library), library)

    def stop(self) -> None:
        """Stop the answer under way."""
        if self._worker is not None:
            self._worker.cancel()

    def note_worker(self, worker: Worker[object]) -> None:
        """Put a question that was stopped before it began back where it was typed, once its `worker` has ended."""
        if worker is not self._worker or not worker.is_finished or self._asked is None:
            return
        (question, aim, number), self._asked = self._asked, None
        if self._first.state.question_number >= number:
            return
        self._log.end_waiting()
        self._panes.status.change(is_asking=False)
        if not self._panes.box.text:
            self._panes.box.fill(question)
            if aim.within is not None:
                self.next.narrow(aim.within, self._first.state.library)

    def _start(self, question: str, aim: Aim) -> None:
        """Show a question, then ask it: what answers it may have to be loaded, started or connected first."""
        self._asked = question, aim, aim.instead_of or self._first.state.question_number + 1
        if aim.instead_of is None:
            self._expect(question, aim)
        self._worker = self._screen.run_worker(self._ask(question, aim), group="asking", exit_on_error=False)

    def _expect(self, question: str, aim: Aim) -> None:
        self._log.expect(question, aim.within, waiting_for=self._panes.status.status.model)
        self._panes.status.change(is_asking=True, step=0, message="")

    async def _ask(self, question: str, aim: Aim) -> None:
        if not self._first.is_whole:
            is_shown = asyncio.Event()
            self._screen.call_after_refresh(is_shown.set)
            await is_shown.wait()
        if aim.instead_of is not None:
            await self.conversing.go_back(aim.instead_of)
            self._expect(question, aim)
        if aim.opening:
            command = ExpandSections(section_ids=aim.opening, origin=Origin.PERSON)
            await self.conversing.dispatch(lambda _: command)
        await self.conversing.ask(question, within=aim.within)


class AskingApprover(Approver):
    """Asks the person before a question may cost more than they set, and before a page of another site is fetched.

    Must be called from a worker.
    """

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen

    @override
    async def approve(self, approval: Approval) -> bool:
        return await self._screen.app.push_screen_wait(_make_confirmation(approval))


def _make_confirmation(approval: Approval) -> ConfirmScreen:
    from roamtui.tui.screens.overlays import ConfirmScreen  # noqa: PLC0415 - not for the first screen

    match approval:
        case CostApproval(spent_usd=spent, cap_usd=cap):
            question = "The next request may pass your spending limit. Go on with this conversation?"
            return ConfirmScreen(question, f"spent ${spent:.2f} · limit ${cap:.2f}", yes="Go on", no="Stop")
        case OriginApproval(host=host, urls=urls):
            more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
            detail = f"{shorten(plain_line(urls[0]), _URL_LENGTH_MAX)}{more}" if urls else ""
            question = f"Fetch pages from {plain_line(host)}, for as long as this conversation goes on?"
            return ConfirmScreen(question, detail, yes="Fetch", no="No")
        case _:
            assert_never(approval)
