"""Read a text into the words that a person sees, each with its place in the source.

A quote and the text that it may come from are read in the same way, so that comparing them is comparing
words. `chunks.py` defines words and their keys. Markup, link targets, comments and attributes are not words.
Cells, lines of code and blocks are edges: a word never continues over them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from roamtui.markdown.units import Unit, UnitKind, list_units
from roamtui.markdown.visible import Piece
from roamtui.quotes.chunks import INSIDE, NOTE, Word, divide_chunk, divide_code_chunk, is_sign
from roamtui.sentences import LINE_END
from roamtui.text import Bounds

CELL = 1
"""Flag of a word: a new cell of a row starts before it."""
BLOCK = 2
"""A new block, row, item or line of code starts before it."""
CODE = 16
"""It is in a block of code, where nothing but white space is dropped."""

# Separators in the visible text of a block. A text that contains them has a space there.
_BLOCK_EDGE = "\x1c"
_CELL_EDGE = "\x1d"
_IN_PROSE = {ord(_BLOCK_EDGE): " ", ord(_CELL_EDGE): " ", ord("|"): _CELL_EDGE}
_CHUNK = re.compile(rf"[{_BLOCK_EDGE}{_CELL_EDGE}]|\S+")
_HIGHLIGHT = re.compile(r"(?<!\w)==(?=\S)(.*?)(?<=\S)==(?!\w)")
_LABEL = re.compile(r"(\[[^\[\]\n]*[^\W\d_][^\[\]\n]*\])(\[[^\[\]\n]{1,100}\])")
"""The label of a link whose definition is in another part of the document."""
_LINE_END_HYPHENS = "-‐\u00ad"


class LooseKeys(Struct, frozen=True, kw_only=True):
    """The loose keys of a text, in order."""

    keys: bytes
    """Hash of each key, in eight bytes."""
    first_rows: array[int]
    """For each key, the row of the word that it belongs to, or of the first half of a divided word."""
    last_rows: array[int]
    """The same for the second half."""
    joined: dict[int, int]
    """The key of each word that the end of a line divides, by the index of the last key of its first half."""

    def join(self, sought: Collection[int]) -> LooseKeys:
        """Return the keys with the divided words whole that are among the `sought` keys."""
        indices = {index for index, key in self.joined.items() if key in sought}
        if not indices:
            return self
        keys = memoryview(self.keys).cast("q")
        joined: array[int] = array("q")
        first_rows: array[int] = array("I")
        last_rows: array[int] = array("I")
        for index, key in enumerate(keys):
            if index - 1 in indices:
                last_rows[-1] = self.last_rows[index]
                continue
            joined.append(self.joined[index] if index in indices else key)
            first_rows.append(self.first_rows[index])
            last_rows.append(self.last_rows[index])
        return LooseKeys(keys=joined.tobytes(), first_rows=first_rows, last_rows=last_rows, joined={})

    def leave_out(self, is_left_out: Callable[[int], bool]) -> LooseKeys:
        """Return the keys without those of some rows."""
        keys = memoryview(self.keys).cast("q")
        kept = [index for index, row in enumerate(self.first_rows) if not is_left_out(row)]
        places = {index: place for place, index in enumerate(kept)}
        rows = array("I", [self.first_rows[index] for index in kept])
        return LooseKeys(
            keys=array("q", [keys[index] for index in kept]).tobytes(),
            first_rows=rows,
            last_rows=rows,
            joined={places[index]: key for index, key in self.joined.items() if index in places},
        )


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

    @property
    def exact_keys(self) -> memoryview[int]:
        """The exact keys as numbers."""
        return memoryview(self.exact).cast("q")


@lru_cache(maxsize=256)
def read_words(text: str) -> TextWords:
    """Read the words of a Markdown text."""
    from roamtui.markdown.parser import read_markdown  # noqa: PLC0415

    reader = _WordReader(text)
    reader.read_units(list_units(text, read_markdown(text)))
    return reader.get_words()


@lru_cache(maxsize=64)
def read_plain_words(text: str, *, is_code: bool = False) -> TextWords:
    """Read the words of a text that is not Markdown, or that is code: each line is a block."""
    reader = _WordReader(text)
    position = 0
    for line in text.splitlines(keepends=True):
        bounds = position, position + len(line)
        reader.read_leaf([Piece(line if is_code else line.translate(_IN_PROSE), *bounds)], is_code=is_code)
        position += len(line)
    return reader.get_words()


def widen_to_words(text: str, start: int, end: int) -> Bounds:
    """Move each bound that is inside a word or number of a plain text outwards, so that it is whole."""
    words = read_plain_words(text)
    first = bisect_right(words.ends, start)
    last = bisect_right(words.ends, end)
    if first < len(words):
        start = min(start, words.starts[first])
    if last < len(words) and words.starts[last] < end:
        end = words.ends[last]
    return start, end


class _WordReader:
    def __init__(self, text: str) -> None:
        self._exact: array[int] = array("q")
        self._word_starts: array[int] = array("I")
        self._word_ends: array[int] = array("I")
        self._flags = bytearray()
        self._loose: array[int] = array("q")
        self._loose_rows: array[int] = array("I")
        self._joined: dict[int, int] = {}
        self._has_notes = False
        self._text = text
        self._edge = 0
        """Flags of the next word."""
        self._visible = ""
        self._starts: array[int] = array("I")
        """For each character of the visible text, where it starts in the source."""
        self._ends: array[int] = array("I")
        """The same for where it ends."""
        self._half = ""
        """The last chunk if the end of its line may divide a word."""
        self._last_chunk = ""

    def get_words(self) -> TextWords:
        """Return the words that were read."""
        rows = self._loose_rows
        loose = LooseKeys(keys=self._loose.tobytes(), first_rows=rows, last_rows=rows, joined=self._joined)
        plain = loose.leave_out(lambda row: bool(self._flags[row] & NOTE)) if self._has_notes else loose
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
                pieces += (Piece(_CELL_EDGE), *self._mask(cell.pieces))
            if unit.kind in (UnitKind.ITEM, UnitKind.LABEL):
                del pieces[0]
                label = unit.cells[0].pieces[0]
                shown = label.text.rstrip(" .)")
                self._edge |= BLOCK
                for word in divide_chunk(shown) if shown else ():
                    self._add(word._replace(flags=NOTE), label.start, label.start + len(shown))
            self.read_leaf(pieces)

    def _mask(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Yield pieces with separators around pictures and for text that is not in the source.

        A mark is as it is there.
        """
        for piece in pieces:
            if piece.start >= piece.end:
                yield Piece(_BLOCK_EDGE if piece.text == LINE_END else "\n")
            elif piece.is_mark:
                yield piece._replace(text=self._text[piece.start : piece.end])
            else:
                masked = Piece(piece.text.translate(_IN_PROSE), piece.start, piece.end)
                yield from (Piece(" "), masked, Piece(" ")) if piece.is_image else (masked,)

    def read_leaf(self, pieces: Sequence[Piece], *, is_code: bool = False) -> None:
        """Read the words of one block without blocks in it, or of a line of code."""
        self._starts = array("I")
        self._ends = array("I")
        for text, start, end, *_ in pieces:
            if end - start == len(text):
                self._starts.extend(range(start, end))
                self._ends.extend(range(start + 1, end + 1))
            else:
                self._starts.extend([start] * len(text))
                self._ends.extend([end] * len(text))
        visible = "".join([piece.text for piece in pieces])
        self._edge |= BLOCK
        self._half = ""
        self._last_chunk = ""
        if is_code:
            self._visible = visible
            self._read_code_line()
            return
        if "==" in visible:
            visible = _HIGHLIGHT.sub(lambda match: f"  {match[1]}  ", visible)
        if "][" in visible:
            visible = _LABEL.sub(lambda match: match[1] + " " * len(match[2]), visible)
        self._visible = visible
        for match in _CHUNK.finditer(visible):
            chunk = match[0]
            if chunk == _BLOCK_EDGE:
                self._edge |= BLOCK
            elif chunk == _CELL_EDGE:
                self._edge |= CELL
            else:
                self._read_chunk(chunk, match.start())

    def _read_code_line(self) -> None:
        is_first = True
        for match in _CHUNK.finditer(self._visible):
            flags = CODE | (NOTE if is_first and is_sign(match[0]) else 0)  # starts a comment
            is_first = False
            for word in divide_code_chunk(match[0]):
                self._add_at(word._replace(flags=word.flags | flags), match.start())

    def _read_chunk(self, chunk: str, offset: int) -> None:
        words = divide_chunk(chunk)
        half = self._half
        self._half = ""
        if not words:
            # Some pages have a space before the hyphen at the end of a line.
            is_hyphen = bool(self._last_chunk) and chunk in _LINE_END_HYPHENS
            self._half = f"{self._last_chunk} {chunk}" if is_hyphen else ""
            return
        first, *others = words
        if half and first.start == 0 and "\n" in self._text[self._word_ends[-1] : self._starts[offset]]:
            self._join(half, chunk)
            if " " not in half:
                first = first._replace(flags=first.flags | INSIDE)
        for word in (first, *others):
            self._add_at(word, offset)
        self._last_chunk = chunk
        if chunk[-1] in _LINE_END_HYPHENS and chunk[-2:-1].isalnum():
            self._half = chunk

    def _join(self, half: str, chunk: str) -> None:
        """Note the whole of a word that the end of a line divides. `half` ends with the hyphen."""
        left = half[:-1].rstrip()
        has_figure = left[-1].isdigit() or chunk[0].isdigit()
        whole = divide_chunk(f"{left}-{chunk}" if has_figure else left + chunk)
        keys = [key for word in whole for key in word.loose]
        # Only the pieces next to the line end change, as in "state-of-the-" and "art".
        index = sum(len(word.loose) for word in divide_chunk(left)) - 1
        if 0 <= index < len(keys):
            self._joined[len(self._loose) - 1] = keys[index]

    def _add_at(self, word: Word, offset: int) -> None:
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
