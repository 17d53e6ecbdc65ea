"""Keeps a query quick in a large library: BM25 is computed for sections that hold what is rare in the query.

Finding the sections that hold a word is cheap, at about 0.03 µs each; weighing one costs 0.75 µs. So where words stand
in very many sections, those with a rarer word, or with several of the common ones, are weighed, by all words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.search.index import SectionIndex
    from roamtui.search.query import Query

WEIGHED_MAX = 8_000
"""Sections that are weighed for one query: 6 ms for one word, twice that for many."""
_COUNTED_MAX = 150_000
"""Occurrences of common words that are counted for how telling they are: 5 ms. The commonest tell next to nothing."""
_WANTED_MIN = 200
"""Sections with several common words at once that are enough."""


@dataclass(frozen=True, slots=True)
class Search:
    """What the store is asked for."""

    expression: str
    rows: tuple[int, int] | None = None
    """First and last row of the store that are looked at; None for all."""


def plan_search(index: SectionIndex, query: Query, within: range, *, weighed_max: int = WEIGHED_MAX) -> Search:
    """Return what finds the best sections for a query without weighing many more than `weighed_max` of them."""
    if len(within) <= weighed_max or not query.pieces:
        return Search(query.expression)
    counts = {piece: index.count(piece) for piece in query.pieces}
    pieces = sorted((piece for piece in query.pieces if counts[piece]), key=lambda piece: counts[piece])
    rare = _take(pieces, counts, weighed_max)
    common = pieces[len(rare) :]
    if not common:
        return Search(_join(rare) or query.expression)
    together = _find_together(index, common, weighed_max)
    if not rare and not together:
        return _search_titles(index, common, within, weighed_max)
    weighed = [*rare, *_take(common, counts, _COUNTED_MAX)]
    return Search(f"({_join([*rare, *together])}) AND ({_join(weighed)})")


def _take(pieces: Sequence[str], counts: dict[str, int], total_max: int) -> list[str]:
    """Return as many of the first pieces as occur together no more often than `total_max`."""
    taken: list[str] = []
    total = 0
    for piece in pieces:
        total += counts[piece]
        if total > total_max:
            break
        taken.append(piece)
    return taken


def _find_together(index: SectionIndex, common: Sequence[str], weighed_max: int) -> list[str]:
    """Return an expression for sections that hold as many of the common pieces as some do; nothing where all do."""
    best: list[str] = []
    for size in range(len(common), 1, -1):
        expression = f"({' AND '.join(common[:size])})"
        count = index.store.count(expression, weighed_max + 1)
        if count > weighed_max:
            break
        if count:
            best = [expression]
        if count >= _WANTED_MIN:
            break
    return best


def _search_titles(index: SectionIndex, common: Sequence[str], within: range, weighed_max: int) -> Search:
    """Return a search in titles alone, cut off where there are too many even of those."""
    expression = " AND ".join(f"title : {piece}" for piece in common if ":" not in piece) or common[0]
    if not index.store.count(expression, 1):
        expression = common[0]
    rows = index.store.list_matches(expression, index.find_rows(within), weighed_max)
    return Search(expression, (rows[0], rows[-1]) if rows else None)


def _join(pieces: Sequence[str]) -> str:
    return " OR ".join(pieces)
