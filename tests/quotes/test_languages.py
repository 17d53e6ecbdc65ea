"""Quotes in many languages, in texts that are spelled in many ways."""

import re
import unicodedata
from collections.abc import Callable, Iterator

import pytest

from roamtui.quotes.find import find_quote
from tests.case_files import read_rows

_LANGUAGES = {name: (words, other) for name, words, other in read_rows("quotes/languages", "languages")}
"""Words of a text, and words that it lacks: their last letter is cut off or another one."""
_HALF_WIDTH = {ord(unicodedata.normalize("NFKC", sign)): sign for sign in map(chr, range(0xFF66, 0xFF9E))}
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_ARABIC_VOWEL, _HEBREW_VOWEL = "\u064e", "\u05b8"


def _curl(text: str) -> str:
    return re.sub('"([^"]*)"', "“\\1”", text).replace("-", "–")


def _hyphenate(text: str) -> str:
    return re.sub(r"(?<=[^\W\d_]{2})(?=[^\W\d_]{2})", "\u00ad", text)


def _escape(text: str) -> str:
    return "".join(f"&#{ord(each)};" if ord(each) > 127 else each for each in text).replace('"', "&quot;")


def _break_lines(text: str) -> str:
    """Break a line at each space, but not beside a dash, and in scripts without spaces between any two letters."""
    unspaced = r"[\u0e01-\u0e2f\u0e40-\u0e45\u3041-\u30ff\u4e00-\u9fff]"
    return re.sub(f"(?<={unspaced})(?={unspaced})|(?<!-) (?!-)", "\n", text)


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "full width": lambda text: text.translate(_FULL_WIDTH),
    "half width": lambda text: unicodedata.normalize("NFC", text).translate(_HALF_WIDTH),
    "typographic": _curl,
    "soft hyphens": _hyphenate,
    "entities": _escape,
    "Arabic vowel signs": lambda text: re.sub(r"([\u0621-\u064a])(?=\w)", rf"\1{_ARABIC_VOWEL}", text),
    "Hebrew vowel signs": lambda text: re.sub(r"([\u05d0-\u05ea])(?=\w)", rf"\1{_HEBREW_VOWEL}", text),
    "bold words": lambda text: re.sub(r"([^\W\d_]{2,})(?= |\Z)", r"**\1**", text),
    "\\n": _break_lines,
    "\\r\\n": lambda text: _break_lines(text).replace("\n", "\r\n"),
    "\\r": lambda text: _break_lines(text).replace("\n", "\r"),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "right-to-left marks": lambda text: text.replace(" ", " \u200f"),
}


def _list_cases() -> Iterator[tuple[str, str]]:
    for language, (words, _) in _LANGUAGES.items():
        for name, spell in _SPELLINGS.items():
            if name == "as it is" or spell(words) != words:
                yield language, name


@pytest.mark.parametrize(("language", "spelling"), _list_cases())
@pytest.mark.parametrize("is_reversed", [False, True], ids=["in the text", "in the quote"])
def test_words_are_found_however_they_are_spelled(language: str, spelling: str, is_reversed: bool) -> None:  # noqa: FBT001
    words, other = _LANGUAGES[language]
    spell = _SPELLINGS[spelling]
    text = f"Vor dem Satz.\n\n{words if is_reversed else spell(words)}\n\nNach dem Satz."
    assert find_quote(spell(words) if is_reversed else words, text)
    assert find_quote(spell(other) if is_reversed else other, text) is None
