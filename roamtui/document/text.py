r"""Compute where the lines of a text start.

Lines end only at ``\n``, ``\r\n`` and ``\r`` (CommonMark 0.31.2, section 2.1); `str.splitlines` also splits elsewhere.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

_LINE_END = re.compile("\r\n?|\n")


def compute_line_starts(text: str) -> array[int]:
    """Return the offset of each line. A line end at the end of the text does not start another line."""
    starts = array("Q", [0])
    starts.extend(match.end() for match in _LINE_END.finditer(text))
    if starts[-1] == len(text):
        starts.pop()
    return starts


def line_number_at(starts: array[int], offset: int) -> int:
    """Return the 1-based number of the line that contains the character at `offset`."""
    return max(1, bisect_right(starts, offset))


def normalise_line_ends(text: str) -> str:
    r"""Return `text` with every line end as ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
