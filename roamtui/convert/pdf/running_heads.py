"""Strip running headers and footers, and read the printed page numbers.

A printed number counts only if it agrees with numbers on pages nearby. A running head is a line that several
pages repeat at about the same position, apart from their page number.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from statistics import median

from msgspec import Struct

from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.tables import detect_tables
from roamtui.text import normalise_letters

_EDGE_ROWS = 3
_REPEATS_MIN = 4
_SHORT_FILE_REPEATS_MIN = 3
"""Minimum number of repeats in a file with fewer than four pages."""
_REPEATED_SHARE = 0.06
"""Minimum share of pages with the same line at the same position, for the line to be a running head."""
_INNER_SHARE = 0.3
"""A line on at least this share of pages is removed even if it is not at the very edge."""
_NEARBY_PAGES = 6
"""Pages up to this far apart have the same running heads (chapters may have their own), and the same
difference between their printed numbers and their places in the file."""
_POSITION_CLASS_POINTS = 12
"""Rows are put into classes of this size by their distance from the top of the page. The same line may be in
the next class on another page."""
# The prefix and the number of a page at the start of a line (`Page 12`, `F-3 | Notes`, `12 of 90`), and at
# its end.
_START_NUMBER = re.compile(
    r"(?:page\s+|p\.\s?|- ?|\| ?)?([A-Z]{1,3}-)?(\d{1,4})(?=$|[\s|/-]|\sof\s\d)", re.IGNORECASE
)
_END_NUMBER = re.compile(r"(?:^|[\s|])([A-Z]{1,3}-)?(\d{1,4})(?:\s?-)?$")
_NUMBER_ONLY = re.compile(
    r"(?:page)?[-–—|\s]*(?:[A-Z]{1,3}-)?\d{1,4}(?:[-–—|\s]*|\s*(?:of|/)\s*\d{1,4})", re.IGNORECASE
)
"""A line that is only a page number: `12`, `Page F-3`, `- 12 -`, `12 of 90`."""
_SIZE_RATIO_MAX = 1.05
"""Maximum size of a page number, relative to the body type of the file or of its page."""
_BODY_QUANTILE = 0.8
"""This quantile of letter heights is the size of the body: tables may be smaller, and titles are fewer."""
_SENTENCE_PART = re.compile(r"[\w,-]$")
"""The end of a row that the next row continues."""
PrintedNumbers = dict[tuple[str, int], list[int]]
"""Pages, from 0, of each printed number (prefix and value), ascending. Parts may restart at 1."""


def find_page_by_label(printed: PrintedNumbers, label: str, after: int) -> int | None:
    """Find the first page after `after` with a printed number such as `12` or `F-3`. Pages count from 0.

    If no page has it, compute the page from the nearest printed number. If that is too far away, return None.
    """
    match = re.fullmatch(r"([A-Z]{1,3}-)?(\d{1,4})", label.strip())
    if match is None:
        return None
    prefix = match[1] or ""
    value = int(match[2])
    for distance in range(_NEARBY_PAGES + 1):
        for nearby in (value - distance, value + distance):
            for page in printed.get((prefix, nearby), ()):
                if page + value - nearby > after:
                    return page + value - nearby
    return None


class _Edges(Struct):
    """Up to three rows at the top and the bottom of a page, both from the edge inwards."""

    top: list[PageRow]
    bottom: list[PageRow]
    size_max: float
    """Maximum size of a page number."""
    number: tuple[str, int] | None = None
    """The printed page number: prefix and value."""

    def has_number(self, row: PageRow) -> bool:
        """Return whether a row has the number of the page."""
        return self.number in set(_parse_page_numbers(row, self.size_max))

    def make_key(self, row: PageRow) -> tuple[str, int]:
        """Return a row's text, with `#` for the page number, and the class of the row's position."""
        text = row.text
        if self.number is not None and self.has_number(row):
            text = re.sub(rf"\b{self.number[1]}\b", "#", text)
        return text, int(row.top // _POSITION_CLASS_POINTS)


def strip_running_heads(pages: Sequence[list[PageRow]]) -> tuple[list[list[PageRow]], PrintedNumbers]:
    """Remove running heads from the rows of pages, and read the printed page numbers.

    Heads that a table repeats on several pages stay. Words that are only in running heads are kept once. If
    no row would be left in the whole document, nothing is removed.
    """
    sizes = sorted(row.size for rows in pages for row in rows)
    usual = sizes[int(len(sizes) * _BODY_QUANTILE)] if sizes else 0.0
    edges: list[_Edges] = []
    for rows in pages:
        ordered = sorted(rows, key=lambda row: row.top)
        half = (len(ordered) + 1) // 2
        size = max(usual, median(row.size for row in rows) if rows else 0.0)
        top = ordered[: min(_EDGE_ROWS, half)]
        bottom = ordered[half:][::-1][:_EDGE_ROWS]
        edges.append(_Edges(top, bottom, _SIZE_RATIO_MAX * size))
    printed: PrintedNumbers = {}
    for page, number in _detect_page_numbers(edges).items():
        edges[page].number = number
        printed.setdefault(number, []).append(page)
    repeated = _detect_repeated_rows(edges)
    removed_by_page: list[set[int]] = []
    for rows, sides in zip(pages, edges, strict=True):
        rates: dict[int, float] = {}  # the share of pages that have each row, or 1 for a page number
        for row in (*sides.top, *sides.bottom):
            is_number = _NUMBER_ONLY.fullmatch(row.text) and sides.has_number(row)
            rates[id(row)] = 1.0 if is_number else repeated.get(sides.make_key(row), 0.0)
        # Rows with a lower rate stay if text of the page is between them and the edge.
        removed = {key for key, rate in rates.items() if rate >= _INNER_SHARE}
        for side in (sides.top, sides.bottom):
            removed.update(takewhile(rates.__getitem__, map(id, side)))
        removed -= {
            id(row)
            for table in detect_tables(rows)
            for row in rows[table.start : table.start + table.header_row_count]
            if len(row.cells) > 1 and not sides.has_number(row)
        }
        removed_by_page.append(removed)
    _keep_unsaid_rows(pages, edges, removed_by_page)
    kept = [
        [row for row in rows if id(row) not in removed]
        for rows, removed in zip(pages, removed_by_page, strict=True)
    ]
    return kept if any(kept) else list(pages), printed


def _keep_unsaid_rows(
    pages: Sequence[Sequence[PageRow]], edges: Sequence[_Edges], removed_by_page: Sequence[set[int]]
) -> None:
    """Of repeated rows whose words are nowhere else in the file, such as titles of tables, keep one.

    This is the first one that is not between two parts of a sentence.
    """
    kept = [
        [row for row in rows if id(row) not in removed]
        for rows, removed in zip(pages, removed_by_page, strict=True)
    ]
    text = normalise_letters("".join(row.text for rows in kept for row in rows))
    continues = [bool(rows) and _SENTENCE_PART.search(rows[-1].text) is not None for rows in (*kept[:-1], [])]
    places: defaultdict[str, list[tuple[bool, int, int]]] = defaultdict(list)
    for page, (rows, sides, removed) in enumerate(zip(pages, edges, removed_by_page, strict=True)):
        for row in rows:
            if id(row) not in removed or _NUMBER_ONLY.fullmatch(row.text):
                continue
            is_at_top = any(row is each for each in sides.top)
            before = page - 1 if is_at_top else page
            is_inside = before >= 0 and continues[before]
            places[normalise_letters(sides.make_key(row)[0])].append((is_inside, page, id(row)))
    for words, found in places.items():
        if words and words not in text:
            _, page, row_id = min(found, key=lambda place: place[:2])
            removed_by_page[page].discard(row_id)


def _detect_repeated_rows(edges: Sequence[_Edges]) -> dict[tuple[str, int], float]:
    """Return the share of pages that have a repeated row, by the key of the row."""
    pages_by_key: dict[tuple[str, int], list[int]] = {}
    for page, sides in enumerate(edges):
        for row in (*sides.top, *sides.bottom):
            if any(map(str.isalpha, row.text)):
                pages_by_key.setdefault(sides.make_key(row), []).append(page)
    repeats_min = min(_REPEATS_MIN, max(_SHORT_FILE_REPEATS_MIN, len(edges)))
    repeats_needed = max(repeats_min, _REPEATED_SHARE * len(edges))
    share_by_key = {}
    for text, position in pages_by_key:
        # Rows near the border of two classes may be in either.
        classes = ((text, position + step) for step in (-1, 0, 1))
        pages = sorted({page for key in classes for page in pages_by_key.get(key, ())})
        # first and last page of four repeats in a row
        runs = zip(pages, pages[_REPEATS_MIN - 1 :], strict=False)
        if len(pages) >= repeats_needed or any(last - first <= _NEARBY_PAGES for first, last in runs):
            share_by_key[text, position] = len(pages) / len(edges)
    return share_by_key


def _detect_page_numbers(edges: Sequence[_Edges]) -> dict[int, tuple[str, int]]:
    """Return the printed number of each page that agrees with the numbers on the pages near it.

    A shift is a printed number minus the index of its page. Neighbouring pages of one part have the same
    shift. Other numbers at their edges, such as years, do not.
    """
    shifts_by_page = [
        {
            (prefix, value - page)
            for row in (*sides.top, *sides.bottom)
            for prefix, value in _parse_page_numbers(row, sides.size_max)
        }
        for page, sides in enumerate(edges)
    ]
    pages_needed = 3 if len(edges) > _REPEATS_MIN else 2
    number_by_page = {}
    for page, shifts in enumerate(shifts_by_page):
        nearby = shifts_by_page[max(0, page - _NEARBY_PAGES) : page + _NEARBY_PAGES + 1]
        counts = Counter(chain.from_iterable(nearby))
        prefix, shift = max(shifts, key=lambda shift: counts[shift], default=("", 0))
        if counts[prefix, shift] >= pages_needed:
            number_by_page[page] = prefix, shift + page
    return number_by_page


def _parse_page_numbers(row: PageRow, size_max: float) -> Iterator[tuple[str, int]]:
    """Yield the page numbers that a row at the edge of a page may contain."""
    for match in (_START_NUMBER.match(row.text), _END_NUMBER.search(row.text)):
        if match and row.size <= size_max:
            yield (match[1] or "").upper(), int(match[2])
