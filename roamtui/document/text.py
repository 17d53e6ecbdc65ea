"""`LongText`: the text of a large document in pieces, each as wide in memory as its own characters need.

Python keeps a text as wide as its widest character: one emoji makes 50 MB of letters take 200 MB.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from typing_extensions import override

_PIECE_LENGTH: Final = 1 << 12
"""Characters; a piece with an emoji among them costs four bytes for each. 50 MB of MDN take 71 MB so, 97 with 32 KB."""
LENGTH_MIN = 2_000_000
"""Characters; a shorter text is kept whole."""


class LongText:
    """Characters in order. A slice, a search or a count is that of the whole text."""

    __slots__ = ("_pieces", "_starts")

    def __init__(self, text: str) -> None:
        self._pieces = tuple(text[start : start + _PIECE_LENGTH] for start in range(0, len(text), _PIECE_LENGTH))
        self._starts = tuple(accumulate(map(len, self._pieces), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, part: slice) -> str:
        """Return the characters of a slice without a step."""
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
        """Return all characters as one text, which costs what this class saves: for what needs them but a moment."""
        return "".join(self._pieces)

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, LongText):
            return self._pieces == other._pieces
        return str(self) == other if isinstance(other, str) else NotImplemented

    @override
    def __hash__(self) -> int:
        return hash(str(self))

    def pieces(self) -> tuple[str, ...]:
        """Return the text in order, in parts as they are kept."""
        return self._pieces

    def count(self, character: str, start: int, end: int) -> int:
        """Return how often a character stands between two offsets."""
        return self[start:end].count(character)

    def find(self, character: str, start: int, end: int | None = None) -> int:
        """Return the offset of the first such character from `start` on, -1 where there is none before `end`."""
        end = len(self) if end is None else min(end, len(self))
        while start < end:
            stop = min(end, (start // _PIECE_LENGTH + 1) * _PIECE_LENGTH)
            found = self[start:stop].find(character)
            if found >= 0:
                return start + found
            start = stop
        return -1


DocumentText = str | LongText


def keep_text(text: str) -> DocumentText:
    """Return `text` as it is best kept: in pieces where one wide character would make all others as wide."""
    return text if len(text) < LENGTH_MIN or text.isascii() else LongText(text)
