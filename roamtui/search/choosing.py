"""From what a person chose to what searches: one searcher for each mode, within limits."""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.search.assisted import AssistedSearcher
from roamtui.search.base import Hit, Searcher, SearchParts
from roamtui.search.fused import FusedSearcher
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance.searcher import LanceSearcher
from roamtui.search.options import Rerank, RetrievalOptions, SearchMode
from roamtui.search.store.opening import IndexPlace


def make_searcher(
    library: Library, options: RetrievalOptions, parts: SearchParts | None = None, place: IndexPlace | None = None
) -> Searcher | None:
    """Return what searches `library` as the options say, None where search is off.

    Args:
        library: What is searched; nothing is read of it before the first search.
        options: Mode, weights and limits.
        parts: What the mode works with; search by words alone needs nothing.
        place: Where the index of a large library is kept; None for memory alone.
    """
    if options.mode is SearchMode.OFF:
        return None
    parts = parts or SearchParts()
    searcher: Searcher = (
        LanceSearcher(library, options, parts)
        if options.index is not None
        else _make_own_searcher(library, options, parts, place)
    )
    if options.rerank is not Rerank.OFF or options.rewrite:
        searcher = AssistedSearcher(searcher, library, options, parts)
    if options.limit is not None or options.max_tokens is not None or options.score_threshold > 0:
        searcher = LimitedSearcher(searcher, library, options)
    return searcher


def _make_own_searcher(
    library: Library, options: RetrievalOptions, parts: SearchParts, place: IndexPlace | None
) -> Searcher:
    """Return what searches with the index on this machine."""
    keyword = KeywordSearcher(library, options, place=place)
    if options.needs_vectors or options.neighbour_count:
        return FusedSearcher(library, keyword, options, parts)
    return keyword


class LimitedSearcher:
    """Gives what another searcher finds, within the limits that a person set.

    Args:
        searcher: Finds.
        library: What it searches.
        options: The limits.
    """

    def __init__(self, searcher: Searcher, library: Library, options: RetrievalOptions) -> None:
        self._searcher = searcher
        self._library = library
        self._options = options

    def refresh(self, library: Library) -> None:
        """Search `library` from now on."""
        self._library = library
        self._searcher.refresh(library)

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return the hits within the limits, the best one always, however long it is. See `Searcher`."""
        options = self._options
        limit = min(limit, options.limit or limit)
        kept: list[Hit] = []
        tokens = 0
        for hit in self._searcher.search(query, limit=limit, within=within, earlier=earlier):
            document, row = self._library.locate(hit.section_id)
            tokens += document.own_tokens[row]
            is_too_long = options.max_tokens is not None and tokens > options.max_tokens
            if kept and (is_too_long or hit.score < options.score_threshold * kept[0].score):
                break
            kept.append(hit)
        return tuple(kept)
