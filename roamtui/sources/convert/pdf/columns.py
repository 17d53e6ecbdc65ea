"""Rows of a page in the order in which it is read, where it has columns one column after the other.

Columns of prose and tables of several lines look alike. What tells them apart is the order in which the page draws:
a table row by row, columns one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from roamtui.sources.convert.pdf.pdfium import PdfPage, Word
from roamtui.sources.convert.pdf.rows import (
    Row,
    group_words,
    has_right_to_left,
    make_right_to_left_row,
    make_row,
    order_right_to_left,
    set_apart_odd,
)

_CELL_GAP = 0.62
_PROSE_WORDS_MIN = 4
_PROSE_LETTERS_MIN = 20
_VOTES_MIN = 6
_NEAR = 4.0
"""Points: cells that begin so close are one column's."""
_SIDE_MIN = 0.3
"""Of the width: no column begins left of this, nor as close to the right edge."""
_SWITCHES_MAX = 0.12
"""Of the rows: how often columns are drawn by turns."""
_DEPTH_MAX = 2


def read_rows(page: PdfPage) -> list[Row]:
    """Return the rows of a page in the order of reading."""
    words, upright = set_apart_odd(page.read_words())
    is_right_to_left = has_right_to_left(words)
    rows = []
    for group in _order(words, 0):
        ordered = order_right_to_left(group) if is_right_to_left else None
        rows.append(make_right_to_left_row(ordered) if ordered else make_row(group))
    if upright:
        rows.append(make_right_to_left_row(sorted(upright, key=lambda word: word.first)))
    for row in rows:
        font = page.read_font(row.first)
        if row.last == row.first or font is page.read_font(row.last):
            row.font = font
    return rows


def _order(words: list[Word], depth: int) -> list[list[Word]]:
    """Return the words of each row, the rows in the order of reading."""
    groups = group_words(words)
    x = _find_column(groups) if depth < _DEPTH_MAX else None
    if x is None:
        return groups
    bands = _divide(groups, x)
    if not _is_drawn_by_column(bands, x):
        return groups
    ordered: list[list[Word]] = []
    for is_open, band in bands:
        if not is_open:
            ordered += band
            continue
        flat = [word for group in band for word in group]
        left = [word for word in flat if word.x0 < x]
        right = [word for word in flat if word.x0 >= x]
        ordered += _order(left, depth + 1)
        ordered += _order(right, depth + 1)
    return ordered


def _list_cells(group: Sequence[Word]) -> list[tuple[float, float, int, int]]:
    """Return where the cells of a row begin and end, and how many words and characters each has."""
    cells = []
    x0 = x1 = 0.0
    words = letters = 0
    for word in group:
        if words and word.x0 - x1 > _CELL_GAP * (word.bottom - word.top):
            cells.append((x0, x1, words, letters))
            words = 0
        if not words:
            x0, x1, letters = word.x0, word.x1, 0
        words += 1
        letters += len(word.text)
        x1 = max(x1, word.x1)
    if words:
        cells.append((x0, x1, words, letters))
    return cells


def _find_column(groups: Sequence[list[Word]]) -> float | None:
    """Return where the right one of two columns begins, if enough prose begins there."""
    if len(groups) < _VOTES_MIN:
        return None
    left = min(group[0].x0 for group in groups)
    right = max(group[-1].x1 for group in groups)
    low = left + _SIDE_MIN * (right - left)
    high = right - _SIDE_MIN * (right - left)
    votes: dict[int, list[float]] = {}
    for group in groups:
        if group[-1].x0 < low:
            continue
        for x0, _, words, letters in _list_cells(group):
            if low <= x0 <= high and words >= _PROSE_WORDS_MIN and letters >= _PROSE_LETTERS_MIN:
                votes.setdefault(int(x0 // _NEAR), []).append(x0)
    if not votes:
        return None
    best = max(votes, key=lambda key: len(votes[key]))
    near = [*votes[best], *votes.get(best - 1, ())]
    return min(near) - 1 if len(near) >= _VOTES_MIN else None


def _divide(groups: Sequence[list[Word]], x: float) -> list[tuple[bool, list[list[Word]]]]:
    """Return the rows in bands: those that no cell crosses at a height are open."""
    bands: list[tuple[bool, list[list[Word]]]] = []
    for group in groups:
        is_open = not any(x0 < x - 2 and x1 > x + 2 for x0, x1, _, _ in _list_cells(group))
        if bands and bands[-1][0] == is_open:
            bands[-1][1].append(group)
        else:
            bands.append((is_open, [group]))
    return bands


def _is_drawn_by_column(bands: Sequence[tuple[bool, list[list[Word]]]], x: float) -> bool:
    rows = switches = 0
    for is_open, band in bands:
        if not is_open:
            continue
        sides = [
            word.x0 >= x for word in sorted((word for group in band for word in group), key=lambda word: word.first)
        ]
        both = any(sides) and not all(sides)
        rows += len(band) if both else 0
        switches += sum(one != two for one, two in pairwise(sides)) - both
    return rows >= _VOTES_MIN and switches <= _SWITCHES_MAX * rows
