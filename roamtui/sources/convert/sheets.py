"""Convert a workbook (XLSX, XLS, XLSB, ODS) to Markdown: a section for each sheet and each named table.

Formulas are not computed: the values that the spreadsheet program saved are read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_inline, escape_line_starts, write_heading
from roamtui.sources.convert.row_tables import is_header, write_table
from roamtui.sources.convert.zip_package import ZIP_START, ZipPackage

_TABLES_FOLDER = b"xl/tables/"
_SHEETS_FOLDER = "xl/worksheets/"
_SHEET_BYTES_MAX = 200_000_000
_UNSAVED_FORMULA = re.compile(rb"(?:</f>|<f[^<>]*/>)(?:<v/>|<v></v>)?</c>")
_CELLS_MAX = 4_000_000
"""Maximum number of cells that are read of a sheet, empty ones included."""
_MERGED_CELLS_MAX = 100_000
"""Maximum number of cells that the merged cells of a sheet cover together. Further ones are not filled."""
_TABLE_LENGTH_MAX = 40_000
"""Length, in characters, above which a table is divided into sections: search looks for rows only at their start."""
_SECTION_LENGTH = 20_000
_Grid = list[list[str]]
"""Rows of cells, from the first cell of a sheet."""


def convert_sheets(data: bytes, name: str) -> ConvertedText:
    """Convert a workbook to Markdown."""
    texts: list[str] = []
    notes: list[str] = []
    has_tables = _TABLES_FOLDER in data
    package = ZipPackage(data, name) if data.startswith(ZIP_START) else None
    parts = [part for part in (package.parts if package else ()) if part.startswith(_SHEETS_FOLDER)]
    contents = (package.read(part, bytes_max=_SHEET_BYTES_MAX) or b"" for part in parts if package)
    if unsaved := sum(len(_UNSAVED_FORMULA.findall(content)) for content in contents):
        notes.append(f"Formulas without a saved value: {unsaved:,}. Save the file again in its own program.")
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data), load_tables=has_tables)
        tables = [book.get_table_by_name(table) for table in (book.table_names or ())] if has_tables else []
        for entry in book.sheets_metadata:
            sheet = book.get_sheet_by_name(entry.name)
            row_count = _CELLS_MAX // max(1, sheet.total_width)
            if sheet.total_height > row_count:
                notes.append(f"Only the first {row_count:,} rows of {entry.name} were read.")
            grid = [[*map(_format_cell, row)] for row in sheet.to_python(skip_empty_area=False, nrows=row_count)]
            _fill_merged_cells(grid, sheet)
            sections: list[str] = []
            for table in tables:
                if table.sheet == entry.name and table.start and table.end:
                    area = _take_area(grid, table.start[0] - 1, table.start[1], *table.end)
                    sections += [write_heading(2, escape_inline(table.name)), *_write_blocks(area, 3)]
            sections[:0] = _write_blocks(grid, 2)
            if sections:
                title = escape_inline(entry.name) + " (hidden)" * (entry.visible != SheetVisibleEnum.Visible)
                texts += [write_heading(1, title), *sections]
    except CalamineError:
        raise SourceError(f"{name} is damaged or password-protected. Save it again without a password.") from None
    if not texts:
        raise SourceError(f"{name} contains no text: all its cells are empty.")
    return ConvertedText(
        text="\n\n".join(texts) + "\n",
        title=package.read_title() if package else "",
        notes=tuple(notes),
        lost=package.list_lost() if package else "",
    )


def _format_cell(value: object) -> str:
    """Write a value as text: a whole number without a fraction, a date as ISO."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
    return value.isoformat() if isinstance(value, date) else str(value)


def _fill_merged_cells(grid: _Grid, sheet: CalamineSheet) -> None:
    """Copy the text of each merged cell to all cells that it covers, unless it is alone in its row, as a title is."""
    room = _MERGED_CELLS_MAX
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        covered = grid[top : bottom + 1]
        room -= len(covered) * (right - left + 1)
        if room < 0 or not covered or left >= len(covered[0]):
            continue
        text = covered[0][left]
        has_others = any(covered[0][:left] + covered[0][right + 1 :])
        for row in covered if has_others else covered[1:]:
            row[left : right + 1] = [text] * len(row[left : right + 1])


def _take_area(grid: _Grid, top: int, left: int, bottom: int, right: int) -> _Grid:
    """Remove the cells of a rectangle from a grid, and return them in a grid of their own."""
    area = [[""] * len(row) for row in grid]
    for row, taken in zip(grid[top : bottom + 1], area[top : bottom + 1], strict=True):
        taken[left : right + 1] = row[left : right + 1]
        row[left : right + 1] = [""] * len(taken[left : right + 1])
    return area


def _write_blocks(grid: _Grid, level: int) -> Iterator[str]:
    """Yield each block of rows between empty rows. Long tables become sections at `level`."""
    start = 0
    for end in range(len(grid) + 1):
        if end == len(grid) or not any(grid[end]):
            yield from _write_block(grid, start, end, level)
            start = end + 1


def _write_block(grid: _Grid, start: int, end: int, level: int) -> Iterator[str]:
    """Yield rows without an empty one: single cells above and below a table as paragraphs, and the table."""
    is_single = [sum(map(bool, row)) == 1 for row in grid[start:end]]
    top = start + (is_single.index(False) if False in is_single else len(is_single))
    bottom = end - (is_single[::-1].index(False) if False in is_single else 0)
    for number in range(start, top):
        yield _write_paragraph(grid[number])
    if top < bottom:
        columns = [column for column in range(len(grid[top])) if any(row[column] for row in grid[top:bottom])]
        rows = [[row[column] for column in columns] for row in grid[top:bottom]]
        count = _count_header_rows(rows)
        heads = (dict.fromkeys(filter(None, cells)) for cells in zip(*rows[:count], strict=True))
        head = [" ".join(words) for words in heads] if count else [""] * len(columns)
        is_long = sum(len(cell) for row in rows[count:] for cell in row) > _TABLE_LENGTH_MAX
        numbers = range(top + count + 1, bottom + 1)
        section_length = _SECTION_LENGTH if is_long else 0
        yield from write_table(head, rows[count:], numbers, level=level, section_length=section_length)
    for number in range(bottom, end):
        yield _write_paragraph(grid[number])


def _count_header_rows(rows: _Grid) -> int:
    """Count the rows above the data: one without numbers, or two if a merged cell of the first repeats its text."""
    count = 0
    while count < min(len(rows), 2) and is_header([*filter(None, rows[count])]):
        count += 1
        cells = [*filter(None, rows[count - 1])]
        if len(set(cells)) == len(cells):
            break
    return count % len(rows)


def _write_paragraph(row: list[str]) -> str:
    return escape_line_starts(escape_inline(" ".join(" ".join(filter(None, row)).split())))
