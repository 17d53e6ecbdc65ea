"""`ConversationController`: the only way in which front ends change a conversation and receive its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import Approver, Command, ExpandSections, Origin, deny
from roamtui.conversation.events import ConversationEvent
from roamtui.conversation.session import Session
from roamtui.conversation.state import AskOptions, ConversationState, Exchange, start_conversation
from roamtui.conversation.transcript import StopReason
from roamtui.document.added_sources import (
    SourceOpener,
    add_loader,
    add_source,
    list_sources_of,
    make_source_key,
    mute_source,
)
from roamtui.document.library import Library
from roamtui.document.library_source import LibrarySource, make_short_name
from roamtui.document.loader import Loader, load_files
from roamtui.document.parallel import run_in_thread
from roamtui.errors import UsageError
from roamtui.models.base import get_startup_note, warm_up_model
from roamtui.search.base import Hit, Progress, Searcher

CommandFactory = Callable[[ConversationState], Command | str]
"""A function that makes a command from the state at the moment when it is the command's turn.

So each of several fast key presses sees the effect of those before it. If there is nothing to do, the function returns
the reason instead, or an empty string if no reason needs to be shown.
"""
_INDEXED_AHEAD_MIN = 5_000
"""Minimum number of sections for indexing ahead. Indexing fewer takes no noticeable time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationUpdated:
    """An event of the conversation, with the state after it."""

    event: ConversationEvent
    state: ConversationState


class ConversationController:
    """Runs all changes of a conversation in one queue, and publishes their events.

    Questions, reloads, rewinds and switches to another conversation wait for each other, first come, first served. So
    a question ends in the conversation in which it started. Section commands do not wait for an answer; during a
    question, sections are only marked for closing. To stop a question, cancel the task that asks it: its partial answer
    is saved and published before the cancellation propagates.
    """

    def __init__(self, agent: Agent, approve: Approver = deny) -> None:
        """Take control of the conversation of `agent`. Nothing else may change it from now on.

        `approve` is called in the task that asks or dispatches. It may wait for a person; nothing else blocks.
        """
        self.agent = agent
        agent.session.approver = approve
        self._subscribers: list[Callable[[ConversationUpdated], None]] = []
        # An asyncio lock serves waiting tasks in order, so it is a queue. To avoid deadlocks, keep this order of locks.
        self._queue = asyncio.Lock()
        self._commands = asyncio.Lock()
        self._has_answered = True
        """Whether the last question got its whole answer."""

    @property
    def session(self) -> Session:
        """The current conversation."""
        return self.agent.session

    @property
    def state(self) -> ConversationState:
        """The current state."""
        return self.agent.session.state

    def subscribe(self, subscriber: Callable[[ConversationUpdated], None]) -> None:
        """Call `subscriber` with each update, in order and immediately. It must not block."""
        self._subscribers.append(subscriber)

    async def ask(self, question: str, options: AskOptions = AskOptions()) -> bool:
        """Ask a question once all earlier requests are done. Return whether `options` still allowed it.

        Raises:
            UnknownSectionError: There is no section `options.within`.
        """
        conversation_id, replaces, open_first = self.state.id, options.replaces, options.open_first
        async with self._queue, self._publishing_rest():
            if options.needs_previous_answer and not (self._has_answered and self.state.id == conversation_id):
                return False
            self._has_answered = False
            if replaces is not None:
                if not _has_exchange(self.state, replaces):
                    return False
                async with self._commands:
                    self._publish(*await self.session.rewind(replaces.number))
            if open_first:
                await self.dispatch(lambda _: ExpandSections(section_ids=open_first, origin=Origin.PERSON))
            await self._publish_each(self.agent.ask(question, within=options.within))
            stopped = self.state.transcript.exchanges[-1].stopped
            self._has_answered = stopped in (StopReason.ANSWERED, StopReason.NOT_FOUND)
            return True

    async def dispatch(self, make: CommandFactory) -> str:
        """Carry out a section command after the earlier ones, without waiting for an answer.

        While a command fetches a page, others can run.

        Returns:
            The reason why nothing happened, or an empty string.
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
        """Remove an exchange and all later ones, if the conversation still has it.

        After a switch to another conversation, a number could refer to a different exchange.
        """
        async with self._changing() as session:
            if _has_exchange(session.state, exchange):
                self._publish(*await session.rewind(exchange.number))

    async def reload(self, library: Library) -> None:
        """Continue with a new version of the document, after the current question has ended."""
        async with self._changing() as session:
            events = await session.reload(library)
            if self.agent.searcher is not None:
                self.agent.searcher.refresh(session.state.unmuted_library)
            self._publish(*events)

    async def add_source(self, name: str) -> LibrarySource:
        """Add a source to the conversation, after the current question has ended. The next question sees it.

        Raises:
            RoamtuiError: The source cannot be opened, or the conversation has it already. Nothing changes.
        """
        session = self.session
        if session.open_source is None:
            raise UsageError("no source can be added here. Start roamtui with all of them.")
        part, loader = await asyncio.wrap_future(run_in_thread(partial(_open_and_load, session.open_source, name)))
        async with self._changing():
            library = self.state.library
            if part.source in {source.name for source in list_sources_of(library)}:
                raise UsageError(f"{make_short_name(part.source)} is a source of this conversation already.")
            source = LibrarySource(name=part.source, key=make_source_key(library, part.source))
            await self._change_sources(
                await asyncio.to_thread(add_source, library, source, part),
                add_loader(session.loader, source.key, loader),
            )
        return source

    async def remove_source(self, key: str) -> None:
        """Take a source out of the conversation, after the current question has ended. Its files stay as they are.

        Raises:
            UsageError: No unmuted source would be left.
        """
        async with self._changing() as session:
            library = self.state.library
            _check_other_unmuted(library, key)
            keys = {source.key for source in list_sources_of(library)} - {key}
            await self._change_sources(library.select_sources(keys), session.loader)

    async def mute_source(self, key: str, *, is_muted: bool) -> None:
        """Mute or unmute a source, after the current question has ended. The model does not see a muted source.

        Raises:
            UsageError: No unmuted source would be left.
        """
        async with self._changing() as session:
            if is_muted:
                _check_other_unmuted(self.state.library, key)
            await self._change_sources(mute_source(self.state.library, key, is_muted=is_muted), session.loader)

    async def _change_sources(self, library: Library, loader: Loader | None) -> None:
        if library is self.state.library:
            return
        events = await self.session.change_sources(library, loader)
        if self.agent.searcher is not None:
            self.agent.searcher.refresh(self.state.unmuted_library)
        self._publish(*events)

    async def rename(self, title: str) -> None:
        """Change the title of the conversation."""
        async with self._publishing_rest(), self._commands:
            self._publish(*await self.session.rename(title))

    async def start_new(self) -> None:
        """Switch to a new conversation about the same document."""

        def make(session: Session) -> Session:
            state = start_conversation(session.state.library, session.state.options)
            return Session(state, session.store, loader=session.loader, open_source=session.open_source)

        await self._switch(make)

    async def resume(self, conversation_id: str) -> None:
        """Switch to a saved conversation about the same document.

        Raises:
            StoreError: The conversation cannot be read. The current one stays.
        """

        def make(session: Session) -> Session:
            assert session.store is not None, "without a store there is no saved conversation"
            state = session.state
            return Session.resume(
                state.library,
                conversation_id,
                store=session.store,
                options=state.options,
                loader=session.loader,
                open_source=session.open_source,
            )

        await self._switch(make)

    async def fork(self, exchange: Exchange) -> None:
        """Branch off a new conversation that ends before `exchange`, and switch to it. Do nothing if it was removed."""
        await self._switch(
            lambda session: session.fork(exchange.number) if _has_exchange(session.state, exchange) else session
        )

    async def _switch(self, make: Callable[[Session], Session]) -> None:
        """Switch to the conversation that `make` creates from the current one in a thread."""

        def save_and_make() -> Session:
            session.flush()  # also in the thread, because another program may lock the files for seconds
            return make(session)

        async with self._changing() as session:
            await self._publish_each(session.load_all())
            other = await asyncio.to_thread(save_and_make)
            if other is not session:
                self._publish(*session.switch_to(other))

    async def load_all(self) -> Library:
        """Load the remaining files, and return the whole library without muted sources."""
        async with self._commands:
            await self._publish_each(self.session.load_all())
        return self.state.unmuted_library

    async def search(self, query: str, limit: int) -> tuple[Hit, ...]:
        """Search the whole document with the configured search mode.

        Raises:
            RoamtuiError: The search failed. The message is for the person.
        """
        searcher = self.agent.searcher
        if searcher is None or not query.strip():
            return ()
        searcher.refresh(await self.load_all())
        hits = await asyncio.to_thread(searcher.search, query, limit=limit)
        return tuple(hit for hit in hits if hit.section_id in self.state.unmuted_library)

    async def warm_up(self) -> str:
        """Prepare for the first question: fill caches and start the model.

        Return a warning for the person, for example if the model cannot call tools; usually empty.
        """
        await asyncio.to_thread(_warm_caches, self.state.library)
        model = self.agent.model
        await warm_up_model(model)
        return get_startup_note(model)

    async def index_ahead(self, report: Callable[[int, int], None]) -> None:
        """Update the search index of a large source in a thread, before a question needs it.

        If the program ends during the update, the rest is written when the source is opened again.

        Args:
            report: Called in the thread with the number of indexed sections and the number of all sections.
        """
        searcher, library = self.agent.searcher, self.state.unmuted_library
        if searcher is not None and len(library) >= _INDEXED_AHEAD_MIN and not library.list_unloaded_files():
            await asyncio.wrap_future(run_in_thread(partial(searcher.prepare, report)))

    async def change_searcher(self, make: Callable[[Library], Searcher | None], report: Progress) -> None:
        """Replace the searcher once its new index is complete. Until then, or if that fails, the old one is used.

        A question that is being answered uses the new one from its next search on.

        Args:
            make: Makes the searcher, or returns None to turn search off.
            report: Called in a thread with the number of pieces of text that are embedded, and their total.

        Raises:
            RoamtuiError: The searcher cannot be made, or the text cannot be embedded.
        """
        is_wanted = True

        def report_if_wanted(done: int, total: int) -> None:
            if not is_wanted:
                raise InterruptedError  # ends the thread, before it sends more text
            report(done, total)

        try:
            library = await self.load_all()
            searcher = await asyncio.to_thread(make, library)
            while searcher is not None:
                await asyncio.wrap_future(run_in_thread(partial(searcher.prepare, report_if_wanted)))
                if library is self.state.unmuted_library:
                    break
                library = await self.load_all()  # the library has changed, so index its new text too
                searcher.refresh(library)
            self.agent.searcher = searcher
        finally:
            is_wanted = False

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[Session]:
        """Wait for all earlier requests, and block section commands during the change."""
        async with self._queue, self._commands, self._publishing_rest():
            yield self.session

    @asynccontextmanager
    async def _publishing_rest(self) -> AsyncIterator[None]:
        """At the end, publish the events that nobody received because their task was cancelled."""
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
    # Otherwise the first filter would wait for the import, and the first opened section for its lines and references.
    from rapidfuzz import fuzz, process  # noqa: F401, PLC0415 - slow to import, so in a thread

    for document in library.documents:
        _ = document.line_starts, document.anchors, document.rows_by_number


def _open_and_load(open_source: SourceOpener, name: str) -> tuple[Library, Loader | None]:
    library, loader = open_source(name)
    return (library if loader is None else load_files(library, loader)), loader


def _check_other_unmuted(library: Library, key: str) -> None:
    """Raise a `UsageError` if `key` is the only unmuted source."""
    if not any(source.key != key and not source.is_muted for source in list_sources_of(library)):
        raise UsageError("this is the only source that may be asked. Add or unmute another one first.")


def _has_exchange(state: ConversationState, exchange: Exchange) -> bool:
    # Does not compare the events, because the exchange may have more of them by now.
    found = state.transcript.exchanges[exchange.number - 1 : exchange.number]
    return [(one.question, one.answer) for one in found] == [(exchange.question, exchange.answer)]
