"""Detect tables of figures on a page, and write them as Markdown."""

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
_YEAR = re.compile(r"(?:FY|fiscal )?(?:19|20)\d\d[EFA]?(?:\s?\(\w\))?|[1-4]Q\d\d|Q[1-4]", re.IGNORECASE)
_UNITS = re.compile(
    r"\(.*(?:million|thousand|billion|unaudited|per share|dollar|percent|\$).*\)"
    r"|(?:in|dollars in) (?:millions|thousands|billions)\b.*",
    re.IGNORECASE,
)
_UNITS_LENGTH_MAX = 200
_BETWEEN_MAX = 4
"""Consecutive rows without a figure that a table may contain."""
_ROWS_MIN = 2
_HEADS_MAX = 10
_PROSE_LENGTH = 110
_SENTENCE_LENGTH = 60
_LABEL_NEAR = 40.0
"""Points. A figure that starts this close to the left edge is a label, such as a year."""
_NEAR = 14.0
"""Greatest distance in points between a cell and its column."""
_MISFITS_MAX = 0.04
"""Share of cells that fit no column. Above it, a table is written as plain lines, so that no figure is under a wrong
head."""
_COLUMNS_MAX = 24
_BAR = r"\|"


@dataclass(slots=True)
class PageTable:
    """The rows of a table on a page."""

    start: int
    """Index of its first row."""
    end: int
    heads: int
    """Number of header rows at its start."""


def _is_figure(text: str) -> bool:
    """Check whether a cell contains a number, or a sign for a missing one."""
    return _FIGURE.fullmatch(text) is not None


def detect_tables(rows: Sequence[PageRow]) -> list[PageTable]:
    """Return the tables of a page in order."""
    tables: list[PageTable] = []
    index = 0
    while index < len(rows):
        if not _is_data(rows[index]):
            index += 1
            continue
        end, count = _detect_table_end(rows, index)
        if count >= _ROWS_MIN:
            start, heads = _detect_header_rows(rows, index, end, tables[-1].end if tables else 0)
            while start + heads == index and index + 1 < end and heads + 1 < end - start and _is_years(rows[index]):
                index += 1
                heads += 1
            tables.append(PageTable(start, end, heads))
        index = max(end, index + 1)
    return tables


def _is_data(row: PageRow) -> bool:
    return len(row.cells) > 1 and _is_figure(row.cells[-1].text)


def _is_years(row: PageRow) -> bool:
    """Check whether a row has years as column heads."""
    cells = row.cells if _YEAR.fullmatch(row.cells[0].text) else row.cells[1:]
    return len(row.cells) > 1 and all(_YEAR.fullmatch(cell.text) for cell in cells)


def _is_prose(row: PageRow) -> bool:
    if len(row.cells) > 2:
        return False
    text = row.text
    return len(text) > _PROSE_LENGTH or (len(text) > _SENTENCE_LENGTH and text[-1] in ".;")


def _detect_table_end(rows: Sequence[PageRow], start: int) -> tuple[int, int]:
    """Return the end of a table that starts at a row, and its number of rows with figures."""
    end, count, plain = start + 1, 1, 0
    has_body = not _is_years(rows[start])
    for index in range(start + 1, len(rows)):
        row = rows[index]
        if row.top < rows[index - 1].top:
            break
        if _is_data(row):
            is_head = _is_years(row)
            if has_body and is_head and plain + 1 < index - start:
                break  # years after figures head the next table
            has_body = has_body or not is_head
            end, plain = index + 1, 0
            count += 1
        else:
            plain += 1
            if plain > _BETWEEN_MAX or _is_prose(row):
                break
    return end, count


def _detect_header_rows(rows: Sequence[PageRow], first: int, end: int, floor: int) -> tuple[int, int]:
    """Return the first header row above a table and the number of header rows; part titles may follow them."""
    lefts = [cell.x0 for row in rows[first:end] if _is_data(row) for cell in row.cells[1:]]
    left = min(lefts)
    start = heads_end = first
    for index in range(first - 1, max(floor, first - _HEADS_MAX) - 1, -1):
        row = rows[index]
        if row.top > rows[index + 1].top or _is_prose(row):
            break
        is_over = row.cells[-1].x0 >= left - _LABEL_NEAR and row.text[-1] not in ":."
        if is_over or _UNITS.fullmatch(row.text[:_UNITS_LENGTH_MAX]):
            heads_end = heads_end if start < first else index + 1
            start = index
        elif start < first or len(row.cells) > 1:
            break
    return (start, heads_end - start) if start < first else (first, 0)


def write_table(rows: Sequence[PageRow], heads: int) -> str:
    """Write rows as a Markdown table, or as plain lines if they do not fit into columns."""
    edge = min(row.x0 for row in rows)
    columns = _compute_column_bounds(rows[heads:], edge)
    plain = "\n".join(" | ".join(cell.text for cell in row.cells) for row in rows)
    if not columns or len(columns) > _COLUMNS_MAX:
        return plain
    misfits = 0
    lines: list[list[str]] = []
    head = [""] * (len(columns) + 1)
    for index, row in enumerate(rows):
        line = [""] * (len(columns) + 1)
        for number, cell in enumerate(row.cells):
            is_label = number == 0 and cell.x0 < columns[0][0] and cell.x1 < columns[0][1] + _NEAR
            is_label = is_label and (not _is_figure(cell.text) or cell.x0 <= edge + _LABEL_NEAR)
            spans = index < heads or not _is_data(row)
            cell_columns, fits = ((0,), True) if is_label else _assign_columns(cell, columns, spans=spans)
            misfits += not fits
            for column in cell_columns:
                line[column] = f"{line[column]} {cell.text}".strip()
        if index < heads:
            head = [f"{above} {below}".strip() for above, below in zip(head, line, strict=True)]
            continue
        if lines:
            label, *figures = lines[-1]
            if label and not any(figures) and line[0][:1].islower() and label[-1] not in ":.":
                line[0] = f"{label} {line[0]}"  # it continues the label above
                lines.pop()
        lines.append(line)
    if misfits > _MISFITS_MAX * sum(len(row.cells) for row in rows):
        return plain
    ruler = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(text.replace('|', _BAR) for text in line)} |" for line in (head, ruler, *lines))


def _compute_column_bounds(rows: Sequence[PageRow], edge: float) -> list[tuple[float, float]]:
    """Return the left and right bounds of the columns of figures, or nothing if there are far too many."""
    spans = []
    for row in rows:
        if _is_data(row):
            label = row.cells[0]
            has_label = not _is_figure(label.text) or label.x0 <= edge + _LABEL_NEAR
            spans += [(cell.x0, cell.x1) for cell in (row.cells[1:] if has_label else row.cells)]
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted(spans):
        if columns and x0 < columns[-1][1]:
            columns[-1] = columns[-1][0], max(x1, columns[-1][1])
        else:
            columns.append((x0, x1))
    return _join_columns(columns, rows) if len(columns) <= 2 * _COLUMNS_MAX else []


def _join_columns(columns: list[tuple[float, float]], rows: Sequence[PageRow]) -> list[tuple[float, float]]:
    """Join neighbouring columns if no row fills both."""
    filled: list[set[int]] = [set() for _ in columns]
    for index, row in enumerate(rows):
        for cell in row.cells:
            for number, (x0, x1) in enumerate(columns):
                if cell.x0 < x1 and cell.x1 > x0:
                    filled[number].add(index)
    joined: list[tuple[float, float]] = []
    last: set[int] = set()
    for column, column_rows in zip(columns, filled, strict=True):
        if joined and not last & column_rows and column[0] - joined[-1][1] < _NEAR:
            joined[-1] = joined[-1][0], column[1]
            last = last | column_rows
        else:
            joined.append(column)
            last = column_rows
    return joined


def _assign_columns(cell: Cell, columns: Sequence[tuple[float, float]], *, spans: bool) -> tuple[Sequence[int], bool]:
    """Return the columns of a cell, and whether it fits there: 0 is the label column, the first figures are 1.

    `spans` says whether a cell may have several columns.
    """
    over = [number for number, (x0, x1) in enumerate(columns, start=1) if cell.x0 < x1 and cell.x1 > x0]
    if over:
        return over if spans else over[:1], spans or len(over) == 1
    if cell.x1 <= columns[0][0]:
        return (0,), True
    away = [max(x0 - cell.x1, cell.x0 - x1) for x0, x1 in columns]
    return (1 + away.index(min(away)),), spans or min(away) <= _NEAR
