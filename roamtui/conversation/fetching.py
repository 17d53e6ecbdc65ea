"""Loads what a command needs: asks for origins that nobody approved, tells of progress, gives the documents."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from roamtui.conversation.approval import Approver, OriginApproval
from roamtui.conversation.events import LoadingProgressed
from roamtui.conversation.origin import Origin
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import LoadedBatch, Loader, explain_refusal, find_address, make_failure
from roamtui.document.parallel import start
from roamtui.errors import SourceError

_ATTEMPTS = 3
"""A page may lead on to further origins, each asked about."""


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
        self._refused: dict[str, int] = {}
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

    def is_refused(self, origin: str, question_number: int) -> bool:
        """Return whether the person refused an origin at this question."""
        return self._refused.get(origin) == question_number

    def note_refusal(self, origin: str, question_number: int) -> None:
        """Note that the person refused an origin."""
        self._refused[origin] = question_number


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
        if self._is_agents and self._fetching.is_refused(one, number):
            return False
        host = one.partition("://")[2]
        is_allowed = await self._approver.approve(OriginApproval(host=host, origin=one, urls=urls))
        if not is_allowed:
            self._fetching.note_refusal(one, number)
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
