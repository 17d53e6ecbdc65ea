"""What a collapsed line says of what lies below it, so that a model finds its way.

Child titles decide most (measured over 220 pages, see DESIGN section 3), two levels deep where there is room; then
terms that definition-like sentences introduce and no title shows.
"""

from __future__ import annotations

import re
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING

from roamtui.document.node import Node, NodeKind
from roamtui.document.plain import shorten
from roamtui.outline.labels import defuse, find_opening, name_shown
from roamtui.outline.notes import NOTE_LENGTH, find_note
from roamtui.outline.tops import list_headings_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from roamtui.document.library import Library

_CHILDREN_MAX = 60
_GRANDCHILDREN_MAX = 12
_SCENT_TITLE_LENGTH = 60
_TERMS_MAX = 6
_TERM_SOURCE = 6_000
_GENERIC = frozenset(
    {
        *("about", "advanced", "appendix", "background", "basics", "changes", "conclusion", "configuration"),
        *("contents", "details", "description", "discussion", "example", "examples", "exceptions", "faq", "features"),
        *("further", "general", "getting-started", "guide", "help", "info", "information", "introduction", "intro"),
        *("miscellaneous", "misc", "more", "next-steps", "note", "notes", "options", "other", "other-changes"),
        *("overview", "parameters", "preface", "questions", "reading", "reference", "references", "related"),
        *("remarks", "requirements", "resources", "returns", "see-also", "setup", "summary", "synopsis", "terms"),
        *("tips", "usage", "whats-new"),
    }
)
_DEFINITION_SOURCE = 600
_DEFINITION_LENGTH = 80
"""Characters."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
_DEFINES = re.compile(r"^(?:An?|The|[A-Z`\"]\S*)(?:\s+\S+){0,5}?\s+(?:is|are|means|refers to|defines|denotes)\s")
_NO_LETTER = re.compile(r"[^\w\s]|[\d_]")
_CODE_TERM = re.compile(r"`([A-Za-z_][\w.:/-]{2,30})`(?=\s+(?:is|are|sets?|specif|defin|controls?|means|lets|returns))")
_BOLD_TERM = re.compile(r"\*\*(?<![^\n]\*\*)([^*\n]{3,40})\*\*|\*\*(?<=[.;:*-]\s\*\*)([^*\n]{3,40})\*\*")
_PHRASE_TERMS = tuple(
    re.compile(
        rf"{capital}(?:(?<=^{capital})|(?<=\.\s{capital}))(?:n|he)?\s+"
        r"([a-z][a-z-]+(?:\s[a-z][a-z-]+){0,2})\s+(?:is|are|means|refers to|defines)\b",
        re.MULTILINE,
    )
    for capital in "AT"
)
"""Each pattern begins with a literal, and looks back from there: a search skips to those."""


def is_generic(title: str) -> bool:
    """Return whether a title says nothing about its content, as "FAQ" and "Other changes" do."""
    words = " ".join(_NO_LETTER.sub("", title.lower()).split())
    return not words or words.replace(" ", "-") in _GENERIC


def list_child_titles(library: Library, node: Node, *, is_deep: bool = False) -> list[str]:
    """Return the titles directly below a node, each with those below it in parentheses where `is_deep`."""
    titles = []
    children, count = list_headings_below(library, node.id, _CHILDREN_MAX)
    for child in children:
        if not child.title and child.kind is NodeKind.PREAMBLE and not library.own_text(child.id).strip():
            continue
        title = name_shown(library, child, length_max=_SCENT_TITLE_LENGTH)
        if is_deep and child.has_more:
            below, count_below = list_headings_below(library, child.id, _GRANDCHILDREN_MAX)
            names = [name_shown(library, one, length_max=_SCENT_TITLE_LENGTH) for one in below]
            more = f", +{count_below - _GRANDCHILDREN_MAX} more" if count_below > _GRANDCHILDREN_MAX else ""
            title = f"{title} ({', '.join(names)}{more})" if names else title
        titles.append(title)
    if count > _CHILDREN_MAX:
        titles.append(f"+{count - _CHILDREN_MAX} more")
    return titles


def find_terms(library: Library, node: Node) -> list[str]:
    """Return a few phrases and identifiers that the node's text defines and its titles do not show."""
    text = library.text(node.id, length_max=_TERM_SOURCE)
    below, _ = list_headings_below(library, node.id, _CHILDREN_MAX)
    shown = " ".join((node.title, *(child.title for child in below))).lower()
    terms: dict[str, None] = {}
    for term in _iterate_terms(text):
        if term.lower() not in shown:
            terms[shorten(term, 40)] = None
        if len(terms) == _TERMS_MAX:
            break
    return list(terms)


def _iterate_terms(text: str) -> Iterator[str]:
    phrases = merge(*(pattern.finditer(text) for pattern in _PHRASE_TERMS), key=re.Match.start)
    for match in chain(_CODE_TERM.finditer(text), _BOLD_TERM.finditer(text), phrases):
        yield defuse(match[match.lastindex or 0]).strip(" :.,")


def describe_generic(library: Library, node: Node) -> str:
    """Return the first sentence that defines something, else the first words, for a node whose title says nothing.

    It is an empty string for other nodes.
    """
    if node.kind is not NodeKind.SECTION or not is_generic(node.title):
        return ""
    opening = find_opening(library, node.id, length_max=_DEFINITION_SOURCE)
    sentences = _SENTENCE_END.split(opening)
    definition = next((sentence for sentence in sentences if _DEFINES.search(sentence)), opening)
    return shorten(definition, _DEFINITION_LENGTH)


def make_scent(library: Library, node: Node, *, is_deep: bool = False, length_max: int | None = None) -> str:
    """Return what a collapsed line adds to its title: child titles, or first words of a generic leaf.

    Args:
        library: Holds the node.
        node: The collapsed node.
        is_deep: Whether titles two levels down are named too.
        length_max: Characters; whole titles are left out past it, and their number said.
    """
    titles = list_child_titles(library, node, is_deep=is_deep)
    if not titles and node.kind is NodeKind.LINK:
        return find_note(library, node.id, length_max=length_max or NOTE_LENGTH)
    if not titles:
        return describe_generic(library, node)
    if length_max is None:
        return "; ".join(titles)
    kept: list[str] = []
    length = 0
    for index, title in enumerate(titles):
        length += len(title) + 2
        if kept and length > length_max:
            return "; ".join([*kept, f"+{len(titles) - index} more"])
        kept.append(shorten(title, max(20, length_max)))
    return "; ".join(kept)
