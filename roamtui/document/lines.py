r"""Lines end at ``\n``, ``\r\n`` and ``\r`` only (CommonMark 0.31.2, section 2.1); `str.splitlines` knows too many."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate, count
from operator import add
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamtui.document.text import DocumentText

_LINE_END = re.compile("\r\n?|\n")
_PIECE_LENGTH = 1_000_000


def find_line_starts(text: DocumentText) -> array[int]:
    """Return the offset of the first character of each line; a final line end begins no further line."""
    if text.find("\r", 0) < 0:
        starts = _find_starts_after_feeds(text)
    elif (whole := str(text)).count("\r") == whole.count("\r\n"):
        starts = _find_starts_after_feeds(whole)
    else:
        starts = array("Q", [0])
        starts.extend(match.end() for match in _LINE_END.finditer(whole))
    if starts[-1] == len(text):
        starts.pop()
    return starts


def _find_starts_after_feeds(text: DocumentText) -> array[int]:
    r"""Return 0 and what follows each ``\n``: lengths of lines summed up, by far the quickest way.

    A long text goes in pieces, so that its lines never stand in memory all at once.
    """
    starts = array("Q", [0])
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + _PIECE_LENGTH) + 1 or len(text)
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
