"""`TableScreen`: shows a table as a grid, and fills it."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.coordinate import Coordinate
from textual.screen import Screen
from textual.widgets import DataTable, Static
from textual.widgets.data_table import CellDoesNotExist
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.messages import OFFLINE
from roamtui.errors import UsageError
from roamtui.export.table import TABLE_RENDERERS
from roamtui.outline.labels import PATH_STEP
from roamtui.quotes.wording import describe_nearest
from roamtui.sanitiser import sanitise_line
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column, parse_column
from roamtui.table.runner import TableRun, fill_table, format_estimate, format_progress, recheck_cells
from roamtui.table.store import ResultRow, ResultTable, add_column, delete_column
from roamtui.text import format_count, shorten
from roamtui.tui.actions import Keymap, Scope, make_bindings, make_refusals
from roamtui.tui.chat.content_view import draw_nearest, draw_parts
from roamtui.tui.clipboard import copy_or_stop
from roamtui.tui.context import TableSession
from roamtui.tui.messages import DocumentRequested, NoticeRaised, SectionTarget
from roamtui.tui.screen_words import adapt_flags, format_error
from roamtui.tui.screens.dialogs import ConfirmDialog, ExportDialog, PromptDialog, make_foot, make_key_hints

_TYPES = "a type may follow: [yes/no], [number], [date], [red | green] · "
_TITLE_SHARE = 0.3
"""Maximum share of the grid's width for the titles of the rows."""
_COLUMN_WIDTH_MIN = 18
"""Minimum width of a column in cells. If the columns do not fit, the grid scrolls sideways."""
_PADDING = 2
"""Empty cells around the words of a column, on both sides together."""
_MODEL_PLACE = " in the document, then open the table again"
"""Follows the key that chooses a model: where the key works, and how the table gets the model."""


class TableGrid(DataTable[Text], inherit_bindings=False):
    """Shows a table: a row for each document, a column for each question. Titles do not scroll sideways."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"table-grid--{state.value}" for state in CellState}

    def __init__(self, table: ResultTable) -> None:
        super().__init__(fixed_columns=1, cursor_background_priority="css")
        self.table = table
        self._look: object = None

    @property
    def current_row(self) -> ResultRow | None:
        """The row under the cursor, or None in an empty table."""
        rows = self.table.rows
        return rows[self.cursor_row] if self.cursor_row < len(rows) else None

    @property
    def current_column(self) -> Column | None:
        """The column under the cursor, or None if there are no questions yet."""
        columns = self.table.columns
        return columns[self.cursor_column - 1] if 0 < self.cursor_column <= len(columns) else None

    @property
    def current_cell(self) -> Cell | None:
        """The cell under the cursor, or None if it has no answer yet."""
        row = self.current_row
        column = self.current_column
        return self.table.get_cell(row, column) if row and column else None

    def show(self) -> None:
        """Draw the table again. The cursor stays where it is, or at the edge."""
        rows = self.table.rows
        columns = self.table.columns
        place = self.cursor_coordinate
        width = self.scrollable_content_region.width
        self._look = self._get_look()
        longest = max((cell_len(row.title) + _PADDING for row in rows), default=0)
        titles = min(longest, int(width * _TITLE_SHARE))
        column_width = max(_COLUMN_WIDTH_MIN, (width - titles) // max(1, len(columns)))
        self.clear(columns=True)
        self.add_column("", width=max(1, titles - _PADDING))
        for column in columns:
            self.add_column(_make_line(column.title), width=column_width - _PADDING, key=column.key)
        for row in rows:
            cells = map(self.draw_cell, self.table.list_cells(row))
            self.add_row(_make_line(row.title, Style(bold=True)), *cells, key=row.source)
        self.move_cursor(row=place.row, column=place.column)

    @override
    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        row, column = super().validate_cursor_coordinate(value)
        return Coordinate(row, column or min(1, len(self.table.columns)))

    def draw_cell(self, cell: Cell | None) -> Text:
        """Draw the words of a cell."""
        if cell is None:
            return Text()
        ink = self._get_ink(cell.state)
        words = f"text changed: {cell.value}" if cell.is_changed else cell.text
        return _make_line(words, Style() if cell.value else ink, lead=Text(f"{cell.sign} ", ink))

    def _get_ink(self, state: CellState) -> Style:
        return Style(color=self.get_component_rich_style(f"table-grid--{state.value}").color)

    def _get_look(self) -> tuple[int, list[Style]]:
        return self.scrollable_content_region.width, [*map(self._get_ink, CellState)]

    def on_resize(self) -> None:
        """Draw the table again if its width or colours have changed. Drawing a large one takes seconds."""
        if self._look != self._get_look():
            self.show()

    @override
    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.call_after_refresh(self.on_resize)


class TableScreen(Screen[None]):
    """Shows a table, asks the missing questions, and opens the document or conversation of a cell."""

    AUTO_FOCUS = "TableGrid"
    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.TABLE, Scope.MOVE, Scope.GLOBAL, works_in=(Scope.TABLE,)),
        *make_refusals(Scope.TABLE),
        Binding("escape", "leave", "Close"),
    ]

    def __init__(self, session: TableSession, keys: Keymap) -> None:
        super().__init__()
        self.table = session.table
        self.plan = session.plan
        self._notices = session.notices
        self._keys = keys
        self._head = Static(classes="head")
        self._grid = TableGrid(session.table)
        self._detail_view = Static(classes="cell")
        self._message = Static(classes="message")
        self._typed = ""
        """A question that is typed but not asked yet."""
        self._run: TableRun | None = None
        self._filling = asyncio.Lock()
        """Held by the run that fills the table."""
        self._shown = asyncio.Event()
        """Set while the person sees the table, and no dialog or other screen above it."""

    @override
    def compose(self) -> ComposeResult:
        yield from (self._head, self._grid, self._detail_view, self._message)
        yield make_key_hints(self._keys, Scope.TABLE)

    def on_mount(self) -> None:
        """Ask for the first question of a table that has none."""
        self._show_head()
        self._show_message("")
        self._receive_notices()
        self._recheck()
        if not self.table.columns:
            self.action_add_column()

    def renew(self, session: TableSession) -> None:
        """Take over the session's plan and, unless a run is filling the present table, its table."""
        self.plan = session.plan
        self._notices = session.notices
        self._receive_notices()
        if not self._filling.locked():
            self.table = session.table
            self._run = None  # it counted the cells of the table before
            self._grid.table = session.table
            self._grid.show()
            self._recheck()

    @work(group="checking", exclusive=True, exit_on_error=False)
    async def _recheck(self) -> None:
        async for cell in recheck_cells(self.table, self.plan):
            self._redraw(cell)

    def _redraw(self, cell: Cell) -> None:
        with suppress(CellDoesNotExist):  # its column may be deleted meanwhile
            self._grid.update_cell(cell.row, cell.column, self._grid.draw_cell(cell))
        if self._grid.current_cell is cell:
            self._show_details()

    @on(events.ScreenSuspend)
    @on(events.ScreenResume)
    def _follow_screen(self, event: events.Event) -> None:
        if isinstance(event, events.ScreenResume):
            self._shown.set()
        else:
            self._shown.clear()
        self._show_head()

    def _show_head(self) -> None:
        rows = format_count(len(self.table.rows), "row")
        questions = format_count(len(self.table.columns), "question")
        run_key = self._keys.first_keys["table.run"]
        parts = [rows, questions, f"{run_key} asks {self.plan.model.name}"]
        if self._run is not None:
            is_asking = self._filling.locked() and self._run.is_approved
            parts.append(("asking: " if is_asking else "") + format_progress(self._run))
        facts = " · ".join(map(sanitise_line, parts))
        self._head.update(Content.assemble(("Table", "bold $primary"), (f" · {facts}", "$muted")))

    @on(DataTable.CellHighlighted)
    def _show_details(self) -> None:
        """Show the question, the value, its quote and its place below the grid."""
        column = self._grid.current_column
        cell = self._grid.current_cell
        view = self._detail_view
        width, height = view.content_size
        if column is None:
            add_key = self._keys.first_keys["table.add_column"]
            view.update(Content(f"Press {add_key} to ask a question about each row."), layout=False)
            return
        lines = [Content.styled(shorten(sanitise_line(column.question), width), "bold")]
        if cell is not None:
            best = cell.best_citation
            has_verdict = not cell.has_passages
            quote = best.quote if best is not None and has_verdict else None
            free = height - 2
            room = _count_characters(free // (2 if quote else 1), width)
            note = adapt_flags(cell.note, self._keys, _MODEL_PLACE)
            value = sanitise_line(cell.text) if cell.value else sanitise_line(note or cell.state.label)
            lines.append(Content(f"{cell.sign} {shorten(value, room)}"))
            room = _count_characters(free - len(lines[-1].wrap(max(1, width))), width)
            place, differences = ("", []) if best is None else describe_nearest(best)
            around = best.surroundings if best is not None and quote else None
            if place:
                nearest = draw_nearest(place, differences)
                nearest += " " + draw_parts(around.cut(room)) if around is not None else ""
                lines.append(nearest.truncate(room, ellipsis=True))
            elif around is not None:
                lines.append(draw_parts(around.cut(room)))
            elif quote:
                lines.append(Content.styled(f"“{shorten(sanitise_line(quote), room)}”", "italic"))
            notes = [cell.note] if cell.value and cell.note else []
            if best is not None:
                notes.append(PATH_STEP.join(filter(None, [*best.path, best.place])))
                notes += [best.label] if has_verdict else []
            if cell.is_changed and (cell.has_passages or self.plan.model.name != OFFLINE):
                notes.append(f"{self._keys.first_keys['table.run']} asks again")
            # the note may say the same as the quote's label
            line = " · ".join(dict.fromkeys(filter(None, notes)))
            lines.append(Content.styled(shorten(sanitise_line(line), width), "$muted"))
        view.update(Content("\n").join(lines), layout=False)

    def _receive_notices(self) -> None:
        self._notices.deliver_to(lambda words: self.post_message(NoticeRaised(words)))

    @on(NoticeRaised)
    def _show_notice(self, event: NoticeRaised) -> None:
        self._show_message(event.words)

    def _show_message(self, words: str | None) -> None:
        self._message.display = bool(words)
        self._message.update(Content(sanitise_line(words or "")))

    def action_move(self, rows: int) -> None:
        self._grid.move_cursor(row=self._grid.cursor_row + rows)

    def action_move_sideways(self, columns: int) -> None:
        self._grid.move_cursor(column=self._grid.cursor_column + columns)

    def action_first(self) -> None:
        self._grid.move_cursor(row=0)

    def action_last(self) -> None:
        self._grid.move_cursor(row=len(self.table.rows))

    def action_page(self, pages: int) -> None:
        height = max(1, self._grid.scrollable_content_region.height - 2)
        self._grid.move_cursor(row=self._grid.cursor_row + pages * height)

    @on(DataTable.CellSelected)
    def action_read(self) -> None:
        if (row := self._grid.current_row) is not None:
            cell = self._grid.current_cell
            best = cell.best_citation if cell is not None else None
            # without a quote, the start of the document: only from a place, esc leads back to the table
            place = SectionTarget(best.section_id, best) if best is not None else ""
            self.post_message(DocumentRequested(row.source, place=place))

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_add_column(self) -> None:
        heading = "Ask a question about each row"
        foot = make_foot("enter to ask", "esc to cancel", before=_TYPES)
        prompt = PromptDialog(
            heading, self._typed, foot=foot, check=self._check_question, on_typed=self._keep_typed
        )
        if typed := await self.app.push_screen_wait(prompt):
            column = self._parse_question(typed)
            add_column(self.table, column)
            self._keep_typed("")
            self._grid.show()
            self._grid.move_cursor(column=self._grid.get_column_index(column.key))
            self._fill(column)

    def _parse_question(self, typed: str) -> Column:
        """Make a column, without the key that asks for a question: it may be pressed in the field again."""
        key = self._keys.first_keys["table.add_column"]
        return parse_column(typed if key.isalnum() else typed.removeprefix(key))

    def _check_question(self, typed: str) -> str:
        try:
            self._parse_question(typed)
        except UsageError as error:
            return str(error)
        return ""

    def _keep_typed(self, typed: str) -> None:
        self._typed = typed

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_delete_column(self) -> None:
        if (column := self._grid.current_column) is None:
            return
        question = "Delete this column? Its answers return if you ask its question again."
        if await self.app.push_screen_wait(ConfirmDialog(question, column.question, yes="Delete")):
            await asyncio.to_thread(delete_column, self.table, column)
            self._run = None
            self._grid.show()
            self._show_head()
            self._show_details()

    def action_run(self) -> None:
        if self.table.columns:
            self._fill()

    @work(group="filling", exit_on_error=False)
    async def _fill(self, *columns: Column) -> None:
        """If the person agrees, ask the unanswered questions of some columns, or of all if none is given."""
        if self._filling.locked():
            if not columns:
                self._show_message("Questions are being asked already.")
                return
            self._show_message("This question is asked once the others are answered.")
        async with self._filling:
            self._run = None
            self._show_message("Starting the model…")
            run = await fill_table(self.table, self.plan, self._on_progress, self._confirm, columns or None)
        self._show_message(adapt_flags(" ".join(run.problems), self._keys, _MODEL_PLACE))
        if run.asked and not self.is_current:
            self.notify(f"Table: {format_progress(run)}", markup=False)

    async def _confirm(self, run: TableRun) -> bool:
        """Ask the person on this screen: elsewhere, the dialog would take the keys that they type."""
        await self.plan.model.check()
        if not self._shown.is_set():
            self.notify("The table is ready to ask. Go back to it to see what that costs.", markup=False)
        await self._shown.wait()
        question = f"Ask {sanitise_line(self.plan.model.name)}?"
        return await self.app.push_screen_wait(ConfirmDialog(question, format_estimate(run), yes="Ask"))

    def _on_progress(self, run: TableRun, cell: Cell | None) -> None:
        self._run = run
        if cell is None:
            self._show_message("")
        else:
            self._redraw(cell)
        self._show_head()

    def action_export(self) -> None:
        renderers = {suffix: partial(render, self.table) for suffix, render in TABLE_RENDERERS.items()}
        sources = (row.source for row in self.table.rows)
        dialog = ExportDialog("Export the table to", "table", renderers, sources)
        self.app.push_screen(dialog, self._show_message)

    def stop(self) -> bool:
        """Stop the questions that are being asked. Return whether there were any."""
        is_filling = self._filling.locked()
        if is_filling:
            self.workers.cancel_group(self, "filling")
            self._show_message("Stopped. The cells that are filled are kept.")
        return is_filling

    def action_copy_or_cancel(self) -> None:
        copy_or_stop(self, "", self.stop, self._keys)

    async def action_leave(self) -> None:
        await self.run_action("app.close_document")

    @on(Worker.StateChanged)
    def _on_worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._show_message(format_error(event.worker.error, self._keys))
        self._show_head()


def _count_characters(lines: int, width: int) -> int:
    """Return how many characters surely fit in some lines, although lines end between words."""
    return max(1, lines) * width * 9 // 10


def _make_line(words: str, style: Style | str = "", lead: Text | str = "") -> Text:
    """Return one line that is cut where its column ends. `lead` comes before its words."""
    return Text.assemble(lead, (sanitise_line(words), style), no_wrap=True, overflow="ellipsis", end="")
