"""Read lines of right-to-left scripts by the places of their letters.

pdfium turns the parts of such a line around, divides "README.md" at its signs, and moves spaces and signs
between the parts. But it gives the right place of each letter.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_LETTERS = (
    "\u0591-\u05ff\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
)
_RIGHT_TO_LEFT = re.compile(f"[{_LETTERS}]")
"""Letters of right-to-left scripts, without their digits and marks."""
_CORE = re.compile(rf"(?![{_LETTERS}])\w(?:[^{_LETTERS}]*(?![{_LETTERS}])\w)?")
"""What is read from left to right: from the first Latin letter or digit to the last."""
_NUMBER_SIGNS = "#$%¢-¥°±‰₠-₿"
_CORE_IN_HEBREW = re.compile(rf"[{_NUMBER_SIGNS}]{{0,3}}{_CORE.pattern}[{_NUMBER_SIGNS}]{{0,3}}")
"""Hebrew keeps percent and currency signs next to their number. Arabic reads them from right to left."""
_RANGE = re.compile("([-+\u2212])")
"""Arabic reads the numbers around these signs from right to left too."""
_WORD_GAP_MIN = 0.22
"""Minimum gap between two words, in heights of the font. Within Arabic words, gaps are up to 0.19."""
_BRACKETS = "()[]{}<>«»‹›"
_MIRRORED = str.maketrans(_BRACKETS, ")(][}{><»«›‹")
_LAM = "\u0644"


class PlacedLetter(NamedTuple):
    """A letter with its number on the page, its edges and the height of its font."""

    text: str
    number: int
    x0: float
    x1: float
    size: float


def has_right_to_left(text: str) -> bool:
    """Return whether a text has letters that are read from right to left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Return whether most words of a text, or half with most of its letters, are read from right to left."""
    if text.isascii():
        return False
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    turned = sum(map(has_right_to_left, words))
    letters = len(_RIGHT_TO_LEFT.findall(text))
    return (turned * 2, letters * 2) > (len(words), sum(map(str.isalpha, text)))


def split_into_words(letters: Sequence[PlacedLetter]) -> Iterator[list[PlacedLetter]]:
    """Yield the words of a line, from left to right."""
    ordered = _sort(letters)
    word = ordered[:1]
    end = word[0].x1 if word else 0.0
    for before, letter in pairwise(ordered):
        if letter.x0 - end > _WORD_GAP_MIN * min(before.size, letter.size):
            yield word
            word = []
        word.append(letter)
        end = max(end, letter.x1)
    if word:
        yield word


class MixedLine:
    """A line that has letters of a right-to-left script."""

    def __init__(self, text: str) -> None:
        self.is_turned = is_right_to_left(text)
        """Whether its words are read from right to left too."""
        self._is_arabic = any(unicodedata.bidirectional(letter) == "AL" for letter in text)

    def read_word(self, letters: Sequence[PlacedLetter]) -> str:
        """Return a word in reading order."""
        core_pattern = _CORE if self._is_arabic else _CORE_IN_HEBREW
        placed = _sort(letters)
        visible = "".join(letter.text for letter in placed)
        if has_right_to_left(visible):
            turned = "".join(reversed(_join_marks(placed))).translate(_MIRRORED)
            read = core_pattern.sub(lambda core: core[0][::-1].translate(_MIRRORED), turned)
            return unicodedata.normalize("NFKC", read)
        core = core_pattern.search(visible)
        if core is None or not self.is_turned:
            return visible
        left, right = visible[: core.start()], visible[core.end() :]
        return _place_signs(left, core[0], right, is_in_arabic=self._is_arabic)


def _place_signs(left: str, core: str, right: str, *, is_in_arabic: bool) -> str:
    """Move the signs around a Latin word or a number to where a line from right to left reads them.

    Punctuation at its left is read last. A bracket or a minus at the right of a number is read first.
    """
    while left and right and right[0] in (left[-1], left[-1].translate(_MIRRORED)):
        opening, closing = sorted((left[-1], left[-1].translate(_MIRRORED)))
        core = f"{opening}{core}{closing}"
        left, right = left[:-1], right[1:]
    is_number = not any(map(str.isalpha, core))
    if is_number and is_in_arabic:
        core = "".join(reversed(_RANGE.split(core)))
    head = tail = ""
    while left and (unicodedata.category(left[-1]) == "Po" or left[-1] in ("()[]{}" if is_number else "+")):
        tail += left[-1].translate(_MIRRORED)
        left = left[:-1]
    while is_number and right and (right[0] in _BRACKETS or unicodedata.bidirectional(right[0]) == "ES"):
        head = right[0].translate(_MIRRORED) + head
        right = right[1:]
    return f"{left}{head}{core}{right}{tail}"


def _join_marks(letters: Sequence[PlacedLetter]) -> list[str]:
    """Join each mark with the letter before it."""
    marked: list[str] = []
    for letter in letters:
        if marked and unicodedata.combining(letter.text):
            marked[-1] += letter.text
        else:
            marked.append(letter.text)
    return marked


def _sort(letters: Sequence[PlacedLetter]) -> list[PlacedLetter]:
    """Sort letters from left to right, each before the marks above it.

    The letters of a ligature have the same place. Of these, lam is read first.
    """

    def get_place(letter: PlacedLetter) -> tuple[float, bool]:
        is_mark = unicodedata.combining(letter.text)
        return (letter.x0 + letter.x1) / 2 if is_mark else letter.x0, letter.text == _LAM

    return sorted(letters, key=get_place)
