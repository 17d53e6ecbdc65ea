"""Ranges of characters, compared with sets of characters, and the pages of a long text."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from roamtui.outline.spans import merge_bounds, split_pages, subtract_bounds
from tests.outline.documents import write_words

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
def test_subtracting_ranges_leaves_the_other_characters(start: int, end: int, taken: list[tuple[int, int]]) -> None:
    left = subtract_bounds(start, end, taken)
    assert _characters(left) == _characters([(start, end)]) - _characters(taken)
    assert left == sorted(left)
    assert all(low < high for low, high in left)


_LONG = write_words(20_000)


@given(st.text(alphabet="a 1\n\r漢", max_size=300), st.integers(1, 400))
def test_pages_cover_any_text_without_gap_or_overlap(text: str, times: int) -> None:
    whole = text * times
    pages = split_pages(whole)
    assert [start for start, _ in pages] == [0, *(end for _, end in pages[:-1])]
    assert pages[-1][1] == len(whole)
    if len(pages) > 1:
        assert all(start < end for start, end in pages)
