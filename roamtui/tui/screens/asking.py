"""The main screen as far as asking goes: questions, commands on sections, and what fails on the way."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from textual import on
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.messages import NoticeKind
from roamtui.tui.commands import AskAboutWanted, MakeCommand
from roamtui.tui.copying import CopyWanted
from roamtui.tui.failure import describe_failure, forget_frames
from roamtui.tui.question_box import PASTE_LENGTH_MAX, QuestionBox
from roamtui.tui.screens.next_question import Aim, NextQuestion, aim_again
from roamtui.tui.screens.panes import PanesScreen

if TYPE_CHECKING:
    from roamtui.tui.context import FirstContext
    from roamtui.tui.conversing import Conversing
    from roamtui.tui.keys import Keys


class AskingScreen(PanesScreen):
    """Asks what a person wants to know, and shows what happens."""

    def __init__(self, first: FirstContext, keys: Keys, problems: tuple[str, ...] = ()) -> None:
        """Show `first`, and `problems` of the configuration in sentences."""
        super().__init__(first, keys)
        self._problems = problems
        self._asking: Worker[None] | None = None
        self._asked: tuple[str, Aim, int] | None = None
        """The question under way, what it is meant for, and the number that it will have."""
        self._next = NextQuestion(self.question_box, self.status_line)

    @cached_property
    def _conversing(self) -> Conversing:
        """What asks and dispatches."""
        from roamtui.tui.conversing import Conversing  # noqa: PLC0415 - not for the first screen
        from roamtui.tui.dispatch import EventDispatcher  # noqa: PLC0415
        from roamtui.tui.screens.approving import AskingApprover  # noqa: PLC0415

        agent = self.app_context.agent
        agent.session.approver = AskingApprover(self)
        return Conversing(agent, EventDispatcher(agent.session, self.tree_pane, self.chat_log, self.status_line))

    @on(ChatLog.Ready)
    def _show_past(self, event: ChatLog.Ready) -> None:
        """Show what was there before: what could not be used, and a saved conversation."""
        event.stop()
        self.status_line.show_state(self._first.state)
        for problem in self._problems:
            self.warn(problem)
        self.chat_log.restore()
        self.call_after_refresh(self._get_ready)

    def _get_ready(self) -> None:
        """Make and show all that the first screen did without."""
        context = self.app_context
        if context.options.examples != self._first.options.examples:
            self._welcome.show_examples(context.options.examples)
            self.question_box.propose(reversed(context.options.examples))
        for note in context.notes:
            self.chat_log.add_notice(note)
        for happened in self.session.opening_events:
            self._conversing.show(happened)
        self._warm_up()
        self.run_worker(self._conversing.index_ahead(self._show_progress), group="indexing", exit_on_error=False)
        _ = self.reader_pane.reader

    def _show_progress(self, words: str) -> None:
        self.status_line.change(message=words)

    def _warm_up(self) -> None:
        self.run_worker(self._conversing.warm_up(), group="warming", exit_on_error=False)

    def warn(self, text: str) -> None:
        """Say in the conversation that something is not as it should be."""
        self.chat_log.add_notice(text, NoticeKind.WARNING)

    def send(self, make: MakeCommand, *, otherwise: str = "") -> None:
        """Dispatch a command in its turn, and tell `otherwise` where there is nothing to do."""
        self.run_worker(self._send(make, otherwise), group="commands", exit_on_error=False)

    async def _send(self, make: MakeCommand, otherwise: str) -> None:
        if not await self._conversing.dispatch(make) and otherwise:
            self.status_line.change(message=otherwise)

    @on(QuestionBox.Sent)
    def _ask(self, event: QuestionBox.Sent) -> None:
        event.stop()
        if self.is_busy():
            return
        self.question_box.clear()
        self.question_box.remember(event.question)
        self.switch.show_chat()
        self._start_asking(event.question, self._next.take())

    def _start_asking(self, question: str, aim: Aim) -> None:
        """Show a question, then ask it: what answers it may have to be loaded, started or connected first."""
        self._asked = question, aim, aim.instead_of or self._first.state.question_number + 1
        if aim.instead_of is None:
            self._expect(question)
        self._asking = self.run_worker(self._ask_it(question, aim), group="asking", exit_on_error=False)

    def _expect(self, question: str) -> None:
        self.chat_log.expect(question, waiting_for=self.status_line.status.model)
        self.status_line.change(is_asking=True, step=0, message="")

    async def _ask_it(self, question: str, aim: Aim) -> None:
        if not self._first.is_whole:
            is_shown = asyncio.Event()
            self.call_after_refresh(is_shown.set)
            await is_shown.wait()
        if aim.instead_of is not None:
            await self._conversing.go_back(aim.instead_of)
            self._expect(question)
        await self._conversing.ask(question, within=aim.within)

    @on(ChatLog.AgainWanted)
    def _ask_again(self, event: ChatLog.AgainWanted) -> None:
        event.stop()
        exchanges = self.session.state.transcript.exchanges
        if self.is_asking or not exchanges:
            return
        library = self.session.state.library
        question, aim = exchanges[-1].question, aim_again(exchanges[-1], library)
        if not event.is_edited:
            self._start_asking(question, aim)
            return
        self._next.change(question, aim, library)
        self.switch.go_box()

    @on(AskAboutWanted)
    def _ask_about(self, event: AskAboutWanted) -> None:
        event.stop()
        self._next.narrow(event.section_id, self.session.state.library)
        self.switch.go_box()

    @property
    def is_asking(self) -> bool:
        """Whether an answer is under way."""
        return self._asking is not None and not self._asking.is_finished

    @on(QuestionBox.PasteRefused)
    def _refuse_paste(self, event: QuestionBox.PasteRefused) -> None:
        event.stop()
        self.notify(
            f"That paste has {event.length:,} characters; a question may have {PASTE_LENGTH_MAX:,}. Nothing was"
            " pasted. Save it as a file and open that instead.",
            severity="warning",
            markup=False,
        )

    def is_busy(self) -> bool:
        """Return whether an answer is under way, and say so."""
        if self.is_asking:
            stop_key = self._keys.show_first("global.copy_or_cancel")
            self.notify(f"An answer is under way. Wait for its end, or {stop_key} stops it.", markup=False)
        return self.is_asking

    def complain(self, reason: str | None) -> None:
        """Say for a moment why something cannot be done; nothing for None."""
        if reason is not None:
            self.notify(reason, severity="warning", markup=False)

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.chat_log.add_notice(describe_failure(event.worker.error), NoticeKind.ERROR)
        if event.worker.error is not None:
            forget_frames(event.worker.error)
        if event.worker is self._asking and event.worker.is_finished:
            self._end_asking()

    def _end_asking(self) -> None:
        """Put a question that was stopped before it began back where it was typed."""
        if self._asked is None:
            return
        (question, aim, number), self._asked = self._asked, None
        if self.session.state.question_number >= number:
            return
        self.chat_log.end_waiting()
        self.status_line.change(is_asking=False)
        if not self.question_box.text:
            self.question_box.fill(question)
            if aim.within is not None:
                self._next.narrow(aim.within, self.session.state.library)

    @override
    def action_step_out(self) -> None:
        if self.focused is not self.question_box or not self._next.leave():
            super().action_step_out()

    def action_copy_or_cancel(self) -> None:
        """Copy the selection; without one, stop the answer under way."""
        selected = self.question_box.selected_text if self.focused is self.question_box else ""
        selected = selected or self.get_selected_text() or ""
        if selected:
            self.post_message(CopyWanted(selected, "the selection"))
            self.clear_selection()
        elif self._asking is not None and self.is_asking:
            self._asking.cancel()
        else:
            quit_key = self._keys.show_first("global.quit")
            self.notify(f"Nothing is selected and nothing is under way. {quit_key} quits.", markup=False)
