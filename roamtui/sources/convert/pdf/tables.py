"""Detect tables of figures on a page. A figure is a number, never a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, pairwise

from msgspec import Struct

from roamtui.sources.convert.pdf.rows import PageRow

_FIGURE = re.compile(
    r"(?:(?:[A-Z]{1,2}\s?)?[$€£¥]\s?)?[(\[]?\s?[-–—−+~<>±]?\s?[$€£¥]?\s?(?:\d[\d,.]*|\.\d+)\s?[)\]]?\s?"
    r"(?:%|x|X|pts?|bps?|pp|bn|[MmBK])?\s?[)\]]?(?:\s?(?:\(\w{1,2}\)|\*{1,3}|†|\x03[^\x04]*\x04))*"
    r"|[$€£¥]?\s?[-–—−]+\s?[%)]?|[nN]/?[aAmM]\.?|NM|n\.m\.|N\.M\.|\*+"
)
"""A number with currency, sign, unit and note mark, or a sign for a missing one: a dash, "n/a", "NM"."""
YEAR = re.compile(
    r"(?:FY|fiscal )?(?:19|20)\d\d[EFA]?(?:\s?\(\w\)|\x03[^\x04]*\x04)*|[1-4]Q\d\d|Q[1-4]", re.IGNORECASE
)
UNITS = re.compile(
    r"\(.{0,99}(?:million|thousand|billion|unaudited|per share|dollar|percent|\$).{0,99}\)"
    r"|(?:in|dollars in) (?:millions|thousands|billions)\b.*|unaudited",
    re.IGNORECASE,
)
"""A header row that states the units, such as "(in millions)"."""
LABEL_INDENT_MAX = 40.0
"""In points. A figure that starts this close to the left edge is a label, such as a year."""
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
_FIGURE_SHIFT_MAX = 14.0
"""Maximum distance in points between the right edges of figures of one column."""
_LABEL_LINES_MAX = 4
"""Maximum number of lines of a label."""


class PageTable(Struct, frozen=True):
    """The rows of a table from `start` up to `end`. The first `header_count` rows are its header."""

    start: int
    end: int
    header_count: int


def detect_tables(rows: Sequence[PageRow]) -> list[PageTable]:
    """Return the tables of a page in order."""
    tables: list[PageTable] = []
    index = 0
    while index < len(rows):
        if not is_data_row(rows[index]):
            index += 1
            continue
        body = range(index, _find_body_end(rows, index))
        if sum(is_data_row(rows[number]) for number in body) >= _DATA_ROWS_MIN:
            header = _detect_header(rows, body, tables[-1].end if tables else 0)
            tables.append(PageTable(header.start, body.stop, len(header)))
        index = body.stop
    return tables


def is_figure(text: str) -> bool:
    """Check whether a text is a number, or a sign for a missing one."""
    return _FIGURE.fullmatch(text) is not None


def is_data_row(row: PageRow) -> bool:
    """Check whether a row has several cells and ends in a figure."""
    return len(row.cells) > 1 and is_figure(row.cells[-1].text)


def _is_year_row(row: PageRow) -> bool:
    """Check whether a row has only years, after an optional label, or several years after other heads."""
    years = [*dropwhile(lambda cell: not YEAR.fullmatch(cell.text), row.cells)]
    heads = row.cells[: len(row.cells) - len(years)]
    are_heads = len(heads) < 2 or (len(years) > 1 and not any(is_figure(cell.text) for cell in heads))
    return (
        len(row.cells) > 1 and bool(years) and are_heads and all(YEAR.fullmatch(cell.text) for cell in years)
    )


def _is_prose_row(row: PageRow) -> bool:
    if len(row.cells) > _PROSE_CELLS_MAX:
        return False
    text = row.text
    return len(text) > _PROSE_LENGTH_MIN or (len(text) > _SENTENCE_LENGTH_MIN and text[-1] in ".;")


def _find_body_end(rows: Sequence[PageRow], start: int) -> int:
    """Return the end of the table body that starts with the figures in row `start`."""
    last = start  # the last row with figures so far
    has_amounts = not _is_year_row(rows[start])
    for index in range(start + 1, len(rows)):
        row = rows[index]
        if row.top < rows[index - 1].top:
            break
        if is_data_row(row):
            are_years = _is_year_row(row)
            if are_years and has_amounts and last > start:
                break  # years below figures are the header of the next table
            has_amounts = has_amounts or not are_years
            last = index
        elif index - last > _PLAIN_ROWS_MAX or (_is_prose_row(row) and not _wraps_label(rows, index, last)):
            break
    return last + 1


def _wraps_label(rows: Sequence[PageRow], index: int, last: int) -> bool:
    """Check whether a long row is the start of a label whose figures are in one of the next rows.

    Those figures must end at the same x as the figures of row `last`, the last row with figures.
    """
    for above, row in pairwise(rows[index : index + _LABEL_LINES_MAX]):
        if len(above.cells) > 1 or above.text[-1] in ".:;" or row.top < above.top:
            return False
        if is_data_row(row):
            ends = [cell.x1 for cell in rows[last].cells[1:]]
            shifts = [abs(cell.x1 - end) for cell, end in zip(row.cells[:0:-1], ends[::-1], strict=False)]
            return not _is_year_row(row) and max(shifts) < _FIGURE_SHIFT_MAX
    return False


def _detect_header(rows: Sequence[PageRow], body: range, previous_end: int) -> range:
    """Return the rows of the header, an empty range before the body if there are none.

    The header is above the `body`, from row `previous_end` on. Titles of parts of the table may be between
    both. If there are none, years at the start of the body belong to the header, and so do heads below years.
    """
    figures = [cell.x0 for index in body if is_data_row(rows[index]) for cell in rows[index].cells[1:]]
    left = min(figures) - LABEL_INDENT_MAX
    start = end = body.start
    for index in range(start - 1, max(previous_end, start - _HEADER_ROWS_MAX) - 1, -1):
        row = rows[index]
        if row.top > rows[index + 1].top or _is_prose_row(row):
            break
        is_above_figures = row.cells[-1].x0 >= left and row.text[-1] not in ":."
        if is_above_figures or UNITS.fullmatch(row.text):
            if start == body.start:
                end = index + 1
            start = index
        elif start < body.start or len(row.cells) > 1:
            break
    while end in body[:-1] and _continues_header(rows[end], left):
        end += 1
    return range(start, end)


def _continues_header(row: PageRow, left: float) -> bool:
    """Check whether a row at the start of a table is part of its header. Figures may start at `left`."""
    are_heads = row.x0 >= left or UNITS.fullmatch(row.cells[0].text) is not None
    return _is_year_row(row) or (are_heads and not is_data_row(row))
