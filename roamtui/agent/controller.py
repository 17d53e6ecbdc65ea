"""The one way in which a front end changes a conversation, and hears what happens in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from roamtui.agent.generated_texts import ask_model_for_questions, suggest_questions
from roamtui.agent.loop import Agent
from roamtui.conversation.commands import Approver, Command, ExpandSections, Origin, deny
from roamtui.conversation.events import ConversationEvent
from roamtui.conversation.session import Session
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.parallel import run_in_thread
from roamtui.models.base import get_startup_note, warm_up_model
from roamtui.models.registry import OFFLINE
from roamtui.outline.render import compute_outline_budget
from roamtui.search.base import Hit, Indexable

CommandFactory = Callable[[ConversationState], Command | str]
"""Makes a command from the newest state when its turn comes, so that quick keys do not cross.

May return why there is nothing to do instead, or an empty string if that needs no explanation.
"""
_INDEXED_AHEAD_MIN = 5_000
"""Sections of a library whose index takes longer than anyone likes to wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationUpdated:
    """Something that happened in the conversation, with the newest state."""

    event: ConversationEvent
    state: ConversationState


class ConversationController:
    """Runs everything that changes a conversation in one queue, and tells subscribers what happened.

    Questions, reloads, rewinds and switches to another conversation wait for each other, first come, first served, so
    that a question is asked in the conversation that was on the screen when its turn came, and ends there.
    Section commands do not wait for an answer: while one is under way they only mark what is to close. To stop a
    question, cancel the task that asks it; its partial answer is kept and published before the cancellation goes on.
    """

    def __init__(self, agent: Agent, approve: Approver = deny) -> None:
        """Change the conversation of `agent`, which from now on nobody else may change.

        `approve` is called within the task that asks or dispatches, and may wait for a person: nothing else stops.
        """
        self.agent = agent
        agent.session.approver = approve
        self._subscribers: list[Callable[[ConversationUpdated], None]] = []
        # asyncio's locks are fair, which makes each of them a queue. Who needs both takes them in this order.
        self._queue = asyncio.Lock()
        self._commands = asyncio.Lock()

    @property
    def session(self) -> Session:
        """The conversation that is held now."""
        return self.agent.session

    @property
    def state(self) -> ConversationState:
        """The newest state."""
        return self.agent.session.state

    def subscribe(self, subscriber: Callable[[ConversationUpdated], None]) -> None:
        """Call `subscriber` with each update, in order and at once; it must not wait for anything."""
        self._subscribers.append(subscriber)

    async def ask(
        self,
        question: str,
        *,
        within: str | None = None,
        replaces: Exchange | None = None,
        open_first: tuple[str, ...] = (),
    ) -> None:
        """Ask a question in its turn.

        Args:
            question: A person's words.
            within: Id of the section that the question is about, None for the whole document.
            replaces: The exchange in whose place it is asked; it is rewound first. If the conversation does not have it
                any more, because another one was switched to, nothing is asked.
            open_first: Sections to open before.

        Raises:
            UnknownSectionError: `within` names no section.
        """
        async with self._queue, self._publishing_rest():
            if replaces is not None:
                if not _has_exchange(self.state, replaces):
                    return
                async with self._commands:
                    self._publish(*await self.session.rewind(replaces.number))
            if open_first:
                await self.dispatch(lambda _: ExpandSections(section_ids=open_first, origin=Origin.PERSON))
            await self._publish_each(self.agent.ask(question, within=within))

    async def dispatch(self, make: CommandFactory) -> str:
        """Carry out a section command as soon as those before it are done; an answer does not hold it up.

        A command that has to fetch a page holds up no other.

        Returns:
            Why nothing happened, if that is worth a word.
        """
        async with self._publishing_rest():
            async with self._commands:
                command = make(self.state)
                if isinstance(command, str):
                    return command
                must_fetch = self.session.needs_fetch(command)
                events = self.session.dispatch(command)
                if not must_fetch:
                    await self._publish_each(events)
            if must_fetch:
                await self._publish_each(events)
        return ""

    async def rewind(self, exchange: Exchange) -> None:
        """Take an exchange and all that followed out of the conversation; nothing happens if it is not in it any more.

        An exchange, unlike its number, cannot be mistaken for one of the conversation that was switched to meanwhile.
        """
        async with self._changing() as session:
            if _has_exchange(session.state, exchange):
                self._publish(*await session.rewind(exchange.number))

    async def reload(self, library: Library) -> None:
        """Continue over the document as it is now, once a question that is under way has ended."""
        async with self._changing() as session:
            events = await session.reload(library)
            if self.agent.searcher is not None:
                self.agent.searcher.refresh(session.state.library)
            self._publish(*events)

    async def rename(self, title: str) -> None:
        """Give the conversation another title."""
        async with self._publishing_rest(), self._commands:
            self._publish(*await self.session.rename(title))

    async def start_new(self) -> None:
        """Switch to a new conversation about the same document."""
        await self._switch(
            lambda session: Session.start(
                session.state.library, store=session.store, options=session.state.options, loader=session.loader
            )
        )

    async def resume(self, conversation_id: str) -> None:
        """Switch to a saved conversation about the same document.

        Raises:
            StoreError: It cannot be read; the one that is held stays.
        """

        def make(session: Session) -> Session:
            assert session.store is not None, "without a store there is no saved conversation"
            state = session.state
            return Session.resume(
                state.library, conversation_id, store=session.store, options=state.options, loader=session.loader
            )

        await self._switch(make)

    async def fork(self, exchange: Exchange) -> None:
        """Switch to a new conversation that shares everything before an exchange; the one before is kept.

        Nothing happens if the conversation does not have the exchange any more.
        """
        await self._switch(
            lambda session: session.fork(exchange.number) if _has_exchange(session.state, exchange) else session
        )

    async def _switch(self, make: Callable[[Session], Session]) -> None:
        """Switch to the conversation that `make` makes of the present one, in a thread."""

        def save_and_make() -> Session:
            session.flush()  # in the thread too: another program may hold the files for seconds
            return make(session)

        async with self._changing() as session:
            await self._publish_each(session.load_all())
            other = await asyncio.to_thread(save_and_make)
            if other is not session:
                self._publish(*session.switch_to(other))

    async def load_all(self) -> Library:
        """Read the files that were not read yet, and return the whole library."""
        async with self._commands:
            await self._publish_each(self.session.load_all())
        return self.state.library

    async def search(self, query: str, limit: int) -> tuple[Hit, ...]:
        """Return the sections that the configured search finds in the whole document.

        Raises:
            RoamtuiError: The search failed; the message is for the person.
        """
        searcher = self.agent.searcher
        if searcher is None or not query.strip():
            return ()
        searcher.refresh(await self.load_all())
        hits = await asyncio.to_thread(searcher.search, query, limit=limit)
        return tuple(hit for hit in hits if hit.section_id in self.state.library)

    async def warm_up(self) -> str:
        """Load and start what the first question needs, so that nobody waits for it; return the model's note."""
        await asyncio.to_thread(_warm_caches, self.state.library)
        model = self.agent.model
        await warm_up_model(model)
        return get_startup_note(model)

    async def index_ahead(self, report: Callable[[int, int], None]) -> None:
        """Bring the search index of a large source up to date before a question needs it, in a thread.

        The program may end meanwhile: what is not written by then is written the next time.

        Args:
            report: Called in the thread with the number of sections that are done, and of all.
        """
        searcher: object = self.agent.searcher
        library = self.state.library
        if len(library) < _INDEXED_AHEAD_MIN or library.list_unloaded() or not isinstance(searcher, Indexable):
            return
        await asyncio.wrap_future(run_in_thread(partial(searcher.prepare, report)))

    async def propose_questions(self) -> tuple[str, ...]:
        """Return questions to ask: from the model, or from the headings if no language model answers.

        Raises:
            ModelError: The model could not answer.
        """
        agent, library = self.agent, self.state.library
        if agent.model.name == OFFLINE:
            return suggest_questions(library)
        await warm_up_model(agent.model)
        budget = compute_outline_budget(library, agent.model.window_tokens, tokens=agent.options.outline_tokens)
        return await ask_model_for_questions(agent.model, library, budget_tokens=budget)

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[Session]:
        """Wait for everything that was requested before, and keep commands out meanwhile."""
        async with self._queue, self._commands, self._publishing_rest():
            yield self.session

    @asynccontextmanager
    async def _publishing_rest(self) -> AsyncIterator[None]:
        """Publish in the end what happened without being told, because the task that waited for it was cancelled."""
        try:
            yield
        finally:
            self._publish(*self.session.pop_undelivered_events())

    async def _publish_each(self, events: AsyncIterator[ConversationEvent]) -> None:
        async with aclosing(events) as stream:  # type: ignore[type-var]
            async for event in stream:
                self._publish(event)

    def _publish(self, *events: ConversationEvent) -> None:
        for event in events:
            update = ConversationUpdated(event=event, state=self.state)
            for subscriber in self._subscribers:
                subscriber(update)


def _warm_caches(library: Library) -> None:
    """Do what the first section that is opened and the first filter would otherwise wait for."""
    from rapidfuzz import fuzz, process  # noqa: F401, PLC0415 - importing it takes a while, so it happens in a thread

    for document in library.documents:
        _ = document.line_starts


def _has_exchange(state: ConversationState, exchange: Exchange) -> bool:
    """Return whether a conversation holds an exchange; later events may have been added to it."""
    found = state.transcript.exchanges[exchange.number - 1 : exchange.number]
    return [(one.question, one.answer) for one in found] == [(exchange.question, exchange.answer)]
