"""Parents and children among hits: what hits for the same text is one hit, and a bare heading does not come first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamtui.search.sentences import find_opening
from roamtui.search.terms import find_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.search.index import SectionIndex
    from roamtui.search.query import Query

_BARE_LENGTH_MAX = 1_000
"""Characters; longer than that no bare heading is."""
_QUOTED_TITLE = re.compile(r"[\W\d_]*[\"“”„«‘]")
_GLOSSARY_STEMS = frozenset({"definit", "glossari", "terminolog", "acronym", "abbrevi"})
_PART_STEMS = frozenset({"articl", "section", "chapter", "part", "annex", "appendix", "term", "defin", "interpret"})
"""What the title of a glossary may hold beside its name."""
_MATCHED_LENGTH = 20_000
"""Characters; a longer text is taken to hold a term, rather than read."""


def is_bare(index: SectionIndex, number: int) -> bool:
    """Whether a node's own text is nothing but its heading."""
    text = index.own_text(number)
    return len(text) <= _BARE_LENGTH_MAX and find_opening(text) is None


def is_glossary_entry(index: SectionIndex, number: int) -> bool:
    """Whether a node defines a term: its title stands in quotation marks, or that above it names a glossary."""
    if _QUOTED_TITLE.match(index.title(number)):
        return True
    parent = index.parent(number)
    above = index.title_stems(parent) if parent >= 0 else frozenset()
    named = {word_stem for word_stem in above if not word_stem.isdigit()}
    return bool(named & _GLOSSARY_STEMS) and named <= _GLOSSARY_STEMS | _PART_STEMS


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
        has_child = any(other in index.subtree(number) for other in kept)
        if has_child and is_bare(index, number):
            continue
        if _has_ancestor(index, number, kept) and not _has_own_match(index, number, query):
            continue
        kept.append(number)
    return kept


def _has_ancestor(index: SectionIndex, number: int, others: Sequence[int]) -> bool:
    return any(number != other and number in index.subtree(other) for other in others)


def _has_own_match(index: SectionIndex, number: int, query: Query) -> bool:
    text = index.own_text(number)
    if not index.title_stems(number).isdisjoint(query.stems) or len(text) > _MATCHED_LENGTH:
        return True
    return bool(find_terms(text, [*query.terms, *query.words]))


def _is_title_asked(index: SectionIndex, number: int, query: Query) -> bool:
    """Whether a title holds every word of the query."""
    title = index.title_stems(number)
    return all(not title.isdisjoint(group) for group in query.groups)
