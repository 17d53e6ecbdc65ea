r"""Store the text of a document, compute where its lines start, and blank out page footers.

Python stores a text as wide as its widest character: one emoji makes 50 MB of letters take 200 MB. Lines end only at
``\n``, ``\r\n`` and ``\r`` (CommonMark 0.31.2, section 2.1); `str.splitlines` also splits elsewhere. A page footer can
interrupt a sentence. It is part of the source, but not of the sentence.
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
"""Characters of a piece. With an emoji, each takes four bytes. 50 MB of MDN take 71 MB, or 97 MB in 32 KB pieces."""
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
        """Return the offset of the first such character from `start` up to `end` (exclusive), or -1."""
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


_FOOTER_LINE = re.compile(
    r"(?<=\n)[ \t]*(?:"
    r"(?P<named>(?:[Pp]age|PAGE)[ \t]+-?\d{1,4}-?(?:[ \t]+(?:of|OF)[ \t]+\d{1,4})?"
    r"|[-–—][ \t]*\d{1,4}[ \t]*[-–—]"
    r"|Source:[^\n]{2,100},[ \t]\d{1,2}/\d{1,2}/\d{4})"
    r"|(?:(?P<before>\d{1,3})[ \t]+)?(?P<number>\d{1,3})(?:[ \t]*[-–—])?"
    r")[ \t]*(?=\r?\n|\Z)"
)
_BLANK_BEFORE = re.compile(r"(?:\A|\n)[ \t\r]*\n\Z")
_BLANK_AFTER = re.compile(r"\r?\n?[ \t]*(?:\r?\n|\Z)")
_CONTEXT_LENGTH = 12_000
"""Characters before and after a text that are searched for the numbers of other pages."""
_PAGE_LENGTH_MIN = 1_500
"""Minimum number of characters between two page numbers. Other numbers are closer together."""


def blank_footers(text: str | LongText, start: int, end: int) -> str:
    """Return the text from `start` to `end` (exclusive), with each page footer replaced by as many spaces.

    A line with only a number n is a footer if the page before ends with n - 1, or the page after with n + 1.
    """
    low = max(0, start - _CONTEXT_LENGTH)
    window = text[low : end + _CONTEXT_LENGTH]
    lines = []
    for line in _FOOTER_LINE.finditer(window):
        before = _BLANK_BEFORE.search(window, max(0, line.start() - 100), line.start())
        if before and _BLANK_AFTER.match(window, line.end()):
            lines.append(line)
    numbers = [(line.start(), int(line["number"])) for line in lines if line["number"]]
    piece = text[start:end]
    for line in lines:
        first, last = line.start() + low - start, line.end() + low - start
        if first >= 0 and last <= len(piece) and (line["named"] or _is_page_number(line, numbers)):
            piece = f"{piece[:first]}{' ' * (last - first)}{piece[last:]}"
    return piece


def _is_page_number(line: re.Match[str], numbers: list[tuple[int, int]]) -> bool:
    offset, number = line.start(), int(line["number"])
    if line["before"] and int(line["before"]) != number - 1:
        return False
    index = numbers.index((offset, number))
    pairs = [pair for pair in (numbers[index - 1 : index + 1], numbers[index : index + 2]) if len(pair) > 1]
    return any(after - before == 1 and end - start >= _PAGE_LENGTH_MIN for (start, before), (end, after) in pairs)
