"""Make the files of this folder by the programs that people use: LibreOffice and Jupyter's libraries.

    pip install nbclient ipykernel matplotlib pandas
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
_META = "<office:meta><dc:title>The boat handbook</dc:title></office:meta>"


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


def main() -> None:
    """Make all files, or only those whose suffix is given, such as ``odt``."""
    wanted = set(sys.argv[1:]) or {"odt", "ipynb"}
    if "odt" in wanted:
        _convert(_make_flat("text", _TEXT_STYLES, _TEXT), ".fodt", "handbook.odt")
    if "ipynb" in wanted:
        _make_notebook()


if __name__ == "__main__":
    main()
