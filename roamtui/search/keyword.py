"""`KeywordSearcher`: keyword search with BM25 over titles, paths and texts, plus signals that BM25 lacks.

These signals are whole titles, adjacent words, the sentence that answers best, and the scores of nearby sections. In a
large library, not all sections with a common word are scored, because finding a section takes 0.03 µs, but scoring it
takes 0.75 µs. Only sections with a rarer word, or with several common ones, are scored, but then by all words.
"""

from __future__ import annotations

import math
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType

from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.search.base import Hit, IndexLostError, Progress, Ranking
from roamtui.search.excerpts import make_snippet
from roamtui.search.index import IndexLocation, SectionIndex, StoreProvider
from roamtui.search.lexicon import STOP_WORDS_BY_LANGUAGE, Language, detect_language, get_synonyms, reduce_to_root
from roamtui.search.named import find_named_documents, find_named_sections
from roamtui.search.query import Query, build_synonym_expressions, build_term_expression, correct_query, parse_query
from roamtui.search.sentences import get_first_sentence, rank_sentences, select_relevant_part
from roamtui.search.terms import (
    extract_code_names,
    is_hiragana,
    is_unspaced,
    iter_compound_splits,
    list_inflected_forms,
    locate_terms,
    normalise_unicode,
    tokenise,
)
from roamtui.search.titles import TopicTitles, boost_topics, suggest_corrections

_QUERY_LENGTH_MAX = 10_000
_BARE_LENGTH_MAX = 1_000
"""Maximum length of a bare heading, in characters."""
_READ_LENGTH_MAX = 20_000
"""A longer text, in characters, is assumed to contain a term, because reading it would take too long."""
CANDIDATES = 100
"""Number of sections that are scored at least."""
_HEADING_WEIGHT = 3.0
"""Weight of a word in a title. 1 is a word in the text."""
_PATH_WEIGHT = 1.0
"""Weight of a word in the titles above or in the path of the file."""
_TEXT_WEIGHT = 1.0
_NAME_WEIGHT = 2.0
"""Weight of a whole identifier. Its parts also count as words."""
_PART_WEIGHT = 0.3
"""Weight of a part of an identifier in camel case."""
_TITLE_SHARE = 0.2
"""Bonus if the query contains every word of the title, as a share of the best text score."""
_PATH_SHARE = 0.2
"""Bonus if the query contains every word of the title and of the titles above it, as a share of the best score."""
_PARENT_SHARE = 0.05
"""Share of the parent section's score that is added."""
_PAGE_SHARE = 0.05
"""Share of the mean of the three best scores in the same document that is added."""
_PAGE_SCORES = 3
_DOCUMENT_SHARE = 1.0
"""Bonus for the sections of a document that the query names, as a share of the best score."""
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
_NEIGHBOUR_WEIGHT = 0.3
"""Weight of two words that are adjacent both in the query and in a section."""
_FORM_WEIGHT = 1.0
"""Weight of inflected forms and of compounds that start with a query word, in languages other than English."""
_GLOSSARY_PENALTY = 0.3
"""Share of its score that a glossary entry loses, unless the query contains its whole title."""
_TOPIC_WEIGHT = 2.0
"""Weight of the boost for sections that belong to a topic of the conversation."""
_TERMS_MIN = 2
"""Minimum number of terms of a query for which sentences are read. For one term, the scores of sections are enough."""
_RARE_SECTIONS_MAX = 10
"""If at most this many sections contain a word, its synonyms are searched too: the text may use another word."""
SCORED_MAX = 8_000
"""Maximum number of sections that are scored for a query. That takes 6 ms for one word, and twice as long for many."""
_COMMON_SECTIONS_MAX = 150_000
"""Common words count in scores as long as at most this many sections in total contain them. That takes 5 ms.

Words that are even more common distinguish almost nothing.
"""
_ENOUGH_SECTIONS = 200
"""If at least this many sections contain several common words at once, no further sections are needed."""
_QUOTED_TITLE = re.compile(r"[\W\d_]*[\"“”„«‘]")
_GLOSSARY_STEMS = frozenset({"definit", "glossari", "terminolog", "acronym", "abbrevi"})
_PART_STEMS = frozenset({"articl", "section", "chapter", "part", "annex", "appendix", "term", "defin", "interpret"})
"""Other words that the title of a glossary may contain."""


class KeywordSearcher:
    """Searches one library by keywords. Thread-safe. The first search builds the index."""

    def __init__(self, library: Library, *, location: IndexLocation | None = None) -> None:
        """Search `library`. If it is large, its index is stored in `location`, if given; otherwise in memory."""
        self._library = library
        self._stores = StoreProvider(location)
        self._lock = threading.Lock()
        self._topic_titles: TopicTitles | None = None
        """Titles that may be topics, with the index of the library. The first search makes both."""

    @property
    def uses_vectors(self) -> bool:
        """Always false: this searcher compares words."""
        return False

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
        library, language = ranking.library, detect_language(tokenise(query[:_QUERY_LENGTH_MAX]))
        return tuple(
            replace(
                hit,
                snippet=make_snippet(library.clean_text(library.own_span(hit.section_id)), ranking.terms, language),
            )
            for hit in ranking.hits
        )

    def rank(self, query: str, *, limit: int, within: str | None = None, earlier: Sequence[str] = ()) -> Ranking:
        """Return the hits of `search`, but without snippets, because choosing them takes longer than the search."""
        while True:
            titles = self._update_index()
            try:
                return self._rank_with_index(titles, query[:_QUERY_LENGTH_MAX], limit, within, earlier)
            except IndexLostError as error:
                with self._lock:
                    if self._topic_titles is titles:
                        self._topic_titles = None  # the next round opens another store
                        self._stores.discard(titles.index.store, error)

    def _update_index(self, on_progress: Progress | None = None) -> TopicTitles:
        with self._lock:
            while self._topic_titles is None or self._topic_titles.index.library is not self._library:
                before = self._topic_titles.index if self._topic_titles is not None else None
                store = before.store if before is not None else self._stores.open(self._library)
                try:
                    index = SectionIndex(self._library, store, before=before, on_progress=on_progress)
                    self._topic_titles = TopicTitles(index, self._topic_titles)
                except IndexLostError as error:
                    self._topic_titles = None
                    self._stores.discard(store, error)
            return self._topic_titles

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
        documents = find_named_documents(index, text, query)
        scores = rank_by_text(index, query, count, numbers, topics, documents)
        best = max(scores.values(), default=0.0)
        named = find_named_sections(index, text, numbers, scores, documents)
        ranks = {number: rank for rank, number in enumerate(dict.fromkeys((*scores, *named)), start=1)}
        # A named section has the best score, which leaves the other scores comparable with each other.
        hits = tuple(
            Hit(
                section_id=index.layout.id_of(number),
                score=1.0 if number in named else scores[number] / best,
                why=f"text rank {ranks[number]}",
                named=named.get(number),
            )
            for number in dedupe_parents_and_children(index, list(dict.fromkeys((*named, *scores))), query, limit)
        )
        topic_ids = tuple(index.layout.id_of(number) for number in sorted(topics, key=lambda number: -topics[number]))
        return Ranking(library=index.library, hits=hits, terms=query.terms, topics=topic_ids)


def expand_query(index: SectionIndex, query: Query) -> Query:
    """Add alternatives for words that are not in the index: completions, corrections, and the parts of compounds."""
    if query.last_prefix and not index.has_word(query.last_prefix) and index.store.count(query.completions, 1):
        words = tuple(word for word in query.words if word != query.last_prefix)
        query = replace(query, words=words, fts_terms=(*query.fts_terms, query.completions))
    alternatives: dict[str, tuple[str, ...]] = suggest_corrections(index, query.words)
    for word in query.words:
        parts: tuple[str, ...] = ()
        if is_unspaced(word) and len(word) > 1 and not index.has_word(word):
            parts = tuple(character for character in word if not is_hiragana(character))
        elif query.language is Language.GERMAN and not index.has_word(word):
            parts = next((parts for parts in iter_compound_splits(word) if all(map(index.has_word, parts))), ())
        if parts:
            alternatives[word] = (word, *parts)
    return correct_query(query, alternatives)


def rank_by_text(
    index: SectionIndex,
    query: Query,
    count: int,
    within: range,
    topics: Mapping[int, float] = MappingProxyType({}),
    documents: Mapping[range, float] = MappingProxyType({}),
) -> dict[int, float]:
    """Return the score of each matching section by its number, best first. Equal scores are in document order.

    For each part of the query, up to `count` sections are found. A section must contain one of the phrases that the
    query quotes, unless no section does. `topics` come from earlier messages, and `documents` are those that the query
    names.
    """
    scores = _score_words(index, query, count, within)
    for numbers in (*map(index.layout.subtree, topics), *documents):
        inside = range(max(numbers.start, within.start), min(numbers.stop, within.stop))
        scores |= _score_words(index, query, count, inside)
    if not scores:
        return {}
    scores = _boost_by_titles(index, scores, query)
    scores = _boost_by_nearby_sections(index, scores)
    for number in scores:
        # A glossary entry has many words of a subject, but answers little beyond its own term.
        if is_glossary_entry(index, number) and not index.title_stems(number) <= query.stems:
            scores[number] *= 1 - _GLOSSARY_PENALTY
    if topics:
        scores = boost_topics(scores, topics, index, query, _TOPIC_WEIGHT)
    # The words of a follow-up are incomplete, so no sentence needs to contain all of them.
    if not topics or not query.is_follow_up:
        scores = _boost_by_best_sentence(index, scores, query)
    bonus = _DOCUMENT_SHARE * max(scores.values())
    for number in scores if documents else ():
        scores[number] += bonus * max(share * (number in inside) for inside, share in documents.items())
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _score_words(index: SectionIndex, query: Query, count: int, within: range) -> dict[int, float]:
    weights = (_HEADING_WEIGHT, _PATH_WEIGHT, _TEXT_WEIGHT, _NAME_WEIGHT, _PART_WEIGHT)
    found: list[tuple[int, float]] = []
    if query.phrases:
        expression = f"({query.phrases}) AND ({query.expression} OR ({query.phrases}))"
        found = index.rank(expression, weights, within, count)
    if not found:
        expression, rows = plan_search(index, query, within)
        found = index.rank(expression, weights, within, count, rows=rows)
        alternatives: list[tuple[str, float]] = []
        if len(within) <= SCORED_MAX:  # in a large library, searching for more words takes too long
            alternatives = [
                *_list_synonyms(index, query, within),
                (_join(query.neighbours), _NEIGHBOUR_WEIGHT),
                (_join(query.prefixes), _FORM_WEIGHT),
                (query.implied, _IMPLIED_WEIGHT),
            ]
        for expression, weight in alternatives:
            ranked = index.rank(expression, weights, within, count)
            found += [(number, weight * score) for number, score in ranked]
    scores: dict[int, float] = defaultdict(float)
    for number, score in found:
        scores[number] += score
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
    counts = {word: len(index.list_matches(f'"{word}"', within, _RARE_SECTIONS_MAX + 1)) for word in synonymous}
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
        title = compute_overlap(_select_title_words(index.title_stems(number), query), words)
        if query.names and query.names & extract_code_names(normalise_unicode(index.title(number))):
            title = 1.0  # a section whose title is the identifier defines it
        path = compute_overlap(_select_title_words(index.path_stems(number), query), words)
        boosted[number] = score + best * (_TITLE_SHARE * title + _PATH_SHARE * path)
    return boosted


def _select_title_words(stems: frozenset[str], query: Query) -> frozenset[str]:
    """Return the stems in a title that a question may contain: no numbers, unless the query has them.

    In languages other than English, inflected forms of a word become equal, and stop words are left out.
    """
    stems = frozenset(word for word in stems if not word.isdigit() or word in query.stems)
    if query.language is Language.ENGLISH:
        return stems
    return frozenset(reduce_to_root(word, query.language) for word in stems - STOP_WORDS_BY_LANGUAGE[query.language])


def _boost_by_nearby_sections(index: SectionIndex, scores: Mapping[int, float]) -> dict[int, float]:
    """Add to each score a share of the parent section's score, and a share of the best scores in the same document."""
    scores_by_document: dict[int, list[float]] = defaultdict(list)
    for number, score in scores.items():
        scores_by_document[id(index.layout.locate(number)[0])].append(score)
    means = {
        document: sum(sorted(found, reverse=True)[:_PAGE_SCORES]) / _PAGE_SCORES
        for document, found in scores_by_document.items()
    }
    return {
        number: score
        + _PARENT_SHARE * scores.get(index.layout.parent(number), 0.0)
        + _PAGE_SHARE * means[id(index.layout.locate(number)[0])]
        for number, score in scores.items()
    }


def is_glossary_entry(index: SectionIndex, number: int) -> bool:
    """Check whether a section only defines a term: its title is quoted, or its parent is a glossary."""
    if _QUOTED_TITLE.match(index.title(number)):
        return True
    parent = index.layout.parent(number)
    stems = index.title_stems(parent) if parent >= 0 else frozenset()
    stems = frozenset(word_stem for word_stem in stems if not word_stem.isdigit())
    return bool(stems & _GLOSSARY_STEMS) and stems <= _GLOSSARY_STEMS | _PART_STEMS


def _boost_by_best_sentence(index: SectionIndex, scores: Mapping[int, float], query: Query) -> dict[int, float]:
    """Add a bonus to the best scores, for the best sentence of each section.

    A section in which the terms of the query are close together probably answers better.
    """
    boosted = dict(scores)
    if len(query.terms) < _TERMS_MIN:
        return boosted
    counts = {term: index.store.count(build_term_expression(term)) for term in query.terms}
    weights = {term: math.log(1 + (len(index) - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    best = max(scores.values())
    for number in sorted(scores, key=lambda number: (-scores[number], number))[:_READ_MAX]:
        text = select_relevant_part(index.own_text(number), query.terms)
        forms = list_inflected_forms(text, query.terms, query.language, with_synonyms=True)
        for sentence in rank_sentences(text, query.terms, limit=1, idf=weights, forms=forms):
            boosted[number] += _SENTENCE_SHARE * best * sentence.score
    return boosted


def plan_search(
    index: SectionIndex, query: Query, within: range, *, scored_max: int = SCORED_MAX
) -> tuple[str, tuple[int, int] | None]:
    """Return an FTS5 expression, and the first and last row of the store to search, or None for all rows.

    A search with this expression in these rows finds the best sections, but scores not many more than `scored_max`.
    """
    if len(within) <= scored_max or not query.fts_terms:
        return query.expression, None
    counts = {term: index.store.count(term) for term in query.fts_terms}
    terms = sorted((term for term in query.fts_terms if counts[term]), key=lambda term: counts[term])
    rare = _take_terms(terms, counts, scored_max)
    common = terms[len(rare) :]
    if not common:
        return _join(rare) or query.expression, None
    # Require as many of the common terms as possible, provided that enough sections contain all of them.
    joint: list[str] = []
    for size in range(len(common), 1, -1):
        expression = f"({' AND '.join(common[:size])})"
        count = index.store.count(expression, scored_max + 1)
        if count > scored_max:
            break
        if count:
            joint = [expression]
        if count >= _ENOUGH_SECTIONS:
            break
    if rare or joint:
        counted = [*rare, *_take_terms(common, counts, _COMMON_SECTIONS_MAX)]
        return f"({_join([*rare, *joint])}) AND ({_join(counted)})", None
    # Every term is too common, so search only titles, and even of these only as many rows as needed.
    expression = " AND ".join(f"title : {term}" for term in common if ":" not in term) or common[0]
    if not index.store.count(expression, 1):
        expression = common[0]
    rows = index.store.list_matches(expression, index.get_row_range(within), scored_max)
    return expression, (rows[0], rows[-1]) if rows else None


def _take_terms(terms: Sequence[str], counts: Mapping[str, int], total_max: int) -> list[str]:
    """Return the first terms whose counts add up to at most `total_max`."""
    totals = accumulate(counts[term] for term in terms)
    return [term for term, total in zip(terms, totals, strict=True) if total <= total_max]


def _join(expressions: Iterable[str]) -> str:
    return " OR ".join(expressions)


def dedupe_parents_and_children(index: SectionIndex, numbers: Sequence[int], query: Query, limit: int) -> list[int]:
    """Return the first `limit` sections, best first.

    A descendant of a kept section is left out if its own title and text do not match. An ancestor is left out if it is
    a heading without text.
    """
    kept: list[int] = []
    for number in numbers:
        if len(kept) == limit:
            break
        text = index.own_text(number)
        if any(number in index.layout.subtree(other) for other in kept):
            has_own_match = (
                not index.title_stems(number).isdisjoint(query.stems)
                or len(text) > _READ_LENGTH_MAX
                or locate_terms(text, [*query.terms, *query.words])
            )
            if not has_own_match:
                continue
        has_child = any(other in index.layout.subtree(number) for other in kept)
        is_bare = has_child and len(text) <= _BARE_LENGTH_MAX and get_first_sentence(text) is None
        if not is_bare:
            kept.append(number)
    return kept
