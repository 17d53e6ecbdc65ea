"""`TableScreen`: a table as a grid that fills while it is shown."""

from __future__ import annotations

import asyncio
from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import DataTable, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.line_file import LOG_SUFFIX
from roamtui.document.counts import format_count
from roamtui.document.plain import sanitise_line, shorten
from roamtui.export.table import RENDERERS, format_progress
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import drop_repeated_columns, parse_question
from roamtui.table.runner import TablePlan, TableRun, fill_table
from roamtui.table.store import Table
from roamtui.tui.actions import SHARED_IDS, Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.labels import STEP, format_error
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import Dialog, ExportDialog, PromptDialog
from roamtui.tui.screens.table_grid import TableGrid
from roamtui.tui.status_line import ScreenKeyHints

_TYPES_FOOT = "a type may follow: [yes/no], [number], [date], [red | green] · enter to ask, esc to cancel"


class TableScreen(Dialog[None]):
    """Shows a table, asks the missing questions, and opens the document or conversation of a cell."""

    AUTO_FOCUS = "TableGrid"
    BINDINGS = make_bindings(Scope.TABLE, Scope.MOVE) + make_bindings(Scope.GLOBAL, only=SHARED_IDS)

    def __init__(self, table: Table, plan: TablePlan, keys: Keymap) -> None:
        """Show a table. `plan` is for filling its cells."""
        super().__init__()
        self._table = table
        self._plan = plan
        self._keys = keys
        self._head = Static(classes="head")
        self._grid = TableGrid(table)
        self._proof = Static(classes="proof")
        self._message = Static(classes="message")
        self._run: TableRun | None = None
        self._filling = asyncio.Lock()
        """Held by the run that fills the table."""

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield from (self._head, self._grid, self._proof, self._message)
            yield ScreenKeyHints(self._keys, Scope.TABLE)

    def on_mount(self) -> None:
        self._show_head()

    def _show_head(self) -> None:
        counts = [format_count(len(self._table.rows), "row"), format_count(len(self._table.columns), "question")]
        parts = [*counts, self._plan.model.name]
        if self._run is not None:
            parts.append(("asking: " if self._filling.locked() else "") + format_progress(self._run))
        title = Content.assemble(("Table", "bold $primary"), (f" · {' · '.join(map(sanitise_line, parts))}", "$muted"))
        self._head.update(title, layout=False)

    @on(DataTable.CellHighlighted)
    def _show_proof(self) -> None:
        """Show the question, the value, its quote and its place below the grid."""
        column, cell, view = self._grid.question, self._grid.cell, self._proof
        width, height = view.content_size
        if column is None:
            add_key = self._keys.format_first_key("table.add_column")
            view.update(Content(f"Press {add_key} to ask a question about each row."), layout=False)
            return
        lines = [Content.styled(shorten(sanitise_line(column.question), width), "bold")]
        if cell is not None:
            proof, has_verdict = cell.proof, cell.state is not CellState.PASSAGE
            quote = proof.quote if proof is not None and has_verdict else None
            room = max(1, (height - 2) // (2 if quote else 1)) * width * 9 // 10  # lines end between words
            value = sanitise_line(cell.value or cell.note or cell.state.label)
            lines.append(Content(f"{cell.state.sign} {shorten(value, room)}"))
            if quote:
                lines.append(Content.styled(f"“{shorten(sanitise_line(quote), room)}”", "italic"))
            ending = [cell.note] if cell.value and cell.note else []
            if proof is not None:
                ending += [STEP.join([*proof.path, proof.place]), *([proof.state.label] if has_verdict else [])]
            lines.append(Content.styled(shorten(sanitise_line(" · ".join(ending)), width), "$muted"))
        view.update(Content("\n").join(lines), layout=False)

    def _show_message(self, words: str | None) -> None:
        self._message.update(Content(sanitise_line(words or "")))

    def action_move(self, rows: int) -> None:
        self._grid.move_cursor(row=self._grid.cursor_row + rows)

    def action_move_sideways(self, columns: int) -> None:
        self._grid.move_cursor(column=self._grid.cursor_column + columns)

    def action_first(self) -> None:
        self._grid.move_cursor(row=0)

    def action_last(self) -> None:
        self._grid.move_cursor(row=len(self._table.rows))

    def action_page(self, pages: int) -> None:
        height = max(1, self._grid.scrollable_content_region.height - 2)
        self._grid.move_cursor(row=self._grid.cursor_row + pages * height)

    @on(DataTable.CellSelected)
    def action_read(self) -> None:
        self._request_cell(with_quote=True)

    def action_conversation(self) -> None:
        if self._grid.cell is not None and self._grid.cell.conversation:
            self._request_cell(with_quote=False)

    def _request_cell(self, *, with_quote: bool) -> None:
        row, cell = self._grid.document, self._grid.cell
        if row is None:
            return
        name = f"{cell.conversation}{LOG_SUFFIX}" if cell is not None and cell.conversation else None
        log = str(self._table.conversations / name) if name is not None else None
        proof = cell.proof if cell is not None and with_quote else None
        target = SectionTarget(proof.section_id, proof) if proof is not None else None
        self.post_message(DocumentRequested(row.source, log, target, is_cell=True))

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_add_column(self) -> None:
        prompt = PromptDialog("Ask a question about each row", "", foot=_TYPES_FOOT)
        if question := await self.app.push_screen_wait(prompt):
            self._table.columns = drop_repeated_columns((*self._table.columns, parse_question(question)))
            self._grid.show()
            self._grid.move_cursor(column=len(self._table.columns))
            self._fill()

    def action_run(self) -> None:
        if self._table.columns:
            self._fill()

    @work(group="filling", exclusive=True, exit_on_error=False)
    async def _fill(self) -> None:
        """Ask the questions without an answer, once the previous run has ended, which this one cancels."""
        self._show_message("")
        async with self._filling:
            run = await fill_table(self._table, self._plan, self._on_progress)
        if run.stop_reason:
            self._show_message(f"{run.total - run.done:,} cells were not asked. {run.stop_reason}")
        elif run.unread_note:
            self._show_message(run.unread_note)

    def _on_progress(self, run: TableRun, cell: Cell | None) -> None:
        self._run = run
        if cell is not None:
            self._grid.refresh_cell(cell)
            if self._grid.cell is cell:
                self._show_proof()
        self._show_head()

    def action_export(self) -> None:
        renderers = {suffix: partial(render, self._table) for suffix, render in RENDERERS.items()}
        self.app.push_screen(ExportDialog("Export the table to", "table", renderers), self._show_message)

    @override
    def action_leave(self) -> None:
        """Stop the questions that are being asked, or else leave."""
        if self._filling.locked():
            self.workers.cancel_group(self, "filling")
            self._show_message("Stopped. What is done is kept.")
        else:
            self.dismiss(None)

    @on(Worker.StateChanged)
    def _on_worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._show_message(format_error(event.worker.error))
        self._show_head()
