"""Rules on an llms.txt: what its links say, and what they lead to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from roamtui.checking.facts import Facts, Finding, Place
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line
from roamtui.document.web_loader import is_text_address
from roamtui.outline.labels import OPTIONAL

_LINKS_MANY = 50
_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def list_links(facts: Facts) -> list[Place]:
    """Return the links of lists of links."""
    return [
        Place(document, row, document.columns.starts[row])
        for document in facts.library.documents
        for row, kind in enumerate(document.columns.kinds)
        if kind is NodeKind.LINK
    ]


def find_undescribed_links(facts: Facts) -> Iterator[Finding]:
    """Yield lists with links that have nothing beside their titles, at the first of them."""
    groups: dict[tuple[int, int], list[Place]] = defaultdict(list)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for place in list_links(facts):
        document, starts = place.document, place.document.columns.starts
        key = id(document), document.columns.parents[place.row]
        counts[key] += 1
        item = document.text[place.offset : starts[place.row + 1]]
        if item and not _WORD.search(_LINK.sub("", item)):
            groups[key].append(place)
    for key, places in groups.items():
        message = f"{len(places)} of {counts[key]} links say nothing of their pages, the first is {places[0].quoted}"
        yield Finding(places[0], message, count=len(places))


def find_missing_optional(facts: Facts) -> Iterator[Finding]:
    """Yield a long list of links in which none are said to be optional."""
    root = facts.library.root
    count = root.columns.kinds.count(NodeKind.LINK)
    if count >= _LINKS_MANY and OPTIONAL not in (title.casefold() for title in root.columns.titles):
        yield Finding(Place(root, 0, 0), f"none of {count} links is said to be optional")


def find_failing_pages(facts: Facts) -> Iterator[Finding]:
    """Yield links whose pages were asked for and cannot be had."""
    for place in list_links(facts):
        if problem := facts.library.problem_of(place.section_id):
            yield Finding(place, f"the page of {place.quoted} cannot be had: {plain_line(problem)}")


def find_web_pages(facts: Facts) -> Iterator[Finding]:
    """Yield links whose pages were asked for and are HTML, with no Markdown beside it."""
    for place in list_links(facts):
        page = facts.library.file(place.section_id)
        if page is not None and page.is_html and not is_text_address(page.url or ""):
            yield Finding(place, f"{place.quoted} leads to a page of HTML")
