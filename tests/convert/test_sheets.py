"""Workbooks as Markdown: every digit and text as it is in its cell, links, text boxes and raised figures."""

from roamtui.convert.converted import ConvertedText
from roamtui.convert.sheets import convert_sheets
from tests.convert.samples import pack

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
    '<numFmt numFmtId="166" formatCode="0.0_%_);\\(0.0_%\\)"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    '<xf numFmtId="166"/></cellXfs></styleSheet>'
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
        "xl/drawings/d.xml": '<a:x xmlns:a="a"><a:txBody><a:p><a:t>In a </a:t><a:t>box</a:t></a:p></a:txBody></a:x>',
    }
    return convert_sheets(pack(parts), "a.xlsx")


def _convert(rows: str, *, after: str = "", strings: str = "", **targets: str) -> str:
    return _convert_file(rows, after=after, strings=strings, **targets).text


def _row(number: int, *values: str) -> str:
    cells, names = [], "ABCDE"
    for column, value in enumerate(values):
        kind = "n" if value[0].isdigit() else "str"
        cells.append(f'<c r="{names[column]}{number}" t="{kind}"><v>{value}</v></c>')
    return f'<row r="{number}">{"".join(cells)}</row>'


def test_numbers_have_all_their_digits_and_texts_stay_as_they_are() -> None:
    numbers = ("4111111111111111", "9007199254740991", "123456789.123", "0.1")
    texts = ("Reset at 00:00:00", "x 2025-01-01 00:00:00", "a  b", "=1.10")
    text = _convert(_row(1, "card", "limit", "fee", "rate") + _row(2, *numbers) + _row(3, *texts))
    assert "| 4111111111111111 | 9007199254740991 | 123456789.123 | 0.1 |" in text
    assert "| Reset at 00:00:00 | x 2025-01-01 00:00:00 | a b | =1.10 |" in text


def test_links_of_cells_and_text_boxes_are_kept() -> None:
    formula = '<c r="B3" t="str"><f>HYPERLINK("https://example.org/a?b=1&amp;c=2","fees")</f><v>fees</v></c>'
    text = _convert(
        _row(1, "Name", "Page") + _row(2, "Oslo", "guide") + f'<row r="3">{formula}</row>',
        after='<hyperlinks><hyperlink ref="B2" r:id="hyperlink"/></hyperlinks>',
        hyperlink="https://example.org/guide.pdf",
        drawing="../drawings/d.xml",
    )
    assert "| Oslo | [guide](https://example.org/guide.pdf) |" in text
    assert "[fees](https://example.org/a?b=1&c=2)" in text
    assert text.endswith("\n\nIn a box\n")


def test_raised_figures_never_join_a_number() -> None:
    raised = '<r><rPr><vertAlign val="superscript"/></rPr><t>3</t></r>'
    strings = f'<si><r><t>50</t></r>{raised}<r><t xml:space="preserve"> tons</t></r></si>'
    assert "50<sup>3</sup> tons" in _convert('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings=strings)
    inline = f'<c r="A1" t="inlineStr"><is><r><t>50</t></r>{raised}<r><t xml:space="preserve"> tons</t></r></is></c>'
    assert "50<sup>3</sup> tons" in _convert(f'<row r="1">{inline}</row>')


def test_percent_signs_and_errors_are_there_as_a_person_sees_them() -> None:
    cells = (
        '<c r="A2" s="1"><v>0.07</v></c><c r="B2" s="2" t="n"><f>A2/2</f><v>0.035</v></c><c r="C2" s="3"><v>5</v></c>'
        '<c r="E2" s="4"><v>12.5</v></c>'
        '<c r="D2" s="1" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
    )
    text = _convert(_row(1, "share", "half", "typed", "error", "wide") + f'<row r="2">{cells}</row>')
    assert text.endswith("\n| 7% | 3.5% | 5 | #DIV/0! | 12.5 |\n")


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


def test_a_note_counts_the_formulas_whose_value_was_not_saved() -> None:
    cells = '<c r="A2"><f>A1*2</f></c><c r="B2"><f>A1*3</f><v></v></c><c r="C2" t="str"><f>""</f><v></v></c>'
    converted = _convert_file(_row(1, "1", "2", "3") + f'<row r="2">{cells}</row>')
    assert converted.notes == ("no value is saved for 2 formulas of Fees. Save the file in a spreadsheet program.",)
