"""Finds titles by a few typed characters. Knows no screen."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterator, Sequence
from typing import TypeVar, cast

from roamtui.tui.tree.display_tree import DisplayTree, Key

_FUZZY_SCORE_MIN = 75
_FUZZY_SCORE_SPREAD = 8
"""Worse matches than the best by more than this are noise."""
_FUZZY_LENGTH_MIN = 3
"""Shorter patterns are like nearly every title."""
SLICE = 10_000
"""Titles that are looked at in one step: the slowest way of looking takes some milliseconds for so many."""

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
"""Work in slices: what runs it may do something else between them, or leave it."""


class TitleSearch:
    """Finds titles of a tree; where a pattern goes on from the one before, only what that one found is looked at.

    Titles that hold each word of a pattern win; where there are none, those that hold its characters in order; where
    there are none either, those that are like it, so that a slip of the finger still finds its section.
    """

    def __init__(self, tree: DisplayTree) -> None:
        self.tree = tree
        self._keys: array[Key] = array("Q")
        self._titles: list[str] = []
        self._slots_read = 0
        self._rows_read = 0
        self._words: tuple[list[str], list[int]] | None = None
        self._letters: tuple[str, list[int]] | None = None

    def find(self, pattern: str) -> list[Key]:
        """Return the nodes whose titles match `pattern`, without a pause."""
        return run_steps(self.find_in_steps(pattern))

    def find_in_steps(self, pattern: str) -> Steps[list[int]]:
        """Return the nodes whose titles match `pattern`, in slices of work."""
        words = pattern.casefold().split()
        if not words:
            return []
        yield from self._read_titles()
        places = yield from self._find_words(words)
        if not places:
            places = yield from self._find_letters("".join(words))
        if not places:
            places = yield from self._find_similar(" ".join(words))
        # In a tree of one document the place of a title is its key.
        return places if self._slots_read == 1 else [self._keys[place] for place in places]

    def _read_titles(self) -> Iterator[None]:
        """Take all titles without difference of case."""
        documents = self.tree.documents
        while self._slots_read < len(documents):
            slot, start = self._slots_read, self._rows_read
            titles = documents[slot].columns.titles
            end = min(start + SLICE, len(titles))
            self._titles.extend(map(str.casefold, titles[start:end]))
            self._keys.extend(range(self.tree.key_at(slot, start), self.tree.key_at(slot, end)))
            # What was read is kept where the search is left here for one of a longer pattern.
            self._slots_read, self._rows_read = (slot + 1, 0) if end == len(titles) else (slot, end)
            yield

    def _find_words(self, words: list[str]) -> Steps[list[int]]:
        candidates: Sequence[int] = range(len(self._titles))
        if self._words is not None and all(any(old in word for word in words) for old in self._words[0]):
            candidates = self._words[1]
        titles = self._titles
        found: list[int] = []
        for part in _cut(candidates):
            rest = part
            for word in words:
                rest = [place for place in rest if word in titles[place]]
            found.extend(rest)
            yield
        self._words = (words, found)
        return found

    def _find_letters(self, letters: str) -> Steps[list[int]]:
        candidates: Sequence[int] = range(len(self._titles))
        if self._letters is not None and letters.startswith(self._letters[0]):
            candidates = self._letters[1]
        found: list[int] = []
        for part in _cut(candidates):
            found.extend(place for place in part if _has_letters(self._titles[place], letters))
            yield
        self._letters = (letters, found)
        return found

    def _find_similar(self, pattern: str) -> Steps[list[int]]:
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - few patterns need it

        if len(pattern) < _FUZZY_LENGTH_MIN:
            return []
        scored: list[tuple[float, int]] = []
        for start in range(0, len(self._titles), SLICE):
            titles = self._titles[start : start + SLICE]
            likely = process.extract(
                pattern, titles, scorer=fuzz.partial_ratio, score_cutoff=_FUZZY_SCORE_MIN, limit=None
            )
            # A title much shorter than the pattern is like a part of it, which says nothing.
            scored += [(score, start + place) for title, score, place in likely if len(title) * 2 > len(pattern)]
            yield
        best = max((score for score, _ in scored), default=0)
        return [place for score, place in scored if score >= best - _FUZZY_SCORE_SPREAD]


def run_steps(steps: Steps[Result]) -> Result:
    """Return what comes out of work in slices, done without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("Result", end.value)


def find_matched_ranges(title: str, pattern: str) -> tuple[tuple[int, int], ...]:
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
            return ()
        matched.add(places[found])
        position = found + 1
    return _join_ranges(sorted(matched))


def _cut(places: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(places), SLICE):
        yield places[start : start + SLICE]


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


def _join_ranges(places: list[int]) -> tuple[tuple[int, int], ...]:
    ranges: list[tuple[int, int]] = []
    for place in places:
        if ranges and ranges[-1][1] == place:
            ranges[-1] = (ranges[-1][0], place + 1)
        else:
            ranges.append((place, place + 1))
    return tuple(ranges)
