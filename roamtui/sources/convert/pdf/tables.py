"""`PageTable`: rows of a page whose figures stand one below the other, and what heads them, as Markdown."""

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
"""Rows without a figure that may follow each other inside a table."""
_ROWS_MIN = 2
_HEADS_MAX = 10
_PROSE_LENGTH = 110
_SENTENCE_LENGTH = 60
_LABEL_NEAR = 40.0
"""Points: a figure that begins so close to the labels' edge is a label, such as a year."""
_NEAR = 14.0
"""Points between a cell and the column that it belongs to all the same."""
_MISFITS_MAX = 0.04
"""Of the cells of a table: with more it is lines, whose figures cannot stand below a wrong head."""
_COLUMNS_MAX = 24
_BAR = r"\|"


@dataclass(slots=True)
class PageTable:
    """A table on a page."""

    start: int
    """Index of its first row."""
    end: int
    heads: int
    """How many of its first rows are heads."""


def _is_figure(text: str) -> bool:
    """Return whether a cell holds a number, or what stands for one."""
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
    """Return whether a row names years above columns."""
    cells = row.cells if _YEAR.fullmatch(row.cells[0].text) else row.cells[1:]
    return len(row.cells) > 1 and len(cells) > 0 and all(_YEAR.fullmatch(cell.text) for cell in cells)


def _is_prose(row: PageRow) -> bool:
    if len(row.cells) > 2:
        return False
    text = row.text
    return len(text) > _PROSE_LENGTH or (len(text) > _SENTENCE_LENGTH and text[-1] in ".;")


def _detect_table_end(rows: Sequence[PageRow], start: int) -> tuple[int, int]:
    """Return where a table that begins at a row ends, and how many rows with figures it has."""
    end, count, plain = start + 1, 1, 0
    has_body = not _is_years(rows[start])
    for index in range(start + 1, len(rows)):
        row = rows[index]
        if row.top < rows[index - 1].top:
            break
        if _is_data(row):
            is_head = _is_years(row)
            if has_body and is_head and plain + 1 < index - start:
                break
            has_body = has_body or not is_head
            end, plain = index + 1, 0
            count += 1
        else:
            plain += 1
            if plain > _BETWEEN_MAX or _is_prose(row):
                break
    return end, count


def _detect_header_rows(rows: Sequence[PageRow], first: int, end: int, floor: int) -> tuple[int, int]:
    """Return where the heads above a table begin, and how many they are; titles of its parts may follow them."""
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
    """Return rows as a Markdown table, or line by line where they do not fit into columns."""
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
            places, fits = ((0,), True) if is_label else _place(cell, columns, spans=spans)
            misfits += not fits
            for place in places:
                line[place] = f"{line[place]} {cell.text}".strip()
        if index < heads:
            head = [f"{above} {own}".strip() for above, own in zip(head, line, strict=True)]
        elif lines and _goes_on(lines[-1], line):
            line[0] = f"{lines.pop()[0]} {line[0]}"
            lines.append(line)
        else:
            lines.append(line)
    if misfits > _MISFITS_MAX * sum(len(row.cells) for row in rows):
        return plain
    ruler = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(text.replace('|', _BAR) for text in line)} |" for line in (head, ruler, *lines))


def _goes_on(above: Sequence[str], line: Sequence[str]) -> bool:
    """Return whether the label of a line begins on the line above."""
    return bool(above[0]) and not any(above[1:]) and line[0][:1].islower() and above[0][-1] not in ":."


def _compute_column_bounds(rows: Sequence[PageRow], edge: float) -> list[tuple[float, float]]:
    """Return where the columns of figures begin and end."""
    spans = []
    for row in rows:
        if _is_data(row):
            for number, cell in enumerate(row.cells):
                is_label = number == 0 and (not _is_figure(cell.text) or cell.x0 <= edge + _LABEL_NEAR)
                if not is_label:
                    spans.append((cell.x0, cell.x1))
    columns: list[tuple[float, float]] = []
    for x0, x1 in sorted(spans):
        if columns and x0 < columns[-1][1]:
            columns[-1] = columns[-1][0], max(x1, columns[-1][1])
        else:
            columns.append((x0, x1))
    return _join_columns(columns, rows) if len(columns) <= 2 * _COLUMNS_MAX else []


def _join_columns(columns: list[tuple[float, float]], rows: Sequence[PageRow]) -> list[tuple[float, float]]:
    """Return columns of which those neighbours are one that no row fills both of."""
    filled: list[set[int]] = [set() for _ in columns]
    for index, row in enumerate(rows):
        for cell in row.cells:
            for number, (x0, x1) in enumerate(columns):
                if cell.x0 < x1 and cell.x1 > x0:
                    filled[number].add(index)
    joined: list[tuple[float, float]] = []
    last: set[int] = set()
    for column, own in zip(columns, filled, strict=True):
        if joined and not last & own and column[0] - joined[-1][1] < _NEAR:
            joined[-1] = joined[-1][0], column[1]
            last = last | own
        else:
            joined.append(column)
            last = own
    return joined


def _place(cell: Cell, columns: Sequence[tuple[float, float]], *, spans: bool) -> tuple[Sequence[int], bool]:
    """Return the columns that a cell belongs to, from 1 on, 0 for the labels, several only where it may span them.

    And whether it fits there.
    """
    over = [number for number, (x0, x1) in enumerate(columns, start=1) if cell.x0 < x1 and cell.x1 > x0]
    if over:
        return over if spans else over[:1], spans or len(over) == 1
    if cell.x1 <= columns[0][0]:
        return (0,), True
    away = [max(x0 - cell.x1, cell.x0 - x1) for x0, x1 in columns]
    return (1 + away.index(min(away)),), spans or min(away) <= _NEAR
