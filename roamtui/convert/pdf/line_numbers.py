"""Strip line numbers in the left margin, as in contracts and manuscripts."""

import re
from collections.abc import Sequence
from itertools import pairwise

from roamtui.convert.pdf.rows import PageRow

_NUMBERS_MIN = 5
"""If a page has at least this many numbered lines, the file has line numbers."""
_NUMBER = re.compile(r"\d{1,5}")
_COUNTED_SHARE = 0.8
"""Minimum share of numbers that count every line. Numbered notes have several lines each."""
_CONTINUED_SHARE = 0.2
"""Minimum share of lines that the next line continues with a small letter. Items of a list do so less."""


def strip_line_numbers(pages: Sequence[list[PageRow]]) -> list[list[PageRow]]:
    """Return the rows of pages without the numbers of their lines."""
    found = [_find_numbered(rows) for rows in pages]
    if not any(are_prose for _, are_prose in found):
        return list(pages)
    for numbered, _ in found:
        for row in numbered:
            del row.cells[0]
            if row.cells:
                row.refresh()
    return [[row for row in rows if row.cells] for rows in pages]


def _find_numbered(rows: Sequence[PageRow]) -> tuple[list[PageRow], bool]:
    """Return the rows that begin with the number of their line, and whether these are lines of prose."""
    ordered = sorted(rows, key=lambda row: row.top)
    places = [index for index, row in enumerate(ordered) if _NUMBER.fullmatch(row.cells[0].text)]
    while places and len(ordered[places[-1]].cells) == 1:  # the number of the page, or of an empty line
        places.pop()
    numbered = [ordered[index] for index in places]
    texts = [cell for row in numbered for cell in row.cells[1:]]
    edge = max((row.cells[0].x1 for row in numbered), default=0.0)
    numbers = [int(row.cells[0].text) for row in numbered]
    counted = sum(
        number - before == index - index_before
        for (before, number), (index_before, index) in zip(pairwise(numbers), pairwise(places), strict=True)
    )
    if not texts or edge > min(cell.x0 for cell in texts) or counted < _COUNTED_SHARE * (len(places) - 1):
        return [], False
    within = range(places[0], places[-1] + 1)
    cells = [ordered[index].cells[1:] if index in places else ordered[index].cells for index in within]
    lines = [" ".join(cell.text for cell in line) for line in cells if line]
    continued = sum(after[0].islower() and before[-1] not in ".:;" for before, after in pairwise(lines))
    are_prose = len(numbered) >= _NUMBERS_MIN and continued >= _CONTINUED_SHARE * len(lines)
    return numbered, are_prose and sum(map(len, cells)) * 2 < 3 * len(lines)
