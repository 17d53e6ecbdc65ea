"""A text that repeats itself without end is noticed, and one copy of what it repeats is kept."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.models.repetition import RepetitionGuard, cut_repetition, find_period

START = "Late fees are due within 14 days. "


@pytest.mark.parametrize("unit", ["The desk opens at 11. ", "no ", "a", "- It is so [e75a6cd0].\n", "x" * 199 + " "])
def test_a_repetition_is_noticed_and_one_copy_is_kept(unit: str) -> None:
    guard = RepetitionGuard()
    text = START
    while not guard.feed(unit):
        text += unit
        assert len(text) < 3_000
    assert cut_repetition(text + unit).startswith((START + unit).rstrip())
    assert len(cut_repetition(text + unit)) <= len(START + unit) + 2


@pytest.mark.parametrize(
    "text",
    [
        START * 5,
        "The desk opens at 11. " * 20,
        "| --- | --- |\n" * 200,
        "=" * 2_000,
        "\n" * 2_000,
        "".join(f"{number}. The desk opens at {number} hours.\n" for number in range(100)),
        ("x" * 201 + " ") * 12,
    ],
    ids=["five times", "short", "a table's lines", "a rule", "blank lines", "numbered", "long"],
)
def test_other_texts_are_no_repetition(text: str) -> None:
    assert not RepetitionGuard().feed(text)


@example(".aaaaaa")
@given(st.text(alphabet="ab .\n", min_size=1, max_size=30).filter(lambda unit: any(map(str.isalpha, unit))))
def test_whatever_is_repeated_is_found(unit: str) -> None:
    text = START + unit * 700
    period = find_period(text)
    assert 0 < period <= len(unit)
    assert len(cut_repetition(text)) <= len(START) + 2 * len(unit)


@given(st.text(alphabet="ab", max_size=2_000), st.lists(st.integers(0, 2_000), max_size=9))
def test_the_pieces_of_a_text_do_not_matter(text: str, cuts: list[int]) -> None:
    guard = RepetitionGuard()
    bounds = sorted({0, *cuts, len(text)})
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    assert any(guard.feed(piece) for piece in pieces) == RepetitionGuard().feed(text)
