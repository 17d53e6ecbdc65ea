"""`TableScreen`: a table as a grid that fills while it is shown."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerCancelled, WorkerFailed, WorkerState
from typing_extensions import override

from roamtui.document.counts import format_count
from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.source_loader import is_url
from roamtui.export.table import RENDERERS, format_progress
from roamtui.models.registry import OFFLINE
from roamtui.table.cells import Cell
from roamtui.table.columns import drop_repeated_columns, parse_question
from roamtui.table.rows import check_output, list_rows
from roamtui.table.runner import TableJob, TableRun, fill_table
from roamtui.table.store import Row, TableContent
from roamtui.tui.actions import SHARED_IDS, Keymap, Scope, make_bindings
from roamtui.tui.labels import STEP, format_error
from roamtui.tui.messages import CellRequested
from roamtui.tui.screens.dialogs import Dialog, PromptDialog
from roamtui.tui.screens.saved_items import ExportDialog
from roamtui.tui.screens.table_grid import TableGrid
from roamtui.tui.status_line import ScreenKeyHints

_WRAP_SLACK = 8
"""Average number of cells that a line leaves empty because it breaks between words."""
_FILTER_LENGTH = 20
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
        self._filter = ""
        self._sort: tuple[str, bool] | None = None
        """Key of the column to sort by, and whether to reverse the order. None for the order of the sources."""
        self._listing_lock = asyncio.Lock()

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
        """Sort and filter the rows, and show them."""
        defined = self._job.defined
        words = self._filter.casefold().split()
        rows = [row for row in defined.rows if all(word in self._get_search_text(row) for word in words)]
        column = next((column for column in defined.columns if self._sort and column.key == self._sort[0]), None)
        if column is not None and self._sort is not None:
            cells = ((row, self._cells.get((row.key, column.key, ""))) for row in rows)
            values = {row.key: cell.value for row, cell in cells if cell is not None}
            filled = sorted(
                (row for row in rows if values.get(row.key)),
                key=lambda row: column.make_sort_key(values[row.key]),
                reverse=self._sort[1],
            )
            rows = [*filled, *(row for row in rows if not values.get(row.key))]  # rows without a value stay last
        self._grid.show(rows, defined.columns, self._cells, self._sort)
        self._show_head()

    def _get_search_text(self, row: Row) -> str:
        if not self._filter:
            return ""
        cells = [self._cells.get((row.key, column.key, "")) for column in self._job.defined.columns]
        return " ".join([row.title, *(f"{cell.value} {cell.state.label}" for cell in cells if cell)]).casefold()

    def _show_head(self) -> None:
        rows, total = len(self._grid.rows), len(self._job.defined.rows)
        count = format_count(total, "row") if rows == total else f"{rows:,} of {format_count(total, 'row')}"
        count += f" with “{shorten(self._filter, _FILTER_LENGTH)}”" if self._filter else ""
        parts = [count, format_count(len(self._job.defined.columns), "question"), self._job.plan.model.name]
        if self._run is not None:
            parts.append(("asking: " if self.is_filling else "") + format_progress(self._run))
        elif self._job.plan.model.name == OFFLINE:
            parts.append(_OFFLINE_NOTE)
        title = Content.assemble(("Table", "bold $primary"), (f" · {' · '.join(map(sanitise_line, parts))}", "$muted"))
        self.query_one(".head", Static).update(title, layout=False)

    @on(TableGrid.CursorMoved)
    def _show_proof(self) -> None:
        """Show the question, the whole value and its quote below the grid."""
        column, cell, view = self._grid.column, self._grid.cell, self.query_one(".proof", Static)
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
        self._grid.move_to(len(self._grid.rows), self._grid.cursor_column)

    def action_page(self, pages: int) -> None:
        self._grid.move_page(pages)

    @on(TableGrid.CellClicked)
    def action_read(self) -> None:
        self._request_cell(with_quote=True)

    def action_conversation(self) -> None:
        if self._grid.cell is None or not self._grid.cell.conversation:
            self._show_message("This cell has no conversation yet.")
        else:
            self._request_cell(with_quote=False)

    def _request_cell(self, *, with_quote: bool) -> None:
        row, cell = self._grid.row, self._grid.cell
        if row is None:
            return
        log = self._content.get_log_path(cell) if cell is not None else None
        proof = cell.proof if cell is not None and with_quote else None
        section_id = proof.section_id if proof is not None else row.within if with_quote else None
        self.post_message(CellRequested(row.source, str(log) if log is not None else None, section_id, proof))

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_add_column(self) -> None:
        prompt = PromptDialog("Ask a question about each row", "", foot=_TYPES_FOOT)
        if question := await self.app.push_screen_wait(prompt):
            columns = drop_repeated_columns((*self._job.defined.columns, parse_question(question)))
            self._job = replace(self._job, defined=replace(self._job.defined, columns=columns))
            self._show()
            self._grid.move_to(self._grid.cursor_row, len(columns) - 1)
            self._start()

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_add_rows(self) -> None:
        typed = await self.app.push_screen_wait(PromptDialog("Add a file, a folder or an address", ""))
        if not typed:
            return
        source = typed if is_url(typed) else os.path.abspath(os.path.expanduser(typed))  # noqa: ASYNC240, PTH100, PTH111 - reads no disk, keeps links
        self._list_rows(source)

    @work(group="listing", exit_on_error=False)
    async def _list_rows(self, source: str) -> None:
        self._show_message(f"Listing {source}…")
        async with self._listing_lock:  # one source after the other, so that none replaces the rows of another
            before, open_source = self._job.defined, self._job.plan.open_source
            sources = tuple(dict.fromkeys((*before.sources, source)))
            rows = await asyncio.to_thread(
                list_rows, sources, open_source, by_chapters=before.by_chapters, read_known=lambda: before.rows
            )
            added = len(rows) - len(before.rows)
            # A question may have been added meanwhile.
            self._job = replace(self._job, defined=replace(self._job.defined, sources=sources, rows=rows))
        self._show()
        self._show_message(
            f"Added {format_count(added, 'row')}. {self._keys.format_first_key('table.run')} asks about them."
        )

    def action_run(self) -> None:
        self._start()

    def _start(self) -> None:
        if not self._job.defined.columns:
            self._show_message("Add a question first.")
        elif self.is_filling:
            self._restart()
        else:
            self._worker = self._fill()

    @work(group="restarting", exclusive=True, exit_on_error=False)
    async def _restart(self) -> None:
        """Cancel the current run, and start one with the current questions and rows."""
        worker = self._worker
        if worker is not None:
            worker.cancel()
            with suppress(WorkerFailed, WorkerCancelled):
                await worker.wait()
        self._worker = self._fill()

    @work(group="filling", exit_on_error=False)
    async def _fill(self) -> None:
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

    def action_sort(self) -> None:
        column = self._grid.column
        if column is None:
            return
        if self._sort is None or self._sort[0] != column.key:
            self._sort = (column.key, False)
        else:
            self._sort = None if self._sort[1] else (column.key, True)
        order = "the order of the sources" if self._sort is None else f"sorted by {column.title}"
        self._show()
        self._show_message(f"{order[0].upper()}{order[1:]}{', reversed' if self._sort and self._sort[1] else ''}")

    @work(group="typing", exclusive=True, exit_on_error=False)
    async def action_filter(self) -> None:
        foot = "words of a title, value or state, such as not found · enter to filter, esc to cancel"
        words = await self.app.push_screen_wait(
            PromptDialog("Show the rows that contain", self._filter, foot=foot, may_be_empty=True)
        )
        if words is not None:
            self._filter = words
            self._show()

    def action_export(self) -> None:
        content = self.content

        def render_for(path: Path, render: Callable[[TableContent, str, Path], str]) -> str:
            check_output(path, content.rows)
            return render(content, "", path.absolute().parent)

        renderers = {suffix: partial(render_for, render=render) for suffix, render in RENDERERS.items()}
        self.app.push_screen(ExportDialog("Export the table to", "table", renderers), self._show_message)

    @override
    def action_leave(self) -> None:
        """Stop the questions that are being asked, or else clear the filter, or else leave."""
        if self.is_filling and self._worker is not None:
            self._worker.cancel()
            self._show_message("Stopped. What is done is kept.")
        elif self._filter:
            self._filter = ""
            self._show()
        else:
            self.dismiss(None)

    @on(Worker.StateChanged)
    def _on_worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._show_message(format_error(event.worker.error))
        if event.worker.group == "filling":
            self._show_head()
