"""`KeywordSearcher`: keyword search with BM25 over titles, paths and texts, plus signals that BM25 lacks.

These are whole titles, adjacent words, the sentence that answers best, and the scores of nearby sections. To stay fast
in a large library, words that occur in very many sections do not select them: BM25 is then computed, with all words,
for sections that contain a rarer word or several common ones. Finding a section costs 0.03 µs, scoring it 0.75 µs.
"""

from __future__ import annotations

import math
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.search.base import Hit, IndexLostError, Ranking
from roamtui.search.index import IndexLocation, SectionIndex, StoreProvider
from roamtui.search.lexicon import Language, get_synonyms
from roamtui.search.options import RetrievalOptions
from roamtui.search.sentences import best_sentences, get_first_sentence, make_snippet, select_relevant_part
from roamtui.search.terms import (
    Query,
    build_prefix_expression,
    build_term_expression,
    correct_query,
    extract_names,
    is_unspaced,
    list_compounds,
    list_inflected_forms,
    locate_terms,
    normalise_unicode,
    parse_query,
    split_pair,
)
from roamtui.search.titles import TopicTitles, favour_topics, suggest_corrections

_QUERY_LENGTH_MAX = 10_000
_BARE_LENGTH_MAX = 1_000
"""Characters; a longer text is more than a bare heading."""
_MATCHED_LENGTH = 20_000
"""Characters; a longer text is assumed to contain a term, since reading it would take too long."""
_TEXT_WEIGHT = 1.0
_NAME_WEIGHT = 2.0
"""Weight of a whole identifier, next to its parts as words."""
_PART_WEIGHT = 0.3
"""Weight of a part of an identifier in camel case."""
_TITLE_SHARE = 0.2
"""Bonus if the query contains every word of the title, as a share of the best text score."""
_PATH_SHARE = 0.2
"""The same bonus for the title and the titles above together."""
_PARENT_SHARE = 0.05
"""Share of the parent section's score to add."""
_PAGE_SHARE = 0.05
"""Share of the mean of the best three scores in the same document to add."""
_PAGE_SCORES = 3
_SENTENCE_SHARE = 0.2
"""Bonus for a best sentence that contains the whole query, as a share of the best score."""
_READ = 20
"""Number of top sections whose sentences are read."""
_SYNONYM_WEIGHT = 0.3
"""Weight of an everyday synonym of a rare or missing query word, relative to that word."""
_NEIGHBOUR_WEIGHT = 0.3
"""Weight of two words that are adjacent both in the query and in a section."""
_FORM_WEIGHT = 1.0
"""Weight of inflected forms and of compounds that start with a query word, in languages other than English."""
_GLOSSARY_LOSS = 0.3
"""Share of its score that a glossary entry loses, unless the query contains its whole title."""
_TOPIC_WEIGHT = 2.0
"""Boost of sections inside the topic of the conversation, if the search knows the conversation."""
_TERMS_MIN = 2
"""Sentences are read only for queries with at least this many terms; for one term the sections are enough."""
_RARE_MAX = 10
"""A word in at most this many sections may be the asker's own word, so its synonyms are searched too."""
WEIGHED_MAX = 8_000
"""The most sections scored for one query: 6 ms for one word, twice that for many."""
_COUNTED_MAX = 150_000
"""The most occurrences of common words counted to weight the words: 5 ms. The commonest words distinguish almost
nothing."""
_WANTED_MIN = 200
"""Enough sections that contain several common words at once."""
_QUOTED_TITLE = re.compile(r"[\W\d_]*[\"“”„«‘]")
_GLOSSARY_STEMS = frozenset({"definit", "glossari", "terminolog", "acronym", "abbrevi"})
_PART_STEMS = frozenset({"articl", "section", "chapter", "part", "annex", "appendix", "term", "defin", "interpret"})
"""Other words that the title of a glossary may contain."""


@dataclass(frozen=True, slots=True)
class _IndexState:
    """State built by the first search of a library."""

    index: SectionIndex
    topics: TopicTitles


class KeywordSearcher:
    """Keyword search in one library. It is thread-safe; the first search builds the index."""

    def __init__(
        self, library: Library, options: RetrievalOptions | None = None, *, place: IndexLocation | None = None
    ) -> None:
        """Search `library`. The index of a large library is stored in `place` if given, every other one in memory."""
        self._library = library
        self._options = options or RetrievalOptions()
        self._chooser = StoreProvider(place)
        self._lock = threading.Lock()
        self._state: _IndexState | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on, after a page was grafted or a document changed; waits for no index."""
        self._library = library

    def prepare(self, tell: Callable[[int, int], None] | None = None) -> SectionIndex:
        """Return the index, brought up to date now rather than by the first search."""
        return self._catch_up(tell).index

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first; any text is a query. See `Searcher`."""
        ranking = self.rank(query, limit=limit, within=within, earlier=earlier)
        own_text = ranking.library.own_text
        return tuple(
            replace(hit, snippet=make_snippet(own_text(hit.section_id), ranking.terms)) for hit in ranking.hits
        )

    def rank(self, query: str, *, limit: int, within: str | None = None, earlier: Sequence[str] = ()) -> Ranking:
        """Return what `search` finds without the sentences, which take longer to choose than the sections."""
        while True:
            state = self._catch_up()
            try:
                return self._rank_in(state, query[:_QUERY_LENGTH_MAX], limit, within, earlier)
            except IndexLostError as error:
                with self._lock:
                    if self._state is state:
                        self._state = None  # so that another store is made, in place of one that failed
                        self._chooser.discard(state.index.store, error)

    def _catch_up(self, tell: Callable[[int, int], None] | None = None) -> _IndexState:
        """Return what the newest library is searched with; only what changed is indexed."""
        with self._lock:
            while self._state is None or self._state.index.library is not self._library:
                before = self._state.index if self._state is not None else None
                store = before.store if before is not None else self._chooser.open(self._library)
                try:
                    index = SectionIndex(self._library, store, before=before, tell=tell)
                except IndexLostError as error:
                    self._state = None
                    self._chooser.discard(store, error)
                else:
                    self._state = _IndexState(index, TopicTitles(index, self._state.topics if self._state else None))
            return self._state

    def _rank_in(
        self, state: _IndexState, text: str, limit: int, within: str | None, earlier: Sequence[str]
    ) -> Ranking:
        index = state.index
        numbers = range(len(index))
        if within is not None and within != index.library.root_id:
            number = index.layout.find(within)
            if number is None:
                raise UnknownSectionError(within)
            numbers = index.layout.subtree(number)
        query = parse_query(text)
        if limit < 1 or not query.terms:
            return Ranking(library=index.library, hits=(), terms=query.terms)
        options = replace(self._options, candidates=max(limit, self._options.candidates))
        topics = state.topics.recall_topics(text, earlier) if earlier else {}
        query = expand_query(index, query)
        scores = rank_by_text(index, query, options, numbers, topics)
        ranks = {number: rank for rank, number in enumerate(scores, start=1)}
        best = max(scores.values(), default=0.0)
        hits = (
            Hit(section_id=index.layout.id_of(number), score=scores[number] / best, why=f"text rank {ranks[number]}")
            for number in dedupe_parents_and_children(index, list(scores), query, limit)
        )
        named = tuple(index.layout.id_of(number) for number in sorted(topics, key=lambda number: -topics[number]))
        return Ranking(library=index.library, hits=tuple(hits), terms=query.terms, topics=named)


def expand_query(index: SectionIndex, query: Query) -> Query:
    """Return a query with what its words may mean that stand nowhere: they go on, are mistyped, or are compounds."""
    if (
        query.last_prefix
        and not index.has_word(query.last_prefix)
        and index.store.count(build_prefix_expression(query), 1)
    ):
        words = tuple(word for word in query.words if word != query.last_prefix)
        query = replace(query, words=words, fts_terms=(*query.fts_terms, build_prefix_expression(query)))
    meant: dict[str, tuple[str, ...]] = suggest_corrections(index, query.words)
    for word in query.words:
        parts: tuple[str, ...] = ()
        if is_unspaced(word) and len(word) > 1 and not index.has_word(word):
            parts = split_pair(word)
        elif query.language is Language.GERMAN and not index.has_word(word):
            parts = next((parts for parts in list_compounds(word) if all(map(index.has_word, parts))), ())
        if parts:
            meant[word] = (word, *parts)
    return correct_query(query, meant)


def rank_by_text(
    index: SectionIndex,
    query: Query,
    options: RetrievalOptions,
    within: range,
    topics: Mapping[int, float] = MappingProxyType({}),
) -> dict[int, float]:
    """Return the numbers of the sections that match a query with their scores, the best first, ties in document order.

    What stands in double quotes must occur, unless it occurs nowhere.
    """
    scores = _score_words(index, query, options, within)
    for topic in topics:
        inside = index.layout.subtree(topic)
        inside = range(max(inside.start, within.start), min(inside.stop, within.stop))
        scores |= _score_words(index, query, options, inside)
    if not scores:
        return {}
    best = max(scores.values())
    scores = {number: score + best * _score_titles(index, number, query) for number, score in scores.items()}
    scores = _boost_by_neighbours(index, scores)
    scores = _demote_glossary(index, scores, query)
    if topics:
        scores = favour_topics(scores, topics, index, query, _TOPIC_WEIGHT)
    if not topics or not query.is_follow_up:  # a follow-up is no whole question: no sentence need hold its words
        scores = _boost_by_best_sentence(index, scores, query)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def compute_overlap(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return which share of `part` is in `whole`, 0 for an empty one."""
    return len(part & whole) / len(part) if part else 0.0


def _boost_by_best_sentence(index: SectionIndex, scores: dict[int, float], query: Query) -> dict[int, float]:
    """Let the best sections gain by their best sentence: words together answer better than words apart."""
    if len(query.terms) < _TERMS_MIN:
        return scores
    counts = {term: index.store.count(build_term_expression(term)) for term in query.terms}
    weights = {term: math.log(1 + (len(index) - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    best = max(scores.values())
    gained = dict(scores)
    for number in sorted(scores, key=lambda number: (-scores[number], number))[:_READ]:
        text = select_relevant_part(index.own_text(number), query.terms)
        forms = list_inflected_forms(text, query.terms, query.language)
        found = best_sentences(text, query.terms, limit=1, idf=weights, forms=forms)
        if found:
            gained[number] += _SENTENCE_SHARE * best * found[0].score
    return gained


def _score_words(index: SectionIndex, query: Query, options: RetrievalOptions, within: range) -> dict[int, float]:
    weights = (options.heading_boost, options.path_boost, _TEXT_WEIGHT, _NAME_WEIGHT, _PART_WEIGHT)
    found: list[tuple[int, float]] = []
    if query.phrases:
        expression = f"({query.phrases}) AND ({query.expression} OR ({query.phrases}))"
        found = index.rank(expression, weights, within, options.candidates)
    if not found:
        search = plan_search(index, query, within)
        found = index.rank(search.expression, weights, within, options.candidates, rows=search.rows)
        found += _rank_by_synonyms(index, query, weights, within, options.candidates)
        found += _rank_by_phrases_and_forms(index, query, weights, within, options.candidates)
    scores: dict[int, float] = defaultdict(float)
    for number, score in found:
        scores[number] += score
    return dict(scores)


def _rank_by_synonyms(
    index: SectionIndex, query: Query, weights: Sequence[float], within: range, limit: int
) -> list[tuple[int, float]]:
    """Return what is found by words that mean the same as those that are rare among the sections.

    In a large library every word is somebody's, and looking for many more of them would cost time.
    """
    if len(within) > WEIGHED_MAX:
        return []
    asked = [word for word in query.words if get_synonyms((word,))]
    rare = [word for word in asked if len(index.list_matches(f'"{word}"', within, _RARE_MAX + 1)) <= _RARE_MAX]
    expression = " OR ".join(f'"{word}"' for word in get_synonyms(rare))
    found = index.rank(expression, weights, within, limit)
    return [(number, _SYNONYM_WEIGHT * score) for number, score in found]


def _rank_by_phrases_and_forms(
    index: SectionIndex, query: Query, weights: Sequence[float], within: range, limit: int
) -> list[tuple[int, float]]:
    """Return what is found by more than single words as asked: neighbours, other forms of words, words implied.

    In a large library looking for them would cost time.
    """
    if len(within) > WEIGHED_MAX:
        return []
    more = (
        (" OR ".join(query.neighbours), _NEIGHBOUR_WEIGHT),
        (" OR ".join(query.prefixes), _FORM_WEIGHT),
        (query.implied, _SYNONYM_WEIGHT),
    )
    return [
        (number, weight * score)
        for expression, weight in more
        if expression
        for number, score in index.rank(expression, weights, within, limit)
    ]


def _score_titles(index: SectionIndex, number: int, query: Query) -> float:
    title = compute_overlap(index.title_stems(number), query.stems)
    if query.names and query.names & extract_names(normalise_unicode(index.title(number))):
        title = 1.0  # where an identifier is a title, it is defined, not used
    path = compute_overlap(index.path_stems(number), query.stems)
    return _TITLE_SHARE * title + _PATH_SHARE * path


def _demote_glossary(index: SectionIndex, scores: dict[int, float], query: Query) -> dict[int, float]:
    """Let entries of a glossary lose: full of a subject's words, they answer what they define and little else."""
    return {
        number: score * (1 - _GLOSSARY_LOSS)
        if is_glossary_entry(index, number) and not index.title_stems(number) <= query.stems
        else score
        for number, score in scores.items()
    }


def is_glossary_entry(index: SectionIndex, number: int) -> bool:
    """Whether a node defines a term: its title stands in quotation marks, or that above it names a glossary."""
    if _QUOTED_TITLE.match(index.title(number)):
        return True
    parent = index.layout.parent(number)
    above = index.title_stems(parent) if parent >= 0 else frozenset()
    named = {word_stem for word_stem in above if not word_stem.isdigit()}
    return bool(named & _GLOSSARY_STEMS) and named <= _GLOSSARY_STEMS | _PART_STEMS


def _boost_by_neighbours(index: SectionIndex, scores: dict[int, float]) -> dict[int, float]:
    """Let a section gain by the section above it and by the best ones of its document."""
    pages: dict[int, list[float]] = defaultdict(list)
    for number, score in scores.items():
        pages[id(index.layout.locate(number)[0])].append(score)
    means = {page: sum(sorted(found, reverse=True)[:_PAGE_SCORES]) / _PAGE_SCORES for page, found in pages.items()}
    return {
        number: score
        + _PARENT_SHARE * scores.get(index.layout.parent(number), 0.0)
        + _PAGE_SHARE * means[id(index.layout.locate(number)[0])]
        for number, score in scores.items()
    }


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What the store is asked for."""

    expression: str
    rows: tuple[int, int] | None = None
    """First and last row of the store that are looked at; None for all."""


def plan_search(index: SectionIndex, query: Query, within: range, *, weighed_max: int = WEIGHED_MAX) -> SearchPlan:
    """Return what finds the best sections for a query without weighing many more than `weighed_max` of them."""
    if len(within) <= weighed_max or not query.fts_terms:
        return SearchPlan(query.expression)
    counts = {piece: index.store.count(piece) for piece in query.fts_terms}
    pieces = sorted((piece for piece in query.fts_terms if counts[piece]), key=lambda piece: counts[piece])
    rare = _take(pieces, counts, weighed_max)
    common = pieces[len(rare) :]
    if not common:
        return SearchPlan(_join(rare) or query.expression)
    together = _build_joint_expression(index, common, weighed_max)
    if not rare and not together:
        return _search_titles(index, common, within, weighed_max)
    weighed = [*rare, *_take(common, counts, _COUNTED_MAX)]
    return SearchPlan(f"({_join([*rare, *together])}) AND ({_join(weighed)})")


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


def _build_joint_expression(index: SectionIndex, common: Sequence[str], weighed_max: int) -> list[str]:
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


def _search_titles(index: SectionIndex, common: Sequence[str], within: range, weighed_max: int) -> SearchPlan:
    """Return a search in titles alone, cut off where there are too many even of those."""
    expression = " AND ".join(f"title : {piece}" for piece in common if ":" not in piece) or common[0]
    if not index.store.count(expression, 1):
        expression = common[0]
    rows = index.store.list_matches(expression, index.get_row_range(within), weighed_max)
    return SearchPlan(expression, (rows[0], rows[-1]) if rows else None)


def _join(pieces: Sequence[str]) -> str:
    return " OR ".join(pieces)


def dedupe_parents_and_children(index: SectionIndex, numbers: Sequence[int], query: Query, limit: int) -> list[int]:
    """Return the first `limit` numbers without those that say nothing beside a better parent or child.

    That is a child that only its parents' titles brought, and a bare heading whose child is there already.
    """
    kept: list[int] = []
    for number in numbers:
        if len(kept) == limit:
            break
        has_child = any(other in index.layout.subtree(number) for other in kept)
        has_parent = any(number in index.layout.subtree(other) for other in kept)
        is_child_alike = has_parent and not _has_own_match(index, number, query)
        if not (is_child_alike or (has_child and _is_bare(index, number))):
            kept.append(number)
    return kept


def _is_bare(index: SectionIndex, number: int) -> bool:
    """Whether a node's own text is nothing but its heading."""
    text = index.own_text(number)
    return len(text) <= _BARE_LENGTH_MAX and get_first_sentence(text) is None


def _has_own_match(index: SectionIndex, number: int, query: Query) -> bool:
    text = index.own_text(number)
    if not index.title_stems(number).isdisjoint(query.stems) or len(text) > _MATCHED_LENGTH:
        return True
    return bool(locate_terms(text, [*query.terms, *query.words]))
