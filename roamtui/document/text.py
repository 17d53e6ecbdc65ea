r"""Find the lines of a text, and its front matter: the block between lines of dashes at the start of a Markdown file.

Lines end only at ``\n``, ``\r\n`` and ``\r`` (CommonMark 0.31.2, section 2.1); `str.splitlines` also splits elsewhere.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

_LINE_END = re.compile("\r\n?|\n")
_FRONT_OPENING = re.compile(r"---[ \t]*\n(?!\n)")
_FRONT_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)


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


def measure_front_matter(text: str) -> int:
    r"""Return the length of the front matter at the start of `text` (line ends as ``\n``), or 0.

    A block that starts with a blank line is a rule followed by text, not front matter.
    """
    opening = _FRONT_OPENING.match(text)
    closing = _FRONT_CLOSING.search(text, opening.end()) if opening else None
    return closing.end() if closing else 0


def find_body_start(text: str) -> int:
    """Return the offset after the front matter. The text may have any line ends."""
    normalised = normalise_line_ends(text)
    lines = normalised.count("\n", 0, measure_front_matter(normalised))
    if not lines:
        return 0
    starts = compute_line_starts(text)
    return starts[lines] if lines < len(starts) else len(text)
