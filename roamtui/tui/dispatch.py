"""`Conversing`: sends a person's questions and commands to the core, and shows what happens, each event once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import assert_never

from roamtui.agent.loop import Agent
from roamtui.agent.writing import ask_model_for_questions, propose_questions
from roamtui.conversation.commands import Approval, CloseAgentSections, CostApproval, Origin, OriginApproval
from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ConversationChanged,
    ConversationEvent,
    LoadingProgressed,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    ReminderSent,
    RetryScheduled,
    SectionsClosed,
    SectionsExpanded,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
)
from roamtui.conversation.narration import Place, narrate
from roamtui.conversation.session import Session
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Stopped
from roamtui.document.library import Library
from roamtui.document.parallel import start
from roamtui.document.plain import plain_line, shorten
from roamtui.models.base import find_note, start_model
from roamtui.models.choose import OFFLINE
from roamtui.outline.render import limit_outline
from roamtui.search.base import Hit, Indexing
from roamtui.tui.commands import MakeCommand
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.screens.overlays import ConfirmScreen

_INDEXED_AHEAD_MIN = 5_000
"""Sections of a library from which on making the index takes longer than anyone likes to wait."""
_URL_LENGTH_MAX = 70
_CHANGES_NOTHING = (
    AnswerStreamed,
    LoadingProgressed,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
)
"""Events after which the state looks as before; some come many times a second."""


class Conversing:
    """Asks and dispatches, by the coroutines that the screen runs as workers."""

    def __init__(self, screen: MainScreen, agent: Agent) -> None:
        """Bring the widgets of `screen` up to date with what happens to `agent`, which asks the person what it may."""
        self._screen = screen
        self._agent = agent
        self._tree = screen.tree_pane
        self._chat = screen.chat_log
        self._status = screen.status_line
        self._one_at_a_time = asyncio.Lock()
        agent.session.approver = self.approve

    async def approve(self, approval: Approval) -> bool:
        """Ask the person before a question may cost more than they set, and before a page of another site is fetched.

        Must be called from a worker.
        """
        match approval:
            case CostApproval(spent_usd=spent, cap_usd=cap):
                question = "The next request may pass your spending limit. Go on with this conversation?"
                screen = ConfirmScreen(question, f"spent ${spent:.2f} · limit ${cap:.2f}", yes="Go on", no="Stop")
            case OriginApproval(host=host, urls=urls):
                more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
                detail = f"{shorten(plain_line(urls[0]), _URL_LENGTH_MAX)}{more}" if urls else ""
                question = f"Fetch pages from {plain_line(host)}, for as long as this conversation goes on?"
                screen = ConfirmScreen(question, detail, yes="Fetch", no="No")
            case _:
                assert_never(approval)
        return await self._screen.app.push_screen_wait(screen)

    async def go_back(self, number: int) -> None:
        """Go back to before question `number`: it and all that followed are no longer part of the conversation."""
        for event in await self._agent.session.rewind(number):
            self.show(event)

    async def ask(self, question: str, *, within: str | None = None) -> None:
        """Ask of the whole document or one section, and show all that happens; cancelled, what was answered so far."""
        number = self._agent.session.state.question_number
        try:
            async with aclosing(self._agent.ask(question, within=within)) as events:  # type: ignore[type-var]
                async for event in events:
                    self.show(event)
        finally:
            state = self._agent.session.state
            last = state.transcript.exchanges[-1] if state.question_number > number else None
            if last is not None and last.stopped is Stopped.CANCELLED:  # nobody waited for how it ended
                self.show(last.ending)
                for event in last.events:
                    if isinstance(event, SectionsClosed) and event.reason is CloseReason.BUDGET:
                        self.show(event)

    async def warm_up(self) -> None:
        """Start what model and first question need, so that nobody waits for it; say what to know of the model."""
        await asyncio.to_thread(_prepare, self._agent.session.state.library)
        model = self._agent.model
        await start_model(model)
        if note := find_note(model):
            self._chat.add_notice(note)

    async def index_ahead(self) -> None:
        """Bring the search index of a large source up to date before a question needs it, and say how far that is.

        Nobody who leaves waits for it: what is not written by then is written the next time.
        """
        searcher: object = self._agent.searcher
        library = self._agent.session.state.library
        if len(library) < _INDEXED_AHEAD_MIN or library.list_unloaded() or not isinstance(searcher, Indexing):
            return
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            words = f"indexing {done:,} of {total:,} sections"
            loop.call_soon_threadsafe(partial(self._status.change, message=words))

        try:
            await asyncio.wrap_future(start(partial(searcher.prepare, tell)))
        finally:
            self._status.change(message="")

    async def propose(self) -> tuple[str, ...]:
        """Return questions to ask: from the model, or from the headings where no language model answers.

        Raises:
            ModelError: The model could not answer.
        """
        agent = self._agent
        library = agent.session.state.library
        if agent.model.name == OFFLINE:
            return propose_questions(library)
        await start_model(agent.model)
        budget = limit_outline(library, agent.model.window_tokens, tokens=agent.options.outline_tokens)
        return await ask_model_for_questions(agent.model, library, budget_tokens=budget)

    async def dispatch(self, make: MakeCommand) -> str:
        """Carry out a command in its turn, and show what happened; none waits for the page that another one fetches.

        Returns:
            Why nothing happened, where that is worth a word.
        """
        session = self._agent.session
        async with self._one_at_a_time:
            command = make(session.state)
            if isinstance(command, str):
                return command
            events = session.dispatch(command)
            if not session.must_fetch(command):
                is_tidying = isinstance(command, CloseAgentSections)
                reason = "the model has nothing open that could be closed" if is_tidying else ""
                async for event in events:
                    reason = ""
                    self.show(event)
                return reason
        async for event in events:
            self.show(event)
        return ""

    async def load_all(self) -> Library:
        """Read the files that were not read yet, and return all that there is."""
        async with self._one_at_a_time:
            async for event in self._agent.session.load_all():
                self.show(event)
        return self._agent.session.state.library

    async def search(self, query: str, *, limit: int) -> tuple[Hit, ...]:
        """Return the sections that the configured search finds, in the document as a whole.

        Raises:
            RoamtuiError: It cannot be searched; the message is for the person.
        """
        searcher = self._agent.searcher
        if searcher is None or not query.strip():
            return ()
        searcher.refresh(await self.load_all())
        hits = await asyncio.to_thread(searcher.search, query, limit=limit)
        library = self._agent.session.state.library
        return tuple(hit for hit in hits if hit.section_id in library)

    async def turn_to(self, make: Callable[[Session], Session]) -> None:
        """Hold another conversation from now on, made from the session of the one before."""
        async with self._one_at_a_time:
            session = self._agent.session
            async for event in session.load_all():
                self.show(event)
            other = await asyncio.to_thread(make, session)
            if session.state.is_asking:
                return
            for event in session.turn_to(other):
                self.show(event)

    async def reload(self, library: Library) -> bool:
        """Go on over the document as it is now; return whether that could be done, which it cannot while asking."""
        async with self._one_at_a_time:
            session = self._agent.session
            if session.state.is_asking:
                return False
            events = await session.reload(library)
            if self._agent.searcher is not None:
                self._agent.searcher.refresh(library)
            for event in events:
                self.show(event)
            return True

    def show(self, event: ConversationEvent) -> None:
        """Show something that happened, with the state after it."""
        state = self._agent.session.state
        if not isinstance(event, _CHANGES_NOTHING):
            self._tree.show(state)
            self._status.show_state(state)
        self._show_event(state, event)
        if not isinstance(event, AnswerStreamed):
            self._tell(state, event)

    def _show_event(  # noqa: C901 - one case an event
        self, state: ConversationState, event: ConversationEvent
    ) -> None:
        """Show what is more than words and the state after it."""
        current = self._chat.current
        match event:
            case QuestionAsked(number=number, question=question):
                self._chat.begin(number, question)
                self._status.change(is_asking=True, step=0, message="")
            case StepStarted(number=number):
                self._put_draft_away(state)
                self._status.change(step=number)
            case AnswerStreamed(text=text) if current is not None:
                current.append_answer(text)
            case ThinkingStreamed(text=text) if current is not None:
                current.show_thought(text)
            case QuestionAnswered(number=number):
                self._status.change(is_asking=False, step=0)
                self._tree.reveal_cited()
                if current is not None:
                    current.finish(state.transcript.exchanges[number - 1], state.library)
            case SectionsSearched(hits=hits):
                self._tree.outline.mark(found=(hit.section_id for hit in hits))
            case SectionsExpanded(origin=Origin.AGENT, opened_ids=opened) if opened:
                self._tree.outline.mark(batch=opened)
                self._tree.outline.reveal(opened[-1])
                self._screen.reading.follow_opened(opened[-1])
            case NodesLoaded(section_ids=ids):
                self._status.change(message="")
                self._screen.reading.show_loaded(ids)
            case QuestionsTakenBack(first=number):
                self._chat.forget(number)
                self._status.change(message="")
            case ConversationChanged():
                self._chat.start_over()
                self._tree.outline.mark(found=())
                self._status.change(is_asking=False, step=0, message="")
            case _:
                pass

    def _tell(self, state: ConversationState, event: ConversationEvent) -> None:
        """Say what happened: above the answer under way what was done for it, below it what else is to be known."""
        passing: list[str] = []
        for piece in narrate(event, state.library):
            if piece.place is Place.ANSWER and state.is_asking and self._chat.current is not None:
                self._put_draft_away(state)
                self._chat.current.add_piece(piece)
            elif piece.place in (Place.ANSWER, Place.CHAT):
                self._chat.add_notice(piece.write(with_ids=False), piece.weight)
            elif piece.place is Place.MOMENT:
                passing.append(piece.brief or piece.words)
        if passing:
            self._status.change(message="; ".join(passing))

    def _put_draft_away(self, state: ConversationState) -> None:
        """Take what the answer under way says so far for a draft: the model goes on working."""
        if self._chat.current is not None:
            for draft in self._chat.current.take_draft():
                for piece in narrate(draft, state.library):
                    self._chat.current.add_piece(piece)


def _prepare(library: Library) -> None:
    """Do what the first section that is opened and the first filter would otherwise wait for."""
    from rapidfuzz import fuzz, process  # noqa: F401, PLC0415 - loaded here, in a thread

    for document in library.documents:
        _ = document.line_starts
