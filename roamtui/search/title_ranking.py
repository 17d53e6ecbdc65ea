"""Ranks sections by their titles alone: how much of what is asked for a title says, and how little else."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from roamtui.document.node import NodeKind
from roamtui.search.languages import STOP_WORDS
from roamtui.search.stem import stem
from roamtui.search.terms import normalise, query_terms, split_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from roamtui.document.library import Library

_SHARE_MIN = 0.34
"""Of title and query, by the rarity of their words, that must be common to both: one word in three."""


class TitleIndex:
    """The titles of a library by the stems of their words."""

    def __init__(self, library: Library) -> None:
        self._stems: dict[str, frozenset[str]] = {}
        self._places: dict[str, int] = {}
        self._holders: dict[str, list[str]] = defaultdict(list)
        for section_id in library.walk():
            heading = library.heading(section_id)
            if heading.kind in (NodeKind.SECTION, NodeKind.LINK):
                stems = _stem_words(heading.title)
                self._stems[section_id] = stems
                self._places[section_id] = len(self._places)
                for word_stem in stems:
                    self._holders[word_stem].append(section_id)

    def rank(self, query: str, *, limit: int, within: Collection[str] | None = None) -> tuple[str, ...]:
        """Return the sections whose titles are most like a query, the best first, ties in document order."""
        asked = _stem_words(" ".join(query_terms(query)))
        masses: dict[str, float] = defaultdict(float)
        for word_stem in sorted(asked):
            for section_id in self._holders.get(word_stem, ()):
                if within is None or section_id in within:
                    masses[section_id] += self._rarity(word_stem)
        whole = sum(map(self._rarity, sorted(asked)))
        shares = {
            section_id: 2 * mass / (whole + sum(map(self._rarity, sorted(self._stems[section_id]))))
            for section_id, mass in masses.items()
        }
        alike = [section_id for section_id, share in shares.items() if share >= _SHARE_MIN]
        ranked = sorted(alike, key=lambda section_id: (-shares[section_id], self._places[section_id]))
        return tuple(ranked[:limit])

    def _rarity(self, word_stem: str) -> float:
        return math.log(1 + len(self._stems) / (1 + len(self._holders.get(word_stem, ()))))


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_words(normalise(text)) if word not in STOP_WORDS)
