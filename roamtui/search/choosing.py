"""From what a person chose to what searches: one searcher for each mode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.search.base import SearchMode, SearchOptions
from roamtui.search.documents_first import DocumentsFirstSearcher
from roamtui.search.fused import FusedSearcher, SearchParts
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.limits import LimitedSearcher
from roamtui.search.options import Rerank
from roamtui.search.store.opening import IndexPlace

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.search.base import Searcher
    from roamtui.search.options import RetrievalOptions


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
    keyword = make_keyword_searcher(library, options, place)
    searcher: Searcher = keyword
    if not _is_plain(options):
        searcher = FusedSearcher(library, keyword, options, replace(parts or SearchParts(), vectors_uri=options.index))
    if options.documents:
        searcher = DocumentsFirstSearcher(searcher, library, options.documents)
    if options.limit is not None or options.max_tokens is not None or options.score_threshold > 0:
        searcher = LimitedSearcher(searcher, library, options)
    return searcher


def make_keyword_searcher(
    library: Library, options: RetrievalOptions, place: IndexPlace | None = None
) -> KeywordSearcher:
    """Return what searches `library` by words, in the database that the options name or else in `place`."""
    if options.index is not None:
        place = IndexPlace(folder=Path(), uri=options.index)
    return KeywordSearcher(library, _weigh_words(options), place=place)


def _is_plain(options: RetrievalOptions) -> bool:
    """Return whether words alone find, and nobody rewrites, reranks or joins in."""
    is_joined = options.neighbour_count > 0 or options.top_files > 0
    is_asked = options.rerank is not Rerank.OFF or options.rewrite
    return options.mode is SearchMode.KEYWORD and not is_joined and not is_asked


def _weigh_words(options: RetrievalOptions) -> SearchOptions:
    return SearchOptions(
        title_weight=options.heading_boost,
        path_weight=options.path_boost,
        candidates=options.candidates,
        fusion_k=options.fusion_k,
    )
