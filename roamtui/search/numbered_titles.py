"""Find the sections that a question names by number: "Artikel 5", "the 19th amendment", "clause 4.2"."""

import re
from collections.abc import Iterator
from itertools import islice

from roamtui.outline.references import SECTION_WORD
from roamtui.search.index import SectionIndex
from roamtui.search.lexicon import STOP_WORDS
from roamtui.search.terms import TERMS_MAX, tokenise
from roamtui.text import format_roman

_TITLES_MAX = 500
"""Maximum number of titles with a number that are compared with its name."""
_ROMAN_NUMERALS = {str(number): format_roman(number).upper() for number in range(1, 100)}
"""By the digits of the numbers from 1 to 99."""
_DIGITS = {roman: digits for digits, roman in _ROMAN_NUMERALS.items()}
_WORD = r"(?:\b[^\W\d_]+\.?\s+|§{1,2}\s*)"
_DECIMAL = r"\d{1,4}(?:\.\d{1,4})*[a-z]?(?!\w)"
_ROMAN = r"[IVXLC]+(?!\w)"
_ORDINAL = r"\d{1,4}(?:st|nd|rd|th|\.)"
_AND = r"(?:[-–&/]|\b(?:and|or|to|und|oder|bis|et|y)\b)\s*+"
_JOIN = rf"\s*+(?:,\s*+(?:{_AND})?|{_AND})"
"""What is between the numbers of a list or range: "2, 3 and 5", "2-4"."""
_DECIMALS, _ROMANS, _ORDINALS = (
    rf"{one}(?:{_JOIN}{one}){{0,{TERMS_MAX}}}" for one in (_DECIMAL, _ROMAN, _ORDINAL)
)
_NAME = re.compile(
    rf"(?P<before>{_WORD})(?P<numbers>{_DECIMALS}|{_ROMANS})(?![\w-])"
    rf"|\b(?P<ordinals>{_ORDINALS})\s+(?P<after>[^\W\d_]+)"
)
_ONE = re.compile(rf"{_DECIMAL}|{_ROMAN}|\d+")
_RANGE = re.compile(r"[-–]|to|bis")
_TITLE = re.compile(rf"(?P<word>{_WORD}?)(?P<number>{_DECIMAL}|{_ROMAN})(?!-)")
_LAST_NUMBER = re.compile(r"([1-9]\d*)[a-z]?\Z")


def find_numbered_sections(index: SectionIndex, question: str, within: range) -> list[int]:
    """Return the sections that a question names by a word and a number with which their titles begin.

    A name counts if only one section has it, or only one that is below a section with another name of the
    question, as in "section 8 of article 1". Then only the lower one is returned. The number before or after
    must have a title too. Otherwise the name may be that of a product, such as "Python 3".
    """
    groups: list[list[int]] = []
    for word, digits in dict.fromkeys(islice(_iter_names(question), TERMS_MAX)):
        group = [*_list_sections(index, word, digits, within)]
        is_series = any(any(_list_sections(index, word, near, within)) for near in _list_neighbours(digits))
        groups += [group] if group and is_series else []
    outer = [number for group in groups for number in group]
    below = {number for above in outer for number in index.numbering.subtree(above)[1:]}
    named: list[int] = []
    for group in groups:
        lower = [number for number in group if number in below]
        if len(lower or group) == 1:
            named += lower or group
    return [above for above in named if not {*named}.intersection(index.numbering.subtree(above)[1:])]


def _iter_names(question: str) -> Iterator[tuple[str, str]]:
    """Yield each word with its number, in digits."""
    for match in _NAME.finditer(question):
        word = _strip_word(match["before"] or match["after"])
        if word not in STOP_WORDS:
            yield from ((word, digits) for digits in _iter_numbers(match["numbers"] or match["ordinals"]))


def _iter_numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a list, with those inside its ranges, in digits."""
    last = ""
    end = 0
    for match in _ONE.finditer(text):
        number = _DIGITS.get(match[0], match[0])
        if _RANGE.search(text, end, match.start()):
            yield from _iter_between(last, number)
        yield number
        last = number
        end = match.end()


def _iter_between(first: str, last: str) -> Iterator[str]:
    """Yield the numbers between two that differ only at the end, such as 4.2 between 4.1 and 4.3."""
    start, end = map(_LAST_NUMBER.search, (first, last))
    if start is not None and end is not None and first[: start.start()] == last[: end.start()]:
        prefix = first[: start.start()]
        yield from (f"{prefix}{value}" for value in range(int(start[1]) + 1, int(end[1])))


def _list_neighbours(digits: str) -> list[str]:
    """Return the numbers before and after a number. Those of 104a are 103, 104 and 105."""
    match = _LAST_NUMBER.search(digits)
    if match is None:
        return []
    values = (int(match[1]) + step for step in (-1, 0, 1))
    return [near for value in values if (near := f"{digits[: match.start()]}{value}") != digits]


def _list_sections(index: SectionIndex, word: str, digits: str, within: range) -> Iterator[int]:
    """Yield the sections whose titles begin with a word, or an abbreviation of it, and a number.

    A word for "section" also fits a title that begins with its number, or with "§".
    """
    forms = (digits, _ROMAN_NUMERALS.get(digits, digits))
    phrases = " OR ".join(f'"{" ".join(tokenise(form))}"' for form in forms)
    for number, _ in index.rank(f"title : ({phrases})", within, _TITLES_MAX):
        match = _TITLE.match(index.title(number))
        if match is None or match["number"] not in forms:
            continue
        own = _strip_word(match["word"]).strip("§")
        if own.startswith(word) or (word.startswith(own) if own else SECTION_WORD.fullmatch(word)):
            yield number


def _strip_word(word: str) -> str:
    return word.strip().rstrip(".").casefold()
