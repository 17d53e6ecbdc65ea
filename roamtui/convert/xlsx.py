"""Reads the cells of an Excel workbook (XLSX) as text, one after the other. Empty cells take no memory.

Formulas are not computed. Their values are those that the spreadsheet program saved.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from msgspec import Struct, field

from roamtui.convert.html import write_blocks
from roamtui.convert.html_elements import make_absolute_href
from roamtui.convert.html_tree import read_page
from roamtui.convert.markdown_table import MarkdownCell, write_cell
from roamtui.convert.number_format import BUILT_IN_FORMATS, NumberFormat, drop_midnight, format_plain_number
from roamtui.convert.symbol_fonts import SYMBOL_FONT, translate_symbols
from roamtui.convert.xml_elements import get_attribute, get_local_name, is_true, list_paragraphs, parse_int
from roamtui.convert.zip_package import MAIN, Relation, ZipPackage
from roamtui.markdown.escaping import escape_inline, write_link

CELLS_MAX = 4_000_000
"""Maximum number of cells to read from a sheet."""
_ADDRESS = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_CHARACTER_CODE = re.compile("_x([0-9A-Fa-f]{4})_")
_DAYS_TO_1904 = 1_462
_DIGITS = "0123456789"
COLUMNS_MAX = 16_384
_LETTERS_MAX = 3
"""Number of letters of the last column, XFD."""
_EXACT_DIGITS_MAX = 15
_TEXT_KINDS = frozenset({"s", "str", "inlineStr"})
_TAGS_BY_LOOK = {"superscript": "sup", "subscript": "sub"}
Area = tuple[tuple[int, int], tuple[int, int]]
"""The 0-based row and column of the first and of the last cell of an area."""


class Sheet(Struct, kw_only=True):
    """A sheet of a workbook."""

    name: str
    is_visible: bool = True
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    """By 0-based row and column: the texts of the cells that are not empty."""
    header_rows: set[int] = field(default_factory=set)
    """The rows that look like headers: those in bold, and those above a filter or a table of Excel."""
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    """Hidden rows and columns, except those in groups, which a person can unfold."""
    merged: Sequence[Area] = ()
    boxes: list[str] = field(default_factory=list)
    """The paragraphs of its text boxes."""
    not_computed: int = 0
    """Number of formulas without a saved value. Programs that cannot compute write such formulas."""
    rows_max: int | None = None
    """How many rows were read, if there are more. None if all were."""


class Workbook:
    """Reads the sheets of a workbook."""

    def __init__(self, package: ZipPackage) -> None:
        """Open the main part of a workbook. `is_xlsx` is False if there is none."""
        self._main = package.resolve_part("", MAIN, "xl/workbook.xml")
        self._package = package
        self._root = package.parse(self._main)
        self.is_xlsx = get_local_name(self._root) == "workbook"
        self._parts = package.read_relations(self._main) if self.is_xlsx else {}
        self._epoch_days = 0
        self._texts: list[str] = []
        self._formats: dict[str, NumberFormat | None] = {}
        self._symbol_fonts: Mapping[str | None, str] = {}
        self._bold_styles: frozenset[str | None] = frozenset()

    def read_sheets(self) -> Iterator[Sheet]:
        """Yield the sheets in order."""
        settings = next(self._root.iter("{*}workbookPr"), None)
        if settings is not None and is_true(settings.get("date1904")):
            self._epoch_days = _DAYS_TO_1904
        styles = self._package.parse(self._package.resolve_part(self._main, "styles", "xl/styles.xml"))
        self._formats = _read_formats(styles)
        fonts = _read_fonts(styles)
        self._bold_styles = frozenset(style for style, font in fonts.items() if is_true(font.get("b")))
        names = ((style, font.get("name", "")) for style, font in fonts.items())
        self._symbol_fonts = {style: name for style, name in names if SYMBOL_FONT.fullmatch(name)}
        strings = self._package.resolve_part(self._main, "sharedStrings", "xl/sharedStrings.xml")
        if self._package.has(strings):
            self._texts += map(_read_text, self._package.iter_elements(strings, "si"))
        for entry in self._root.iter("{*}sheet"):
            sheet = Sheet(name=entry.get("name", ""), is_visible=entry.get("state", "visible") == "visible")
            if relation := self._parts.get(get_attribute(entry, "id")):
                self._fill_sheet(sheet, relation.target)
            yield sheet

    def _fill_sheet(self, sheet: Sheet, part: str) -> None:
        relations = self._package.read_relations(part)
        links: dict[tuple[int, int], str] = {}
        merged: list[Area] = []
        row_number = -1
        cell_count = 0
        names = ("col", "row", "autoFilter", "mergeCell", "hyperlink")
        for element in self._package.iter_elements(part, *names):
            name = get_local_name(element)
            area = _parse_area(element.get("ref", ""))
            if name == "col" and _is_hidden(element):
                last = min(COLUMNS_MAX, parse_int(element.get("max")))
                sheet.hidden_columns.update(range(parse_int(element.get("min")) - 1, last))
            elif name == "row" and sheet.rows_max is None:
                number = element.get("r", "")
                row_number = int(number) - 1 if number.isdecimal() else row_number + 1
                cell_count += self._add_row(sheet, row_number, element)
                if cell_count > CELLS_MAX:
                    sheet.rows_max = row_number + 1
            elif name == "autoFilter" and area:
                sheet.header_rows.add(area[0][0])
            elif name == "mergeCell" and area:
                merged.append(area)
            elif name == "hyperlink" and area:
                relation = relations.get(get_attribute(element, "id"))
                if relation and relation.is_external:
                    links[area[0]] = relation.target
        sheet.merged = merged
        self._add_relations(sheet, relations.values(), links)

    def _add_relations(
        self, sheet: Sheet, relations: Iterable[Relation], links: Mapping[tuple[int, int], str]
    ) -> None:
        for (row_number, column), target in links.items():
            cell = sheet.rows.get(row_number, {}).get(column, "")
            href = make_absolute_href(target, None)
            if cell not in ("", href) and href:
                sheet.rows[row_number][column] = MarkdownCell(write_link(write_cell(cell), href))
        for relation in relations:
            if relation.kind == "drawing":
                sheet.boxes += list_paragraphs(self._package.parse(relation.target))
            elif relation.kind == "table":
                table = self._package.parse(relation.target)
                area = _parse_area(table.get("ref", ""))
                sheet.header_rows |= {area[0][0]} if area and table.get("headerRowCount") != "0" else set()

    def _add_row(self, sheet: Sheet, number: int, element: Any) -> int:  # noqa: ANN401
        """Add a row, and return how many cells with text it has."""
        row = self._read_row(element, sheet)
        if row:
            sheet.rows[number] = row
            if _is_hidden(element):
                sheet.hidden_rows.add(number)
            if all(cell.get("s") in self._bold_styles for cell in element if len(cell)):
                sheet.header_rows.add(number)
        return len(row)

    def _read_row(self, element: Any, sheet: Sheet) -> dict[int, str]:  # noqa: ANN401
        """Return the texts of a row by column. Add its formulas without a value to `sheet.not_computed`."""
        space = element.tag[: -len("row")]
        value_tag = f"{space}v"
        formula_tag = f"{space}f"
        text_tag = f"{space}is"
        row: dict[int, str] = {}
        column = -1
        for cell in element:
            letters = cell.get("r", "").rstrip(_DIGITS)
            column = _read_column(letters) if 0 < len(letters) <= _LETTERS_MAX else column + 1
            kind = cell.get("t")
            value = ""
            is_formula = False
            for part in cell:
                if part.tag == value_tag:
                    value = part.text or ""
                elif part.tag == formula_tag:
                    is_formula = True
                elif part.tag == text_tag:
                    value = _read_text(part)
            sheet.not_computed += is_formula and not value and kind != "str"
            if value and (text := self._write_value(value, kind, cell.get("s"))):
                font = self._symbol_fonts.get(cell.get("s")) if kind in _TEXT_KINDS else None
                row[column] = translate_symbols(text, font) if font else text
        return row

    def _write_value(self, value: str, kind: str | None, style: str | None) -> str:
        number_format = self._formats.get(style or "0")
        match kind:
            case "s":
                number = int(value) if value.strip().isdecimal() else len(self._texts)
                text = self._texts[number] if number < len(self._texts) else ""
            case "str":
                text = _decode_characters(value)
            case "inlineStr":
                text = value
            case "b":
                return "FALSE" if value.strip() == "0" else "TRUE"
            case "d":
                return drop_midnight(value.replace("T", " "))
            case "e":
                return value
            case _:
                return self._write_number(value, number_format)
        before, after = number_format.words_around_text if number_format and text else ("", "")
        if isinstance(text, MarkdownCell):
            return MarkdownCell(escape_inline(before) + text + escape_inline(after))
        return before + text + after

    def _write_number(self, value: str, number_format: NumberFormat | None) -> str:
        if number_format is None and value.isdecimal() and len(value) <= _EXACT_DIGITS_MAX:
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        if number_format is None:
            return format_plain_number(number)
        return number_format.format_number(number, self._epoch_days)


def _is_hidden(element: Any) -> bool:  # noqa: ANN401
    """Return whether a row or column is hidden, and not in a group, which a person can unfold."""
    return is_true(element.get("hidden")) and not is_true(element.get("outlineLevel"))


def _read_formats(root: Any) -> dict[str, NumberFormat | None]:  # noqa: ANN401
    codes = {str(number): code for number, code in BUILT_IN_FORMATS.items()}
    codes |= {each.get("numFmtId", ""): each.get("formatCode", "") for each in root.iter("{*}numFmt")}
    formats = {key: NumberFormat(code) for key, code in codes.items() if code not in ("", "@", "General")}
    cell_formats = root.iterfind("{*}cellXfs/{*}xf")
    return {
        str(style): formats.get(cell_format.get("numFmtId", ""))
        for style, cell_format in enumerate(cell_formats)
    }


def _read_fonts(root: Any) -> dict[str | None, Mapping[str, str]]:  # noqa: ANN401
    """Return the properties of the font of each style. A property without a value gets "1", for on."""
    fonts = [
        {get_local_name(each): each.get("val", "1") for each in font}
        for font in root.iterfind("{*}fonts/{*}font")
    ]
    numbers = (parse_int(style.get("fontId"), -1) for style in root.iterfind("{*}cellXfs/{*}xf"))
    return {str(style): fonts[number] for style, number in enumerate(numbers) if 0 <= number < len(fonts)}


def _read_text(item: Any) -> str:  # noqa: ANN401
    """Return a text with marks around raised and lowered letters, and without the readings of Asian words."""
    pieces: list[tuple[str, str]] = []
    for part in item.iterchildren("{*}t", "{*}r"):
        look = part.find("{*}rPr/{*}vertAlign")
        tag = "" if look is None else _TAGS_BY_LOOK.get(look.get("val"), "")
        pieces.append((_decode_characters("".join(part.itertext("{*}t"))), tag))
    if not any(tag for _, tag in pieces):
        return "".join(text for text, _ in pieces)
    html = (f"<{tag}>{escape(text)}</{tag}>" if tag else escape(text) for text, tag in pieces)
    return MarkdownCell(" ".join(write_blocks(read_page("".join(html))[0])))


def _decode_characters(text: str) -> str:
    """Replace the codes that Excel writes for characters that XML cannot hold."""
    return _CHARACTER_CODE.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text


def _parse_area(address: str) -> Area | None:
    corners = [(int(row) - 1, _read_column(column)) for column, row in _ADDRESS.findall(address)]
    return (corners[0], corners[-1]) if corners else None


@lru_cache(maxsize=20_000)
def _read_column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
