"""A long text in pieces reads as the whole one does."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from roamtui.document import text as module
from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.document.lines import find_line_starts
from roamtui.document.parse import parse_document
from roamtui.document.text import LongText, keep_text

_WIDE = "\N{CROISSANT}"
_WHOLE = ("line of words\r\n" * 5_000 + f"{_WIDE}\n" + "x" * 70_000 + "\rend [mark]") * 2
_TEXT = LongText(_WHOLE)
_OFFSETS = st.integers(-len(_WHOLE) - 5, len(_WHOLE) + 5) | st.integers(8_180, 8_200) | st.none()


@given(_OFFSETS, _OFFSETS)
def test_a_slice_is_that_of_the_whole(start: int | None, end: int | None) -> None:
    assert _TEXT[start:end] == _WHOLE[start:end]


@given(st.integers(0, len(_WHOLE)), st.integers(0, len(_WHOLE) + 5), st.sampled_from([_WIDE, "[", "\r", "@"]))
def test_what_is_found_and_counted_is_that_of_the_whole(start: int, end: int, character: str) -> None:
    assert _TEXT.find(character, start, end) == _WHOLE.find(character, start, end)
    assert _TEXT.find(character, start) == _WHOLE.find(character, start)
    assert _TEXT.count(character, start, end) == _WHOLE.count(character, start, end)


def test_length_digest_and_lines_are_those_of_the_whole() -> None:
    assert (len(_TEXT), str(_TEXT), hash_text(_TEXT)) == (len(_WHOLE), _WHOLE, hash_text(_WHOLE))
    assert find_line_starts(_TEXT) == find_line_starts(_WHOLE)
    assert LongText(_WHOLE) == _TEXT
    assert _TEXT == _WHOLE
    assert LongText(_WHOLE + "!") != _TEXT


def test_one_wide_character_does_not_make_all_others_wide() -> None:
    kept = keep_text("a" * module.LENGTH_MIN + _WIDE)
    assert isinstance(kept, LongText)
    assert sum(map(sys.getsizeof, kept.pieces())) < 1.2 * module.LENGTH_MIN
    assert isinstance(keep_text("a" * module.LENGTH_MIN), str)
    assert isinstance(keep_text(_WIDE), str)


def test_a_long_document_is_its_sections_joined() -> None:
    text = f"# Title {_WIDE}\n\n" + "".join(f"## Part {n}\n\n{'words of it ' * 200}\n\n" for n in range(2_000))
    library = Library(source="long.md", root=parse_document(text))
    assert isinstance(library.root.text, LongText)
    assert "".join(map(library.own_text, library.walk())) == text
