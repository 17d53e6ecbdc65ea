"""`KeywordSearcher`: search by words, BM25 over titles, paths, texts, with titles for mistyped words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.search.base import Hit, IndexLostError, RankedSection, Ranking
from roamtui.search.excerpts import make_snippet
from roamtui.search.index import IndexPlace, SectionIndex, StoreChooser
from roamtui.search.options import RetrievalOptions
from roamtui.search.query import Query, complete_query, correct_query, make_piece, make_start, parse_query
from roamtui.search.ranking import rank_by_text
from roamtui.search.sentences import find_opening
from roamtui.search.terms import find_terms, is_unspaced, list_compounds, split_pair
from roamtui.search.titles import TitleWords, TopicTitles
from roamtui.search.words import Language

_QUERY_LENGTH_MAX = 10_000
_BARE_LENGTH_MAX = 1_000
"""Characters; longer than that no bare heading is."""
_MATCHED_LENGTH = 20_000
"""Characters; a longer text is taken to hold a term, rather than read."""


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
    share: float = 0.0
    """Its score by text as a share of the best one."""

    def fuse(self, k: int) -> float:
        """Return the sum of reciprocal ranks."""
        return sum(1 / (k + rank) for rank in (self.text, self.title) if rank is not None)

    def describe(self) -> str:
        """Return the places in words."""
        named = (("text", self.text), ("title", self.title))
        return " · ".join(f"{name} rank {rank}" for name, rank in named if rank is not None)


class KeywordSearcher:
    """Finds sections of one library by their words. May be asked from any thread; the first search makes the index."""

    def __init__(
        self, library: Library, options: RetrievalOptions | None = None, *, place: IndexPlace | None = None
    ) -> None:
        """Search `library`; its index is kept in `place` where it is large, without one in memory."""
        self._library = library
        self._options = options or RetrievalOptions()
        self._chooser = StoreChooser(place)
        self._lock = threading.Lock()
        self._state: _State | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on, after a page was grafted or a document changed; waits for no index."""
        self._library = library

    def prepare(self, tell: Callable[[int, int], None] | None = None) -> SectionIndex:
        """Return the index, brought up to date now rather than by the first search."""
        with self._lock:
            return self._catch_up(tell).index

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first; any text is a query. See `Searcher`."""
        ranking = self.rank(query, limit=limit, within=within, earlier=earlier)
        _, state = self._prepare()
        return tuple(
            Hit(
                section_id=section.section_id,
                score=section.score,
                snippet=make_snippet(_find_text(state.index, section.section_id), ranking.terms),
                why=section.why,
            )
            for section in ranking.sections
        )

    def rank(self, query: str, *, limit: int, within: str | None = None, earlier: Sequence[str] = ()) -> Ranking:
        """Return what `search` finds without the sentences, which take longer to choose than the sections."""
        while True:
            library, state = self._prepare()
            try:
                return self._rank_in(library, state, query, limit=limit, within=within, earlier=earlier)
            except IndexLostError as error:
                self._give_up(state, error)

    def _rank_in(
        self, library: Library, state: _State, query: str, *, limit: int, within: str | None, earlier: Sequence[str]
    ) -> Ranking:
        numbers = _find_range(library, state.index, within)
        parsed = parse_query(query[:_QUERY_LENGTH_MAX])
        if limit < 1 or not parsed.terms:
            return Ranking(sections=(), terms=parsed.terms)
        options = replace(self._options, candidates=max(limit, self._options.candidates))
        topics = state.topics.carry_over(query[:_QUERY_LENGTH_MAX], earlier) if earlier else {}
        parsed, ranks = _rank(state, parsed, options, numbers, topics)
        scores = _score(ranks, self._options.fusion_k)
        ordered = sorted(scores, key=lambda number: (-scores[number], number))
        kept = merge_families(state.index, demote_bare(state.index, ordered, parsed), parsed, limit)
        lowered = _descend([scores[number] for number in kept])
        return Ranking(
            sections=tuple(
                RankedSection(section_id=state.index.id_of(number), score=score, why=ranks[number].describe())
                for number, score in zip(kept, lowered, strict=True)
            ),
            terms=parsed.terms,
            topics=tuple(state.index.id_of(number) for number in sorted(topics, key=lambda number: -topics[number])),
        )

    def _prepare(self) -> tuple[Library, _State]:
        with self._lock:
            return self._library, self._catch_up()

    def _catch_up(self, tell: Callable[[int, int], None] | None = None) -> _State:
        """Return what the newest library is searched with; only what changed is indexed."""
        while self._state is None or self._state.index.library is not self._library:
            before = self._state.index if self._state is not None else None
            store = before.store if before is not None else self._chooser.open(self._library)
            try:
                index = SectionIndex(self._library, store, before=before, tell=tell)
            except IndexLostError as error:
                self._state = None
                self._chooser.give_up(store, error)
            else:
                topics = TopicTitles(index, self._state.topics if self._state is not None else None)
                self._state = _State(index, TitleWords(index), topics)
        return self._state

    def _give_up(self, state: _State, error: IndexLostError) -> None:
        """Let the next search make another store, in place of one that failed."""
        with self._lock:
            if self._state is state:
                self._state = None
                self._chooser.give_up(state.index.store, error)


def _rank(
    state: _State, query: Query, options: RetrievalOptions, within: range, topics: Mapping[int, float]
) -> tuple[Query, dict[int, _Ranks]]:
    """Rank by text; where words of the query stand nowhere, also by the titles most like them."""
    if query.unfinished and not state.index.has_word(query.unfinished) and _may_go_on(state.index, query):
        query = complete_query(query)
    corrections = state.titles.correct(query.words)
    query = correct_query(query, {**corrections, **_divide_words(state.index, query)})
    ranks: dict[int, _Ranks] = {}
    scores = rank_by_text(state.index, query, options, within, topics)
    best = max(scores.values(), default=0.0)
    for rank, (number, score) in enumerate(scores.items(), start=1):
        ranks[number] = _Ranks(text=rank, share=score / best)
    if corrections:
        by_title = state.titles.rank(query.words, corrections, within)[: options.candidates]
        for rank, number in enumerate(by_title, start=1):
            ranks.setdefault(number, _Ranks()).title = rank
    return query, ranks


def _divide_words(index: SectionIndex, query: Query) -> dict[str, tuple[str, ...]]:
    """Return the parts of words that stand nowhere: characters of a pair, words of a German compound."""
    divided: dict[str, tuple[str, ...]] = {}
    for word in query.words:
        if is_unspaced(word) and len(word) > 1 and not index.store.count(make_piece(word), 1):
            divided[word] = split_pair(word)
        elif query.language is Language.GERMAN and not index.has_word(word):
            divided[word] = next((parts for parts in list_compounds(word) if _has_all(index, parts)), ())
    return {word: (word, *parts) for word, parts in divided.items() if parts}


def _has_all(index: SectionIndex, words: Iterable[str]) -> bool:
    return all(index.has_word(word) for word in words)


def _may_go_on(index: SectionIndex, query: Query) -> bool:
    """Return whether some word begins like the last one of a query."""
    return index.store.count(make_start(query), 1) > 0


def _score(ranks: Mapping[int, _Ranks], k: int) -> dict[int, float]:
    """Return scores as shares of the best one: by text, or where titles were looked through by fused ranks."""
    if all(places.title is None for places in ranks.values()):
        return {number: places.share for number, places in ranks.items()}
    fused = {number: places.fuse(k) for number, places in ranks.items()}
    best = max(fused.values())
    return {number: score / best for number, score in fused.items()}


def _find_range(library: Library, index: SectionIndex, within: str | None) -> range:
    if within is None or within == library.root_id:
        return range(len(index))
    number = index.number_of(within)
    if number is None:
        raise UnknownSectionError(within)
    return index.layout.subtree(number)


def _find_text(index: SectionIndex, section_id: str) -> str:
    number = index.number_of(section_id)
    return "" if number is None else index.own_text(number)


def _descend(scores: Sequence[float]) -> list[float]:
    """Return scores that never rise, where a hit was moved down below a lower one."""
    lowered: list[float] = []
    for score in scores:
        lowered.append(min(score, lowered[-1]) if lowered else score)
    return lowered


def is_bare(index: SectionIndex, number: int) -> bool:
    """Whether a node's own text is nothing but its heading."""
    text = index.own_text(number)
    return len(text) <= _BARE_LENGTH_MAX and find_opening(text) is None


def demote_bare(index: SectionIndex, numbers: Sequence[int], query: Query) -> list[int]:
    """Let the first section whose own text matches go before bare headings, unless these hold all that is asked for."""
    for place, number in enumerate(numbers):
        has_text = not is_bare(index, number)
        if (has_text and place == 0) or (not has_text and _is_title_asked(index, number, query)):
            break
        if has_text and _has_own_match(index, number, query):
            return [number, *numbers[:place], *numbers[place + 1 :]]
    return list(numbers)


def merge_families(index: SectionIndex, numbers: Sequence[int], query: Query, limit: int) -> list[int]:
    """Return the first `limit` numbers without those that say nothing beside a better parent or child.

    That is a child that only its parents' titles brought, and a bare heading whose child is there already.
    """
    kept: list[int] = []
    for number in numbers:
        if len(kept) == limit:
            break
        has_child = any(other in index.layout.subtree(number) for other in kept)
        if has_child and is_bare(index, number):
            continue
        if _has_ancestor(index, number, kept) and not _has_own_match(index, number, query):
            continue
        kept.append(number)
    return kept


def _has_ancestor(index: SectionIndex, number: int, others: Sequence[int]) -> bool:
    return any(number != other and number in index.layout.subtree(other) for other in others)


def _has_own_match(index: SectionIndex, number: int, query: Query) -> bool:
    text = index.own_text(number)
    if not index.title_stems(number).isdisjoint(query.stems) or len(text) > _MATCHED_LENGTH:
        return True
    return bool(find_terms(text, [*query.terms, *query.words]))


def _is_title_asked(index: SectionIndex, number: int, query: Query) -> bool:
    """Whether a title holds every word of the query."""
    title = index.title_stems(number)
    return all(not title.isdisjoint(group) for group in query.groups)
