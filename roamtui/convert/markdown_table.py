"""Writes tables as Markdown. A long table becomes several sections."""

import re
from collections.abc import Iterable, Iterator, Sequence

from roamtui.markdown.escaping import escape_inline, write_heading, write_row
from roamtui.markdown.figures import is_figure
from roamtui.markdown.table_header import join_heads
from roamtui.text import shorten

_SECTION_LENGTH = 4_000
"""Length of the rows of a section, in characters. A section is about one page long."""
_TITLE_CELL_LENGTH_MAX = 24
"""Maximum length of a cell in the title of a section. An outline must have room for two cells."""
_YEAR = re.compile(r"(?:1[89]|20)\d\d")


def is_header(cells: Iterable[str]) -> bool:
    """Return whether no cell of a row is a figure other than a year."""
    return all(_YEAR.fullmatch(text) or not is_figure(text.strip()) for text in cells)


def write_table(header_rows: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of Markdown cells. Its header rows are joined, because Markdown has exactly one."""
    heads = [*join_heads(header_rows)]
    width = max(map(len, (heads, *rows)), default=0)
    heads += [""] * (width - len(heads) if heads else 0)
    first = write_row(heads) if heads else f"|{' |' * width}"
    return "\n".join([first, f"|{' --- |' * width}", *map(write_row, rows)])


def write_long_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int],
    *,
    is_section: bool = False,
) -> Iterator[str]:
    """Yield the blocks of a table of plain texts. If it is long, each of its sections has the header.

    The title of a section names the first cells and the `numbers` of its first and last row. With
    `is_section`, a short table is a section too. Rows may differ in length: a short row stays short, and the
    header is as wide as the widest row below it.
    """
    header_rows = [[*map(write_cell, heads)] or [""]]
    cells = [[*map(write_cell, row)] for row in rows]
    lengths = [len(write_row(row)) for row in cells]
    if not is_section and sum(lengths) <= _SECTION_LENGTH:
        yield write_table(header_rows, cells)
        return
    # A header that is longer than a section must not be repeated for each few rows.
    length_min = max(_SECTION_LENGTH, len(write_row(header_rows[0])))
    start = length = 0
    for end, row_length in enumerate(lengths, start=1):
        length += row_length
        if length >= length_min or end == len(rows):
            yield write_heading(2, _format_title(heads, rows[start:end], (numbers[start], numbers[end - 1])))
            yield write_table(header_rows, cells[start:end])
            start = end
            length = 0


def _format_title(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: tuple[int, int]) -> str:
    """Format the title of a section, such as `name: Adams – Clarke (rows 2–54)`."""
    first, last, head = (
        escape_inline(shorten(" ".join("".join(row[:1]).split()), _TITLE_CELL_LENGTH_MAX))
        for row in (rows[0], rows[-1], heads)
    )
    cells = " – ".join(dict.fromkeys(filter(None, (first, last))))
    shown = f"rows {numbers[0]}–{numbers[1]}" if len(rows) > 1 else f"row {numbers[0]}"
    return f"{head}: {cells} ({shown})".removeprefix(": ") if cells else shown.capitalize()


class MarkdownCell(str):
    """A cell that is Markdown already, such as a link."""

    __slots__ = ()


def write_cell(cell: str) -> str:
    """Write a cell on one line."""
    line = " ".join(cell.split())
    return line if cell.isalnum() or isinstance(cell, MarkdownCell) else escape_inline(line)
