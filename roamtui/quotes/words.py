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
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.units import Unit, UnitKind, list_units
from roamtui.markdown.visible import VisiblePiece
from roamtui.quotes.chunks import Gap, Word, WordFlag, divide_chunk, divide_code_chunk, is_sign
from roamtui.sentences import HARD_BREAK, iter_sentence_ends
from roamtui.text import DASHES, Bounds


class Edge(IntEnum):
    """What starts before a word, the largest of all."""

    NONE = 0
    SENTENCE = 1
    CELL = 2
    """A cell of a row."""
    BLOCK = 3
    """A block, row, item or line of code."""


# Separators in the visible text of a block. If a text contains the first, it is read as a space.
_CELL_EDGE = "\x1d"
_BAR = "\x1e"
"""A bar in a text, which may be an edge of a cell in a table without heads."""
_IN_PROSE = {ord(_CELL_EDGE): " ", ord("|"): _BAR}
_SEPARATOR = "\x1f"
_CHUNK = re.compile(rf"{_CELL_EDGE}|\S+")
_EXTRA_MARKUP = {
    "==": re.compile(r"(?<!\w)==(?=\S)(?P<shown>.*?)(?<=\S)==(?!\w)"),
    "][": re.compile(r"(?<!\w)(?P<shown>\[[^\[\]\n]*[^\W\d_][^\[\]\n]*\])\[[^\[\]\n]{1,100}\]"),
}
"""A highlight, and a link that is defined elsewhere."""
_BRACKETED = re.compile(r"(?<!\^)[(（](?=[^\w()（）]*\d)(?>[^\w()（）]+|\d\w*)+(?:[)）]|\Z)")
"""Numbers and signs in brackets. The second bracket may be in another cell."""
_JOINER = "\u2060"
_WITHOUT_BRACKETS = {ord(bracket): _JOINER for bracket in "()（）"}
_SIGNED_CELL = re.compile(
    rf"(?:(?<=[{_CELL_EDGE}{_BAR}])|\A)(?P<sign>[ \xa0]*[{DASHES}])(?P<space>[ \xa0]+)"
    rf"(?=[^\w\s]?\d[\d.,' ]*[^\w{_CELL_EDGE}{_BAR}]*(?:[{_CELL_EDGE}{_BAR}]|\Z))"
)
"""A minus before the number of a cell, with a space between the two."""
_SPACED_RATIO = re.compile(r"(?<=\d) ([:/]) (?=\d)")
"""The sign between two numbers that other writers write without spaces."""
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W_])[-‐\u00ad][^\S\r\n]*[\r\n][\s>]*(?=[^\W_])")
"""A hyphen at the end of a line, which may divide a word."""
_SPACED_NUMBER = r"(?<![\d^])(?<!\d[.,:/'’])[1-9]\d{0,2}(?:[\u00a0\u202f\u2009%s]\d{3}(?!\d))+"
_SPACED_NUMBER_IN_PROSE = re.compile(_SPACED_NUMBER % " ")
_SPACED_NUMBER_IN_ROW = re.compile(_SPACED_NUMBER % "")
"""A number with spaces between its thousands. In a row, a plain space may be between two numbers."""
_SPACE = re.compile(r"\s")


class Spelling(Struct, frozen=True, kw_only=True):
    """A text that has the keys of words one after the other."""

    text: str
    rows: Sequence[int]
    """The row of each word."""
    starts: array[int]
    """Where the key of each word starts, and the end of the last one."""
    gaps: bytes
    """For each character, the gap before it, and whether it is in brackets."""

    def iter_runs(self, sought: str) -> Iterator[range]:
        """Yield the runs of words with these keys, as indices of `rows`."""
        start = self.text.find(sought) if sought else -1
        while start >= 0:
            end = start + len(sought)
            first = bisect_left(self.starts, start)
            after = bisect_left(self.starts, end)
            if self.starts[first] == start and self.starts[after] == end:
                yield range(first, after)
            start = self.text.find(sought, self.starts[bisect_right(self.starts, start)])

    def get_key(self, index: int) -> str:
        """Return the key of one word."""
        return self.text[self.starts[index] : self.starts[index + 1]]


class TextWords(Struct, frozen=True, kw_only=True):
    """The words of a text, as columns with a row for each word."""

    starts: array[int]
    """Offset of each word in the source."""
    ends: array[int]
    edges: bytes
    flags: bytes
    exact: Spelling
    """The exact keys, each with a separator at its end."""
    letters: Spelling
    plain_letters: Spelling
    """The letters without note marks and list numbers; `letters` itself if there are none."""

    def __len__(self) -> int:
        return len(self.starts)


@lru_cache(maxsize=256)
def read_words(text: str) -> TextWords:
    """Read the words of a Markdown text."""
    from roamtui.markdown.parser import parse_markdown  # noqa: PLC0415

    reader = _WordReader(text)
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


def widen_to_words(text: str, start: int, end: int) -> Bounds:
    """Widen bounds that cut a word or number of a plain text, so that it is whole."""
    words = read_plain_words(text)
    first = bisect_right(words.ends, start)
    after = bisect_left(words.starts, end)
    if first == len(words) or not after:
        return start, end
    while first and words.flags[first] & WordFlag.INSIDE:
        first -= 1
    while after < len(words) and words.flags[after] & WordFlag.INSIDE:
        after += 1
    return min(start, words.starts[first]), max(end, words.ends[after - 1])


class _PlacedWord(NamedTuple):
    word: Word
    exact_gaps: bytes
    start: int
    end: int
    edge: Edge


class _WordReader:
    def __init__(self, text: str) -> None:
        self._words: list[_PlacedWord] = []
        self._text = text
        self._edge = Edge.NONE
        """What starts before the next word."""
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
        placed = self._words
        rows = range(len(placed))
        plain_rows = [row for row in rows if not placed[row].word.flags & WordFlag.NOTE]
        keys = [(each.word.letters, each.word.gaps) for each in placed]
        letters = _spell(keys, rows)
        return TextWords(
            starts=array("I", [each.start for each in placed]),
            ends=array("I", [each.end for each in placed]),
            edges=bytes([each.edge for each in placed]),
            flags=bytes([each.word.flags for each in placed]),
            exact=_spell([(f"{each.word.exact}{_SEPARATOR}", each.exact_gaps) for each in placed], rows),
            letters=letters,
            plain_letters=letters if len(plain_rows) == len(rows) else _spell(keys, plain_rows),
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
                self._edge = Edge.BLOCK
                for word in divide_chunk(shown) if shown else ():
                    self._add(word._replace(flags=WordFlag.NOTE), label.start, label.start + len(shown))
            self.read_leaf(pieces)

    def _mask(self, pieces: Iterable[VisiblePiece]) -> Iterator[VisiblePiece]:
        """Yield pieces with separators around pictures, and in place of text that is not in the source.

        The mark of a footnote is written as in the source.
        """
        for piece in pieces:
            if piece.start >= piece.end:
                yield piece if piece.text == HARD_BREAK else VisiblePiece("\n")
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
        self._edge = Edge.BLOCK
        self._bracketed = set()
        self._sentence_ends = []
        if is_code:
            self._visible = visible
            self._read_code_line()
            return
        for sign, pattern in _EXTRA_MARKUP.items():
            if sign in visible:
                visible = pattern.sub(self._hide_markup, visible)
        self._is_row = _CELL_EDGE in visible or _BAR in visible
        if self._is_row:
            visible = _SIGNED_CELL.sub(lambda cell: cell["sign"] + _JOINER * len(cell["space"]), visible)
        visible = _SPACED_RATIO.sub(rf"{_JOINER}\1{_JOINER}", visible)
        self._visible = visible = _BRACKETED.sub(self._read_brackets, visible)
        spaced_number = _SPACED_NUMBER_IN_ROW if self._is_row else _SPACED_NUMBER_IN_PROSE
        continued = {match.end(): Gap.HYPHEN for match in _LINE_END_HYPHEN.finditer(visible)}
        for number in spaced_number.finditer(visible):
            spaces = _SPACE.finditer(visible, *number.span())
            continued |= {space.end(): Gap.SPACE for space in spaces}
        self._sentence_ends = [*iter_sentence_ends(visible)][::-1]
        for match in _CHUNK.finditer(visible):
            chunk = match[0]
            if chunk == _CELL_EDGE:
                self._edge = max(self._edge, Edge.CELL)
            else:
                for word in divide_chunk(chunk):
                    gap = continued.get(match.start()) if word.start == 0 else None
                    self._add_at(word if gap is None else _continue(word, gap), match.start())

    def _hide_markup(self, match: re.Match[str]) -> str:
        """Replace what a person does not see with spaces. In code, a person sees everything."""
        if self._is_code[match.start()]:
            return match[0]
        start, end = match.span("shown")
        return " " * (start - match.start()) + match["shown"] + " " * (match.end() - end)

    def _read_brackets(self, match: re.Match[str]) -> str:
        self._bracketed.update(
            offset for offset, sign in enumerate(match[0], match.start()) if sign.isdigit()
        )
        follows_word = match.string[: match.start()][-1:].isalnum()
        return match[0] if follows_word else match[0].translate(_WITHOUT_BRACKETS)

    def _read_code_line(self) -> None:
        is_first = True
        for match in _CHUNK.finditer(self._visible):
            starts_comment = is_first and is_sign(match[0])
            flags = WordFlag.CODE | (WordFlag.NOTE if starts_comment else WordFlag.NONE)
            is_first = False
            for word in divide_code_chunk(match[0]):
                self._add_at(word._replace(flags=word.flags | flags), match.start())

    def _add_at(self, word: Word, offset: int) -> None:
        if word.flags is WordFlag.NOTE and self._is_code[offset + word.start]:
            word = word._replace(flags=WordFlag.INSIDE)
        while self._sentence_ends and self._sentence_ends[-1] <= offset + word.start:
            self._sentence_ends.pop()
            self._edge = max(self._edge, Edge.SENTENCE)
        shown = range(offset + word.start, offset + word.end)
        in_brackets: list[bool] = []
        if self._bracketed:
            in_brackets = [at in self._bracketed for at in shown if self._visible[at].isdigit()]
        self._add(word, self._starts[shown[0]], self._ends[shown[-1]], in_brackets)

    def _add(self, word: Word, start: int, end: int, in_brackets: Sequence[bool] = ()) -> None:
        exact_gaps = bytes(len(word.exact) + 1)
        if any(in_brackets):
            exact_gaps = self._mark_brackets(word.exact, exact_gaps, in_brackets)
            word = word._replace(gaps=self._mark_brackets(word.letters, word.gaps, in_brackets))
        self._words.append(_PlacedWord(word, exact_gaps, start, end, self._edge))
        self._edge = Edge.NONE

    def _mark_brackets(self, key: str, gaps: bytes, in_brackets: Sequence[bool]) -> bytes:
        """Return the gaps of a key with its figures marked that are in brackets."""
        brackets = Gap.BRACKETS | Gap.NEGATIVE if self._is_row else Gap.BRACKETS
        marked = bytearray(gaps)
        figures = (index for index, letter in enumerate(key) if letter.isdigit())
        for index, is_bracketed in zip(figures, in_brackets, strict=False):
            marked[index] |= is_bracketed * brackets
        return bytes(marked)


def _continue(word: Word, gap: Gap) -> Word:
    """Return a word that continues the one before it."""
    return word._replace(flags=word.flags | WordFlag.INSIDE, gaps=bytes([gap]) + word.gaps[1:])


def _spell(keys: Sequence[tuple[str, bytes]], rows: Sequence[int]) -> Spelling:
    """Write the keys of some rows one after the other. Each comes with the gaps before its characters."""
    kept = [keys[row] for row in rows]
    return Spelling(
        text="".join([key for key, _ in kept]),
        rows=rows,
        starts=array("I", accumulate((len(key) for key, _ in kept), initial=0)),
        gaps=b"".join([gaps for _, gaps in kept]),
    )
