"""Converts separated values (CSV, TSV) to a Markdown table."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Literal

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.convert.markdown_table import is_header, write_long_table
from roamtui.markdown.escaping import escape_inline, escape_line_starts

_DELIMITERS = "\t;|,"
"""The signs that separate cells. The rarer a sign is in words and numbers, the earlier it comes."""
_NAMED_DELIMITER = re.compile(r"\Asep=([^\s\"]|\t)[ \t]*(?:\r\n?|\n)", re.IGNORECASE)
"""The first line of a file for Excel, if it names the delimiter. It is not a row.

A quotation mark and a line end have another meaning, so they are never delimiters.
"""
_SAMPLE_ROWS = 50
_DIVIDED_MIN = 0.8
"""Minimum share of the rows of a table that have several cells."""
_TITLE_ROWS_MAX = 10
"""Maximum number of title rows above a table. Fewer than half of their cells have words."""
_CELL_LENGTH_MAX = 1_000_000_000


def detect_delimiter(text: str) -> str | None:
    """Return the character that separates the cells of a table, or None if the text is not a table."""
    named = _NAMED_DELIMITER.match(text)
    if named:
        return named[1]
    lines = [*islice(filter(str.strip, io.StringIO(text, newline="")), _SAMPLE_ROWS)]
    tables: list[tuple[int, bool, int, str]] = []
    for delimiter in _DELIMITERS:
        rows = [row for _, row in iter_rows(lines, delimiter)]
        start = _count_title_rows(rows)
        widths = Counter(len(row) for row in rows[start:])
        width, count = max(widths.items(), key=lambda item: item[1], default=(0, 0))
        divided = widths.total() - widths[1]
        if len(rows) > 1 and divided >= _DIVIDED_MIN * widths.total():
            is_even = count == widths.total()
            tables.append((-start, is_even, 0 if is_even else count * width, delimiter))
    return max(tables, key=lambda table: table[:3])[3] if tables else None


def convert_separated(data: bytes, name: str) -> ConvertedText:
    """Convert rows of separated values to a Markdown table, in sections if there are many."""
    text, notes = decode_text(data, name)
    delimiter = detect_delimiter(text) or ","
    text = _NAMED_DELIMITER.sub("", text, count=1)
    numbered = dict(iter_rows(io.StringIO(text, newline=""), delimiter))
    if _has_open_quote(text, delimiter):
        numbered = dict(iter_rows(io.StringIO(text, newline=""), delimiter, has_quotes=False))
        notes = (*notes, "a quotation mark is not closed, so all of them are shown as they are.")
    rows = [*numbered.values()]
    start = _count_title_rows(rows[:_SAMPLE_ROWS])
    titles = [escape_line_starts(escape_inline(delimiter.join(filter(None, row)))) for row in rows[:start]]
    rows = rows[start:]
    has_header = len(rows) > 1 and is_header(filter(None, rows[0]))
    heads = rows.pop(0) if has_header else []
    blocks = [*titles, *write_long_table(heads, rows, [*numbered][-len(rows) :], is_section=bool(rows))]
    return ConvertedText(text="\n\n".join(blocks) + "\n", notes=notes)


def _has_open_quote(text: str, delimiter: str) -> bool:
    """Return whether a row takes several lines and has an odd number of quotation marks."""
    lines = [*io.StringIO(text, newline="")]
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    edges = [0, *(rows.line_num for _ in rows)]
    written = ("".join(lines[start:end]) for start, end in pairwise(edges) if end > start + 1)
    return any(row.count('"') % 2 for row in written)


def _count_title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows above a table that have its title, its date or a remark."""
    widths = Counter(map(len, rows))
    width = max(widths, key=lambda width: (widths[width], width), default=0)
    fills = [sum(map(bool, map(str.strip, row))) for row in rows[: _TITLE_ROWS_MAX + 1]]
    start = next((number for number, filled in enumerate(fills) if 2 * filled >= width and filled > 1), 0)
    return start if start < len(rows) - 1 else 0


def iter_rows(
    lines: Iterable[str], delimiter: str, *, has_quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with the numbers that a spreadsheet gives them."""
    csv.field_size_limit(_CELL_LENGTH_MAX)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    rows = csv.reader(lines, delimiter=delimiter, quoting=quoting, skipinitialspace=True)
    yield from ((number, row) for number, row in enumerate(rows, 1) if any(map(str.strip, row)))
