"""`FindDialog`: finds sections by title, by phrase, and by the configured search, while a person types."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace
from textual import events, on, work
from textual.content import Content
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.document.library import Library
from roamtui.markdown.anchors import strip_anchor
from roamtui.outline.coverage import format_absence, measure_coverage
from roamtui.outline.labels import format_node_title
from roamtui.quotes.find import find_in_span
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import RELATED_HEADING, Hit
from roamtui.search.phrases import MATCHES_MAX, TitleList, find_phrase, match_ranges
from roamtui.search.terms import extract_query_terms, normalise_term
from roamtui.text import Span, format_count
from roamtui.tui.reader.document_reader import DocumentReader
from roamtui.tui.reader.reader import Reader
from roamtui.tui.screen_words import format_ancestors
from roamtui.tui.screens.dialogs import make_foot
from roamtui.tui.screens.lists import ListDialog, Row

_TITLES_MAX, _SECTIONS_MAX, _HITS_MAX = 5, 25, 20
"""Maximum number of sections that are listed by title, by text and by meaning."""
_PAUSE_SECONDS = 0.15
"""The configured search starts once typing has paused for this long, so not with half a word."""
_REST_SECONDS = 0.05
"""The preview shows a result once the cursor has rested on it for this long."""
_EXCERPT_BEFORE, _EXCERPT_AFTER = 30, 200
"""Characters of an excerpt before and after the match."""
_MARKUP = re.compile(r"^[#>\s*+|-]+|\*\*|__|`|[|]|!?\[(?=[^\]]*\]\()|\]\([^)]*\)|<[^<>]*>", re.MULTILINE)
_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]+)[\"“”„«»]")
_SEARCHING = "Searching…"
_MATCH_STYLE = "bold underline $secondary"
_MOVES = ", ↑ ↓ to choose, pgup pgdn to scroll, "


class FindResult(Struct, frozen=True, kw_only=True):
    """A section that was found."""

    group: str
    """The heading: how it was found, and the number of results or their order, after “ · ”."""
    section_id: str
    words: tuple[str, ...]
    """Words to highlight in the section."""
    excerpt: str = ""
    """The text around the match, or the best sentence, not sanitised. Empty if the title was found."""


class FindResults(Struct, frozen=True, kw_only=True):
    """What a search has found so far."""

    query: str = ""
    library: Library
    """The library that was searched."""
    results: tuple[FindResult, ...] = ()
    matches: tuple[Span, ...] = ()
    """The matches of the phrase, in reading order."""
    first_matches: Mapping[str, int] = {}
    """Index of the first match in each section that has any."""
    is_complete: bool = True

    @property
    def phrase(self) -> str:
        """The query, without quotation marks around it."""
        quoted = _QUOTED.fullmatch(self.query)
        return " ".join((quoted[1] if quoted else self.query).split())

    def with_matches(self, matches: tuple[Span, ...]) -> "FindResults":
        """Return the results with the matches of the phrase in the library."""
        first_matches: dict[str, int] = {}
        for index, match in enumerate(matches):
            if (section_id := self.library.find_node_at(match.doc, match.start)) is not None:
                first_matches.setdefault(section_id, index)
        return replace(self, matches=matches, first_matches=first_matches)

    def locate(self, result: FindResult) -> tuple[int | None, Span | None]:
        """Return the index of the first match in a section, or else the place of its best sentence."""
        index = self.first_matches.get(result.section_id)
        span = self.library.node(result.section_id).own_span
        found = find_in_span(result.excerpt, self.library, span) if index is None else None
        return index, found.span if found else None


class MatchCursor:
    """The results of the last search, and the match or result that was opened last."""

    def __init__(self, found: FindResults) -> None:
        self.found = found
        self._match_index: int | None = None
        self._opened: FindResult | None = None

    def open(self, reader: DocumentReader, result: FindResult) -> None:
        """Open a result, with its words highlighted."""
        self._opened = result
        self._match_index, sentence = self.found.locate(result)
        reader.open(result.section_id, highlight=sentence)
        _highlight(reader, self.found, result.words, self._match_index)

    def step(self, reader: DocumentReader, direction: int) -> bool:
        """Open the next (1) or previous (-1) match, and wrap around. Return whether there is more than one.

        If the text has no match, open the next or previous result instead.
        """
        outside = -1 if direction > 0 else 0  # a step from there leads to the first or the last one
        if matches := self.found.matches:
            start = outside if self._match_index is None else self._match_index
            self._match_index = (start + direction) % len(matches)
            reader.show_match(matches[self._match_index])
            _highlight(reader, self.found, (self.found.phrase,), self._match_index)
            return len(matches) > 1
        results = self.found.results
        if results:
            start = results.index(self._opened) if self._opened in results else outside
            self.open(reader, results[(start + direction) % len(results)])
        return len(results) > 1


def _highlight(reader: Reader, found: FindResults, words: tuple[str, ...], index: int | None) -> None:
    """Highlight words, and scroll to the match with this index, if any."""
    offset = None if index is None else found.matches[index].start
    number = "" if index is None else f" {index + 1:,}/{len(found.matches):,}"
    reader.highlight_words(words, offset, f"“{' '.join(words)}”{number}")


class FindDialog(ListDialog[FindResult, FindResult | None]):
    """Searches while the person types. The result is the section to read, or None if they leave."""

    NO_MATCH = ""

    def __init__(self, agent: Agent, query: str) -> None:
        """Search the document of `agent`, first for the last `query`."""
        self._agent = agent
        self.found = FindResults(library=agent.conversation.state.library)
        self._reader = Reader()
        self._reader.can_focus = False
        placeholder = "Find a title, words or a question"
        foot = make_foot("enter to read", "esc to close", between=_MOVES)
        super().__init__("", foot, placeholder=placeholder, typed=query, preview=self._reader)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-middle"), (100, "-wide")]
        self._titles: TitleList | None = None
        self._awaited: str | None = None
        """Text for which enter was pressed before it had a result. Its first result is opened at once."""
        self._searching: asyncio.Future[tuple[Hit, ...]] | None = None
        """The last call of the configured search."""

    @on(events.Mount)
    def _begin(self) -> None:
        """Search again for the last query, and select it, so that typing replaces it."""
        self.field.action_select_all()
        self.filter()

    @override
    def filter(self) -> None:
        if self._awaited != self.typed:
            self._awaited = None
        self._find(self.typed)

    @work(group="finding", exclusive=True, exit_on_error=False)
    async def _find(self, query: str) -> None:
        """List the titles that match, then add texts that match, then the hits of the configured search."""
        if query:
            self.show_message(_SEARCHING)
        library = await self._agent.conversation.load_all()
        if self._titles is None or library is not self._titles.library:
            self._titles = TitleList(library)
        found = FindResults(query=query, library=library, is_complete=False)
        title_ids, count = self._titles.find(found.phrase, _TITLES_MAX)
        words = tuple(found.phrase.split())
        titles = [FindResult(group=f"Titles · {count:,}", section_id=id_, words=words) for id_ in title_ids]
        found = replace(found, results=tuple(titles))
        if titles:
            self._show_found(found)
        matches = await find_phrase(library, found.phrase)
        found = found.with_matches(matches)
        results = [*titles, *_list_texts(found)]
        if query:
            self._show_found(replace(found, results=tuple(results)))
            await asyncio.sleep(_PAUSE_SECONDS)
            terms = extract_query_terms(query)
            matched = [word for word in re.findall(r"\w+", query) if normalise_term(word) in terms]
            words = tuple(dict.fromkeys(matched))
            results += [
                FindResult(group=RELATED_HEADING, section_id=hit.section_id, words=words, excerpt=hit.snippet)
                for hit in await self._search(query)
                if hit.section_id not in found.first_matches
            ]
        self._show_found(replace(found, results=tuple(results), is_complete=True))

    async def _search(self, query: str) -> tuple[Hit, ...]:
        """Search once the search for an earlier query has ended, because two at once would be slower.

        If `_find` cancels this for a newer query, a search that runs already continues in its thread. So only
        the newest query waits for it.
        """
        if self._searching is not None:
            await asyncio.wait((self._searching,))
        self._searching = asyncio.ensure_future(self._agent.search.find(query, _HITS_MAX))
        # asyncio would log the error of a search whose caller was cancelled, unless it is read here
        self._searching.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait((self._searching,))  # does not cancel the search if this is cancelled
        return self._searching.result()

    def _show_found(self, found: FindResults) -> None:
        is_new = found.query != self.found.query
        self.found = found
        if is_new:
            self.show_from_top()
        else:
            self.show()
        self._reader.set_class(not found.results, "-empty")
        message = "" if found.is_complete else _SEARCHING
        is_absent = all(result.group == RELATED_HEADING for result in found.results)
        if found.is_complete and found.query and is_absent:
            statement = "No exact match" if found.results else "No match"
            message = format_absence(measure_coverage(found.library), statement)
        self.show_message(message)
        is_awaited = self._awaited == found.query == self.typed
        if is_awaited and (found.is_complete or found.results):
            self.action_choose()

    @override
    def list_rows(self, typed: str) -> Iterator[Row[FindResult]]:
        for result in self.found.results:
            name, dot, facts = result.group.partition(" · ")
            heading = Content.assemble((name, "bold $primary"), (dot + facts, "$muted"))
            lines = [Content.styled(format_node_title(self.found.library.node(result.section_id)), "bold")]
            if result.excerpt:
                excerpt = "\n".join(map(strip_anchor, result.excerpt.splitlines()))
                lines.append(Content(f"  {sanitise_line(_MARKUP.sub(' ', excerpt))}"))
            for number, line in enumerate(lines):
                for start, end in match_ranges(line.plain, result.words):
                    lines[number] = lines[number].stylize(_MATCH_STYLE, start, end)
            above = format_ancestors(self.found.library, result.section_id)
            lines[0] += Content.styled(f"  {above}", "$muted")
            cut = [line.truncate(self.list.line_width, ellipsis=True) for line in lines]
            yield Row(result, Content("\n").join(cut), heading)

    @override
    @work(group="preview", exclusive=True, exit_on_error=False)
    async def preview(self, item: FindResult) -> None:
        await asyncio.sleep(_REST_SECONDS)
        if (result := self.list.highlighted_item) is not None and self._reader.display:
            index, sentence = self.found.locate(result)
            self._reader.show_section(self.found.library, result.section_id, highlight=sentence)
            _highlight(self._reader, self.found, result.words, index)

    @override
    def action_choose(self) -> None:
        """Read the chosen section. If the typed text has no result yet, read the first one that comes."""
        if self.found.query != self.typed or not (self.found.is_complete or self.found.results):
            self._awaited = self.typed
        elif self.list.highlighted_item is not None:
            self.dismiss(self.list.highlighted_item)

    @override
    def action_page(self, pages: int) -> None:
        """Scroll the preview or, if there is no room for it, the list."""
        if self._reader.display:
            self._reader.action_page(pages)
        else:
            super().action_page(pages)


def _list_texts(found: FindResults) -> Iterator[FindResult]:
    """Yield the first sections that contain the phrase, each with the text around its first match."""
    library = found.library
    matches = found.matches
    count = format_count(len(matches), "match", "matches")
    group = f"Text · {'first ' if len(matches) == MATCHES_MAX else ''}{count}"
    for section_id, index in islice(found.first_matches.items(), _SECTIONS_MAX):
        span = library.node(section_id).own_span
        match = matches[index].start
        text = library.documents_by_key[span.doc].text
        before = text[max(span.start, text.rfind("\n", span.start, match) + 1) : match]
        if len(before) > _EXCERPT_BEFORE:
            before = "…" + before[-_EXCERPT_BEFORE:].partition(" ")[2]
        excerpt = before + text[match : min(span.end, match + _EXCERPT_AFTER)]
        yield FindResult(group=group, section_id=section_id, words=(found.phrase,), excerpt=excerpt)
