"""Create the searcher that the options ask for, and wrap it if a model should help or a limit is configured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit, Progress, Searcher, SearchServices
from roamtui.search.hybrid import HybridSearcher, compute_runner_up_share
from roamtui.search.index import IndexLocation
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance import LanceSearcher
from roamtui.search.options import RetrievalOptions, SearchMode

_RERANKED_COUNT = 20
"""Number of hits that the model reranks."""
_RERANKED_LENGTH = 800
"""Number of characters of each section that the reranking model reads."""


def make_searcher(
    library: Library,
    options: RetrievalOptions,
    services: SearchServices | None = None,
    location: IndexLocation | None = None,
) -> Searcher | None:
    """Return a new searcher for `library`, or None if search is off."""
    if options.mode is SearchMode.OFF:
        return None
    services = services or SearchServices()
    searcher: Searcher
    if options.index is not None:
        searcher = LanceSearcher(library, options, services)
    else:
        searcher = keyword = KeywordSearcher(library, location=location)
        if options.needs_vectors or options.neighbour_count:
            searcher = HybridSearcher(library, keyword, options, services)
    return (
        ModelAssistedSearcher(searcher, library, options, services)
        if options.rerank == "on" or options.limit
        else searcher
    )


class ModelAssistedSearcher:
    """Wraps a searcher so that a model may rerank the hits, and applies the configured limit."""

    def __init__(
        self, searcher: Searcher, library: Library, options: RetrievalOptions, services: SearchServices
    ) -> None:
        self._searcher = searcher
        self._library = library
        self._options = options
        self._rerank_count = _RERANKED_COUNT if options.rerank == "on" else 0
        self._services = services

    def refresh(self, library: Library) -> None:
        """Search `library` from now on."""
        self._library = library
        self._searcher.refresh(library)

    def prepare(self, on_progress: Progress | None = None) -> None:
        """Bring the index up to date now. See `Searcher`."""
        self._searcher.prepare(on_progress)

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return the hits within the configured limit. See `Searcher`."""
        library = self._library
        limit = min(limit, self._options.limit or limit)
        hits = self._searcher.search(query, limit=max(limit, self._rerank_count), within=within, earlier=earlier)
        return self._rerank(library, query, hits)[:limit]

    def _rerank(self, library: Library, query: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        # The reordered hits get the old scores in the old order, so that scores still fall from hit to hit.
        reranker = self._services.reranker
        if reranker is None or not self._rerank_count or len(hits) < 2:
            return hits
        texts = []
        for hit in hits[: self._rerank_count]:
            document, row = library.locate(hit.section_id)
            path = " > ".join(filter(None, (document.key, *document.columns.path(row))))
            texts.append(f"{path}\n{library.own_text(hit.section_id)[:_RERANKED_LENGTH]}".strip())
        try:
            chosen = reranker.rerank(query, texts)
        except RoamtuiError as error:
            self._services.warn_once(f"Could not rerank: {error}")
            return hits
        order = [*chosen, *(index for index in range(len(hits)) if index not in chosen)]
        reranked = []
        for rank, index in enumerate(order, start=1):
            hit = hits[index]
            why = f"{hit.why} · model rank {rank}" if rank <= len(chosen) else hit.why
            share = compute_runner_up_share(hits, hit.section_id) if hit.runner_up is None else hit.runner_up
            reranked.append(replace(hit, score=hits[rank - 1].score, why=why, runner_up=share))
        return tuple(reranked)
