"""Convert an Excel workbook to Markdown. Formulas are not computed: the values that Excel saved are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import MACROS_LOST, ConvertedText, PageReport, format_lost
from roamtui.sources.convert.office_parts import MACROS_PART, get_relationship_id, read_relationship_targets
from roamtui.sources.convert.sheets import CELLS_MAX, Sheet, iter_elements, parse_column, parse_range, write_sheet
from roamtui.sources.convert.zip_package import ZipPackage, get_local_name

_WORKBOOK_PART = "xl/workbook.xml"
_STYLES_PART = "xl/styles.xml"
_NAMED_AREA = re.compile(r"(?:'((?:[^']|'')+)'|([^'!]+))!([$A-Za-z0-9]+:[$A-Za-z0-9]+)")
_BUILT_IN_NAME = "_xlnm."
_LOST_PARTS = {"picture": re.compile(r"xl/media/."), "chart": re.compile(r"xl/charts/chart\d+\.xml")}
_COMMENTS_PART = re.compile(r"xl/(?:comments/)?comments?\d*\.xml")
_BUILT_IN_FORMATS = {
    **dict.fromkeys((9, 10), "0%"),
    **dict.fromkeys((*range(14, 18), *range(27, 32), 34, 35, 36, *range(50, 59)), "y-m-d"),
    **dict.fromkeys((*range(18, 22), 32, 33, 45, 47), "h:m:s"),
    22: "y-m-d h:m",
    46: "[h]:m:s",
}
"""Codes of the built-in number formats, which a workbook does not define, by number."""
_FORMAT_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!\$|h+\]|m+\]|s+\])[^\]]*\]')
_CURRENCY = re.compile(r"\[\$([^\]-]{1,5})[^\]]*\]|([$€£¥])")
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - a workbook has no time zones
_DAYS_TO_1904 = 1_462
_DAYS_MAX = 2_958_466
_LONG_NUMBER = 16
"""A number with more characters is rounded to 15 digits, as Excel shows it."""


def convert_xlsx(data: bytes, name: str, *, report: PageReport | None = None) -> ConvertedText:
    """Convert a workbook to Markdown."""
    package = ZipPackage(data, name)
    workbook = package.parse(_WORKBOOK_PART)
    if workbook is None:
        raise SourceError(f"{name} is damaged or not an Excel workbook. Save it again as XLSX.")
    reader = _WorkbookReader(package, workbook)
    sheets = [*workbook.iterfind("{*}sheets/{*}sheet")]
    texts = []
    for number, element in enumerate(sheets):
        if report is not None:
            report(number, len(sheets), "")
        sheet = reader.read_sheet(element)
        if sheet.rows:
            texts.append(write_sheet(sheet))
    if not texts:
        raise SourceError(f"{name} contains no text: all its cells are empty.")
    lost = Counter({kind: sum(map(bool, map(sign.match, package.parts))) for kind, sign in _LOST_PARTS.items()})
    for part in filter(_COMMENTS_PART.fullmatch, package.parts):
        lost["comment"] += len([*package.parse(part).iter("{*}comment")])
    has_macros = any(part.endswith(MACROS_PART) for part in package.parts)
    return ConvertedText(
        text="\n\n".join(texts) + "\n",
        title=package.read_title(),
        notes=tuple(reader.list_notes()),
        lost=format_lost(lost, *((MACROS_LOST,) if has_macros else ())),
    )


class _WorkbookReader:
    """Reads the cells of the sheets of a workbook, as text."""

    def __init__(self, package: ZipPackage, workbook: Any) -> None:  # noqa: ANN401 - lxml has no types
        self._package = package
        self._targets = read_relationship_targets(package, _WORKBOOK_PART)
        properties = workbook.find("{*}workbookPr")
        has_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._epoch = _EPOCH + timedelta(days=_DAYS_TO_1904) if has_1904 else _EPOCH
        self._formats = [*_read_formats(package)]
        strings = next((part for part in self._targets.values() if part.endswith("sharedStrings.xml")), "")
        self._strings = [_join_text(element) for _, element in iter_elements(package, strings, "si")]
        self._areas = [
            (area[1].replace("''", "'") if area[1] else area[2], named.get("name", ""), area[3])
            for named in workbook.iterfind("{*}definedNames/{*}definedName")
            if not named.get("name", "").startswith(_BUILT_IN_NAME)
            and (area := _NAMED_AREA.fullmatch(named.text or ""))
        ]
        self._cell_count = 0
        self._unsaved_count = 0

    def list_notes(self) -> Iterator[str]:
        """Yield a sentence for each kind of value that could not be read."""
        if self._cell_count >= CELLS_MAX:
            yield f"Only the first {CELLS_MAX:,} cells were read."
        if self._unsaved_count:
            formulas = "formula has" if self._unsaved_count == 1 else "formulas have"
            yield f"{self._unsaved_count:,} {formulas} no saved value. Save the file again in Excel or LibreOffice."

    def read_sheet(self, element: Any) -> Sheet:  # noqa: ANN401 - lxml has no types
        """Read a sheet, given its element in the workbook."""
        title = " ".join(element.get("name", "").split())
        part = self._targets.get(get_relationship_id(element), "")
        sheet = Sheet(title, is_hidden=element.get("state", "visible") != "visible")
        number = 0
        for _, found in iter_elements(self._package, part, "row", "mergeCell"):
            if get_local_name(found) == "mergeCell":
                if area := parse_range(found.get("ref", "")):
                    sheet.merged.append(area)
                continue
            position = found.get("r", "")
            number = int(position) if position.isdigit() and len(position) < 8 else number + 1
            if self._cell_count < CELLS_MAX and (cells := self._read_row(found)):
                sheet.rows[number] = cells
                self._cell_count += len(cells)
        for target in read_relationship_targets(self._package, part).values() if part else ():
            table = self._package.parse(target) if "/tables/" in target else None
            if table is not None and (area := parse_range(table.get("ref", ""))):
                sheet.tables.append((table.get("displayName") or table.get("name", ""), area))
        for sheet_title, name, text in self._areas:
            area = parse_range(text)
            if sheet_title == title and area and area.bottom > area.top and area.right > area.left:
                sheet.tables.append((name, area))
        return sheet

    def _read_row(self, row: Any) -> dict[int, str]:  # noqa: ANN401 - lxml has no types
        cells: dict[int, str] = {}
        column = 0
        for cell in row:
            reference = cell.get("r")
            column = parse_column(reference.rstrip("0123456789")[:3]) if reference else column + 1
            if len(cell) and (text := self._read_cell(cell)):
                cells[column] = text
        return cells

    def _read_cell(self, cell: Any) -> str:  # noqa: ANN401 - lxml has no types
        kind = cell.get("t", "n")
        value = formula = ""
        for child in cell:
            name = child.tag.rpartition("}")[2]
            if name == "v":
                value = child.text or ""
            elif name == "is":
                value = _join_text(child)
            elif name == "f":
                formula = child.text or ""
        if not value and formula:
            self._unsaved_count += 1
            return f"={formula}"
        if kind == "s":
            return self._strings[int(value)] if value.isdigit() and int(value) < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind != "n":
            return value
        style = cell.get("s", "0")
        code = self._formats[int(style)] if style.isdigit() and int(style) < len(self._formats) else ""
        try:
            return _format_number(value, code, self._epoch)
        except (ValueError, OverflowError):
            return value


def _join_text(element: Any) -> str:  # noqa: ANN401 - lxml has no types
    """Join the pieces of a rich text, without its phonetic guides."""
    return "".join(text.text or "" for text in element.iter("{*}t") if get_local_name(text.getparent()) != "rPh")


def _read_formats(package: ZipPackage) -> Iterator[str]:
    """Yield the code of the number format of each cell style, without its literal text; empty for a plain number."""
    root = package.parse(_STYLES_PART)
    if root is None:
        return
    codes = {found.get("numFmtId"): found.get("formatCode", "") for found in root.iter("{*}numFmt")}
    for style in root.iterfind("{*}cellXfs/{*}xf"):
        number = style.get("numFmtId", "0")
        code = codes.get(number) or _BUILT_IN_FORMATS.get(int(number) if number.isdigit() else 0, "")
        yield _simplify_format(code)


def _simplify_format(code: str) -> str:
    """Return the part of a number format's code that changes the meaning of a number: date, percent or currency."""
    plain = _FORMAT_LITERAL.sub("", code.partition(";")[0])
    currency = _CURRENCY.search(code.partition(";")[0])
    letters = _CURRENCY.sub("", plain).lower()
    if "general" not in letters and re.search("[ymdhs]", letters):
        return letters
    if "%" in letters:
        return "%"
    return f"¤{currency[1] or currency[2]}" if currency else ""


@lru_cache(maxsize=10_000)
def _format_number(value: str, code: str, epoch: datetime) -> str:
    if code == "%":
        return f"{float(value) * 100:.10g}%"
    if code and code[0] != "¤":
        return _format_date(float(value), code, epoch)
    if len(value) >= _LONG_NUMBER or "E" in value:
        value = f"{float(value):.15g}"
    return f"{code[1:]}{value}" if code else value


def _format_date(days: float, code: str, epoch: datetime) -> str:
    """Format a number of days as a date, a time, both, or a duration."""
    if not 0 <= days < _DAYS_MAX:
        return f"{days:.15g}"
    has_date = re.search("[yd]", code) is not None or ("m" in code and not re.search("[hs]", code))
    seconds = round(days * 86_400)
    if has_date:
        moment = epoch + timedelta(seconds=seconds)
        return f"{moment:%Y-%m-%d}" if not seconds % 86_400 else f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
    minutes, second = divmod(seconds, 60)
    hours = minutes // 60 if "[" in code else minutes // 60 % 24
    return f"{hours:02}:{minutes % 60:02}:{second:02}"
