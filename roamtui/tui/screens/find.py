"""`FindDialog`: finds sections by title, text and search while a person types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from textual import events, on, work
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.quotes.recheck import find_in_span
from roamtui.tui.finder import FindResult, FindResults, ResultKind, find, find_text, match_ranges
from roamtui.tui.reader.document_reader import DocumentReader
from roamtui.tui.reader.reader import Reader
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
        foot = Static(Content(_FOOT), classes="foot")
        placeholder = "Find a title, words or a question"
        super().__init__("", foot, placeholder=placeholder, typed=query, preview=self._reader)
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
        return item.kind, item.section_id

    @override
    def list_rows(self, typed: str) -> Iterator[Row[FindResult]]:
        for result in self.found.results:
            heading = Content.assemble((result.kind.value, "bold $primary"), (f" · {result.summary}", "$muted"))
            yield Row(result, self._draw(result), heading)

    def _draw(self, result: FindResult) -> Content:
        width = self.list.line_width
        head = Content.assemble(
            _highlight(Content.styled(result.title, "bold"), match_ranges(result.title, result.words)),
            (f"  {result.breadcrumb}" if result.breadcrumb else "", "$muted"),
        ).truncate(width, ellipsis=True)
        if not result.excerpt or result.kind is ResultKind.TITLES:
            return head
        excerpt = _highlight(Content(result.excerpt), match_ranges(result.excerpt, result.words))
        return Content("\n").join([head, Content("  ") + excerpt.truncate(width - 2, ellipsis=True)])

    @override
    def preview(self, item: FindResult) -> None:
        self._debounce_preview()

    def _debounce_preview(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST_SECONDS, self._show_preview)

    def _show_preview(self) -> None:
        library, result = self.found.matches.library, self.chosen
        self._reader.set_class(result is None, "-empty")
        if result is not None and library is not None and self._reader.display:
            highlight = self._locate_sentence(result, library)
            self._reader.show_section(library, result.section_id, highlight=highlight)
            match = None if result.match is None else self.found.matches.positions[result.match].offset
            self._reader.highlight_words(result.words, match)

    @staticmethod
    def _locate_sentence(result: FindResult, library: Library) -> tuple[Span, ...]:
        quote = find_in_span(result.sentence, library, library.own_span(result.section_id))
        return (quote,) if quote else ()

    def open_in(self, reader: DocumentReader, result: FindResult) -> None:
        """Open a result, with its words highlighted."""
        self._match_index = result.match
        reader.open(result.section_id, highlight=self._locate_sentence(result, reader.state.library))
        self._highlight_match(reader, result.words)

    async def open_match(self, reader: DocumentReader, direction: int) -> bool:
        """Open the next (1) or previous (-1) match, wrapping around. Return whether there is one."""
        library, matches = await self._agent.load_library(), self.found.matches
        if matches.library is not library:
            matches = await find_text(library, matches.phrase)
            self.found = replace(self.found, matches=matches)
        if matches.positions:
            start = min(0, -direction) if self._match_index is None else self._match_index
            self._match_index = (start + direction) % len(matches.positions)
            reader.show_match(matches.positions[self._match_index])
            self._highlight_match(reader, (matches.phrase,))
        return bool(matches.positions)

    def _highlight_match(self, reader: DocumentReader, words: tuple[str, ...]) -> None:
        matches, index = self.found.matches, self._match_index
        offset = None if index is None else matches.positions[index].offset
        label = f"“{' '.join(words)}”" if index is None else matches.format_number(index)
        reader.highlight_words(words, offset, label)

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


def _highlight(content: Content, ranges: Sequence[tuple[int, int]]) -> Content:
    for start, end in ranges:
        content = content.stylize(_MATCH_STYLE, start, end)
    return content
