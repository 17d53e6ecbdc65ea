"""Finds words in the text of a whole library. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.tui.reader.text_search import TextSearch
from roamtui.tui.tree.display_tree import DisplayTree, Rank


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    """Where words stand."""

    pattern: str = ""
    """What to mark in a text that is shown."""
    section_ids: tuple[str, ...] = ()
    """Sections whose own text holds the words, document by document in their order."""
    count: int = 0
    """Places; for words that stand apart, sections."""

    def describe(self) -> str:
        """Return how much was found, in words."""
        sections = len(self.section_ids)
        if not sections:
            return "no match"
        return f"{sections:,} section{'' if sections == 1 else 's'} · {self.describe_places()}"

    def describe_places(self) -> str:
        """Return in how many places something was found, in words."""
        if not self.section_ids:
            return "no match"
        return "1 match" if self.count == 1 else f"{self.count:,} matches"


class LibrarySearch:
    """Searches a library; its text without difference of case is kept for the next pattern."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._searches = [(document, TextSearch(document.text)) for document in library.documents]

    def find(self, pattern: str) -> TextHits:
        """Return where a pattern stands; where it stands nowhere, the sections that hold each of its words."""
        words = pattern.split()
        if not words:
            return TextHits()
        rows: list[tuple[Document, Sequence[int]]] = []
        count = 0
        for document, search in self._searches:
            offsets = search.find(pattern)
            count += len(offsets)
            rows.append((document, _find_rows(document, offsets)))
        if count or len(words) == 1:
            return TextHits(pattern=pattern, section_ids=_list_ids(rows), count=count)
        section_ids = _list_ids([(document, _find_all(document, search, words)) for document, search in self._searches])
        return TextHits(pattern=max(words, key=len), section_ids=section_ids, count=len(section_ids))


def _find_all(document: Document, search: TextSearch, words: list[str]) -> list[int]:
    """Return the rows whose own text holds every word."""
    found = [set(_find_rows(document, search.find(word))) for word in dict.fromkeys(words)]
    return sorted(set.intersection(*found))


def _find_rows(document: Document, offsets: Sequence[int]) -> list[int]:
    """Return the rows whose own texts hold these characters."""
    starts = document.columns.starts
    rows: list[int] = []
    place = 0
    while place < len(offsets):
        row = bisect_right(starts, offsets[place], 0, len(document.columns)) - 1
        if row < 0:
            place += 1
            continue
        rows.append(row)
        place = bisect_left(offsets, starts[row + 1], place + 1)
    return rows


def _list_ids(rows: Sequence[tuple[Document, Sequence[int]]]) -> tuple[str, ...]:
    return tuple(document.ids[row] for document, numbers in rows for row in numbers)


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
