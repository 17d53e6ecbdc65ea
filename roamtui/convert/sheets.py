"""Convert a workbook (XLSX, XLS, XLSB, ODS) to Markdown: sections for sheets and named areas.

Formulas are not computed: the values that the spreadsheet program saved are read.
"""

import contextlib
import html
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import groupby

from python_calamine import CalamineWorkbook, SheetVisibleEnum

from roamtui.convert.converted import ZIP_START, ConvertedText
from roamtui.convert.escaping import escape_inline, escape_line_starts, write_heading
from roamtui.convert.sheet_extras import (
    RAISED_END,
    RAISED_START,
    SheetExtras,
    mark_raised,
    read_extras,
)
from roamtui.convert.tables import MarkdownCell, is_header, write_cell, write_table
from roamtui.convert.zip_package import BYTES_MAX, ZIP_ERRORS, ZipPackage
from roamtui.plain import format_count

_CELLS_MAX = 4_000_000
"""Maximum number of cells that are read of a sheet, empty ones included."""
_MERGED_MAX = 1_000_000
"""Maximum number of cells that merged cells may fill."""
_MERGED_LENGTH_MAX = 200
"""A longer text is not repeated in the cells that a merged cell covers."""
_WHOLE_MAX = 1e21
"""A whole number from here on is written with an exponent."""
_NAMED_AREA = re.compile(
    r'<(?:definedName|table|table:named-range)\s[^>]*?\bname="(?!_xlnm)([^"]*)"[^>]*?(?:(?:ref|range-address)="|>)([^"<]+)'
)
"""The name and the address of a table or an area, in the XML of Excel and of OpenDocument."""


def convert_sheets(data: bytes, name: str) -> ConvertedText:
    """Convert a workbook to Markdown."""
    texts: list[str] = []
    notes: list[str] = []
    left_out: list[str] = []
    package = ZipPackage(data, name, part_bytes_max=BYTES_MAX) if data.startswith(ZIP_START) else None
    extras: dict[str, SheetExtras] = {}
    with contextlib.suppress(*ZIP_ERRORS):  # calamine reads the cells of some damaged files
        if package:
            extras = read_extras(package)
            data = mark_raised(package, data)
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    for entry in book.sheets_metadata:
        sheet = book.get_sheet_by_name(entry.name)
        row_count = _CELLS_MAX // max(1, sheet.total_width)
        if sheet.total_height > row_count:
            notes.append(f"only the first {row_count:,} rows of {entry.name} were read.")
            left_out.append(f"all rows of {entry.name} after the first {row_count:,}")
        grid = [[*map(_format_cell, row)] for row in sheet.to_python(skip_empty_area=False, nrows=row_count)]
        extra = extras.get(entry.name, SheetExtras())
        _add_extras(grid, extra)
        merged = dict(_iter_merged(grid, sheet.merged_cell_ranges or ()))
        if extra.not_computed:
            formulas = format_count(extra.not_computed, "formula")
            notes.append(
                f"no value is saved for {formulas} of {entry.name}. Save the file in a spreadsheet program."
            )
        boxes = [escape_line_starts(escape_inline(text)) for text in extra.boxes]
        if blocks := [*_write_blocks(grid, merged), *boxes]:
            is_visible = entry.visible == SheetVisibleEnum.Visible
            title = escape_inline(entry.name) + ("" if is_visible else " (hidden)")
            texts += [write_heading(1, title), *blocks]
    names = ("xl/workbook.xml", "xl/tables/", "content.xml")
    parts = map(package.read, package.list_names(*names)) if package else ()
    areas = [
        f"- {escape_inline(': '.join(map(html.unescape, area.groups())))}"
        for part in parts
        for area in _NAMED_AREA.finditer(part.decode("utf-8", "replace"))
    ]
    if areas:
        texts += [write_heading(1, "Named areas"), "\n".join(areas)]
    return ConvertedText(
        text="\n\n".join(texts) + "\n",
        title=package.read_title() if package else "",
        notes=tuple(notes),
        left_out=tuple(left_out),
    )


def _format_cell(value: object) -> str:  # noqa: PLR0911 - one for each type
    """Write a value as text: numbers with all their digits, a date as ISO and without midnight."""
    match value:
        case str() if RAISED_START in value:
            marked = escape_inline(value).replace(RAISED_START, "<sup>").replace(RAISED_END, "</sup>")
            return MarkdownCell(marked)
        case str():
            return value
        case bool():
            return str(value).upper()
        case float() if value.is_integer() and abs(value) < _WHOLE_MAX:
            return str(int(value))
        case float():
            return f"{value:.15g}"  # all that Excel shows
        case datetime():
            return str(value).removesuffix(" 00:00:00")
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case _:
            return str(value)


def _add_extras(grid: list[list[str]], extra: SheetExtras) -> None:
    """Write errors and percent signs, and make links of the cells that have one."""
    for (row, column), value in extra.values.items():
        if row < len(grid) and column < len(grid[row]):
            grid[row][column] = value
    for (row, column), target in extra.links.items():
        cell = _get_cell(grid, row, column)
        if cell and cell != target:
            grid[row][column] = MarkdownCell(f"[{write_cell(cell)}]({target})")


def _get_cell(grid: list[list[str]], row: int, column: int) -> str:
    return grid[row][column] if row < len(grid) and column < len(grid[row]) else ""


def _iter_merged(
    grid: list[list[str]], areas: Iterable[tuple[tuple[int, int], tuple[int, int]]]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the cells that merged cells cover, with their text. Rows without other words are left out."""
    room = _MERGED_MAX
    for (top, left), (bottom, right) in areas:
        text = _get_cell(grid, top, left)
        if not text or len(text) > _MERGED_LENGTH_MAX:
            continue
        rows = range(top, min(bottom + 1, len(grid)))
        columns = range(left, min(right + 1, len(grid[top])))
        room -= len(rows) * len(columns)
        if room < 0:
            return
        for row in rows:
            if any(grid[row][:left]) or any(grid[row][right + 1 :]):
                yield from (((row, column), text) for column in columns)


def _write_blocks(grid: list[list[str]], merged: Mapping[tuple[int, int], str]) -> Iterator[str]:
    """Yield rows between empty rows as a table. Rows of one cell above it, such as titles, are paragraphs."""
    number = 1
    for has_text, group in groupby(grid, any):
        rows = [*group]
        top = 0
        while has_text and top < len(rows) and sum(map(bool, rows[top])) == 1:
            top += 1
        yield from (escape_line_starts("".join(map(write_cell, row))) for row in rows[:top])
        if has_text and top < len(rows):
            columns = [column for column in range(len(rows[0])) if any(row[column] for row in rows[top:])]
            cells = [
                [row[column] or merged.get((index, column), "") for column in columns]
                for index, row in enumerate(rows[top:], number + top - 1)
            ]
            has_header = len(cells) > 1 and is_header(filter(None, cells[0]))
            heads = cells.pop(0) if has_header else [""] * len(columns)
            yield from write_table(heads, cells, number + top + has_header)
        number += len(rows)
