"""Arithmetic on ranges of characters: what of a text was delivered already, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Bounds = tuple[int, int]
"""Half-open: first character, and the one after the last."""


def merge_bounds(bounds: Iterable[Bounds]) -> list[Bounds]:
    """Return the same characters as sorted ranges that neither overlap nor touch."""
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
    """Return what of `start` to `end` lies in none of `taken`, in order."""
    left: list[Bounds] = []
    position = start
    for taken_start, taken_end in merge_bounds(bounds for bounds in taken if bounds[1] > start and bounds[0] < end):
        if taken_start > position:
            left.append((position, taken_start))
        position = taken_end
    if position < end:
        left.append((position, end))
    return left
