"""Texts in encodings that the file does not name: 60 files, of which each must show the words that were written."""

import pytest

from roamtui.sources.convert.conversion import convert
from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.decode import decode_html, decode_text
from tests.case_files import read_rows

_ENCODINGS = {
    "cp1252": "western",
    "cp1250": "central_european",
    "cp1251": "cyrillic",
    "koi8-r": "cyrillic",
    "shift_jis": "japanese",
    "euc_jp": "japanese",
    "gbk": "simplified_chinese",
    "big5": "traditional_chinese",
}


@pytest.mark.parametrize("encoding", [*_ENCODINGS, "utf-16-le", "utf-16-be"])
def test_a_text_in_an_older_encoding_shows_its_words_and_says_what_was_assumed(encoding: str) -> None:
    if encoding in _ENCODINGS:
        texts = read_rows("sources/encodings", _ENCODINGS[encoding])
    else:
        texts = [text for group in {*_ENCODINGS.values()} for text in read_rows("sources/encodings", group)[:2]]
    for text in texts:
        decoded, notes = decode_text(text.encode(encoding), "a.txt")
        assert decoded == text
        assert len(notes) == 1
        assert notes[0].startswith("a.txt: not UTF-8; read as ")


def _convert(data: bytes, name: str) -> ConvertedText:
    converted = convert(data, name)
    assert converted is not None
    return converted


def test_every_format_that_is_text_is_read_in_its_encoding() -> None:
    rows = _convert(read_rows("sources/encodings", "japanese")[1].encode("shift_jis"), "a.csv")
    assert "| 1 | 横浜 | 大 |" in rows.text
    assert rows.notes[1].startswith("a.csv: not UTF-8; read as Japanese text (Shift-JIS).")
    captions = "1\n00:00:01,000 --> 00:00:04,000\nGrüße aus Köln\n"
    assert "Grüße aus Köln" in _convert(captions.encode("cp1252"), "a.srt").text
    assert "# Gebühren" in _convert("Gebühren\n========\n\nZwölf Euro.\n".encode("cp1252"), "a.rst").text
    page = "<html><body><h1>料金</h1><p>係留の料金は千二百円です。</p></body></html>"
    assert decode_html(page.encode("euc_jp")) == (page, ())


def test_damaged_utf8_stays_utf8() -> None:
    text, notes = decode_text("Größe und Länge, übrigens\n".encode() + b"\xff", "a.md")
    assert text == "Größe und Länge, übrigens\n\ufffd"
    assert notes == ("a.md: 1 characters are not valid UTF-8 and show as \ufffd.",)
