"""`Conversation`: holds the state and the log of a conversation, and tells its subscribers what happens."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Self

from msgspec.structs import replace

from roamtui.conversation.budget import OpenSectionOptions, RequestBudget
from roamtui.conversation.events import (
    ConversationEvent,
    ConversationStarted,
    LoadingStarted,
    Origin,
    QuestionAsked,
    ReadingSectionChanged,
    RecordedEvent,
    SectionsOpened,
    UnpublishedEvent,
    WarningRaised,
)
from roamtui.conversation.library_loader import (
    Approver,
    deny,
    graft_documents,
    load_nodes,
    make_fetch_request,
)
from roamtui.conversation.library_sync import (
    get_source_key,
    identify_document,
    is_source_missing,
    reload_state,
    resume_state,
)
from roamtui.conversation.log import ConversationLog, ConversationStore
from roamtui.conversation.messages import RECORDED
from roamtui.conversation.state import ConversationState, Exchange, fold_events, start_conversation
from roamtui.conversation.update import Command, FoldNodes, OpenSections, list_nodes_to_load, update
from roamtui.document.library import Library, LibrarySource
from roamtui.errors import StoreError, UsageError
from roamtui.opening.added_sources import SourceOpener, list_sources_of, list_sources_with, restore_sources
from roamtui.opening.loader import Loader, load_pages
from roamtui.parallel import call_in_thread, open_in_thread
from roamtui.sanitiser import sanitise_line
from roamtui.sources.source_names import make_short_name

Subscriber = Callable[[ConversationEvent], None]


class _Opened(NamedTuple):
    """A conversation that can become the current one."""

    log: ConversationLog
    state: ConversationState
    source_loader: Loader | None
    warning: str = ""


class Conversation:
    """The current conversation. Every change is an event, except that options and library are replaced.

    Recorded events are saved; subscribers get all events but `UnpublishedEvent`.

    Questions, reloads and switches to another conversation hold `lock`, so that a question ends in the
    conversation in which it began. Section commands do not wait for an answer: during a question,
    sections are only marked for closing.
    """

    def __init__(  # noqa: PLR0913 - each is a part that tests and commands leave out
        self,
        library: Library,
        *,
        store: ConversationStore | None = None,
        options: OpenSectionOptions | None = None,
        source_loader: Loader | None = None,
        open_source: SourceOpener | None = None,
        new_id: str = "",
        earlier: tuple[Exchange, ...] = (),
    ) -> None:
        """Start a conversation with the id `new_id`, or a random one.

        It is saved in the `store`, if there is one, once something is asked or opened. The `earlier`
        exchanges are not saved. Without `source_loader`, no further file or page is loaded; without
        `open_source`, no source can be added.
        """
        started = start_conversation(library, options or OpenSectionOptions(), new_id)
        self.state = replace(started, exchanges=earlier)
        self.store = store
        self.source_loader = source_loader
        self._open_source = open_source
        self._loading: asyncio.Future[None] | None = None
        """The running or last call of `load` for all files."""
        self.refused_origins: set[str] = set()
        """Web origins that the person refused during the current question."""
        self.lock = asyncio.Lock()
        self.approver: Approver = deny
        """Asked before a request that costs much, or goes to a web origin that the person did not type."""
        self.save_failure = ""
        """Why the last save failed; empty if it succeeded."""
        self.switch_count = 0
        """How often `start_new` or `open` switched to another conversation."""
        self._is_changed = False
        """Whether anything has changed since the start or the switch. If not, no new log or copy is saved."""
        self._identified: Library | None = None
        """The library that the last `DocumentIdentified` records."""
        self._warning = ""
        """A sentence about a resumed conversation, for the first subscriber."""
        self._saving = asyncio.Lock()
        """Held while events are written and published, so that both happen in order."""
        self._subscribers: list[Subscriber] = []
        self._log = _start_log(self.state, store)

    def resume(self, conversation_id: str) -> Self:
        """Continue a saved conversation in place of one that has just started; see `open`."""
        self._log, self.state, self.source_loader, self._warning = self._resume(conversation_id)
        return self

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with each event, in order, when `state` includes it. It must not block.

        Return a function that ends the subscription.
        """
        self._subscribers.append(subscriber)
        if self._warning:
            self.publish(WarningRaised(message=self._warning))
            self._warning = ""
        return lambda: self._subscribers.remove(subscriber)

    def publish(self, *events: ConversationEvent) -> None:
        """Tell the subscribers about events, except for unpublished ones."""
        for event in events:
            if not isinstance(event, UnpublishedEvent):
                for subscriber in [*self._subscribers]:
                    subscriber(event)

    async def apply(self, *events: RecordedEvent) -> None:
        """Fold, save and publish events, in this order. A cancelled task still does all three."""
        if not events:
            return
        self._is_changed = True
        self._fold(events)
        saving = asyncio.ensure_future(self._save_and_publish(events, self.switch_count))
        try:
            await asyncio.shield(saving)
        except asyncio.CancelledError:
            await asyncio.wait((saving,))
            raise

    def apply_unsaved(self, *events: RecordedEvent) -> None:
        """Fold and publish events at once. They are saved together with the next ones."""
        self._fold(events)
        self.publish(*events)

    def _fold(self, events: tuple[RecordedEvent, ...]) -> None:
        folded: list[RecordedEvent] = []
        for event in events:
            if isinstance(event, SectionsOpened) and event.origin is Origin.AGENT:
                # The steps of the exchange hold the texts already.
                results = tuple(replace(result, text="") for result in event.results)
                folded.append(replace(event, results=results))
            else:
                folded.append(event)
        self.state = fold_events(self.state, *folded)
        self._log.events += folded
        if self.state.library is not self._identified:
            identified = identify_document(self.state)
            self._identified = self.state.library
            self.state = fold_events(self.state, *identified)
            self._log.events += identified

    async def _save_and_publish(self, events: tuple[RecordedEvent, ...], folded_in: int) -> None:
        async with self._saving:
            await self._save()
            if self.switch_count == folded_in:  # else subscribers have got events of another conversation
                self.publish(*events)

    async def _save(self) -> None:
        """Write what is not on disk yet. A failure is published. The caller holds `_saving`."""
        before = self.save_failure
        if self.store is not None:
            await asyncio.to_thread(self.flush)
        if self.save_failure and not before:
            self.publish(WarningRaised(message=self.save_failure))

    def flush(self) -> None:
        """Write what is not on disk yet. Callable from any thread; `save_failure` says if it failed."""
        try:
            has_content = self._is_changed and self.state.has_content
            if self.state.model != RECORDED and (self._log.is_saved or has_content):
                self._log.save()
            self.save_failure = ""
        except StoreError as error:
            self.save_failure = str(error)

    def close(self) -> str:
        """Save everything, and let other programs use the conversation. Return a sentence if that fails."""
        self.flush()
        self._close_log()
        return self.save_failure

    def _close_log(self) -> None:
        """Let other programs write the log. Delete one that has nothing for a person."""
        was_asked = any(isinstance(event, QuestionAsked) for event in self._log.events)
        self._log.close(is_deleted=not (was_asked or self.state.has_content))

    async def execute(self, command: Command) -> tuple[RecordedEvent, ...]:
        """Load what a command needs, carry it out, and return its events once they are published.

        Folding and unfolding are not saved until something else changes.
        """
        executed_in = self.switch_count
        if needed := list_nodes_to_load(self.state.library, command):
            origin = command.origin if isinstance(command, OpenSections) else Origin.PERSON
            await self.load(needed, origin)
        if self.switch_count != executed_in:  # the person switched meanwhile
            return ()
        events = update(self.state, command)
        if isinstance(command, FoldNodes):
            self.apply_unsaved(*events)
        else:
            await self.apply(*events)
        return events

    async def record_reading(self, section_id: str | None) -> None:
        """Record which section the person is reading, if any, and load its page or file if it is not loaded.

        It is not saved until something else changes.
        """
        # Before loading, because the person may read another section once a slow page is loaded.
        self.apply_unsaved(ReadingSectionChanged(section_id=section_id))
        library = self.state.library
        if section_id is not None and section_id in library and not library.node(section_id).is_loaded:
            await self.load((section_id,), Origin.PERSON)

    def set_budget(self, budget: RequestBudget) -> None:
        """Set the size of parts and the budget of open sections."""
        options = replace(self.state.options, part_tokens=budget.part_max, budget_tokens=budget.open_max)
        self.state = replace(self.state, options=options)

    async def load_all(self) -> Library:
        """Load all files, and publish the progress. Cancelling a caller does not stop the loading."""
        for _ in range(2):  # the library may change while its files are loaded
            if node_ids := self.state.library.pending_ids:
                if self._loading is None or self._loading.done():
                    self._loading = asyncio.ensure_future(self.load(node_ids, Origin.AGENT))
                await asyncio.shield(self._loading)
        return self.state.library

    async def load(self, node_ids: tuple[str, ...], origin: Origin) -> None:
        """Load files or pages for a person or an agent, and publish what was loaded."""
        loaded_in = self.switch_count
        if self.source_loader is None:
            return
        self.publish(LoadingStarted(count=len(node_ids)))
        approve = partial(self._approve, origin)
        documents, approved = await load_nodes(self.source_loader, self.state, node_ids, approve)
        if self.switch_count == loaded_in:
            new_origins = approved - self.state.approved_origins
            library, event = graft_documents(self.state.library, documents, new_origins)
            self.state = replace(self.state, library=library)
            if event.pages or event.problems or event.approved_origins:
                self.apply_unsaved(event)
            else:
                self.publish(event)

    async def _approve(self, origin: Origin, web_origin: str, urls: tuple[str, ...]) -> bool:
        """Ask the person about a web origin. The agent cannot ask again about one that they refused."""
        if origin is Origin.AGENT and web_origin in self.refused_origins:
            return False
        is_approved = await self.approver(make_fetch_request(web_origin, urls))
        if not is_approved:
            self.refused_origins.add(web_origin)
        return is_approved

    async def reload(self, library: Library) -> bool:
        """Continue with a new version of the document once the current question has ended.

        Return False, and change nothing, if sources were added or taken out since `library` was
        read.
        """
        async with self.lock:
            if library.sources != self.state.library.sources:
                return False
            await self._change_library(library, self.source_loader)
            return True

    async def add_source(self, name: str) -> LibrarySource:
        """Add a source once the current question has ended. Raise `RoamtuiError` if it cannot be added."""
        open_source = self._open_source
        assert open_source is not None, "without it no source can be added"
        part = await call_in_thread(open_source, name)
        async with self.lock:
            library = self.state.library
            source_name = part.library.source
            if source_name in {source.name for source in list_sources_of(library)}:
                raise UsageError(f"{make_short_name(source_name)} is already part of this conversation.")
            sources = list_sources_with(library, source_name)
            restored = await call_in_thread(
                restore_sources, library, self.source_loader, sources, lambda _: part
            )
            await self._change_library(*restored)
        return sources[-1]

    async def remove_source(self, source: LibrarySource) -> None:
        """Take out an added source once the current question has ended. The other sources are read again."""
        open_source = self._open_source
        assert open_source is not None, "without it no source can have been added"
        async with self.lock:
            library = self.state.library
            kept = tuple(each for each in list_sources_of(library) if each != source)
            restored = await call_in_thread(restore_sources, library, self.source_loader, kept, open_source)
            await self._change_library(*restored)

    async def _change_library(self, library: Library, loader: Loader | None) -> None:
        while True:  # a section command may change the state meanwhile, or load a page
            state = self.state
            loaded = await asyncio.to_thread(load_pages, library, loader, state.pages, state.approved_origins)
            events = await asyncio.to_thread(reload_state, state, loaded)
            if self.state is state:
                break
        self.state = replace(self.state, library=loaded)
        self.source_loader = loader
        await self.apply(*events)

    async def start_new(self) -> None:
        """Switch to a new conversation about the same document."""
        await self._switch(self._start)

    def _start(self) -> _Opened:
        state = start_conversation(self.state.library, self.state.options)
        return _Opened(_start_log(state, self.store), state, self.source_loader)

    async def open(self, conversation_id: str) -> None:
        """Switch to a saved conversation about the same document. Raise `StoreError` if it cannot be read."""
        await self._switch(partial(self._resume, conversation_id))

    async def _switch(self, make: Callable[[], _Opened]) -> None:
        """Continue with the conversation that `make` returns. `make` is called in a thread."""
        async with self.lock:
            await self.load_all()
            async with self._saving:
                await self._save()
            opened = await open_in_thread(make, lambda unwanted: unwanted.log.close())
            self.flush()  # a section command may have changed something meanwhile
            if self.save_failure:
                opened.log.close()
                raise StoreError(self.save_failure)
            self._close_log()
            self._log, self.state, self.source_loader, warning = opened
            self._identified = None
            self._is_changed = False
            self.switch_count += 1
            self.publish(self._log.events[0])
            if warning:
                self.publish(WarningRaised(message=warning))

    def _resume(self, conversation_id: str) -> _Opened:
        """Continue a log with the current library and options, after loading the pages that it had.

        If the document has changed or moved, that is saved at once, but a copy of a log is not written yet.
        """
        store = self.store
        assert store is not None, "without a store there is no saved conversation"
        log, state, warning = store.open(conversation_id)
        # if its source is gone, it may have been moved here or renamed
        if state.source != get_source_key(self.state.library) and not is_source_missing(state.source):
            log.close()
            shown = sanitise_line(state.source)
            raise UsageError(f"conversation {conversation_id} is about {shown}. Open that document instead.")
        saved = replace(state, library=self.state.library, options=self.state.options)
        library = self.state.library
        source_loader = self.source_loader
        if saved.sources != library.sources and self._open_source is not None:
            library, source_loader = restore_sources(library, source_loader, saved.sources, self._open_source)
        library = load_pages(library, source_loader, saved.pages, saved.approved_origins)
        state, events = resume_state(saved, library)
        log.events += events
        if log.is_saved:
            with suppress(StoreError):  # the next change saves again, and tells the person if that fails
                log.save()
        if state.source != saved.source:
            from roamtui.conversation.notes import NoteStore  # noqa: PLC0415

            with suppress(StoreError):
                NoteStore(store.notes_folder, state.source).move_from(saved.source)
        return _Opened(log, state, source_loader, warning)


def _start_log(state: ConversationState, store: ConversationStore | None) -> ConversationLog:
    """Start the log of a conversation that begins with `state`. Without a store, nothing is ever written."""
    started = ConversationStarted(conversation_id=state.id, unfolded=tuple(sorted(state.unfolded)))
    return ConversationLog(None, (started,)) if store is None else store.start(state.id, (started,))
