"""Align a quote with the most similar run of words in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from roamtui.outline.spans import Bounds

_POSITIONS_MAX = 8
"""Maximum number of candidate positions at which a text is compared with the quote word by word."""


class TextWords(NamedTuple):
    """The words of a text."""

    words: tuple[str, ...]
    """Case-folded."""
    bounds: tuple[Bounds, ...]
    """Bounds in the text, for each word."""


class Alignment(NamedTuple):
    """A run of words in a text, aligned with a quote."""

    similarity: float
    """Share of common words, in order, among the words of both."""
    pairs: tuple[tuple[int, int], ...]
    """Index of each common word in the quote, and its index in the text."""

    @property
    def first(self) -> int:
        """Index of the first common word in the text."""
        return self.pairs[0][1]

    @property
    def last(self) -> int:
        """Index of the last common word in the text."""
        return self.pairs[-1][1]


def align_words(quote_words: Sequence[str], text_words: Sequence[str]) -> Alignment | None:
    """Return the run of words of a text that is most similar to a quote, or None if no word is common to both."""
    alignments = (
        _align_nearby(quote_words, text_words, max(0, start - len(quote_words)), start + 3 * len(quote_words))
        for start in _list_candidate_positions(quote_words, text_words)
    )
    return max(filter(None, alignments), default=None)


def _list_candidate_positions(quote_words: Sequence[str], text_words: Sequence[str]) -> list[int]:
    """List the word indexes in a text that most words of a quote follow, best first. Rare words count for more."""
    known_words = set(quote_words)
    hits = [index for index, word in enumerate(text_words) if word in known_words]
    weights = {word: 1 / (1 + log2(count)) for word, count in Counter(text_words[index] for index in hits).items()}
    scores: list[tuple[float, int]] = []
    # A window of one and a half lengths of the quote slides over the hits. `total` is the weight of the hits in it.
    total, first = 0.0, 0
    for index in hits:
        total += weights[text_words[index]]
        while index - hits[first] > len(quote_words) * 3 // 2:
            total -= weights[text_words[hits[first]]]
            first += 1
        scores.append((total, hits[first]))
    positions: list[int] = []
    for _, index in sorted(scores, reverse=True):
        if all(abs(index - position) > len(quote_words) for position in positions):
            positions.append(index)
            if len(positions) == _POSITIONS_MAX:
                break
    return positions


def _align_nearby(quote_words: Sequence[str], text_words: Sequence[str], low: int, high: int) -> Alignment | None:
    """Return the run of words that is most similar to a quote, between the indexes `low` and `high` in a text."""
    blocks = LCSseq.editops(quote_words, text_words[low:high]).as_matching_blocks()
    pairs = [(block.a + step, low + block.b + step) for block in blocks for step in range(block.size)]
    for index in range(len(pairs) - 2, -1, -1):  # a title may repeat the first word: keep neighbours together
        (in_quote, _), (in_next_quote, following) = pairs[index], pairs[index + 1]
        if in_quote + 1 == in_next_quote and text_words[following - 1] == quote_words[in_quote]:
            pairs[index] = in_quote, following - 1
    best_similarity, best_pairs = 0.0, slice(0, 0)
    for index, (_, first) in enumerate(pairs):
        for count, (_, last) in enumerate(pairs[index:], start=1):
            similarity = 2 * count / (len(quote_words) + last - first + 1)
            if similarity > best_similarity:
                best_similarity, best_pairs = similarity, slice(index, index + count)
    return Alignment(best_similarity, tuple(pairs[best_pairs])) if pairs else None
