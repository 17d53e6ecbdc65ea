"""Signs of Markdown in a text are the same after conversion, whatever the format."""

import html
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from roamtui.convert.docx import convert_docx
from roamtui.convert.epub import convert_epub
from roamtui.convert.html import convert_html
from roamtui.convert.notebook import convert_notebook
from roamtui.convert.odt import convert_odt
from roamtui.convert.pdf.convert import convert_pdf
from roamtui.convert.pptx import convert_pptx
from roamtui.convert.rst import convert_rst
from roamtui.convert.separated import convert_separated
from roamtui.convert.sheets import convert_sheets
from roamtui.convert.subtitles import convert_subtitles
from roamtui.markdown.blocks import Paragraph
from roamtui.markdown.units import read_units, read_visible_line
from tests.convert.sample_pdf import lay_cells, lay_out, make_pdf
from tests.convert.samples import (
    make_docx_parts,
    make_epub_parts,
    pack,
    read_outline,
    read_sample,
    replace_part,
    write_word_paragraph,
)

_SIGNS = (
    "5*3*2 metres",
    "2**3**4",
    "5 * 3 * 2",
    "a (*) and b (*)",
    "(n)*k*m",
    "__init__ and _private_",
    "snake_case_name",
    "from ____ to ____, signed ____",
    "a ** b ** c",
    "[a](b) and [c][d]",
    "![a](b)",
    "the <b>bold</b> tag",
    "<!-- no comment -->",
    "AT&amp;T and &#42; x",
    "old ~~struck~~ word",
    "a C:\\new\\*.txt path",
    "the \\[ bracket",
    "a | b | c",
    "cost #1 and 2 > 1",
    "pay [*] and [*] a unit",
    "[[NAME]] matches [^1]",
    "!!! note",
    "??? question",
    '=== "Tab"',
    "run $AB_C$ or $$a=b$$",
    r"the $\alpha \$ x_1$ sign",
    "a template {#name}",
)
_BACKTICKS = "say `x` or ``y*z``"


def _convert_pdf_table(text: str) -> str:
    rows = lay_cells("* Fees | 2023 | 2024", "Hull | 1,204 | 1,310", "Deck | 2,204 | 2,310", "Keel | 3,204 | 3,310")
    lines = [replace(line, text=text) if line.text == "Hull" else line for line in rows]
    return convert_pdf(make_pdf([lines]), "a.pdf").text


def _convert_html(text: str) -> str:
    words = html.escape(text)
    page = f"<h1>{words}</h1><p>Here {words} ends.<table><tr><td>{words}<td>1</table><ul><li>{words}"
    return convert_html(page).text


def _convert_epub(text: str) -> str:
    words = html.escape(text)
    return convert_epub(pack(make_epub_parts({"a.xhtml": f"<h1>{words}</h1><p>Here {words}</p>"})), "a.epub").text


def _convert_docx(text: str) -> str:
    words = html.escape(text)
    parts = make_docx_parts([write_word_paragraph(words)], styles="", footnotes="")
    return convert_docx(pack(parts), "a.docx").text


def _convert_sample(text: str, *, name: str, part: str, old: str) -> str:
    data = replace_part(read_sample(name), part, old, html.escape(text))
    convert = {"odt": convert_odt, "pptx": convert_pptx}.get(name.rpartition(".")[2], convert_sheets)
    return convert(data, name).text


def _convert_rst(text: str) -> str:
    words = text.replace("\\", "\\\\")
    adornment = "=" * len(words)
    return convert_rst(f"{words}\n{adornment}\n\nHere {words} ends.\n\n* {words}\n".encode(), "a.rst").text


def _convert_output(text: str, *, kind: str) -> str:
    data = {kind: f"<p>{html.escape(text)}</p>" if kind == "text/html" else text}
    cell = {"cell_type": "code", "source": "x", "outputs": [{"output_type": "display_data", "data": data}]}
    return convert_notebook(json.dumps({"cells": [cell]}).encode(), "a.ipynb").text


_CONVERTERS: dict[str, Callable[[str], str]] = {
    "PDF": lambda text: convert_pdf(make_pdf([lay_out(f"# {text}", "", f"Here {text} ends.")]), "a.pdf").text,
    "PDF table": _convert_pdf_table,
    "HTML": _convert_html,
    "EPUB": _convert_epub,
    "DOCX": _convert_docx,
    "PPTX": partial(_convert_sample, name="talk.pptx", part="ppt/slides/slide1.xml", old="A talk of one hour"),
    "ODT": partial(_convert_sample, name="handbook.odt", part="content.xml", old="Check the seams."),
    "XLSX": partial(_convert_sample, name="budget.xlsx", part="xl/sharedStrings.xml", old="Brest"),
    "ODS": partial(_convert_sample, name="budget.ods", part="content.xml", old="Brest"),
    "RST": _convert_rst,
    "notebook text": partial(_convert_output, kind="text/plain"),
    "notebook HTML": partial(_convert_output, kind="text/html"),
    "TSV": lambda text: convert_separated(f"name\tfee\n{text}\t5\nOslo\t6\n".encode(), "a.tsv").text,
    "subtitles": lambda text: convert_subtitles(f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n".encode(), "a.srt").text,
}


@pytest.mark.parametrize("name", _CONVERTERS)
@pytest.mark.parametrize("text", [*_SIGNS, _BACKTICKS])
def test_a_sign_of_markdown_comes_out_as_it_went_in(name: str, text: str) -> None:
    if text == _BACKTICKS and name == "RST":
        text = "a `` b"
    if name == "subtitles" and any(sign in text for sign in "<&"):
        pytest.skip("tags and references are markup there")
    converted = _CONVERTERS[name](text)
    assert text in read_visible_line(converted)
    assert all(text in title for _, title in read_outline(converted)[:1] if name in ("PDF", "HTML", "EPUB", "RST"))


@pytest.mark.parametrize(
    "line",
    ["***", "** *", "* * *", "___", "__ __", "---", "- - -", "===", ":::", "!!! note", '=== "Tab"'],
)
def test_a_line_of_signs_is_no_markup(line: str) -> None:
    blocks = read_units(convert_html(f"<p>One</p><p> {line} </p><p>Two<br> {line} </p>").text).blocks
    assert [type(block) for block in blocks] == [Paragraph] * 3


@pytest.mark.parametrize("line", ["--- | ---", "|-|:-:|", ":-- | --", "- | -"])
def test_a_line_of_dashes_and_bars_makes_no_table(line: str) -> None:
    blocks = read_units(convert_html(f"<p>a | b<br>{line}</p>").text).blocks
    assert [type(block) for block in blocks] == [Paragraph]
    assert read_visible_line(convert_html(f"<p>a | b<br>{line}</p>").text) == f"a | b {line}"


@pytest.mark.parametrize("lines", [("C:\\", "D:\\ x"), ("[a](b)", "[1]: x")])
def test_signs_at_the_end_of_a_line_stay(lines: tuple[str, str]) -> None:
    assert read_visible_line(convert_html(f"<p>{lines[0]}<br>{lines[1]}</p>").text) == " ".join(lines)
