r"""Lines end at ``\n``, ``\r\n`` and ``\r`` only (CommonMark 0.31.2, section 2.1); `str.splitlines` knows too many."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

_LINE_END = re.compile("\r\n?|\n")


def find_line_starts(text: str) -> array[int]:
    """Return the offset of the first character of each line; a final line end begins no further line."""
    starts = array("Q", [0] if text else [])
    starts.extend(match.end() for match in _LINE_END.finditer(text))
    if starts and starts[-1] == len(text):
        starts.pop()
    return starts


def line_number_at(starts: array[int], offset: int) -> int:
    """Return the 1-based number of the line that holds the character at `offset`."""
    return max(1, bisect_right(starts, offset))


def normalise_line_ends(text: str) -> str:
    r"""Return `text` with every line end as ``\n``."""
    return _LINE_END.sub("\n", text) if "\r" in text else text
