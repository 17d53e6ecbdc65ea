"""Which sections to open: the best hits of the search, what limits them, else outline lines that share most words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from roamtui.models.offline.exceptions import is_about_exceptions
from roamtui.models.offline.reading import Found, Reading
from roamtui.outline.expansion import WHOLE_TOKENS_MAX
from roamtui.search.languages import FOLLOW_UP_STARTS, POINTING_WORDS
from roamtui.search.synonyms import find_synonyms
from roamtui.search.terms import find_terms, query_terms

LINKS_MAX = 3
"""Pages that are opened at once."""
_LIST_LENGTH_MAX = 12
"""Links of a list of which the first are opened although none shares a word with the question."""
_SYNONYM_SHARE = 0.5
SECTIONS_MAX = 4
TOKENS_MAX = 2_800
"""Estimated tokens of section text for one question, the first section and small ones apart."""
_SMALL_TOKENS = 2_000
"""A section of at most this much is opened whatever the others cost."""
_BLOCK_TOKENS_MAX = 4_000
"""What opening one section costs at most: a page."""
_FOLLOW_UP_STARTS = (
    *("and ", "or ", "but ", "what about", "how about", "what if", "why", "which one", "then ", "also "),
    *FOLLOW_UP_STARTS,
)
_POINTING_WORDS = frozenset(
    {
        *("it", "its", "they", "them", "their", "that", "this", "those", "these", "there"),
        *("he", "she", "his", "her", "one", "ones", "same"),
        *POINTING_WORDS,
    }
)
_FOLLOW_UP_TERMS_MAX = 3


def is_follow_up(question: str) -> bool:
    """Return whether a question leans on the one before it."""
    lowered = question.strip().lower()
    words = {word.strip("?.,!;:'\"¿？。") for word in lowered.split()}
    is_short = len(query_terms(question)) <= _FOLLOW_UP_TERMS_MAX
    is_going_on = lowered.startswith(_FOLLOW_UP_STARTS) or lowered.rstrip("?？ ").endswith("呢")
    return is_going_on or (is_short and bool(words & _POINTING_WORDS))


def make_query(reading: Reading) -> str:
    """Return what to search for: the question, with the one before it where it leans on that."""
    if reading.earlier_questions and is_follow_up(reading.question):
        return f"{reading.question} {' '.join(query_terms(reading.earlier_questions[-1]))}"
    return reading.question


def choose_sections(reading: Reading) -> tuple[str, ...]:
    """Return up to four ids that were neither given nor asked for, the most promising first."""
    closed = reading.given_ids | reading.asked_ids
    if reading.found:
        return _take_hits(reading, closed)
    if reading.within_id is not None:
        return () if reading.within_id in closed else (reading.within_id,)
    ranked = rank_outline(reading.outline, query_terms(make_query(reading)))
    return tuple(section_id for section_id in ranked if section_id not in closed)[:SECTIONS_MAX]


def _take_hits(reading: Reading, closed: frozenset[str]) -> tuple[str, ...]:
    chosen: list[str] = []
    tokens = 0
    for hit in [hit for hit in reading.found if not _is_bare(hit)][:SECTIONS_MAX]:
        cost = _estimate_cost(hit)
        if hit.section_id in closed or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > TOKENS_MAX:
            continue
        chosen.append(hit.section_id)
        tokens += cost
    return (*chosen, *_find_exceptions(reading, closed.union(chosen)))


def _find_exceptions(reading: Reading, closed: frozenset[str]) -> Iterator[str]:
    """Yield hits about exceptions that stand below or beside the best one."""
    best = reading.found[0].path
    for hit in reading.found:
        parent, _, title = hit.path.rpartition(" > ")
        is_near = parent in (best, best.rpartition(" > ")[0])
        if is_near and is_about_exceptions(title) and hit.section_id not in closed:
            yield hit.section_id


def choose_exceptions(reading: Reading) -> tuple[str, ...]:
    """Return ids of exceptions that the sections opened for this question name without their text."""
    closed = reading.given_ids | reading.asked_ids
    listed = (section_id for section_id, title in reading.listed if is_about_exceptions(title))
    return tuple(dict.fromkeys(section_id for section_id in listed if section_id not in closed))[:SECTIONS_MAX]


def _is_bare(hit: Found) -> bool:
    """Return whether opening a hit would show nothing but its heading."""
    return not hit.snippet.strip() and not hit.descendants


def _estimate_cost(hit: Found) -> int:
    """Return about how many tokens opening a hit gives: a small subtree whole, else its own text, up to a page."""
    if hit.descendants and hit.tokens > WHOLE_TOKENS_MAX:
        return min(_BLOCK_TOKENS_MAX, hit.tokens // (hit.descendants + 1))
    return min(_BLOCK_TOKENS_MAX, hit.tokens)


def rank_outline(outline: Sequence[tuple[str, str]], terms: Sequence[str]) -> list[str]:
    """Return the ids of outline lines that share words with the terms, most of them first."""
    scores = [
        (len({term for _, term in find_terms(line, terms)}), -index, section_id)
        for index, (section_id, line) in enumerate(outline)
    ]
    return [section_id for score, _, section_id in sorted(scores, reverse=True) if score]


def choose_links(links: Sequence[tuple[str, str]], question: str, closed: Collection[str]) -> tuple[str, ...]:
    """Return the ids of up to three links to open, those that say most of what is asked for first.

    Of a short list whose lines say none of it, these are the first ones: what is asked for may stand on any page.

    Args:
        links: Id and words of each, as the outline has them.
        question: A person's words.
        closed: Ids that were opened or tried already.
    """
    terms = query_terms(question)
    others = [synonym for synonym in find_synonyms(terms) if synonym not in terms]
    scores = {
        section_id: len(_find_held(words, terms)) + _SYNONYM_SHARE * len(_find_held(words, others))
        for section_id, words in links
    }
    left = [section_id for section_id, _ in links if section_id not in closed]
    telling = sorted((section_id for section_id in left if scores[section_id]), key=lambda found: -scores[found])
    if not telling and len(links) <= _LIST_LENGTH_MAX:
        telling = left
    return tuple(telling[:LINKS_MAX])


def _find_held(text: str, terms: Sequence[str]) -> set[str]:
    return {term for _, term in find_terms(text, terms)}
