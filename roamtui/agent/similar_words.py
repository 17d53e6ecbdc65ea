"""Align a quote with the most similar run of words in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from roamtui.outline.spans import Bounds

_PLACES = 8
"""Number of candidate positions at which a text is compared with the quote word by word."""


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
    """For each common word, its number in the quote and its number in the text."""

    @property
    def first(self) -> int:
        """Number of the first common word in the text."""
        return self.pairs[0][1]

    @property
    def last(self) -> int:
        """Number of the last common word in the text."""
        return self.pairs[-1][1]


def align_words(wanted: Sequence[str], given: Sequence[str]) -> Alignment | None:
    """Return the run of given words that is most similar to the wanted ones, or None if no word is common to both."""
    found = (
        _align_nearby(wanted, given, max(0, start - len(wanted)), start + 3 * len(wanted))
        for start in _list_candidate_positions(wanted, given)
    )
    return max(filter(None, found), default=None)


def _list_candidate_positions(wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """List the word numbers after which most words of a quote follow. A rare word counts for more."""
    known = set(wanted)
    hits = [index for index, word in enumerate(given) if word in known]
    weights = {word: 1 / (1 + log2(count)) for word, count in Counter(given[index] for index in hits).items()}
    scores: list[tuple[float, int]] = []
    total, first = 0.0, 0
    for index in hits:
        total += weights[given[index]]
        while index - hits[first] > len(wanted) * 3 // 2:
            total -= weights[given[hits[first]]]
            first += 1
        scores.append((total, hits[first]))
    positions: list[int] = []
    for _, index in sorted(scores, reverse=True):
        if all(abs(index - position) > len(wanted) for position in positions):
            positions.append(index)
            if len(positions) == _PLACES:
                break
    return positions


def _align_nearby(wanted: Sequence[str], given: Sequence[str], low: int, high: int) -> Alignment | None:
    """Return the most similar run of words among those from `low` to `high`."""
    blocks = LCSseq.editops(wanted, given[low:high]).as_matching_blocks()
    pairs = [(block.a + step, low + block.b + step) for block in blocks for step in range(block.size)]
    for index in range(len(pairs) - 2, -1, -1):  # a title may repeat the first word: keep neighbours together
        (in_quote, _), (in_next_quote, following) = pairs[index], pairs[index + 1]
        if in_quote + 1 == in_next_quote and given[following - 1] == wanted[in_quote]:
            pairs[index] = in_quote, following - 1
    best = 0.0, 0, 0
    for index, (_, first) in enumerate(pairs):
        for count, (_, last) in enumerate(pairs[index:], start=1):
            similarity = 2 * count / (len(wanted) + last - first + 1)
            if similarity > best[0]:
                best = similarity, index, index + count
    return Alignment(best[0], tuple(pairs[best[1] : best[2]])) if pairs else None
