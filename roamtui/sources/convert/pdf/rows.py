"""Group the words of a page into rows in reading order, with cells separated by wide gaps."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise, takewhile
from operator import attrgetter

from roamtui.sources.convert.pdf.pdfium import (
    RAISED_END,
    RAISED_START,
    UNKNOWN_FONT,
    Font,
    PdfPage,
    Word,
    are_raised,
)

_OVERLAP_MIN = 0.5
"""Minimum vertical overlap of two words in one row, as a share of the height of the smaller one."""
_SAME_LINE_OFFSET_MAX, _NEXT_LINE_OFFSET_MIN = 0.2, 0.8
"""Twice the vertical distance between the centres of two words, in letter heights. Below the first number,
the words are in the same line; from the second number on, they are in adjacent lines."""
_BELOW_SHARE = 0.3
"""Minimum horizontal overlap of a word with a word above it, as a share of the width of the narrower one."""
_CELL_GAP = 0.62
"""Maximum gap between words of one cell, in letter heights."""
_SPACE_GAP = 0.07
"""Minimum gap, in letter heights, that counts as a space. A narrower gap counts only if the PDF has a space
character there."""
_RAISED_GAP = 0.15
"""Maximum gap, in letter heights, between letters and a raised mark that belongs to them."""
_TALL_RATIO = 1.8
"""Minimum height of vertical text, relative to the median height of words."""
_FIGURE_PREFIX = re.compile(r"(?:[$€£¥(]|US\$|C\$|A\$|R\$)+")
"""A cell, such as a currency sign, that belongs to the figure after it."""
_FIGURE_SUFFIX = re.compile(r"[)%\]]+|pts?|bps|x")
"""A cell, such as a percent sign, that belongs to the figure before it."""
_ENUMERATOR = re.compile(
    r"(?:item|note|part|chapter|section|article|exhibit|appendix)\s*[\divxlc]+[a-c]?\s?[.:\u2014\u2013-]?|[•▪●◦‣⁃■□➢✓–·]"
    r"|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:\d{1,2}|[A-Za-z]|[IVX]{1,4})\.|\d{1,2}(?:\.\d{1,2}){1,4}\.?",
    re.IGNORECASE,
)
_WHOLE_FIGURE = re.compile(r"\(?[$€£¥]?\(?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\)?%?\)?")
_FIGURE_SIGNS = re.compile(r"\d[,.]\d|[$€£¥%(]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_FOOTNOTE_MARK = re.compile(r"\((?:\d|[a-z])\)|[*†‡]{1,3}")
_FOOTNOTE_MARK_GAP_MAX = 0.9
"""Maximum distance between a figure and its footnote mark, in letter heights."""
_FIGURE_ENDS = "0123456789)%"
_CURRENCIES = "$€£¥"
_DASHES = "—–-"
_FIGURE_START = re.compile(r"[\d$€£¥(\u2014–-]")
_COLUMN_ROWS_MIN = 6
"""Minimum number of rows in two columns, and of lines that start at the left edge of the right one."""
_COLUMN_EDGE_WIDTH = 4.0
"""In points. Lines whose left edges are within this width belong to the same column."""
_COLUMN_WIDTH_MIN = 0.3
"""Minimum distance of the right column from both edges of the text, as a share of its width."""
_SWITCHES_MAX = 0.12
"""Maximum number of changes between the columns per row, in drawing order. A table changes more often."""
_COLUMN_DEPTH_MAX = 2
_LINES_MIN = 12
"""Minimum number of lines in two columns that the page draws line by line."""
_PROSE_WORDS_MIN = 4
"""Minimum mean number of words of such a line in its column."""
_FILLED_SHARE_MIN = 0.8
"""Minimum share of its column that a usual line of prose fills. The cells of a table differ more."""
_GUTTER_MAX = 4.0
"""Maximum distance, in letter heights, of the longest line of the left column from the right column."""
_FIGURES_SHARE_MAX = 0.15
_SAMPLE_STEP = 4
_GET_FIRST = attrgetter("first")
_GET_LEFT = attrgetter("x0")


@dataclass(slots=True)
class Cell:
    """Words of a row that no wide gap separates."""

    text: str
    x0: float
    x1: float


@dataclass(slots=True)
class PageRow:
    """A line of a page."""

    cells: list[Cell]
    top: float
    bottom: float
    size: float
    """Letter height."""
    first: int
    """Index of its first character in drawing order; `last` is the index of its last one."""
    last: int
    font: Font = UNKNOWN_FONT
    """Font of its first and last character; `UNKNOWN_FONT` if they differ."""
    page: int = 0
    """0-based number of its page."""
    number: int = 0
    """0-based number of the row on its page."""
    is_in_table: bool = False
    is_listed: bool = False
    """Whether it belongs to a contents page."""
    text: str = field(init=False)
    x0: float = field(init=False)
    x1: float = field(init=False)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Recompute text and bounds from the cells."""
        cells = self.cells
        self.text = cells[0].text if len(cells) == 1 else " ".join([cell.text for cell in cells])
        self.x0 = min(cells[0].x0, cells[-1].x0)
        self.x1 = max(cells[0].x1, cells[-1].x1)


def _sum_edges(word: Word) -> float:
    return word.top + word.bottom


def group_words(words: Iterable[Word]) -> list[list[Word]]:
    """Group words into rows from top to bottom, each from left to right."""
    rows: list[list[Word]] = []
    row: list[Word] = []
    top = bottom = 0.0
    for word in sorted(words, key=_sum_edges):
        height = word.bottom - word.top
        row_height = bottom - top
        overlap = min(bottom, word.bottom) - max(top, word.top)
        overlaps = bool(row) and overlap >= _OVERLAP_MIN * min(height, row_height)
        if overlaps and not _is_below(word, row):
            row.append(word)
            if height <= row_height:
                continue
        else:
            # A line of the next column may be between these two lines, and overlap both.
            start = bisect_right(row, _sum_edges(word) - _SAME_LINE_OFFSET_MAX * height, key=_sum_edges)
            beside = row[start:] if overlaps else []
            del row[len(row) - len(beside) :]
            row = [*beside, word]
            rows.append(row)
        top, bottom = word.top, word.bottom
    for row in rows:
        row.sort(key=_GET_LEFT)
    return rows


def _is_below(word: Word, row: Sequence[Word]) -> bool:
    """Check whether a word is below another word of a row, so that it belongs to the next line."""
    above = _sum_edges(word) - _NEXT_LINE_OFFSET_MIN * (word.bottom - word.top)
    return any(
        min(word.x1, other.x1) - max(word.x0, other.x0)
        > _BELOW_SHARE * min(word.x1 - word.x0, other.x1 - other.x0)
        for other in takewhile(lambda other: _sum_edges(other) <= above, row)
    )


def make_row(words: Sequence[Word]) -> PageRow:
    """Make a row from words that are sorted from left to right."""
    size = _measure_size(words)
    gap_max = _CELL_GAP * size
    touching = _SPACE_GAP * size
    cells: list[Cell] = []
    cell: Cell | None = None
    before = base = words[0]
    for word in words:
        gap = word.x0 - before.x1
        if cell is not None and gap < _RAISED_GAP * size and are_raised(word, base):
            cell.text += f"{RAISED_START}{word.text}{RAISED_END}"
            cell.x1 = max(word.x1, cell.x1)
            before = word
            continue
        if (
            cell is None
            or gap > gap_max
            or (gap > touching and _starts_column(cell.text, base.text, word.text))
        ):
            cell = Cell(word.text, word.x0, word.x1)
            cells.append(cell)
        else:
            touches = gap < touching and word.first != before.last + 2 and cell.x0 != word.x0
            if touches and base is before and base.text[0].isdigit() and are_raised(base, word):
                cell.text = f"{cell.text.removesuffix(base.text)}{RAISED_START}{base.text}{RAISED_END}"
            cell.text += word.text if touches else f" {word.text}"
            cell.x1 = max(word.x1, cell.x1)
        before = base = word
    if len(cells) > 1:
        cells = _join_marks(cells, size)
    return _build_row(cells, words, size)


def _starts_column(cell: str, last: str, after: str) -> bool:
    """Check whether the word after a cell is a figure or a year of the next column, as in "9,035 $488".

    `last` is the last word of the cell.
    """
    last = last.partition(RAISED_START)[0] or last
    if _YEAR.fullmatch(last) and _YEAR.fullmatch(after):
        return True
    if cell[0].isalpha() or not (last[-1] in _FIGURE_ENDS or cell in _DASHES):
        return False
    if after in _CURRENCIES and _YEAR.fullmatch(last):
        return False  # a head such as "2022 $ million"
    are_whole = _WHOLE_FIGURE.fullmatch(last) and _WHOLE_FIGURE.fullmatch(after)
    return after[0] in _CURRENCIES or bool(are_whole and _FIGURE_SIGNS.search(last + after))


def _build_row(cells: list[Cell], words: Sequence[Word], size: float) -> PageRow:
    return PageRow(
        cells,
        min([word.top for word in words]),
        max([word.bottom for word in words]),
        size,
        min([word.first for word in words]),
        max([word.last for word in words]),
    )


def _join_marks(cells: list[Cell], size: float) -> list[Cell]:
    """Join signs such as "$", ")" and "%", and the number of a title, with the cells that they belong to.

    `size` is the letter height.
    """
    joined = [cells[0]]
    for cell in cells[1:]:
        before = joined[-1]
        if before.text[-1] in _CURRENCIES and len(before.text) > 1 and cell.text[0] in "(0123456789—–-":
            # The currency sign of a figure may be drawn far to the left, next to the figure or label before
            # it.
            cell.text = before.text[-1] + cell.text
            before.x1 -= (before.x1 - before.x0) / len(before.text)
            before.text = before.text[:-1].rstrip()
        is_prefixed = _FIGURE_PREFIX.fullmatch(before.text) is not None and cell.text[0] not in ")%"
        is_suffix = (
            _FIGURE_SUFFIX.fullmatch(cell.text) is not None
            and (before.text[-1].isdigit() or (cell.text[0] == "%" and before.text[-1] in f")%{_DASHES}"))
            and not _YEAR.fullmatch(before.text)
        )
        is_numbered = (
            len(joined) == 1 and _ENUMERATOR.fullmatch(before.text) and not _FIGURE_START.match(cell.text)
        )
        is_mark = (
            before.text[-1] in _FIGURE_ENDS
            and _FOOTNOTE_MARK.fullmatch(cell.text) is not None
            and cell.x0 - before.x1 < _FOOTNOTE_MARK_GAP_MAX * size
        )
        if is_prefixed or is_suffix or is_numbered or is_mark:
            before.text += f" {cell.text}" if is_numbered or is_mark else cell.text
            before.x1 = cell.x1
        else:
            joined.append(cell)
    return joined


def _measure_size(words: Iterable[Word]) -> float:
    """Return the median height of some words."""
    heights = sorted([word.bottom - word.top for word in words])
    return heights[len(heights) // 2]


def _is_vertical(word: Word, usual: float) -> bool:
    """Check whether a word is vertical, such as a stamp at the edge, which would join all rows beside it."""
    height = word.bottom - word.top
    return height > usual * _TALL_RATIO and len(word.text) > 2 and height > 1.5 * (word.x1 - word.x0)


def _make_drawn_row(words: Sequence[Word]) -> PageRow:
    """Make a row of one cell from words in drawing order, as right-to-left and vertical text is read."""
    text = " ".join(word.text for word in sorted(words, key=_GET_FIRST))
    cell = Cell(text, min(map(_GET_LEFT, words)), max(word.x1 for word in words))
    return _build_row([cell], words, _measure_size(words))


def read_rows(page: PdfPage) -> list[PageRow]:
    """Return the rows of a page in reading order."""
    words = page.read_words()
    usual = _measure_size(words) if words else 0.0
    vertical = [word for word in words if _is_vertical(word, usual)]
    if vertical:
        words = [word for word in words if not _is_vertical(word, usual)]
    groups = _sort_into_reading_order(words, 0)
    make = _make_drawn_row if page.is_right_to_left else make_row
    rows = [make(group) for group in groups]
    if vertical:
        rows.append(_make_drawn_row(vertical))
    for row in rows:
        font = page.read_font(row.first)
        if row.last == row.first or font is page.read_font(row.last):
            row.font = font
    return rows


def _sort_into_reading_order(words: list[Word], depth: int) -> list[list[Word]]:
    """Group words, in drawing order, into rows in reading order: by columns if the page draws them so.

    `depth` is how deep the words are nested in columns.
    """
    groups = group_words(words)
    if depth >= _COLUMN_DEPTH_MAX or len(groups) < _COLUMN_ROWS_MIN:
        return groups
    # A line consists of words that the page draws one after the other from left to right.
    lines = [[words[0]]]
    for before, word in pairwise(words):
        if word.x0 >= before.x1 - 1 and word.top < before.bottom and word.bottom > before.top:
            lines[-1].append(word)
        else:
            lines.append([word])
    x = _detect_right_column(lines, words)
    if x is None:
        return _divide_prose(groups)
    crossing = {word.first for line in lines if line[0].x0 < x - 2 and line[-1].x1 > x + 2 for word in line}
    ordered: list[list[Word]] = []
    rows = switches = 0
    # Consecutive rows are either in two columns or, such as a heading, across both.
    for is_divided, group in groupby(groups, lambda group: crossing.isdisjoint(map(_GET_FIRST, group))):
        band = list(group)
        if not is_divided:
            ordered += band
            continue
        flat = sorted(chain.from_iterable(band), key=_GET_FIRST)
        left = [word for word in flat if word.x0 < x]
        right = [word for word in flat if word.x0 >= x]
        ordered += _sort_into_reading_order(left, depth + 1)
        ordered += _sort_into_reading_order(right, depth + 1)
        if left and right:
            rows += len(band)
            switches += sum((word.x0 < x) != (after.x0 < x) for word, after in pairwise(flat)) - 1
    # A table is drawn row by row, and so are the columns of some programs.
    return _divide_prose(groups) if rows < _COLUMN_ROWS_MIN or switches > _SWITCHES_MAX * rows else ordered


def _divide_prose(groups: list[list[Word]]) -> list[list[Word]]:
    """Put rows of prose in two columns, which the page draws row by row, into the order of the columns.

    Prose fills the lines of both columns, and its lines start at the same place.
    """
    sample = groups[::_SAMPLE_STEP]
    if sum(_find_gutter(group) is not None for group in sample) < len(sample) // 2:
        return groups
    gutters = [_find_gutter(group) for group in groups]
    starts = sorted(gutter[1] for gutter in gutters if gutter is not None)
    if len(starts) < _LINES_MIN:
        return groups
    x = starts[len(starts) // 2] - _COLUMN_EDGE_WIDTH
    is_divided = [gutter is not None and abs(gutter[1] - x) <= 2 * _COLUMN_EDGE_WIDTH for gutter in gutters]
    first = is_divided.index(True)
    end = len(is_divided) - is_divided[::-1].index(True)
    left = [side for group in groups[first:end] if (side := [word for word in group if word.x0 < x])]
    right = [side for group in groups[first:end] if (side := [word for word in group if word.x0 >= x])]
    are_prose = _fill_column(left) and _fill_column(right)
    longest = max(line[-1].x1 for line in left)
    is_beside = x - _GUTTER_MAX * _measure_size(left[0]) < longest < x + _COLUMN_EDGE_WIDTH
    if sum(is_divided) < max(_LINES_MIN, _FILLED_SHARE_MIN * (end - first)) or not are_prose or not is_beside:
        return groups
    return [*groups[:first], *left, *right, *groups[end:]]


def _find_gutter(group: Sequence[Word]) -> tuple[float, float] | None:
    """Return the edges of the only wide gap in a row, or None if there is none or more than one."""
    gap_min = _CELL_GAP * (group[0].bottom - group[0].top)
    gaps = [(before.x1, word.x0) for before, word in pairwise(group) if word.x0 - before.x1 > gap_min]
    return gaps[0] if len(gaps) == 1 else None


def _fill_column(lines: Sequence[Sequence[Word]]) -> bool:
    """Check whether a column's lines are prose: many words, few figures, and mostly long lines."""
    words = [word.text for line in lines for word in line]
    figures = sum(any(map(str.isdigit, word)) for word in words)
    left = min(line[0].x0 for line in lines)
    lengths = sorted(line[-1].x1 - left for line in lines)
    return (
        len(words) >= _PROSE_WORDS_MIN * len(lines)
        and figures <= _FIGURES_SHARE_MAX * len(words)
        and lengths[len(lengths) // 4] >= _FILLED_SHARE_MIN * lengths[-1]
    )


def _detect_right_column(lines: Sequence[list[Word]], words: Sequence[Word]) -> float | None:
    """Return the left edge of the right column, or None if too few lines of prose start at any one edge."""
    left = min([word.x0 for word in words])
    right = max([word.x1 for word in words])
    low = left + _COLUMN_WIDTH_MIN * (right - left)
    high = right - _COLUMN_WIDTH_MIN * (right - left)
    starts: dict[int, list[float]] = {}
    for line in lines:
        x0 = line[0].x0
        if low <= x0 <= high and len(line) > 1:
            starts.setdefault(int(x0 // _COLUMN_EDGE_WIDTH), []).append(x0)
    if not starts:
        return None
    best = max(starts, key=lambda key: len(starts[key]))
    near = [*starts[best], *starts.get(best - 1, ())]
    return min(near) - 1 if len(near) >= _COLUMN_ROWS_MIN else None
