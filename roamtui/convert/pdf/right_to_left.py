"""Reads lines of right-to-left scripts by the places of their letters.

In such a line, pdfium reverses the parts, divides "README.md" at its signs, and moves spaces and signs. But
the place that it gives for each letter is right.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from roamtui.convert.pdf.words import SMALL_RATIO, SUPERSCRIPT_END, SUPERSCRIPT_START

_LETTERS = (
    "\u0591-\u05ff\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
)
_RIGHT_TO_LEFT = re.compile(f"[{_LETTERS}]")
"""Letters of right-to-left scripts, without their digits and marks."""
_OTHER = rf"(?:(?![{_LETTERS}])\w)"
_OTHER_LETTER = rf"(?:(?![{_LETTERS}])[^\W\d_])"
_CORE = re.compile(
    rf"(?:\d[^\s{_LETTERS}]*)?{_OTHER_LETTER}(?:[^{_LETTERS}]*{_OTHER})?[%+#.]{{0,2}}"
    rf"|{_OTHER}(?:[^\s{_LETTERS}]*{_OTHER})?[%{SUPERSCRIPT_END}]?"
)
"""Text that is read from left to right: Latin words with the numbers between them, or a lone number."""
_ARABIC_RANGE = re.compile("([-+\u2212])")
"""Arabic reads the numbers around these signs from right to left too."""
_WORD_GAP_MIN = 0.22
"""Minimum gap between two words, in heights of the font. Within Arabic words, gaps are up to 0.19."""
_MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")
_LAM = "\u0644"


class PlacedLetter(NamedTuple):
    """A letter with its number on the page, its edges, the height of its font, and how far down it is."""

    text: str
    number: int
    x0: float
    x1: float
    size: float
    middle: float


def has_right_to_left(text: str) -> bool:
    """Return whether a text has letters that are read from right to left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Return whether most words of a text, or half with most of its letters, are read from right to left."""
    if text.isascii():
        return False
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    right_to_left_count = sum(map(has_right_to_left, words))
    letters = len(_RIGHT_TO_LEFT.findall(text))
    return (right_to_left_count * 2, letters * 2) > (len(words), sum(map(str.isalpha, text)))


def split_into_lines(letters: Iterable[PlacedLetter]) -> Iterator[list[PlacedLetter]]:
    """Yield the letters of each line on a page. pdfium divides some lines of tables, and joins others."""
    line: list[PlacedLetter] = []
    for letter in sorted(letters, key=attrgetter("middle")):
        if line and letter.middle - line[-1].middle > letter.size / 2:
            yield line
            line = []
        line.append(letter)
    if line:
        yield line


def split_into_words(letters: Sequence[PlacedLetter]) -> Iterator[list[PlacedLetter]]:
    """Yield the words of a line, with their letters from left to right."""
    ordered = sort_letters(letters)
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


def join_letters(word: Sequence[PlacedLetter]) -> str:
    """Return the text of a word. Raised figures after a figure are marked, so that they never join it."""
    largest = max(word, key=attrgetter("size"))
    text = ""
    for is_raised, group in groupby(
        word, lambda letter: letter.size < SMALL_RATIO * largest.size and letter.middle < largest.middle
    ):
        part = "".join(letter.text for letter in group)
        is_mark = is_raised and part.isdecimal() and text[-1:].isdecimal()
        text += f"{SUPERSCRIPT_START}{part}{SUPERSCRIPT_END}" if is_mark else part
    return text


def sort_letters(letters: Sequence[PlacedLetter]) -> list[PlacedLetter]:
    """Sort letters from left to right, each before the marks above it.

    The letters of a ligature have the same place. Lam comes last among them, because it is read first.
    """

    def get_place(letter: PlacedLetter) -> tuple[float, bool]:
        is_mark = unicodedata.combining(letter.text)
        return (letter.x0 + letter.x1) / 2 if is_mark else letter.x0, letter.text == _LAM

    return sorted(letters, key=get_place)


def to_logical_order(text: str) -> str:
    """Return a line in reading order. The letters of `text` are in the order of the page, left to right."""
    is_arabic = any(unicodedata.bidirectional(letter) == "AL" for letter in text)
    parts: list[str] = []
    position = 0
    for match in _CORE.finditer(text):
        core = match[0]
        if is_arabic and not any(map(str.isalpha, core)):
            core = "".join(reversed(_ARABIC_RANGE.split(core)))
        parts += (_turn(text[position : match.start()]), core)
        position = match.end()
    return "".join(reversed([*parts, _turn(text[position:])]))


def _turn(text: str) -> str:
    """Reverse the order of letters. Each keeps the marks above it, and brackets are mirrored."""
    marked: list[str] = []
    for letter in text:
        if marked and unicodedata.combining(letter):
            marked[-1] += letter
        else:
            marked.append(letter)
    return unicodedata.normalize("NFKC", "".join(reversed(marked)).translate(_MIRRORED))
