"""Searches in the document of a conversation, and indexing and embedding before a question needs them."""

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import UsageRecorded
from roamtui.conversation.messages import Usage
from roamtui.convert.converted import ProgressCallback
from roamtui.models.usage import UsageMeter
from roamtui.parallel import call_in_thread
from roamtui.search.base import Hit, VectorCoverage
from roamtui.search.searcher import Searcher

_INDEXED_AHEAD_MIN = 5_000
"""Minimum number of sections for indexing ahead. Indexing fewer takes no noticeable time."""


class DocumentSearch:
    """Searches for one conversation, and records the usage there. Without a searcher, it does nothing."""

    def __init__(self, conversation: Conversation, searcher: Searcher | None, meter: UsageMeter) -> None:
        """Use `searcher`, which conversations may share, and count in `meter` what this one uses."""
        self.searcher = searcher
        self.meter = meter
        self._conversation = conversation

    async def find(self, query: str, limit: int) -> tuple[Hit, ...]:
        """Search the whole document. Raise `RoamtuiError` if that fails."""
        if self.searcher is None or not query.strip():
            return ()
        library = await self._conversation.load_all()
        try:
            with self.meter.charging():
                hits = await call_in_thread(
                    self.searcher.search, library, query, limit=limit, with_snippets=True
                )
        finally:
            await self._conversation.apply(*self.take_usage())
        return tuple(hit for hit in hits if hit.section_id in self._conversation.state.library)

    def take_usage(self) -> tuple[UsageRecorded, ...]:
        """Return an event that records the usage since the last call, or nothing if nothing was used."""
        usage = self.meter.take()
        return (UsageRecorded(usage=usage),) if usage != Usage() else ()

    async def index_ahead(self, on_progress: ProgressCallback) -> None:
        """Update the index of a large document before it is searched. `on_progress` is called in a thread."""
        searcher = self._get_ready_searcher()
        if searcher is not None and len(self._conversation.state.library) >= _INDEXED_AHEAD_MIN:
            with self.meter.charging():
                await call_in_thread(searcher.prepare, on_progress)
            await self._conversation.apply(*self.take_usage())

    @property
    def vector_coverage(self) -> VectorCoverage:
        """How much of the document can be compared by meaning so far."""
        return VectorCoverage() if self.searcher is None else self.searcher.vector_coverage

    async def embed_ahead(self) -> bool:
        """Embed a little of the document, open sections early. Return whether some may be left."""
        searcher = self._get_ready_searcher()
        if searcher is None:
            return False
        first = tuple(self._conversation.state.open_sections)
        return await call_in_thread(searcher.embed_ahead, first)

    def _get_ready_searcher(self) -> Searcher | None:
        """Return the searcher, or None while files are still to be loaded."""
        return None if self._conversation.state.library.pending_ids else self.searcher
