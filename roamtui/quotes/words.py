"""Read a text into the words that a person sees, each with its place in the source.

A quote and the text that it may come from are read in the same way, so that only words are compared.
`chunks.py` defines words and their keys. Markup, link targets, comments and attributes are not words.
Cells, lines of code and blocks are edges: a word never continues over them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.units import Unit, UnitKind, list_units
from roamtui.markdown.visible import VisiblePiece
from roamtui.quotes.chunks import INSIDE, NOTE, Word, divide_chunk, divide_code_chunk, is_sign
from roamtui.sentences import HARD_BREAK, iter_sentence_ends
from roamtui.text import DASHES, Bounds

CELL = 1
"""Flag of a word: a new cell of a row starts before it."""
BLOCK = 2
"""A new block, row, item or line of code starts before it."""
CODE = 16
"""The word is in a block of code, where nothing but white space is dropped."""
BRACKETS = 32
"""The word is a number in brackets."""
NEGATIVE = 64
"""The word is a number in brackets in a row of a table. In prose, brackets are punctuation."""
SENTENCE = 128
"""A new sentence starts before it."""

# Separators in the visible text of a block. If a text contains them, they are read as spaces.
_BLOCK_EDGE = "\x1c"
_CELL_EDGE = "\x1d"
_BAR = "\x1e"
"""A bar in a text, which may be an edge of a cell in a table without heads."""
_IN_PROSE = {ord(_BLOCK_EDGE): " ", ord(_CELL_EDGE): " ", ord("|"): _BAR}
_CHUNK = re.compile(rf"[{_BLOCK_EDGE}{_CELL_EDGE}]|\S+")
_EXTRA_MARKUP = {
    "==": re.compile(r"(?<!\w)==(?=\S)(?P<shown>.*?)(?<=\S)==(?!\w)"),
    "#": re.compile(r"(?P<shown>)\{ ?#[^{}\s]+ ?\}"),
    "][": re.compile(r"(?<!\w)(?P<shown>\[[^\[\]\n]*[^\W\d_][^\[\]\n]*\])\[[^\[\]\n]{1,100}\]"),
}
"""A highlight, the name that some pages give to a heading, and a link that is defined elsewhere."""
_BRACKETED = re.compile(r"(?<!\^)[(（](?=[^\w()（）]*\d)(?>[^\w()（）]+|\d\w*)+(?:[)）]|\Z)")
"""Numbers and signs in brackets. The second bracket may be in another cell."""
_JOINER = "\u2060"
_WITHOUT_BRACKETS = {ord(bracket): _JOINER for bracket in "()（）"}
_SIGNED_CELL = re.compile(
    rf"(?:(?<=[{_CELL_EDGE}{_BAR}])|\A)(?P<sign>[ \xa0]*[{DASHES}])(?P<space>[ \xa0]+)"
    rf"(?=[^\w\s]?\d[\d.,' ]*[^\w{_CELL_EDGE}{_BAR}]*(?:[{_CELL_EDGE}{_BAR}]|\Z))"
)
"""A minus before the number of a cell, with a space between the two."""
_DIVIDED_WORD = re.compile(r"(?<![^\W_])[^\W_]+ ?[-‐\u00ad][^\S\r\n]*[\r\n][\s>]*[^\W_]+")
"""A word that the end of a line divides. Some pages have a space before the hyphen."""
_PUNCTUATED_WORD = re.compile(r"(?<![^\W_])[^\W_]+(?:[.‐‑-][^\W_]+)+|(?<!\d)\d+ [:/] \d+")
"""A word, or two numbers, that other writers write without these signs or spaces."""
_GAP = re.compile(r"(?<=(.))(?P<gap>[\W_]+)(?=(.))", re.DOTALL)
_HALF_WORD = re.compile(r"[^\W_][-‐\u00ad]\Z")
_SPACED_NUMBER = r"(?<![\d^])(?<!\d[.,:/'’])[1-9]\d{0,2}(?:[\u00a0\u202f\u2009%s]\d{3}(?!\d))+"
_SPACED_NUMBER_IN_PROSE = re.compile(_SPACED_NUMBER % " ")
_SPACED_NUMBER_IN_ROW = re.compile(_SPACED_NUMBER % "")
"""A number with spaces between its thousands. In a row, a plain space may be between two numbers."""
_SPACE = re.compile(r"\s")
_SOFT_HYPHEN = "\u00ad"


class LooseKeys(Struct, frozen=True, kw_only=True):
    """The loose keys of a text, in order."""

    keys: bytes
    """Hash of each key, in eight bytes."""
    rows: array[int]
    """For each key, the row of the word that it belongs to."""


class TextWords(Struct, frozen=True, kw_only=True):
    """The words of a text, as columns with a row for each word."""

    exact: bytes
    """Hash of the exact key of each word, in eight bytes."""
    starts: array[int]
    """Offset of each word in the source."""
    ends: array[int]
    flags: bytes
    loose: LooseKeys
    plain: LooseKeys
    """The loose keys without note marks and list numbers."""

    def __len__(self) -> int:
        return len(self.starts)


def read_words_for(quote: str, text: str, *, is_exact: bool) -> Iterator[TextWords]:
    """Yield the words of a text. If words of the quote are divided in it, join these and yield all again.

    For an exact match, only line ends divide words.
    """
    yield read_words(text)
    at_line_ends = _find_joined(_DIVIDED_WORD, text, quote)
    if at_line_ends:
        yield read_words(text, at_line_ends)
    if not is_exact and (punctuated := find_punctuated_words(text, quote)):
        yield read_words(text, at_line_ends | punctuated)


def find_punctuated_words(text: str, other: str) -> frozenset[str]:
    """Return the words of a text that another text has without the hyphens, stops or spaces in them."""
    return _find_joined(_PUNCTUATED_WORD, text, other)


def _find_joined(pattern: re.Pattern[str], text: str, other: str) -> frozenset[str]:
    divided = {_join(match[0]) for match in pattern.finditer(text)}
    letters = other.casefold() if divided else ""
    return frozenset(word for word in divided if word.casefold() in letters)


def _join(word: str) -> str:
    return _hide_gaps(word).replace(_SOFT_HYPHEN, "")


def _hide_gaps(word: str) -> str:
    """Replace what divides a word with soft hyphens, which belong to no word. A sign between digits stays."""

    def hide(match: re.Match[str]) -> str:
        left, gap, right = match.groups()
        sign = gap.strip()[:1].replace(_SOFT_HYPHEN, "-") if left.isdigit() and right.isdigit() else ""
        return sign + _SOFT_HYPHEN * (len(gap) - len(sign))

    return _GAP.sub(hide, word)


@lru_cache(maxsize=256)
def read_words(text: str, joined_words: frozenset[str] = frozenset()) -> TextWords:
    """Read the words of a Markdown text. In it, line ends or signs may divide `joined_words`."""
    from roamtui.markdown.parser import parse_markdown  # noqa: PLC0415

    reader = _WordReader(text, joined_words)
    reader.read_units(list_units(text, parse_markdown(text)))
    return reader.get_words()


@lru_cache(maxsize=64)
def read_plain_words(text: str, *, is_code: bool = False) -> TextWords:
    """Read the words of a text that is not Markdown, or that is code: each line is a block."""
    reader = _WordReader(text)
    position = 0
    for line in text.splitlines(keepends=True):
        bounds = position, position + len(line)
        reader.read_leaf(
            [VisiblePiece(line if is_code else line.translate(_IN_PROSE), *bounds)], is_code=is_code
        )
        position += len(line)
    return reader.get_words()


def _join_sign(match: re.Match[str]) -> str:
    return match["sign"] + _JOINER * len(match["space"])


def widen_to_words(text: str, start: int, end: int) -> Bounds:
    """Widen bounds that cut a word or number of a plain text, so that it is whole."""
    words = read_plain_words(text)
    first = bisect_right(words.ends, start)
    after = bisect_left(words.starts, end)
    if first == len(words) or not after:
        return start, end
    while first and words.flags[first] & INSIDE:
        first -= 1
    while after < len(words) and words.flags[after] & INSIDE:
        after += 1
    return min(start, words.starts[first]), max(end, words.ends[after - 1])


class _WordReader:
    def __init__(self, text: str, joined_words: frozenset[str] = frozenset()) -> None:
        self._exact: array[int] = array("q")
        self._word_starts: array[int] = array("I")
        self._word_ends: array[int] = array("I")
        self._flags = bytearray()
        self._loose: array[int] = array("q")
        self._loose_rows: array[int] = array("I")
        self._has_notes = False
        self._text = text
        self._joined_words = joined_words
        self._edge = 0
        """Flags of the next word."""
        self._visible = ""
        self._is_row = False
        self._sentence_ends: list[int] = []
        """Where sentences end in the visible text, the next one last."""
        self._bracketed: set[int] = set()
        """Offsets of the digits in brackets."""
        self._is_code = bytearray()
        """For each character of the visible text, whether it is code, which has no note marks: `argv[1]`."""
        self._starts: array[int] = array("I")
        """For each character of the visible text, where it starts in the source."""
        self._ends: array[int] = array("I")
        """For each character of the visible text, where it ends in the source."""

    def get_words(self) -> TextWords:
        """Return the words that were read."""
        loose = plain = LooseKeys(keys=self._loose.tobytes(), rows=self._loose_rows)
        if self._has_notes:
            pairs = zip(self._loose, self._loose_rows, strict=True)
            kept = [(key, row) for key, row in pairs if not self._flags[row] & NOTE]
            keys = array("q", [key for key, _ in kept]).tobytes()
            plain = LooseKeys(keys=keys, rows=array("I", [row for _, row in kept]))
        return TextWords(
            exact=self._exact.tobytes(),
            starts=self._word_starts,
            ends=self._word_ends,
            flags=bytes(self._flags),
            loose=loose,
            plain=plain,
        )

    def read_units(self, units: Iterable[Unit]) -> None:
        """Read the words of units. A quote may leave out the number of an item and the kind of an alert."""
        for unit in units:
            if unit.kind is UnitKind.CODE:
                self.read_leaf(unit.cells[0].pieces, is_code=True)
                continue
            pieces = [*self._mask(unit.cells[0].pieces)]
            for cell in unit.cells[1:]:
                pieces += (VisiblePiece(_CELL_EDGE), *self._mask(cell.pieces))
            if unit.kind in (UnitKind.ITEM, UnitKind.LABEL):
                del pieces[0]
                label = unit.cells[0].pieces[0]
                shown = label.text.rstrip(" .)")
                self._edge |= BLOCK
                for word in divide_chunk(shown) if shown else ():
                    self._add(word._replace(flags=NOTE), label.start, label.start + len(shown))
            self.read_leaf(pieces)

    def _mask(self, pieces: Iterable[VisiblePiece]) -> Iterator[VisiblePiece]:
        """Yield pieces with separators around pictures, and in place of text that is not in the source.

        The mark of a footnote is written as in the source.
        """
        for piece in pieces:
            if piece.start >= piece.end:
                yield VisiblePiece(_BLOCK_EDGE if piece.text == HARD_BREAK else "\n")
            elif piece.is_reference:
                yield piece._replace(text=self._text[piece.start : piece.end])
            else:
                masked = piece._replace(text=piece.text.translate(_IN_PROSE))
                yield from (VisiblePiece(" "), masked, VisiblePiece(" ")) if piece.is_image else (masked,)

    def read_leaf(self, pieces: Sequence[VisiblePiece], *, is_code: bool = False) -> None:
        """Read the words of one block without blocks in it, or of a line of code."""
        self._starts = array("I")
        self._ends = array("I")
        self._is_code = bytearray()
        for text, start, end, emphasis, *_ in pieces:
            self._is_code.extend([Emphasis.CODE in emphasis] * len(text))
            if end - start == len(text):
                self._starts.extend(range(start, end))
                self._ends.extend(range(start + 1, end + 1))
            else:
                self._starts.extend([start] * len(text))
                self._ends.extend([end] * len(text))
        visible = "".join([piece.text for piece in pieces])
        self._edge |= BLOCK
        self._bracketed = set()
        self._sentence_ends = []
        if is_code:
            self._visible = visible
            self._read_code_line()
            return
        for sign, pattern in _EXTRA_MARKUP.items():
            if sign in visible:
                visible = pattern.sub(self._hide_markup, visible)
        for divided in (_DIVIDED_WORD, _PUNCTUATED_WORD) if self._joined_words else ():
            visible = divided.sub(self._hide_joined, visible)
        self._is_row = _CELL_EDGE in visible or _BAR in visible
        visible = _SIGNED_CELL.sub(_join_sign, visible) if self._is_row else visible
        self._visible = visible = _BRACKETED.sub(self._read_brackets, visible)
        spaced_number = _SPACED_NUMBER_IN_ROW if self._is_row else _SPACED_NUMBER_IN_PROSE
        thousands = {
            space.end()
            for number in spaced_number.finditer(visible)
            for space in _SPACE.finditer(visible, *number.span())
        }
        self._sentence_ends = [*iter_sentence_ends(visible)][::-1]
        before = ""
        end = 0
        for match in _CHUNK.finditer(visible):
            chunk = match[0]
            if chunk == _BLOCK_EDGE:
                self._edge |= BLOCK
            elif chunk == _CELL_EDGE:
                self._edge |= CELL
            else:
                is_half = _HALF_WORD.search(before) is not None and "\n" in visible[end : match.start()]
                is_inside = is_half or match.start() in thousands
                for word in divide_chunk(chunk):
                    flags = INSIDE if is_inside and word.start == 0 else 0
                    self._add_at(word._replace(flags=word.flags | flags), match.start())
            before = chunk
            end = match.end()

    def _hide_markup(self, match: re.Match[str]) -> str:
        """Replace what a person does not see with spaces. In code, a person sees everything."""
        if self._is_code[match.start()]:
            return match[0]
        start, end = match.span("shown")
        return " " * (start - match.start()) + match["shown"] + " " * (match.end() - end)

    def _hide_joined(self, match: re.Match[str]) -> str:
        return _hide_gaps(match[0]) if _join(match[0]) in self._joined_words else match[0]

    def _read_brackets(self, match: re.Match[str]) -> str:
        self._bracketed.update(
            offset for offset, sign in enumerate(match[0], match.start()) if sign.isdigit()
        )
        follows_word = match.string[: match.start()][-1:].isalnum()
        return match[0] if follows_word else match[0].translate(_WITHOUT_BRACKETS)

    def _read_code_line(self) -> None:
        is_first = True
        for match in _CHUNK.finditer(self._visible):
            flags = CODE | (NOTE if is_first and is_sign(match[0]) else 0)  # starts a comment
            is_first = False
            for word in divide_code_chunk(match[0]):
                self._add_at(word._replace(flags=word.flags | flags), match.start())

    def _add_at(self, word: Word, offset: int) -> None:
        if self._bracketed and not self._bracketed.isdisjoint(range(offset + word.start, offset + word.end)):
            brackets = BRACKETS | NEGATIVE if self._is_row else BRACKETS
            word = word._replace(flags=word.flags | brackets)
        if word.flags & (NOTE | CODE) == NOTE and self._is_code[offset + word.start]:
            word = word._replace(flags=INSIDE)
        while self._sentence_ends and self._sentence_ends[-1] <= offset + word.start:
            self._sentence_ends.pop()
            self._edge |= SENTENCE
        start = self._starts[offset + word.start]
        end = self._ends[offset + word.end - 1]
        self._add(word, start, end)

    def _add(self, word: Word, start: int, end: int) -> None:
        row = len(self._exact)
        self._exact.append(word.exact)
        self._word_starts.append(start)
        self._word_ends.append(end)
        self._flags.append(word.flags | self._edge)
        self._loose.extend(word.loose)
        self._loose_rows.extend([row] * len(word.loose))
        self._edge = 0
        if word.flags & NOTE:
            self._has_notes = True
