"""Strip running headers and footers, and read the printed page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from roamtui.sources.convert.pdf.rows import PageRow

_EDGE_ROWS = 3
_REPEATS_MIN = 4
_REPEATED_SHARE = 0.06
"""Minimum share of pages that have a running head: the same line at the same height."""
_INNER_SHARE = 0.3
"""A line on this share of pages is removed even if it is not at the very edge."""
_RUN_PAGES = 6
"""Four repeats within this many pages are enough, because each chapter may have its own running heads, which differ on
left and right pages."""
_NEARBY_PAGES = 6
"""Greatest distance between pages whose printed numbers are compared."""
_HEIGHT_TOLERANCE = 6
"""Greatest difference between the heights of the same line on different pages, in points."""
_HEAD_LENGTH_MAX = 140
_START_NUMBER = re.compile(r"(?:page\s+|p\.\s?|- ?|\| ?)?([A-Z]{1,3}-)?(\d{1,4})(?=$|[\s|/-]|\sof\s\d)", re.IGNORECASE)
_END_NUMBER = re.compile(r"(?:^|[\s|])([A-Z]{1,3}-)?(\d{1,4})(?:\s?-)?$")
_NUMBER = re.compile(r"(?:page)?[-–—|\s]*(?:[A-Z]{1,3}-)?\d{1,4}(?:[-–—|\s]*|\s*(?:of|/)\s*\d{1,4})", re.IGNORECASE)
_Edges = tuple[list[PageRow], list[PageRow]]
"""Up to three rows at the top of a page, and up to three at the bottom, both from the edge inwards."""
PrintedNumbers = dict[tuple[str, int], list[int]]
"""0-based pages of each printed number (prefix and value), ascending. There are several if parts restart at 1."""


def find_page_by_label(printed: PrintedNumbers, label: str, after: int) -> int | None:
    """Find the first page after page `after` that has a printed number such as `12` or `F-3`. Pages are 0-based.

    If no page has it, compute the page from the nearest printed number. If that is more than 6 away, return None.
    """
    number = parse_label(label)
    if number is None:
        return None
    prefix, value = number
    for distance in range(_NEARBY_PAGES + 1):
        for near in (value - distance, value + distance):
            for page in printed.get((prefix, near), ()):
                if page + value - near > after:
                    return page + value - near
    return None


def parse_label(label: str) -> tuple[str, int] | None:
    """Parse a printed page number into prefix and value: `F-3` into `("F-", 3)`."""
    match = re.fullmatch(r"([A-Z]{1,3}-)?(\d{1,4})", label.strip())
    return (match[1] or "", int(match[2])) if match else None


def strip_running_heads(pages: Sequence[list[PageRow]]) -> tuple[list[list[PageRow]], bool, PrintedNumbers]:
    """Return the pages without their running heads, whether there were any, and the pages of the printed numbers."""
    edges: list[_Edges] = []
    for rows in pages:
        ordered = sorted(rows, key=lambda row: row.top)
        half = (len(ordered) + 1) // 2
        count = min(_EDGE_ROWS, half)
        bottom = ordered[: len(ordered) - half - 1 : -1][:count] if len(ordered) > 1 else []
        edges.append((ordered[:count], bottom))
    numbers = _detect_page_numbers(edges)
    running = _detect_repeated_rows(edges, numbers)
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
                    number is not None and _NUMBER.fullmatch(row.text) and number in _parse_page_numbers(row.text)
                )
                share = 1.0 if is_number else running.get(_make_key(row, number), 0.0)
                is_edge = is_edge and share > 0
                if is_edge or share >= _INNER_SHARE:
                    removed.add(id(row))
        kept.append([row for row in rows if id(row) not in removed])
    has_any = sum(map(len, kept)) < sum(map(len, pages))
    return (kept, has_any, printed) if any(kept) else (list(pages), False, printed)


def _make_key(row: PageRow, number: tuple[str, int] | None) -> tuple[str, int]:
    """Return the text of a row, with the number of its page replaced, and its approximate height."""
    text = row.text if number is None else re.sub(rf"\b{number[1]}\b", "#", row.text)
    return text, int(row.top // (2 * _HEIGHT_TOLERANCE))


def _detect_repeated_rows(
    edges: Sequence[_Edges], numbers: Mapping[int, tuple[str, int]]
) -> dict[tuple[str, int], float]:
    """Return the key of each repeated row, with the share of pages that have it."""
    pages_by_key: dict[tuple[str, int], list[int]] = {}
    for page, sides in enumerate(edges):
        for row in (*sides[0], *sides[1]):
            if len(row.text) <= _HEAD_LENGTH_MAX and any(map(str.isalpha, row.text)):
                pages_by_key.setdefault(_make_key(row, numbers.get(page)), []).append(page)
    needed = max(_REPEATS_MIN, _REPEATED_SHARE * len(edges))
    running = {}
    for (text, height), found in pages_by_key.items():
        # Rows near the border of two height classes may be in either.
        near = sorted({*found, *pages_by_key.get((text, height - 1), ()), *pages_by_key.get((text, height + 1), ())})
        is_close = any(last - first <= _RUN_PAGES for first, last in zip(near, near[_REPEATS_MIN - 1 :], strict=False))
        if len(near) >= needed or is_close:
            running[text, height] = len(near) / len(edges)
    return running


def _detect_page_numbers(edges: Sequence[_Edges]) -> dict[int, tuple[str, int]]:
    """Return the printed number of each page that agrees with the numbers on the pages near it."""
    found = [
        {
            number
            for side in sides
            for row in side
            if len(row.text) <= _HEAD_LENGTH_MAX
            for number in _parse_page_numbers(row.text)
        }
        for sides in edges
    ]
    shifts = [{(prefix, value - page) for prefix, value in numbers} for page, numbers in enumerate(found)]
    needed = 2 if len(edges) > _REPEATS_MIN else 1
    chosen = {}
    for page, page_shifts in enumerate(shifts):
        around = (*shifts[max(0, page - _NEARBY_PAGES) : page], *shifts[page + 1 : page + 1 + _NEARBY_PAGES])
        near = Counter(shift for other in around for shift in other)
        best = max(page_shifts, key=lambda shift: near[shift], default=None)
        if best is not None and near[best] >= needed:
            chosen[page] = best[0], best[1] + page
    return chosen


def _parse_page_numbers(text: str) -> Iterator[tuple[str, int]]:
    """Yield the page numbers that a line at the edge of a page may contain."""
    for match in (_START_NUMBER.match(text), _END_NUMBER.search(text)):
        if match:
            yield (match[1] or "").upper(), int(match[2])
