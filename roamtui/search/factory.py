"""From what a person chose to what searches: one searcher for each mode, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit, Searcher, SearchServices
from roamtui.search.hybrid import HybridSearcher, compute_runner_up_share
from roamtui.search.index import IndexLocation
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance import LanceSearcher
from roamtui.search.options import Rerank, RetrievalOptions, SearchMode

_JUDGED_LENGTH = 800
"""Characters of a section that a model is shown to judge it."""


def make_searcher(
    library: Library, options: RetrievalOptions, parts: SearchServices | None = None, place: IndexLocation | None = None
) -> Searcher | None:
    """Return what searches `library` as the options say, None where search is off."""
    if options.mode is SearchMode.OFF:
        return None
    parts = parts or SearchServices()
    searcher: Searcher
    if options.index is not None:
        searcher = LanceSearcher(library, options, parts)
    else:
        searcher = keyword = KeywordSearcher(library, options, place=place)
        if options.needs_vectors or options.neighbour_count:
            searcher = HybridSearcher(library, keyword, options, parts)
    is_assisted = options.rerank is not Rerank.OFF or options.rewrite
    is_limited = options.limit is not None or options.max_tokens is not None or options.score_threshold > 0
    return ModelAssistedSearcher(searcher, library, options, parts) if is_assisted or is_limited else searcher


class ModelAssistedSearcher:
    """Gives what another searcher finds, within limits, as a model asks for it and orders it."""

    def __init__(self, searcher: Searcher, library: Library, options: RetrievalOptions, parts: SearchServices) -> None:
        self._searcher = searcher
        self._library = library
        self._options = options
        self._count = options.rerank_count if options.rerank is not Rerank.OFF else 0
        self._parts = parts

    def refresh(self, library: Library) -> None:
        """Search `library` from now on."""
        self._library = library
        self._searcher.refresh(library)

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return the hits within the limits, the best one however long it is; for no words no model is asked."""
        library = self._library
        limit = min(limit, self._options.limit or limit)
        asked = self._rewrite(query, earlier) if query.strip() else None
        if asked is not None:
            query, earlier = asked, ()
        hits = self._searcher.search(query, limit=max(limit, self._count), within=within, earlier=earlier)
        return self._limit(library, self._rerank(library, query, hits)[:limit])

    def _limit(self, library: Library, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        tokens_max, tokens = self._options.max_tokens, 0
        for count, hit in enumerate(hits):
            document, row = library.locate(hit.section_id)
            tokens += document.own_tokens[row]
            is_too_long = tokens_max is not None and tokens > tokens_max
            if count and (is_too_long or hit.score < self._options.score_threshold * hits[0].score):
                return hits[:count]
        return hits

    def _rewrite(self, query: str, earlier: Sequence[str]) -> str | None:
        rewriter = self._parts.rewriter
        if rewriter is None or not earlier:
            return None
        try:
            return rewriter.rewrite(query, earlier)
        except RoamtuiError as error:
            self._parts.warn_once(f"The question was not rewritten: {error}")
            return None

    def _rerank(self, library: Library, query: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """Return hits as the model orders them, with the scores of their new places."""
        reranker = self._parts.reranker
        if reranker is None or not self._count or len(hits) < 2:
            return hits
        texts = []
        for hit in hits[: self._count]:
            document, row = library.locate(hit.section_id)
            path = " > ".join(filter(None, (document.key, *document.columns.path(row))))
            texts.append(f"{path}\n{library.own_text(hit.section_id)[:_JUDGED_LENGTH]}".strip())
        try:
            named = reranker.rerank(query, texts)
        except RoamtuiError as error:
            self._parts.warn_once(f"The model did not rerank: {error}")
            return hits
        order = [*named, *(place for place in range(len(hits)) if place not in named)]
        judged = []
        for rank, place in enumerate(order, start=1):
            hit = hits[place]
            why = f"{hit.why} · model rank {rank}" if rank <= len(named) else hit.why
            rival = compute_runner_up_share(hits, hit.section_id) if hit.runner_up is None else hit.runner_up
            judged.append(replace(hit, score=hits[rank - 1].score, why=why, runner_up=rival))
        return tuple(judged)
