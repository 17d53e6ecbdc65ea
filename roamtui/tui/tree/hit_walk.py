"""`HitWalk`: a person's way over the sections that hold what they search for. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from roamtui.tui.tree.text_hits import LibrarySearch, TextHits

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.tui.tree.display_tree import DisplayTree, Rank


class HitWalk:
    """Sections with matches in the order of the tree, and which of them was gone to last."""

    def __init__(self, search: LibrarySearch | None = None, hits: TextHits | None = None) -> None:
        self._search = search
        self._hits = hits or TextHits()
        self._tree: DisplayTree | None = None
        self._stops: list[tuple[Rank, str]] = []
        self._place: int | None = None

    @property
    def pattern(self) -> str:
        """What to mark in a text, empty for nothing."""
        return self._hits.pattern if self._hits.section_ids else ""

    def search(self, library: Library, pattern: str) -> HitWalk:
        """Return the way over the matches of a pattern; may take a while in a large library."""
        search = self._search
        if search is None or search.library is not library:
            search = LibrarySearch(library)
        return HitWalk(search, search.find(pattern))

    def describe(self) -> tuple[str, ...]:
        """Return how much was found, and where the person is, in fewer and fewer words."""
        words = self._hits.describe()
        if self._place is None:
            return (words, self._hits.describe_places())
        place = f"{self._place + 1:,}/{len(self._stops):,}"
        return (f"{words} · {place}", f"{self._hits.describe_places()} · {place}", place)

    def step(self, tree: DisplayTree, cursor_id: str | None, direction: int) -> str | None:
        """Return the section to go to, round the end; None where nothing was found.

        Args:
            tree: What is shown now.
            cursor_id: Where the person is.
            direction: 1 for the next section, -1 for the previous one, 0 for this one or the next.
        """
        if tree is not self._tree:
            self._tree = tree
            keys = ((tree.find(section_id), section_id) for section_id in self._hits.section_ids)
            self._stops = sorted((tree.rank(key), section_id) for key, section_id in keys if key is not None)
        if not self._stops:
            return None
        cursor = tree.find(cursor_id) if cursor_id is not None else None
        rank = () if cursor is None else tree.rank(cursor)
        if direction > 0:
            place = bisect_right(self._stops, rank, key=_rank_of)
        else:
            place = bisect_left(self._stops, rank, key=_rank_of) + direction
        self._place = place % len(self._stops)
        return self._stops[self._place][1]


def _rank_of(stop: tuple[Rank, str]) -> Rank:
    return stop[0]
