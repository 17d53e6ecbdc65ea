"""What a Word document becomes: its styles are its outline, and hostile ones are refused in a sentence."""

from __future__ import annotations

import pytest

from roamtui.errors import SourceError
from roamtui.sources.convert import package
from roamtui.sources.convert.docx import convert_docx
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import XML, make_docx_parts, pack
from tests.sources.convert.sample_books import write_word_paragraph as write

_TABLE = f"<w:tbl><w:tr><w:tc>{write('A')}</w:tc><w:tc>{write('B|C')}</w:tc></w:tr></w:tbl>"


def test_styles_are_the_outline() -> None:
    body = [write("Bread", "H1"), write("# flour &lt;b&gt;"), write("Rye", "H2"), write("x", "H7"), _TABLE]
    converted = convert_docx(pack(make_docx_parts(body, title="Handbook")), "a.docx")
    assert converted.title == "Handbook"
    assert read_outline(converted.text) == [(1, "Bread"), (2, "Rye"), (6, "x")]
    assert "\\# flour \\<b>" in converted.text
    assert converted.text.endswith("| A | B\\|C |\n")


def test_a_title_stands_above_all_headings() -> None:
    body = [write("Handbook", "Title"), write("Bread", "H1"), write("Rye", "H2"), write("Cake", "H1")]
    text = convert_docx(pack(make_docx_parts(body)), "a.docx").text
    assert read_outline(text) == [(1, "Handbook"), (2, "Bread"), (3, "Rye"), (2, "Cake")]


def test_lines_of_code_are_one_block() -> None:
    text = convert_docx(pack(make_docx_parts([write("x = 1", "Code"), write("# y", "Code")])), "a.docx").text
    assert text == "```\nx = 1\n# y\n```\n"


_LOL = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_SOUND = make_docx_parts([write("text")])


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"x": "y"}, "is no Word document"),
        (make_docx_parts([]), "holds no text"),
        ({**_SOUND, "word/document.xml": XML + _LOL + "<x>&b;</x>"}, "declares XML entities"),
        ({**_SOUND, "word/styles.xml": (XML + _LOL + "<x/>").encode("utf-16")}, "declares XML entities"),
    ],
    ids=["no document", "empty", "entities", "entities in UTF-16"],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(parts: dict[str, str | bytes], reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        convert_docx(pack(parts), "a.docx")


def test_a_document_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "_BYTES_MAX", 8_000)
    with pytest.raises(SourceError, match="unpacks to more"):
        convert_docx(pack({**_SOUND, **{f"word/{number}.xml": " " * 900 for number in range(9)}}), "a.docx")


def test_a_file_with_a_password_is_refused_in_a_sentence() -> None:
    with pytest.raises(SourceError, match="protected by a password"):
        convert_docx(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.docx")
