"""Bytes of files as text: what is read, and in which encoding."""

import codecs
import io
import os
import sys
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.convert.decode import decode_html, decode_text
from roamtui.errors import SourceError
from roamtui.sources.read import read_source, to_source_text
from tests.case_files import read_rows


def _refuse(name: str | Path) -> str:
    with pytest.raises(SourceError) as refusal:
        read_source(str(name))
    message = str(refusal.value)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    assert refusal.value.exit_code == 1
    return message


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("# Größe\n".encode()), encoding="ascii"))
    raw = read_source("-")
    assert (raw.text, raw.source, raw.name) == ("# Größe\n", "-", "standard input")


class _EndlessBytes(io.RawIOBase):
    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        buffer[:] = bytes(len(buffer))
        return len(buffer)


def test_endless_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_EndlessBytes())))
    assert _refuse("-") == "Standard input is larger than 200 MB. Split it into smaller files, or convert it to text."


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.touch()
    os.truncate(path, 300_000_000_000)
    assert _refuse(path) == f"{path} is larger than 200 MB. Split it into smaller files, or convert it to text."


@pytest.mark.parametrize("name", ["/dev/null", "a\0b.md", "x" * 5_000, ""])
def test_a_name_that_cannot_be_opened_is_refused(name: str) -> None:
    _refuse(name)


@pytest.mark.skipif(os.name == "nt", reason="needs a right to make links")
def test_a_link_to_nothing_is_not_said_to_be_missing(tmp_path: Path) -> None:
    link = tmp_path / "handbook.md"
    link.symlink_to("gone.md")
    assert _refuse(link) == f"{link} is a link to something that does not exist. Check where it leads."


@pytest.mark.skipif(os.name == "nt", reason="needs a pipe")
def test_a_named_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert "is a device or pipe, not a document" in _refuse(tmp_path / "a.md")


_TEXT = "# Überschrift\r\n\n漢字 🙂\n"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF32_LE, "utf-32-le")],
)
def test_a_byte_order_mark_names_the_encoding_and_is_dropped(mark: bytes, encoding: str) -> None:
    assert decode_text(mark + _TEXT.encode(encoding), "a.md") == (_TEXT, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_byte_order_mark_is_recognised(encoding: str) -> None:
    text = "# Fees\r\n\nThe fee in Łódź is 5 €.\n"
    decoded, (note,) = decode_text(text.encode(encoding), "a.md")
    assert decoded == text
    assert note.startswith("read as UTF-16, because it is not UTF-8.")


def test_what_is_no_text_is_replaced_or_kept_with_a_note() -> None:
    text, notes = decode_text(b"# Words\xff and\0 more\n\xc3", "a.md")
    assert text == "# Words\ufffd and\0 more\n\ufffd"
    assert notes[0] == "2 characters replaced with \ufffd, because this is not valid UTF-8."
    assert "1 NUL" in notes[1]
    damaged = "Größe und Länge, übrigens\n".encode() + b"\xff"
    note = "1 character replaced with \ufffd, because this is not valid UTF-8."
    assert decode_text(damaged, "a.md") == ("Größe und Länge, übrigens\n\ufffd", (note,))


def test_embedded_pictures_are_neither_text_nor_tokens() -> None:
    picture = f"data:image/png;base64,{'iVBORw0KGgo' * 500}=="
    written = f'# A\n\nSee ![the pier]({picture}) and\n<img src="{picture}">.\n\nNot data:text/plain;base64,aGk=\n'
    text, notes = decode_text(written.encode(), "a.md")
    assert text == written.replace(picture, "data:image/png;base64,…")
    assert notes == ("2 embedded files left out of the text.",)


@pytest.mark.parametrize(
    ("data", "is_text"),
    [
        (bytes(range(256)) * 40, False),
        (b"\x01\x01\x01aaaaaa", False),
        (b"\x01\x01\x01aaaaaaa", True),
        (rb"{\rtf1 a}", False),
    ],
)
def test_a_file_of_control_characters_or_codes_of_an_office_program_is_not_text(data: bytes, *, is_text: bool) -> None:
    if is_text:
        assert decode_text(data, "a.md") == (data.decode(), ())
    else:
        with pytest.raises(SourceError, match=r"a\.md does not look like text"):
            decode_text(data, "a.md")


_ENCODINGS = {
    "cp1252": "western",
    "cp1250": "central_european",
    "cp1251": "cyrillic",
    "koi8-r": "cyrillic",
    "shift_jis": "japanese",
    "euc_jp": "japanese",
    "gbk": "simplified_chinese",
    "big5": "traditional_chinese",
    "cp949": "korean",
    "cp1253": "greek",
    "cp1254": "turkish",
    "cp1255": "hebrew",
    "cp1256": "arabic",
}


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_a_text_of_some_lines_in_an_older_encoding_shows_its_words_and_says_what_was_assumed(encoding: str) -> None:
    text = "".join(read_rows("sources/encodings", _ENCODINGS[encoding]))
    decoded, notes = decode_text(text.encode(encoding), "a.txt")
    assert decoded == text
    assert len(notes) == 1
    assert notes[0].startswith("read as ")


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("Café".encode(), "iso-8859-1", "Café"),
        ("Café €".encode("cp1252"), "iso-8859-1", "Café €"),
        ("Čaj".encode("iso8859-2"), "iso-8859-2", "Čaj"),
        ("料金".encode("iso2022_jp"), "ISO-2022-JP", "料金"),
        ("요금".encode("iso2022_kr"), "iso-2022-kr", "요금"),
        (b"\x1b[1mbold", "iso-8859-1", "\x1b[1mbold"),
    ],
)
def test_text_and_pages_that_are_not_utf_8_have_the_charset_of_the_header(data: bytes, charset: str, text: str) -> None:
    assert decode_text(data, "a.md", charset) == decode_html(data, charset) == (text, ())


def test_every_format_that_is_text_is_read_in_its_encoding() -> None:
    rows = to_source_text(read_rows("sources/encodings", "japanese")[1].encode("shift_jis"), source="-", name="a.csv")
    assert "| 1 | 横浜 | 大 |" in rows.text
    assert rows.notes[0].startswith("read as Japanese text (Shift-JIS), because it is not UTF-8.")
    captions = "1\n00:00:01,000 --> 00:00:04,000\nGrüße aus Köln\n"
    assert "Grüße aus Köln" in to_source_text(captions.encode("cp1252"), source="-", name="a.srt").text
    fees = "Gebühren\n========\n\nZwölf Euro.\n".encode("cp1252")
    assert "# Gebühren" in to_source_text(fees, source="-", name="a.rst").text
    page = "<html><body><h1>料金</h1><p>係留の料金は千二百円です。</p></body></html>"
    for encoding in ("euc_jp", "utf-16-le", "utf-16-be"):
        assert decode_html(page.encode(encoding)) == (page, ())
