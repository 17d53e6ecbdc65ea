"""`Finder`: finds sections by title, text and meaning. Independent of the screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest

from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.document.plain import sanitise_line
from roamtui.outline.labels import format_path
from roamtui.search.base import Hit
from roamtui.search.terms import extract_query_terms, fold_term
from roamtui.tui.labels import STEP, format_ancestors, format_node
from roamtui.tui.messages import SearchKind
from roamtui.tui.text_search import SlicedWork, TextMatches, find_text, match_ranges, run_sliced

TITLES_MAX = 5
"""Maximum number of sections listed by title."""
SECTIONS_MAX = 25
"""Maximum number of sections listed by text match."""
HITS_MAX = 20
_PAUSE_SECONDS = 0.15
"""The configured search starts once typing has paused for this long, so that it does not rank or embed half a word."""
_EXCERPT_BEFORE, _EXCERPT_AFTER = 50, 200
"""Characters of an excerpt before and after the match."""
_MARKUP = re.compile(r"^[#>\s*+|-]+|\*\*|__|`|[|]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)|<[^<>]*>", re.MULTILINE)
_HEADING = re.compile(r"\s*#[^\r\n]*|[^\r\n]+(?:\r\n?|\n)[=-]+[ \t]*(?=[\r\n]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindResult:
    """A section that was found. Its texts are safe for the screen."""

    section_id: str
    title: str
    breadcrumb: str
    """The titles above it, on one line."""
    excerpt: str = ""
    """The text around the match."""
    match_offset: int | None = None
    """Offset of the first match in its document."""
    sentence: str = ""
    """The best sentence of the search hit, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultGroup:
    """The results of one kind of search."""

    kind: SearchKind
    summary: str
    """How many results there are, or how they were found, in words."""
    sections: tuple[FindResult, ...]
    words: tuple[str, ...] = ()
    """Words to highlight in the sections."""
    is_exact: bool = True
    """Whether the results contain the typed text, not only something similar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindResults:
    """The results of a search."""

    query: str = ""
    library: Library | None = None
    """The library that was searched."""
    groups: tuple[ResultGroup, ...] = ()
    """The groups that have results. Those that are only similar to the query come last."""
    matches: TextMatches = field(default_factory=TextMatches)
    is_complete: bool = True
    """Whether the search has ended."""


class Finder:
    """Finds sections of the library of a conversation."""

    def __init__(
        self, load_all: Callable[[], Awaitable[Library]], search: Callable[[str, int], Awaitable[tuple[Hit, ...]]]
    ) -> None:
        """Search the library that `load_all` returns. `search` runs the configured search for a query, with a limit."""
        self._load_all = load_all
        self._search = search
        self._titles: TitleSearch | None = None

    async def find(self, query: str) -> AsyncIterator[FindResults]:
        """Yield the titles and texts that match literally, then these results with the hits of the configured search.

        Raises:
            RoamtuiError: The configured search failed.
        """
        library = await self._load_all()
        if self._titles is None or self._titles.library is not library:
            self._titles = TitleSearch(library)
        titles = await run_sliced(self._titles.find(query, TITLES_MAX))
        matches = await run_sliced(find_text(library, query))
        results = FindResults(query=query, library=library, matches=matches)
        if query.strip():
            groups = _list_groups(library, query, titles, matches, ())
            yield replace(results, groups=groups, is_complete=False)
            await asyncio.sleep(_PAUSE_SECONDS)
            hits = await self._search(query, HITS_MAX)
            results = replace(results, groups=_list_groups(library, query, titles, matches, hits))
        yield results

    async def refresh_matches(self, matches: TextMatches) -> TextMatches:
        """Return the matches of the same words in the current library."""
        library = await self._load_all()
        if matches.library is library:
            return matches
        return await run_sliced(find_text(library, " ".join(matches.words)))


def _list_groups(
    library: Library, query: str, titles: TitleResults, matches: TextMatches, hits: tuple[Hit, ...]
) -> tuple[ResultGroup, ...]:
    """Return the groups that have results. Groups that are only similar to the query come last."""
    make_result = partial(_make_result, library, matches)
    keyword_hits = {hit.section_id: hit for hit in hits if "text rank" in hit.why}
    meaning_hits = [hit for hit in hits if "vector rank" in hit.why or "hybrid rank" in hit.why]
    unmatched_hits = [hit for hit in hits if matches.get_first_in(library.own_span(hit.section_id)) is None]
    ranked_ids = [hit.section_id for hit in hits if hit not in unmatched_hits]
    text_ids = list(dict.fromkeys((*ranked_ids, *matches.list_sections(SECTIONS_MAX))))[:SECTIONS_MAX]
    terms = extract_query_terms(query)
    words = tuple(dict.fromkeys(word for word in re.findall(r"\w+", query) if fold_term(word) in terms))
    similar_hits = [hit for hit in unmatched_hits if hit.section_id in keyword_hits]
    groups = (
        ResultGroup(
            kind=SearchKind.TITLES,
            summary=f"{titles.count:,}" if titles.is_close else "similar titles",
            sections=tuple(
                make_result(section_id, has_excerpt=False)
                for section_id in titles.section_ids
                if titles.is_close or not matches.count
            ),
            words=tuple(query.split()),
            is_exact=titles.is_close,
        ),
        ResultGroup(
            kind=SearchKind.TEXT,
            summary=format_count(matches.count, "match", "matches"),
            sections=tuple(make_result(section_id, keyword_hits.get(section_id)) for section_id in text_ids),
            words=matches.words,
        ),
        ResultGroup(
            kind=SearchKind.TEXT,
            summary="words apart or other word forms" if matches.count else "some words or other word forms",
            sections=tuple(make_result(hit.section_id, hit) for hit in similar_hits),
            words=words,
            is_exact=False,
        ),
        ResultGroup(
            kind=SearchKind.MEANING,
            summary="closest first",
            sections=tuple(make_result(hit.section_id, hit) for hit in meaning_hits),
            words=words,
        ),
    )
    return tuple(sorted((group for group in groups if group.sections), key=lambda group: not group.is_exact))


def _make_result(
    library: Library, matches: TextMatches, section_id: str, hit: Hit | None = None, *, has_excerpt: bool = True
) -> FindResult:
    match = matches.get_first_in(library.own_span(section_id))
    excerpt = _strip_markup(hit.snippet) if hit is not None else ""
    if has_excerpt and match is not None and not match_ranges(excerpt, matches.words):
        excerpt = _make_excerpt(library, section_id, match)
    if library.title_id() is not None:
        breadcrumb = format_ancestors(library, section_id)  # without the document's own title
    else:
        ancestors = library.ancestors(section_id)
        breadcrumb = format_path(library, ancestors[-1]).replace(" > ", STEP) if ancestors else ""
    return FindResult(
        section_id=section_id,
        title=format_node(library, section_id),
        breadcrumb=breadcrumb,
        excerpt=excerpt,
        match_offset=match,
        sentence=hit.snippet if hit is not None else "",
    )


def _make_excerpt(library: Library, section_id: str, match: int) -> str:
    """Return the text around a match on one line, or if the match is in the heading, the text below it."""
    span = library.own_span(section_id)
    text = library.document(span.doc).text
    heading = _HEADING.match(text[span.start : span.start + _EXCERPT_AFTER])
    body = span.start + heading.end() if heading else span.start
    start = max(body, match - _EXCERPT_BEFORE)
    before, after = (
        text[start : max(start, match)],
        text[max(start, match) : min(span.end, max(start, match) + _EXCERPT_AFTER)],
    )
    cut = max(before.rfind("\n"), before.rfind("\r"))
    ellipsis = "" if cut >= 0 or start == body else "…"
    if ellipsis:
        cut = before.find(" ")
    return ellipsis + _strip_markup(before[cut + 1 :] + after)


def _strip_markup(text: str) -> str:
    """Return text on one line without most of its markup."""
    return " ".join(sanitise_line(_MARKUP.sub(" ", text)).split())


_FUZZY_SCORE_MIN = 75
"""Minimum score of a similar title, from 0 to 100, as RapidFuzz computes it."""
_FUZZY_SCORE_SPREAD = 8
"""Maximum difference from the best score. Titles with lower scores are noise."""
_FUZZY_LENGTH_MIN = 3
"""Minimum length of a pattern, in characters. A shorter one resembles nearly every title."""
TITLES_PER_SLICE = 2_000
"""Number of titles compared in one slice of work. The slowest comparison takes a few milliseconds for them."""
_RatedTitle = tuple[float, int, int]
"""Sort key of a title: a rating, which is lower for better matches, its length and its index."""


@dataclass(frozen=True, slots=True)
class TitleResults:
    """Titles that were found."""

    section_ids: tuple[str, ...] = ()
    """Best first."""
    count: int = 0
    """The number of all matches, including those not listed."""
    is_close: bool = True
    """Whether the titles contain the words, not only something similar."""


class TitleSearch:
    """Finds titles of a library.

    The results are the titles that contain every word of a pattern. If there are none, they are the titles similar to
    it, because the person may have mistyped.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._numbering = NodeNumbering(library)
        self._titles: list[str] = []
        """Case-folded titles by number, filled by the first search."""

    def find(self, pattern: str, limit: int) -> SlicedWork[TitleResults]:
        """Return, in slices of work, the titles that match best."""
        words = pattern.casefold().split()
        if not words:
            return TitleResults()
        for document, first, end in self._numbering.iter_runs(range(len(self._titles), len(self._numbering))):
            self._titles.extend(map(str.casefold, document.columns.titles[first:end]))
            yield
        for rate in (_rate_words, _rate_similarity):
            best: list[_RatedTitle] = []
            count = 0
            for start in range(0, len(self._titles), TITLES_PER_SLICE):
                rated = list(rate(words, self._titles[start : start + TITLES_PER_SLICE]))
                count += len(rated)
                best = nsmallest(limit, [*best, *((rating, length, start + index) for rating, length, index in rated)])
                yield
            if rate is _rate_similarity:
                best = [title for title in best if title[0] <= best[0][0] + _FUZZY_SCORE_SPREAD]
                count = len(best)
            if best:
                located = (self._numbering.locate(number) for _, _, number in best)
                ids = tuple(document.ids[row] for document, row in located)
                return TitleResults(ids, count, is_close=rate is _rate_words)
        return TitleResults()


def _rate_words(words: Sequence[str], titles: Sequence[str]) -> Iterator[_RatedTitle]:
    """Yield the titles that contain every word. Titles that start with the words sort first, then shorter titles."""
    phrase = " ".join(words)
    indexes: Sequence[int] = range(len(titles))
    for word in words:
        indexes = [index for index in indexes if word in titles[index]]
    for index in indexes:
        title = titles[index]
        start = title.find(phrase)
        is_at_word_start = start > 0 and not title[start - 1].isalnum()
        rating = 1 if is_at_word_start else 2
        yield 0 if start == 0 else rating, len(title), index


def _rate_similarity(words: Sequence[str], titles: Sequence[str]) -> Iterator[_RatedTitle]:
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - few patterns need it

    phrase = " ".join(words)
    if len(phrase) < _FUZZY_LENGTH_MIN:
        return
    similar = process.extract(phrase, titles, scorer=fuzz.partial_ratio, score_cutoff=_FUZZY_SCORE_MIN, limit=None)
    for title, score, index in similar:
        if len(title) * 2 > len(phrase):  # a much shorter title resembles only part of the phrase
            yield -score, len(title), index
