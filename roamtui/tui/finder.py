"""Finds sections by their titles, a phrase in their text, and the configured search. Independent of the screen."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from time import monotonic
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.agent.loop import Agent
from roamtui.document.counts import format_count
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.search.base import Hit
from roamtui.search.terms import extract_query_terms, fold_term
from roamtui.tui.labels import format_ancestors, format_node

_TITLES_MAX = 5
_SECTIONS_MAX = 25
"""Maximum number of sections listed by text match."""
_HITS_MAX = 20
_MATCHES_MAX = 10_000
"""Maximum number of matches of a phrase. Nobody steps through more of them."""
_PAUSE_SECONDS = 0.15
"""The configured search starts once typing has paused for this long, so that it does not rank or embed half a word."""
_TURN_SECONDS = 0.004
"""The search runs at most this long before waiting keys are handled."""
_WINDOW_LENGTH = 1 << 16
"""Number of characters searched in one step: a millisecond of work."""
_TITLES_PER_STEP = 2_000
_EXCERPT_BEFORE, _EXCERPT_AFTER = 30, 200
"""Characters of an excerpt before and after the match."""
_MARKUP = re.compile(r"^[#>\s*+|-]+|\*\*|__|`|[|]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)|<[^<>]*>", re.MULTILINE)


class TextPosition(NamedTuple):
    """The position of a character in a library."""

    doc: str
    """Key of its document."""
    offset: int


class TextMatches(Struct, frozen=True, kw_only=True):
    """The matches of a phrase in a library."""

    phrase: str = ""
    library: Library | None = None
    """The library that was searched, to see whether it has changed since."""
    positions: tuple[TextPosition, ...] = ()
    """The start of each match, in reading order."""
    first_indexes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """The index of the first match in each section that has one."""

    def format_number(self, index: int) -> str:
        """Return the phrase, the number of a match and the number of all matches."""
        return f"“{self.phrase}” {index + 1:,}/{len(self.positions):,}"


class ResultKind(StrEnum):
    """What found a section."""

    TITLES = "Titles"
    TEXT = "Text"
    RELATED = "Related"


class FindResult(Struct, frozen=True, kw_only=True):
    """A section that was found. Its texts are safe for the screen."""

    kind: ResultKind
    summary: str
    """How many results of this kind there are, or their order."""
    section_id: str
    title: str
    breadcrumb: str
    """The titles above it, on one line."""
    words: tuple[str, ...] = ()
    """Words to highlight in the section."""
    excerpt: str = ""
    """The text around the match, or the best sentence."""
    match: int | None = None
    """Index of the first match of the phrase in the section."""
    sentence: str = ""
    """The best sentence of a search hit, as the document has it."""


class FindResults(Struct, frozen=True, kw_only=True):
    """What a search has found so far."""

    query: str = ""
    results: tuple[FindResult, ...] = ()
    """The sections, by kind."""
    matches: TextMatches = field(default_factory=TextMatches)
    is_complete: bool = True
    """Whether the search has ended."""

    @property
    def text_ids(self) -> tuple[str, ...]:
        """The sections that were found by their text."""
        return tuple(result.section_id for result in self.results if result.kind is not ResultKind.TITLES)


async def find(agent: Agent, query: str) -> AsyncIterator[FindResults]:
    """Yield the titles and texts that match, then these results with the hits of the configured search.

    Raises:
        RoamtuiError: The configured search failed.
    """
    library = await agent.load_library()
    pacer = _Pacer()
    titles = await _find_titles(library, query, pacer)
    matches = await find_text(library, query, pacer)
    literal = (*_list_titles(library, query, titles, matches), *_list_texts(library, matches))
    found = FindResults(query=query, results=literal, matches=matches)
    if query.strip():
        yield replace(found, is_complete=False)
        await asyncio.sleep(_PAUSE_SECONDS)
        hits = [hit for hit in await agent.search(query, _HITS_MAX) if hit.section_id not in found.text_ids]
        found = replace(found, results=(*literal, *_list_hits(library, query, hits)))
    yield found


class _Pacer:
    """Lets the app handle keys between the steps of a search."""

    def __init__(self) -> None:
        self._deadline = monotonic() + _TURN_SECONDS

    async def pause(self) -> None:
        """Wait for the app, if the search has run long enough."""
        if monotonic() > self._deadline:
            await asyncio.sleep(0)
            self._deadline = monotonic() + _TURN_SECONDS


async def _find_titles(library: Library, query: str, pacer: _Pacer) -> list[str]:
    """Return the sections whose titles contain every word: first those that start with the query, then short ones."""
    words, found = query.casefold().split(), list[tuple[bool, int, str]]()
    numbering = library.numbering
    for document, first, end in numbering.iter_runs(range(len(numbering) if words else 0)):
        for start in range(first, end, _TITLES_PER_STEP):
            rows = range(start, min(start + _TITLES_PER_STEP, end))
            for row, title in zip(rows, document.columns.titles[rows.start : rows.stop], strict=True):
                folded = title.casefold()
                if words[0] in folded and all(word in folded for word in words):  # the first test spares a generator
                    found.append((not folded.startswith(" ".join(words)), len(folded), document.ids[row]))
            await pacer.pause()
    return [section_id for _, _, section_id in sorted(found, key=lambda entry: entry[:2])]


async def find_text(library: Library, query: str, pacer: _Pacer | None = None) -> TextMatches:
    """Find a query as a phrase, ignoring case and line ends."""
    words, pacer = query.split(), pacer or _Pacer()
    positions: list[TextPosition] = []
    first_indexes: dict[str, int] = {}
    for document in _list_documents(library) if words else ():
        async for offset in _find_in_text(document.text, words, pacer):
            row = bisect_right(document.columns.starts, offset, 0, len(document.columns)) - 1
            first_indexes.setdefault(document.ids[max(0, row)], len(positions))
            positions.append(TextPosition(document.key, offset))
            if len(positions) == _MATCHES_MAX:
                break
        if len(positions) == _MATCHES_MAX:
            break
    return TextMatches(phrase=" ".join(words), library=library, positions=tuple(positions), first_indexes=first_indexes)


def _list_documents(library: Library) -> list[Document]:
    """List the documents in reading order."""
    numbering = library.numbering
    # A run is a part of a document. Each document has one run that starts at row 0.
    return [document for document, row, _ in numbering.iter_runs(range(len(numbering))) if row == 0]


async def _find_in_text(text: str, words: Sequence[str], pacer: _Pacer) -> AsyncIterator[int]:
    """Yield the offsets of a phrase in order, without overlaps."""
    pattern, start = re.compile(r"\s".join(map(re.escape, words)), re.IGNORECASE), 0
    while start < len(text):
        # The window is longer by all but one character of the phrase, so that a match may cross into the next one.
        window_end = start + _WINDOW_LENGTH
        for match in pattern.finditer(text, start, window_end + len(" ".join(words)) - 1):
            yield match.start()
            window_end = max(window_end, match.end())
        start = window_end
        await pacer.pause()


def match_ranges(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and end offsets of words or phrases in a text, in order, ignoring case and line ends."""
    patterns = (r"\s".join(map(re.escape, word.split())) for word in words)
    return sorted(match.span() for pattern in patterns for match in re.finditer(pattern, text, re.IGNORECASE))


def _list_titles(
    library: Library, query: str, section_ids: Sequence[str], matches: TextMatches
) -> Iterator[FindResult]:
    for section_id in section_ids[:_TITLES_MAX]:
        result = _make_result(library, ResultKind.TITLES, f"{len(section_ids):,}", section_id)
        yield replace(result, words=tuple(query.split()), match=matches.first_indexes.get(section_id))


def _list_texts(library: Library, matches: TextMatches) -> Iterator[FindResult]:
    count = len(matches.positions)
    summary = ("first " if count == _MATCHES_MAX else "") + format_count(count, "match", "matches")
    for section_id, index in islice(matches.first_indexes.items(), _SECTIONS_MAX):
        excerpt = _make_excerpt(library, section_id, matches.positions[index].offset)
        result = _make_result(library, ResultKind.TEXT, summary, section_id)
        yield replace(result, words=(matches.phrase,), excerpt=excerpt, match=index)


def _list_hits(library: Library, query: str, hits: Sequence[Hit]) -> Iterator[FindResult]:
    terms = extract_query_terms(query)
    words = tuple(dict.fromkeys(word for word in re.findall(r"\w+", query) if fold_term(word) in terms))
    for hit in hits:
        result = _make_result(library, ResultKind.RELATED, "closest first", hit.section_id)
        yield replace(result, words=words, excerpt=_strip_markup(hit.snippet), sentence=hit.snippet)


def _make_result(library: Library, kind: ResultKind, summary: str, section_id: str) -> FindResult:
    title, breadcrumb = format_node(library, section_id), format_ancestors(library, section_id)
    return FindResult(kind=kind, summary=summary, section_id=section_id, title=title, breadcrumb=breadcrumb)


def _make_excerpt(library: Library, section_id: str, match: int) -> str:
    """Return the text around a match on one line."""
    span = library.own_span(section_id)
    text = library.document(span.doc).text
    before = text[max(span.start, match - _EXCERPT_BEFORE) : match]
    line_start = max(before.rfind("\n"), before.rfind("\r")) + 1
    if not line_start and match - _EXCERPT_BEFORE > span.start:
        before = "…" + before[before.find(" ") + 1 :]
    return _strip_markup(before[line_start:] + text[match : min(span.end, match + _EXCERPT_AFTER)])


def _strip_markup(text: str) -> str:
    """Return text on one line without most of its markup."""
    return " ".join(sanitise_line(_MARKUP.sub(" ", text)).split())
