"""`FindDialog`: finds sections by title, text and meaning while a person types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual import events, on, work
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static
from typing_extensions import override

from roamtui.quotes.cited_passage import locate_in_span
from roamtui.tui.finder import Finder, FindResult, FindResults, ResultGroup
from roamtui.tui.messages import SearchKind
from roamtui.tui.reader.reader import Reader
from roamtui.tui.screens.lists import ListDialog, Row
from roamtui.tui.text_search import match_ranges

_REST_SECONDS = 0.05
"""The preview shows a result once the cursor has rested on it for this long."""
_AFTER_MATCH_WIDTH = 12
"""In cells. An excerpt is cut at its start if less than this would be shown after its first match."""
_MATCH_STYLE = "bold underline $secondary"
_FOOT = "enter to read, ↑ ↓ to choose, pgup pgdn to scroll the preview, esc to close"
GroupedResult = tuple[ResultGroup, FindResult]


class FindDialog(ListDialog[GroupedResult, GroupedResult | None]):
    """Searches while the person types. The result is the section to read, or None if they leave."""

    def __init__(self, finder: Finder, results: FindResults) -> None:
        """Search with `finder`. Until the person types, show `results`."""
        self._finder = finder
        self.results = results
        """What the search has found so far."""
        self._reader = Reader(is_excerpt=True)
        self._reader.can_focus = False
        foot = Static(Content(_FOOT), classes="foot")
        placeholder = "Find a title, words or a question"
        super().__init__("", foot, placeholder=placeholder, typed=results.query, preview=self._reader)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-middle"), (100, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (22, "-tall")]
        self._reads_first_result = False
        self._has_moved = False
        """Whether the person chose a result of the typed text."""
        self._timer: Timer | None = None

    @on(events.Mount)
    def _begin(self) -> None:
        """Select the query of the last search, so that typing replaces it."""
        self.field.action_select_all()
        if not self.results.is_complete:
            self._find(self.results.query)

    @override
    def filter(self) -> None:
        self._has_moved = False
        if self.typed != self.results.query.strip() or not self.results.is_complete:
            self._find(self.field.value)

    @work(group="finding", exclusive=True, exit_on_error=False)
    async def _find(self, query: str) -> None:
        shown = self.results.groups
        async for results in self._finder.find(query):
            self.results = results
            if results.groups != shown or not shown:
                shown = results.groups
                (self.show if self._has_moved else self.show_from_top)()
            self.show_message("" if results.is_complete else "Searching…")
            if self._reads_first_result and self._is_up_to_date:
                self.action_choose()

    @property
    def _is_up_to_date(self) -> bool:
        """Whether the results belong to the text in the field."""
        is_same_query = self.results.query.strip() == self.typed
        return is_same_query and (self.results.is_complete or bool(self.results.groups))

    @override
    def show(self) -> None:
        super().show()
        self._debounce_preview()

    @override
    def get_key(self, item: GroupedResult) -> object:
        return item[0].kind, item[1].section_id

    @override
    def list_rows(self, typed: str) -> Iterator[Row[GroupedResult]]:
        for group in self.results.groups:
            heading = Content.assemble((group.kind.value, "bold $primary"), (f" · {group.summary}", "$muted"))
            for section in group.sections:
                yield Row((group, section), self._draw(group, section), heading)

    def _draw(self, group: ResultGroup, result: FindResult) -> Content:
        width = self.list.line_width
        title = Content.styled(result.title, "bold")
        head = Content.assemble(
            _highlight(title, match_ranges(result.title, group.words)),
            (f"  {result.breadcrumb}" if result.breadcrumb else "", "$muted"),
        ).truncate(width, ellipsis=True)
        if not result.excerpt or group.kind is SearchKind.TITLES:
            return head
        ranges = match_ranges(result.excerpt, group.words)
        excerpt = _highlight(Content(result.excerpt), ranges)
        if ranges and Content(result.excerpt[: ranges[0][1]]).cell_length > width - _AFTER_MATCH_WIDTH:
            start = result.excerpt.rfind(" ", 0, max(0, ranges[0][0] - width // 3)) + 1
            excerpt = Content("…") + excerpt[start:]
        return Content("\n").join([head, Content("  ") + excerpt.truncate(width - 2, ellipsis=True)])

    @override
    def preview(self, item: GroupedResult) -> None:
        self._debounce_preview()

    def _debounce_preview(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST_SECONDS, self._show_preview)

    def _show_preview(self) -> None:
        library = self.results.library
        self._reader.set_class(self.chosen is None, "-empty")
        if self.chosen is not None and library is not None and self._reader.display:
            group, result = self.chosen
            quote = locate_in_span(result.sentence, library, library.own_span(result.section_id))
            self._reader.show_section(library, result.section_id, highlight=(quote,) if quote else ())
            self._reader.highlight_words(group.words, result.match_offset)

    @override
    def choose(self, item: GroupedResult) -> None:
        self.dismiss(item)

    @override
    def action_choose(self) -> None:
        """Read the chosen section. If there are no results for the typed text yet, read the first one that comes."""
        if self._is_up_to_date:
            super().action_choose()
        else:
            self._reads_first_result = True

    @override
    def action_move(self, lines: int) -> None:
        self._has_moved = True
        super().action_move(lines)

    @override
    def action_page(self, pages: int) -> None:
        self._reader.action_page(pages)


def _highlight(content: Content, ranges: Sequence[tuple[int, int]]) -> Content:
    for start, end in ranges:
        content = content.stylize(_MATCH_STYLE, start, end)
    return content
