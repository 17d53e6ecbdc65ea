"""Finds titles by a few typed characters. Knows no screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from roamtui.tui.tree.display_tree import DisplayTree, Key

_FUZZY_SCORE_MIN = 75
_FUZZY_SCORE_SPREAD = 8
"""Worse matches than the best by more than this are noise."""
_FUZZY_LENGTH_MIN = 3
"""Shorter patterns are like nearly every title."""


def find_titles(tree: DisplayTree, pattern: str) -> list[Key]:
    """Return the nodes whose titles match `pattern`, in no particular order.

    Titles that hold each word of it win; where there are none, those that hold its characters in order; where there
    are none either, those that are like it, so that a slip of the finger still finds its section.
    """
    wanted = pattern.casefold().split()
    if not wanted:
        return []
    return _find_words(tree, wanted) or _find_letters(tree, "".join(wanted)) or _find_similar(tree, " ".join(wanted))


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


def _find_words(tree: DisplayTree, words: list[str]) -> list[Key]:
    keys: list[Key] = []
    for slot, titles in enumerate(tree.folded_titles):
        rows: Iterable[int] = range(len(titles))
        for word in words:
            rows = [row for row in rows if word in titles[row]]
        keys.extend(tree.key_at(slot, row) for row in rows)
    return keys


def _find_letters(tree: DisplayTree, letters: str) -> list[Key]:
    return [
        tree.key_at(slot, row)
        for slot, titles in enumerate(tree.folded_titles)
        for row, title in enumerate(titles)
        if _has_letters(title, letters)
    ]


def _has_letters(title: str, letters: str) -> bool:
    position = 0
    for letter in letters:
        position = title.find(letter, position) + 1
        if position == 0:
            return False
    return True


def _find_similar(tree: DisplayTree, pattern: str) -> list[Key]:
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - few patterns need it

    if len(pattern) < _FUZZY_LENGTH_MIN:
        return []
    scored = [
        (score, tree.key_at(slot, row))
        for slot, titles in enumerate(tree.folded_titles)
        for title, score, row in process.extract(
            pattern, titles, scorer=fuzz.partial_ratio, score_cutoff=_FUZZY_SCORE_MIN, limit=None
        )
        # A title much shorter than the pattern is like a part of it, which says nothing.
        if len(title) * 2 > len(pattern)
    ]
    best = max((score for score, _ in scored), default=0)
    return [key for score, key in scored if score >= best - _FUZZY_SCORE_SPREAD]


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
