"""What repeats at the edges of pages: running heads and feet, and the numbers that are printed on pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from roamtui.sources.convert.pdf.rows import PageRow

_EDGE_ROWS = 3
_REPEATED_MIN = 4
_REPEATED_SHARE = 0.06
"""Of all pages: a line on so many of them, at the same height, is none of their text."""
_INNER_SHARE = 0.3
"""What is on so many does not have to be at the very edge."""
_RUN_PAGES = 6
"""On which the least of repeats must stand: left and right pages of a chapter may have different heads."""
_NEAR = 6
"""Points; and pages within which printed numbers have to agree."""
_LENGTH_MAX = 140
_FRONT = re.compile(r"(?:page\s+|p\.\s?|- ?|\| ?)?([A-Z]{1,3}-)?(\d{1,4})(?=$|[\s|/-]|\sof\s\d)", re.IGNORECASE)
_BACK = re.compile(r"(?:^|[\s|])([A-Z]{1,3}-)?(\d{1,4})(?:\s?-)?$")
_ALONE = re.compile(r"(?:page\s*)?[-–—|\s]*(?:[A-Z]{1,3}-)?\d{1,4}(?:[-–—|\s]*|\s*(?:of|/)\s*\d{1,4})", re.IGNORECASE)


PrintedNumbers = dict[tuple[str, int], list[int]]
"""0-based pages of printed numbers, rising: what is bound together counts anew in each part."""


def find_page_by_label(printed: PrintedNumbers, label: str, after: int) -> int | None:
    """Return the first 0-based page after another with a printed number such as ``12`` or ``F-3``."""
    number = read_label(label)
    if number is None:
        return None
    prefix, value = number
    for away in range(_NEAR + 1):
        for near in (value - away, value + away):
            for page in printed.get((prefix, near), ()):
                if page + value - near > after:
                    return page + value - near
    return None


def read_label(label: str) -> tuple[str, int] | None:
    """Return prefix and value of a page number as it is printed."""
    match = re.fullmatch(r"([A-Z]{1,3}-)?(\d{1,4})", label.strip())
    return (match[1] or "", int(match[2])) if match else None


def strip_running_heads(pages: Sequence[list[PageRow]]) -> tuple[list[list[PageRow]], bool, PrintedNumbers]:
    """Return pages without what repeats at their edges, whether there was any, and where printed numbers are."""
    edges = [_list_edges(rows) for rows in pages]
    numbers = _detect_page_numbers(edges)
    running = _detect_repeated_rows(edges, numbers)
    printed: PrintedNumbers = {}
    kept = []
    for page, (rows, sides) in enumerate(zip(pages, edges, strict=True)):
        number = numbers.get(page)
        if number is not None:
            printed.setdefault(number, []).append(page)
        gone: set[int] = set()
        for side in sides:
            is_edge = True
            for row in side:
                is_number = number is not None and _ALONE.fullmatch(row.text) and number in _read_numbers(row.text)
                share = 1.0 if is_number else running.get(_name(row, number), 0.0)
                is_edge = is_edge and share > 0
                if is_edge or share >= _INNER_SHARE:
                    gone.add(id(row))
        kept.append([row for row in rows if id(row) not in gone])
    has_any = sum(map(len, kept)) < sum(map(len, pages))
    return (kept, has_any, printed) if any(kept) else (list(pages), False, printed)


def _list_edges(rows: list[PageRow]) -> tuple[list[PageRow], list[PageRow]]:
    """Return the rows at the top of a page and those at its bottom, each from the edge inwards."""
    ordered = sorted(rows, key=lambda row: row.top)
    half = (len(ordered) + 1) // 2
    count = min(_EDGE_ROWS, half)
    return ordered[:count], ordered[: len(ordered) - half - 1 : -1][:count] if len(ordered) > 1 else []


def _name(row: PageRow, number: tuple[str, int] | None) -> tuple[str, int]:
    """Return what makes a row that of other pages: its text but for the page's number, and its height."""
    text = row.text if number is None else re.sub(rf"\b{number[1]}\b", "#", row.text)
    return text, int(row.top // (2 * _NEAR))


def _detect_repeated_rows(
    edges: Sequence[tuple[list[PageRow], list[PageRow]]], numbers: Mapping[int, tuple[str, int]]
) -> dict[tuple[str, int], float]:
    """Return the share of pages of each row that repeats at a height."""
    where: dict[tuple[str, int], list[int]] = {}
    for page, sides in enumerate(edges):
        for row in (*sides[0], *sides[1]):
            if len(row.text) <= _LENGTH_MAX and any(map(str.isalpha, row.text)):
                where.setdefault(_name(row, numbers.get(page)), []).append(page)
    needed = max(_REPEATED_MIN, _REPEATED_SHARE * len(edges))
    running = {}
    for (text, height), found in where.items():
        near = sorted({*found, *where.get((text, height - 1), ()), *where.get((text, height + 1), ())})
        is_close = any(last - first <= _RUN_PAGES for first, last in zip(near, near[_REPEATED_MIN - 1 :], strict=False))
        if len(near) >= needed or is_close:
            running[text, height] = len(near) / len(edges)
    return running


def _detect_page_numbers(edges: Sequence[tuple[list[PageRow], list[PageRow]]]) -> dict[int, tuple[str, int]]:
    """Return the printed number of each page that has one with which its neighbours' agree."""
    found = [
        {number for side in sides for row in side if len(row.text) <= _LENGTH_MAX for number in _read_numbers(row.text)}
        for sides in edges
    ]
    shifts = [{(prefix, value - page) for prefix, value in numbers} for page, numbers in enumerate(found)]
    needed = 2 if len(edges) > _REPEATED_MIN else 1
    chosen = {}
    for page, own in enumerate(shifts):
        near = Counter(
            shift
            for other in (*shifts[max(0, page - _NEAR) : page], *shifts[page + 1 : page + 1 + _NEAR])
            for shift in other
        )
        best = max(own, key=lambda shift: near[shift], default=None)
        if best is not None and near[best] >= needed:
            chosen[page] = best[0], best[1] + page
    return chosen


def _read_numbers(text: str) -> Iterator[tuple[str, int]]:
    """Yield the numbers that a line at the edge of a page may say that it has."""
    for match in (_FRONT.match(text), _BACK.search(text)):
        if match:
            yield (match[1] or "").upper(), int(match[2])
