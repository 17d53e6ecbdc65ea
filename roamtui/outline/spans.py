"""Ranges of characters: merge and subtract them, and split a long text into pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from roamtui.document.tokens import estimate_tokens

Bounds = tuple[int, int]
"""Offsets of the first character and of the one after the last."""
PAGE_TOKENS = 4_000
_DENSITY_MAX = 1.25
"""A page may have this many times `PAGE_TOKENS`; a text that changes from prose to numbers needs the check."""
_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)+")
_LINE_END = re.compile(r"\r\n|\r|\n")


def merge_bounds(bounds: Iterable[Bounds]) -> list[Bounds]:
    """Merge ranges into sorted ones that neither overlap nor touch."""
    merged: list[Bounds] = []
    for start, end in sorted(bounds):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def subtract_bounds(start: int, end: int, taken: Iterable[Bounds]) -> list[Bounds]:
    """Return the parts of `start` to `end` that no range of `taken` covers, in order."""
    left: list[Bounds] = []
    position = start
    for taken_start, taken_end in merge_bounds(bounds for bounds in taken if bounds[1] > start and bounds[0] < end):
        if taken_start > position:
            left.append((position, taken_start))
        position = taken_end
    if position < end:
        left.append((position, end))
    return left


def split_pages(text: str) -> list[Bounds]:
    """Split `text` into pages of about 4,000 tokens, as ranges that cover it.

    Pages end at blank lines if possible, else at line ends, else anywhere.
    """
    tokens = estimate_tokens(text)
    if tokens <= PAGE_TOKENS:
        return [(0, len(text))]
    length = max(1, len(text) * PAGE_TOKENS // tokens)
    pages: list[Bounds] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + length)
        tokens = estimate_tokens(text[start:end])
        while tokens > _DENSITY_MAX * PAGE_TOKENS and end - start > 1:
            end = start + max(1, (end - start) * PAGE_TOKENS // tokens)
            tokens = estimate_tokens(text[start:end])
        if end < len(text):
            end = _choose_cut_offset(text, start + (end - start) // 2, end)
        pages.append((start, end))
        start = end
    return pages


def _choose_cut_offset(text: str, low: int, high: int) -> int:
    for pattern in (_BLANK_LINE, _LINE_END):
        end = 0
        for match in pattern.finditer(text, low, high):
            end = match.end()
        if end:
            # The match cannot see past `high`, which may be between the two characters of a line end.
            return end + 1 if text[end - 1 : end + 1] == "\r\n" else end
    return high
