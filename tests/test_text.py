"""Text: where lines end, what is safe to show, how many tokens it has, and its ranges and pages."""

import itertools
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.outline.delivered import PART_TOKENS
from roamtui.sanitiser import sanitise_text
from roamtui.text import (
    compute_line_starts,
    estimate_tokens,
    merge_bounds,
    replace_ranges,
    shorten,
    split_parts,
    subtract_bounds,
)
from tests.case_files import read_rows


@pytest.mark.parametrize(("text", "starts"), read_rows("text", "line_ends"))
def test_lines_end_only_at_three_marks(text: str, starts: list[int]) -> None:
    assert list(compute_line_starts(text)) == starts


_BIDI_CLASSES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


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


@given(st.text(), st.integers(-3, 9))
def test_a_shortened_text_fits(text: str, length_max: int) -> None:
    shown = shorten(text, length_max)
    assert len(shown) <= max(0, length_max)
    assert shown == text or text.startswith(shown.removesuffix("…"))


@pytest.mark.parametrize(("text", "tokens"), read_rows("text", "estimates"))
def test_the_estimate_is_near_the_count_of_a_tokenizer(text: str, tokens: int) -> None:
    assert abs(estimate_tokens(text) - tokens) <= 0.3 * tokens


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(first: str, second: str) -> None:
    assert estimate_tokens(first + second) >= max(estimate_tokens(first), estimate_tokens(second))


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


@given(st.text("ab", max_size=12), _BOUNDS)
def test_replaced_ranges_leave_the_other_characters(text: str, bounds: list[tuple[int, int]]) -> None:
    merged = [(start, end) for start, end in merge_bounds(bounds) if end <= len(text)]
    replaced = replace_ranges(text, ((start, end, "<>") for start, end in merged))
    kept = "".join(sign for offset, sign in enumerate(text) if offset not in _characters(merged))
    assert replaced.replace("<>", "") == kept
    assert replaced.count("<>") == len(merged)


@given(st.text(alphabet="a 1\n\r漢", max_size=300), st.integers(1, 400))
def test_pages_cover_any_text_without_gap_or_overlap(text: str, times: int) -> None:
    whole = text * times
    pages = split_parts(whole, PART_TOKENS)
    assert [start for start, _ in pages] == [0, *(end for _, end in pages[:-1])]
    assert pages[-1][1] == len(whole)
    if len(pages) > 1:
        assert all(start < end for start, end in pages)
