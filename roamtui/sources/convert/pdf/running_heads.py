"""Strip running headers and footers, and read the printed page numbers.

A printed number counts only if it agrees with numbers on pages nearby. A running head is a line that several pages
repeat at about the same position, apart from their page number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from roamtui.sources.convert.pdf.rows import PageRow

_EDGE_ROWS = 3
_REPEATS_MIN = 4
_REPEATED_SHARE = 0.06
"""Minimum share of pages with the same line at the same position, for the line to be a running head."""
_INNER_SHARE = 0.3
"""A line on at least this share of pages is removed even if it is not at the very edge."""
_RUN_PAGES = 6
"""Four repeats within this many pages are enough, because each chapter may have its own running heads, which differ on
left and right pages."""
_NEARBY_PAGES = 6
"""Maximum distance between pages whose printed numbers are compared."""
_NEARBY_NUMBERS = 6
"""Maximum difference between a page number that is looked up and the printed number that its page is computed from."""
_POSITION_CLASS_POINTS = 12
"""Rows are put into classes of this size by their distance from the top of the page. The same line may be in the next
class on another page."""
_HEAD_LENGTH_MAX = 140
# The prefix and the number of a page at the start of a line (`Page 12`, `F-3 | Notes`, `12 of 90`), and at its end.
_START_NUMBER = re.compile(r"(?:page\s+|p\.\s?|- ?|\| ?)?([A-Z]{1,3}-)?(\d{1,4})(?=$|[\s|/-]|\sof\s\d)", re.IGNORECASE)
_END_NUMBER = re.compile(r"(?:^|[\s|])([A-Z]{1,3}-)?(\d{1,4})(?:\s?-)?$")
_NUMBER_ONLY = re.compile(
    r"(?:page)?[-–—|\s]*(?:[A-Z]{1,3}-)?\d{1,4}(?:[-–—|\s]*|\s*(?:of|/)\s*\d{1,4})", re.IGNORECASE
)
"""A line that is only a page number: `12`, `Page F-3`, `- 12 -`, `12 of 90`."""
_FURNITURE = re.compile(
    r"(?:page|p\.)?\s*\d{1,4}\s+(?:of|/)\s+\d{1,4}|page\s+(?:[A-Z]{1,2}-)?\d{1,4}|-\s\d{1,4}\s-|[A-Z]-\d{1,3}",
    re.IGNORECASE,
)
"""A line at the edge of a page that is only a page number."""
_CONTENTS_LINK = re.compile(r"(?:back to |return to )?(?:the )?(?:table of contents|contents|index|top)", re.IGNORECASE)
_LABEL_END = re.compile(r".*\s(?:[A-Z]{1,2}-)?\d{1,4}")
_LISTED_ROWS_MAX = 4
"""A page with more lines that end with a page number is a contents page, so its "Contents" is a title, not a link."""
_Edges = tuple[list[PageRow], list[PageRow]]
"""Up to three rows at the top of a page, and up to three at the bottom, both from the edge inwards."""
PrintedNumbers = dict[tuple[str, int], list[int]]
"""0-based pages of each printed number (prefix and value), ascending. There are several if parts restart at 1."""


class StrippedPages(Struct, frozen=True, kw_only=True):
    """Pages without their running heads."""

    pages: list[list[PageRow]]
    has_running_heads: bool
    """Whether any row was removed."""
    printed: PrintedNumbers


def find_page_by_label(printed: PrintedNumbers, label: str, after: int) -> int | None:
    """Find the first page after page `after` that has a printed number such as `12` or `F-3`. Pages are 0-based.

    If no page has it, compute the page from the nearest printed number. If that is too far away, return None.
    """
    number = parse_label(label)
    if number is None:
        return None
    prefix, value = number
    for distance in range(_NEARBY_NUMBERS + 1):
        for nearby in (value - distance, value + distance):
            for page in printed.get((prefix, nearby), ()):
                if page + value - nearby > after:
                    return page + value - nearby
    return None


def parse_label(label: str) -> tuple[str, int] | None:
    """Parse a printed page number into prefix and value: `F-3` into `("F-", 3)`."""
    match = re.fullmatch(r"([A-Z]{1,3}-)?(\d{1,4})", label.strip())
    return (match[1] or "", int(match[2])) if match else None


def strip_running_heads(pages: Sequence[list[PageRow]]) -> StrippedPages:
    """Remove running heads from the rows of pages, and read the printed page numbers.

    If no row would be left in the whole document, nothing is removed.
    """
    edges: list[_Edges] = []
    for rows in pages:
        ordered = sorted(rows, key=lambda row: row.top)
        half = (len(ordered) + 1) // 2
        count = min(_EDGE_ROWS, half)
        bottom = ordered[: len(ordered) - half - 1 : -1][:count] if len(ordered) > 1 else []
        edges.append((ordered[:count], bottom))
    numbers = _detect_page_numbers(edges)
    share_by_key = _detect_repeated_rows(edges, numbers)
    link_rows = [row for top, _ in edges for row in top[:1] if _CONTENTS_LINK.fullmatch(row.text)]
    links = set(map(id, link_rows)) if len(link_rows) > 1 else set()
    printed: PrintedNumbers = {}
    kept = []
    for page, (rows, sides) in enumerate(zip(pages, edges, strict=True)):
        number = numbers.get(page)
        if number is not None:
            printed.setdefault(number, []).append(page)
        removed: set[int] = set()
        for side in sides:
            is_edge = True
            for row in side:
                is_number = (
                    number is not None and _NUMBER_ONLY.fullmatch(row.text) and number in _parse_page_numbers(row.text)
                )
                is_furniture = len(row.text) <= _HEAD_LENGTH_MAX and (
                    _FURNITURE.fullmatch(row.text) is not None or (id(row) in links and not _lists_pages(rows))
                )
                share = 1.0 if is_number or is_furniture else share_by_key.get(_make_key(row, number), 0.0)
                is_edge = is_edge and share > 0  # a row stays if text of the page is between it and the edge
                if is_edge or share >= _INNER_SHARE:
                    removed.add(id(row))
        kept.append([row for row in rows if id(row) not in removed])
    if not any(kept):
        return StrippedPages(pages=list(pages), has_running_heads=False, printed=printed)
    has_removed = sum(map(len, kept)) < sum(map(len, pages))
    return StrippedPages(pages=kept, has_running_heads=has_removed, printed=printed)


def _lists_pages(rows: Sequence[PageRow]) -> bool:
    """Check whether many rows end with the number of a page."""
    return sum(_LABEL_END.fullmatch(row.text) is not None for row in rows) > _LISTED_ROWS_MAX


def _make_key(row: PageRow, number: tuple[str, int] | None) -> tuple[str, int]:
    """Return the text of a row with the page number replaced, and the class of its position."""
    text = row.text if number is None else re.sub(rf"\b{number[1]}\b", "#", row.text)
    return text, int(row.top // _POSITION_CLASS_POINTS)


def _detect_repeated_rows(
    edges: Sequence[_Edges], numbers: Mapping[int, tuple[str, int]]
) -> dict[tuple[str, int], float]:
    """Return the share of pages that have a repeated row, by the key of the row."""
    pages_by_key: dict[tuple[str, int], list[int]] = {}
    for page, sides in enumerate(edges):
        for row in (*sides[0], *sides[1]):
            if len(row.text) <= _HEAD_LENGTH_MAX and any(map(str.isalpha, row.text)):
                pages_by_key.setdefault(_make_key(row, numbers.get(page)), []).append(page)
    repeats_needed = max(_REPEATS_MIN, _REPEATED_SHARE * len(edges))
    share_by_key = {}
    for text, position in pages_by_key:
        # Rows near the border of two classes may be in either.
        classes = ((text, position + step) for step in (-1, 0, 1))
        repeats = sorted({page for key in classes for page in pages_by_key.get(key, ())})
        runs = zip(repeats, repeats[_REPEATS_MIN - 1 :], strict=False)  # first and last page of four repeats in a row
        is_close = any(last - first <= _RUN_PAGES for first, last in runs)
        if len(repeats) >= repeats_needed or is_close:
            share_by_key[text, position] = len(repeats) / len(edges)
    return share_by_key


def _detect_page_numbers(edges: Sequence[_Edges]) -> dict[int, tuple[str, int]]:
    """Return the printed number of each page that agrees with the numbers on the pages near it.

    A shift is a printed number minus the index of its page. Neighbouring pages of one part have the same shift. Other
    numbers at their edges, such as years, do not.
    """
    candidates_by_page = [
        {
            number
            for side in sides
            for row in side
            if len(row.text) <= _HEAD_LENGTH_MAX
            for number in _parse_page_numbers(row.text)
        }
        for sides in edges
    ]
    shifts_by_page = [
        {(prefix, value - page) for prefix, value in candidates} for page, candidates in enumerate(candidates_by_page)
    ]
    pages_needed = 2 if len(edges) > _REPEATS_MIN else 1
    number_by_page = {}
    for page, shifts in enumerate(shifts_by_page):
        before = shifts_by_page[max(0, page - _NEARBY_PAGES) : page]
        after = shifts_by_page[page + 1 : page + 1 + _NEARBY_PAGES]
        nearby_counts = Counter(shift for other in (*before, *after) for shift in other)
        most_shared = max(shifts, key=lambda shift: nearby_counts[shift], default=None)
        if most_shared is None:
            continue
        prefix, shift = most_shared
        number = prefix, shift + page
        if nearby_counts[most_shared] >= pages_needed:
            number_by_page[page] = number
    return number_by_page


def _parse_page_numbers(text: str) -> Iterator[tuple[str, int]]:
    """Yield the page numbers that a line at the edge of a page may contain."""
    for match in (_START_NUMBER.match(text), _END_NUMBER.search(text)):
        if match:
            yield (match[1] or "").upper(), int(match[2])
