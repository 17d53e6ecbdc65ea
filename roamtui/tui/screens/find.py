"""`FindDialog`: finds sections by title, text and meaning while a person types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.quotes.cited_passage import locate_in_span
from roamtui.tui.controllers.find import FindController, GroupedResult
from roamtui.tui.finder import FindResult, FindResults, ResultGroup
from roamtui.tui.labels import format_error
from roamtui.tui.messages import SearchKind
from roamtui.tui.reader.reader import Reader
from roamtui.tui.screens.dialogs import Dialog, ItemList
from roamtui.tui.text_search import match_ranges

_REST_SECONDS = 0.05
"""The preview shows a result once the cursor has rested on it for this long."""
_AFTER_MATCH_WIDTH = 12
"""In cells. An excerpt is cut at its start if less than this would be shown after its first match."""
_MATCH_STYLE = "bold underline $secondary"
_FOOT = "enter to read, ↑ ↓ to choose, pgup pgdn to scroll the preview, esc to close"


class FindDialog(Dialog[GroupedResult | None]):
    """Searches while the person types. The result is the section to read, or None if they leave."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Next"),
        Binding("up", "move(-1)", "Previous"),
        Binding("pagedown", "page(1)", "Scroll the preview down"),
        Binding("pageup", "page(-1)", "Scroll the preview up"),
    ]

    def __init__(self, controller: FindController) -> None:
        """Show the results of the last search."""
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-middle"), (100, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (22, "-tall")]
        self._controller = controller
        self._reads_first_result = False
        self._has_moved = False
        """Whether the person chose a result of the typed text."""
        self._field = Input(
            controller.results.query, placeholder="Find a title, words or a question", select_on_focus=False
        )
        self._list = ItemList[GroupedResult]()
        self._list.can_focus = False  # a click must not take the focus: typing searches
        self._preview = Reader(is_excerpt=True)
        self._preview.can_focus = False
        self._timer: Timer | None = None

    @property
    def results(self) -> FindResults:
        """The results of the search."""
        return self._controller.results

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._field
            yield Static(" ", id="find-status")
            with Container(id="find-body"):
                yield self._list
                yield self._preview
            yield Static(Content(_FOOT), classes="foot")

    def on_mount(self) -> None:
        """Show the results of the last search. Its query is selected, so that typing replaces it."""
        self._field.action_select_all()
        self._show()
        if not self.results.is_complete:
            self._find(self.results.query)

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        self._has_moved = False
        if event.value.strip() != self.results.query.strip() or not self.results.is_complete:
            self._find(event.value)

    @work(group="finding", exclusive=True, exit_on_error=False)
    async def _find(self, query: str) -> None:
        async for _ in self._controller.find(query):
            self._show()
            if self._reads_first_result and self._is_up_to_date:
                self.action_read()

    @property
    def _is_up_to_date(self) -> bool:
        """Whether the results belong to the text in the field."""
        is_same_query = self.results.query.strip() == self._field.value.strip()
        return is_same_query and (self.results.is_complete or bool(self.results.groups))

    def _show(self) -> None:
        """List the results. If the person has moved to one of them, it stays chosen."""
        chosen = self._list.chosen
        lines: list[tuple[GroupedResult | None, Content]] = []
        for group in self.results.groups:
            heading = Content.assemble((group.kind.value, "bold $primary"), (f" · {group.summary}", "$muted"))
            lines.append((None, heading))
            lines += [((group, section), self._draw(group, section)) for section in group.sections]
        items = [item for item, _ in lines]
        if items != self._list.items or not items:
            indexes = [index for index, item in enumerate(items) if item is not None]
            same = [index for index in indexes if self._has_moved and _get_key(items[index]) == _get_key(chosen)]
            self._list.set_items(lines, next(iter((*same, *indexes)), None))
            self._debounce_preview()
        self._show_status()

    def _show_status(self, problem: str = "") -> None:
        status = problem or ("" if self.results.is_complete else "Searching…")
        if not status and self.results.query.strip() and not self._list.items:
            status = "No results"
        self.query_one("#find-status", Static).update(Content.styled(status or " ", "$muted"), layout=False)

    def _draw(self, group: ResultGroup, result: FindResult) -> Content:
        width = self._list.line_width
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

    @on(OptionList.OptionHighlighted)
    def _debounce_preview(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST_SECONDS, self._show_preview)

    def _show_preview(self) -> None:
        selected, library = self._list.chosen, self.results.library
        self._preview.set_class(selected is None, "-empty")
        if selected is not None and library is not None and self._preview.display:
            group, result = selected
            quote = locate_in_span(result.sentence, library, library.own_span(result.section_id))
            self._preview.show_section(library, result.section_id, highlight=(quote,) if quote else ())
            self._preview.highlight_words(group.words, result.match_offset)

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._show_status(format_error(event.worker.error))

    @on(events.Resize)
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        for index, item in enumerate(self._list.items):
            if item is not None:
                self._list.update_item(index, self._draw(*item))

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def action_read(self) -> None:
        """Read the chosen section. If there are no results for the typed text yet, read the first one that comes."""
        selected = self._list.chosen
        if not self._is_up_to_date:
            self._reads_first_result = True
        elif selected is not None:
            self.dismiss(selected)

    def action_move(self, direction: int) -> None:
        """Choose the next (1) or previous (-1) result."""
        self._has_moved = True
        (self._list.action_cursor_down if direction > 0 else self._list.action_cursor_up)()

    def action_page(self, pages: int) -> None:
        self._preview.action_page(pages)


def _highlight(content: Content, ranges: Sequence[tuple[int, int]]) -> Content:
    for start, end in ranges:
        content = content.stylize(_MATCH_STYLE, start, end)
    return content


def _get_key(chosen: GroupedResult | None) -> tuple[SearchKind, str] | None:
    return None if chosen is None else (chosen[0].kind, chosen[1].section_id)
