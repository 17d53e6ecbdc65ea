"""What a conversation is about: the sections whose titles it named, and how strongly they carry over to a follow-up."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from roamtui.search.stem import stem
from roamtui.search.terms import normalise, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from roamtui.search.index import SectionIndex

_TURNS_MAX = 40
"""Turns that are looked back upon."""
_TURN_LENGTH_MAX = 10_000
_DECAY = 0.9
"""What a mention keeps of its strength with each turn that followed it."""
_SHARE_MIN = 0.5
"""Share of a title, by the rarity of its words, that a turn must say to have named it."""
_RARITY_HALF = 4.0
"""Rarity of the words said at which a mention has half its strength: a common word alone names little."""
_TOPICS_MAX = 8


class TopicTitles:
    """The titles of all sections of an index that hold others: what a conversation may be about."""

    def __init__(self, index: SectionIndex) -> None:
        self._index = index

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """Sections by each stem in their titles."""
        holders: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self._index)):
            size = len(self._index.subtree(number))
            if 1 < size < len(self._index) and self._index.own_text(number):
                for word_stem in self._index.title_stems(number):
                    holders[word_stem].append(number)
        return dict(holders)

    @cached_property
    def _rarities(self) -> dict[str, float]:
        """How rare each stem is among the titles."""
        count = len({number for numbers in self._holders.values() for number in numbers})
        return {word_stem: math.log(1 + count / len(numbers)) for word_stem, numbers in self._holders.items()}

    def carry_over(self, query: str, earlier: Sequence[str]) -> dict[int, float]:
        """Return the sections that earlier turns named, with their strengths from 0 to 1.

        The last named is the strongest. What the query itself names weakens all of them: it may be about something new.

        Args:
            query: What is looked for now.
            earlier: What was said before by either side, oldest first.
        """
        strengths: dict[int, float] = {}
        for age, turn in enumerate(reversed(earlier[-_TURNS_MAX:])):
            for number, strength in self._find_named(turn).items():
                strengths[number] = max(strengths.get(number, 0.0), strength * _DECAY**age)
        named_now = max(self._find_named(query).values(), default=0.0)
        strongest = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))[:_TOPICS_MAX]
        return {number: strength - named_now for number, strength in strongest if strength > named_now}

    def _find_named(self, text: str) -> dict[int, float]:
        """Return the sections that a text names by most of their titles' words, with the strength of the mention."""
        masses: dict[int, float] = defaultdict(float)
        for word_stem in _stem_all(text):
            for number in self._holders.get(word_stem, ()):
                masses[number] += self._rarities[word_stem]
        strengths = {}
        for number, mass in masses.items():
            share = mass / sum(self._rarities[word_stem] for word_stem in self._index.title_stems(number))
            if share >= _SHARE_MIN:
                strengths[number] = share**2 * mass / (mass + _RARITY_HALF)
        return strengths


def favour_topics(
    scores: Mapping[int, float], topics: Mapping[int, float], index: SectionIndex, weight: float
) -> dict[int, float]:
    """Return scores in which sections inside a topic gain by its strength, and by how well the topic answers at all."""
    gained: dict[int, float] = {}
    for topic, strength in topics.items():
        for number in index.subtree(topic):
            if number in scores:
                gained[number] = max(gained.get(number, 0.0), strength)
    fit = max((scores[number] for number in gained), default=0.0)
    return {number: score + weight * gained.get(number, 0.0) * fit for number, score in scores.items()}


def _stem_all(text: str) -> Iterable[str]:
    """Return the stems of the words of a turn, each once."""
    return dict.fromkeys(stem(word) for word in split_words(normalise(text[:_TURN_LENGTH_MAX])))
