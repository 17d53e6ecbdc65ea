"""`TableScreen`: a table as a grid that fills while it is shown."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import DataTable, Static
from textual.worker import Worker, WorkerCancelled, WorkerFailed, WorkerState
from typing_extensions import override

from roamtui.document.counts import format_count
from roamtui.document.plain import sanitise_line, shorten
from roamtui.export.table import RENDERERS, format_progress
from roamtui.models.registry import OFFLINE
from roamtui.table.cells import Cell
from roamtui.table.columns import drop_repeated_columns, parse_question
from roamtui.table.rows import check_output
from roamtui.table.runner import TableJob, TableRun, fill_table
from roamtui.table.store import TableContent
from roamtui.tui.actions import SHARED_IDS, Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.labels import STEP, format_error
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import Dialog, ExportDialog, PromptDialog
from roamtui.tui.screens.table_grid import TableGrid
from roamtui.tui.status_line import ScreenKeyHints

_WRAP_SLACK = 8
"""Average number of cells that a line leaves empty because it breaks between words."""
_TYPES_FOOT = "a type may follow: [yes/no], [number], [date], [red | green] · enter to ask, esc to cancel"
_OFFLINE_NOTE = "cells are best passages, which no model has read"


class TableScreen(Dialog[None]):
    """Shows a table, asks the missing questions, and opens the document or conversation of a cell."""

    AUTO_FOCUS = "TableGrid"
    BINDINGS = make_bindings(Scope.TABLE, Scope.MOVE) + make_bindings(Scope.GLOBAL, only=SHARED_IDS)

    def __init__(self, job: TableJob, content: TableContent, keys: Keymap) -> None:
        """Show `content`, the answers that are saved on disk.

        `job` has the table's current definition and the plan for filling it.
        """
        super().__init__()
        self._job = job
        self._content = content
        self._cells = dict(content.cells)
        self._keys = keys
        self._grid = TableGrid()
        self._run: TableRun | None = None
        self._worker: Worker[None] | None = None

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(classes="head")
            yield self._grid
            yield Static(classes="proof")
            yield Static(classes="message")
            yield ScreenKeyHints(self._keys, Scope.TABLE)

    def on_mount(self) -> None:
        self._show()

    @property
    def content(self) -> TableContent:
        """The table with its current questions and answers: all rows, in the order of the sources."""
        defined = self._job.defined
        return replace(self._content, rows=defined.rows, columns=defined.columns, cells=self._cells)

    @property
    def is_filling(self) -> bool:
        """Whether questions are being asked."""
        return self._worker is not None and not self._worker.is_finished

    def _show(self) -> None:
        self._grid.show(self._job.defined.rows, self._job.defined.columns, self._cells)
        self._show_head()

    def _show_head(self) -> None:
        defined = self._job.defined
        counts = [format_count(len(defined.rows), "row"), format_count(len(defined.columns), "question")]
        parts = [*counts, self._job.plan.model.name]
        if self._run is not None:
            parts.append(("asking: " if self.is_filling else "") + format_progress(self._run))
        elif self._job.plan.model.name == OFFLINE:
            parts.append(_OFFLINE_NOTE)
        title = Content.assemble(("Table", "bold $primary"), (f" · {' · '.join(map(sanitise_line, parts))}", "$muted"))
        self.query_one(".head", Static).update(title, layout=False)

    @on(DataTable.CellHighlighted)
    def _show_proof(self) -> None:
        """Show the question, the whole value and its quote below the grid."""
        column, cell, view = self._grid.question, self._grid.cell, self.query_one(".proof", Static)
        width, height = view.content_size
        lines = []
        if column is None:
            add_key = self._keys.format_first_key("table.add_column")
            lines.append(Content(f"Press {add_key} to ask a question about each row."))
        else:
            lines.append(Content.styled(shorten(sanitise_line(column.question), width), "bold"))
        if cell is not None:
            last = [Content.styled(sanitise_line(cell.note), "$warning")] if cell.value and cell.note else []
            if cell.proof is not None:
                place = STEP.join(map(sanitise_line, [*cell.proof.path, cell.proof.place]))
                verdict = "" if cell.is_passage else f" · {cell.proof.state.label}"
                last.append(Content.styled(f"{place}{verdict}", "$muted"))
            ending = Content(" · ").join(last)
            has_quote = cell.proof is not None and not cell.is_passage
            # The question takes one line.
            line_width = max(1, width - _WRAP_SLACK)
            count = max(1, height - 1 - -(-ending.cell_length // line_width))
            room = max(1, count // (2 if has_quote else 1)) * line_width
            value = sanitise_line(cell.value or cell.note or cell.state.label)
            lines.append(Content(f"{cell.state.sign} {shorten(value, room)}"))
            if has_quote and cell.proof is not None:
                lines.append(Content.styled(f"“{shorten(sanitise_line(cell.proof.quote or ''), room)}”", "italic"))
            lines.append(ending)
        view.update(Content("\n").join(lines), layout=False)

    def _show_message(self, words: str | None) -> None:
        self.query_one(".message", Static).update(Content(sanitise_line(words or "")))

    def action_move(self, rows: int) -> None:
        self._grid.move_to(self._grid.cursor_row + rows, self._grid.cursor_column)

    def action_move_sideways(self, columns: int) -> None:
        self._grid.move_to(self._grid.cursor_row, self._grid.cursor_column + columns)

    def action_first(self) -> None:
        self._grid.move_to(0, self._grid.cursor_column)

    def action_last(self) -> None:
        self._grid.move_to(len(self._grid.documents), self._grid.cursor_column)

    def action_page(self, pages: int) -> None:
        height = max(1, self._grid.scrollable_content_region.height - 2)
        self._grid.move_to(self._grid.cursor_row + pages * height, self._grid.cursor_column)

    @on(DataTable.CellSelected)
    def action_read(self) -> None:
        self._request_cell(with_quote=True)

    def action_conversation(self) -> None:
        if self._grid.cell is None or not self._grid.cell.conversation:
            self._show_message("This cell has no conversation yet.")
        else:
            self._request_cell(with_quote=False)

    def _request_cell(self, *, with_quote: bool) -> None:
        row, cell = self._grid.document, self._grid.cell
        if row is None:
            return
        log = self._content.get_log_path(cell) if cell is not None else None
        proof = cell.proof if cell is not None and with_quote else None
        target = SectionTarget(proof.section_id, proof) if proof is not None else None
        log_path = str(log) if log is not None else None
        self.post_message(DocumentRequested(row.source, log_path, target, is_cell=True))

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_add_column(self) -> None:
        prompt = PromptDialog("Ask a question about each row", "", foot=_TYPES_FOOT)
        if question := await self.app.push_screen_wait(prompt):
            columns = drop_repeated_columns((*self._job.defined.columns, parse_question(question)))
            self._job = replace(self._job, defined=replace(self._job.defined, columns=columns))
            self._show()
            self._grid.move_to(self._grid.cursor_row, len(columns))
            self._start()

    def action_run(self) -> None:
        self._start()

    def _start(self) -> None:
        if not self._job.defined.columns:
            self._show_message("Add a question first.")
        else:
            self._worker = self._fill(self._worker)

    @work(group="filling", exit_on_error=False)
    async def _fill(self, previous: Worker[None] | None) -> None:
        """Ask the questions without an answer, once the previous run has been cancelled."""
        if previous is not None:
            previous.cancel()
            with suppress(WorkerFailed, WorkerCancelled):
                await previous.wait()
        self._show_message("")
        job = self._job
        try:
            run = await fill_table(job.store, job.defined, job.plan, self._on_progress)
        finally:
            self.call_later(self._show_head)
        if run.stop_reason:
            self._show_message(f"{run.total - run.done:,} cells were not asked. {run.stop_reason}")
        elif run.unread_note:
            self._show_message(run.unread_note)

    def _on_progress(self, run: TableRun, cell: Cell | None) -> None:
        self._run = run
        if cell is not None:
            self._cells[cell.row, cell.column, ""] = cell
            self._grid.refresh_cell(cell)
            if self._grid.cell is cell:
                self._show_proof()
        self._show_head()

    def action_export(self) -> None:
        content = self.content

        def render_for(path: Path, render: Callable[[TableContent, str, Path], str]) -> str:
            check_output(path, content.rows)
            return render(content, "", path.absolute().parent)

        renderers = {suffix: partial(render_for, render=render) for suffix, render in RENDERERS.items()}
        self.app.push_screen(ExportDialog("Export the table to", "table", renderers), self._show_message)

    @override
    def action_leave(self) -> None:
        """Stop the questions that are being asked, or else leave."""
        if self.is_filling and self._worker is not None:
            self._worker.cancel()
            self._show_message("Stopped. What is done is kept.")
        else:
            self.dismiss(None)

    @on(Worker.StateChanged)
    def _on_worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._show_message(format_error(event.worker.error))
        if event.worker.group == "filling":
            self._show_head()
