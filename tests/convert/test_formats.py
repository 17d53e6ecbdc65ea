"""Office files, books and notebooks as Markdown: good, empty, broken, huge and hostile files of each format."""

import io
import zipfile
from pathlib import Path

import pytest

from roamtui.convert import subprocess_job
from roamtui.convert.conversion import detect_format
from roamtui.convert.converted import ConvertedText
from roamtui.convert.formats import FORMATS_BY_NAME
from roamtui.errors import SourceError
from roamtui.opening.loader import make_document_library
from roamtui.sources.conversion_cache import convert_cached
from roamtui.sources.read import read_source
from tests.case_files import read_rows
from tests.convert.samples import (
    FILES,
    add_part,
    make_docx_parts,
    make_epub_parts,
    pack,
    read_outline,
    read_sample,
    replace_part,
)
from tests.convert.samples import write_word_paragraph as write

_NOTED = '<w:p><w:r><w:t>{}</w:t></w:r><w:r><w:footnoteReference w:id="{}"/></w:r></w:p>'
_CELLS = "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>"
_WORD = make_docx_parts(
    [
        write("Handbook", "Title"),
        write("Bread", "H1"),
        _NOTED.format("Best # warm &lt;b&gt;.", 2),
        write("knead(1)", "Code"),
        write("knead(2)", "Code"),
        write("Rye", "Own"),
        _CELLS.format(*map(write, ("A", "B|C"))),
    ],
    styles="".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/>{base}</w:style>'
        for style, name, base in (
            *(("Title", "Title", ""), ("H1", "heading 1", ""), ("H2", "heading 2", ""), ("Code", "Code", "")),
            ("Own", "It's own", '<w:basedOn w:val="H2"/>'),
        )
    ),
    footnotes=f'<w:footnote w:id="2">{write("From the oven.")}</w:footnote>',
)
_SAMPLES = {
    name: read_sample(name) for name in ("budget.xlsx", "budget.xls", "budget.ods", "talk.pptx", "handbook.odt")
}
_SAMPLES["handbook.docx"] = pack(_WORD)
_SAMPLES["boats.epub"] = pack(make_epub_parts({"one.xhtml": "<h1>Hulls &amp; keels</h1><p>A hull # is of steel.</p>"}))


def _convert(data: bytes, name: str) -> ConvertedText:
    source_format = detect_format(data, name)
    assert source_format is not None
    return convert_cached(data, name, source_format)


@pytest.mark.parametrize(("name", "title", "outline", "pieces"), read_rows("convert/formats", "good_files"))
def test_a_good_file_keeps_its_outline_and_all_words(
    name: str, title: str, outline: list[list[object]], pieces: list[str]
) -> None:
    converted = _convert(_SAMPLES[name], name)
    assert converted.title == title
    assert [[*row] for row in read_outline(converted.text)] == outline
    assert [piece for piece in pieces if piece not in converted.text] == []
    assert "Deleted words" not in converted.text  # tracked changes
    assert "Hulls 1" not in converted.text  # a table of contents


@pytest.mark.parametrize("name", _SAMPLES)
@pytest.mark.parametrize("media_type", [None, "application/zip", "application/octet-stream", "text/plain"])
def test_an_archive_is_told_by_its_parts_or_else_by_its_name(name: str, media_type: str | None) -> None:
    expected = FORMATS_BY_NAME[Path(name).suffix]
    assert detect_format(_SAMPLES[name], f"/files/{name}", media_type) is expected
    if not name.endswith(".xls"):  # that is no archive
        assert {detect_format(_SAMPLES[name], other, media_type) for other in ("", "/export", "a.docx")} == {expected}
        assert detect_format(_SAMPLES[name][:900], name, media_type) is expected


def test_other_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.zip"
    path.write_bytes(pack({"notes.md": "# Notes\n" * 900}))
    with pytest.raises(SourceError, match=r"^notes\.zip does not look like text\. Unpack it"):
        read_source(str(path))


_UNREADABLE = [
    *((f"a.{kind}", pack({"x": "y"})) for kind in ("xlsx", "ods", "pptx", "odt", "docx", "epub")),
    *((f"a.{kind}", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)) for kind in ("xls", "docx")),
    *((name, data[: len(data) * 2 // 3]) for name, data in _SAMPLES.items()),
    ("a.epub", pack(make_epub_parts({"one.xhtml": "<img src='x.png' alt=''/>"}))),
    ("a.epub", pack({"META-INF/encryption.xml": "http://www.w3.org/2001/04/xmlenc#aes256"})),
    ("a.odt", pack({"content.xml": "<a>" * 100_000})),
    ("a.docx", pack({"word/document.xml": "<w:document xmlns:w='w'><w:body>" + "<w:tbl><w:tr><w:tc>" * 30_000})),
    ("a.docx", pack({"word/document.xml": f"<w:document xmlns:w='w'><w:body><w:p>{'<w:f>' * 100_000}"})),
]


@pytest.mark.parametrize(("name", "data"), _UNREADABLE, ids=lambda value: value if isinstance(value, str) else "")
def test_an_unreadable_file_is_refused_in_one_sentence(name: str, data: bytes) -> None:
    with pytest.raises(SourceError) as refused:
        _convert(data, name)
    message = str(refused.value)
    assert name in message
    assert message.endswith(".")


def test_a_bomb_is_refused_by_the_sizes_that_it_names() -> None:
    bomb = pack({f"{number}.xml": bytes(70_000_000) for number in range(3)})
    for kind in ("docx", "epub", "odt", "pptx", "xlsx", "ods"):
        with pytest.raises(SourceError, match=rf"^a\.{kind} contains too much text\."):
            _convert(bomb, f"a.{kind}")


@pytest.mark.parametrize(("name", "own_part", "words"), read_rows("convert/formats", "own_parts"))
def test_one_bad_part_costs_no_other(name: str, own_part: str, words: str) -> None:
    data = _SAMPLES[name]
    convert_here = FORMATS_BY_NAME[Path(name).suffix].convert
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {part: archive.read(part) for part in archive.namelist() if part != own_part}
    for part, content in parts.items():
        for bad in (b"", content[: len(content) // 2], bytes(range(256)), b"<a>" * 10_000):
            assert words in convert_here(add_part(data, part, bad), name).text


def test_a_large_picture_costs_no_text() -> None:
    for name, part in (("talk.pptx", "ppt/media/a.bmp"), ("handbook.docx", "word/media/a.bmp")):
        data = add_part(_SAMPLES[name], part, bytes(30_000_000))
        assert _convert(data, name).text == _convert(_SAMPLES[name], name).text
    large = pack({**_WORD, "word/document.xml": bytes(30_000_000)})
    with pytest.raises(SourceError, match=r"^a\.docx contains too much text\."):
        _convert(large, "a.docx")


_INCLUSION = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(("name", "part", "root", "words"), read_rows("convert/formats", "inclusions"))
def test_a_hostile_file_reads_no_other_file(name: str, part: str, root: str, words: str) -> None:
    data = replace_part(replace_part(_SAMPLES[name], part, root, _INCLUSION + root), part, words, "&a;")
    try:
        text = _convert(data, name).text
    except SourceError as refused:
        text = str(refused)
    assert "root:" not in text


def test_without_its_library_a_file_is_refused_in_a_sentence_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = (
        "import sys; sys.modules['python_calamine'] = None; from roamtui.convert.child import main; main(sys.argv[1:])"
    )
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-P", "-c", code))
    with pytest.raises(SourceError, match=r'^To open a\.xlsx, install .* `pip install "roamtui\[formats\]"`\.$'):
        _convert(_SAMPLES["budget.xlsx"], "a.xlsx")


def test_a_citation_names_the_slide() -> None:
    library = make_document_library(read_source(str(FILES / "talk.pptx")))
    assert [library.get_line_range(library.node(section_id).span).page for section_id in library.walk()] == [1, 2, 3, 4]
