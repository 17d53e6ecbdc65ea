"""Pages of a long text: cut at blank lines where possible, else at line ends, else anywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    from roamtui.outline.spans import Bounds

PAGE_TOKENS = 4_000
_DENSITY_MAX = 1.25
"""A page may have this many times the tokens aimed at, as where a text turns from prose to numbers."""
_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)+")
_LINE_END = re.compile(r"\r\n|\r|\n")


def split_pages(text: str) -> list[Bounds]:
    """Return the pages of `text` as ranges that cover it: one where it has at most about 4,000 tokens."""
    tokens = estimate_tokens(text)
    if tokens <= PAGE_TOKENS:
        return [(0, len(text))]
    length = max(1, len(text) * PAGE_TOKENS // tokens)
    pages: list[Bounds] = []
    start = 0
    while start < len(text):
        end = _limit_end(text, start, min(len(text), start + length))
        if end < len(text):
            end = _find_cut(text, start + (end - start) // 2, end)
        pages.append((start, end))
        start = end
    return pages


def _limit_end(text: str, start: int, end: int) -> int:
    """Return `end`, or an earlier one where the text from `start` to it has far more tokens than a page."""
    tokens = estimate_tokens(text[start:end])
    while tokens > _DENSITY_MAX * PAGE_TOKENS and end - start > 1:
        end = start + max(1, (end - start) * PAGE_TOKENS // tokens)
        tokens = estimate_tokens(text[start:end])
    return end


def _find_cut(text: str, low: int, high: int) -> int:
    """Return the best place to cut between `low` and `high`."""
    for pattern in (_BLANK_LINE, _LINE_END):
        end = 0
        for match in pattern.finditer(text, low, high):
            end = match.end()
        if end:
            return end + 1 if text[end - 1 : end + 1] == "\r\n" else end
    return high
