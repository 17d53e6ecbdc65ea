"""Strip line numbers in the margin, as in contracts and manuscripts."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from roamtui.convert.pdf.rows import PageCell, PageRow

_NUMBERS_MIN = 5
"""Minimum number of numbered lines of a page that show where the numbers of the file are."""
_NUMBER = re.compile(r"\d{1,5}")
_CONTINUED_SHARE = 0.2
"""Minimum share of the lines that the next line continues with a small letter, unlike items of a list."""
_LINE_LENGTH_MIN = 30
"""Minimum mean number of characters of the lines. The labels of a table are shorter."""
_EDGE_WIDTH = 3.0
"""In points. The numbers of a file have edges within this width."""
_COUNTED_SHARE = 0.8
"""Minimum share of numbers that differ from the one before by the number of lines. Notes have more lines."""
_SIDES = (0, -1)
"""Index of the first and the last cell of a row."""


def strip_line_numbers(pages: Sequence[list[PageRow]]) -> list[list[PageRow]]:
    """Return the rows of pages without the numbers of their lines."""
    kept = [*pages]
    for side in _SIDES:
        found = [_find_numbers(rows, side) for rows in kept]
        edges = [edge for edge, numbers, are_lines in found if are_lines]
        for rows, (edge, numbers, _) in zip(kept, found, strict=True):
            if any(abs(edge - other) < _EDGE_WIDTH for other in edges):
                for row in rows:
                    row.cells = [cell for cell in row.cells if id(cell) not in numbers]
                    if row.cells:
                        row.refresh()
        kept = [[row for row in rows if row.cells] for rows in kept]
    return kept


def _find_numbers(rows: Sequence[PageRow], side: int) -> tuple[float, set[int], bool]:
    """Find the numbers that rise from line to line at a side of a page.

    Return their edge, the ids of their cells, and whether they count lines of prose for sure.
    """
    ordered = sorted(rows, key=lambda row: row.top)
    numbered = [row for row in ordered if _NUMBER.fullmatch(row.cells[side].text)]
    run = max(_iter_rising(numbered, side), key=len, default=[])
    numbers = {id(row.cells[side]) for row in run}
    within = [row for row in ordered if run and run[0].top <= row.top <= run[-1].top]
    lines = [[cell for cell in row.cells if id(cell) not in numbers] for row in within]
    lines = list(filter(None, lines))
    if not lines:
        return 0.0, set(), False
    if side == 0:
        edge = max(row.cells[side].x1 for row in run)
        is_in_margin = edge <= min(line[0].x0 for line in lines)
    else:
        edge = min(row.cells[side].x0 for row in run)
        is_in_margin = edge >= max(line[-1].x1 for line in lines)
    places = [
        (index, int(row.cells[side].text))
        for index, row in enumerate(within)
        if id(row.cells[side]) in numbers
    ]
    counted = sum(
        number - number_before == index - index_before
        for (index_before, number_before), (index, number) in pairwise(places)
    )
    if not is_in_margin or counted < _COUNTED_SHARE * (len(places) - 1):
        return 0.0, set(), False
    return edge, numbers, len(run) >= _NUMBERS_MIN and _are_prose(lines)


def _iter_rising(rows: Sequence[PageRow], side: int) -> Iterator[list[PageRow]]:
    run = list(rows[:1])
    for before, row in pairwise(rows):
        if int(row.cells[side].text) <= int(before.cells[side].text):
            yield run
            run = []
        run.append(row)
    yield run


def _are_prose(lines: Sequence[Sequence[PageCell]]) -> bool:
    """Return whether lines without their numbers are prose: long, in one cell, and continued in the next."""
    texts = [" ".join(cell.text for cell in line) for line in lines]
    continued = sum(after[0].islower() and before[-1] not in ".:;" for before, after in pairwise(texts))
    return (
        sum(len(line) == 1 for line in lines) * 2 > len(lines)
        and sum(map(len, texts)) >= _LINE_LENGTH_MIN * len(lines)
        and continued >= _CONTINUED_SHARE * len(lines)
    )
