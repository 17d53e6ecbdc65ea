"""Convert an OpenDocument spreadsheet to Markdown. The text of each cell is what a spreadsheet program shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, PageReport, format_lost
from roamtui.sources.convert.odt import CONTENT_PART, check_not_encrypted, list_lost_macros
from roamtui.sources.convert.sheets import CELLS_MAX, CellRange, Sheet, iter_elements, parse_range, write_sheet
from roamtui.sources.convert.zip_package import ZipPackage, get_attribute, get_local_name

_REPEATED_MAX = 1_000
"""Maximum number of times that a repeated row or cell is written."""
_AREA = re.compile(r"\$?(?:'((?:[^']|'')+)'|([^'.$]+))\.(\$?[A-Z]+\$?\d+):(?:.*\.)?(\$?[A-Z]+\$?\d+)")
_OBJECT_PART = re.compile(r"[^/]+/content\.xml")
_VALUES = ("value", "date-value", "time-value", "string-value", "boolean-value")
_COUNTS = ("number-columns-repeated", "number-columns-spanned", "number-rows-spanned")


def convert_ods(data: bytes, name: str, *, report: PageReport | None = None) -> ConvertedText:
    """Convert a spreadsheet to Markdown. Formulas are not computed: the saved values are read."""
    package = ZipPackage(data, name)
    check_not_encrypted(package)
    if CONTENT_PART not in package.parts:
        raise SourceError(f"{name} is damaged or not an OpenDocument spreadsheet. Save it again as ODS.")
    sheets: list[Sheet] = []
    named_ranges: list[tuple[str, str]] = []
    number = cell_count = 0
    hidden: set[str] = set()
    tags = ("table", "table-row", "database-range", "named-range", "table-properties")
    for event, element in iter_elements(package, CONTENT_PART, *tags, events=("start", "end")):
        kind = get_local_name(element)
        if kind == "table" and event == "start":
            title = " ".join(get_attribute(element, "name").split())
            sheets.append(Sheet(title, is_hidden=get_attribute(element, "style-name") in hidden))
            number = 1
            if report is not None:
                report(len(sheets), 0, "")
        elif kind == "table-row" and event == "end" and sheets:
            count = _parse_count(get_attribute(element, "number-rows-repeated"))
            cells, merged = _read_row(element, number)
            if cells and cell_count < CELLS_MAX:
                repeated = min(count, _REPEATED_MAX)
                sheets[-1].rows |= {row: dict(cells) for row in range(number, number + repeated)}
                sheets[-1].merged += merged
                cell_count += len(cells) * repeated
            number += count
        elif kind == "table-properties" and get_attribute(element, "display") == "false":
            hidden.add(get_attribute(element.getparent(), "name"))
        elif kind.endswith("-range") and event == "end":
            address = get_attribute(element, "target-range-address") or get_attribute(element, "cell-range-address")
            named_ranges.append((get_attribute(element, "name"), address))
    _add_tables(sheets, named_ranges)
    texts = [write_sheet(sheet) for sheet in sheets if sheet.rows]
    if not texts:
        raise SourceError(f"{name} contains no text: all its cells are empty.")
    lost = Counter(picture=sum(part.startswith("Pictures/") for part in package.parts))
    for part in filter(_OBJECT_PART.fullmatch, package.parts):
        lost["chart" if b"<office:chart" in (package.read(part) or b"") else "embedded object"] += 1
    return ConvertedText(
        text="\n\n".join(texts) + "\n",
        title=package.read_title(),
        notes=(f"Only the first {CELLS_MAX:,} cells were read.",) if cell_count >= CELLS_MAX else (),
        lost=format_lost(lost, *list_lost_macros(package)),
    )


def _add_tables(sheets: Sequence[Sheet], named_ranges: Iterable[tuple[str, str]]) -> None:
    """Add each named range, given with its address, to the sheet that contains it."""
    for name, address in named_ranges:
        match = _AREA.fullmatch(address)
        area = parse_range(f"{match[3]}:{match[4]}") if match else None
        for sheet in sheets:
            is_area = match and sheet.title == (match[1] or "").replace("''", "'") + (match[2] or "")
            if is_area and area and area.bottom > area.top and area.right > area.left:
                sheet.tables.append((name, area))


def _read_row(row: Any, number: int) -> tuple[dict[int, str], list[CellRange]]:  # noqa: ANN401 - lxml has no types
    """Return the text of each cell of a row by its column, and the merged cells that start in the row."""
    cells: dict[int, str] = {}
    merged: list[CellRange] = []
    column = 1
    for cell in row:
        attributes = {name.rpartition("}")[2]: value for name, value in cell.attrib.items()}
        count, columns, rows = (_parse_count(attributes.get(name, "")) for name in _COUNTS)
        text = _read_text(cell, attributes) if len(cell) or "value-type" in attributes else ""
        if text:
            cells |= dict.fromkeys(range(column, column + min(count, _REPEATED_MAX)), text)
            if columns > 1 or rows > 1:
                merged.append(CellRange(number, column, number + rows - 1, column + columns - 1))
        column += count
    return cells, merged


def _read_text(cell: Any, attributes: Mapping[str, str]) -> str:  # noqa: ANN401 - lxml has no types
    """Return the text that a cell shows, or its value if it shows none."""
    texts = (_join_text(paragraph) for paragraph in cell.iterfind("{*}p"))
    shown = " ".join(filter(None, texts))
    return shown or next((attributes[name] for name in _VALUES if name in attributes), "")


def _join_text(paragraph: Any) -> str:  # noqa: ANN401 - lxml has no types
    if not len(paragraph):
        return paragraph.text or ""
    pieces = [paragraph.text or ""]
    for child in paragraph:
        pieces += [" " if get_local_name(child) in ("s", "tab", "line-break") else _join_text(child), child.tail or ""]
    return "".join(pieces)


def _parse_count(value: str) -> int:
    return max(1, int(value)) if value.isdigit() and len(value) < 8 else 1
