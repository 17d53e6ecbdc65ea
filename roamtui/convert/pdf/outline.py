"""Detects the headings of a PDF: from its bookmarks or contents pages, from numbers, and from its looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain
from typing import NamedTuple

from roamtui.convert.pdf.contents import detect_contents
from roamtui.convert.pdf.headings import DetectedHeading, detect_numbered_headings, merge_headings
from roamtui.convert.pdf.pdfium import TocEntry
from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.running_heads import PrintedNumbers
from roamtui.convert.pdf.tables import PageText
from roamtui.convert.pdf.titles import NO_TITLE, ROWS_MAX, Join, join_rows, strip_number
from roamtui.convert.pdf.typography import TypographicHeadings
from roamtui.text import normalise_letters, shorten

_PAGES_PER_BOOKMARK_MAX = 4
"""If bookmarks lead to only one or two pages, they count as an outline only in a file this short for each."""
_FIRST_WORDS_LENGTH = 60
_WORD = re.compile(r"\w+")
_PAGE_OFFSETS = (0, 1, -1)
"""Pages to search, relative to the listed one: links often lead to the end of the page before."""


def detect_outline(
    pages: Sequence[PageText],
    rows: Sequence[PageRow],
    bookmarks: Sequence[TocEntry],
    printed: PrintedNumbers,
    join: Join,
) -> list[DetectedHeading]:
    """Return all headings in order."""
    entries = detect_contents(pages, printed)
    marked_pages = len({mark.page for mark in bookmarks})
    if marked_pages > 2 or marked_pages * _PAGES_PER_BOOKMARK_MAX >= len(pages):
        entries = [mark for mark in bookmarks if mark.page < len(pages)]
    typographic = TypographicHeadings(rows, join)
    finder = _TitleFinder(pages, rows, typographic.stands_out, join)
    anchored = sorted(finder.find_headings(entries), key=lambda heading: heading.row)
    headings = anchored or detect_numbered_headings(rows, typographic.stands_out, join)
    return merge_headings(headings, typographic.divide(headings, has_outline=bool(anchored)))


class _TitleFinder:
    """Finds the rows of listed titles. A row is part of one title only."""

    def __init__(
        self,
        pages: Sequence[PageText],
        rows: Sequence[PageRow],
        stands_out: Callable[[int], bool],
        join: Join,
    ) -> None:
        self._pages = pages
        self._rows = rows
        self._stands_out = stands_out
        self._join = join
        self._get_keys = cache(lambda index: _make_keys(rows[index]))
        self._taken: set[int] = set()

    def find_headings(self, entries: Sequence[TocEntry]) -> list[DetectedHeading]:
        """Return a heading for each entry: where its title is, on its page or on one next to it."""
        spans = [self._find(entry) for entry in entries]
        headings: list[DetectedHeading] = []
        before = range(0)
        for entry, found in zip(entries, spans, strict=True):
            if found is None and NO_TITLE.fullmatch(entry.title):
                continue
            span = self._find_beginning(entry) if found is None else found
            if span is None:
                # The title may be part of a picture. It is inserted at the start of the page, or after the
                # title that is listed before it on the same page.
                page = self._pages[entry.page]
                row = min(page.start, len(self._rows) - 1)
                if headings and self._rows[before.start].page == entry.page:
                    row = min(before.stop, page.start + len(page.rows) - 1)
                span = range(row, row)
                above = headings[-1] if headings else None
                if above and (above.row, above.count, above.level) == (row, 0, entry.level):
                    # Nothing says where each of them starts, so they are one section.
                    above.title += f"; {entry.title}"
                    continue
            before = span
            title = join_rows(self._rows[span.start : span.stop], self._join) or entry.title
            headings.append(DetectedHeading(row=span.start, count=len(span), level=entry.level, title=title))
        return headings

    def _find(self, entry: TocEntry) -> range | None:
        """Return the rows that have the title of an entry, or None.

        If no rows have the whole title, rows that have it without its number, or with another one, count.
        """
        whole = normalise_letters(entry.title)
        bare = normalise_letters(strip_number(entry.title))
        places = self._list_places(entry)
        equal = ((index, _count_rows(whole, rows, rows[0].whole)) for index, rows in places)
        similar = ((index, _count_rows(bare, rows, first)) for index, rows in places for first in rows[0])
        for index, count in chain(equal, similar):
            if count:
                span = range(index, index + count)
                self._taken.update(span)
                return span
        return None

    def _find_beginning(self, entry: TocEntry) -> range | None:
        """Return a row that begins with the title of an entry, begins the title, or has its number, or None.

        Only the first row of a page may have less than the title. Before a row of text, the range is empty.
        """
        wanted = _WORD.findall(entry.title.casefold())
        number = _normalise_number(entry.title)
        for index, _ in self._list_places(entry):
            row = self._rows[index]
            said = _WORD.findall(row.text.casefold())
            stands_out = self._stands_out(index)
            says_less = index == self._pages[row.page].start and wanted[: len(said)] == said
            says_more = said[: len(wanted)] == wanted and (stands_out or number)
            has_same_number = stands_out and number and number == _normalise_number(row.text)
            if says_less or says_more or has_same_number:
                self._taken.add(index)
                return range(index, index + stands_out)
        return None

    def _list_places(self, entry: TocEntry) -> list[tuple[int, list[_RowKeys]]]:
        """Return the rows where an entry's title may start. On each page, rows that stand out come first."""
        starts = {normalise_letters(title)[:2] for title in (entry.title, strip_number(entry.title))}
        pages = (self._iter_starts(entry.page + offset, starts) for offset in _PAGE_OFFSETS)
        return [
            place
            for page in pages
            for place in sorted(page, key=lambda place: not self._stands_out(place[0]))
        ]

    def _iter_starts(self, number: int, starts: set[str]) -> Iterator[tuple[int, list[_RowKeys]]]:
        """Yield the rows of a page that start with two of the right letters, and the keys of the next rows.

        Comparing two letters first makes this fast enough for long files.
        """
        page = self._pages[number] if 0 <= number < len(self._pages) else PageText([], [])
        end = page.start + len(page.rows)
        for index in range(page.start, end):
            first = self._get_keys(index)
            is_free = index not in self._taken and not self._rows[index].is_listed and first.whole
            if is_free and not starts.isdisjoint((first.whole[:2], first.bare[:2])):
                yield index, [self._get_keys(after) for after in range(index, min(index + ROWS_MAX, end))]


class _RowKeys(NamedTuple):
    whole: str
    bare: str
    """The letters and digits of the row without its number."""


def _make_keys(row: PageRow) -> _RowKeys:
    return _RowKeys(normalise_letters(row.text), normalise_letters(strip_number(row.text)))


def _normalise_number(title: str) -> str:
    """Return the letters and digits of a title's number, or "" if it has no digits."""
    number = normalise_letters(title.removesuffix(strip_number(title)))
    return number if any(map(str.isdigit, number)) else ""


def _count_rows(title: str, rows: Sequence[_RowKeys], first: str) -> int:
    """Return how many rows together have the title, if the first of them is read as `first`, or else 0."""
    joined = [*accumulate((row.whole for row in rows[1:]), initial=first)]
    return joined.index(title) + 1 if title in joined else 0


def make_page_headings(pages: Sequence[PageText]) -> list[DetectedHeading]:
    """Return a heading for each page that has text, with its first words."""
    headings: list[DetectedHeading] = []
    for number, page in enumerate(pages, start=1):
        if page.rows:
            text = " ".join(row.text for row in page.rows[:2])
            title = f"Page {number}: {shorten(text, _FIRST_WORDS_LENGTH)}"
            headings.append(DetectedHeading(row=page.start, count=0, level=1, title=title))
    return headings
