"""Convert rows of separated values (CSV, TSV, tables in logs) to Markdown tables with their header."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.row_tables import is_header, write_table
from roamtui.sources.decode import decode_text

_DELIMITERS = "\t;,|"
_SAMPLE_ROWS = 50
_SAME_WIDTH_MIN = 0.8
"""Minimum share of rows with the most common number of cells in a table."""
_SECTION_LENGTH = 8_000
"""Length of the rows in a section, in characters, so that a section has one page."""
_CELL_LENGTH_MAX = 1_000_000_000
_CELL_LINES_MAX = 50
"""A cell with more lines has a quotation mark that nothing closes."""


def find_delimiter(text: str, columns_min: int = 2) -> str | None:
    """Return the character that separates the cells of a table, or None if the text is not a table."""
    lines = [*islice(filter(str.strip, io.StringIO(text, newline="")), _SAMPLE_ROWS)]
    best: tuple[float, int, str] | None = None
    for delimiter in _DELIMITERS if len(lines) > 1 else "":
        widths = Counter(len(row) for row in _read_rows(lines, delimiter))
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        share = count / widths.total()
        if width >= columns_min and share >= _SAME_WIDTH_MIN and (best is None or (share, width) > best[:2]):
            best = share, width, delimiter
    return best and best[2]


def convert_separated(data: bytes, name: str) -> ConvertedText:
    """Convert rows of separated values to sections of Markdown tables, each with the header."""
    text, notes = decode_text(data, name)
    delimiter = find_delimiter(text) or ","
    rows = _read_rows(io.StringIO(text, newline=""), delimiter)
    if any(cell.count("\n") > _CELL_LINES_MAX for row in rows for cell in row):
        rows = _read_rows(io.StringIO(text, newline=""), delimiter, has_quotes=False)
    numbered = [(number, row) for number, row in enumerate(rows, start=1) if any(map(str.strip, row))]
    width = max(len(row) for _, row in numbered)
    cells = [row + [""] * (width - len(row)) for _, row in numbered]
    has_header = len(cells) > 1 and is_header(filter(None, cells[0]))
    heads = cells.pop(0) if has_header else [""] * width
    numbers = [number for number, _ in numbered][has_header:]
    blocks = write_table(heads, cells, numbers, section_length=_SECTION_LENGTH)
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)


def _read_rows(lines: Iterable[str], delimiter: str, *, has_quotes: bool = True) -> list[list[str]]:
    csv.field_size_limit(_CELL_LENGTH_MAX)
    return list(
        csv.reader(
            lines,
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
            skipinitialspace=True,
        )
    )
