"""Merge and subtract ranges of characters, and split a long text into pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from roamtui.document.node import Span
from roamtui.document.tokens import estimate_tokens

Bounds = tuple[int, int]
"""Offsets of the first character, and of the character after the last."""
Delivered = Mapping[str, Sequence[Bounds]]
"""Ranges of characters that the model already has, by the key of the document."""
PAGE_TOKENS = 4_000
_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)+")
_LINE_END = re.compile(r"\r\n|\r|\n")


def merge_bounds(bounds: Iterable[Bounds]) -> list[Bounds]:
    """Merge ranges that overlap or touch, and sort them."""
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
    """Return the parts of the range from `start` to `end` that no range of `taken` covers, in order."""
    left: list[Bounds] = []
    position = start
    for taken_start, taken_end in merge_bounds(bounds for bounds in taken if bounds[1] > start and bounds[0] < end):
        if taken_start > position:
            left.append((position, taken_start))
        position = taken_end
    if position < end:
        left.append((position, end))
    return left


def subtract_delivered(span: Span, delivered: Delivered) -> list[Bounds]:
    """Return the parts of a span that the model does not have yet, in order."""
    return subtract_bounds(span.start, span.end, delivered.get(span.doc, ()))


def add_delivered(delivered: dict[str, list[Bounds]], spans: Iterable[Span]) -> None:
    """Add spans to the ranges that the model has."""
    for span in spans:
        delivered.setdefault(span.doc, []).append((span.start, span.end))


def split_pages(text: str) -> list[Bounds]:
    """Split `text` into pages of about 4,000 tokens. They cover the whole text.

    A page ends at a blank line, or else at a line end, or else anywhere.
    """
    tokens = estimate_tokens(text)
    if tokens <= PAGE_TOKENS:
        return [(0, len(text))]
    length = max(1, len(text) * PAGE_TOKENS // tokens)
    pages: list[Bounds] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + length)
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
            # The search ends at `high`, which may be between the two characters of a line end.
            return end + 1 if text[end - 1 : end + 1] == "\r\n" else end
    return high
