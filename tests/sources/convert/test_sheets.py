"""Workbooks as Markdown: every digit and text as it is in its cell, links, text boxes and raised figures."""

from roamtui.sources.convert.sheets import convert_sheets
from tests.sources.convert.samples import pack

_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_TYPES}"'


def _relate(**targets: str) -> str:
    entries = []
    for kind, target in targets.items():
        mode = "External" if "://" in target else "Internal"
        entries.append(f'<Relationship Id="{kind}" Type="{_TYPES}/{kind}" Target="{target}" TargetMode="{mode}"/>')
    return f'<Relationships xmlns="http://x">{"".join(entries)}</Relationships>'


def _convert(rows: str, *, after: str = "", strings: str = "", **targets: str) -> str:
    parts: dict[str, str | bytes] = {
        "_rels/.rels": _relate(officeDocument="xl/workbook.xml"),
        "xl/workbook.xml": (
            f'<workbook {_MAIN}><sheets><sheet name="Fees" sheetId="1" r:id="worksheet"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _relate(worksheet="worksheets/a.xml", sharedStrings="sharedStrings.xml"),
        "xl/worksheets/a.xml": f"<worksheet {_MAIN}><sheetData>{rows}</sheetData>{after}</worksheet>",
        "xl/worksheets/_rels/a.xml.rels": _relate(**targets),
        "xl/sharedStrings.xml": f"<sst {_MAIN}>{strings}</sst>",
        "xl/drawings/d.xml": '<a:x xmlns:a="a"><a:txBody><a:p><a:t>In a </a:t><a:t>box</a:t></a:p></a:txBody></a:x>',
    }
    return convert_sheets(pack(parts), "a.xlsx").text


def _row(number: int, *values: str) -> str:
    cells, names = [], "ABCD"
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
