"""A long text in pieces behaves like a string; lines end only at three marks; page footers are skipped."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document import text as module
from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.document.text import LongText, compact_text, compute_line_starts, line_number_at

_WIDE = "\N{CROISSANT}"
_WHOLE = ("line of words\r\n" * 5_000 + f"{_WIDE}\n" + "x" * 70_000 + "\rend [mark]") * 2
_TEXT = LongText(_WHOLE)
_OFFSETS = st.integers(-len(_WHOLE) - 5, len(_WHOLE) + 5) | st.integers(8_180, 8_200) | st.none()


@given(_OFFSETS, _OFFSETS)
def test_slices_equal_those_of_a_string(start: int | None, end: int | None) -> None:
    assert _TEXT[start:end] == _WHOLE[start:end]


@given(st.integers(0, len(_WHOLE)), st.integers(0, len(_WHOLE) + 5), st.sampled_from([_WIDE, "[", "\r", "@"]))
def test_searches_and_counts_equal_those_of_a_string(start: int, end: int, character: str) -> None:
    assert _TEXT.find(character, start, end) == _WHOLE.find(character, start, end)
    assert _TEXT.find(character, start) == _WHOLE.find(character, start)
    assert _TEXT.count(character, start, end) == _WHOLE.count(character, start, end)


def test_length_digest_and_lines_equal_those_of_a_string() -> None:
    assert (len(_TEXT), str(_TEXT), hash_text(_TEXT)) == (len(_WHOLE), _WHOLE, hash_text(_WHOLE))
    assert compute_line_starts(_TEXT) == compute_line_starts(_WHOLE)
    assert LongText(_WHOLE) == _TEXT
    assert _TEXT == _WHOLE
    assert LongText(_WHOLE + "!") != _TEXT


def test_one_wide_character_does_not_make_all_others_wide() -> None:
    kept = compact_text("a" * module.LENGTH_MIN + _WIDE)
    assert isinstance(kept, LongText)
    assert sum(map(sys.getsizeof, kept._pieces)) < 1.2 * module.LENGTH_MIN
    assert isinstance(compact_text("a" * module.LENGTH_MIN), str)
    assert isinstance(compact_text(_WIDE), str)


def test_a_long_document_is_its_sections_joined() -> None:
    text = f"# Title {_WIDE}\n\n" + "".join(f"## Part {n}\n\n{'words of it ' * 200}\n\n" for n in range(2_000))
    library = Library(source="long.md", root=parse_document(text))
    assert isinstance(library.root.text, LongText)
    assert "".join(map(library.own_text, library.walk())) == text


_TEXTS = st.text(alphabet="ab\n\r\f\v\x1c\x85\u2028\u2029", max_size=40)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("a", [0]),
        ("a\n", [0]),
        ("a\nb", [0, 2]),
        ("a\r\nb\rc\n\nd", [0, 3, 5, 7, 8]),
        ("\n", [0]),
        ("\r\n\r", [0, 2]),
        ("a\fb\u2028c\x85d\x1ce\vf", [0]),
    ],
)
def test_lines_end_only_at_three_marks(text: str, starts: list[int]) -> None:
    assert list(compute_line_starts(text)) == starts


@given(_TEXTS)
def test_a_line_number_counts_the_line_ends_before(text: str) -> None:
    starts = compute_line_starts(text)
    for offset in range(len(text)):
        ends = [match.end() for match in re.finditer("\r\n|\r|\n", text)]
        assert line_number_at(starts, offset) == 1 + sum(end <= offset for end in ends)
