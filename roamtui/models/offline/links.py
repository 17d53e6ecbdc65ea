"""Links of a list whose pages were not read yet: which of them to open where what is at hand does not answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from roamtui.search.synonyms import find_synonyms
from roamtui.search.terms import find_terms, query_terms

LINKS_MAX = 3
"""Pages that are opened at once."""
_LIST_LENGTH_MAX = 12
"""Links of a list of which the first are opened although none shares a word with the question."""
_SYNONYM_SHARE = 0.5
_LINE = re.compile(
    r"^#{1,6} (?P<title>.*?)(?:\.\.\.)? <!-- Section collapsed - expand with "
    r'expand_sections\(\["(?P<id>[0-9a-f]{8})"\]\) \| a page, fetched[^\n]*-->(?:\n\n(?P<opening>[^#\n][^\n]*))?'
    r"|^\s*(?:- |# )\[(?P<compact>[0-9a-f]{8})\] (?P<rest>.*\(page\).*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A line of the outline that stands for a page."""

    section_id: str
    words: str
    """What the line says of the page."""


def find_links(outline: str) -> tuple[Link, ...]:
    """Return the links of an outline whose pages were not fetched when it was made, in order."""
    return tuple(
        Link(
            section_id=match["id"] or match["compact"],
            words=f"{match['title']} {match['opening'] or ''}" if match["id"] else match["rest"],
        )
        for match in _LINE.finditer(outline)
    )


def choose_links(links: Sequence[Link], question: str, closed: Collection[str]) -> tuple[str, ...]:
    """Return the ids of up to three links to open, those that say most of what is asked for first.

    Of a short list whose lines say none of it, these are the first ones: what is asked for may stand on any page.

    Args:
        links: Of the outline.
        question: A person's words.
        closed: Ids that were opened or tried already.
    """
    terms = query_terms(question)
    others = [synonym for synonym in find_synonyms(terms) if synonym not in terms]
    scores = {
        link.section_id: len(_find_held(link.words, terms)) + _SYNONYM_SHARE * len(_find_held(link.words, others))
        for link in links
    }
    left = [link.section_id for link in links if link.section_id not in closed]
    telling = sorted((section_id for section_id in left if scores[section_id]), key=lambda found: -scores[found])
    if not telling and len(links) <= _LIST_LENGTH_MAX:
        telling = left
    return tuple(telling[:LINKS_MAX])


def _find_held(text: str, terms: Sequence[str]) -> set[str]:
    return {term for _, term in find_terms(text, terms)}
