"""`KeywordSearcher`: keyword search with BM25 over titles, paths and texts, plus signals that BM25 lacks.

These signals are whole titles, synonyms, the sentence that answers best, and the topics of the conversation. In a large
library, very common words are left out, because finding a section takes 0.03 µs, but scoring it takes 0.75 µs.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.search.base import Hit, IndexLostError, Progress, Ranking
from roamtui.search.excerpts import make_snippet
from roamtui.search.index import IndexLocation, SectionIndex, SectionStore, stem_title
from roamtui.search.lexicon import Language, detect_language, get_synonyms
from roamtui.search.named import find_named_sections
from roamtui.search.query import Query, build_synonym_expressions, correct_query, parse_query, quote
from roamtui.search.sentences import rank_sentences, select_relevant_part
from roamtui.search.terms import list_inflected_forms, tokenise
from roamtui.search.titles import TopicTitles, boost_topics, suggest_corrections

_QUERY_LENGTH_MAX = 10_000
CANDIDATES = 100
"""Number of sections that are scored at least."""
_TITLE_SHARE = 0.2
"""Bonus if the query contains every word of the title, as a share of the best text score."""
_PATH_SHARE = 0.2
"""Bonus if the query contains every word of the title and of the titles above it, as a share of the best score."""
_SENTENCE_SHARE = 0.2
"""Bonus for a section with a sentence that contains the whole query, as a share of the best score."""
_READ_MAX = 20
"""Maximum number of sections whose sentences are read, best first."""
_SYNONYM_WEIGHT = 0.3
"""Weight of an everyday synonym of a rare query word, relative to that word."""
_MISSING_WEIGHT = 1.0
"""Weight of a synonym of a query word that no section contains, because the text can then contain only synonyms."""
_IMPLIED_WEIGHT = 1.0
"""Weight of the words that a question implies. Contracts, for example, often use none of the question's own words."""
_FORM_WEIGHT = 1.0
"""Weight of inflected forms and of compounds that start with a query word, in German."""
_TOPIC_WEIGHT = 2.0
"""Weight of the boost for sections that belong to a topic of the conversation."""
_TERMS_MIN = 2
"""Minimum number of terms of a query for which sentences are read. For one term, the scores of sections are enough."""
_RARE_SECTIONS_MAX = 10
"""If at most this many sections contain a word, its synonyms are searched too: the text may use another word."""
_LARGE = 8_000
"""Number of sections from which words in more than `_COMMON_SHARE` of them are left out, and only the words themselves
are searched: no synonyms, and no other forms."""
_COMMON_SHARE = 0.1


class KeywordSearcher:
    """Searches one library by keywords. Thread-safe. The first search builds the index."""

    def __init__(self, library: Library, *, location: IndexLocation | None = None) -> None:
        """Search `library`. If it is large, its index is stored in `location`, if given; otherwise in memory."""
        self._library = library
        self._location = location
        self._store: SectionStore | None = None
        self._lock = threading.Lock()
        self._topic_titles: TopicTitles | None = None
        """Titles that may be topics, with the index of the library. The first search makes both."""

    def refresh(self, library: Library) -> None:
        """Search `library` from now on. The next search updates the index."""
        self._library = library

    def prepare(self, on_progress: Progress | None = None) -> SectionIndex:
        """Bring the index up to date now, not only at the next search, and return it."""
        return self._update_index(on_progress).index

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, best first. See `Searcher`."""
        ranking = self.rank(query, limit=limit, within=within, earlier=earlier)
        return add_snippets(ranking.library, ranking.hits, query, ranking.terms)

    def rank(self, query: str, *, limit: int, within: str | None = None, earlier: Sequence[str] = ()) -> Ranking:
        """Return the hits of `search`, but without snippets, because choosing them takes longer than the search."""
        query, titles = query[:_QUERY_LENGTH_MAX], self._update_index()
        try:
            return self._rank_with_index(titles, query, limit, within, earlier)
        except IndexLostError as error:
            with self._lock:
                if self._topic_titles is titles:
                    self._use_memory(error)
            return self._rank_with_index(self._update_index(), query, limit, within, earlier)

    def _update_index(self, on_progress: Progress | None = None) -> TopicTitles:
        with self._lock:
            while self._topic_titles is None or self._topic_titles.index.library is not self._library:
                try:
                    if self._store is None:
                        path = self._location.choose_path(self._library) if self._location is not None else None
                        self._store = SectionStore(path)
                    self._topic_titles = TopicTitles(SectionIndex(self._library, self._store, on_progress))
                except IndexLostError as error:
                    self._use_memory(error)
            return self._topic_titles

    def _use_memory(self, error: IndexLostError) -> None:
        """Keep the index in memory from now on, because that on disk cannot be used.

        Raises:
            IndexLostError: It was in memory already.
        """
        if self._location is None:
            raise error
        if self._store is not None:
            self._store.close()
        self._location.on_warning(f"Could not use the search index on disk ({error}); using memory instead.")
        self._location = self._store = self._topic_titles = None

    def _rank_with_index(
        self, titles: TopicTitles, text: str, limit: int, within: str | None, earlier: Sequence[str]
    ) -> Ranking:
        index = titles.index
        numbers = range(len(index))
        if within is not None and within != index.library.root_id:
            number = index.layout.find(within)
            if number is None:
                raise UnknownSectionError(within)
            numbers = index.layout.subtree(number)
        query = parse_query(text)
        if limit < 1 or not query.terms:
            return Ranking(library=index.library, hits=(), terms=query.terms)
        count = max(limit, CANDIDATES)
        topics = titles.recall_topics(text, earlier) if earlier else {}
        query = expand_query(index, query)
        scores = rank_by_text(index, query, count, numbers, topics)
        best = max(scores.values(), default=0.0)
        named = find_named_sections(index, text, numbers, scores)
        ranks = {number: rank for rank, number in enumerate(dict.fromkeys((*scores, *named)), start=1)}
        # A named section has the best score, which leaves the other scores comparable with each other.
        hits = tuple(
            Hit(
                section_id=index.layout.id_of(number),
                score=1.0 if number in named else scores[number] / best,
                why=f"text rank {ranks[number]}",
                is_named=number in named,
            )
            for number in list(dict.fromkeys((*named, *scores)))[:limit]
        )
        topic_ids = tuple(index.layout.id_of(number) for number in sorted(topics, key=lambda number: -topics[number]))
        return Ranking(library=index.library, hits=hits, terms=query.terms, topics=topic_ids)


def add_snippets(library: Library, hits: Iterable[Hit], query: str, terms: Sequence[str]) -> tuple[Hit, ...]:
    """Return hits with their snippets. `terms` are those of the query, and corrections of mistyped words."""
    language = detect_language(tokenise(query[:_QUERY_LENGTH_MAX]))
    texts = ((hit, library.clean_text(library.own_span(hit.section_id))) for hit in hits)
    return tuple(replace(hit, snippet=make_snippet(text, terms, language)) for hit, text in texts)


def expand_query(index: SectionIndex, query: Query) -> Query:
    """Add alternatives for words that are not in the index: completions and corrections."""
    if query.last_prefix and not index.has_word(query.last_prefix) and index.store.count(query.completions, 1):
        words = tuple(word for word in query.words if word != query.last_prefix)
        query = replace(query, words=words, fts_terms=(*query.fts_terms, query.completions))
    return correct_query(query, suggest_corrections(index, query.words))


def rank_by_text(
    index: SectionIndex,
    query: Query,
    count: int,
    within: range,
    topics: Mapping[int, float] = MappingProxyType({}),
) -> dict[int, float]:
    """Return the score of each matching section by its number, best first. Equal scores are in document order.

    For each part of the query, up to `count` sections are found. `topics` come from earlier messages.
    """
    scores = _score_words(index, query, count, within)
    for numbers in map(index.layout.subtree, topics):
        inside = range(max(numbers.start, within.start), min(numbers.stop, within.stop))
        scores |= _score_words(index, query, count, inside)
    if not scores:
        return {}
    scores = _boost_by_titles(index, scores, query)
    if topics:
        scores = boost_topics(scores, topics, index, query, _TOPIC_WEIGHT)
    # The words of a follow-up are incomplete, so no sentence needs to contain all of them.
    if not topics or not query.is_follow_up:
        scores = _boost_by_best_sentence(index, scores, query)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _score_words(index: SectionIndex, query: Query, count: int, within: range) -> dict[int, float]:
    terms = query.fts_terms
    if len(within) > _LARGE:
        counts = {term: index.store.count(term) for term in terms}
        rare = [term for term in terms if 0 < counts[term] <= _COMMON_SHARE * len(index)]
        terms = tuple(rare or sorted(terms, key=lambda term: counts[term] or math.inf)[:1])
        searched = [(_join(terms), 1.0)]
    else:
        searched = [
            (_join(terms), 1.0),
            *_list_synonyms(index, query, within),
            (_join(query.prefixes), _FORM_WEIGHT),
            (query.implied, _IMPLIED_WEIGHT),
        ]
    scores: dict[int, float] = defaultdict(float)
    for expression, weight in searched:
        for number, score in index.rank(expression, within, count):
            scores[number] += weight * score
    return dict(scores)


def compute_overlap(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of `part` that is in `whole`, or 0 if `part` is empty."""
    return len(part & whole) / len(part) if part else 0.0


def _list_synonyms(index: SectionIndex, query: Query, within: range) -> list[tuple[str, float]]:
    """Return the FTS5 expressions for synonyms of the query's words, with their weights.

    The synonyms of an English word that many sections contain are left out, because they may mean something else. The
    formal words of other languages are safer.
    """
    synonymous = [word for word in query.words if get_synonyms((word,), query.language)]
    counts = {word: len(index.rank(f'"{word}"', within, _RARE_SECTIONS_MAX + 1)) for word in synonymous}
    is_english = query.language is Language.ENGLISH
    rare = [word for word, count in counts.items() if count and (count <= _RARE_SECTIONS_MAX or not is_english)]
    missing = [word for word, count in counts.items() if not count]
    return [
        (_join(build_synonym_expressions(rare, query.language)), _SYNONYM_WEIGHT),
        (_join(build_synonym_expressions(missing, query.language)), _MISSING_WEIGHT),
    ]


def _boost_by_titles(index: SectionIndex, scores: Mapping[int, float], query: Query) -> dict[int, float]:
    best = max(scores.values())
    boosted = {}
    words = _select_title_words(query.stems, query)
    for number, score in scores.items():
        title = compute_overlap(_select_title_words(stem_title(index.title(number)), query), words)
        path = compute_overlap(_select_title_words(index.path_stems(number), query), words)
        boosted[number] = score + best * (_TITLE_SHARE * title + _PATH_SHARE * path)
    return boosted


def _select_title_words(stems: frozenset[str], query: Query) -> frozenset[str]:
    """Return the stems in a title that a question may contain: no numbers, unless the query has them."""
    return frozenset(word for word in stems if not word.isdigit() or word in query.stems)


def _boost_by_best_sentence(index: SectionIndex, scores: Mapping[int, float], query: Query) -> dict[int, float]:
    """Add a bonus to the best scores, for the best sentence of each section.

    A section in which the terms of the query are close together probably answers better.
    """
    boosted = dict(scores)
    if len(query.terms) < _TERMS_MIN:
        return boosted
    counts = {term: index.store.count(quote(term)) for term in query.terms}
    weights = {term: math.log(1 + (len(index) - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    best = max(scores.values())
    for number in sorted(scores, key=lambda number: (-scores[number], number))[:_READ_MAX]:
        text = select_relevant_part(index.own_text(number), query.terms)
        forms = list_inflected_forms(text, query.terms, query.language, with_synonyms=True)
        for sentence in rank_sentences(text, query.terms, limit=1, idf=weights, forms=forms):
            boosted[number] += _SENTENCE_SHARE * best * sentence.score
    return boosted


def _join(expressions: Iterable[str]) -> str:
    return " OR ".join(expressions)
