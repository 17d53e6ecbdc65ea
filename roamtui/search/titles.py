"""Titles for words that stand nowhere: what a mistyped word may have meant, by RapidFuzz."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from roamtui.search.index import SectionIndex
from roamtui.search.stem import stem
from roamtui.search.terms import find_words

_ENDINGS = frozenset({"s", "es", "y", "ies", "d", "ed", "er", "ers", "or", "ors", "ee", "ees", "ing", "ings", "ion"})
_LENGTH_MIN = 4
"""Shorter words are too like each other."""
_SIMILARITY_MIN = 0.79
"""One slip in five letters, two in ten; 0.8 itself is lost to rounding."""
_LIKENESS_MIN = 0.5
"""Share of words that title and query must have in common: in a long question, one word like a title proves nothing."""
_CORRECTIONS_MAX = 3
_HOLDERS_MAX = 1_000
"""Titles with one word that are looked at."""


class TitleWords:
    """The words of all titles of an index, to be compared with words that it does not know."""

    def __init__(self, index: SectionIndex) -> None:
        self._index = index

    def correct(self, words: Iterable[str]) -> dict[str, dict[str, float]]:
        """Return for each word that the index does not know the title words most like it, with their likeness."""
        corrections = {}
        for word in words:
            if len(word) < _LENGTH_MIN or any(map(str.isdigit, word)) or self._index.has_stem(stem(word)):
                continue
            meant = find_similar(word, self._index.store.list_title_words())
            if meant:
                corrections[word] = meant
        return corrections

    def rank(self, words: Iterable[str], corrections: dict[str, dict[str, float]], within: range) -> list[int]:
        """Return the nodes whose titles are most like the corrected words, the best first, ties in document order."""
        words = list(words)
        scores: dict[int, float] = defaultdict(float)
        for similar in corrections.values():
            best: dict[int, float] = {}
            for found, likeness in similar.items():
                for number in self._list_holders(found, within):
                    best[number] = max(likeness, best.get(number, 0.0))
            for number, likeness in best.items():
                scores[number] += likeness
        known = {stem(word) for word in words if word not in corrections}
        likeness_by_number = {
            number: 2 * (score + self._count_known(number, known)) / (len(self._index.title_stems(number)) + len(words))
            for number, score in scores.items()
        }
        alike = [number for number, likeness in likeness_by_number.items() if likeness >= _LIKENESS_MIN]
        return sorted(alike, key=lambda number: (-likeness_by_number[number], number))

    def _list_holders(self, word: str, within: range) -> list[int]:
        """Return nodes whose titles hold a word; of very many the first."""
        found = self._index.list_matches(f'title : "{word}"', within, _HOLDERS_MAX)
        return [number for number in found if word in find_words(self._index.title(number))]

    def _count_known(self, number: int, stems: set[str]) -> int:
        return len(self._index.title_stems(number) & stems)


def find_similar(word: str, words: Sequence[str]) -> dict[str, float]:
    """Return up to three words that a mistyped one may have meant, in the plural or not, with likeness from 0 to 1."""
    meant: dict[str, float] = {}
    for written in (word, word[:-1] if word.endswith("s") else f"{word}s"):
        similar = process.extract(
            written,
            words,
            scorer=OSA.normalized_similarity,
            score_cutoff=_SIMILARITY_MIN,
            limit=_CORRECTIONS_MAX,
        )
        for found, likeness, _ in similar:
            meant[found] = max(likeness, meant.get(found, 0.0))
    best = sorted(meant, key=lambda found: (-meant[found], found))[:_CORRECTIONS_MAX]
    return {found: meant[found] for found in best if not is_other_form(word, found)}


def is_other_form(word: str, other: str) -> bool:
    """Return whether two words differ by their endings alone (``owners``, ``owning``): no slip made the other."""
    start = next((place for place, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), 0)
    return start >= _LENGTH_MIN and word[start:] in _ENDINGS and other[start:] in _ENDINGS
