"""Loads what a command needs: asks for origins that nobody approved, tells of progress, gives the documents."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.conversation.approval import Approver, OriginApproval
from roamtui.conversation.events import LoadingProgressed
from roamtui.conversation.origin import Origin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from roamtui.conversation.state import ConversationState
    from roamtui.document.document import Document
    from roamtui.document.library import Library
    from roamtui.document.loader import LoadedBatch, Loader


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
        loader, library = self.loader, state.library
        assert loader is not None
        approved = state.approved_origins
        documents: dict[str, Document] = {}
        wanted = loader.find_unapproved(library, node_ids, approved)
        for one, ids in wanted.items():
            if await self._ask(library, one, ids, state.question_number, origin, approver):
                approved |= {one}
            else:
                documents |= _deny(library, one, ids)
        pending = tuple(node_id for node_id in node_ids if node_id not in documents)
        redirected: dict[str, str] = {}
        for _ in range(2):
            if not pending:
                break
            async for item in _load(loader, library, pending, approved):
                if isinstance(item, LoadingProgressed):
                    yield item
                else:
                    documents |= item.documents
                    redirected = dict(item.refused)
            pending, allowed = await self._ask_for_redirects(state, redirected, origin, approver)
            approved |= allowed
        yield Fetched(documents={node_id: documents[node_id] for node_id in node_ids}, approved=approved)
