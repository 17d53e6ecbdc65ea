r"""Store the text of a document, and compute where its lines start.

Python stores a text as wide as its widest character: one emoji makes 50 MB of letters take 200 MB. Lines end only at
``\n``, ``\r\n`` and ``\r`` (CommonMark 0.31.2, section 2.1); `str.splitlines` also splits elsewhere.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate, count
from operator import add
from typing import Final

from typing_extensions import override

_PIECE_LENGTH: Final = 1 << 12
"""Number of characters in a piece. An emoji makes each character of its piece take four bytes, so pieces are small: in
memory, 50 MB of MDN take 71 MB, but 97 MB in pieces of 32 KB."""
LENGTH_MIN = 2_000_000
"""Minimum length of a text that is stored in pieces, in characters."""


class LongText:
    """A text that is stored in pieces. Slices, searches and counts have the same results as for a string."""

    __slots__ = ("_pieces", "_starts")

    def __init__(self, text: str) -> None:
        self._pieces = tuple(text[start : start + _PIECE_LENGTH] for start in range(0, len(text), _PIECE_LENGTH))
        self._starts = tuple(accumulate(map(len, self._pieces), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, part: slice) -> str:
        """Return a slice, which must not have a step."""
        start, end, _ = part.indices(len(self))
        if start >= end:
            return ""
        first = start // _PIECE_LENGTH
        offset = first * _PIECE_LENGTH
        if end <= offset + _PIECE_LENGTH:
            return self._pieces[first][start - offset : end - offset]
        last = (end - 1) // _PIECE_LENGTH
        return "".join(self._pieces[first : last + 1])[start - offset : end - offset]

    @override
    def __str__(self) -> str:
        """Return all characters as one string. It takes the memory that this class saves, so do not keep it."""
        return "".join(self._pieces)

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, LongText):
            return self._pieces == other._pieces
        return str(self) == other if isinstance(other, str) else NotImplemented

    @override
    def __hash__(self) -> int:
        return hash(str(self))

    def count(self, character: str, start: int, end: int) -> int:
        """Count a character between two offsets."""
        return self[start:end].count(character)

    def find(self, character: str, start: int, end: int | None = None) -> int:
        """Return the offset of the first `character` from `start` up to `end` (exclusive), or -1."""
        end = len(self) if end is None else min(end, len(self))
        while start < end:
            stop = min(end, (start // _PIECE_LENGTH + 1) * _PIECE_LENGTH)
            found = self[start:stop].find(character)
            if found >= 0:
                return start + found
            start = stop
        return -1


DocumentText = str | LongText


def compact_text(text: str) -> DocumentText:
    """Store a long text in pieces if one wide character would make all others as wide."""
    return text if len(text) < LENGTH_MIN or text.isascii() else LongText(text)


_LINE_END = re.compile("\r\n?|\n")
_LINES_LENGTH = 1_000_000
"""Length of the text that is split into lines at once, in characters."""


def compute_line_starts(text: DocumentText) -> array[int]:
    """Return the offset of each line. A line end at the end of the text does not start another line."""
    if text.find("\r", 0) < 0:
        starts = _compute_starts_after_feeds(text)
    elif (whole := str(text)).count("\r") == whole.count("\r\n"):
        starts = _compute_starts_after_feeds(whole)
    else:
        starts = array("Q", [0])
        starts.extend(match.end() for match in _LINE_END.finditer(whole))
    if starts[-1] == len(text):
        starts.pop()
    return starts


def _compute_starts_after_feeds(text: DocumentText) -> array[int]:
    r"""Return 0, and the offset after each ``\n``.

    Adding up the lengths of lines is by far the fastest way. A long text is split piece by piece, so that its lines are
    never all in memory.
    """
    starts = array("Q", [0])
    piece_start = 0
    while piece_start < len(text):
        piece_end = text.find("\n", piece_start + _LINES_LENGTH) + 1 or len(text)
        lines = text[piece_start:piece_end].split("\n")
        lines.pop()
        starts.extend(map(add, accumulate(map(len, lines)), count(piece_start + 1)))
        piece_start = piece_end
    return starts


def line_number_at(starts: array[int], offset: int) -> int:
    """Return the 1-based number of the line that contains the character at `offset`."""
    return max(1, bisect_right(starts, offset))


def normalise_line_ends(text: str) -> str:
    r"""Return `text` with every line end as ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
