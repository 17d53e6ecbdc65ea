"""`FindDialog`: finds sections by title, text and search while a person types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from textual import events, on, work
from textual.content import Content
from textual.timer import Timer
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.quotes.recheck import find_in_span
from roamtui.tui.labels import format_ancestors, format_node
from roamtui.tui.reader.document_reader import DocumentReader
from roamtui.tui.reader.reader import Reader
from roamtui.tui.screens.dialogs import make_foot
from roamtui.tui.screens.finder import FindResult, FindResults, find, find_text, match_ranges
from roamtui.tui.screens.lists import ListDialog, Row

_REST_SECONDS = 0.05
"""The preview shows a result once the cursor has rested on it for this long."""
_MATCH_STYLE = "bold underline $secondary"
_FOOT = "enter to read, ↑ ↓ to choose, pgup pgdn to scroll the preview, esc to close"


class FindDialog(ListDialog[FindResult, FindResult | None]):
    """Searches while the person types. The result is the section to read, or None if they leave."""

    def __init__(self, agent: Agent, query: str) -> None:
        """Search the document of `agent`, first for the last `query`."""
        self._agent = agent
        self.found = FindResults()
        """What the search has found so far."""
        self._reader = Reader()
        self._reader.can_focus = False
        placeholder = "Find a title, words or a question"
        super().__init__("", make_foot(_FOOT), placeholder=placeholder, typed=query, preview=self._reader)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-middle"), (100, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (22, "-tall")]
        self._match_index: int | None = None
        """The match that was opened last, after the dialog is closed."""
        self._reads_first_result = False
        self._timer: Timer | None = None

    @on(events.Mount)
    def _begin(self) -> None:
        """Select the query of the last search, so that typing replaces it."""
        self.field.action_select_all()
        self._find(self.field.value)

    @override
    def filter(self) -> None:
        if self.typed != self.found.query.strip():
            self._find(self.field.value)

    @work(group="finding", exclusive=True, exit_on_error=False)
    async def _find(self, query: str) -> None:
        async for found in find(self._agent, query):
            is_new, self.found = found.query != self.found.query, found
            (self.show_from_top if is_new else self.show)()
            self.show_message("" if found.is_complete else "Searching…")
            if self._reads_first_result and self._is_up_to_date:
                self.action_choose()

    @property
    def _is_up_to_date(self) -> bool:
        """Whether the results belong to the text in the field."""
        return self.found.query.strip() == self.typed and (self.found.is_complete or bool(self.found.results))

    @override
    def show(self) -> None:
        super().show()
        self._debounce_preview()

    @override
    def get_key(self, item: FindResult) -> object:
        return item.group, item.section_id

    @override
    def list_rows(self, typed: str) -> Iterator[Row[FindResult]]:
        library = self.found.library
        for result in self.found.results:
            assert library is not None
            name, dot, facts = result.group.partition(" · ")
            heading = Content.assemble((name, "bold $primary"), (dot + facts, "$muted"))
            yield Row(result, self._draw(result, library), heading)

    def _draw(self, result: FindResult, library: Library) -> Content:
        width, path = self.list.line_width, format_ancestors(library, result.section_id)
        title = _highlight(Content.styled(format_node(library, result.section_id), "bold"), result.words)
        head = Content.assemble(title, (f"  {path}", "$muted")).truncate(width, ellipsis=True)
        if not result.excerpt:
            return head
        excerpt = _highlight(Content(result.excerpt), result.words)
        return Content("\n").join([head, Content("  ") + excerpt.truncate(width - 2, ellipsis=True)])

    @override
    def preview(self, item: FindResult) -> None:
        self._debounce_preview()

    def _debounce_preview(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST_SECONDS, self._show_preview)

    def _show_preview(self) -> None:
        library, result = self.found.library, self.chosen
        self._reader.set_class(result is None, "-empty")
        if result is not None and library is not None and self._reader.display:
            self._reader.show_section(library, result.section_id, highlight=_locate_sentence(result, library))
            match = None if result.match is None else self.found.matches[result.match].start
            self._reader.highlight_words(result.words, match)

    def open_in(self, reader: DocumentReader, result: FindResult) -> None:
        """Open a result, with its words highlighted."""
        self._match_index = result.match
        reader.open(result.section_id, highlight=_locate_sentence(result, reader.state.library))
        self._highlight_match(reader, result.words)

    async def open_match(self, reader: DocumentReader, direction: int) -> bool:
        """Open the next (1) or previous (-1) match, wrapping around. Return whether there is one."""
        library, query = await self._agent.conversation.load_all(), self.found.query
        if self.found.library is not library:
            self.found = replace(self.found, library=library, matches=await find_text(library, query))
        if matches := self.found.matches:
            start = min(0, -direction) if self._match_index is None else self._match_index
            self._match_index = (start + direction) % len(matches)
            reader.show_match(matches[self._match_index])
            self._highlight_match(reader, (" ".join(query.split()),))
        return bool(matches)

    def _highlight_match(self, reader: DocumentReader, words: tuple[str, ...]) -> None:
        matches, index = self.found.matches, self._match_index
        offset = None if index is None else matches[index].start
        number = "" if index is None else f" {index + 1:,}/{len(matches):,}"
        reader.highlight_words(words, offset, f"“{' '.join(words)}”{number}")

    @override
    def choose(self, item: FindResult) -> None:
        self.dismiss(item)

    @override
    def action_choose(self) -> None:
        """Read the chosen section. If there are no results for the typed text yet, read the first one that comes."""
        if self._is_up_to_date:
            super().action_choose()
        else:
            self._reads_first_result = True

    @override
    def action_page(self, pages: int) -> None:
        self._reader.action_page(pages)


def _locate_sentence(result: FindResult, library: Library) -> tuple[Span, ...]:
    quote = find_in_span(result.sentence, library, library.node(result.section_id).own_span)
    return (quote,) if quote else ()


def _highlight(content: Content, words: Sequence[str]) -> Content:
    for start, end in match_ranges(content.plain, words):
        content = content.stylize(_MATCH_STYLE, start, end)
    return content
