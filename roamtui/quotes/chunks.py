"""Divide a chunk, the text between two spaces, into words with the keys that compare a quote and a text.

A *word* is a chunk without the punctuation at its edges. A sign that means something, such as `%`, `<` or
`€`, is no punctuation. A chunk has several words if a dash divides it, if the space between two sentences is
missing, or in a script without spaces, where each character is a word. Raised and lowered figures and note
marks are words of their own.

A word has one *exact* key: its spelling after Unicode's compatibility normalisation (NFKC), without invisible
characters and the vowel signs of Arabic and Hebrew, with one form of apostrophes and dashes. Its *letters*
tell whether it is the same word written otherwise: its letters in lower case, its numbers with their
separators, and its signs, each with the gap before it. So a space or a bracket may separate a number from its
unit, and a hyphen or stop may be in a word, but a space never makes one word or number of two.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import IntFlag, auto
from functools import lru_cache
from typing import NamedTuple

from roamtui.sentences import iter_sentence_ends
from roamtui.text import INVISIBLE, UNSPACED


class WordFlag(IntFlag):
    """What is special about a word."""

    NONE = 0
    CODE = auto()
    """It is in a block of code, where nothing but white space is dropped."""
    NOTE = auto()
    """A note mark or list number. A quote may leave it out, and then counts as written otherwise."""
    INSIDE = auto()
    """It continues the word before it, so that no quote begins or ends between the two."""


class Gap(IntFlag):
    """What is between a letter, figure or sign and the one before it."""

    NONE = 0
    SPACE = auto()
    """A space, or punctuation that divides words."""
    HYPHEN = auto()
    """A hyphen or stop, which other writers leave out, or write as a space."""
    BRACKETS = auto()
    """The figure itself is in brackets."""
    NEGATIVE = auto()
    """It is in brackets in a row of a table. In prose, brackets are punctuation."""


_UNSPACED_MARKS = (
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
    r"\uff9e\uff9f"
)
"""Marks that belong to the letter before them in scripts without spaces."""
_UNSPACED_LETTER = rf"(?![{_UNSPACED_MARKS}])(?=[{UNSPACED}])[^\W\d_]"
_RAISED_FIGURE = r"[⁺⁻]?⁽?[¹²³⁰-⁹ⁿ]+⁾?"
_POWER = r"\^(?:\([^()\s]{1,20}\)|\{[^{}\s]{1,20}\}|[+\-−]?\w+)"
_PARTS = re.compile(
    rf"(?P<power>(?<=[\w)\]]){_POWER})|(?P<raised>{_RAISED_FIGURE})"
    r"|(?P<lowered>(?<=\d)[₀-₉]+|[₀-₉]+(?=\d))"
    rf"|(?P<character>{_UNSPACED_LETTER}[{_UNSPACED_MARKS}]*)"
    r"|(?P<note>\[\^[^\[\]\s]{1,100}\]|(?<=\S)\[\d{1,3}(?:[,–-]\d{1,3})*\])"
    r"|(?P<dash>[—―]+|(?<=[^\s\-(\[{])--+(?=[^\s\-]))"
)
"""Text that divides a chunk: words of their own, and dashes between words."""
_EDGE_CATEGORIES = frozenset({"Cf", "Ps", "Pe", "Pi", "Pf", "Pc", "Po", "Pd", "Sk"})
_MEANINGFUL = frozenset("%‰‱٪؉؊&@#§^")
"""Unicode calls these punctuation, but they are part of the word next to them."""
_LEGAL_MARKS = frozenset("™®©℠")
"""Signs that belong to no word."""
_HYPHENS = re.compile(r"[‐‑‒–−﹣－]")
"""Signs that a quote may write as a plain hyphen."""
_AFTER_DASH = re.compile(r"-*[^\W_]|\W*\d")
"""Text after a dash to which the dash belongs: letters, or a number with signs before it, such as a price."""
_APOSTROPHES = re.compile(r"[’‘ʼ＇′]")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_VOWEL_SIGNS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed]"
)
_FRACTIONS = re.compile("[¼-¾⅐-⅞]")
_SUBSCRIPT = re.compile(r"(?<![^\W_])([^\W\d_])_(?=\d+(?!\w))")
"""A lowered figure in plain text, as in `x_1`."""
_LOOSE_PARTS = re.compile(
    r"(?:(?<=[a0])|(?<=0[$)]))-+|(?P<letters>a+)|(?P<number>(?:(?<![a0]),)?0+(?:[,.]+0+)*)"
    r"|(?P<sign>[$=])|(?P<dashes>\A-+|-+(?=[$=(,.]*0))"
)
"""What counts in a word, in a text that has the kind of each character in its place. A dash between two words
or numbers does not, and other punctuation counts only between two figures."""
_KINDS = {
    **dict.fromkeys(".,", ","),
    **dict.fromkeys(_MEANINGFUL | {"*"}, "$"),
    "-": "-",
    " ": " ",
}
_KINDS_OF_CATEGORIES = {"Sm": "=", "Sc": "$", "So": "$", "Ps": "(", "Pe": ")"}
_CODE_PARTS = re.compile(rf"{_UNSPACED_LETTER}|(?:(?!{_UNSPACED_LETTER})\w)+(?:[.,]\d+)*|[^\w\s]", re.DOTALL)
_CODE_EDGES = "\"'`()[]{},;:."
_BRACKETS = "\"'“”‘’«»()[]{},;:."
_LAST_RUN = re.compile(r"(?P<run>\w*)(?P<brackets>[)\]]*)\Z")
_POWER_BASES = frozenset({"10", "2"})
_SYMBOL_LENGTH_MAX = 2
"""Number of letters of the longest variable or unit, after which a raised figure is a power: x², (n+1)²."""


class Word(NamedTuple):
    """A word of a chunk."""

    start: int
    """Offset in the chunk."""
    end: int
    exact: str
    """Its exact key."""
    letters: str
    """Its letters in lower case, its numbers and its signs."""
    gaps: bytes
    """The gap before each of its letters."""
    flags: WordFlag = WordFlag.NONE


@lru_cache(maxsize=1 << 16)
def divide_chunk(chunk: str) -> tuple[Word, ...]:
    """Return the words of a chunk of prose."""
    if chunk.isascii() and chunk.isalpha():
        return (Word(0, len(chunk), chunk, chunk.lower(), _make_gaps(Gap.SPACE, len(chunk))),)
    words: list[Word] = []
    position = 0
    for match in _PARTS.finditer(chunk):
        start, end = match.span()
        words += _read_runs(chunk, position, start)
        match match.lastgroup:
            case "dash":
                pass
            case "character":
                numbers = [unicodedata.numeric(each, None) for each in chunk[start - 1 : start + 1]]
                flag = WordFlag.INSIDE if start > 0 and None not in numbers else WordFlag.NONE
                words.append(_make_word(normalise_word(match[0]), start, end, flag))
            case "lowered":
                words.append(_make_word(f"_{normalise_word(match[0])}", start, end, WordFlag.INSIDE))
            case "note":
                words.append(_make_word(normalise_word(match[0].strip("[]^()")), start, end, WordFlag.NOTE))
            case kind:
                value = normalise_word(match[0].strip("^(){}⁽⁾"))
                after_figure = kind == "power" and chunk[start - 1].isdigit()
                is_negative = value.startswith("-")
                is_power = after_figure or is_negative or _is_power(chunk[position:start], chunk[end:])
                word = _make_word(f"^{value}", start, end, WordFlag.INSIDE if is_power else WordFlag.NOTE)
                if is_power and chunk[start - 1].isalpha():  # m2 is m²
                    word = word._replace(letters=word.letters[1:], gaps=word.gaps[1:])
                words.append(word)
        position = end
    return (*words, *_read_runs(chunk, position, len(chunk)))


@lru_cache(maxsize=1 << 14)
def divide_code_chunk(chunk: str) -> tuple[Word, ...]:
    """Return the words of a chunk of code, in which each sign is a word and nothing is written otherwise."""
    core_start = len(chunk) - len(chunk.lstrip(_CODE_EDGES))
    core_end = len(chunk.rstrip(_CODE_EDGES))
    words: list[Word] = []
    for match in _CODE_PARTS.finditer(chunk):
        start, end = match.span()
        key = normalise_word(match[0])
        if not key:  # an invisible sign
            continue
        gaps = _make_gaps(Gap.NONE if start else Gap.SPACE, len(key))
        flag = WordFlag.INSIDE if core_start < start < core_end else WordFlag.NONE
        words.append(Word(start, end, key, key, gaps, flag))
    return tuple(words)


def is_sign(chunk: str) -> bool:
    """Return whether a chunk has neither letters nor digits."""
    return not any(map(str.isalnum, chunk))


def _is_power(before: str, after: str) -> bool:
    """Return whether a raised figure between these texts is a power, and not a note mark."""
    base = _LAST_RUN.search(before)
    if base is None or not base[0]:
        return False
    run = base["run"]
    is_symbol = len(run) <= _SYMBOL_LENGTH_MAX and (run.isalpha() or bool(base["brackets"]))
    return run in _POWER_BASES or is_symbol or after[:1].isalnum() or after[:1] in {*"(["}


def _read_runs(chunk: str, start: int, end: int) -> Iterator[Word]:
    """Yield the words of a part of a chunk that is divided only where a sentence ends."""
    position = start
    for length in iter_sentence_ends(f"{chunk[start:end]} "):
        yield from _read_run(chunk, position, start + length)
        position = start + length
    yield from _read_run(chunk, position, end)


def _read_run(chunk: str, start: int, end: int) -> list[Word]:
    """Return the word of an undivided part of a chunk, or none if the part is punctuation."""
    text = chunk[start:end]
    if is_sign(text):
        # A single dash divides words, and a row of asterisks is a rule.
        is_word = text == "*" or not all(map(_is_edge, text))
        return [_make_word(normalise_word(text.strip(_BRACKETS)), start, end)] if is_word else []
    low, high = 0, len(text)
    has_figure = any(map(str.isdigit, text))
    while _is_edge(text[low], has_figure=has_figure) and not _belongs_to_next(text, low):
        low += 1
    while _is_edge(text[high - 1], has_figure=has_figure):
        high -= 1
    word = _FRACTIONS.sub(r" \g<0>", text[low:high]).lstrip()  # 1½ has two numbers
    return [_make_word(normalise_word(word), start + low, start + high)]


def _is_edge(character: str, *, has_figure: bool = True) -> bool:
    """Return whether a character is punctuation, like the `$` around a formula without a figure."""
    category = unicodedata.category(character)
    if category == "Sc":
        return not has_figure
    if character in _LEGAL_MARKS:
        return True
    return category in _EDGE_CATEGORIES and unicodedata.normalize("NFKC", character) not in _MEANINGFUL


def _belongs_to_next(text: str, index: int) -> bool:
    """Return whether a dash, or a sign that ends sentences, belongs to the letters or the number after it."""
    following = _INVISIBLE.sub("", text[index + 1 :])
    if text[index] in ".,:;!?":
        return following[:1].isalnum() and text[index - 1 : index] != text[index]
    return _HYPHENS.sub("-", text[index]) == "-" and _AFTER_DASH.match(following) is not None


def normalise_word(text: str) -> str:
    """Return a text in the form of exact keys: NFKC, with one form of dashes and apostrophes."""
    if text.isascii():
        return text
    text = _APOSTROPHES.sub("'", _INVISIBLE.sub("", text))
    text = unicodedata.normalize("NFKC", text)
    return _HYPHENS.sub("-", _VOWEL_SIGNS.sub("", text)).replace("⁄", "/")


def _make_word(text: str, start: int, end: int, flags: WordFlag = WordFlag.NONE) -> Word:
    """Make a word from its folded text."""
    key = _SUBSCRIPT.sub(r"\1", text)
    folded = key.casefold()
    kinds = "".join(map(_get_kind, folded))
    letters = ""
    gaps = b""
    position = 0
    for match in _LOOSE_PARTS.finditer(kinds):
        if match.lastgroup is not None:
            part = folded[slice(*match.span())]
            letters += part
            gaps += _make_gaps(_read_gap(folded[position : match.start()]), len(part))
            position = match.end()
    letters = letters or folded
    gaps = _make_gaps(Gap.SPACE, len(letters)) if not gaps else bytes([Gap.SPACE]) + gaps[1:]
    return Word(start, end, key, letters, gaps, flags)


def _make_gaps(first: Gap, length: int) -> bytes:
    """Return the gaps of letters that have nothing between them, with the gap before the first one."""
    return (bytes([first]) + bytes(length))[:length]


def _read_gap(between: str) -> Gap:
    """Return the gap that punctuation makes in a word."""
    if not between:
        return Gap.NONE
    return Gap.SPACE if between.strip(".-") else Gap.HYPHEN


@lru_cache(maxsize=1 << 12)
def _get_kind(character: str) -> str:
    """Return the letter that `_LOOSE_PARTS` has for a character."""
    if character in _KINDS:
        return _KINDS[character]
    category = unicodedata.category(character)
    if category == "Nd":
        return "0"
    return "a" if category[0] in "LMN" else _KINDS_OF_CATEGORIES.get(category, ".")
