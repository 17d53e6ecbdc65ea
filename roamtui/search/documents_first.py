"""`DocumentsFirstSearcher`: the best documents first, then sections of theirs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.library import Library
    from roamtui.search.base import Hit, Searcher

_POOL = 5
"""Sections that are looked at for one that is wanted."""


class DocumentsFirstSearcher:
    """Gives what another searcher finds in the documents that it finds best.

    A document is as good as its best section. Ranked by titles, outlines and openings, whole documents were found worse
    than that on every set of questions tried.

    Args:
        searcher: Finds.
        library: What it searches.
        count: How many documents.
    """

    def __init__(self, searcher: Searcher, library: Library, count: int) -> None:
        self._searcher = searcher
        self._library = library
        self._count = count

    def refresh(self, library: Library) -> None:
        """Search `library` from now on."""
        self._library = library
        self._searcher.refresh(library)

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first. See `Searcher`."""
        kept: list[Hit] = []
        keys: set[str] = set()
        for hit in self._searcher.search(query, limit=limit * _POOL, within=within, earlier=earlier):
            key = self._library.locate(hit.section_id)[0].key
            if key not in keys and len(keys) < self._count:
                keys.add(key)
            if key in keys and len(kept) < limit:
                kept.append(hit)
        return tuple(kept)
