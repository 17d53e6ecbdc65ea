"""Keyword search: BM25 over titles, paths and texts, with titles for mistyped words, fused by reciprocal rank."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line, shorten
from roamtui.errors import UnknownSectionError, UsageError
from roamtui.search.base import Hit, SearchMode, SearchOptions
from roamtui.search.families import demote_bare, merge_families
from roamtui.search.index import SectionIndex
from roamtui.search.query import Query, correct_query, parse_query
from roamtui.search.ranking import rank_by_text
from roamtui.search.sentences import best_sentences, find_opening
from roamtui.search.titles import TitleWords
from roamtui.search.topics import TopicTitles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from roamtui.document.library import Library
    from roamtui.search.base import Searcher

SNIPPET_LENGTH = 240
_QUERY_LENGTH_MAX = 10_000
_SNIPPET_SOURCE = 20_000
"""Characters of a very long section that are looked through for a snippet."""
_TERM_START = 5
"""Letters of a term by which the part of a long section is chosen; what follows may be inflected."""
_ALLOWED_MODES = (SearchMode.OFF, SearchMode.KEYWORD)


def make_searcher(library: Library, mode: SearchMode | str) -> Searcher | None:
    """Return what searches `library` in a mode, None where search is off.

    Raises:
        UsageError: The mode is unknown, or not built in.
    """
    if mode == SearchMode.OFF:
        return None
    if mode == SearchMode.KEYWORD:
        return KeywordSearcher(library)
    allowed = ", ".join(_ALLOWED_MODES)
    raise UsageError(f'There is no search mode "{plain_line(str(mode))}" here. Choose one of: {allowed}.')


@dataclass(frozen=True, slots=True)
class _State:
    """What is made at the first search of a library."""

    index: SectionIndex
    titles: TitleWords
    topics: TopicTitles


@dataclass(slots=True)
class _Ranks:
    """Place of a section in each list, from 1."""

    text: int | None = None
    title: int | None = None

    def fuse(self, k: int) -> float:
        """Return the sum of reciprocal ranks."""
        return sum(1 / (k + rank) for rank in (self.text, self.title) if rank is not None)

    def describe(self) -> str:
        """Return the places in words."""
        named = (("text", self.text), ("title", self.title))
        return " · ".join(f"{name} rank {rank}" for name, rank in named if rank is not None)


class KeywordSearcher:
    """Finds sections of one library by their words. May be asked from any thread; the first search makes the index."""

    def __init__(self, library: Library, options: SearchOptions | None = None) -> None:
        self._library = library
        self._options = options or SearchOptions()
        self._lock = threading.Lock()
        self._state: _State | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on, after a page was grafted or a document changed."""
        with self._lock:
            if library is not self._library:
                self._library = library
                self._state = None

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first; any text is a query. See `Searcher`."""
        library, state = self._prepare()
        numbers = _find_range(library, state.index, within)
        parsed = parse_query(query[:_QUERY_LENGTH_MAX])
        if limit < 1 or not parsed.terms:
            return ()
        options = replace(self._options, candidates=max(limit, self._options.candidates))
        topics = state.topics.carry_over(query[:_QUERY_LENGTH_MAX], earlier) if earlier else {}
        parsed, ranks = _rank(state, parsed, options, numbers, topics)
        scores = {number: places.fuse(self._options.fusion_k) for number, places in ranks.items()}
        ordered = sorted(scores, key=lambda number: (-scores[number], number))
        kept = merge_families(state.index, demote_bare(state.index, ordered, parsed), parsed, limit)
        return tuple(
            Hit(
                section_id=state.index.ids[number],
                score=score,
                snippet=_make_snippet(state.index.own_text(number), parsed.terms),
                why=ranks[number].describe(),
            )
            for number, score in zip(kept, _descend([scores[number] for number in kept]), strict=True)
        )

    def _prepare(self) -> tuple[Library, _State]:
        with self._lock:
            if self._state is None:
                index = SectionIndex(self._library)
                self._state = _State(index, TitleWords(index), TopicTitles(index))
            return self._library, self._state


def _rank(
    state: _State, query: Query, options: SearchOptions, within: range, topics: Mapping[int, float]
) -> tuple[Query, dict[int, _Ranks]]:
    """Rank by text; where words of the query stand nowhere, also by the titles most like them."""
    corrections = state.titles.correct(query.words)
    query = correct_query(query, corrections)
    ranks: dict[int, _Ranks] = {}
    for rank, number in enumerate(rank_by_text(state.index, query, options, within, topics), start=1):
        ranks[number] = _Ranks(text=rank)
    if corrections:
        by_title = state.titles.rank(query.words, corrections, within)[: options.candidates]
        for rank, number in enumerate(by_title, start=1):
            ranks.setdefault(number, _Ranks()).title = rank
    return query, ranks


def _find_range(library: Library, index: SectionIndex, within: str | None) -> range:
    if within is None or within == library.root_id:
        return range(len(index))
    number = index.number_of(within)
    if number is None:
        raise UnknownSectionError(within)
    return index.subtree(number)


def _descend(scores: Sequence[float]) -> list[float]:
    """Return scores that never rise, where a hit was moved down below a lower one."""
    lowered: list[float] = []
    for score in scores:
        lowered.append(min(score, lowered[-1]) if lowered else score)
    return lowered


def _make_snippet(text: str, terms: tuple[str, ...]) -> str:
    """Return the best sentence of a section's own text, else its first, on one safe line."""
    text = _narrow(text, terms)
    best = best_sentences(text, terms, limit=1)
    sentence = best[0] if best else find_opening(text)
    if sentence is None:
        return ""
    return shorten(plain_line(text[sentence.start : sentence.end].replace("\n>", "\n")), SNIPPET_LENGTH)


def _narrow(text: str, terms: tuple[str, ...]) -> str:
    """Return a long text's part that holds most of the terms."""
    if len(text) <= _SNIPPET_SOURCE:
        return text
    starts = [term[:_TERM_START] for term in terms]
    parts = [text[start : start + _SNIPPET_SOURCE] for start in range(0, len(text), _SNIPPET_SOURCE)]
    return max(parts, key=lambda part: sum(start in part.lower() for start in starts))
