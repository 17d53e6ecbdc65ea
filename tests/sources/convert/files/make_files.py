"""Make the files of this folder by LibreOffice, Jupyter's libraries, openpyxl, xlwt and python-pptx.

    pip install nbclient ipykernel matplotlib pandas openpyxl xlwt python-pptx
    python tests/sources/convert/files/make_files.py

All texts are our own. No test needs the programs, because the files are committed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{urn}:1.0"'
    for name, urn in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
        ("svg", "svg-compatible"),
        ("fo", "xsl-fo-compatible"),
        ("number", "datastyle"),
        ("meta", "meta"),
    )
)
_NAMESPACES += ' xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2"'
_NAMESPACES += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
_PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC"
_TEXT = f"""<office:body><office:text>
<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info>
<dc:creator>A</dc:creator><dc:date>2026-01-01T00:00:00</dc:date></office:change-info>
<text:p>Deleted words.</text:p></text:deletion></text:changed-region></text:tracked-changes>
<text:p text:style-name="Title">Boat handbook</text:p>
<text:table-of-content text:name="Contents"><text:table-of-content-source text:outline-level="2"/>
<text:index-body><text:p>Hulls 1</text:p></text:index-body></text:table-of-content>
<text:h text:style-name="Heading_20_1" text:outline-level="1">Hulls &amp; keels</text:h>
<text:p>A <text:span text:style-name="T1">steel</text:span> hull<text:note text:id="n1" text:note-class="footnote">
<text:note-citation>1</text:note-citation><text:note-body><text:p>Since 1843.</text:p></text:note-body></text:note>
lasts <text:span text:style-name="T2">longer</text:span>; see <text:a xlink:type="simple"
xlink:href="https://example.com/steel">the yard</text:a>.<text:line-break/>It needs paint.</text:p>
<text:p># not a heading &lt;b&gt;</text:p>
<text:list><text:list-item><text:p>Check the seams.</text:p><text:list><text:list-item><text:p>Every spring.</text:p>
</text:list-item></text:list></text:list-item><text:list-item><text:p>Paint the keel.</text:p></text:list-item></text:list>
<text:h text:style-name="Heading_20_2" text:outline-level="2">Costs</text:h>
<table:table table:name="Costs"><table:table-column table:number-columns-repeated="3"/>
<table:table-header-rows><table:table-row><table:table-cell><text:p>Part</text:p></table:table-cell>
<table:table-cell table:number-columns-spanned="2"><text:p>Price</text:p></table:table-cell><table:covered-table-cell/>
</table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>Keel</text:p></table:table-cell><table:table-cell><text:p>1,200</text:p>
</table:table-cell><table:table-cell><text:p>EUR</text:p></table:table-cell></table:table-row></table:table>
<text:p><draw:frame draw:name="P1" svg:width="1cm" svg:height="1cm" text:anchor-type="as-char"><draw:image>
<office:binary-data>{_PICTURE}</office:binary-data></draw:image><svg:desc>A keel seen from below</svg:desc></draw:frame>
</text:p>
<text:h text:style-name="Heading_20_1" text:outline-level="1">Commands</text:h>
<text:p text:style-name="Preformatted_20_Text">pump<text:s text:c="2"/>--start</text:p>
<text:p text:style-name="Preformatted_20_Text">pump --stop</text:p>
<text:p text:style-name="Quotations">Dry boats last.</text:p>
<text:p>Ask first.<office:annotation><dc:creator>B</dc:creator><text:p>Whom?</text:p></office:annotation></text:p>
<text:p><draw:frame draw:name="F1" svg:width="4cm" text:anchor-type="paragraph"><draw:text-box>
<text:p>In a box: close the valve.</text:p></draw:text-box></draw:frame></text:p>
</office:text></office:body>"""
_TEXT_STYLES = """<office:styles><style:style style:name="Preformatted_20_Text" style:display-name="Preformatted Text"
style:family="paragraph"/></office:styles><office:automatic-styles>
<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="T2" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>
</office:automatic-styles>"""
_MATH = 'xmlns:math="http://www.w3.org/1998/Math/MathML"'
_FORMULAS = f"""<office:body><office:text>
<text:h text:outline-level="1">Speed</text:h>
<text:p>Hull speed is <draw:frame text:anchor-type="as-char" svg:width="3cm" svg:height="1cm"><draw:object><math:math {_MATH}>
<math:semantics><math:mrow><math:mi>v</math:mi><math:mo>=</math:mo><math:msqrt><math:mi>L</math:mi></math:msqrt></math:mrow>
<math:annotation math:encoding="StarMath 5.0">v = 2.43 sqrt {{ L over 1 }} &lt; 9</math:annotation></math:semantics></math:math>
</draw:object></draw:frame> knots.</text:p>
</office:text></office:body>"""
_META = "<office:meta><dc:title>The boat handbook</dc:title></office:meta>"


def _row(*cells: str) -> str:
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def _cell(text: str, attributes: str = 'office:value-type="string"') -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def _number(value: float, formula: str = "", style: str = "") -> str:
    formula = f' table:formula="of:={formula}"' if formula else ""
    style = f' table:style-name="{style}"' if style else ""
    return f'<table:table-cell office:value-type="float" office:value="{value}"{formula}{style}/>'


_EMPTY = '<table:table-cell table:number-columns-repeated="2"/>'
_SHEETS = f"""<office:body><office:spreadsheet>
<table:table table:name="Budget">
{_row(_cell("Yearly budget", 'office:value-type="string" table:number-columns-spanned="5"'))}
{_row(_cell(""))}
{
    _row(
        _cell("Yard", 'office:value-type="string" table:number-rows-spanned="2"'),
        _cell("2024", 'office:value-type="string" table:number-columns-spanned="2"'),
        "<table:covered-table-cell/>",
        _cell("Share", 'office:value-type="string" table:number-rows-spanned="2"'),
        _cell("Since", 'office:value-type="string" table:number-rows-spanned="2"'),
    )
}
{_row("<table:covered-table-cell/>", _cell("Plan"), _cell("Actual"))}
{
    _row(
        _cell("Hull|East"),
        _number(1200),
        _number(1300.5),
        _number(0.25, "", "percent"),
        '<table:table-cell table:style-name="date" office:value-type="date" office:date-value="2019-05-01"/>',
    )
}
{_row(_cell("Brest"), _number(800), _number(0.1), _number(0.755, "", "percent"), _cell("# unknown &lt;b&gt;"))}
{_row(_cell("Sum"), _number(2000, "SUM([.B5:.B6])"), _number(1300.6, "SUM([.C5:.C6])"))}
{_row(_cell(""))}
{_row(_cell("Source: the yards"))}
</table:table>
<table:table table:name="Crew list">
{_row(_EMPTY, _cell("Name"), _cell("Born"))}
{_row(_EMPTY, _cell("Ada"), _number(1815))}
{_row(_EMPTY, _cell("Bob"), _number(1990))}
{_row(_cell("Apart"))}
</table:table>
<table:table table:name="Old" table:style-name="hidden">{_row(_cell("Kept"), _cell("here"))}</table:table>
<table:named-expressions><table:named-range table:name="Crew" table:base-cell-address="$'Crew list'.$C$1"
table:cell-range-address="$'Crew list'.$C$1:.$D$3"/></table:named-expressions>
</office:spreadsheet></office:body>"""
_SHEET_STYLES = """<office:automatic-styles>
<number:percentage-style style:name="N10"><number:number number:decimal-places="1" number:min-integer-digits="1"/>
<number:text>%</number:text></number:percentage-style>
<number:date-style style:name="N37"><number:year number:style="long"/><number:text>-</number:text>
<number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<style:style style:name="percent" style:family="table-cell" style:data-style-name="N10"/>
<style:style style:name="date" style:family="table-cell" style:data-style-name="N37"/>
<style:style style:name="hidden" style:family="table"><style:table-properties table:display="false"/></style:style>
</office:automatic-styles>"""


def _make_flat(kind: str, styles: str, body: str) -> str:
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {_NAMESPACES} office:version="1.3" '
        f'office:mimetype="{media_type}">{_META}{styles}{body}</office:document>'
    )


def _convert(source: str, suffix: str, target: str) -> None:
    """Let LibreOffice open a flat OpenDocument file and save it as another file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{Path(target).stem}{suffix}")
        path.write_text(source, encoding="utf-8")
        program = shutil.which("soffice")
        assert program, "LibreOffice is not installed."
        command = [program, "--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to"]
        subprocess.run([*command, Path(target).suffix[1:], "--outdir", str(FOLDER), str(path)], check=True)


def _make_notebook() -> None:
    import nbformat
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    cells = [
        new_markdown_cell("# Tides\n\nHeights in *metres*."),
        new_code_cell(
            "heights = {'Brest': 6.1, 'Hull': 7.2}\nprint('\\x1b[31mhighest\\x1b[0m', max(heights.values()))"
        ),
        new_markdown_cell("## By port\n\n```python\nan open fence"),
        new_code_cell("import pandas\npandas.DataFrame({'port': heights.keys(), 'metres': heights.values()})"),
        new_markdown_cell("## Picture"),
        new_code_cell(
            "%matplotlib inline\nimport matplotlib.pyplot as plot\n"
            "plot.figure(figsize=(0.3, 0.3), dpi=20)\nplot.bar(heights.keys(), heights.values());"
        ),
        new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]}),
    ]
    notebook = new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3").execute()
    nbformat.write(notebook, FOLDER / "tides.ipynb")


def _make_orders() -> None:
    """Make a workbook with a table, a chart, a comment, and a formula whose value was never saved."""
    from openpyxl import Workbook
    from openpyxl.chart import BarChart, Reference
    from openpyxl.comments import Comment
    from openpyxl.worksheet.table import Table

    book = Workbook()
    sheet = book.active
    sheet.title = "Orders"
    for row in (["Orders of May"], [], ["Part", "Units"], ["Keel", 3], ["Mast", 12.5], [None, "=SUM(B4:B5)"]):
        sheet.append(row)
    sheet.add_table(Table(displayName="Parts", ref="A3:B5"))
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=4, max_row=5))
    sheet.add_chart(chart, "D1")
    sheet["A4"].comment = Comment("Ask first.", "A")
    book.save(FOLDER / "orders.xlsx")


def _make_old_workbook() -> None:
    from datetime import date, datetime

    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Budget")
    style = xlwt.easyxf(num_format_str="YYYY-MM-DD HH:MM")
    east, brest = ["Hull|East", 1200, date(2019, 5, 1)], ["Brest", 0.1, datetime(2019, 5, 1, 14, 30)]  # noqa: DTZ001
    rows: list[list[object]] = [["Yearly budget"], [], ["Yard", 2024, "Since"], east, brest]
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell, style if isinstance(cell, date) else xlwt.Style.default_style)
    book.save(FOLDER / "budget.xls")


def _make_slides() -> None:
    from base64 import b64decode
    from io import BytesIO

    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = Presentation()
    deck.core_properties.title = "Boat talk"
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Boats", "A talk of one hour"
    first.notes_slide.notes_text_frame.text = "Greet everyone.\nThen begin."
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Why *steel*?"
    frame = second.placeholders[1].text_frame
    frame.text = "It lasts"
    for text, level in (("Since 1843", 1), ("It can be mended", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    third = deck.slides.add_slide(deck.slide_layouts[6])
    for text, x, y in (("right column", 5, 2), ("left column", 1, 2.1), ("at the top", 1, 0.5), ("foot # mark", 1, 6)):
        third.shapes.add_textbox(Inches(x), Inches(y), Inches(3), Inches(1)).text_frame.text = text
    fourth = deck.slides.add_slide(deck.slide_layouts[5])
    fourth.shapes.title.text = "Costs"
    table = fourth.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for row, texts in enumerate((("Part", "2024", ""), ("Keel", "1,200", "EUR"), ("Mast", "300", "EUR"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    picture = fourth.shapes.add_picture(BytesIO(b64decode(_PICTURE)), Inches(8), Inches(2))
    picture._element.nvPicPr.cNvPr.set("descr", "A keel")
    chart = CategoryChartData()
    chart.categories = ["a"]
    chart.add_series("s", (1,))
    fourth.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(5), Inches(2), Inches(2), chart)
    fourth._element.set("show", "0")
    link = fourth.shapes.add_textbox(Inches(1), Inches(4.5), Inches(3), Inches(0.3)).text_frame.paragraphs[0].add_run()
    link.text, link.hyperlink.address = "the yard", "https://example.com/steel"
    deck.save(FOLDER / "talk.pptx")


def main() -> None:
    """Make all files, or only those whose suffix is given, such as ``odt``."""
    wanted = set(sys.argv[1:]) or {"odt", "ods", "xls", "xlsx", "pptx", "ipynb"}
    if "odt" in wanted:
        _convert(_make_flat("text", _TEXT_STYLES, _TEXT), ".fodt", "handbook.odt")
        _convert(_make_flat("text", "", _FORMULAS), ".fodt", "formulas.odt")
    for suffix in sorted(wanted & {"ods", "xlsx"}):
        _convert(_make_flat("spreadsheet", _SHEET_STYLES, _SHEETS), ".fods", f"budget.{suffix}")
    if "xlsx" in wanted:
        _make_orders()
    if "xls" in wanted:
        _make_old_workbook()
    if "pptx" in wanted:
        _make_slides()
    if "ipynb" in wanted:
        _make_notebook()


if __name__ == "__main__":
    main()
