"""XLSX and ODS as Markdown: files that LibreOffice and openpyxl wrote, long sheets, and hostile ones."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from roamtui.document.source_loader import build_library
from roamtui.errors import SourceError
from roamtui.outline.spans import split_pages
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.convert.conversion import convert, detect_format
from roamtui.sources.convert.converted import ConvertedText, Format
from roamtui.sources.convert.ods import convert_ods
from roamtui.sources.convert.xlsx import convert_xlsx
from roamtui.sources.read import read_file
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import pack
from tests.sources.convert.sample_files import BOMB, read_sample, replace_part

_XLSX, _ODS, _ORDERS = map(read_sample, ("budget.xlsx", "budget.ods", "orders.xlsx"))
_SHEET = "xl/worksheets/sheet1.xml"


def _write_sheet(rows: str, *, more: str = "") -> bytes:
    """Return a workbook with one sheet, its rows as XML."""
    relations = '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>'
    names = '<workbook xmlns:r="r"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>'
    sheet = f"<worksheet><sheetData>{rows}</sheetData>{more}</worksheet>"
    return pack({"xl/workbook.xml": names, "xl/_rels/workbook.xml.rels": relations, _SHEET: sheet})


def _convert(name: str) -> ConvertedText:
    converted = convert(read_sample(name), name)
    assert converted is not None
    return converted


@pytest.mark.parametrize(("name", "percent"), [("budget.xlsx", "25%"), ("budget.ods", "25.0%")])
def test_a_workbook_of_libreoffice_has_a_section_for_each_sheet_and_named_table(name: str, percent: str) -> None:
    text = _convert(name).text
    assert read_outline(text) == [(1, "Budget"), (1, "Crew list"), (2, "Crew"), (1, "Old (hidden)")]
    assert text.startswith("# Budget\n\nYearly budget\n\n| Yard | 2024 Plan | 2024 Actual | Share | Since |\n| --- |")
    assert f"| Hull\\|East | 1200 | 1300.5 | {percent} | 2019-05-01 |\n| Brest | 800 | 0.1 | 75.5% |" in text
    assert "| # unknown \\<b> |" in text
    assert "| Sum | 2000 | 1300.6 |  |  |\n\nSource: the yards\n" in text  # formulas' values
    assert "# Crew list\n\nApart\n\n## Crew\n\n| Name | Born |\n| --- | --- |\n| Ada | 1815 |" in text


def test_tables_charts_comments_and_values_that_were_never_saved() -> None:
    converted = _convert("orders.xlsx")
    assert converted.text.startswith("# Orders\n\nOrders of May\n\n=SUM(B4:B5)\n\n## Parts\n\n| Part | Units |\n")
    assert converted.notes == (
        "orders.xlsx: converted from XLSX without 1 chart, 1 comment; line numbers refer to the converted text.",
        "orders.xlsx: 1 formula has no saved value. Save the file again in Excel or LibreOffice.",
    )


def test_macros_are_never_run() -> None:
    data = replace_part(_ORDERS, "xl/vbaProject.bin", "", "Sub Auto_Open()")
    assert convert_xlsx(data, "a.xlsm").lost == "1 chart, 1 comment, macros, which are never run"
    assert detect_format(data, "a") is Format.XLSX
    assert detect_format(_ODS, "a") is Format.ODS


def test_numbers_and_merged_cells() -> None:
    cells = '<c r="A1"><v>0.30000000000000004</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="e"><v>#REF!</v></c>'
    rows = f'<row r="1">{cells}</row><row r="2"><c t="inlineStr"><is><t>North</t></is></c><c><v>1.5E3</v></c></row>'
    rows += '<row r="3"><c r="B3"><v>7</v></c></row>'
    merged = '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="A4:XFD1048576"/></mergeCells>'
    text = convert_xlsx(_write_sheet(rows, more=merged), "a.xlsx").text
    rows = "| 0.3 |  | TRUE | #REF! |\n| North | 1500 |  |  |\n| North | 7 |  |  |"
    assert text == f"# S\n\n|  |  |  |  |\n| --- | --- | --- | --- |\n{rows}\n"


def _write_rows(count: int) -> str:
    cells = '<row><c t="str"><v>City {0}</v></c><c><v>{0}</v></c><c t="str"><v>note {0}</v></c></row>'
    head = '<row><c t="str"><v>City</v></c><c t="str"><v>Units</v></c><c t="str"><v>Note</v></c></row>'
    return head + "".join(cells.format(number) for number in range(count))


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_found_by_search_and_by_page(tmp_path: Path) -> None:
    (tmp_path / "long.xlsx").write_bytes(_write_sheet(_write_rows(100_000)))
    started = time.process_time()
    library = build_library(read_file(tmp_path / "long.xlsx"))
    assert time.process_time() - started < 5  # the conversion itself runs in another process
    hits = KeywordSearcher(library).search("note 77770", limit=3)
    assert hits[0].snippet == "City: City 77770; Units: 77770; Note: note 77770"
    section = library.node(hits[0].section_id)
    assert section.path[-1].startswith("Rows 77")
    text = library.own_text(section.id)
    pages = split_pages(text)
    assert len(pages) > 1
    assert all("| City | Units | Note |" in text[start:end] for start, end in pages)


def test_a_long_sheet_is_divided_by_rows() -> None:
    text = convert_xlsx(_write_sheet(_write_rows(3_000)), "a.xlsx").text
    titles = [title for _, title in read_outline(text)]
    assert titles[:2] == ["S", "Rows 2–703: City 0 … City 701"]
    assert titles[-1].startswith("Rows ")
    assert titles[-1].endswith(" … City 2999")
    assert text.count("note 1500 ") == 1


def test_empty_cells_cost_nothing() -> None:
    far = '<row r="1048576"><c r="XFD1048576" t="str"><v>far</v></c></row>'
    rows = f"<row>{'<c s=`1`/>' * 16_000}</row>".replace("`", '"') * 63 + far
    assert convert_xlsx(_write_sheet(f'<row r="1"><c><v>1</v></c></row>{rows}'), "a.xlsx").text == "# S\n\n1\n\nfar\n"
    cells = '<table-cell number-columns-repeated="16384"/>'
    sheet = f'<table name="S"><table-row number-rows-repeated="1048575">{cells}</table-row><table-row>{cells}'
    sheet += '<table-cell value-type="float" value="3" number-columns-repeated="99999"/></table-row></table>'
    text = convert_ods(pack({"content.xml": f"<x>{sheet}</x>"}), "a.ods").text
    assert text.count("3 ") == 1_000


_LOL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (pack({"xl/workbook.xml": "<x/>"}), "a.xlsx", "contains no text"),
        (pack({"x": "y"}), "a.xlsx", "not an Excel workbook"),
        (pack({"x": "y"}), "a.ods", "not an OpenDocument spreadsheet"),
        (replace_part(_XLSX, _SHEET, "<sheetData>", "<sheetDta>"), "a.xlsx", "is damaged"),
        (replace_part(_XLSX, _SHEET, "<worksheet", f"{_LOL}<worksheet"), "a.xlsx", "declares XML entities"),
        (replace_part(_ODS, "content.xml", "<office:doc", f"{_LOL}<office:doc"), "a.ods", "declares XML entities"),
        (
            replace_part(_ODS, "META-INF/manifest.xml", "</manifest:m", "<encryption-data/></manifest:m"),
            "a.ods",
            "passw",
        ),
        (BOMB, "a.ods", "contains no text|is damaged|too large"),
        (pack({"xl/workbook.xml": " " * 40_000_000}), "a.xlsx", "too large when unpacked"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.xlsx", "password-protected"),
        (_write_sheet("<row>" * 3_000), "a.xlsx", "is damaged"),
    ],
)
def test_an_unreadable_file_is_refused_in_one_sentence(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        convert(data, name)
