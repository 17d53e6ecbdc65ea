"""`Finder`: finds sections by title, text and meaning. It knows no screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest

from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.document.plain import sanitise_line
from roamtui.outline.labels import format_path
from roamtui.search.base import Hit
from roamtui.search.terms import fold_term, query_terms
from roamtui.tui.labels import STEP, format_ancestors, format_node
from roamtui.tui.messages import SearchKind
from roamtui.tui.text_search import SlicedWork, TextMatches, TextPosition, find_text, match_ranges, run_sliced

LIMIT = 25
"""Sections listed of each kind; a longer query narrows them."""
HITS_MAX = 20
_REST_SECONDS = 0.15
"""The configured search starts once typing has paused for this long: it would rank or embed half a word."""
_BEFORE, _AFTER = 50, 200
"""Characters of an excerpt before and after the match."""
_MARKUP = re.compile(r"^[#>\s*+|-]+|\*\*|__|`|[|]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)|<[^<>]*>", re.MULTILINE)
_HEADING = re.compile(r"\s*#[^\r\n]*|[^\r\n]+(?:\r\n?|\n)[=-]+[ \t]*(?=[\r\n]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindResult:
    """A section that was found; its texts are safe for the screen."""

    section_id: str
    title: str
    breadcrumb: str
    """Its path, on one line."""
    excerpt: str = ""
    """The text around the match."""
    match_offset: int | None = None
    """Offset of the first match in its document."""
    sentence: str = ""
    """The best sentence, as the search has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultGroup:
    """The results of one kind of search."""

    kind: SearchKind
    summary: str
    """The number of results, in words."""
    count: int
    """Of all, whether listed or not."""
    sections: tuple[FindResult, ...]
    words: tuple[str, ...] = ()
    """Words to highlight in the sections."""
    is_exact: bool = True
    """Whether the results hold what was typed, not only something similar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindResults:
    """The results of a search."""

    query: str = ""
    library: Library | None = None
    """The library that was searched."""
    groups: tuple[ResultGroup, ...] = ()
    """The groups, the closest to the query first."""
    matches: TextMatches = field(default_factory=TextMatches)
    is_complete: bool = True
    """Whether the search has ended."""


LoadAll = Callable[[], Awaitable[Library]]
Search = Callable[[str, int], Awaitable[tuple[Hit, ...]]]
"""Returns sections for a query, up to a limit."""


class Finder:
    """Finds sections of the library of a conversation."""

    def __init__(self, load_all: LoadAll, search: Search) -> None:
        """Find in the library that `load_all` returns; `search` is the configured search."""
        self._load_all = load_all
        self._search = search
        self._titles: TitleSearch | None = None

    async def find(self, query: str, onward: TextPosition | None = None) -> AsyncIterator[FindResults]:
        """Yield what stands there as typed, then with it what the configured search finds.

        Args:
            query: What was typed.
            onward: Where the person reads, where text is wanted in its order from there; None for the best first.

        Raises:
            RoamtuiError: The configured search failed; the message is for the person.
        """
        library = await self._load_all()
        if self._titles is None or self._titles.library is not library:
            self._titles = TitleSearch(library)
        titles = await run_sliced(self._titles.find(query, LIMIT))
        matches = await run_sliced(find_text(library, query))
        hits: tuple[Hit, ...] = ()
        for is_whole in (not query.strip(), True):
            if is_whole and query.strip():
                await asyncio.sleep(_REST_SECONDS)
                hits = await self._search(query, HITS_MAX)
            groups = [*_group_text(library, query, matches, hits, onward)]
            if titles.is_close or matches.are_scattered or not matches.count:
                sections = [_describe(library, one, matches, has_excerpt=False) for one in titles.section_ids]
                told = f"{titles.count:,}" if titles.is_close else "like what you typed"
                group = ResultGroup(
                    kind=SearchKind.TITLES,
                    summary=told,
                    count=titles.count,
                    sections=tuple(sections),
                    words=matches.words,
                    is_exact=titles.is_close,
                )
                groups.insert(0, group)
            groups = sorted((group for group in groups if group.sections), key=lambda group: not group.is_exact)
            yield FindResults(query=query, library=library, groups=tuple(groups), matches=matches, is_complete=is_whole)
            if is_whole:
                return

    async def refresh_matches(self, matches: TextMatches) -> TextMatches:
        """Return the matches of the same words in the current library."""
        library = await self._load_all()
        if matches.library is library:
            return matches
        return await run_sliced(find_text(library, " ".join(matches.words)))


def _group_text(
    library: Library, query: str, matches: TextMatches, hits: tuple[Hit, ...], onward: TextPosition | None
) -> Iterator[ResultGroup]:
    """Yield what holds the words, what search ranks beside it, and what is near in meaning."""
    by_words = {hit.section_id: hit for hit in hits if "text rank" in hit.why}
    by_meaning = [hit for hit in hits if "vector rank" in hit.why or "hybrid rank" in hit.why]
    near = [hit for hit in hits if matches.first_in(library.own_span(hit.section_id)) is None]
    ranked = [] if onward else [hit.section_id for hit in hits if hit not in near]
    listed = [section_id for section_id, _ in matches.list_sections(onward or TextPosition("", 0), LIMIT)]
    ids = list(dict.fromkeys((*ranked, *listed)))[:LIMIT]
    told = _count(matches.count, "section") + ", the words stand apart"
    yield ResultGroup(
        kind=SearchKind.TEXT,
        summary=told if matches.are_scattered else _count(matches.count, "match"),
        count=matches.count,
        sections=tuple(_describe(library, section_id, matches, by_words.get(section_id)) for section_id in ids),
        words=matches.words,
    )
    terms = query_terms(query)
    words = tuple(dict.fromkeys(word for word in re.findall(r"\w+", query) if fold_term(word) in terms))
    more = [hit for hit in near if hit.section_id in by_words]
    is_part = matches.are_scattered or not matches.count
    yield ResultGroup(
        kind=SearchKind.TEXT,
        summary="some of the words, or other forms of them" if is_part else "words apart, or other forms of them",
        count=len(more),
        sections=tuple(_describe(library, hit.section_id, matches, hit) for hit in more),
        words=words,
        is_exact=False,
    )
    yield ResultGroup(
        kind=SearchKind.MEANING,
        summary="nearest first",
        count=len(by_meaning),
        sections=tuple(_describe(library, hit.section_id, matches, hit) for hit in by_meaning),
        words=words,
    )


def _describe(
    library: Library, section_id: str, matches: TextMatches, hit: Hit | None = None, *, has_excerpt: bool = True
) -> FindResult:
    match = matches.first_in(library.own_span(section_id))
    excerpt = _clean(hit.snippet) if hit is not None else ""
    if has_excerpt and match is not None and not match_ranges(excerpt, matches.words):
        excerpt = make_excerpt(library, section_id, match)
    return FindResult(
        section_id=section_id,
        title=format_node(library, section_id),
        breadcrumb=_format_ancestors(library, section_id),
        excerpt=excerpt,
        match_offset=match,
        sentence=hit.snippet if hit is not None else "",
    )


def make_excerpt(library: Library, section_id: str, match: int) -> str:
    """Return the text around a match on one line; for a match in the heading, the text below it."""
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
    return " ".join(sanitise_line(_MARKUP.sub(" ", text)).split())


def _count(number: int, word: str) -> str:
    many = {"match": "matches"}.get(word, f"{word}s")
    return f"1 {word}" if number == 1 else f"{number:,} {many}"


def _format_ancestors(library: Library, section_id: str) -> str:
    """Return the path of a section without the document's own title."""
    if library.title_id() is not None:
        return format_ancestors(library, section_id)
    above = library.ancestors(section_id)
    return format_path(library, above[-1]).replace(" > ", STEP) if above else ""


def list_available_kinds(groups: Iterable[ResultGroup]) -> tuple[SearchKind, ...]:
    """Return the kinds of results to choose from; meaning only if the search looked for it."""
    has_meaning = any(group.kind is SearchKind.MEANING for group in groups)
    return tuple(kind for kind in SearchKind if kind is not SearchKind.MEANING or has_meaning)


_FUZZY_SCORE_MIN = 75
_FUZZY_SCORE_SPREAD = 8
"""Matches that score lower than the best by more than this are noise."""
_FUZZY_LENGTH_MIN = 3
"""Shorter patterns resemble nearly every title."""
SLICE = 2_000
"""Titles compared in one slice of work; the slowest comparison takes some milliseconds for them."""
_Rated = tuple[float, int, int]
"""Sort key of a title: how badly it matches, its length, and its number."""


@dataclass(frozen=True, slots=True)
class TitleResults:
    """Titles that were found."""

    section_ids: tuple[str, ...] = ()
    """The best first."""
    count: int = 0
    """Of all, whether listed or not."""
    is_close: bool = True
    """Whether the titles hold the words, not only their letters or something similar."""


class TitleSearch:
    """Finds titles of a library.

    Titles that hold each word of a pattern win; where there are none, those that hold its characters in order; where
    there are none either, those that are like it, so that a slip of the finger still finds its section.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._layout = NodeNumbering(library)
        self._titles: list[str] = []
        """Case-folded titles by number, read by the first search."""

    def find(self, pattern: str, limit: int) -> SlicedWork[TitleResults]:
        """Return, in slices of work, the titles that match best."""
        words = pattern.casefold().split()
        if not words:
            return TitleResults()
        for document, first, end in self._layout.iter_runs(range(len(self._titles), len(self._layout))):
            self._titles.extend(map(str.casefold, document.columns.titles[first:end]))
            yield
        for rate in (_rate_words, _rate_letters, _rate_likeness):
            best: list[_Rated] = []
            count = 0
            for start in range(0, len(self._titles), SLICE):
                rated = list(rate(words, self._titles[start : start + SLICE]))
                count += len(rated)
                best = nsmallest(limit, [*best, *((rating, length, start + place) for rating, length, place in rated)])
                yield
            if rate is _rate_likeness:
                best = [one for one in best if one[0] <= best[0][0] + _FUZZY_SCORE_SPREAD]
                count = len(best)
            if best:
                found = (self._layout.locate(number) for _, _, number in best)
                ids = tuple(document.ids[row] for document, row in found)
                return TitleResults(ids, count, is_close=rate is _rate_words)
        return TitleResults()


def _rate_words(words: Sequence[str], titles: Sequence[str]) -> Iterator[_Rated]:
    """Yield the titles that hold every word; those that start with them and shorter ones sort first."""
    phrase = " ".join(words)
    places: Sequence[int] = range(len(titles))
    for word in words:
        places = [place for place in places if word in titles[place]]
    for place in places:
        title = titles[place]
        start = title.find(phrase)
        rating = 0 if not start else 1 if start > 0 and not title[start - 1].isalnum() else 2
        yield rating, len(title), place


def _rate_letters(words: Sequence[str], titles: Sequence[str]) -> Iterator[_Rated]:
    """Yield the titles that hold all characters in order; shorter ones sort first."""
    letters = "".join(words)
    for place, title in enumerate(titles):
        position = 0
        for letter in letters:
            position = title.find(letter, position) + 1
            if not position:
                break
        else:
            yield 0, len(title), place


def _rate_likeness(words: Sequence[str], titles: Sequence[str]) -> Iterator[_Rated]:
    """Yield the titles that resemble the query."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - few patterns need it

    phrase = " ".join(words)
    if len(phrase) < _FUZZY_LENGTH_MIN:
        return
    found = process.extract(phrase, titles, scorer=fuzz.partial_ratio, score_cutoff=_FUZZY_SCORE_MIN, limit=None)
    for title, score, place in found:
        if len(title) * 2 > len(phrase):  # a much shorter one is like a part of it, which says nothing
            yield -score, len(title), place


def match_characters(title: str, pattern: str) -> set[int]:
    """Return the indexes of the characters of `title` that `pattern` matches; none if it only resembles it."""
    folded = [(part, place) for place, character in enumerate(title) for part in character.casefold()]
    text, words = "".join(part for part, _ in folded), pattern.casefold().split()
    matched: set[int] = set()
    if all(word in text for word in words):
        for word in words:
            start = text.find(word)
            matched.update(place for _, place in folded[start : start + len(word)])
        return matched
    position = 0
    for letter in "".join(words):
        found = text.find(letter, position)
        if found < 0:
            return set()
        matched.add(folded[found][1])
        position = found + 1
    return matched
