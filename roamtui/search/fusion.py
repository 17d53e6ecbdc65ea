"""Reciprocal rank fusion: several ranked lists into one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """Sections in the order in which one way of searching found them."""

    name: str
    weight: float
    """How much it counts; a list of weight 0 counts for nothing and is not told of."""
    section_ids: tuple[str, ...]
    """The best first, each once."""


def fuse_lists(lists: Iterable[RankedList], k: int) -> dict[str, float]:
    """Return the sum of weighted reciprocal ranks of each section, the highest first, ties as the lists have them.

    Args:
        lists: Ranked lists, of which those that come first decide ties.
        k: The constant that keeps the first places from deciding alone, 60 as a rule.
    """
    scores: dict[str, float] = defaultdict(float)
    for ranked in lists:
        if ranked.weight > 0:
            for rank, section_id in enumerate(ranked.section_ids, start=1):
                scores[section_id] += ranked.weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def describe_ranks(lists: Iterable[RankedList], section_id: str) -> str:
    """Return the place of a section in each list that has it, such as ``text rank 1 · vector rank 3``."""
    return " · ".join(
        f"{ranked.name} rank {ranked.section_ids.index(section_id) + 1}"
        for ranked in lists
        if ranked.weight > 0 and section_id in ranked.section_ids
    )
