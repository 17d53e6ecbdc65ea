"""How clear a search by words is: how far its best section stands before the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.search.base import RankedSection

_DOUBT_RANK = 10
"""Rank whose score says how clear a search by words is."""
_DOUBT_MIN = 0.01
"""However clear words are, what vectors alone find comes after it all."""
_CLEAR_SHARE = 0.9
"""Of the best score by words, above which the second best makes it doubtful."""


def measure_doubt(sections: Sequence[RankedSection]) -> float:
    """Return how little the words of a query tell sections apart, from near 0 to 1, where they find none.

    It is the squared score of the tenth section, or of the last of fewer, as a share of the best one's.
    """
    if not sections:
        return 1.0
    share = sections[:_DOUBT_RANK][-1].score / sections[0].score
    return max(_DOUBT_MIN, share**2)


def put_clear_first(order: Sequence[str], sections: Sequence[RankedSection]) -> list[str]:
    """Return ids with the best one by words before all others, where no other comes near it by words."""
    first = sections[0].section_id if sections else ""
    if first not in order or find_rival(sections, first) > _CLEAR_SHARE:
        return list(order)
    return [first, *(section_id for section_id in order if section_id != first)]


def find_rival(sections: Sequence[RankedSection], section_id: str) -> float:
    """Return the best score by words of another section as a share of that of one; infinite where it has none."""
    own = next((section.score for section in sections if section.section_id == section_id), 0.0)
    other = next((section.score for section in sections if section.section_id != section_id), 0.0)
    return other / own if own else math.inf
