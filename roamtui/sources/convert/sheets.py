"""Write the sheets of a workbook as Markdown: a section for each sheet and each named table, cells as tables."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lxml import etree

from roamtui.errors import SourceError
from roamtui.sources.convert.escaping import escape_inline, escape_line_starts, write_heading
from roamtui.sources.convert.row_tables import is_header, write_table
from roamtui.sources.convert.zip_package import ZipPackage

CELLS_MAX = 4_000_000
"""Maximum number of cells with text in a workbook."""
_SHEET_BYTES_MAX = 200_000_000
_MERGED_CELLS_MAX = 100_000
"""Maximum number of cells that the merged cells of a sheet cover together. Further ones are not filled."""
_TABLE_LENGTH_MAX = 40_000
"""Length, in characters, above which a table is divided into sections: search looks for rows only at their start."""
_SECTION_LENGTH = 20_000
_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_COLUMNS: dict[str, int] = {}


class CellRange(NamedTuple):
    """A rectangle of cells. Rows and columns count from 1. The last row and column are included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """The cells of a sheet that have text."""

    title: str
    is_hidden: bool = False
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    """Text of each cell, by row and then by column."""
    merged: list[CellRange] = field(default_factory=list)
    tables: list[tuple[str, CellRange]] = field(default_factory=list)
    """Names and ranges of the named tables."""


def parse_column(letters: str) -> int:
    """Return the number of a column, such as 28 for ``AB``."""
    if letters not in _COLUMNS:
        number = 0
        for letter in letters.upper():
            number = number * 26 + ord(letter) - 64
        _COLUMNS[letters] = number
    return _COLUMNS[letters]


def parse_range(text: str) -> CellRange | None:
    """Parse a range such as ``$A$1:C9``, or return None if it is not one."""
    corners = [_ADDRESS.fullmatch(corner) for corner in text.split(":")]
    if len(corners) > 2 or not (corners[0] and corners[-1]):
        return None
    columns = sorted(parse_column(corner[1]) for corner in corners if corner)
    rows = sorted(int(corner[2]) for corner in corners if corner)
    return CellRange(rows[0], columns[0], rows[-1], columns[-1])


def iter_elements(
    package: ZipPackage, part: str, *names: str, events: Sequence[str] = ("end",)
) -> Iterator[tuple[str, Any]]:
    """Parse a large part step by step. Yield each event, with its element, of elements with these local names.

    An element is cleared once its end event has been handled.

    Raises:
        SourceError: The part is damaged or too large.
    """
    data = package.read_xml(part, bytes_max=_SHEET_BYTES_MAX)
    if data is None:
        return
    tags = [f"{{*}}{name}" for name in names]
    try:
        for event, element in etree.iterparse(
            io.BytesIO(data), events, tag=tags, resolve_entities=False, no_network=True
        ):
            yield event, element
            if event == "end":
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except etree.XMLSyntaxError:
        raise SourceError(f"{package.name} is damaged. Open it in its own program and save it again.") from None


def write_sheet(sheet: Sheet) -> str:
    """Write a sheet as Markdown, without a line end. Its named tables come last, as sections of their own."""
    spanned = _fill_merged(sheet)
    blocks = [write_heading(1, escape_inline(sheet.title) + " (hidden)" * sheet.is_hidden)]
    tables = []
    for name, area in sheet.tables:
        rows = _take_rows(sheet.rows, area)
        if rows:
            tables += [write_heading(2, escape_inline(name)), *_write_rows(rows, spanned, 3)]
    block: dict[int, Mapping[int, str]] = {}
    for number in sorted(number for number, row in sheet.rows.items() if row):
        if block and number - 1 not in block:
            blocks += _write_rows(block, spanned, 2)
            block = {}
        block[number] = sheet.rows[number]
    blocks += _write_rows(block, spanned, 2)
    return "\n\n".join([*blocks, *tables])


def _fill_merged(sheet: Sheet) -> set[int]:
    """Copy the text of each merged cell to all cells that it covers.

    In the first row of a merged cell, nothing is copied if the row has no other cell, as with a title. Return the rows
    with a merged cell of one row and several columns, next to other cells.
    """
    spanned: set[int] = set()
    room = _MERGED_CELLS_MAX
    for area in sheet.merged:
        text = sheet.rows.get(area.top, {}).get(area.left)
        room -= (area.bottom - area.top + 1) * (area.right - area.left + 1)
        if not text or room < 0:
            continue
        for number in range(area.top, area.bottom + 1):
            row = sheet.rows.setdefault(number, {})
            if number > area.top or any(not area.left <= column <= area.right for column in row):
                row |= dict.fromkeys(range(area.left, area.right + 1), text)
                if area.right > area.left and area.top == area.bottom:
                    spanned.add(number)
    return spanned


def _take_rows(rows: dict[int, dict[int, str]], area: CellRange) -> dict[int, Mapping[int, str]]:
    """Remove the cells of a range from the rows of a sheet, and return those with text."""
    taken: dict[int, Mapping[int, str]] = {}
    for number in sorted(number for number in rows if area.top <= number <= area.bottom):
        row = rows[number]
        cells = {column: row.pop(column) for column in [*row] if area.left <= column <= area.right}
        if cells:
            taken[number] = cells
    return taken


def _write_rows(rows: Mapping[int, Mapping[int, str]], spanned: set[int], level: int) -> Iterator[str]:
    """Yield consecutive rows: single cells above and below a table as paragraphs, and the table between them."""
    numbers = sorted(rows)
    start, end = 0, len(numbers)
    while start < end and len(rows[numbers[start]]) == 1:
        start += 1
    while end > start and len(rows[numbers[end - 1]]) == 1:
        end -= 1
    yield from (_write_paragraph(rows[number]) for number in numbers[:start])
    yield from _write_table([rows[number] for number in numbers[start:end]], numbers[start:end], spanned, level)
    yield from (_write_paragraph(rows[number]) for number in numbers[end:])


def _write_paragraph(row: Mapping[int, str]) -> str:
    return escape_line_starts(escape_inline(" ".join(" ".join(row.values()).split())))


def _write_table(
    rows: Sequence[Mapping[int, str]], numbers: Sequence[int], spanned: set[int], level: int
) -> Iterator[str]:
    """Yield a table in pieces, each with the header. A long table becomes sections at `level`, titled by their rows.

    A header row may follow another one only if that is in `spanned`, the rows with a cell over several columns.
    """
    if not rows:
        return
    columns = sorted(set[int]().union(*rows))
    count = 0
    while (
        count < min(len(rows), 3) and is_header(rows[count].values()) and (not count or numbers[count - 1] in spanned)
    ):
        count += 1
    if count == len(rows):
        count = 0
    heads = [" ".join(dict.fromkeys(filter(None, (row.get(column) for row in rows[:count])))) for column in columns]
    cells = [[row.get(column, "") for column in columns] for row in rows[count:]]
    is_long = sum(len(text) for row in cells for text in row) > _TABLE_LENGTH_MAX
    yield from write_table(heads, cells, numbers[count:], level=level, section_length=_SECTION_LENGTH * is_long)
