"""Lines end only at three marks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.text import compute_line_starts, line_number_at


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("a\n", [0]),
        ("a\r\nb\rc\n\nd", [0, 3, 5, 7, 8]),
        ("a\fb\u2028c\x85d\x1ce\vf", [0]),
    ],
)
def test_lines_end_only_at_three_marks(text: str, starts: list[int]) -> None:
    assert list(compute_line_starts(text)) == starts


@given(st.text(alphabet="ab\n\r\f\v\x1c\x85\u2028\u2029", max_size=40))
def test_a_line_number_counts_the_line_ends_before(text: str) -> None:
    ends = [match.end() for match in re.finditer("\r\n|\r|\n", text)]
    for offset in range(len(text)):
        assert line_number_at(compute_line_starts(text), offset) == 1 + sum(end <= offset for end in ends)
