"""Asks and dispatches: the coroutines that the app runs as workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from functools import partial

from roamtui.agent.examples import ask_model_for_questions, propose_questions
from roamtui.agent.loop import Agent
from roamtui.conversation.commands import Command
from roamtui.conversation.events import CloseReason, ConversationEvent, SectionsClosed
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Stopped
from roamtui.document.library import Library
from roamtui.document.parallel import start
from roamtui.models.base import find_note, start_model
from roamtui.models.choose import OFFLINE
from roamtui.search.base import Hit, Indexing
from roamtui.tui.commands import MakeCommand
from roamtui.tui.dispatch import EventDispatcher

_INDEXED_AHEAD_MIN = 5_000
"""Sections of a library from which on making the index takes longer than anyone likes to wait."""


class Conversing:
    """Sends a person's questions and commands to the core, and what happens to the dispatcher."""

    def __init__(self, agent: Agent, dispatcher: EventDispatcher) -> None:
        self._agent = agent
        self._dispatcher = dispatcher
        self._one_at_a_time = asyncio.Lock()

    async def go_back(self, number: int) -> None:
        """Go back to before question `number`: it and all that followed are no longer part of the conversation."""
        for event in await self._agent.session.rewind(number):
            self.show(event)

    async def ask(self, question: str, *, within: str | None = None) -> None:
        """Ask, and show all that happens; cancelled, show what was answered so far.

        Args:
            question: A person's words.
            within: Id of the section that the question is about, None for the whole document.
        """
        number = self._agent.session.state.question_number
        try:
            async with aclosing(self._agent.ask(question, within=within)) as events:  # type: ignore[type-var]
                async for event in events:
                    self.show(event)
        finally:
            if self._agent.session.state.question_number > number:
                self._show_interrupted()

    async def warm_up(self) -> None:
        """Start what model and first question need, so that nobody waits for it; say what to know of the model."""
        await asyncio.to_thread(_prepare, self._agent.session.state.library)
        model = self._agent.model
        await start_model(model)
        if note := find_note(model):
            self._dispatcher.note(note)

    async def index_ahead(self, show: Callable[[str], None]) -> None:
        """Bring the search index of a large source up to date before a question needs it.

        Nobody who leaves waits for it: what is not written by then is written the next time.

        Args:
            show: Is told how far that is, and an empty text at the end.
        """
        searcher: object = self._agent.searcher
        library = self._agent.session.state.library
        if len(library) < _INDEXED_AHEAD_MIN or library.list_unloaded() or not isinstance(searcher, Indexing):
            return
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            loop.call_soon_threadsafe(show, f"indexing {done:,} of {total:,} sections")

        try:
            await asyncio.wrap_future(start(partial(searcher.prepare, tell)))
        finally:
            show("")

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
        budget = agent.options.outline_budget(library, agent.model.window_tokens)
        return await ask_model_for_questions(agent.model, library, budget_tokens=budget)

    async def dispatch(self, make: MakeCommand) -> bool:
        """Carry out a command in its turn, and show what happened; none waits for the page that another one fetches.

        Returns:
            Whether anything happened.
        """
        session = self._agent.session
        async with self._one_at_a_time:
            command = make(session.state)
            if command is None:
                return False
            if not session.must_fetch(command):
                return await self._carry_out(command)
        return await self._carry_out(command)

    async def _carry_out(self, command: Command) -> bool:
        has_happened = False
        async for event in self._agent.session.dispatch(command):
            self.show(event)
            has_happened = True
        return has_happened

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

    def note(self, text: str) -> None:
        """Say in the conversation what a person should know."""
        self._dispatcher.note(text)

    def show(self, event: ConversationEvent) -> None:
        """Show something that happened."""
        self._dispatcher.show(self._agent.session.state, event)

    def _show_interrupted(self) -> None:
        """Show how an answer ended that nobody waited for, and what was closed then."""
        exchanges = self._agent.session.state.transcript.exchanges
        if exchanges and exchanges[-1].stopped is Stopped.CANCELLED:
            self.show(exchanges[-1].ending)
            for event in exchanges[-1].events:
                if isinstance(event, SectionsClosed) and event.reason is CloseReason.BUDGET:
                    self.show(event)


def _prepare(library: Library) -> None:
    """Do what the first section that is opened and the first filter would otherwise wait for."""
    from rapidfuzz import fuzz, process  # noqa: F401, PLC0415 - loaded here, in a thread

    for document in library.documents:
        _ = document.line_starts
