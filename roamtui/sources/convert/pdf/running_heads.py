"""Strip running headers and footers, and read the printed page numbers.

A printed number counts only if it agrees with numbers on pages nearby. A running head is a line that several
pages repeat at about the same position, apart from their page number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, takewhile
from statistics import median

from roamtui.sources.convert.pdf.rows import PageRow
from roamtui.sources.convert.pdf.tables import detect_tables

_EDGE_ROWS = 3
_REPEATS_MIN = 4
_REPEATED_SHARE = 0.06
"""Minimum share of pages with the same line at the same position, for the line to be a running head."""
_INNER_SHARE = 0.3
"""A line on at least this share of pages is removed even if it is not at the very edge."""
_RUN_PAGES = 6
"""Four repeats within this many pages are enough, because each chapter may have its own running heads, which
differ on left and right pages."""
_NEARBY_PAGES = 6
"""Maximum distance between pages whose printed numbers are compared."""
_NEARBY_NUMBERS = 6
"""Maximum difference between a wanted page number and the printed one that leads to its page."""
_POSITION_CLASS_POINTS = 12
"""Rows are put into classes of this size by their distance from the top of the page. The same line may be in
the next class on another page."""
_HEAD_LENGTH_MAX = 140
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
"""Quantile of letter heights that is the body type: tables may be smaller, and titles are fewer."""
_SMALL_SHARE = 0.9
_NUMBERED_TITLE = re.compile(r"(?!page\b)[^\W\d_]+\s\d{1,4}", re.IGNORECASE)
_Edges = tuple[list[PageRow], list[PageRow]]
"""Up to three rows at the top of a page, and up to three at the bottom, both from the edge inwards."""
PrintedNumbers = dict[tuple[str, int], list[int]]
"""Pages, from 0, of each printed number (prefix and value), ascending. Parts may restart at 1."""


def find_page_by_label(printed: PrintedNumbers, label: str, after: int) -> int | None:
    """Find the first page after `after` with a printed number such as `12` or `F-3`. Pages begin at 0.

    If no page has it, compute the page from the nearest printed number. If that is too far away, return None.
    """
    match = re.fullmatch(r"([A-Z]{1,3}-)?(\d{1,4})", label.strip())
    if match is None:
        return None
    prefix = match[1] or ""
    value = int(match[2])
    for distance in range(_NEARBY_NUMBERS + 1):
        for nearby in (value - distance, value + distance):
            for page in printed.get((prefix, nearby), ()):
                if page + value - nearby > after:
                    return page + value - nearby
    return None


def strip_running_heads(pages: Sequence[list[PageRow]]) -> tuple[list[list[PageRow]], PrintedNumbers]:
    """Remove running heads from the rows of pages, and read the printed page numbers.

    The heads of a table that is continued on several pages are no running heads.
    If no row would be left in the whole document, nothing is removed.
    """
    edges: list[_Edges] = []
    for rows in pages:
        ordered = sorted(rows, key=lambda row: row.top)
        half = (len(ordered) + 1) // 2
        edges.append((ordered[: min(_EDGE_ROWS, half)], ordered[: half - 1 : -1][:_EDGE_ROWS]))
    sizes = sorted(row.size for rows in pages for row in rows)
    usual = sizes[int(len(sizes) * _BODY_QUANTILE)] if sizes else 0.0
    sizes_max = [
        _SIZE_RATIO_MAX * max(usual, median(row.size for row in rows) if rows else 0.0) for rows in pages
    ]
    numbers = _detect_page_numbers(edges, sizes_max)
    repeated = _detect_repeated_rows(edges, numbers, sizes_max)
    printed: PrintedNumbers = {}
    for page, printed_number in numbers.items():
        printed.setdefault(printed_number, []).append(page)
    kept = []
    for page, (rows, sides) in enumerate(zip(pages, edges, strict=True)):

        def rate(
            row: PageRow,
            number: tuple[str, int] | None = numbers.get(page),
            size_max: float = sizes_max[page],
        ) -> float:
            """Return on which share of the pages a row is repeated; 1 for a page number."""
            is_number = _NUMBER_ONLY.fullmatch(row.text) and _has_page_number(row, number, size_max)
            return 1.0 if is_number else repeated.get(_make_key(row, number, size_max), 0.0)

        # Rows with a lower rate stay if text of the page is between them and the edge.
        removed = {id(row) for row in chain(*sides) if rate(row) >= _INNER_SHARE}
        removed |= {id(row) for side in sides for row in takewhile(rate, side)}
        removed -= {
            id(row)
            for table in detect_tables(rows)
            for row in rows[table.start : table.start + table.header_count]
            if len(row.cells) > 1 and not _has_page_number(row, numbers.get(page), sizes_max[page])
        }
        kept.append([row for row in rows if id(row) not in removed])
    return kept if any(kept) else list(pages), printed


def _make_key(row: PageRow, number: tuple[str, int] | None, size_max: float) -> tuple[str, int]:
    """Return the text of a row with the page number replaced, and the class of its position."""
    text = row.text
    if number is not None and _has_page_number(row, number, size_max):
        text = re.sub(rf"\b{number[1]}\b", "#", text)
    return text, int(row.top // _POSITION_CLASS_POINTS)


def _has_page_number(row: PageRow, number: tuple[str, int] | None, size_max: float) -> bool:
    return number in set(_parse_page_numbers(row, size_max))


def _detect_repeated_rows(
    edges: Sequence[_Edges], numbers: Mapping[int, tuple[str, int]], sizes_max: Sequence[float]
) -> dict[tuple[str, int], float]:
    """Return the share of pages that have a repeated row, by the key of the row."""
    pages_by_key: dict[tuple[str, int], list[int]] = {}
    for page, (top, bottom) in enumerate(edges):
        for row in (*top, *bottom):
            if any(map(str.isalpha, row.text)):
                pages_by_key.setdefault(_make_key(row, numbers.get(page), sizes_max[page]), []).append(page)
    repeats_needed = max(_REPEATS_MIN, _REPEATED_SHARE * len(edges))
    share_by_key = {}
    for text, position in pages_by_key:
        # Rows near the border of two classes may be in either.
        classes = ((text, position + step) for step in (-1, 0, 1))
        pages = sorted({page for key in classes for page in pages_by_key.get(key, ())})
        # first and last page of four repeats in a row
        runs = zip(pages, pages[_REPEATS_MIN - 1 :], strict=False)
        if len(pages) >= repeats_needed or any(last - first <= _RUN_PAGES for first, last in runs):
            share_by_key[text, position] = len(pages) / len(edges)
    return share_by_key


def _detect_page_numbers(edges: Sequence[_Edges], sizes_max: Sequence[float]) -> dict[int, tuple[str, int]]:
    """Return the printed number of each page that agrees with the numbers on the pages near it.

    A shift is a printed number minus the index of its page. Neighbouring pages of one part have the same
    shift. Other numbers at their edges, such as years, do not.
    """
    shifts_by_page = [
        {
            (prefix, value - page)
            for row in (*top, *bottom)
            if len(row.text) <= _HEAD_LENGTH_MAX
            for prefix, value in _parse_page_numbers(row, sizes_max[page])
        }
        for page, (top, bottom) in enumerate(edges)
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
    """Yield the page numbers that a row at the edge of a page may contain.

    A number after a single word is part of a title, as in "Exhibit 3", unless small letters or a gap set it
    off.
    """
    text = row.text
    if row.size > size_max:
        return
    is_title = len(row.cells) == 1 and row.size > _SMALL_SHARE * size_max and _NUMBERED_TITLE.fullmatch(text)
    for match in () if is_title else (_START_NUMBER.match(text), _END_NUMBER.search(text)):
        if match:
            yield (match[1] or "").upper(), int(match[2])
