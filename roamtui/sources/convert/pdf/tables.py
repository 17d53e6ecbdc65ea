"""Detect tables of figures on a page, and write them as Markdown.

A figure is a number, never a picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, pairwise

from msgspec import Struct

from roamtui.sources.convert.pdf.pdfium import HYPHEN
from roamtui.sources.convert.pdf.rows import Cell, PageRow

_FIGURE = re.compile(
    r"(?:(?:[A-Z]{1,2}\s?)?[$€£¥]\s?)?[(\[]?\s?[-–—−+~<>±]?\s?[$€£¥]?\s?(?:\d[\d,.]*|\.\d+)\s?[)\]]?\s?"
    r"(?:%|x|X|pts?|bps?|pp|bn|[MmBK])?\s?[)\]]?(?:\s?(?:\(\w{1,2}\)|\*{1,3}|†|\x03[^\x04]*\x04))*"
    r"|[$€£¥]?\s?[-–—−]+\s?[%)]?|[nN]/?[aAmM]\.?|NM|n\.m\.|N\.M\.|\*+"
)
"""A number with currency, sign, unit and note mark, or a sign for a missing one: a dash, "n/a", "NM"."""
_YEAR = re.compile(
    r"(?:FY|fiscal )?(?:19|20)\d\d[EFA]?(?:\s?\(\w\)|\x03[^\x04]*\x04)*|[1-4]Q\d\d|Q[1-4]", re.IGNORECASE
)
_UNITS = re.compile(
    r"\(.{0,99}(?:million|thousand|billion|unaudited|per share|dollar|percent|\$).{0,99}\)"
    r"|(?:in|dollars in) (?:millions|thousands|billions)\b.*|unaudited",
    re.IGNORECASE,
)
"""A header row that states the units, such as "(in millions)"."""
_MONTH = (
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b)"
)
_DATE = re.compile(
    rf"(?:as of |at )?(?:{_MONTH}\.? \d{{1,2}},?)(?:\s?\d{{4}})?|{_YEAR.pattern}", re.IGNORECASE
)
"""A head that names one year or day, such as "2022", "December 31," or "July 3, 2022"."""
_YEAR_IN = re.compile(r"(?:19|20)\d\d")
_PERIOD = re.compile(rf"{_DATE.pattern}|.*\b(?:years?|quarters?|months|weeks|half|ended)\b.*", re.IGNORECASE)
_STACKED_SHIFT_MAX = 4.0
"""Maximum distance in points between the centres or edges of two lines of one head."""
_HYPHEN_SPACE = re.compile(rf"([-{HYPHEN}]) ")
_OVERLAP_MIN = 0.25
"""Minimum overlap of a head with its column, as a share of the narrower one."""
_SPAN_TOLERANCE = 0.3
"""Maximum distance between the centres of a head and its columns, as a share of their mean width."""
_SPAN_TOLERANCE_MIN = 6.0
_WIDTH_SHARE_MIN = 0.9
"""Minimum width of the columns below a head, as a share of the head's width."""
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
"""Maximum distance in points between a cell and its column, and between columns that may be joined."""
_MISFITS_MAX = 0.04
"""Maximum share of cells that fit into no column. If there are more, the table is written as plain lines, so
that no figure appears under the wrong column head."""
_LABEL_LINES_MAX = 4
"""Maximum number of lines of a label."""
_LABEL_ROWS_MIN = 5
"""In a table with fewer rows, a figure to the left of all others may be in a column of its own."""
_COLUMNS_MAX = 24
_BAR = r"\|"


class PageTable(Struct):
    """The rows of a table from `start` up to `end`. The first `header_count` rows are its header."""

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
            # Rows of years belong to the header, although they look like data, and so do the heads below
            # them.
            left = _compute_figures_left(rows, index, end)
            while start + header_count == index and index + 1 < end and header_count + 1 < end - start:
                row = rows[index]
                is_above_figures = row.x0 >= left - _LABEL_INDENT_MAX or _UNITS.fullmatch(row.cells[0].text)
                if not _is_year_row(row) and (_is_data_row(row) or not is_above_figures):
                    break
                index += 1
                header_count += 1
            tables.append(PageTable(start, end, header_count))
        index = max(end, index + 1)
    return tables


def _is_data_row(row: PageRow) -> bool:
    return len(row.cells) > 1 and _is_figure(row.cells[-1].text)


def _is_year_row(row: PageRow) -> bool:
    """Check whether a row has only years, after an optional label, or several years after other heads."""
    years = [*dropwhile(lambda cell: not _YEAR.fullmatch(cell.text), row.cells)]
    heads = row.cells[: len(row.cells) - len(years)]
    are_heads = len(heads) < 2 or (len(years) > 1 and not any(_is_figure(cell.text) for cell in heads))
    return (
        len(row.cells) > 1 and bool(years) and are_heads and all(_YEAR.fullmatch(cell.text) for cell in years)
    )


def _compute_figures_left(rows: Sequence[PageRow], start: int, end: int) -> float:
    """Return the left edge of the figures from row `start` to `end`."""
    return min(cell.x0 for row in rows[start:end] if _is_data_row(row) for cell in row.cells[1:])


def _is_prose_row(row: PageRow) -> bool:
    if len(row.cells) > _PROSE_CELLS_MAX:
        return False
    text = row.text
    return len(text) > _PROSE_LENGTH_MIN or (len(text) > _SENTENCE_LENGTH_MIN and text[-1] in ".;")


def _detect_table_end(rows: Sequence[PageRow], start: int) -> tuple[int, int]:
    """Return the end of the table with its first figures in row `start`, and its rows with figures."""
    end = start + 1
    count = 1
    plain_rows = 0
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
            end = index + 1
            plain_rows = 0
            count += 1
        else:
            plain_rows += 1
            if plain_rows > _PLAIN_ROWS_MAX or (
                _is_prose_row(row) and not _wraps_label(rows, index, end - 1)
            ):
                break
    return end, count


def _wraps_label(rows: Sequence[PageRow], index: int, last: int) -> bool:
    """Check whether a long row is the start of a label whose figures are in one of the next rows.

    Those figures must end at the same x as the figures of row `last`, the last row with figures.
    """
    for above, row in pairwise(rows[index : index + _LABEL_LINES_MAX]):
        if len(above.cells) > 1 or above.text[-1] in ".:;" or row.top < above.top:
            return False
        if _is_data_row(row):
            ends = [cell.x1 for cell in rows[last].cells[1:]]
            shifts = [abs(cell.x1 - end) for cell, end in zip(row.cells[:0:-1], ends[::-1], strict=False)]
            return not _is_year_row(row) and max(shifts) < _COLUMN_DISTANCE_MAX
    return False


def _detect_header_rows(rows: Sequence[PageRow], first: int, end: int, previous_end: int) -> tuple[int, int]:
    """Find the header above the rows `first` to `end` of a table. It starts at or after `previous_end`.

    Return the index of its first row and its number of rows, or `first` and 0 if there is none. Rows between
    the header and `first` are titles of the table's parts.
    """
    left = _compute_figures_left(rows, first, end)
    start = header_end = first
    for index in range(first - 1, max(previous_end, first - _HEADER_ROWS_MAX) - 1, -1):
        row = rows[index]
        if row.top > rows[index + 1].top or _is_prose_row(row):
            break
        is_above_figures = row.cells[-1].x0 >= left - _LABEL_INDENT_MAX and row.text[-1] not in ":."
        if is_above_figures or _UNITS.fullmatch(row.text):
            header_end = header_end if start < first else index + 1
            start = index
        elif start < first or len(row.cells) > 1:
            break
    return start, header_end - start


def write_table(rows: Sequence[PageRow], header_count: int) -> str:
    """Write rows as a Markdown table, or as plain lines if they do not fit into columns."""
    edge = min(row.x0 for row in rows)
    columns = _compute_column_bounds(rows[header_count:], edge)
    plain_lines = "\n".join(" | ".join(cell.text for cell in row.cells) for row in rows)
    if not columns or len(columns) > _COLUMNS_MAX:
        return plain_lines
    misfits = 0
    lines: list[list[str]] = []
    for row in rows[header_count:]:
        line = [""] * (len(columns) + 1)
        is_data = _is_data_row(row)
        for number, cell in enumerate(row.cells):
            is_label = (
                number == 0 and cell.x0 < columns[0][0] and cell.x1 < columns[0][1] + _COLUMN_DISTANCE_MAX
            )
            is_label = is_label and (not _is_figure(cell.text) or cell.x0 <= edge + _LABEL_INDENT_MAX)
            low, high = (
                (-1, -1) if is_label or cell.x1 <= columns[0][0] else _find_columns_below(cell, columns)
            )
            if is_data:
                distance = max(columns[low][0] - cell.x1, cell.x0 - columns[low][1])
                misfits += low >= 0 and (low < high or distance > _COLUMN_DISTANCE_MAX)
                high = low
            for column in range(low + 1, high + 2):
                line[column] = f"{line[column]} {cell.text}".strip()
        if lines:
            label, *figures = lines[-1]
            if label and not any(figures) and line[0][:1].islower() and label[-1] not in ":.":
                line[0] = f"{label} {line[0]}"  # it continues the label of the row above
                lines.pop()
        lines.append(line)
    if misfits > _MISFITS_MAX * sum(len(row.cells) for row in rows):
        return plain_lines
    head = _compute_heads(rows[:header_count], columns, edge)
    delimiters = ["---"] * len(head)
    return "\n".join(
        f"| {' | '.join(text.replace('|', _BAR) for text in line)} |" for line in (head, delimiters, *lines)
    )


def _compute_heads(rows: Sequence[PageRow], columns: Sequence[tuple[float, float]], edge: float) -> list[str]:
    """Return the text above the labels, and above each column. A head above several columns is repeated."""
    texts: list[list[str]] = [[] for _ in range(len(columns) + 1)]
    bounds = list(columns)
    below = [(column, column, "") for column in range(len(columns))]
    """The head below, for each column: its first and last column, and its text."""
    heads_below: list[tuple[Cell, tuple[int, int]]] = []
    dates_below = 0
    for index in reversed(range(len(rows))):
        cells = list(rows[index].cells)
        first = cells[0]
        is_left = (
            first.x0 < columns[0][0] and first.x0 <= edge + _LABEL_INDENT_MAX and first.x1 <= columns[0][1]
        )
        # A lone head below years describes the figures of all years.
        is_left = is_left or (len(cells) == 1 and any(_count_dates(row) > 1 for row in rows[:index][-1:]))
        if is_left or _UNITS.fullmatch(first.text):
            texts[0].append(cells.pop(0).text)
        own = [_find_columns_below(cell, columns) for cell in cells]
        low_mins = [0, *(high + 1 for _, high in own)]
        high_maxs = [*(low - 1 for low, _ in own[1:]), len(columns) - 1]
        spans = []
        for number, cell in enumerate(cells):
            head = _find_stacked(cell, cells, heads_below) if dates_below < 2 else None
            limits = range(low_mins[number], high_maxs[number] + 1)
            spans.append(head or _compute_span(cell, own[number], limits, bounds, below))
        width, rest = divmod(len(columns), max(1, len(cells)))
        lows = [low for low, _ in own]
        equal = range(0, len(columns), max(1, width))
        are_years = len(cells) == _count_dates(rows[index]) > 1 and not rest
        if are_years and lows in ([*equal], [low + width - 1 for low in equal]):
            # Years have equal shares, each above the first column or each above the last one.
            spans = [(low, low + width - 1) for low in equal]
        heads_below = list(zip(cells, spans, strict=True))
        dates_below = _count_dates(rows[index])
        for cell, (low, high) in zip(cells, spans, strict=True):
            if low == high and not below[low][2]:  # the lowest head of a column shows where its middle is
                bounds[low] = min(bounds[low][0], cell.x0), max(bounds[low][1], cell.x1)
            for column in range(low, high + 1):
                texts[column + 1].append(cell.text)
                below[column] = low, high, cell.text
    return [_HYPHEN_SPACE.sub(r"\1", " ".join(reversed(parts))) for parts in texts]


def _count_dates(row: PageRow) -> int:
    return sum(_DATE.fullmatch(cell.text) is not None for cell in row.cells)


def _find_stacked(
    cell: Cell, beside: Sequence[Cell], below: Sequence[tuple[Cell, tuple[int, int]]]
) -> tuple[int, int] | None:
    """Return the columns of the head below a cell if both are aligned lines of one head."""
    touching = [(head, span) for head, span in below if head.x0 < cell.x1 and head.x1 > cell.x0]
    if len(touching) != 1 or (_DATE.fullmatch(cell.text) and _YEAR_IN.search(cell.text)):
        return None
    head, span = touching[0]
    is_alone = sum(other.x0 < head.x1 and other.x1 > head.x0 for other in beside) == 1
    shifts = (cell.x0 - head.x0, cell.x1 - head.x1, (cell.x0 + cell.x1 - head.x0 - head.x1) / 2)
    return span if is_alone and min(map(abs, shifts)) < _STACKED_SHIFT_MAX else None


def _find_columns_below(cell: Cell, columns: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Return the first and last column that a cell is above or in, or else the nearest one twice."""
    overlaps = [min(cell.x1, x1) - max(cell.x0, x0) for x0, x1 in columns]
    over = [
        column
        for column, ((x0, x1), overlap) in enumerate(zip(columns, overlaps, strict=True))
        if overlap > _OVERLAP_MIN * min(cell.x1 - cell.x0, x1 - x0)
    ]
    over = over or [overlaps.index(max(overlaps))]
    return over[0], over[-1]


def _compute_span(
    head: Cell,
    own: tuple[int, int],
    limits: range,
    bounds: Sequence[tuple[float, float]],
    below: Sequence[tuple[int, int, str]],
) -> tuple[int, int]:
    """Return the first and last column of a head: centred above them, dividing no head `below`.

    `own` are the columns that the head overlaps; it may extend over `limits`.
    """
    spans = []
    for low in range(limits.start, own[0] + 1):
        for high in range(own[1], limits.stop):
            x0, _ = bounds[low]
            _, x1 = bounds[high]
            shift = abs(x0 + x1 - head.x0 - head.x1) / 2
            if (
                shift <= max(_SPAN_TOLERANCE_MIN, _SPAN_TOLERANCE * (x1 - x0) / (high - low + 1))
                and x1 - x0 >= _WIDTH_SHARE_MIN * (head.x1 - head.x0)
                and below[low][0] == low
                and below[high][1] == high
            ):
                spans.append((shift, low, high))
    if not spans:
        return own
    spans = [span for span in spans if span[0] <= 2 * min(spans)[0] + _SPAN_TOLERANCE_MIN]
    # A period, or a head above periods, spans as many columns as possible; any other head, as few as
    # possible.
    texts = [text for _, low, high in spans for _, _, text in below[low : high + 1]]
    is_wide = all(map(_PERIOD.fullmatch, texts)) or (
        _PERIOD.fullmatch(head.text) is not None and not all(map(_DATE.fullmatch, texts))
    )
    _, low, high = min(spans, key=lambda span: ((span[1] - span[2]) * (1 if is_wide else -1), span[0]))
    return low, high


def _compute_column_bounds(rows: Sequence[PageRow], edge: float) -> list[tuple[float, float]]:
    """Return the bounds of the columns of figures, or an empty list if there are far too many."""
    spans = []
    for row in rows:
        if _is_data_row(row):
            label = row.cells[0]
            has_label = not _is_figure(label.text) or label.x0 <= edge + _LABEL_INDENT_MAX
            spans += [(cell.x0, cell.x1) for cell in (row.cells[1:] if has_label else row.cells)]
    columns: list[tuple[float, float]] = []
    spans.sort()
    if len(spans) > 1 and spans[0][1] < spans[1][0] - _COLUMN_DISTANCE_MAX and len(rows) >= _LABEL_ROWS_MIN:
        # a lone figure to the left of all others ends a label, such as "net of tax of $1 and | ($7)"
        del spans[0]
    for x0, x1 in spans:
        if columns and x0 < columns[-1][1]:
            columns[-1] = columns[-1][0], max(x1, columns[-1][1])
        else:
            columns.append((x0, x1))
    if len(columns) > 2 * _COLUMNS_MAX:
        return []
    # Neighbouring columns are joined if no row has cells in both.
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
