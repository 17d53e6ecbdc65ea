"""Write a table as Markdown: cells in their columns, and heads above the columns that they describe."""

import re
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from roamtui.convert.markdown_table import write_table
from roamtui.convert.pdf.rows import PageCell, PageRow
from roamtui.convert.pdf.tables import (
    COLUMN_DISTANCE_MAX,
    LABEL_INDENT_MAX,
    UNITS,
    YEAR,
    Column,
    are_aligned,
    compute_line_gap,
    is_data_row,
    is_printed_figure,
)
from roamtui.convert.pdf.titles import Join
from roamtui.convert.pdf.words import write_words

_MONTH = (
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b)"
)
_DATE = re.compile(
    rf"(?:as of |at )?(?:{_MONTH}\.? \d{{1,2}},?)(?:\s?\d{{4}})?|{YEAR.pattern}", re.IGNORECASE
)
"""A head that names one year or day, such as "2022", "December 31," or "July 3, 2022"."""
_YEAR_IN = re.compile(r"(?:19|20)\d\d")
_PERIOD = re.compile(rf"{_DATE.pattern}|.*\b(?:years?|quarters?|months|weeks|half|ended)\b.*", re.IGNORECASE)
_SPAN_TOLERANCE = 0.3
"""Maximum distance between the centres of a head and its columns, as a share of their mean width."""
_SPAN_TOLERANCE_MIN = 6.0
_WIDTH_SHARE_MIN = 0.9
"""Minimum width of the columns below a head, as a share of the head's width."""
_MISFITS_MAX = 0.04
"""Maximum share of cells that fit into no column. If there are more, the table is written as plain lines, so
that no figure appears under the wrong column head."""


class _Span(NamedTuple):
    first: int
    last: int


class _Head(NamedTuple):
    cell: PageCell
    span: _Span


def write_page_table(
    rows: Sequence[PageRow], header_row_count: int, columns: Sequence[Column], join: Join
) -> str:
    """Write rows as a Markdown table. Return an empty string if they do not fit into columns.

    `join` joins the parts of a divided word.
    """
    body = rows[header_row_count:]
    if not body:
        return ""
    layout = _TableLayout(columns[1:], columns[0])
    lines: list[list[str]] = []
    misfits = 0
    for row in body:
        line, misfits_of_row = layout.place_cells(row)
        misfits += misfits_of_row
        lines.append(line)
    if misfits > _MISFITS_MAX * sum(len(row.cells) for row in rows):
        return ""
    head = layout.compute_header(rows[:header_row_count], join)
    joined = _join_lines(body, lines, join)
    return write_table([[*map(write_words, head)]], [[*map(write_words, line)] for line in joined])


def _join_lines(rows: Sequence[PageRow], lines: Sequence[list[str]], join: Join) -> list[list[str]]:
    """Join lines that have only a part of a cell with the line above or below that has the other cells.

    Lines of one row are closer together than rows are, or a cell continues with a small letter.
    """
    near = compute_line_gap(rows)
    frames = {row.frame for row in rows}
    is_framed = len(frames) > 1 and None not in frames
    groups: list[list[list[str]]] = []
    above: PageRow | None = None
    for row, line in zip(rows, lines, strict=True):
        is_near = above is not None and 0 < row.top - above.top < near
        if above is not None and (row.frame == above.frame if is_framed else is_near):
            groups[-1].append(line)
        else:
            groups.append([line])
        above = row
    has_figures = not is_framed and any(map(is_data_row, rows))
    # how many lines of each group have the figures of a row, or a word in each column
    counts = [sum(any(line[1:]) if has_figures else all(line) for line in group) for group in groups]
    are_rows = has_figures or not any(map(_has_rows, groups))
    joined: list[list[str]] = []
    for group, count in zip(groups, counts, strict=True):
        is_row = are_rows and (count == 1 or is_framed)
        whole = [reduce(join, cells) for cells in zip(*group, strict=True)]
        for line in [whole] if is_row else group:
            if joined and (_continues_cell(joined[-1], line) or _continues_label(joined[-1], line)):
                joined[-1] = [*map(join, joined[-1], line)]
            else:
                joined.append(line)
    return joined


def _has_rows(lines: Sequence[list[str]]) -> bool:
    """Return whether lines are several rows: two have a word in each column, or figures in the same one."""
    columns = zip(*lines, strict=True)
    return sum(map(all, lines)) > 1 or any(sum(map(is_printed_figure, column)) > 1 for column in columns)


def _continues_cell(above: Sequence[str], line: Sequence[str]) -> bool:
    """Return whether a line has only one cell, which is no label and continues the cell above it.

    If the line above ends in a figure, the cell must be below words and start with a small letter.
    """
    texts = [(over, text) for over, text in zip(above, line, strict=True) if text]
    if line[0] or len(texts) != 1:
        return False
    over, text = texts[0]
    is_lower_line = text[0].islower() and over != "" and not is_printed_figure(over)
    return is_lower_line or not is_printed_figure([*filter(None, above)][-1])


def _continues_label(above: Sequence[str], line: Sequence[str]) -> bool:
    """Return whether the label of a line continues the label above, whose figures are in this line."""
    label, *figures = above
    return bool(label) and not any(figures) and line[0][:1].islower() and label[-1] not in ".:;"


class _TableLayout(NamedTuple):
    """The columns of a table, and the column of its labels to the left of them."""

    columns: Sequence[Column]
    labels: Column

    def place_cells(self, row: PageRow) -> tuple[list[str], int]:
        """Return the label of a row and the text of each column. A text without figures may fill several.

        Also return how many cells of a row with figures overlap several columns, or are far from all.
        """
        line = [""] * (len(self.columns) + 1)
        misfits = 0
        is_data = is_data_row(row)
        for cell in row.cells:
            positions = range(1)
            if not self._is_label(cell, row):
                span = self._find_span(cell)
                x0, x1 = self.columns[span.first]
                distance = max(x0 - cell.x1, cell.x0 - x1)
                is_total = cell is row.cells[0] and cell.x0 >= x0 and not is_printed_figure(cell.text)
                if is_data and not is_total and (span.first < span.last or distance > COLUMN_DISTANCE_MAX):
                    misfits += 1
                positions = range(span.first + 1, (span.first if is_data else span.last) + 2)
            # Two figures in one cell would be read as one number.
            misfits += is_printed_figure(line[positions[0]]) and is_printed_figure(cell.text)
            for position in positions:
                line[position] = f"{line[position]} {cell.text}".strip()
        return line, misfits

    def _is_label(self, cell: PageCell, row: PageRow) -> bool:
        x0, x1 = self.columns[0]
        is_first = cell is row.cells[0] and cell.x0 < x0 and cell.x1 < x1 + COLUMN_DISTANCE_MAX
        return is_first or cell.x1 <= x0

    def _find_span(self, cell: PageCell) -> _Span:
        overlaps = [min(cell.x1, x1) - max(cell.x0, x0) for x0, x1 in self.columns]
        over = [number for number, overlap in enumerate(overlaps) if overlap > 0]
        over = over or [overlaps.index(max(overlaps))]
        return _Span(over[0], over[-1])

    def compute_header(self, rows: Sequence[PageRow], join: Join) -> list[str]:
        """Return the head of the labels and of each column. A head above several columns is repeated."""
        count = len(self.columns)
        texts: list[list[str]] = [[] for _ in range(count + 1)]
        complete = next(filter(self._has_head_of_each_column, rows[:-1]), None)
        placed = _PlacedHeads(self.columns, () if complete is None else complete.cells)
        for index in reversed(range(len(rows))):
            cells = list(rows[index].cells)
            dates = [cell for cell in rows[index - 1].cells if _DATE.fullmatch(cell.text)] if index else []
            # A lone head below years describes the figures of all years.
            is_lone = len(cells) == 1 and len(dates) > 1 and cells[0].x0 < dates[-1].x1
            has_label = is_lone or self._is_label_head(cells)
            label_count = has_label + sum(cell.x1 <= self.labels.x1 for cell in cells[has_label:])
            texts[0] += [cell.text for cell in reversed(cells[:label_count])]
            del cells[:label_count]
            for head in reversed(placed.add_row(cells, [self._find_span(cell) for cell in cells])):
                for number in range(head.span.first, head.span.last + 1):
                    texts[number + 1].append(head.cell.text)
        return [reduce(join, reversed(parts), "") for parts in texts]

    def _has_head_of_each_column(self, row: PageRow) -> bool:
        return [self._find_span(cell).first for cell in row.cells] == [*range(len(self.columns))]

    def _is_label_head(self, cells: Sequence[PageCell]) -> bool:
        cell = cells[0]
        first = self.columns[0]
        is_near = len(cells) == 1 and cell.x0 - self.labels.x0 < first.x0 - cell.x1
        is_label = is_near or len(cells) > len(self.columns)
        is_before = is_label and cell.x1 <= first.x0 and not _DATE.fullmatch(cell.text)
        is_left = cell.x0 < first.x0 and cell.x0 <= self.labels.x0 + LABEL_INDENT_MAX and cell.x1 <= first.x1
        return is_left or is_before or UNITS.fullmatch(cell.text) is not None


class _PlacedHeads:
    """The heads of a table, each with the columns below it. Rows are added from the lowest one upwards."""

    def __init__(self, columns: Sequence[Column], complete: Sequence[PageCell]) -> None:
        """Place heads above `columns`.

        A row of heads may be `complete`, with a head of each column. It shows to which column a line of a
        head below it belongs.
        """
        self._bounds = list(columns)
        """Bounds of each column and its lowest head together. They show where the middle of the column is."""
        self._highest: list[_Head | None] = [None] * len(columns)
        """The highest head above each column so far."""
        self._row_below = [_Head(cell, _Span(number, number)) for number, cell in enumerate(complete)]

    def add_row(self, cells: Sequence[PageCell], overlaps: Sequence[_Span]) -> list[_Head]:
        """Place the cells of the next row above. `overlaps` has the columns that each of them overlaps."""
        heads = self._divide_by_years(cells, overlaps) or [
            _Head(cell, self._find_stacked(cell, cells) or self._compute_span(cell, number, overlaps))
            for number, cell in enumerate(cells)
        ]
        self._row_below = heads
        for head in heads:
            first, last = head.span
            if first == last and self._highest[first] is None:
                x0, x1 = self._bounds[first]
                self._bounds[first] = Column(min(x0, head.cell.x0), max(x1, head.cell.x1))
            self._highest[first : last + 1] = [head] * (last + 1 - first)
        return heads

    def _divide_by_years(self, cells: Sequence[PageCell], overlaps: Sequence[_Span]) -> list[_Head]:
        """Give years equal shares of the columns if each is above the first or the last of its share."""
        width, rest = divmod(len(self._bounds), max(1, len(cells)))
        if rest or len(cells) < 2 or _count_dates(cells) < len(cells):
            return []
        equal = [*range(0, len(self._bounds), width)]
        firsts = [span.first for span in overlaps]
        if firsts not in (equal, [first + width - 1 for first in equal]):
            return []
        spans = [_Span(first, first + width - 1) for first in equal]
        return [*map(_Head, cells, spans)]

    def _find_stacked(self, cell: PageCell, row: Sequence[PageCell]) -> _Span | None:
        """Return the columns of the head directly below a cell, if both are aligned lines of one head."""
        below = [head for head in self._row_below if _touch(cell, head.cell)]
        is_whole_date = _DATE.fullmatch(cell.text) and _YEAR_IN.search(cell.text)
        if len(below) != 1 or is_whole_date or _count_dates([head.cell for head in self._row_below]) > 1:
            return None
        line = below[0].cell
        is_alone = sum(_touch(other, line) for other in row) == 1
        return below[0].span if is_alone and are_aligned(cell, line) else None

    def _compute_span(self, cell: PageCell, number: int, overlaps: Sequence[_Span]) -> _Span:
        """Return the columns that a cell is centred above. They have all columns of a head below, or none."""
        leftmost = overlaps[number - 1].last + 1 if number else 0
        rightmost = overlaps[number + 1].first - 1 if number + 1 < len(overlaps) else len(self._bounds) - 1
        spans = [
            (shift, _Span(first, last))
            for first in range(leftmost, overlaps[number].first + 1)
            for last in range(overlaps[number].last, rightmost + 1)
            if (shift := self._measure_shift(cell, _Span(first, last))) is not None
        ]
        if not spans:
            return overlaps[number]
        shift_max = 2 * min(spans)[0] + _SPAN_TOLERANCE_MIN
        spans = [(shift, span) for shift, span in spans if shift <= shift_max]
        below = [self._highest[column] for _, span in spans for column in range(span.first, span.last + 1)]
        texts = [head.cell.text if head else "" for head in below]
        # A period, or a head above periods, spans as many columns as possible; any other head, as few as
        # possible.
        is_wide = all(map(_PERIOD.fullmatch, texts)) or (
            _PERIOD.fullmatch(cell.text) is not None and not all(map(_DATE.fullmatch, texts))
        )
        sign = -1 if is_wide else 1
        return min(spans, key=lambda item: (sign * (item[1].last - item[1].first), item[0]))[1]

    def _measure_shift(self, cell: PageCell, span: _Span) -> float | None:
        """Return how far a cell's centre is from the columns' centre, or None if it is not their head."""
        first, last = (self._highest[column] for column in span)
        if (first and first.span.first < span.first) or (last and last.span.last > span.last):
            return None
        x0 = self._bounds[span.first].x0
        x1 = self._bounds[span.last].x1
        shift = abs(x0 + x1 - cell.x0 - cell.x1) / 2
        mean_width = (x1 - x0) / (span.last - span.first + 1)
        is_centred = shift <= max(_SPAN_TOLERANCE_MIN, _SPAN_TOLERANCE * mean_width)
        return shift if is_centred and x1 - x0 >= _WIDTH_SHARE_MIN * (cell.x1 - cell.x0) else None


def _touch(one: Column | PageCell, other: PageCell) -> bool:
    """Return whether a column or cell overlaps another cell horizontally."""
    return one.x0 < other.x1 and one.x1 > other.x0


def _count_dates(cells: Sequence[PageCell]) -> int:
    return sum(_DATE.fullmatch(cell.text) is not None for cell in cells)
