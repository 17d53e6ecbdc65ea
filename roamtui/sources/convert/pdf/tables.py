"""Detect tables of figures on a page, and write them as Markdown.

A figure is a number, never a picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from roamtui.sources.convert.pdf.rows import Cell, PageRow

_FIGURE = re.compile(
    r"(?:(?:[A-Z]{1,2}\s?)?[$€£¥]\s?)?[(\[]?\s?[-–—−+~<>±]?\s?[$€£¥]?\s?(?:\d[\d,.]*|\.\d+)\s?[)\]]?\s?"
    r"(?:%|x|X|pts?|bps?|pp|bn|[MmBK])?\s?[)\]]?(?:\s?(?:\(\w{1,2}\)|\*{1,3}|†))?"
    r"|[$€£¥]?\s?[-–—−]+\s?[%)]?|[nN]/?[aAmM]\.?|NM|n\.m\.|N\.M\.|\*+"
)
"""A number with its currency, sign, unit and footnote mark, or a sign for a missing one: a dash, "n/a", "NM"."""
_YEAR = re.compile(r"(?:FY|fiscal )?(?:19|20)\d\d[EFA]?(?:\s?\(\w\))?|[1-4]Q\d\d|Q[1-4]", re.IGNORECASE)
_UNITS = re.compile(
    r"\(.*(?:million|thousand|billion|unaudited|per share|dollar|percent|\$).*\)"
    r"|(?:in|dollars in) (?:millions|thousands|billions)\b.*",
    re.IGNORECASE,
)
"""A header row that states the units, such as "(in millions)"."""
_UNITS_LENGTH_MAX = 200
"""Number of characters of a row that are searched for units, because the pattern backtracks."""
_PLAIN_ROWS_MAX = 4
"""Maximum number of consecutive rows without figures inside a table."""
_DATA_ROWS_MIN = 2
_HEADER_ROWS_MAX = 10
_PROSE_LENGTH_MIN = 110
"""A longer row is prose."""
_SENTENCE_LENGTH_MIN = 60
"""A longer row is prose if it ends like a sentence."""
_PROSE_CELLS_MAX = 2
"""A row with more cells is not prose."""
_LABEL_INDENT_MAX = 40.0
"""In points. A figure that starts this close to the left edge is a label, such as a year."""
_COLUMN_DISTANCE_MAX = 14.0
"""Greatest distance in points between a cell and its column, and between columns that may be joined."""
_MISFITS_MAX = 0.04
"""Greatest share of cells that fit into no column. With more, the table is written as plain lines, so that no figure
appears under the wrong column head."""
_COLUMNS_MAX = 24
_BAR = r"\|"


@dataclass(slots=True)
class PageTable:
    """The rows of a table from `start` up to `end` (exclusive). The first `header_count` rows are its header."""

    start: int
    end: int
    header_count: int


def _is_figure(text: str) -> bool:
    return _FIGURE.fullmatch(text) is not None


def detect_tables(rows: Sequence[PageRow]) -> list[PageTable]:
    """Return the tables of a page in order."""
    tables: list[PageTable] = []
    index = 0
    while index < len(rows):
        if not _is_data_row(rows[index]):
            index += 1
            continue
        end, count = _detect_table_end(rows, index)
        if count >= _DATA_ROWS_MIN:
            start, header_count = _detect_header_rows(rows, index, end, tables[-1].end if tables else 0)
            # Rows of years belong to the header, although they look like data.
            while (
                start + header_count == index
                and index + 1 < end
                and header_count + 1 < end - start
                and _is_year_row(rows[index])
            ):
                index += 1
                header_count += 1
            tables.append(PageTable(start, end, header_count))
        index = max(end, index + 1)
    return tables


def _is_data_row(row: PageRow) -> bool:
    return len(row.cells) > 1 and _is_figure(row.cells[-1].text)


def _is_year_row(row: PageRow) -> bool:
    """Check whether a row has only years, after an optional label."""
    cells = row.cells if _YEAR.fullmatch(row.cells[0].text) else row.cells[1:]
    return len(row.cells) > 1 and all(_YEAR.fullmatch(cell.text) for cell in cells)


def _is_prose_row(row: PageRow) -> bool:
    if len(row.cells) > _PROSE_CELLS_MAX:
        return False
    text = row.text
    return len(text) > _PROSE_LENGTH_MIN or (len(text) > _SENTENCE_LENGTH_MIN and text[-1] in ".;")


def _detect_table_end(rows: Sequence[PageRow], start: int) -> tuple[int, int]:
    """Return the end of the table whose first figures are in row `start`, and its number of rows with figures."""
    end, count, plain_rows = start + 1, 1, 0
    has_body = not _is_year_row(rows[start])
    for index in range(start + 1, len(rows)):
        row = rows[index]
        if row.top < rows[index - 1].top:
            break
        if _is_data_row(row):
            is_header = _is_year_row(row)
            if has_body and is_header and plain_rows + 1 < index - start:
                break  # years below figures are the header of the next table
            has_body = has_body or not is_header
            end, plain_rows = index + 1, 0
            count += 1
        else:
            plain_rows += 1
            if plain_rows > _PLAIN_ROWS_MAX or _is_prose_row(row):
                break
    return end, count


def _detect_header_rows(rows: Sequence[PageRow], first: int, end: int, previous_end: int) -> tuple[int, int]:
    """Return the first row of a table with its header, and the number of header rows.

    Rows between the header and the first figures are titles of the table's parts. The header starts at or after
    `previous_end`.
    """
    left = min(cell.x0 for row in rows[first:end] if _is_data_row(row) for cell in row.cells[1:])
    start = header_end = first
    for index in range(first - 1, max(previous_end, first - _HEADER_ROWS_MAX) - 1, -1):
        row = rows[index]
        if row.top > rows[index + 1].top or _is_prose_row(row):
            break
        is_above_figures = row.cells[-1].x0 >= left - _LABEL_INDENT_MAX and row.text[-1] not in ":."
        if is_above_figures or _UNITS.fullmatch(row.text[:_UNITS_LENGTH_MAX]):
            header_end = header_end if start < first else index + 1
            start = index
        elif start < first or len(row.cells) > 1:
            break
    return (start, header_end - start) if start < first else (first, 0)


def write_table(rows: Sequence[PageRow], header_count: int) -> str:
    """Write rows as a Markdown table, or as plain lines if they do not fit into columns."""
    edge = min(row.x0 for row in rows)
    columns = _compute_column_bounds(rows[header_count:], edge)
    plain_lines = "\n".join(" | ".join(cell.text for cell in row.cells) for row in rows)
    if not columns or len(columns) > _COLUMNS_MAX:
        return plain_lines
    misfits = 0
    lines: list[list[str]] = []
    head = [""] * (len(columns) + 1)
    for index, row in enumerate(rows):
        line = [""] * (len(columns) + 1)
        for number, cell in enumerate(row.cells):
            is_label = number == 0 and cell.x0 < columns[0][0] and cell.x1 < columns[0][1] + _COLUMN_DISTANCE_MAX
            is_label = is_label and (not _is_figure(cell.text) or cell.x0 <= edge + _LABEL_INDENT_MAX)
            may_span = index < header_count or not _is_data_row(row)
            cell_columns, fits = ((0,), True) if is_label else _assign_columns(cell, columns, may_span=may_span)
            misfits += not fits
            for column in cell_columns:
                line[column] = f"{line[column]} {cell.text}".strip()
        if index < header_count:
            head = [f"{above} {below}".strip() for above, below in zip(head, line, strict=True)]
            continue
        if lines:
            label, *figures = lines[-1]
            if label and not any(figures) and line[0][:1].islower() and label[-1] not in ":.":
                line[0] = f"{label} {line[0]}"  # it continues the label of the row above
                lines.pop()
        lines.append(line)
    if misfits > _MISFITS_MAX * sum(len(row.cells) for row in rows):
        return plain_lines
    delimiters = ["---"] * len(head)
    return "\n".join(
        f"| {' | '.join(text.replace('|', _BAR) for text in line)} |" for line in (head, delimiters, *lines)
    )


def _compute_column_bounds(rows: Sequence[PageRow], edge: float) -> list[tuple[float, float]]:
    """Return the left and right bounds of the columns of figures, or an empty list if there are far too many."""
    spans = []
    for row in rows:
        if _is_data_row(row):
            label = row.cells[0]
            has_label = not _is_figure(label.text) or label.x0 <= edge + _LABEL_INDENT_MAX
            spans += [(cell.x0, cell.x1) for cell in (row.cells[1:] if has_label else row.cells)]
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted(spans):
        if columns and x0 < columns[-1][1]:
            columns[-1] = columns[-1][0], max(x1, columns[-1][1])
        else:
            columns.append((x0, x1))
    if len(columns) > 2 * _COLUMNS_MAX:
        return []
    # Neighbouring columns are one if no row fills both.
    filled = [
        {index for index, row in enumerate(rows) if any(cell.x0 < x1 and cell.x1 > x0 for cell in row.cells)}
        for x0, x1 in columns
    ]
    joined: list[tuple[float, float]] = []
    last: set[int] = set()
    for column, column_rows in zip(columns, filled, strict=True):
        if joined and not last & column_rows and column[0] - joined[-1][1] < _COLUMN_DISTANCE_MAX:
            joined[-1] = joined[-1][0], column[1]
            last = last | column_rows
        else:
            joined.append(column)
            last = column_rows
    return joined


def _assign_columns(
    cell: Cell, columns: Sequence[tuple[float, float]], *, may_span: bool
) -> tuple[Sequence[int], bool]:
    """Return the numbers of a cell's columns, and whether the cell fits into them.

    Labels are in column 0, figures in columns from 1. With `may_span`, a cell may be in several columns.
    """
    overlapping = [number for number, (x0, x1) in enumerate(columns, start=1) if cell.x0 < x1 and cell.x1 > x0]
    if overlapping:
        return overlapping if may_span else overlapping[:1], may_span or len(overlapping) == 1
    if cell.x1 <= columns[0][0]:
        return (0,), True
    distances = [max(x0 - cell.x1, cell.x0 - x1) for x0, x1 in columns]
    return (1 + distances.index(min(distances)),), may_span or min(distances) <= _COLUMN_DISTANCE_MAX
