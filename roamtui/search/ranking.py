"""Ranks sections by their words, and then by what plain BM25 does not see: whole titles, and the company of a hit."""

from __future__ import annotations

import math
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamtui.search.families import is_glossary_entry
from roamtui.search.forms import find_forms
from roamtui.search.pruning import WEIGHED_MAX, plan_search
from roamtui.search.query import make_piece
from roamtui.search.sentences import best_sentences
from roamtui.search.snippets import narrow_text
from roamtui.search.synonyms import find_synonyms
from roamtui.search.topics import favour_topics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from roamtui.search.base import SearchOptions
    from roamtui.search.index import SectionIndex
    from roamtui.search.query import Query

_PAGE_SCORES = 3
_TERMS_MIN = 2
"""Terms of a query from which on sentences are looked at: one alone is answered by its sections."""
_RARE_MAX = 10
"""Sections up to which a word may be the asker's alone, so that others that mean the same are looked for."""


def rank_by_text(
    index: SectionIndex,
    query: Query,
    options: SearchOptions,
    within: range,
    topics: Mapping[int, float] = MappingProxyType({}),
) -> dict[int, float]:
    """Return the numbers of the sections that match a query with their scores, the best first, ties in document order.

    What stands in double quotes must occur, unless it occurs nowhere.

    Args:
        index: What is searched.
        query: What is looked for.
        options: What is weighed.
        within: Numbers of the sections to search.
        topics: Sections that the conversation is about, with their strengths.
    """
    scores = _score_words(index, query, options, within)
    for topic in topics:
        inside = index.subtree(topic)
        inside = range(max(inside.start, within.start), min(inside.stop, within.stop))
        scores |= _score_words(index, query, options, inside)
    if not scores:
        return {}
    best = max(scores.values())
    scores = {number: score + best * _score_titles(index, number, query, options) for number, score in scores.items()}
    scores = _add_company(index, scores, options)
    scores = _demote_glossary(index, scores, query, options)
    if topics:
        scores = favour_topics(scores, topics, index, query, options.topic_weight)
    if not topics or not query.leans_back:  # a follow-up is no whole question: no sentence need hold its words
        scores = _add_sentences(index, scores, query, options)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def measure_share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return which share of `part` is in `whole`, 0 for an empty one."""
    return len(part & whole) / len(part) if part else 0.0


def _add_sentences(
    index: SectionIndex, scores: dict[int, float], query: Query, options: SearchOptions
) -> dict[int, float]:
    """Let the best sections gain by their best sentence: words together answer better than words apart."""
    if len(query.terms) < _TERMS_MIN or not options.read:
        return scores
    weights = {term: _weigh_term(index, term) for term in query.terms}
    best = max(scores.values())
    gained = dict(scores)
    for number in sorted(scores, key=lambda number: (-scores[number], number))[: options.read]:
        text = narrow_text(index.own_text(number), query.terms)
        forms = find_forms(text, query.terms, query.language)
        found = best_sentences(text, query.terms, limit=1, idf=weights, forms=forms)
        if found:
            gained[number] += options.sentence_share * best * found[0].score
    return gained


def _weigh_term(index: SectionIndex, term: str) -> float:
    """Return how telling a term is: the rarer, the more."""
    count = index.count(make_piece(term))
    return math.log(1 + (len(index) - count + 0.5) / (count + 0.5))


def _score_words(index: SectionIndex, query: Query, options: SearchOptions, within: range) -> dict[int, float]:
    weights = (
        options.title_weight,
        options.path_weight,
        options.text_weight,
        options.identifier_weight,
        options.part_weight,
    )
    found: list[tuple[int, float]] = []
    if query.phrases:
        expression = f"({query.phrases}) AND ({query.expression} OR ({query.phrases}))"
        found = index.rank(expression, weights, within, options.candidates)
    if not found:
        search = plan_search(index, query, within)
        found = index.rank(search.expression, weights, within, options.candidates, rows=search.rows)
        found += _rank_by_synonyms(index, query, weights, within, options)
        found += _rank_by_more(index, query, weights, within, options)
    scores: dict[int, float] = defaultdict(float)
    for number, score in found:
        scores[number] += score
    return dict(scores)


def _rank_by_synonyms(
    index: SectionIndex, query: Query, weights: Sequence[float], within: range, options: SearchOptions
) -> list[tuple[int, float]]:
    """Return what is found by words that mean the same as those that are rare among the sections.

    In a large library every word is somebody's, and looking for many more of them would cost time.
    """
    if not options.synonym_weight or len(within) > WEIGHED_MAX:
        return []
    asked = [word for word in query.words if find_synonyms((word,))]
    rare = [word for word in asked if len(index.list_matches(f'"{word}"', within, _RARE_MAX + 1)) <= _RARE_MAX]
    expression = " OR ".join(f'"{word}"' for word in find_synonyms(rare))
    found = index.rank(expression, weights, within, options.candidates)
    return [(number, options.synonym_weight * score) for number, score in found]


def _rank_by_more(
    index: SectionIndex, query: Query, weights: Sequence[float], within: range, options: SearchOptions
) -> list[tuple[int, float]]:
    """Return what is found by more than single words as asked: neighbours, other forms of words, words implied.

    In a large library looking for them would cost time.
    """
    if len(within) > WEIGHED_MAX:
        return []
    more = (
        (" OR ".join(query.neighbours), options.neighbour_weight),
        (" OR ".join(query.starts), options.form_weight),
        (query.implied, options.synonym_weight),
    )
    return [
        (number, weight * score)
        for expression, weight in more
        if expression and weight
        for number, score in index.rank(expression, weights, within, options.candidates)
    ]


def _score_titles(index: SectionIndex, number: int, query: Query, options: SearchOptions) -> float:
    title = measure_share(index.title_stems(number), query.stems)
    if query.names and query.names & index.title_names(number):
        title = 1.0  # where an identifier is a title, it is defined, not used
    path = measure_share(index.path_stems(number), query.stems)
    return options.title_share * title + options.path_share * path


def _demote_glossary(
    index: SectionIndex, scores: dict[int, float], query: Query, options: SearchOptions
) -> dict[int, float]:
    """Let entries of a glossary lose: full of a subject's words, they answer what they define and little else."""
    return {
        number: score * (1 - options.glossary_loss)
        if is_glossary_entry(index, number) and not index.title_stems(number) <= query.stems
        else score
        for number, score in scores.items()
    }


def _add_company(index: SectionIndex, scores: dict[int, float], options: SearchOptions) -> dict[int, float]:
    """Let a section gain by the section above it and by the best ones of its document."""
    pages: dict[int, list[float]] = defaultdict(list)
    for number, score in scores.items():
        pages[id(index.document(number))].append(score)
    means = {page: sum(sorted(found, reverse=True)[:_PAGE_SCORES]) / _PAGE_SCORES for page, found in pages.items()}
    return {
        number: score
        + options.parent_share * scores.get(index.parent(number), 0.0)
        + options.page_share * means[id(index.document(number))]
        for number, score in scores.items()
    }
