"""Everyday English words that mean nearly the same: who asks says "buy" where a document says "purchase".

Words of trade, law and daily life alone. Technical terms have one exact name each and stand in no group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

from roamtui.search.stem import stem
from roamtui.search.words import list_lines


def find_synonyms(words: Iterable[str]) -> tuple[str, ...]:
    """Return words that mean nearly the same as some of `words`, folded and sorted, none of these among them."""
    stems = {stem(word) for word in words}
    found = {other for word_stem in stems for other in _list_by_stem().get(word_stem, ())}
    return tuple(sorted(other for other in found if stem(other) not in stems))


@cache
def _list_by_stem() -> Mapping[str, frozenset[str]]:
    """Return the words of the groups that hold a stem, by that stem."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in list_lines("synonyms"):
        for word in group.split():
            found[stem(word)].update(group.split())
    return {word_stem: frozenset(words) for word_stem, words in found.items()}
