"""Loads the files and pages that a conversation needs, for a command or to go on where it was left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never

from roamtui.conversation.approval import Approver, OriginApproval
from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    ReadSection,
    UndoDeed,
    UnfoldNodes,
)
from roamtui.conversation.events import LoadingProgressed, NodesLoaded
from roamtui.conversation.fold import apply
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import LoadedBatch, Loader, can_load, explain_refusal, find_address, make_failure
from roamtui.document.parallel import start
from roamtui.errors import SourceError
from roamtui.outline.references import find_reference

_ATTEMPTS = 3
"""A page may lead on to further origins, each asked about."""


def find_needed(library: Library, command: Command) -> tuple[str, ...]:
    """Return the nodes that must be loaded before `update` can carry out a command."""
    return tuple(node_id for node_id in dict.fromkeys(_list_named(library, command)) if can_load(library, node_id))


def needs_page(library: Library, command: Command) -> bool:
    """Return whether one of the nodes that must be loaded is a link."""
    return any(_is_link(library, node_id) for node_id in find_needed(library, command))


def _list_named(library: Library, command: Command) -> tuple[str, ...]:
    """Return what a command names; of several nodes that are unfolded at once not the links: those may be thousands."""
    match command:
        case ExpandSections(section_ids=requested):
            references = (find_reference(library, text) for text in requested)
            return tuple(reference.section_id for reference in references if reference is not None)
        case PinSections(section_ids=ids, is_pinned=True):
            return ids
        case UnfoldNodes(section_ids=ids):
            is_one = len(ids) == 1
            return tuple(node_id for node_id in ids if is_one or not _is_link(library, node_id))
        case ReadSection(section_id=str(section_id)):
            return (section_id,)
        case CollapseSections() | PinSections() | FoldNodes() | ReadSection() | UndoDeed() | CloseAgentSections():
            return ()
        case _:
            assert_never(command)


def _is_link(library: Library, node_id: str) -> bool:
    return node_id in library and bool(find_address(library, node_id))


def grow(state: ConversationState, documents: Mapping[str, Document]) -> tuple[ConversationState, NodesLoaded]:
    """Return the state with documents below its nodes, and the event that tells of them.

    What was loaded meanwhile stays. Where a document had to take other ids, because a new one has the older right to
    them, the state follows.
    """
    before = state.library
    new = {node_id: document for node_id, document in documents.items() if can_load(before, node_id)}
    library = before.graft_all(new)
    problems = tuple((node_id, document.problem) for node_id, document in new.items() if document.problem)
    pages = [document for node_id, document in new.items() if _is_link(before, node_id)]
    notes = tuple(dict.fromkeys(note for page in pages for note in page.notes))
    moved = tuple(_find_moved(before, library).items())
    event = NodesLoaded(section_ids=tuple(new), problems=problems, notes=notes, moved=moved)
    return replace(apply(state, event), library=library), event


def _find_moved(before: Library, after: Library) -> dict[str, str]:
    """Return the new id of each node whose id is another now."""
    moved: dict[str, str] = {}
    for node_id, old in before.grafts.items():
        new = after.grafts[node_id]
        if new is not old and new.columns is old.columns:
            moved.update(zip(old.ids, new.ids, strict=True))
    return moved


def open_links(library: Library, links: tuple[str, ...], loader: Loader, approved: frozenset[str]) -> Library:
    """Return a library in which links are opened, as far as they can be; nobody is asked.

    Args:
        library: What the source has.
        links: Each after those that lead to it. Those that the library does not have, as in a changed document, and
            those on origins that nobody approved are left.
        loader: Fetches their pages.
        approved: Origins that the person approved.
    """
    pending = links
    while pending:
        ready = tuple(link for link in pending if can_load(library, link))
        refused = {link for ids in loader.find_unapproved(library, ready, approved).values() for link in ids}
        ready = tuple(link for link in ready if link not in refused)
        if not ready:
            break
        library = library.graft_all(loader.load_batch(library, ready, approved).documents)
        pending = tuple(link for link in pending if link not in ready)
    return library


def carry_pages(before: Library, library: Library) -> Library:
    """Return the library of a document that was read again, with the pages that hung below its links before."""
    carried: dict[str, Document] = {}
    others = {link: before.grafts[host] for link, host in before.aliases.items()}
    for node_id, page in {**before.grafts, **others}.items():
        if find_address(before, node_id) and not page.problem:
            if node_id not in library:
                library = library.graft_all(carried) if carried else library
                carried = {}
            if can_load(library, node_id) and find_address(library, node_id) == find_address(before, node_id):
                carried[node_id] = page
    return library.graft_all(carried) if carried else library


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What a command needed, as far as it could be had. Comes last."""

    documents: Mapping[str, Document]
    """By node; those that could not be had say why."""
    approved: frozenset[str]
    """Origins that the person approved, now or before."""


class Fetching:
    """Loads for one session, and remembers what the person refused while a question is under way."""

    def __init__(self, loader: Loader | None) -> None:
        """Load by `loader`, None where there is nothing to load."""
        self.loader = loader
        self.refused: dict[str, int] = {}
        """Number of the question at which each origin was refused last: the agent does not ask again until the next."""

    async def run(
        self, state: ConversationState, node_ids: tuple[str, ...], origin: Origin, approver: Approver
    ) -> AsyncIterator[LoadingProgressed | Fetched]:
        """Load nodes, side by side where they are pages, and yield how far that is.

        Args:
            state: Before the command.
            node_ids: Files and links of its library.
            origin: Who wants them.
            approver: Asked for each origin that the person neither typed nor approved.
        """
        assert self.loader is not None
        consent = _Consent(self, state, origin, approver)
        unapproved = self.loader.find_unapproved(state.library, node_ids, consent.approved)
        _, documents = await consent.ask_for(unapproved)
        pending = tuple(node_id for node_id in node_ids if node_id not in documents)
        for _ in range(_ATTEMPTS):
            refused: dict[str, tuple[str, ...]] = {}
            async for item in _load(self.loader, state.library, pending, consent.approved):
                if isinstance(item, LoadingProgressed):
                    yield item
                    continue
                documents |= item.documents
                for node_id, one in item.refused.items():
                    refused[one] = (*refused.get(one, ()), node_id)
            pending, denied = await consent.ask_for(refused)
            documents |= denied
            if not pending:
                break
        yield Fetched(documents={node_id: documents[node_id] for node_id in node_ids}, approved=consent.approved)


class _Consent:
    """Asks the person for the origins that one command needs."""

    def __init__(self, fetching: Fetching, state: ConversationState, origin: Origin, approver: Approver) -> None:
        self.approved = state.approved_origins
        self._fetching = fetching
        self._state = state
        self._is_agents = origin is Origin.AGENT
        self._approver = approver

    async def ask_for(self, wanted: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], dict[str, Document]]:
        """Ask for each origin; return the nodes that may be loaded now, and why the others may not."""
        allowed: tuple[str, ...] = ()
        denied: dict[str, Document] = {}
        for one, node_ids in wanted.items():
            urls = tuple(find_address(self._state.library, node_id) for node_id in node_ids)
            if await self._is_allowed(one, urls):
                self.approved |= {one}
                allowed = (*allowed, *node_ids)
            else:
                for node_id, url in zip(node_ids, urls, strict=True):
                    denied[node_id] = make_failure(url, explain_refusal(url, one))
        return allowed, denied

    async def _is_allowed(self, one: str, urls: tuple[str, ...]) -> bool:
        number = self._state.question_number
        if self._is_agents and self._fetching.refused.get(one) == number:
            return False
        host = one.partition("://")[2]
        is_allowed = await self._approver.approve(OriginApproval(host=host, origin=one, urls=urls))
        if not is_allowed:
            self._fetching.refused[one] = number
        return is_allowed


async def _load(
    loader: Loader, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
) -> AsyncIterator[LoadingProgressed | LoadedBatch]:
    """Load nodes in a thread, and yield how far that is; the batch comes last, if there is anything to load."""
    if not node_ids:
        return
    are_pages = any(find_address(library, node_id) for node_id in node_ids)
    progress: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def report(done: int, bytes_received: int) -> None:
        if is_left.is_set():
            raise SourceError("It was not waited for. Open it again.")
        with suppress(RuntimeError):  # the loop is closed where the program left before the pages came
            loop.call_soon_threadsafe(progress.put_nowait, (done, bytes_received))

    is_left = threading.Event()
    loading = asyncio.wrap_future(start(lambda: loader.load_batch(library, node_ids, approved, report)))
    loading.add_done_callback(lambda _: progress.put_nowait(None))
    total = len(node_ids)
    if are_pages:
        yield LoadingProgressed(done=0, total=total, are_pages=True)
    try:
        while (step := await progress.get()) is not None:
            while not progress.empty() and (newer := progress.get_nowait()) is not None:
                step = newer
            if are_pages:
                yield LoadingProgressed(done=min(step[0], total), total=total, bytes_received=step[1], are_pages=True)
            if loading.done():
                break
        batch = await loading
    finally:
        is_left.set()
        loading.cancel()
    yield batch
