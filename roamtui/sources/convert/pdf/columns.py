"""Rows of a page in the order in which it is read, where it has columns one column after the other.

Columns of prose and tables of several lines look alike. What tells them apart is the order in which the page draws:
a table row by row, columns one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from roamtui.sources.convert.pdf.pdfium import PdfPage, Word
from roamtui.sources.convert.pdf.rows import (
    Row,
    group_words,
    make_mixed_row,
    make_row,
    make_upright_row,
    set_apart_odd,
)

_PROSE_WORDS_MIN = 2
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
    groups = _order(words, 0)
    if page.is_mixed:
        rows = [make_mixed_row(group, is_mirrored=page.is_mirrored) for group in groups]
    else:
        rows = [make_row(group) for group in groups]
    if upright:
        rows.append(make_upright_row(upright))
    for row in rows:
        font = page.read_font(row.first)
        if row.last == row.first or font is page.read_font(row.last):
            row.font = font
    return rows


def _order(words: list[Word], depth: int) -> list[list[Word]]:
    """Return the words of each row, the rows in the order of reading.

    Args:
        words: In the order in which the page draws them.
        depth: How many columns they are inside.
    """
    groups = group_words(words)
    lines = _list_lines(words) if depth < _DEPTH_MAX and len(groups) >= _VOTES_MIN else []
    x = _find_column(lines, words)
    if x is None:
        return groups
    crossing = {word.first for line in lines if line[0].x0 < x - 2 and line[-1].x1 > x + 2 for word in line}
    bands = [(is_open, list(band)) for is_open, band in groupby(groups, lambda group: _is_open(group, crossing))]
    if not _is_drawn_by_column(bands, x):
        return groups
    ordered: list[list[Word]] = []
    for is_open, band in bands:
        if is_open:
            flat = sorted((word for group in band for word in group), key=lambda word: word.first)
            ordered += _order([word for word in flat if word.x0 < x], depth + 1)
            ordered += _order([word for word in flat if word.x0 >= x], depth + 1)
        else:
            ordered += band
    return ordered


def _is_open(group: Sequence[Word], crossing: set[int]) -> bool:
    return not any(word.first in crossing for word in group)


def _list_lines(words: Sequence[Word]) -> list[list[Word]]:
    """Return what the page draws from left to right without going back."""
    lines: list[list[Word]] = []
    before: Word | None = None
    for word in words:
        if before is not None and word.x0 >= before.x1 - 1 and word.top < before.bottom and word.bottom > before.top:
            lines[-1].append(word)
        else:
            lines.append([word])
        before = word
    return lines


def _find_column(lines: Sequence[list[Word]], words: Sequence[Word]) -> float | None:
    """Return where the right one of two columns begins, if enough lines of prose begin there."""
    if not lines:
        return None
    left = min([word.x0 for word in words])
    right = max([word.x1 for word in words])
    low = left + _SIDE_MIN * (right - left)
    high = right - _SIDE_MIN * (right - left)
    votes: dict[int, list[float]] = {}
    for line in lines:
        x0 = line[0].x0
        if low <= x0 <= high and len(line) >= _PROSE_WORDS_MIN:
            votes.setdefault(int(x0 // _NEAR), []).append(x0)
    if not votes:
        return None
    best = max(votes, key=lambda key: len(votes[key]))
    near = [*votes[best], *votes.get(best - 1, ())]
    return min(near) - 1 if len(near) >= _VOTES_MIN else None


def _is_drawn_by_column(bands: Sequence[tuple[bool, list[list[Word]]]], x: float) -> bool:
    rows = switches = 0
    for is_open, band in bands:
        flat = sorted((word for group in band for word in group), key=lambda word: word.first) if is_open else []
        sides = [word.x0 >= x for word in flat]
        if any(sides) and not all(sides):
            rows += len(band)
            switches += sum(one != two for one, two in pairwise(sides)) - 1
    return rows >= _VOTES_MIN and switches <= _SWITCHES_MAX * rows
