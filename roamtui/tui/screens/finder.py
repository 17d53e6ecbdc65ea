"""Finds sections by their titles, a phrase in their text, and the configured search. Independent of the screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from roamtui.agent.loop import Agent
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.plain import format_count, sanitise_line
from roamtui.search.terms import extract_query_terms, fold_term

_TITLES_SHOWN_MAX = 5
_TITLES_MAX = 1_000
"""Maximum number of matching titles of which the best are shown."""
_SECTIONS_MAX = 25
"""Maximum number of sections listed by text match."""
_HITS_MAX = 20
_MATCHES_MAX = 1_000
"""Maximum number of matches of a phrase. Nobody steps through more of them."""
_PAUSE_SECONDS = 0.15
"""The configured search starts once typing has paused for this long, so that it does not rank or embed half a word."""
_WINDOW_LENGTH = 1 << 16
"""Number of characters searched before waiting keys are handled: a millisecond of work."""
_EXCERPT_BEFORE, _EXCERPT_AFTER = 30, 200
"""Characters of an excerpt before and after the match."""
_MARKUP = re.compile(r"^[#>\s*+|-]+|\*\*|__|`|[|]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)|<[^<>]*>", re.MULTILINE)


class FindResult(Struct, frozen=True, kw_only=True):
    """A section that was found."""

    group: str
    """What found it, and how many results there are or their order."""
    section_id: str
    words: tuple[str, ...] = ()
    """Words to highlight in the section."""
    excerpt: str = ""
    """The text around the match, or the best sentence, safe for the screen. Empty if the title was found."""
    match: int | None = None
    """Index of the first match of the phrase in the section."""
    sentence: str = ""
    """The best sentence of a search hit, as the document has it."""


class FindResults(Struct, frozen=True, kw_only=True):
    """What a search has found so far."""

    query: str = ""
    library: Library | None = None
    """The library that was searched, to see whether it has changed since."""
    results: tuple[FindResult, ...] = ()
    matches: tuple[Span, ...] = ()
    """The matches of the phrase, in reading order."""
    is_complete: bool = True
    """Whether the search has ended."""


async def find(agent: Agent, query: str) -> AsyncIterator[FindResults]:
    """Yield the titles and texts that match, then these results with the hits of the configured search.

    Raises:
        RoamtuiError: The configured search failed.
    """
    library = await agent.conversation.load_all()
    matches = await find_text(library, query)
    first_matches: dict[str, int] = {}
    for index, match in enumerate(matches):
        if (section_id := library.section_at(match.doc, match.start)) is not None:
            first_matches.setdefault(section_id, index)
    titles = _find_titles(library, query.casefold(), first_matches)
    texts = _list_texts(library, query, matches, first_matches)
    found = FindResults(query=query, library=library, results=(*titles, *texts), matches=matches)
    if query.strip():
        yield replace(found, is_complete=False)
        await asyncio.sleep(_PAUSE_SECONDS)
        hits = [hit for hit in await agent.search(query, _HITS_MAX) if hit.section_id not in first_matches]
        terms = extract_query_terms(query)
        words = tuple(dict.fromkeys(word for word in re.findall(r"\w+", query) if fold_term(word) in terms))
        related = (
            FindResult(
                group="Related · closest first",
                section_id=hit.section_id,
                words=words,
                excerpt=_strip_markup(hit.snippet),
                sentence=hit.snippet,
            )
            for hit in hits
        )
        found = replace(found, results=(*found.results, *related))
    yield found


def _find_titles(library: Library, query: str, first_matches: Mapping[str, int]) -> Iterator[FindResult]:
    """Yield sections whose titles contain every word: first those that start with the query, then short ones."""
    words = query.split()
    if not words:
        return
    start, longest = " ".join(words), max(words, key=len)
    ranks: dict[str, tuple[bool, int]] = {}
    for document, first, end in library.iter_runs():
        titles = document.columns.titles[first:end]
        # Searched as one text, because testing 100,000 titles one by one would delay each key.
        folded = "".join(f"\n{title}" for title in titles).casefold()
        for needle in ("\n" + start, longest):
            for row in islice(_iter_lines(folded, needle), _TITLES_MAX):
                title = titles[row].casefold()
                if all(word in title for word in words):
                    ranks[document.ids[first + row]] = (not title.startswith(start), len(title))
    for section_id in sorted(ranks, key=ranks.__getitem__)[:_TITLES_SHOWN_MAX]:
        match = first_matches.get(section_id)
        yield FindResult(group=f"Titles · {len(ranks):,}", section_id=section_id, words=tuple(words), match=match)


def _iter_lines(text: str, needle: str) -> Iterator[int]:
    """Yield the numbers of the lines that contain a needle. Each line starts with a line end."""
    line, position = -1, 0
    while position >= 0 and (hit := text.find(needle, position)) >= 0:
        line += text.count("\n", position, hit + 1)
        yield line
        position = text.find("\n", hit + 1)


async def find_text(library: Library, query: str) -> tuple[Span, ...]:
    """Find a query as a phrase, ignoring case and line ends. Matches do not overlap."""
    words, found = query.split(), list[Span]()
    pattern = re.compile(r"\s".join(map(re.escape, words)), re.IGNORECASE)
    # A run is a part of a document. Each document has one run that starts at row 0.
    runs = library.iter_runs() if words else ()
    for document in [document for document, row, _ in runs if row == 0]:
        start = 0
        while start < len(document.text) and len(found) < _MATCHES_MAX:
            # The window is longer by all but one character of the phrase, so that a match may cross into the next one.
            window_end = start + _WINDOW_LENGTH
            for match in pattern.finditer(document.text, start, window_end + len(" ".join(words)) - 1):
                found.append(Span(doc=document.key, start=match.start(), end=match.end()))
                window_end = max(window_end, match.end())
            start = window_end
            await asyncio.sleep(0)
    return tuple(found[:_MATCHES_MAX])


def _list_texts(
    library: Library, query: str, matches: Sequence[Span], first_matches: Mapping[str, int]
) -> Iterator[FindResult]:
    count = format_count(len(matches), "match", "matches")
    group = f"Text · {'first ' if len(matches) == _MATCHES_MAX else ''}{count}"
    phrase = " ".join(query.split())
    for section_id, index in islice(first_matches.items(), _SECTIONS_MAX):
        excerpt = _make_excerpt(library, section_id, matches[index].start)
        yield FindResult(group=group, section_id=section_id, words=(phrase,), excerpt=excerpt, match=index)


def match_ranges(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and end offsets of words or phrases in a text, in order, ignoring case and line ends."""
    patterns = (r"\s".join(map(re.escape, word.split())) for word in words)
    return sorted(match.span() for pattern in patterns for match in re.finditer(pattern, text, re.IGNORECASE))


def _make_excerpt(library: Library, section_id: str, match: int) -> str:
    """Return the text around a match on one line."""
    span = library.node(section_id).own_span
    text = library.documents_by_key[span.doc].text
    before = text[max(span.start, match - _EXCERPT_BEFORE) : match]
    line_start = max(before.rfind("\n"), before.rfind("\r")) + 1
    if not line_start and match - _EXCERPT_BEFORE > span.start:
        before = "…" + before[before.find(" ") + 1 :]
    return _strip_markup(before[line_start:] + text[match : min(span.end, match + _EXCERPT_AFTER)])


def _strip_markup(text: str) -> str:
    """Return text on one line without most of its markup."""
    return " ".join(sanitise_line(_MARKUP.sub(" ", text)).split())
