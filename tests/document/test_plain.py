from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.plain import sanitise_line, sanitise_text, shorten, strip_anchor

_BIDI_CLASSES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_HOSTILE = st.sampled_from(
    ["\x1b[31m", "\x1b]52;c;eA==\x07", "\x9b31m", "\u202e", "\u2066", "\r", "\r\n", "\0", "\x7f", "\ud800", "\u200f"]
)
_ANY = st.lists(_HOSTILE | st.text(max_size=4)).map("".join)


def _is_obeyed(character: str) -> bool:
    if character in "\n\t":
        return False
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in _BIDI_CLASSES
        or character in "\u200e\u200f\u061c\ufeff"
        or 0xE0000 <= ord(character) < 0xE0080
    )


def test_exactly_the_unsafe_characters_are_replaced() -> None:
    replaced = {code for code in range(sys.maxunicode + 1) if sanitise_text(chr(code)) != chr(code)}
    assert replaced == {code for code in range(sys.maxunicode + 1) if _is_obeyed(chr(code))}


@given(_ANY)
def test_a_plain_line_is_one_trimmed_line(text: str) -> None:
    line = sanitise_line(text)
    assert sanitise_line(line) == line
    assert not any(map(_is_obeyed, line))
    assert not set(line) & set("\n\t\r")
    assert line == line.strip()
    assert "  " not in line


@given(st.text(), st.integers(2, 40))
def test_a_shortened_text_fits_and_ends_with_an_ellipsis(text: str, length_max: int) -> None:
    short = shorten(text, length_max)
    assert len(short) <= length_max
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Ovens {#ovens}", "Ovens"),
        ("Ovens{#the-ovens.2} ", "Ovens"),
        ("Ovens {: #ovens .hot }", "Ovens"),
        ("Ovens { # }", "Ovens { # }"),
        ("Ovens {#a} and dough", "Ovens {#a} and dough"),
    ],
)
def test_only_an_anchor_at_the_end_is_removed(title: str, shown: str) -> None:
    assert strip_anchor(title) == shown
