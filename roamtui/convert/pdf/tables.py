"""Detects tables on a page: tables of figures, and tables of words. A figure is a number, not a picture."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from msgspec import Struct, field

from roamtui.convert.pdf.pdfium import PageLink
from roamtui.convert.pdf.rows import PageCell, PageRow, has_wide_gap
from roamtui.convert.pdf.titles import LARGE_RATIO
from roamtui.convert.pdf.words import SUPERSCRIPT
from roamtui.markdown.figures import FIGURE

_FIGURE = re.compile(
    rf"{FIGURE}(?:\s?(?:x|X|pts?|bps?|pp|bn|[MmBK])\s?[)\]]?)?(?:\s?(?:\(\w{{1,2}}\)|\*{{1,3}}|†|{SUPERSCRIPT}))*"
    r"|[$€£¥]?\s?[-–—−]+\s?[%)]?|[nN]/?[aAmM]\.?|NM|n\.m\.|N\.M\.|\*+|#{3,}"
)
"""A figure with its unit and note marks, or a sign for a missing one: a dash, "n/a", "NM", "###"."""
_AMOUNT = re.compile(r"[$€£¥]\s?\d|\d\s?%")
YEAR = re.compile(
    rf"(?:FY|fiscal )?(?:19|20)\d\d[EFA]?(?:\s?\(\w\)|{SUPERSCRIPT})*|[1-4]Q\d\d|Q[1-4]", re.IGNORECASE
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
_HEADER_ROWS_MAX = 10
_TITLE_RATIO_MIN = 1.4
"""A row with letters this much larger than the figures is a title. Heads may be larger by a third."""
_PROSE_LENGTH_MIN = 110
"""A longer row is prose."""
_SENTENCE_LENGTH_MIN = 60
"""A longer row is prose if it ends like a sentence."""
_PROSE_CELLS_MAX = 2
"""A row with more cells is not prose."""
_LABEL_GAP_MAX = 0.75
"""Maximum distance between two lines of a row, as a share of the distance between rows with figures."""
_LINE_DISTANCE_MAX = 1.2
"""Maximum distance between two lines of a text, in letter heights, or relative to the closest two lines."""
_WORD_ROWS_MIN = 3
"""Minimum number of rows with several cells in a table of words. Two justified lines may have wide gaps at
the same place."""
_SHIFT_MAX = 2.0
"""Maximum distance in points between the edges or centres of two cells that are aligned."""
COLUMN_DISTANCE_MAX = 14.0
"""Maximum distance in points between a cell and its column."""
_LABEL_ROWS_MIN = 5
"""In a table with fewer rows, a figure to the left of all others may be in a column of its own."""


class Column(NamedTuple):
    """The left and right edge of a column."""

    x0: float
    x1: float


class PageTable(Struct, frozen=True):
    """The rows of a table from `start` up to `end`. The first `header_row_count` rows are its header."""

    start: int
    end: int
    header_row_count: int
    columns: Sequence[Column]
    """The first one has the labels of the rows. Between figures, only its left edge is known."""


class PageText(Struct):
    """The content of a page, from which headings are detected and Markdown is written."""

    rows: list[PageRow]
    links: list[PageLink]
    tables: list[PageTable] = field(default_factory=list)
    start: int = 0
    """Index of its first row among the rows of all pages."""


def detect_tables(rows: Sequence[PageRow]) -> list[PageTable]:
    """Return the tables of a page in order. Look for tables of words between those of figures."""
    tables: list[PageTable] = []
    start = 0
    for table in _detect_figure_tables(rows):
        tables += [*_detect_word_tables(rows, start, table.start), table]
        start = table.end
    return [*tables, *_detect_word_tables(rows, start, len(rows))]


def _detect_figure_tables(rows: Sequence[PageRow]) -> Iterator[PageTable]:
    index = 0
    previous_end = 0
    while index < len(rows):
        if not is_data_row(rows[index]):
            index += 1
            continue
        body = range(index, _find_body_end(rows, index))
        header = _detect_header(rows, body, previous_end)
        index = body.stop
        if _is_table(rows[header.start : header.stop], rows[body.start : body.stop]):
            columns = _detect_columns(rows[header.start : body.stop], len(header))
            yield PageTable(header.start, body.stop, len(header), columns)
            previous_end = body.stop


def is_printed_figure(text: str) -> bool:
    """Return whether a text is a figure as printed tables have them, or a sign for a missing one."""
    return _FIGURE.fullmatch(text) is not None


def is_data_row(row: PageRow) -> bool:
    """Return whether a row has several cells and ends in a figure."""
    return len(row.cells) > 1 and is_printed_figure(row.cells[-1].text)


def _is_year_row(row: PageRow) -> bool:
    """Return whether a row has only years, or several years after other heads. A label may come first."""
    years = [*dropwhile(lambda cell: not YEAR.fullmatch(cell.text), row.cells)]
    heads = row.cells[: len(row.cells) - len(years)]
    are_heads = len(heads) < 2 or (len(years) > 1 and not any(is_printed_figure(cell.text) for cell in heads))
    are_years = bool(years) and all(YEAR.fullmatch(cell.text) for cell in years)
    return len(row.cells) > 1 and are_heads and are_years


def _is_outside(row: PageRow, size: float) -> bool:
    """Return whether a row is prose, or a title, in letters larger than those of the table (`size`)."""
    if row.size > _TITLE_RATIO_MIN * size:
        return True
    if len(row.cells) > _PROSE_CELLS_MAX:
        return False
    text = row.text
    return len(text) > _PROSE_LENGTH_MIN or (len(text) > _SENTENCE_LENGTH_MIN and text[-1] in ".;")


def _is_table(header: Sequence[PageRow], body: Sequence[PageRow]) -> bool:
    """Return whether rows are a table: two rows have figures, or one has several figures below heads."""
    first, *others = filter(is_data_row, body)
    if others:
        return True
    heads = [cell.text for row in header for cell in row.cells]
    figures_above = (head for head in heads if is_printed_figure(head) and not YEAR.fullmatch(head))
    has_amounts = any(map(_AMOUNT.search, heads)) or any(figures_above)
    figures = sum(is_printed_figure(cell.text) for cell in first.cells)
    are_years = YEAR.fullmatch(first.cells[-1].text) is not None
    return len(heads) > len(header) and not has_amounts and figures > 1 and not are_years


def _find_body_end(rows: Sequence[PageRow], start: int) -> int:
    last = start  # the last row with figures so far
    has_amounts = not _is_year_row(rows[start])
    for index in range(start + 1, len(rows)):
        row = rows[index]
        is_title = rows[last].is_ruled and row.frame is None and row.size > LARGE_RATIO * rows[start].size
        if is_title or row.top < rows[index - 1].top:
            break
        starts_table = has_amounts and _starts_header(row, rows[last])
        if is_data_row(row) or (_has_same_cells(row, rows[last]) and not starts_table):
            are_years = _is_year_row(row)
            if are_years and has_amounts and last > start:
                break  # years below figures are the header of the next table
            has_amounts = has_amounts or not are_years
            last = index
        elif starts_table or _is_outside(row, rows[start].size) or index - last > _PLAIN_ROWS_MAX:
            break
    end = last + 1
    if rows[start].is_ruled:  # further lines of its last rows
        framed = takewhile(lambda row: row.frame is not None, rows[end : end + _PLAIN_ROWS_MAX])
        end += len([*framed])
    return end


def _has_same_cells(row: PageRow, above: PageRow) -> bool:
    """Return whether each cell of a row is below a cell of the row above."""
    return len(row.cells) == len(above.cells) and all(map(are_aligned, row.cells, above.cells))


def compute_line_gap(rows: Sequence[PageRow]) -> float:
    """Return the distance below which two lines of a table may belong to one row."""
    tops = [row.top for row in rows if is_data_row(row)]
    distances = [_LABEL_GAP_MAX * (after - before) for before, after in pairwise(tops)]
    gaps = [gap for before, after in pairwise(rows) if (gap := after.top - before.top) > 0]
    line = rows[0].size if tops else max(rows[0].size, min(gaps, default=0.0))
    return min([_LINE_DISTANCE_MAX * line, *distances])


def _starts_header(row: PageRow, above: PageRow) -> bool:
    """Return whether a row has heads of the next table: several years, or cells without a label."""
    has_label = row.x0 < above.x0 + LABEL_INDENT_MAX and not UNITS.fullmatch(row.cells[0].text)
    years = sum(YEAR.fullmatch(cell.text) is not None for cell in row.cells)
    return len(row.cells) > 1 and not row.text[0].islower() and (years > 1 or not has_label)


def _detect_header(rows: Sequence[PageRow], body: range, previous_end: int) -> range:
    """Return the rows of the header, or an empty range before the body if there are none.

    The header is above the `body`, from row `previous_end` on. Titles of parts of the table may be between
    them. If not, years at the start of the body, and heads below years, belong to the header.
    """
    figures = [cell.x0 for index in body if is_data_row(rows[index]) for cell in rows[index].cells[1:]]
    left = min(figures) - LABEL_INDENT_MAX
    start = end = body.start
    for index in range(start - 1, max(previous_end, start - _HEADER_ROWS_MAX) - 1, -1):
        row = rows[index]
        if row.top > rows[index + 1].top or _is_outside(row, rows[body.start].size):
            break
        is_above_figures = row.cells[-1].x0 >= left and row.text[-1] not in ":.。"
        if is_above_figures or UNITS.fullmatch(row.text):
            if start == body.start:
                end = index + 1
            start = index
        elif len(row.cells) > 1 or (
            start < body.start and row.frame is None and rows[index + 1].top - row.top > row.size
        ):
            break
    while end in body[:-1] and _continues_header(rows[end], left):
        end += 1
    return range(start, end)


def _continues_header(row: PageRow, left: float) -> bool:
    """Return whether a row at the start of a table is part of its header. Figures start right of `left`."""
    are_heads = row.x0 >= left or UNITS.fullmatch(row.cells[0].text) is not None
    return _is_year_row(row) or (are_heads and not is_data_row(row))


def _detect_columns(rows: Sequence[PageRow], header_row_count: int) -> list[Column]:
    """Return the columns of a table of figures. The labels start at the left edge of the table."""
    edge = min(row.x0 for row in rows)
    body = rows[header_row_count:]
    if all(row.is_ruled for row in filter(is_data_row, body)):
        cell_count = max(len(row.cells) for row in body)
        whole = (row for row in body if len(row.cells) == cell_count)
        return _join_columns(Column(cell.x0, cell.x1) for row in whole for cell in row.cells)
    figures: list[Column] = []
    for row in filter(is_data_row, body):
        has_label = not is_printed_figure(row.cells[0].text) or row.x0 <= edge + LABEL_INDENT_MAX
        figures += [Column(cell.x0, cell.x1) for cell in row.cells[has_label:]]
    figures.sort()
    if len(body) >= _LABEL_ROWS_MIN and figures[1:] and figures[0].x1 < figures[1].x0 - COLUMN_DISTANCE_MAX:
        # a lone figure to the left of all others ends a label, such as "net of tax of $1 and | ($7)"
        del figures[0]
    return [Column(edge, edge), *_join_columns(figures)]


def _join_columns(columns: Iterable[Column]) -> list[Column]:
    """Join columns that overlap."""
    joined: list[Column] = []
    for column in sorted(columns):
        if joined and column.x0 < joined[-1].x1:
            joined[-1] = Column(joined[-1].x0, max(column.x1, joined[-1].x1))
        else:
            joined.append(column)
    return joined


def _detect_word_tables(rows: Sequence[PageRow], low: int, high: int) -> Iterator[PageTable]:
    """Yield the tables of words between two rows."""
    rows = rows[:high]
    start = low
    while start < high:
        table = _find_word_table(rows, low, start)
        if table is None:
            start += 1
            continue
        if any(map(has_wide_gap, rows[table.start : table.end])):
            yield table
        low = table.end
        start = table.end


def _find_word_table(rows: Sequence[PageRow], low: int, start: int) -> PageTable | None:
    """Return the table whose rows are aligned with row `start`, or None. Its heads are from row `low` on."""
    columns: list[Column] = []
    models: list[PageCell] = []
    end = start
    counts: list[int] = []
    for index in range(start, len(rows)):
        row = rows[index]
        joined = _add_cells(columns, row)
        if len(joined) < max(2, len(columns)) or (index > start and row.top <= rows[index - 1].top):
            break
        if (row.frame is None) != (rows[start].frame is None):
            break
        aligned = [cell for cell in row.cells if any(are_aligned(cell, model) for model in models)]
        is_new = len(aligned) < len(row.cells)
        if models and is_new and row.frame is None and (not aligned or len(joined) == len(columns)):
            break
        models += [cell for cell in row.cells if cell not in aligned]
        columns = joined
        counts += [len(row.cells)] * (len(row.cells) > 1)
        # a short line below a table, at the left, does not belong to it
        if len(row.cells) > 1 or row.x0 > columns[0][1]:
            end = index + 1
    # code with wide spaces and diagrams leave most rows incomplete
    is_ruled = any(row.is_ruled for row in rows[start:end])
    complete = sum(count >= len(columns) for count in counts)
    if not is_ruled and (len(counts) < _WORD_ROWS_MIN or 2 * complete <= len(counts)):
        return None
    first = start
    while first > low and len(rows[first - 1].cells) > 1 and rows[first - 1].top < rows[first].top:
        joined = _add_cells(columns, rows[first - 1])
        if len(joined) != len(columns):
            break
        columns = joined
        first -= 1
    are_all_bold = all(row.font.is_bold for row in rows[first:end])
    bold = takewhile(lambda row: row.font.is_bold and not are_all_bold, rows[start:end])
    return PageTable(first, end, start - first + len([*bold]), columns)


def are_aligned(cell: PageCell, model: PageCell) -> bool:
    """Return whether two cells are above each other: their left or right edges, or their centres."""
    left = cell.x0 - model.x0
    right = cell.x1 - model.x1
    return min(abs(left), abs(right), abs(left + right) / 2) < _SHIFT_MAX


def _add_cells(columns: Sequence[Column], row: PageRow) -> list[Column]:
    return _join_columns([*columns, *(Column(cell.x0, cell.x1) for cell in row.cells)])
