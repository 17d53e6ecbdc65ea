r"""The text of a document: how it is kept, where its lines begin, and what in it are footers of pages.

Python keeps a text as wide as its widest character: one emoji makes 50 MB of letters take 200 MB. Lines end at ``\n``,
``\r\n`` and ``\r`` only (CommonMark 0.31.2, section 2.1); `str.splitlines` knows too many. Page footers stand wherever
a page ended, often within a sentence: they are part of the source, and who reads for its sense reads past them.
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


def compact_text(text: str) -> DocumentText:
    """Return `text` as it is best kept: in pieces where one wide character would make all others as wide."""
    return text if len(text) < LENGTH_MIN or text.isascii() else LongText(text)


_LINE_END = re.compile("\r\n?|\n")
_LINES_LENGTH = 1_000_000
"""Characters that are split into lines at once."""


def compute_line_starts(text: DocumentText) -> array[int]:
    """Return the offset of the first character of each line; a final line end begins no further line."""
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
    r"""Return 0 and what follows each ``\n``: lengths of lines summed up, by far the quickest way.

    A long text goes in pieces, so that its lines never stand in memory all at once.
    """
    starts = array("Q", [0])
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + _LINES_LENGTH) + 1 or len(text)
        lines = text[begin:end].split("\n")
        lines.pop()
        starts.extend(map(add, accumulate(map(len, lines)), count(begin + 1)))
        begin = end
    return starts


def line_number_at(starts: array[int], offset: int) -> int:
    """Return the 1-based number of the line that holds the character at `offset`."""
    return max(1, bisect_right(starts, offset))


def normalise_line_ends(text: str) -> str:
    r"""Return `text` with every line end as ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_LINE = re.compile(
    r"(?<=\n)[ \t]*(?:"
    r"(?P<named>(?:[Pp]age|PAGE)[ \t]+-?\d{1,4}-?(?:[ \t]+(?:of|OF)[ \t]+\d{1,4})?"
    r"|[-–—][ \t]*\d{1,4}[ \t]*[-–—]"
    r"|Source:[^\n]{2,100},[ \t]\d{1,2}/\d{1,2}/\d{4})"
    r"|(?:(?P<before>\d{1,3})[ \t]+)?(?P<number>\d{1,3})(?:[ \t]*[-–—])?"
    r")[ \t]*(?=\r?\n|\Z)"
)
_BLANK_BEFORE = re.compile(r"(?:\A|\n)[ \t\r]*\n\Z")
_BLANK_AFTER = re.compile(r"\r?\n?[ \t]*(?:\r?\n|\Z)")
_AROUND = 12_000
"""Characters around a text in which the numbers of other pages are looked for."""
_PAGE_LENGTH_MIN = 1_500
"""Characters from the number of one page to the next one's; numbers that count something stand closer."""


def blank_footers(text: str | LongText, start: int, end: int) -> str:
    """Return the characters `start` to `end` (excluded) of a text, as many as they are, with spaces for page footers.

    A bare number is one where the number of the page before or after it stands a page away.
    """
    low = max(0, start - _AROUND)
    window = text[low : end + _AROUND]
    lines = []
    for one in _LINE.finditer(window):
        before = _BLANK_BEFORE.search(window, max(0, one.start() - 100), one.start())
        if before and _BLANK_AFTER.match(window, one.end()):
            lines.append(one)
    numbers = [(one.start(), int(one["number"])) for one in lines if one["number"]]
    piece = text[start:end]
    for one in lines:
        first, last = one.start() + low - start, one.end() + low - start
        if first >= 0 and last <= len(piece) and (one["named"] or _is_page_number(one, numbers)):
            piece = f"{piece[:first]}{' ' * (last - first)}{piece[last:]}"
    return piece


def _is_page_number(line: re.Match[str], numbers: list[tuple[int, int]]) -> bool:
    """Return whether a number follows that of the page before it, or is followed by that of the page after it."""
    at, number = line.start(), int(line["number"])
    if line["before"] and int(line["before"]) != number - 1:
        return False
    place = numbers.index((at, number))
    pairs = [pair for pair in (numbers[place - 1 : place + 1], numbers[place : place + 2]) if len(pair) > 1]
    return any(after - before == 1 and end - start >= _PAGE_LENGTH_MIN for (start, before), (end, after) in pairs)
