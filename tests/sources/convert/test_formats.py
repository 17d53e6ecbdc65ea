"""Office files and books as Markdown: each format with a good, an empty, a broken, a huge and a hostile file."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.document.loader import build_library
from roamtui.errors import SourceError
from roamtui.sources.convert import subprocess_converter
from roamtui.sources.convert.conversion import convert
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.read import read_file
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import make_docx_parts, make_epub_parts, pack
from tests.sources.convert.sample_books import write_word_paragraph as write
from tests.sources.convert.sample_files import FILES, read_sample, replace_part

_NOTED = '<w:p><w:r><w:t>{}</w:t></w:r><w:r><w:footnoteReference w:id="{}"/></w:r></w:p>'
_CELLS = (
    "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc>{}</w:tc><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{}</w:tc>"
    "</w:tr><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>"
)
_WORD = make_docx_parts(
    [
        write("Handbook", "Title"),
        write("Bread", "H1"),
        _NOTED.format("Best # warm &lt;b&gt;.", 2),
        write("knead(1)", "Code"),
        write("knead(2)", "Code"),
        write("Rye", "Own"),
        _NOTED.format("[[1]](#x)", 3),
        _CELLS.format(*map(write, ("Year", "2022", "A", "B|C", "D"))),
    ],
    title="The Handbook",
    footnotes=f'<w:footnote w:id="2">{write("From the oven.")}</w:footnote>'
    f'<w:footnote w:id="3">{write("# Dark.")}{write("And light.")}</w:footnote>',
)
_WORD["word/styles.xml"] = str(_WORD["word/styles.xml"]).replace(
    "</w:styles>",
    '<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="It\'s own"/><w:basedOn w:val="H2"/></w:style>'
    "</w:styles>",
)
_SAMPLES = {
    name: read_sample(name) for name in ("budget.xlsx", "budget.xls", "budget.ods", "talk.pptx", "handbook.odt")
}
_SAMPLES["handbook.docx"] = pack(_WORD)
_SAMPLES["boats.epub"] = pack(make_epub_parts({"one.xhtml": "<h1>Hulls &amp; keels</h1><p>A hull # is of steel.</p>"}))
_XLSX, _PPTX, _ODT = _SAMPLES["budget.xlsx"], _SAMPLES["talk.pptx"], _SAMPLES["handbook.odt"]
_SHEET = "xl/worksheets/sheet1.xml"


def _convert(data: bytes, name: str) -> ConvertedText:
    converted = convert(data, name)
    assert converted is not None
    return converted


@pytest.mark.parametrize(
    ("name", "title", "outline", "pieces"),
    [
        (
            "budget.xlsx",
            "The boat handbook",
            [(1, "Budget"), (1, "Crew list"), (1, "Old (hidden)")],
            (
                "# Budget\n\nYearly budget\n\n| Yard | 2024 |  | Share | Since |\n| --- |",
                "| Hull\\|East | 1200 | 1300.5 | 0.25 | 2019-05-01 |\n| Brest | 800 | 0.1 | 0.755 | # unknown \\<b> |",
                "| Sum | 2000 | 1300.6 |  |  |\n\nSource: the yards\n",  # values of formulas
                "| Kept | here |",
            ),
        ),
        (
            "budget.ods",
            "The boat handbook",
            [(1, "Budget"), (1, "Crew list"), (1, "Old (hidden)")],
            ("| Sum | 2000 | 1300.6 |  |  |\n\nSource: the yards\n",),
        ),
        ("budget.xls", "", [(1, "Budget")], ("| Brest | 0.1 | 2019-05-01 14:30:00 |\n",)),
        (
            "talk.pptx",
            "Boat talk",
            [(1, "Boats"), (1, "Why *steel*?"), (1, "Slide 3: at the top"), (1, "Costs (hidden)")],
            (
                "A talk of one hour\n\n**Notes:**\n\nGreet everyone.\n\nThen begin.\n",
                "- It lasts\n   - Since 1843\n- It can be mended\n",
                "at the top\n\nleft column\n\nright column\n\nfoot # mark\n",
                "| Part | 2024 |  |\n| --- | --- | --- |\n| Keel | 1,200 | EUR |\n| Mast | 300 | EUR |\n",
                "![A keel]()",
                "[the yard](https://example.com/steel)",
            ),
        ),
        (
            "handbook.odt",
            "The boat handbook",
            [(1, "Boat handbook"), (1, "Hulls & keels"), (2, "Costs"), (1, "Commands")],
            (
                "A **steel** hull[^1] lasts *longer*; see [the yard](https://example.com/steel).\\\n",
                "It needs paint.\n\n[^1]: Since 1843.",
                "\\# not a heading \\<b>",
                "- Check the seams.\n\n  - Every spring.\n- Paint the keel.",
                "| Part | Price |  |\n| --- | --- | --- |\n| Keel | 1,200 | EUR |",
                "```\npump  --start\npump --stop\n```",
                "> Dry boats last.",
                "In a box: close the valve.",
            ),
        ),
        (
            "handbook.docx",
            "The Handbook",
            [(1, "Handbook"), (1, "Bread"), (2, "Rye")],
            (
                "Best # warm \\<b>.[^1]\n\n[^1]: From the oven.\n\n```\nknead(1)\nknead(2)\n```\n\n## Rye",
                "[[1]\\](#x)[^2]",
                "| Year | 2022 |  |\n| --- | --- | --- |\n| A | B\\|C | D |",
                "[^2]: \\# Dark. And light.\n",
            ),
        ),
        ("boats.epub", "The Book of Boats", [(1, "Hulls & keels")], ("A hull # is of steel.",)),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_good_file_keeps_its_outline_and_all_words(
    name: str, title: str, outline: list[tuple[int, str]], pieces: tuple[str, ...]
) -> None:
    converted = _convert(_SAMPLES[name], name)
    assert converted.title == title
    assert read_outline(converted.text) == outline
    assert [piece for piece in pieces if piece not in converted.text] == []
    assert "Deleted words" not in converted.text  # tracked changes
    assert "Hulls 1" not in converted.text  # a table of contents


_UNREADABLE = [
    *((f"a.{kind}", "other parts", pack({"x": "y"})) for kind in ("xlsx", "ods", "pptx", "odt", "docx", "epub")),
    *((f"a.{kind}", "locked", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)) for kind in ("xls", "docx")),
    *((name, "torn", data[: len(data) * 2 // 3]) for name, data in _SAMPLES.items()),
    ("a.epub", "no text", pack(make_epub_parts({"one.xhtml": "<img src='x.png' alt=''/>"}))),
    ("a.epub", "copy protection", pack({"META-INF/encryption.xml": "http://www.w3.org/2001/04/xmlenc#aes256"})),
    ("a.xlsx", "broken XML", replace_part(_XLSX, _SHEET, "</sheetData>", "</sheetDta>")),
    ("a.pptx", "deep", replace_part(_PPTX, "ppt/slides/slide2.xml", "</p:spTree>", "<p:grpSp>" * 5_000)),
    ("a.odt", "deep", pack({"content.xml": "<a>" * 100_000})),
]


@pytest.mark.parametrize(
    ("name", "data"),
    [(name, data) for name, _, data in _UNREADABLE],
    ids=[f"{name}-{kind}" for name, kind, _ in _UNREADABLE],
)
def test_an_unreadable_file_is_refused_in_one_sentence(name: str, data: bytes) -> None:
    with pytest.raises(SourceError) as refused:
        _convert(data, name)
    message = str(refused.value)
    assert name in message
    assert message.endswith(".")
    assert "Traceback" not in message


@pytest.mark.parametrize("kind", ["docx", "epub", "odt", "pptx", "xlsx", "ods"])
def test_a_bomb_is_refused_by_the_sizes_that_it_names(kind: str) -> None:
    parts = {f"{number}.xml": bytes(70_000_000) for number in range(3)}
    with pytest.raises(SourceError, match=rf"^a\.{kind} unpacks to too much text\."):
        _convert(pack(parts), f"a.{kind}")


_INCLUSION = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("name", "part", "root", "words"),
    [
        ("handbook.odt", "content.xml", "<office:document-content", "Dry boats last"),
        ("handbook.docx", "word/document.xml", "<w:document", "Bread"),
        ("talk.pptx", "ppt/slides/slide2.xml", "<p:sld ", "It lasts"),
        ("budget.xlsx", "xl/sharedStrings.xml", "<sst", "Brest"),
        ("budget.ods", "content.xml", "<office:document-content", "Brest"),
        ("boats.epub", "OEBPS/text/one.xhtml", "<html>", "steel"),
    ],
)
def test_a_hostile_file_reads_no_other_file(name: str, part: str, root: str, words: str) -> None:
    data = replace_part(replace_part(_SAMPLES[name], part, root, _INCLUSION + root), part, words, "&a;")
    try:
        text = _convert(data, name).text
    except SourceError as refused:
        text = str(refused)
    assert "root:" not in text


@pytest.mark.parametrize(
    ("name", "library"), [("handbook.docx", "mammoth"), ("talk.pptx", "pptx"), ("budget.ods", "python_calamine")]
)
def test_without_its_library_a_file_is_refused_in_one_sentence_that_names_the_extra(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"import sys; sys.modules['{library}'] = None\nfrom roamtui.sources.convert.child import main\n"
    code += "main(sys.argv[1:])"
    monkeypatch.setattr(subprocess_converter, "_COMMAND", ("-P", "-c", code))
    with pytest.raises(SourceError, match=rf'^To open {name}, install .* `pip install "roamtui\[formats\]"`\.$'):
        convert(_SAMPLES[name], name)


def test_a_formula_of_libreoffice_is_code() -> None:
    text = _convert(read_sample("formulas.odt"), "formulas.odt").text
    assert text == "# Speed\n\nHull speed is `v = 2.43 sqrt { L over 1 } < 9` knots.\n"


def test_a_citation_names_the_slide() -> None:
    library = build_library(read_file(Path(FILES / "talk.pptx")))
    assert [library.node(section_id).page for section_id in library.walk()] == [1, 2, 3, 4]
