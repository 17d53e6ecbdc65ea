"""`LibraryLoader`: brings files, pages and sources into the library of a conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Protocol

from msgspec import Struct

from roamtui.conversation.events import (
    ConversationEvent,
    LoadingStarted,
    NodesLoaded,
    Origin,
    RecordedEvent,
)
from roamtui.conversation.library_sync import reload_state
from roamtui.conversation.state import ConversationState
from roamtui.document.added_sources import SourceOpener, list_sources_of, make_source_key, restore_sources
from roamtui.document.document import Document
from roamtui.document.library import Library, LibrarySource, make_short_name
from roamtui.document.loader import Loader, load_pages, make_refusal
from roamtui.document.parallel import call_in_thread
from roamtui.errors import UsageError
from roamtui.plain import shorten

_URL_LENGTH_MAX = 70
_ROUNDS_MAX = 3
"""Maximum number of rounds of loading: a page may redirect to an origin that must be approved first."""


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """Asks a person to allow a request that costs much, or pages from an origin that they did not type."""

    question: str
    detail: str
    """Neither is sanitised."""
    yes: str
    """The word for allowing it."""


Approver = Callable[[ApprovalRequest], Awaitable[bool]]
"""A function that asks a person, if there is one, and returns whether the request is approved."""


async def deny(_approval: ApprovalRequest) -> bool:
    """Return False for every request; for front ends that cannot ask a person."""
    return False


class LoadingConversation(Protocol):
    """What the loader knows of a conversation."""

    state: ConversationState
    switch_count: int
    lock: asyncio.Lock
    approver: Approver

    def set_library(self, library: Library) -> None:
        """Replace the library."""

    def fold(self, events: tuple[RecordedEvent, ...]) -> None:
        """Change the state."""

    def publish(self, *events: ConversationEvent) -> None:
        """Tell the subscribers."""

    async def apply(self, events: tuple[RecordedEvent, ...]) -> None:
        """Change the state, save, and tell the subscribers."""


class LibraryLoader:
    """Loads what a conversation needs, and changes its library."""

    def __init__(
        self,
        conversation: LoadingConversation,
        source_loader: Loader | None,
        open_source: SourceOpener | None,
    ) -> None:
        self._conversation = conversation
        self.source_loader = source_loader
        """Reads files and pages of the current sources."""
        self._open_source = open_source
        self._loading: asyncio.Future[None] | None = None
        self._refused: set[str] = set()
        """Origins that the person refused during the current question."""

    def forget_refusals(self) -> None:
        """Let a new question ask for origins that the person refused before."""
        self._refused.clear()

    async def load_all(self) -> Library:
        """Load all files that are not loaded, and publish the progress. A caller that stops does not stop it.

        Return the whole library.
        """
        for _ in range(2):  # the library may change while its files are loaded
            if node_ids := self._conversation.state.library.unloaded_files:
                if self._loading is None or self._loading.done():
                    self._loading = asyncio.ensure_future(self.load(node_ids, Origin.AGENT))
                await asyncio.shield(self._loading)
        return self._conversation.state.library

    async def load(self, node_ids: tuple[str, ...], origin: Origin) -> None:
        """Load files or pages for a person or an agent, and publish what was loaded."""
        state = self._conversation.state
        loaded_in = self._conversation.switch_count
        if self.source_loader is None:
            return
        self._conversation.publish(LoadingStarted(count=len(node_ids)))
        approve = partial(self._approve, origin)
        documents, approved = await _load_nodes(self.source_loader, state, node_ids, approve)
        if self._conversation.switch_count == loaded_in:
            new_origins = approved - self._conversation.state.approved_origins
            library, event = _graft_documents(self._conversation.state.library, documents, new_origins)
            self._conversation.set_library(library)
            if event.pages or event.problems or event.approved_origins:
                self._conversation.fold((event,))
            self._conversation.publish(event)

    async def _approve(self, origin: Origin, web_origin: str, urls: tuple[str, ...]) -> bool:
        """Ask the person about a web origin. One that was refused stays so during the question."""
        if origin is Origin.AGENT and web_origin in self._refused:
            return False
        question = f"Allow this conversation to fetch pages from {web_origin.partition('://')[2]}?"
        detail = shorten(urls[0], _URL_LENGTH_MAX)
        if len(urls) > 1:
            detail = f"{detail} and {len(urls) - 1} more"
        request = ApprovalRequest(question=question, detail=detail, yes="Fetch")
        is_approved = await self._conversation.approver(request)
        if not is_approved:
            self._refused.add(web_origin)
        return is_approved

    async def reload(self, library: Library) -> bool:
        """Continue with a new version of the document, after the current question has ended.

        Open sections are looked up in it by their ids, then by their texts.

        Returns:
            False if sources were added or taken out since `library` was read. Then nothing has changed.
        """
        async with self._conversation.lock:
            if library.sources != self._conversation.state.library.sources:
                return False
            await self._change(library, self.source_loader)
            return True

    async def add_source(self, name: str) -> LibrarySource:
        """Add a source, after the current question has ended. The next question sees it.

        Raises:
            RoamtuiError: The source cannot be opened, or the conversation has it already. Nothing changes.
        """
        open_source = self._open_source
        assert open_source is not None, "without it no source can be added"
        part, loader = await call_in_thread(open_source, name)
        async with self._conversation.lock:
            library = self._conversation.state.library
            old_loader = self.source_loader
            current = list_sources_of(library)
            if part.source in {source.name for source in current}:
                raise UsageError(f"{make_short_name(part.source)} is already part of this conversation.")
            source = LibrarySource(name=part.source, key=make_source_key(library, part.source))
            sources = (*current, source)
            restored = await call_in_thread(
                restore_sources, library, old_loader, sources, lambda _: (part, loader)
            )
            await self._change(*restored)
        return source

    async def _change(self, library: Library, loader: Loader | None) -> None:
        while True:  # a section command may change the state meanwhile, or load a page
            state = self._conversation.state
            loaded = await asyncio.to_thread(load_pages, library, loader, state.pages, state.approved_origins)
            events = await asyncio.to_thread(reload_state, state, loaded)
            if self._conversation.state is state:
                break
        self._conversation.set_library(loaded)
        self.source_loader = loader
        await self._conversation.apply(events)

    def restore(self, saved: ConversationState) -> tuple[Library, Loader | None]:
        """Return library and loader with the sources and pages that a saved conversation had. May block."""
        library = self._conversation.state.library
        source_loader = self.source_loader
        if saved.sources != library.sources and self._open_source is not None:
            library, source_loader = restore_sources(library, source_loader, saved.sources, self._open_source)
        return load_pages(library, source_loader, saved.pages, saved.approved_origins), source_loader


async def _load_nodes(
    loader: Loader,
    state: ConversationState,
    node_ids: tuple[str, ...],
    approve: Callable[[str, tuple[str, ...]], Awaitable[bool]],
) -> tuple[dict[str, Document], frozenset[str]]:
    """Load files and links in a thread, pages in parallel. Ask `approve` about the URLs of new origins.

    Return the documents by node id, with an error document for a node that could not be loaded, and all
    origins that are now approved.
    """
    library = state.library
    approved = state.approved_origins
    documents: dict[str, Document] = {}
    pending = node_ids
    unapproved = {**loader.list_unapproved_origins(library, node_ids, approved)}
    for _ in range(_ROUNDS_MAX):
        for web_origin, ids in unapproved.items():
            urls = tuple(library.node(node_id).link_url for node_id in ids)
            if await approve(web_origin, urls):
                approved |= {web_origin}
                continue
            documents |= zip(ids, (make_refusal(url, web_origin) for url in urls), strict=True)
            pending = tuple(node_id for node_id in pending if node_id not in ids)
        if not pending:
            break
        batch = await call_in_thread(loader.load_batch, library, pending, approved)
        documents |= batch
        unapproved = {}
        pending = tuple(node_id for node_id, document in batch.items() if document.refused_origin)
        for node_id in pending:
            web_origin = batch[node_id].refused_origin
            unapproved[web_origin] = (*unapproved.get(web_origin, ()), node_id)
    return {node_id: documents[node_id] for node_id in node_ids}, approved


def _graft_documents(
    library: Library, documents: Mapping[str, Document], new_origins: frozenset[str]
) -> tuple[Library, NodesLoaded]:
    """Add each document below the node whose id is its key. A node that was loaded meanwhile stays."""
    unloaded = (key for key in documents if key in library and not library.node(key).is_loaded)
    added = {node_id: documents[node_id] for node_id in unloaded}
    pages = {node_id: document for node_id, document in added.items() if library.node(node_id).link_url}
    problems = {node_id: document.problem for node_id, document in added.items() if document.problem}
    event = NodesLoaded(
        section_ids=tuple(added),
        pages=tuple(node_id for node_id in pages if node_id not in problems),
        problems=tuple(problems.items()),
        notes=tuple(dict.fromkeys(note for page in pages.values() for note in page.notes)),
        approved_origins=tuple(sorted(new_origins)),
    )
    return library.graft_all(added), event
