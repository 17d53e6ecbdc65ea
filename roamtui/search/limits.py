"""Bounds on what a search gives: how many sections, how much text, and how much worse than the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.library import Library
    from roamtui.search.base import Hit, Searcher
    from roamtui.search.options import RetrievalOptions


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
        """Return the hits within the limits, the best one always. See `Searcher`."""
        limit = min(limit, self._options.limit or limit)
        hits = self._searcher.search(query, limit=limit, within=within, earlier=earlier)
        return limit_hits(self._library, hits, self._options)


def limit_hits(library: Library, hits: Sequence[Hit], options: RetrievalOptions) -> tuple[Hit, ...]:
    """Return the first hits: as many as have the share of the best score, and together not too many tokens.

    The first one is returned however long it is.
    """
    kept: list[Hit] = []
    tokens = 0
    for hit in hits:
        document, row = library.locate(hit.section_id)
        tokens += document.own_tokens[row]
        is_too_long = options.max_tokens is not None and tokens > options.max_tokens
        if kept and (is_too_long or hit.score < options.score_threshold * kept[0].score):
            break
        kept.append(hit)
    return tuple(kept)
