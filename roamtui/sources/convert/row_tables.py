"""Write rows of cells as Markdown tables, in sections if there are many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from roamtui.sources.convert.escaping import escape_inline, write_heading

_SECTION_LENGTH = 4_000
"""Length of the rows in a section, in characters, so that a section has one page."""
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[%$€£¥]?\)?")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")


def is_header(cells: Iterable[str]) -> bool:
    """Check whether no cell of a row is a number other than a year."""
    return all(_YEAR.fullmatch(text) or not _NUMBER.fullmatch(text) for text in cells)


def write_table(heads: Sequence[str], rows: Sequence[Sequence[str]], first_number: int = 1) -> Iterator[str]:
    """Yield a table. A long one is divided into sections, each with the header.

    The title of a section has the numbers of its first and last row.
    """
    top = f"{_write_line(heads)}\n|{' --- |' * len(heads)}"
    lines = [_write_line(row) for row in rows]
    if sum(map(len, lines)) <= _SECTION_LENGTH:
        yield "\n".join([top, *lines])
        return
    start = length = 0
    for number, line in enumerate(lines):
        length += len(line)
        if length >= _SECTION_LENGTH or number == len(lines) - 1:
            yield write_heading(2, f"Rows {first_number + start}–{first_number + number}")
            yield "\n".join([top, *lines[start : number + 1]])
            start, length = number + 1, 0


def _write_line(cells: Sequence[str]) -> str:
    texts = (cell if cell.isalnum() else escape_inline(" ".join(cell.split())).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(texts)} |"
