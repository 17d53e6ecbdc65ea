"""Convert a workbook (XLSX, XLS, XLSB, ODS) to Markdown: a section for each sheet.

Formulas are not computed: the values that the spreadsheet program saved are read.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from python_calamine import CalamineWorkbook, SheetVisibleEnum

from roamtui.sources.convert.converted import ZIP_START, ConvertedText
from roamtui.sources.convert.escaping import escape_inline, escape_line_starts, write_heading
from roamtui.sources.convert.sheet_extras import (
    RAISED_END,
    RAISED_START,
    mark_raised,
    read_text_boxes,
)
from roamtui.sources.convert.tables import MarkdownCell, is_header, write_cell, write_table
from roamtui.sources.convert.zip_package import BYTES_MAX, ZIP_ERRORS, ZipPackage

_CELLS_MAX = 4_000_000
"""Maximum number of cells that are read of a sheet, empty ones included."""
_WHOLE_MAX = 1e21
"""A whole number from here on is written with an exponent."""


def convert_sheets(data: bytes, name: str) -> ConvertedText:
    """Convert a workbook to Markdown."""
    texts: list[str] = []
    notes: list[str] = []
    package = ZipPackage(data, name, part_bytes_max=BYTES_MAX) if data.startswith(ZIP_START) else None
    text_boxes: dict[str, list[str]] = {}
    with contextlib.suppress(*ZIP_ERRORS):  # calamine reads the cells of some damaged files
        if package:
            text_boxes = read_text_boxes(package)
            data = mark_raised(package, data)
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    for entry in book.sheets_metadata:
        sheet = book.get_sheet_by_name(entry.name)
        row_count = _CELLS_MAX // max(1, sheet.total_width)
        if sheet.total_height > row_count:
            notes.append(f"only the first {row_count:,} rows of {entry.name} were read.")
        grid = [[*map(_format_cell, row)] for row in sheet.to_python(skip_empty_area=False, nrows=row_count)]
        boxes = [escape_line_starts(escape_inline(text)) for text in text_boxes.get(entry.name, ())]
        if blocks := [*_write_blocks(grid), *boxes]:
            is_visible = entry.visible == SheetVisibleEnum.Visible
            title = escape_inline(entry.name) + ("" if is_visible else " (hidden)")
            texts += [write_heading(1, title), *blocks]
    return ConvertedText(
        text="\n\n".join(texts) + "\n", title=package.read_title() if package else "", notes=tuple(notes)
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


def _write_blocks(grid: list[list[str]]) -> Iterator[str]:
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
            cells = [[row[column] for column in columns] for row in rows[top:]]
            has_header = len(cells) > 1 and is_header(filter(None, cells[0]))
            heads = cells.pop(0) if has_header else [""] * len(columns)
            yield from write_table(heads, cells, number + top + has_header)
        number += len(rows)
