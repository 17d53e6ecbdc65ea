"""Finds tables of words on a page, with aligned cells and gaps between them, and writes them."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from roamtui.convert.markdown_table import write_table
from roamtui.convert.pdf.rows import PageCell, PageRow
from roamtui.convert.pdf.words import write_words

_ROWS_MIN = 3
"""Minimum number of rows with several cells. Two justified lines may have wide gaps at the same place."""
_SHIFT_MAX = 2.0
"""Maximum distance in points between the edges or centres of two cells that are aligned."""
_Column = tuple[float, float]


class WordTable(Struct, frozen=True):
    """The rows of a table from `start` up to `end`. The first `header_row_count` rows are its header."""

    start: int
    end: int
    columns: list[_Column]
    header_row_count: int = 0


def detect_word_tables(rows: Sequence[PageRow]) -> Iterator[WordTable]:
    """Yield the tables in order."""
    start = low = 0
    while start < len(rows):
        table = _find_table(rows, low, start)
        if table is not None:
            yield table
            low = table.end
        start = table.end if table else start + 1


def _find_table(rows: Sequence[PageRow], low: int, start: int) -> WordTable | None:
    """Return the table whose rows are aligned with row `start`, or None. Its heads are from row `low` on."""
    columns: list[_Column] = []
    models: list[PageCell] = []
    end = start
    counts: list[int] = []
    for index in range(start, len(rows)):
        row = rows[index]
        joined = _add_cells(columns, row)
        if len(joined) < max(2, len(columns)) or (index > start and row.top <= rows[index - 1].top):
            break
        aligned = [cell for cell in row.cells if any(_are_aligned(cell, model) for model in models)]
        is_new = len(aligned) < len(row.cells)
        if models and is_new and (not aligned or len(joined) == len(columns)):
            break
        models += [cell for cell in row.cells if cell not in aligned]
        columns = joined
        counts += [len(row.cells)] * (len(row.cells) > 1)
        # a short line below a table, at the left, does not belong to it
        if len(row.cells) > 1 or row.x0 > columns[0][1]:
            end = index + 1
    # code with wide spaces and diagrams leave most rows incomplete
    if len(counts) < _ROWS_MIN or 2 * sum(count >= len(columns) for count in counts) <= len(counts):
        return None
    first = start
    while first > low and len(rows[first - 1].cells) > 1 and rows[first - 1].top < rows[first].top:
        joined = _add_cells(columns, rows[first - 1])
        if len(joined) != len(columns):
            break
        columns = joined
        first -= 1
    return WordTable(first, end, columns, start - first)


def _are_aligned(cell: PageCell, model: PageCell) -> bool:
    left = cell.x0 - model.x0
    right = cell.x1 - model.x1
    return min(abs(left), abs(right), abs(left + right) / 2) < _SHIFT_MAX


def _add_cells(columns: Sequence[_Column], row: PageRow) -> list[_Column]:
    """Add the cells of a row to the columns. Columns that then overlap are joined."""
    joined: list[_Column] = []
    for x0, x1 in sorted([*columns, *((cell.x0, cell.x1) for cell in row.cells)]):
        if joined and x0 < joined[-1][1]:
            joined[-1] = joined[-1][0], max(x1, joined[-1][1])
        else:
            joined.append((x0, x1))
    return joined


def write_word_table(rows: Sequence[PageRow], table: WordTable, join: Callable[[str, str], str]) -> str:
    """Write a table. Bold rows at the top are heads too. `join` joins the parts of a divided word.

    A lone cell that is not in the first column continues the cell above it.
    """
    lefts = [x0 for x0, _ in table.columns]
    lines: list[list[str]] = []
    header_row_count = 0
    are_all_bold = all(row.font.is_bold for row in rows[table.start : table.end])
    for number, row in enumerate(rows[table.start : table.end]):
        line = [""] * len(lefts)
        for cell in row.cells:
            column = max(0, bisect_right(lefts, cell.x0) - 1)
            line[column] = f"{line[column]} {cell.text}".strip()
        is_head = number < table.header_row_count or (row.font.is_bold and not are_all_bold)
        if is_head and header_row_count == len(lines):
            header_row_count += 1
        if len(row.cells) == 1 and not line[0] and len(lines) > header_row_count:
            lines[-1] = [*map(join, lines[-1], line)]
        else:
            lines.append(line)
    cells = [[*map(write_words, line)] for line in lines]
    return write_table(cells[:header_row_count], cells[header_row_count:])
