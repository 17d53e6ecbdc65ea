"""Write rows of cells as Markdown tables, in sections if there are many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from roamtui.sources.convert.escaping import escape_inline, write_heading

_PIECE_LENGTH = 4_000
"""Length of the tables in a section, in characters. Each has the header, so that every page of the section shows it."""
_ROW_NAME_LENGTH_MAX = 30
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[%$€£¥]?\)?")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")


def is_header(cells: Iterable[str]) -> bool:
    """Check whether no cell of a row is a number other than a year."""
    return all(_YEAR.fullmatch(text) or not _NUMBER.fullmatch(text) for text in cells)


def write_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = (), *, section_length: int = 0
) -> Iterator[str]:
    """Yield a table in pieces, each with the header.

    With a `section_length`, in characters, there are sections. The title of each has the numbers, from `numbers`, and
    the first cells of its first and last row.
    """
    top = f"{_write_line(heads)}\n|{' --- |' * len(heads)}"
    lines = [_write_line(row) for row in rows]
    for low, high in _split_lines(lines, section_length) if section_length else [(0, len(lines))]:
        if section_length:
            names = dict.fromkeys(_name_row(rows[number]) for number in (low, high - 1))
            span = "–".join(map(str, dict.fromkeys((numbers[low], numbers[high - 1]))))
            label = "Rows" if high - low > 1 else "Row"
            yield write_heading(2, escape_inline(f"{label} {span}: {' … '.join(names)}"))
        for start, end in _split_lines(lines[low:high], _PIECE_LENGTH):
            yield "\n".join([top, *lines[low + start : low + end]])


def _split_lines(lines: Sequence[str], length: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end (exclusive) of each part. A part ends once it has `length` characters."""
    start = total = 0
    for number, line in enumerate(lines, start=1):
        total += len(line)
        if total >= length or number == len(lines):
            yield start, number
            start, total = number, 0


def _name_row(row: Sequence[str]) -> str:
    """Return the first cell with text, shortened."""
    text = " ".join(next(filter(str.strip, row), "").split())
    return text if len(text) <= _ROW_NAME_LENGTH_MAX else f"{text[:_ROW_NAME_LENGTH_MAX]}…"


def _write_line(cells: Sequence[str]) -> str:
    texts = (cell if cell.isalnum() else escape_inline(" ".join(cell.split())).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(texts)} |"
