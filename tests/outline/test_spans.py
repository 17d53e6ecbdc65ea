"""Arithmetic on ranges, against sets of characters."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from roamtui.outline.spans import merge_bounds, subtract_bounds

_BOUNDS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=6)


def _characters(bounds: list[tuple[int, int]]) -> set[int]:
    return {position for start, end in bounds for position in range(start, end)}


@given(_BOUNDS)
def test_merged_ranges_hold_the_same_characters_and_do_not_touch(bounds: list[tuple[int, int]]) -> None:
    merged = merge_bounds(bounds)
    assert _characters(merged) == _characters(bounds)
    assert all(start < end for start, end in merged)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(merged))


@given(st.integers(0, 40), st.integers(0, 40), _BOUNDS)
def test_what_is_left_is_what_was_not_taken(start: int, end: int, taken: list[tuple[int, int]]) -> None:
    left = subtract_bounds(start, end, taken)
    assert _characters(left) == _characters([(start, end)]) - _characters(taken)
    assert left == sorted(left)
    assert all(low < high for low, high in left)
