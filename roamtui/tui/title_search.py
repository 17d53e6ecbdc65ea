"""Finds titles by a few typed characters, the best first. Knows no screen."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest

from roamtui.tui.steps import Steps
from roamtui.tui.tree.display_tree import DisplayTree, Key

_FUZZY_SCORE_MIN = 75
_FUZZY_SCORE_SPREAD = 8
"""Worse matches than the best by more than this are noise."""
_FUZZY_LENGTH_MIN = 3
"""Shorter patterns are like nearly every title."""
SLICE = 2_000
"""Titles that are looked at in one step: the slowest way of looking takes some milliseconds for so many."""

_Rated = tuple[float, int, int]
"""How well a title matches, the less the better; its length, and its place."""


@dataclass(frozen=True, slots=True)
class TitleMatches:
    """Titles that were found."""

    keys: tuple[Key, ...] = ()
    """The best first."""
    count: int = 0
    """Of all, whether listed or not."""
    is_close: bool = True
    """Whether they hold the words, and not only their letters or something like them."""


class TitleSearch:
    """Finds titles of a tree.

    Titles that hold each word of a pattern win; where there are none, those that hold its characters in order; where
    there are none either, those that are like it, so that a slip of the finger still finds its section.
    """

    def __init__(self, tree: DisplayTree) -> None:
        self.tree = tree
        self._keys: array[Key] = array("Q")
        self._titles: list[str] = []
        self._slots_read = 0

    def find(self, pattern: str, limit: int) -> Steps[TitleMatches]:
        """Return, in slices of work, the titles that match best."""
        words = pattern.casefold().split()
        if not words:
            return TitleMatches()
        yield from self._read_titles()
        phrase = " ".join(words)
        ways: list[Callable[[Sequence[str]], Iterator[_Rated]]] = [partial(_rate_words, words, phrase)]
        ways.append(partial(_rate_letters, "".join(words)))
        if len(phrase) >= _FUZZY_LENGTH_MIN:
            ways.append(partial(_rate_likeness, phrase))
        for number, rate in enumerate(ways):
            best: list[_Rated] = []
            count = 0
            for start in range(0, len(self._titles), SLICE):
                rated = [(*of, start + place) for *of, place in rate(self._titles[start : start + SLICE])]
                count += len(rated)
                best = nsmallest(limit, [*best, *rated])  # type: ignore[list-item]
                yield
            if number == len((_rate_words, _rate_letters)):
                best = [one for one in best if one[0] <= best[0][0] + _FUZZY_SCORE_SPREAD]
                count = len(best)
            if best:
                return TitleMatches(tuple(self._keys[place] for _, _, place in best), count, is_close=not number)
        return TitleMatches()

    def _read_titles(self) -> Iterator[None]:
        """Take all titles without difference of case."""
        while self._slots_read < len(self.tree.documents):
            slot = self._slots_read
            titles = self.tree.documents[slot].columns.titles
            first = self.tree.key_at(slot, 0)
            self._titles.extend(map(str.casefold, titles))
            self._keys.extend(range(first, first + len(titles)))
            self._slots_read += 1
            yield


def _rate_words(words: Sequence[str], phrase: str, titles: Sequence[str]) -> Iterator[_Rated]:
    """Yield the titles that hold every word; those that begin with them first, and shorter ones."""
    places: Sequence[int] = range(len(titles))
    for word in words:
        places = [place for place in places if word in titles[place]]
    for place in places:
        title = titles[place]
        start = title.find(phrase)
        rating = 0 if not start else 1 if start > 0 and not title[start - 1].isalnum() else 2
        yield rating, len(title), place


def _rate_letters(letters: str, titles: Sequence[str]) -> Iterator[_Rated]:
    """Yield the titles that hold all characters in their order, shorter ones first."""
    for place, title in enumerate(titles):
        if _has_letters(title, letters):
            yield 0, len(title), place


def _rate_likeness(phrase: str, titles: Sequence[str]) -> Iterator[_Rated]:
    """Yield the titles that are much like what was typed."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - few patterns need it

    found = process.extract(phrase, titles, scorer=fuzz.partial_ratio, score_cutoff=_FUZZY_SCORE_MIN, limit=None)
    for title, score, place in found:
        if len(title) * 2 > len(phrase):  # a much shorter one is like a part of it, which says nothing
            yield -score, len(title), place


def find_matched_ranges(title: str, pattern: str) -> list[tuple[int, int]]:
    """Return the ranges of `title` that `pattern` matches, in order and apart; none for a match by likeness."""
    folded, places = _fold_case(title)
    words = pattern.casefold().split()
    matched: set[int] = set()
    if all(word in folded for word in words):
        for word in words:
            start = folded.find(word)
            matched.update(places[start : start + len(word)])
        return _join_ranges(sorted(matched))
    position = 0
    for letter in "".join(words):
        found = folded.find(letter, position)
        if found < 0:
            return []
        matched.add(places[found])
        position = found + 1
    return _join_ranges(sorted(matched))


def _has_letters(title: str, letters: str) -> bool:
    position = 0
    for letter in letters:
        position = title.find(letter, position) + 1
        if position == 0:
            return False
    return True


def _fold_case(title: str) -> tuple[str, list[int]]:
    """Return a title without difference of case, and for each of its characters the place it comes from."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(title):
        for part in character.casefold():
            folded.append(part)
            places.append(place)
    return "".join(folded), places


def _join_ranges(places: list[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for place in places:
        if ranges and ranges[-1][1] == place:
            ranges[-1] = (ranges[-1][0], place + 1)
        else:
            ranges.append((place, place + 1))
    return ranges
