"""Convert a workbook (XLSX, XLS, XLSB, ODS) to Markdown: a section for each sheet.

Formulas are not computed. Their values are those that the spreadsheet program saved.
"""

import io
import re
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby, takewhile
from typing import Any

from lxml import etree
from python_calamine import CalamineWorkbook, SheetVisibleEnum

from roamtui.convert.converted import ConvertedText
from roamtui.convert.markdown_table import MarkdownCell, is_header, write_cell, write_long_table
from roamtui.convert.number_format import drop_midnight, format_duration, format_plain_number
from roamtui.convert.odt_styles import OdtStyles, parse_positive_int
from roamtui.convert.xlsx import CELLS_MAX, COLUMNS_MAX, Area, Sheet, Workbook
from roamtui.convert.xml_elements import get_attribute, join_text
from roamtui.convert.zip_package import BYTES_MAX, PART_BYTES_MAX, ZIP_START, ZipPackage
from roamtui.errors import SourceError
from roamtui.markdown.escaping import escape_inline, escape_line_starts, write_heading
from roamtui.markdown.spanned_cells import REPEATED_LENGTH_MAX
from roamtui.text import format_count

_MERGED_MAX = 1_000_000
"""Maximum number of cells that merged cells may fill."""
_LONG_TIME = re.compile(r"PT(\d+)H(\d\d)M(\d\d)(?:[.,]\d+)?S")
"""A duration of more than a day, as an OpenDocument file saves it."""
_RAISED_STYLE = re.compile(rb"text-position=[\"'](?!0)")
_TAG_START, _TAG_END = "\ue002", "\ue003"
"""They stand for < and > in the tags around raised or lowered text in cells of an OpenDocument file."""


def convert_sheets(data: bytes, name: str) -> ConvertedText:
    """Convert a workbook to Markdown.

    Raises:
        SourceError: It is too large, or no sheet can be read.
    """
    texts: list[str] = []
    notes: list[str] = []
    left_out: list[str] = []
    package = ZipPackage(data, name, part_bytes_max=BYTES_MAX) if data.startswith(ZIP_START) else None
    workbook = Workbook(package) if package else None
    if workbook and workbook.is_xlsx:
        sheets = workbook.read_sheets()
    else:
        may_be_raised, sheets = _read_ods(package, data) if package else (False, _read_by_calamine(data))
        if may_be_raised:
            notes.append("raised figures are not marked, so 50³ is read as 503. Split the file.")
            left_out.append("which figures are raised")
    for sheet in sheets:
        blocks = [*_write_blocks(sheet)]
        if sheet.rows_max is not None:
            notes.append(f"only the first {sheet.rows_max:,} rows of {sheet.name} were read.")
            left_out.append(f"all rows of {sheet.name} after the first {sheet.rows_max:,}")
        hidden = {"row": sheet.hidden_rows, "column": sheet.hidden_columns}
        if counts := [
            format_count(len(places), f"hidden {kind}") for kind, places in hidden.items() if places
        ]:
            left_out.append(f"{' and '.join(counts)} of {sheet.name}")
            notes.append(f"{left_out[-1]} left out of the text.")
        if sheet.not_computed:
            formulas = format_count(sheet.not_computed, "formula")
            notes.append(
                f"no value is saved for {formulas} of {sheet.name}. Save the file in a spreadsheet program."
            )
        blocks += (escape_line_starts(escape_inline(text)) for text in sheet.boxes)
        if blocks:
            title = escape_inline(sheet.name) + ("" if sheet.is_visible else " (hidden)")
            texts += [write_heading(1, title), *blocks]
    damage = package.list_damage() if package else ()
    if damage and not texts:
        raise SourceError(
            f"{name} is damaged: no sheet can be read. Save it again in the program that made it."
        )
    return ConvertedText(
        text="\n\n".join(texts) + "\n",
        title=package.read_title() if package else "",
        notes=(*notes, *damage),
        left_out=tuple(left_out),
    )


def _read_by_calamine(data: bytes) -> Iterator[Sheet]:
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    for entry in book.sheets_metadata:
        sheet = book.get_sheet_by_name(entry.name)
        row_count = CELLS_MAX // max(1, sheet.total_width)
        rows: dict[int, dict[int, str]] = {}
        for number, values in enumerate(sheet.to_python(skip_empty_area=False, nrows=row_count)):
            row = {column: text for column, value in enumerate(values) if (text := _format_cell(value))}
            if row:
                rows[number] = row
        yield Sheet(
            name=entry.name,
            is_visible=entry.visible == SheetVisibleEnum.Visible,
            rows=rows,
            merged=sheet.merged_cell_ranges or (),
            rows_max=row_count if sheet.total_height > row_count else None,
        )


def _read_ods(package: ZipPackage, data: bytes) -> tuple[bool, Iterator[Sheet]]:
    """Return the sheets of an OpenDocument file, with numbers as they are shown, and with hidden rows marked.

    Before them, return whether raised texts may be unmarked, because the file is too large to be parsed.
    """
    xml = package.read("content.xml")
    if not xml or len(xml) > PART_BYTES_MAX:
        return _RAISED_STYLE.search(xml) is not None, _read_by_calamine(data)
    content = package.parse("content.xml")
    _show_formats(content, package.parse("styles.xml"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in package.list_names(""):
            archive.writestr(name, etree.tostring(content) if name == "content.xml" else package.read(name))
    tables = {get_attribute(table, "name"): table for table in content.iter("{*}table")}

    def read_sheets() -> Iterator[Sheet]:
        for sheet in _read_by_calamine(stream.getvalue()):
            if (table := tables.get(sheet.name)) is not None:
                sheet.merged = _list_merged(table)
                sheet.hidden_rows = _list_hidden(table, "row", CELLS_MAX)
                sheet.hidden_columns = _list_hidden(table, "column", COLUMNS_MAX)
            yield sheet

    return False, read_sheets()


def _list_merged(table: Any) -> list[Area]:  # noqa: ANN401
    """List the first and the last place of each merged cell of an OpenDocument table."""
    merged: list[Area] = []
    top = 0
    for row in table.iter("{*}table-row"):
        left = 0
        for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            bottom = top + parse_positive_int(cell, "number-rows-spanned") - 1
            right = left + parse_positive_int(cell, "number-columns-spanned") - 1
            if (bottom, right) != (top, left):
                merged.append(((top, left), (bottom, right)))
            left += parse_positive_int(cell, "number-columns-repeated")
        top += parse_positive_int(row, "number-rows-repeated")
    return merged


def _list_hidden(table: Any, kind: str, number_max: int) -> set[int]:  # noqa: ANN401 - lxml has no types
    """List the hidden rows with text, or columns, of an OpenDocument table that are in no group."""
    hidden: set[int] = set()
    number = 0
    for element in table.iter(f"{{*}}table-{kind}"):
        end = min(number_max, number + parse_positive_int(element, f"number-{kind}s-repeated"))
        is_hidden = get_attribute(element, "visibility") in ("collapse", "filter")
        has_text = kind == "column" or next(element.iter("{*}p"), None) is not None
        if is_hidden and has_text and next(element.iterancestors(f"{{*}}table-{kind}-group"), None) is None:
            hidden.update(range(number, end))
        number = end
    return hidden


def _show_formats(content: Any, style_sheet: Any) -> None:  # noqa: ANN401
    """Turn each number and error into the text that is shown for it, unless that lacks a digit or the sign.

    Put tags around raised and lowered text, which would otherwise join the text before it.
    """
    styles = OdtStyles(content, style_sheet)
    for span in content.iter("{*}span"):
        for look in styles.get_style("text", get_attribute(span, "style-name")).formatting & {"super", "sub"}:
            tag = look[:3]
            span.text = f"{_TAG_START}{tag}{_TAG_END}{span.text or ''}{_TAG_START}/{tag}{_TAG_END}"
    for cell in content.iter("{*}table-cell"):
        shown = "".join(map(join_text, cell.iterfind("{*}p")))
        value = get_attribute(cell, "value")
        has_sign = "-" in shown or "-" not in value
        is_whole = has_sign and _list_digits(value) == _list_digits(shown) != ""
        for name in [*cell.attrib]:
            if name.endswith("}string-value") and shown:  # it is empty for an error
                del cell.attrib[name]
            elif name.endswith("}value") and is_whole:
                del cell.attrib[name]
                cell.set(f"{name}-type", "string")


def _list_digits(number: str) -> str:
    """Return the digits of a number in any format, without zeros at both ends. Empty for other text."""
    return "".join(filter(str.isdecimal, number)).strip("0")


def _format_cell(value: object) -> str:  # noqa: PLR0911 - one for each type
    """Write a value as text: numbers with all their digits, a date as ISO and without midnight."""
    match value:
        case str() if _TAG_START in value:
            return MarkdownCell(escape_inline(value).replace(_TAG_START, "<").replace(_TAG_END, ">"))
        case str():
            long_time = _LONG_TIME.fullmatch(value)
            return ":".join(long_time.groups()) if long_time else value
        case bool():
            return str(value).upper()
        case float():
            return format_plain_number(value)
        case datetime():
            return drop_midnight(str(value))
        case timedelta():
            return format_duration(value.total_seconds())
        case _:
            return str(value)


def _list_covered(sheet: Sheet) -> dict[tuple[int, int], str]:
    """Return the cells that merged cells cover, with their text. Rows without other cells are left out."""
    covered: dict[tuple[int, int], str] = {}
    room = _MERGED_MAX
    numbers = sorted(sheet.rows)
    last = max((max(row) for row in sheet.rows.values()), default=0)
    for (top, left), (bottom, right) in sheet.merged:
        text = sheet.rows.get(top, {}).get(left, "")
        if not text or len(text) > REPEATED_LENGTH_MAX:
            continue
        columns = range(left, min(right, last) + 1)
        rows = numbers[bisect_left(numbers, top) : bisect_right(numbers, bottom)]
        room -= len(rows) * len(columns)
        if room < 0:
            break
        for number in rows:
            if any(not left <= column <= right for column in sheet.rows[number]):
                covered |= dict.fromkeys(((number, column) for column in columns), text)
    return covered


def _drop_hidden(sheet: Sheet) -> None:
    """Remove hidden cells. Move merged cells to their first visible place. Forget empty hidden columns."""
    for (top, left), (bottom, right) in sheet.merged:
        number = next((each for each in range(top, bottom + 1) if each not in sheet.hidden_rows), top)
        column = next((each for each in range(left, right + 1) if each not in sheet.hidden_columns), left)
        if (number, column) != (top, left) and (text := sheet.rows.get(top, {}).get(left)):
            sheet.rows.setdefault(number, {})[column] = text
    for number in sheet.hidden_rows:
        sheet.rows[number] = {}
    if sheet.hidden_columns:
        sheet.hidden_columns &= {column for row in sheet.rows.values() for column in row}
        for row in sheet.rows.values():
            for column in sheet.hidden_columns & row.keys():
                del row[column]


def _write_blocks(sheet: Sheet) -> Iterator[str]:
    """Yield rows between empty rows as a table. Rows of one cell above it, such as titles, are paragraphs.

    If the tables would have too many cells, stop, and set `rows_max` of the sheet.
    """
    covered = _list_covered(sheet)
    _drop_hidden(sheet)
    room = CELLS_MAX
    groups = groupby(enumerate(sorted(sheet.rows)), key=lambda entry: entry[1] - entry[0])
    for _, entries in groups:
        group = [number for _, number in entries if sheet.rows[number]]
        titles = [*takewhile(lambda number: len(sheet.rows[number]) == 1, group)]
        for number in titles:
            yield escape_line_starts("".join(map(write_cell, sheet.rows[number].values())))
        numbers = group[len(titles) :]
        columns = sorted({column for number in numbers for column in sheet.rows[number]})
        if len(numbers) * len(columns) > room:
            numbers = numbers[: room // len(columns)]
            sheet.rows_max = numbers[-1] + 1 if numbers else group[0]
        room -= len(numbers) * len(columns)
        if numbers:
            cells = [
                [sheet.rows[number].get(column) or covered.get((number, column), "") for column in columns]
                for number in numbers
            ]
            is_marked = numbers[0] in sheet.header_rows and not sheet.header_rows.issuperset(numbers)
            has_header = len(cells) > 1 and (is_marked or is_header(filter(None, cells[0])))
            heads = cells.pop(0) if has_header else [""] * len(columns)
            yield from write_long_table(heads, cells, [number + 1 for number in numbers[has_header:]])
        if sheet.rows_max is not None and group[-1] >= sheet.rows_max:
            return
