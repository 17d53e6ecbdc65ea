"""Workbooks as Markdown: every digit and text as it is in its cell, links, text boxes and raised figures."""

import io
import re
import zipfile

import pytest

from roamtui.convert import sheets
from roamtui.convert.converted import ConvertedText
from roamtui.convert.number_format import NumberFormat
from roamtui.convert.sheets import convert_sheets
from roamtui.errors import SourceError
from tests.case_files import read_rows
from tests.convert.samples import pack, read_sample, replace_part

_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_TYPES}"'


def _relate(**targets: str) -> str:
    entries = []
    for kind, target in targets.items():
        mode = "External" if "://" in target else "Internal"
        entries.append(f'<Relationship Id="{kind}" Type="{_TYPES}/{kind}" Target="{target}" TargetMode="{mode}"/>')
    return f'<Relationships xmlns="http://x">{"".join(entries)}</Relationships>'


_STYLES = (
    f'<styleSheet {_MAIN}><numFmts><numFmt numFmtId="164" formatCode="0.0%"/>'
    '<numFmt numFmtId="165" formatCode="0.0&quot;%&quot;"/>'
    '<numFmt numFmtId="166" formatCode="0.0_%_);\\(0.0_%\\)"/>'
    '<numFmt numFmtId="167" formatCode="0;-0;0;[Red]&quot;Item &quot;@&quot;.&quot;_)"/></numFmts>'
    '<fonts><font/><font><b/></font><font><name val="Wingdings"/></font></fonts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    '<xf numFmtId="166"/><xf fontId="1"/><xf fontId="2"/><xf numFmtId="167"/></cellXfs></styleSheet>'
)


def _convert_file(rows: str, *, after: str = "", strings: str = "", **targets: str) -> ConvertedText:
    parts: dict[str, str | bytes] = {
        "_rels/.rels": _relate(officeDocument="xl/workbook.xml"),
        "xl/workbook.xml": (
            f'<workbook {_MAIN}><sheets><sheet name="Fees" sheetId="1" r:id="worksheet"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _relate(worksheet="worksheets/a.xml", sharedStrings="sharedStrings.xml"),
        "xl/worksheets/a.xml": f"<worksheet {_MAIN}><sheetData>{rows}</sheetData>{after}</worksheet>",
        "xl/worksheets/_rels/a.xml.rels": _relate(**targets),
        "xl/styles.xml": _STYLES,
        "xl/sharedStrings.xml": f"<sst {_MAIN}>{strings}</sst>",
        "xl/tables/t.xml": f'<table {_MAIN} ref="A1:C2"/>',
        "xl/drawings/d.xml": '<a:x xmlns:a="a"><a:p><a:t>In </a:t><a:t>a</a:t><a:br/><a:t>box</a:t></a:p></a:x>',
    }
    return convert_sheets(pack(parts), "a.xlsx")


def _convert(rows: str, *, after: str = "", strings: str = "", **targets: str) -> str:
    return _convert_file(rows, after=after, strings=strings, **targets).text


def _row(number: int, *values: str) -> str:
    cells = []
    names = "ABCDE"
    for column, value in enumerate(values):
        kind = "n" if value[0].isdigit() else "str"
        cells.append(f'<c r="{names[column]}{number}" t="{kind}"><v>{value}</v></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'


def test_numbers_have_all_their_digits_and_texts_stay_as_they_are() -> None:
    numbers = ("4111111111111111", "9007199254740991", "1.9999999991653392E+19", "0.1")
    texts = ("Reset at 00:00:00", "x 2025-01-01 00:00:00", "a  b", "=1.10")
    text = _convert(_row(1, "card", "limit", "fee", "rate") + _row(2, *numbers) + _row(3, *texts))
    assert "| 4111111111111111 | 9007199254740991 | 19999999991653392000 | 0.1 |" in text
    assert "| Reset at 00:00:00 | x 2025-01-01 00:00:00 | a b | =1.10 |" in text


def test_a_format_adds_its_words_to_texts() -> None:
    raised = '<si><r><t>7</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>a</t></r></si>'
    cells = (
        '<c t="str" s="7"><v>7A</v></c><c t="s" s="7"><v>0</v></c><c s="7"><v>8</v></c><c t="str" s="4"><v>x</v></c>'
    )
    text = _convert(_row(1, "a", "b", "c", "d") + f"<row>{cells}</row>", strings=raised)
    assert "| Item 7A. | Item 7<sup>a</sup>. | 8 | x |" in text


def test_links_of_cells_and_text_boxes_are_kept() -> None:
    text = _convert(
        _row(1, "Name", "Page") + _row(2, "Oslo", "guide"),
        after='<hyperlinks><hyperlink ref="B2" r:id="hyperlink"/></hyperlinks>',
        hyperlink="https://example.org/guide.pdf",
        drawing="../drawings/d.xml",
    )
    assert "| Oslo | [guide](https://example.org/guide.pdf) |" in text
    assert text.endswith("\n\nIn a box\n")


@pytest.mark.parametrize(("look", "words", "text"), read_rows("convert/sheets", "raised"))
def test_raised_and_lowered_figures_never_join_a_number(look: str, words: tuple[str, str, str], text: str) -> None:
    before, figure, after = (f'<t xml:space="preserve">{part}</t>' for part in words)
    runs = f'<r>{before}</r><r><rPr><vertAlign val="{look}"/></rPr>{figure}</r><r>{after}</r>'
    shared = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    assert text in _convert(shared, strings=f"<si>{runs}</si>")
    assert text in _convert(f'<row r="1"><c r="A1" t="inlineStr"><is>{runs}</is></c></row>')


def _raise_in_ods(position: str) -> bytes:
    """Return an ODS file with a cell in which 3 has a position after 50."""
    span = '<text:p>50<text:span text:style-name="up">3</text:span></text:p>'
    look = f'<style:text-properties style:text-position="{position}"/>'
    style = f'<style:style style:name="up" style:family="text">{look}</style:style>'
    data = replace_part(read_sample("budget.ods"), "content.xml", "<text:p>Brest</text:p>", span)
    return replace_part(data, "content.xml", "</office:automatic-styles>", f"{style}</office:automatic-styles>")


@pytest.mark.parametrize(("position", "text"), read_rows("convert/sheets", "raised_in_ods"))
def test_raised_and_lowered_figures_of_ods_never_join_a_number(position: str, text: str) -> None:
    converted = convert_sheets(_raise_in_ods(position), "a.ods")
    assert f"| {text} |" in converted.text
    assert converted.left_out == ()


def test_raised_figures_that_a_large_file_loses_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _raise_in_ods("33% 58%")
    monkeypatch.setattr(sheets, "PART_BYTES_MAX", 1_000)
    converted = convert_sheets(data, "a.ods")
    assert converted.notes == ("raised figures are not marked, so 50³ is read as 503. Split the file.",)
    assert converted.left_out == ("which figures are raised",)


def test_percent_signs_and_errors_are_there_as_a_person_sees_them() -> None:
    cells = (
        '<c r="A2" s="1"><v>0.07</v></c><c r="B2" s="2" t="n"><f>A2/2</f><v>0.035</v></c><c r="C2" s="3"><v>5</v></c>'
        '<c r="E2" s="4"><v>12.5</v></c>'
        '<c r="D2" s="1" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
    )
    text = _convert(_row(1, "share", "half", "typed", "error", "wide") + f'<row r="2">{cells}</row>')
    assert text.endswith("\n| 7% | 3.5% | 5.0% | #DIV/0! | 12.5 |\n")


@pytest.mark.parametrize(("kind", "value", "shown", "expected"), read_rows("convert/sheets", "numbers_of_ods"))
def test_a_number_of_ods_is_as_it_is_shown_unless_digits_are_missing(
    kind: str, value: str, shown: str, expected: str
) -> None:
    cell = f'office:value-type="{kind}" office:value="{value}"><text:p>{shown}</text:p>'
    text = 'office:value-type="string" calcext:value-type="string"><text:p>Brest</text:p>'
    data = replace_part(read_sample("budget.ods"), "content.xml", text, cell)
    assert f"| {expected} |" in convert_sheets(data, "a.ods").text


def test_an_error_of_ods_is_as_it_is_shown() -> None:
    cell = 'office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p>'
    text = 'office:value-type="string" calcext:value-type="string"><text:p>Brest</text:p>'
    data = replace_part(read_sample("budget.ods"), "content.xml", text, cell)
    assert "| #DIV/0! |" in convert_sheets(data, "a.ods").text


def test_a_merged_cell_has_its_text_in_each_row_and_column_that_it_covers() -> None:
    areas = ("E1:E1048576", "A1:C1", "A2:A3", "B2:D2")
    merged = "".join(f'<mergeCell ref="{area}"/>' for area in areas)
    text = _convert(
        _row(1, "Fees of the harbour")
        + '<row r="2"><c r="A2" t="str"><v>Size</v></c><c r="B2" t="str"><v>2024</v></c></row>'
        + '<row r="3"><c r="B3" t="str"><v>Summer</v></c><c r="C3" t="str"><v>Winter</v></c></row>'
        + _row(4, "small", "10", "20"),
        after=f"<mergeCells>{merged}</mergeCells>",
    )
    assert text.partition("\n\n")[2] == (
        "Fees of the harbour\n\n| Size | 2024 | 2024 |\n| --- | --- | --- |\n"
        "| Size | Summer | Winter |\n| small | 10 | 20 |\n"
    )


def test_a_merged_cell_of_ods_has_its_text_in_each_row_and_column_that_it_covers() -> None:
    def write_cell(text: str, attributes: str = "") -> str:
        return f'<table:table-cell office:value-type="string" {attributes}><text:p>{text}</text:p></table:table-cell>'

    spans = 'table:number-columns-spanned="2" table:number-rows-spanned="2"'
    covered = '<table:covered-table-cell table:number-columns-repeated="2"/>'
    rows = (
        *(write_cell("Pier") + write_cell("7", 'table:number-columns-repeated="2"'), write_cell("a") * 3),
        *(write_cell("Zone", spans) + "<table:covered-table-cell/>" + write_cell("9"), covered + write_cell("8")),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    data = replace_part(read_sample("budget.ods"), "content.xml", "</table:table>", f"{table}</table:table>")
    assert "| Zone | Zone | 9 |\n| Zone | Zone | 8 |" in convert_sheets(data, "a.ods").text


@pytest.mark.parametrize(
    ("first", "after", "targets"),
    [
        (_row(1, "Pier", "1", "2").replace("<c ", '<c s="5" '), "", {}),
        (_row(1, "Pier", "1", "2"), '<autoFilter ref="A1:C2"/>', {}),
        (_row(1, "Pier", "1", "2"), "", {"table": "../tables/t.xml"}),
    ],
)
def test_a_row_that_looks_like_heads_may_have_numbers(first: str, after: str, targets: dict[str, str]) -> None:
    rows = first + _row(2, "East", "40", "50")
    assert "| Pier | 1 | 2 |\n| --- |" in _convert(rows, after=after, **targets)
    assert "| --- |\n| Pier | 1 | 2 |" in _convert(rows.replace("<c s=", "<c x="))


def test_letters_of_a_font_that_draws_signs_are_signs() -> None:
    ticks = _row(2, "\u00fc", "5").replace("<c ", '<c s="6" ')
    assert _convert(_row(1, "f\u00fcr", "6") + ticks).endswith("\n| für | 6 |\n| ✓ | 5 |\n")


def test_hidden_rows_and_columns_are_left_out_and_named() -> None:
    merged = '<mergeCells><mergeCell ref="A1:C1"/></mergeCells>'
    rows = (
        _row(1, "Fees in euros") + _row(2, "x1", "Lamp", "3") + _row(3, "x2", "Rope", "4") + _row(4, "x3", "Oil", "5")
    )
    hidden = rows.replace('r="3"', 'r="3" hidden="1"')
    columns = '<cols><col min="1" max="1" hidden="1"/><col min="9" max="16384" hidden="1"/></cols>'
    converted = _convert_file(f"</sheetData>{columns}<sheetData>{hidden}", after=merged)
    assert converted.text == "# Fees\n\nFees in euros\n\n|  |  |\n| --- | --- |\n| Lamp | 3 |\n| Oil | 5 |\n"
    assert converted.left_out == ("1 hidden row and 1 hidden column of Fees",)
    assert converted.notes == ("1 hidden row and 1 hidden column of Fees left out of the text.",)
    folded = hidden.replace('hidden="1"', 'hidden="1" outlineLevel="1"')
    assert _convert_file(folded) == _convert_file(rows)


@pytest.mark.parametrize("visibility", ["collapse", "filter"])
def test_hidden_rows_of_ods_are_left_out_and_named(visibility: str) -> None:
    text = "<table:table-cell><text:p>not seen</text:p></table:table-cell>"
    row = f'<table:table-row table:visibility="{visibility}">{text}</table:table-row></table:table>'
    converted = convert_sheets(replace_part(read_sample("budget.ods"), "content.xml", "</table:table>", row), "a.ods")
    assert "not seen" not in converted.text
    assert [each.partition(" of ")[0] for each in converted.left_out] == ["1 hidden row"] * len(converted.left_out)


def test_a_note_counts_the_formulas_whose_value_was_not_saved() -> None:
    cells = '<c r="A2"><f>A1*2</f></c><c r="B2"><f>A1*3</f><v></v></c><c r="C2" t="str"><f>""</f><v></v></c>'
    converted = _convert_file(_row(1, "1", "2", "3") + f'<row r="2">{cells}</row>')
    assert converted.notes == ("no value is saved for 2 formulas of Fees. Save the file in a spreadsheet program.",)


_TAG = re.compile(r"<(/?)([A-Za-z]\w*)((?:\s+[\w:]+=\"[^\"]*\")*)\s*(/?)>")


def _respell(part: bytes) -> str:
    """Write XML with a prefix before each name, its attributes in the other order and in single quotes."""

    def write(tag: re.Match[str]) -> str:
        attributes = re.findall(r'([\w:]+)="([^"]*)"', tag[3].replace("xmlns=", "xmlns:x="))
        written = "".join(f"\n {name}='{value}'" for name, value in reversed(attributes))
        return f"<{tag[1]}x:{tag[2]}{written}{tag[4]}>"

    return _TAG.sub(write, part.decode())


def test_a_prefix_other_quotes_and_another_order_of_attributes_change_nothing() -> None:
    data = read_sample("budget.xlsx")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts: dict[str, str | bytes] = {
            name: _respell(archive.read(name))
            if re.match(r"xl/(?!_rels|theme)[\w/]+\.xml", name)
            else archive.read(name)
            for name in archive.namelist()
        }
    assert b"<x:c" in pack({"x": parts["xl/worksheets/sheet1.xml"]}) or "<x:c" in parts["xl/worksheets/sheet1.xml"]
    assert convert_sheets(pack(parts), "a.xlsx") == convert_sheets(data, "a.xlsx")


def test_a_time_of_more_than_a_day_is_hours_minutes_and_seconds() -> None:
    cell = '<table:table-cell office:value-type="time" office:time-value="PT36H05M00S"/>'
    row = f"<table:table-row>{cell}</table:table-row></table:table>"
    data = replace_part(read_sample("budget.ods"), "content.xml", "</table:table>", row)
    assert "36:05:00" in convert_sheets(data, "a.ods").text


def test_a_far_cell_costs_no_more_than_a_near_one() -> None:
    far = '<row r="1048576"><c r="XFD1048576" t="str"><v>far</v></c></row>'
    assert _convert(_row(1, "Name", "Price") + _row(2, "Lamp", "30") + far) == (
        "# Fees\n\n| Name | Price |\n| --- | --- |\n| Lamp | 30 |\n\nfar\n"
    )
    aside = '<row><c r="A1" t="str"><v>Name</v></c><c r="XFD1" t="str"><v>Note</v></c></row>'
    assert "| Name | Note |\n| --- | --- |\n| Lamp | b |\n" in _convert(
        f'{aside}<row><c t="str"><v>Lamp</v></c><c r="XFD2" t="str"><v>b</v></c></row>'
    )


def test_cells_that_would_make_a_huge_table_are_cut_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "CELLS_MAX", 40)
    rows = (f'<row><c r="A1"><v>1</v></c><c r="{letter}1"><v>2</v></c></row>' for letter in "BCDEFGHI")
    converted = _convert_file(f"{_row(1, 'Title')}{''.join(rows)}")
    assert converted.notes == ("only the first 5 rows of Fees were read.",)
    assert converted.text.count("| 1 | ") == 4


@pytest.mark.parametrize(("code", "shown"), read_rows("convert/sheets", "formats"))
def test_a_number_is_shown_in_its_format_and_with_all_its_digits(code: str, shown: dict[str, str]) -> None:
    assert {value: NumberFormat(code).format_number(float(value)) for value in shown} == shown


def test_days_may_count_from_1904() -> None:
    assert NumberFormat("d.m.y").format_number(43538, 1_462) == "2023-03-15"


def test_a_damaged_sheet_is_named_and_costs_no_other() -> None:
    data = read_sample("budget.xlsx")
    torn = convert_sheets(replace_part(data, "xl/worksheets/sheet2.xml", "</row>", "</row><row"), "a.xlsx")
    assert "| Hull\\|East | 1200 |" in torn.text
    assert torn.notes == ("not all of it can be read, because a part is damaged: xl/worksheets/sheet2.xml.",)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        place = archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 60
    flipped = bytearray(data)
    flipped[place : place + 40] = bytes(40)
    assert "# Crew list" in convert_sheets(bytes(flipped), "a.xlsx").text


def test_a_workbook_whose_sheets_are_all_gone_is_refused_in_one_sentence() -> None:
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook {_MAIN}><sheets><sheet r:id="worksheet"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relate(worksheet="worksheets/gone.xml"),
    }
    with pytest.raises(SourceError, match=r"^a\.xlsx is damaged: no sheet can be read\. .*\.$"):
        convert_sheets(pack(parts), "a.xlsx")


def test_codes_of_characters_are_decoded_and_the_reading_of_asian_words_is_left_out() -> None:
    strings = "<si><r><t>東京</t></r><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si><si><t>a_x000D_b_x005F_c</t></si>"
    text = _convert('<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>9</v></c></row>', strings=strings)
    assert text == "# Fees\n\n|  |  |\n| --- | --- |\n| 東京 | a b_c |\n"
