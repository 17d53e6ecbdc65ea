from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import SourceError
from roamtui.sources.decode import decode_text

_TEXT = "# Überschrift\r\n\n漢字 🙂\n"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_names_the_encoding_and_is_dropped(mark: bytes, encoding: str) -> None:
    assert decode_text(mark + _TEXT.encode(encoding), "a.md") == (_TEXT, ())


def test_invalid_utf_8_is_replaced_with_a_note() -> None:
    text, notes = decode_text(b"# A\xffB\n\xc3", "a.md")
    assert text == "# A\ufffdB\n\ufffd"
    assert notes == ("a.md: 2 characters are not valid UTF-8 and show as \ufffd.",)


def test_nul_stays_in_the_text_with_a_note() -> None:
    text, notes = decode_text(b"# A\0B\n", "a.md")
    assert text == "# A\0B\n"
    assert "1 NUL" in notes[0]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7\n", "a PDF"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\x7fELF\x02", "a program"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"SQLite format 3\0", "SQLite"),
    ],
)
def test_a_known_binary_is_refused_by_its_kind(data: bytes, kind: str) -> None:
    with pytest.raises(SourceError, match=f"a.bin is .*{kind}"):
        decode_text(data, "a.bin")


def test_an_unknown_binary_is_refused() -> None:
    data = bytes(range(256)) * 40
    with pytest.raises(SourceError, match=r"a\.bin does not look like text"):
        decode_text(data, "a.bin")


@pytest.mark.parametrize(
    ("strange", "plain", "is_text"),
    [(64, 0, True), (65, 0, False), (65, 151, False), (65, 152, True), (65, 2_000, True)],
)
def test_too_many_control_characters_are_not_text(
    strange: int,
    plain: int,
    is_text: bool,  # noqa: FBT001
) -> None:
    """Up to 64 characters may be control characters, and above that at most 30 % of the text."""
    data = b"\x01" * strange + b"a" * plain
    if is_text:
        assert decode_text(data, "a.md") == (data.decode(), ())
    else:
        with pytest.raises(SourceError, match="does not look like text"):
            decode_text(data, "a.md")


@given(st.binary(max_size=400))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        text, notes = decode_text(data, "a.md")
    except SourceError as error:
        refusal = str(error)
    else:
        refusal = ""
        has_replaced = any("not valid" in note for note in notes)
        assert ("\ufffd" in text) == has_replaced or "\ufffd".encode() in data
    assert not refusal or refusal.endswith(".")
