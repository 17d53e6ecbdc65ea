"""Lines of Arabic and Hebrew: words, numbers, signs and marks are read in order, as they are placed."""

import pytest

from roamtui.convert.pdf.right_to_left import MixedLine, PlacedLetter, split_into_words

_ARABIC, _HEBREW = "كتب الشاعر", "כתב המשורר"


def _place(visible: str) -> list[PlacedLetter]:
    """Return letters from left to right, each 5 points wide."""
    places = [(letter, number) for number, letter in enumerate(visible) if letter != " "]
    return [PlacedLetter(letter, number, 5.0 * number, 5.0 * number + 5, 10.0) for letter, number in places]


@pytest.mark.parametrize(
    ("line", "visible", "read"),
    [
        (_ARABIC, ".باتك", "كتاب."),
        (_ARABIC, "(باتك)", "(كتاب)"),
        (_ARABIC, "%7.25", "7.25%"),
        (_ARABIC, "12%", "12%"),
        (_ARABIC, "3-2", "2-3"),
        (_HEBREW, "2-3", "2-3"),
        (_ARABIC, ":(5)", "(5):"),
        (_ARABIC, "5-", "-5"),
        (_ARABIC, ")EU)", "(EU)"),
        (_ARABIC, ".Word", "Word."),
        (_ARABIC, "f(x)", "f(x)"),
        (_HEBREW, "++C", "C++"),
        (_HEBREW, "7.25%-ב", "ב-7.25%"),
        ("Words of כתב", ".5", ".5"),
    ],
)
def test_a_word_is_read_in_order(line: str, visible: str, read: str) -> None:
    assert MixedLine(line).read_word(_place(visible)) == read


def test_gaps_divide_words_and_spaces_of_pdfium_do_not() -> None:
    words = split_into_words(_place("ةباتك :(5) ةداملا")[::-1])
    assert [MixedLine(_ARABIC).read_word(word) for word in words] == ["كتابة", "(5):", "المادة"]
    assert [*split_into_words([])] == []


@pytest.mark.parametrize(
    "places",
    [
        {"د": (0, 2), "ٌ": (2, 4)},  # equal parts of one place
        {"د": (0, 4), "ٌ": (1, 3)},  # over the letter
    ],
)
def test_a_mark_follows_its_letter(places: dict[str, tuple[float, float]]) -> None:
    letters = [PlacedLetter(text, number, *place, 10.0) for number, (text, place) in enumerate(places.items())]
    assert MixedLine(_ARABIC).read_word([*letters, PlacedLetter("م", 9, 4.0, 9.0, 10.0)]) == "مدٌ"
