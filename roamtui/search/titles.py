"""Titles for words that stand nowhere: what a mistyped word may have meant, by RapidFuzz."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rapidfuzz import process
from rapidfuzz.distance import OSA

from roamtui.search.stem import stem
from roamtui.search.terms import STOP_WORDS, find_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from roamtui.search.index import SectionIndex

_LENGTH_MIN = 4
"""Shorter words are too like each other."""
_SIMILARITY_MIN = 0.8
"""One slip in five letters, two in ten."""
_LIKENESS_MIN = 0.5
"""Share of words that title and query must have in common: in a long question, one word like a title proves nothing."""
_CORRECTIONS_MAX = 3


class TitleWords:
    """The words of all titles of an index, to be compared with words that it does not know."""

    def __init__(self, index: SectionIndex) -> None:
        self._index = index
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._counts: list[int] = []
        for number in range(len(index)):
            words = {word for word in find_words(index.title(number)) if word not in STOP_WORDS}
            self._counts.append(len(words))
            for word in words:
                self._holders[word].append(number)
        self._words = sorted(word for word in self._holders if len(word) >= _LENGTH_MIN)

    def correct(self, words: Iterable[str]) -> dict[str, dict[str, float]]:
        """Return for each word that the index does not know the title words most like it, with their likeness."""
        corrections = {}
        for word in words:
            if len(word) < _LENGTH_MIN or any(map(str.isdigit, word)) or self._index.has_word(stem(word)):
                continue
            similar = process.extract(
                word,
                self._words,
                scorer=OSA.normalized_similarity,
                score_cutoff=_SIMILARITY_MIN,
                limit=_CORRECTIONS_MAX,
            )
            if similar:
                corrections[word] = {found: likeness for found, likeness, _ in similar}
        return corrections

    def rank(self, words: Iterable[str], corrections: dict[str, dict[str, float]], within: range) -> list[int]:
        """Return the nodes whose titles are most like the corrected words, the best first, ties in document order.

        Args:
            words: All words of the query.
            corrections: As `correct` gives them.
            within: Numbers of the nodes to look at.
        """
        words = list(words)
        scores: dict[int, float] = defaultdict(float)
        for similar in corrections.values():
            best: dict[int, float] = {}
            for found, likeness in similar.items():
                for number in self._holders[found]:
                    best[number] = max(likeness, best.get(number, 0.0))
            for number, likeness in best.items():
                scores[number] += likeness
        known = {stem(word) for word in words if word not in corrections}
        likeness_by_number = {
            number: 2 * (score + self._count_known(number, known)) / (self._counts[number] + len(words))
            for number, score in scores.items()
            if number in within
        }
        alike = [number for number, likeness in likeness_by_number.items() if likeness >= _LIKENESS_MIN]
        return sorted(alike, key=lambda number: (-likeness_by_number[number], number))

    def _count_known(self, number: int, stems: set[str]) -> int:
        return len({stem(word) for word in find_words(self._index.title(number))} & stems)
