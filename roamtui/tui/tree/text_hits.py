"""Finds words in the text of a whole library. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.tui.reader.text_search import TextSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.document import Document
    from roamtui.document.library import Library


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
        self._searches = [
            (document, TextSearch(document.text, 0, len(document.text))) for document in library.documents
        ]

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
