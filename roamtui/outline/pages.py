"""Pages of a long text: cut at blank lines where possible, else at line ends, else anywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    from roamtui.outline.spans import Bounds

PAGE_TOKENS = 4_000
_BLANK_LINE = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)+")
_LINE_END = re.compile(r"\r\n?|\n")


def split_pages(text: str) -> list[Bounds]:
    """Return the pages of `text` as ranges that cover it: one where it has at most about 4,000 tokens."""
    tokens = estimate_tokens(text)
    if tokens <= PAGE_TOKENS:
        return [(0, len(text))]
    length = max(1, len(text) * PAGE_TOKENS // tokens)
    pages: list[Bounds] = []
    start = 0
    while len(text) - start > length:
        end = _find_cut(text, start + length // 2, start + length)
        pages.append((start, end))
        start = end
    pages.append((start, len(text)))
    return pages


def _find_cut(text: str, low: int, high: int) -> int:
    """Return the best place to cut between `low` and `high`."""
    for pattern in (_BLANK_LINE, _LINE_END):
        end = 0
        for match in pattern.finditer(text, low, high):
            end = match.end()
        if end:
            return end
    return high
