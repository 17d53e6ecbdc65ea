"""`Finder`: what a few words lead to in a library, by titles, text and meaning. Knows no screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field

from roamtui.document.library import Library
from roamtui.document.plain import plain_line
from roamtui.outline.labels import name_path
from roamtui.search.base import Hit
from roamtui.search.terms import fold, query_terms
from roamtui.tui.commands import Kind
from roamtui.tui.conversing import Conversing
from roamtui.tui.node_names import STEP, name_above, name_node
from roamtui.tui.steps import run_between_keys
from roamtui.tui.text_search import TextMatches, TextPlace, find_marks, find_text
from roamtui.tui.title_search import TitleMatches, TitleSearch
from roamtui.tui.tree.display_tree import DisplayTree

LIMIT = 25
"""Sections that are listed of each kind; who wants to see more types more."""
HITS_MAX = 20
_REST_SECONDS = 0.15
"""Whoever types on sooner does not want sections ranked, or embedded, for half a word."""
_BEFORE, _AFTER = 50, 200
"""Characters of an excerpt before and after what was found."""
_MARKUP = re.compile(r"^[#>\s*+|-]+|\*\*|__|`|[|]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)|<[^<>]*>", re.MULTILINE)
_HEADING = re.compile(r"\s*#[^\r\n]*|[^\r\n]+(?:\r\n?|\n)[=-]+[ \t]*(?=[\r\n]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSection:
    """A section that was found; its words are safe for the screen."""

    section_id: str
    title: str
    above: str
    """Where it stands, in one line."""
    excerpt: str = ""
    """What of its text was found."""
    match: int | None = None
    """Offset in its document of the first match."""
    sentence: str = ""
    """The one that answers, as the search has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What was found in one way."""

    kind: Kind
    told: str
    """How much there is, in words."""
    count: int
    """Of all, whether listed or not."""
    sections: tuple[FoundSection, ...]
    words: tuple[str, ...] = ()
    """What to mark in their texts."""
    is_close: bool = True
    """Whether it is what was typed, and not something like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a few words lead to."""

    query: str = ""
    library: Library | None = None
    """That was searched."""
    groups: tuple[Group, ...] = ()
    """What is close to what was typed first."""
    matches: TextMatches = field(default_factory=TextMatches)
    is_whole: bool = True
    """Whether nothing more is looked for."""


class Finder:
    """Finds sections of what a person talks about."""

    def __init__(self, conversing: Conversing) -> None:
        self._conversing = conversing
        self._titles: TitleSearch | None = None

    async def find(self, query: str, onward: TextPlace | None = None) -> AsyncIterator[Found]:
        """Yield what stands there as typed, then with it what the configured search finds.

        Args:
            query: What was typed.
            onward: Where the person reads, where text is wanted in its order from there; None for the best first.

        Raises:
            RoamtuiError: The configured search failed; the message is for the person.
        """
        library = await self._conversing.load_all()
        if self._titles is None or self._titles.tree.library is not library:
            self._titles = TitleSearch(DisplayTree(library))
        tree = self._titles.tree
        titles = await run_between_keys(self._titles.find(query, LIMIT))
        matches = await run_between_keys(find_text(tree, query))
        hits: tuple[Hit, ...] = ()
        for is_whole in (not query.strip(), True):
            if is_whole and query.strip():
                await asyncio.sleep(_REST_SECONDS)
                hits = await self._conversing.search(query, limit=HITS_MAX)
            groups = [*_group_text(library, query, matches, hits, onward)]
            if titles.is_close or matches.is_apart or not matches.count:
                groups.insert(0, _group_titles(tree, titles, matches))
            groups = sorted((group for group in groups if group.sections), key=lambda group: not group.is_close)
            yield Found(query=query, library=library, groups=tuple(groups), matches=matches, is_whole=is_whole)
            if is_whole:
                return

    async def find_again(self, matches: TextMatches) -> TextMatches:
        """Return the matches of the same words in the library as it is now."""
        library = await self._conversing.load_all()
        if matches.library is library:
            return matches
        return await run_between_keys(find_text(DisplayTree(library), " ".join(matches.words)))


def _group_titles(tree: DisplayTree, titles: TitleMatches, matches: TextMatches) -> Group:
    library = tree.library
    sections = [_describe(library, tree.id_of(key), matches, has_excerpt=False) for key in titles.keys]
    told = f"{titles.count:,}" if titles.is_close else "like what you typed"
    return Group(
        kind=Kind.TITLES,
        told=told,
        count=titles.count,
        sections=tuple(sections),
        words=matches.words,
        is_close=titles.is_close,
    )


def _group_text(
    library: Library, query: str, matches: TextMatches, hits: tuple[Hit, ...], onward: TextPlace | None
) -> Iterator[Group]:
    """Yield what holds the words, what search ranks beside it, and what is near in meaning."""
    by_words = {hit.section_id: hit for hit in hits if "text rank" in hit.why}
    by_meaning = [hit for hit in hits if "vector rank" in hit.why or "hybrid rank" in hit.why]
    near = [hit for hit in hits if matches.first_in(library.own_span(hit.section_id)) is None]
    ranked = [] if onward else [hit.section_id for hit in hits if hit not in near]
    listed = [section_id for section_id, _ in matches.list_sections(onward or TextPlace("", 0), LIMIT)]
    ids = list(dict.fromkeys((*ranked, *listed)))[:LIMIT]
    told = _count(matches.count, "section") + ", the words stand apart"
    yield Group(
        kind=Kind.TEXT,
        told=told if matches.is_apart else _count(matches.count, "match"),
        count=matches.count,
        sections=tuple(_describe(library, section_id, matches, by_words.get(section_id)) for section_id in ids),
        words=matches.words,
    )
    terms = query_terms(query)
    words = tuple(dict.fromkeys(word for word in re.findall(r"\w+", query) if fold(word) in terms))
    more = [hit for hit in near if hit.section_id in by_words]
    is_part = matches.is_apart or not matches.count
    yield Group(
        kind=Kind.TEXT,
        told="some of the words, or other forms of them" if is_part else "words apart, or other forms of them",
        count=len(more),
        sections=tuple(_describe(library, hit.section_id, matches, hit) for hit in more),
        words=words,
        is_close=False,
    )
    yield Group(
        kind=Kind.MEANING,
        told="nearest first",
        count=len(by_meaning),
        sections=tuple(_describe(library, hit.section_id, matches, hit) for hit in by_meaning),
        words=words,
    )


def _describe(
    library: Library, section_id: str, matches: TextMatches, hit: Hit | None = None, *, has_excerpt: bool = True
) -> FoundSection:
    match = matches.first_in(library.own_span(section_id))
    excerpt = _clean(hit.snippet) if hit is not None else ""
    if has_excerpt and match is not None and not find_marks(excerpt, matches.words):
        excerpt = cut_excerpt(library, section_id, match)
    return FoundSection(
        section_id=section_id,
        title=name_node(library, section_id),
        above=_name_above(library, section_id),
        excerpt=excerpt,
        match=match,
        sentence=hit.snippet if hit is not None else "",
    )


def cut_excerpt(library: Library, section_id: str, match: int) -> str:
    """Return the words around a match on one line; where that is the heading, those below it."""
    span = library.own_span(section_id)
    text = library.document(span.doc).text
    heading = _HEADING.match(text[span.start : span.start + _AFTER])
    body = span.start + heading.end() if heading else span.start
    start = max(body, match - _BEFORE)
    before, after = text[start : max(start, match)], text[max(start, match) : min(span.end, max(start, match) + _AFTER)]
    edge = max(before.rfind("\n"), before.rfind("\r"))
    lead = "" if edge >= 0 or start == body else "…"
    if lead:
        edge = before.find(" ")
    return lead + _clean(before[edge + 1 :] + after)


def _clean(text: str) -> str:
    """Return text on one line without most of its markup."""
    return " ".join(plain_line(_MARKUP.sub(" ", text)).split())


def _count(number: int, word: str) -> str:
    many = {"match": "matches"}.get(word, f"{word}s")
    return f"1 {word}" if number == 1 else f"{number:,} {many}"


def _name_above(library: Library, section_id: str) -> str:
    """Return where a section stands; the document's own title goes without saying."""
    if library.title_id() is not None:
        return name_above(library, section_id)
    above = library.ancestors(section_id)
    return name_path(library, above[-1]).replace(" > ", STEP) if above else ""


def list_kinds(groups: Iterable[Group]) -> tuple[Kind, ...]:
    """Return what can be narrowed to: meaning, only where it was looked for."""
    has_meaning = any(group.kind is Kind.MEANING for group in groups)
    return tuple(kind for kind in Kind if kind is not Kind.MEANING or has_meaning)
