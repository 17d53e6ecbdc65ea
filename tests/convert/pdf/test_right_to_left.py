"""Lines of Arabic and Hebrew: words, numbers, signs and marks are read in order, as they are placed."""

import pytest

from roamtui.convert.pdf.right_to_left import (
    PlacedLetter,
    join_letters,
    sort_letters,
    split_into_lines,
    split_into_words,
    to_logical_order,
)
from tests.case_files import read_rows


def _place(visible: str, middle: float = 0.0) -> list[PlacedLetter]:
    """Return letters from left to right, each 5 points wide and 10 high."""
    places = [(letter, number) for number, letter in enumerate(visible) if letter != " "]
    return [PlacedLetter(letter, number, 5.0 * number, 5.0 * number + 5, 10.0, middle) for letter, number in places]


@pytest.mark.parametrize(("visible", "read"), read_rows("convert/pdf/right_to_left", "lines"))
def test_a_line_is_read_in_order(visible: str, read: str) -> None:
    assert to_logical_order(visible) == read


def test_letters_are_in_the_line_in_which_they_are_placed() -> None:
    lines = ("ةباتك", "ةداملا")
    upper, lower = (_place(visible, 20.0 * number) for number, visible in enumerate(lines))
    raised = lower[0]._replace(middle=17.0)  # such as the mark of a note
    read = [*split_into_lines([*lower[1:], *upper[3:], raised, *upper[:3]])]
    assert ["".join(letter.text for letter in sort_letters(line)) for line in read] == [*lines]


def test_raised_figures_never_join_a_number() -> None:
    number, mark = _place("1,250"), _place("      12"[1:], -3.0)
    text = join_letters([*number, *(letter._replace(size=7.0) for letter in mark)])
    assert to_logical_order(f"םילקש {text} ריחמ") == "מחיר 1,250\x0312\x04 שקלים"


def test_gaps_divide_words_and_spaces_of_pdfium_do_not() -> None:
    words = split_into_words(_place("ةباتك :(5) ةداملا")[::-1])
    assert ["".join(letter.text for letter in word) for word in words] == ["ةباتك", ":(5)", "ةداملا"]
    assert [*split_into_words([])] == []


@pytest.mark.parametrize("places", read_rows("convert/pdf/right_to_left", "marks"))
def test_a_mark_follows_its_letter(places: dict[str, tuple[float, float]]) -> None:
    letters = [PlacedLetter(text, number, *place, 10.0, 0.0) for number, (text, place) in enumerate(places.items())]
    visible = "".join(letter.text for letter in sort_letters([*letters, PlacedLetter("م", 9, 4.0, 9.0, 10.0, 0.0)]))
    assert to_logical_order(visible) == "مدٌ"
