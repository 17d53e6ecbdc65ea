"""How quickly large tables open and scroll in the app: `python -m tests.benchmarks.table_grid`."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from textual.app import App, ComposeResult
from textual.widgets import DataTable
from typing_extensions import override

from roamtui.conversation.log import encode_entry
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.models.offline import OfflineModel
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.runner import TableJob, TablePlan
from roamtui.table.store import CellRecorded, Row, TableContent, TableDefined, TableStore, read_table
from roamtui.tui.screens.table import TableScreen
from roamtui.tui.screens.table_grid import TableGrid
from roamtui.tui.tree.outline_tree import OutlineTree
from tests.table.filling import open_one
from tests.tui.driving import make_app

_KEYS = 60


def write_table(folder: Path, rows: int, columns: int) -> None:
    """Write the log of a table whose cells all have an answer with a quote."""
    folder.mkdir(parents=True)
    asked = tuple(Column(question=f"What does the contract say about matter {number}?") for number in range(columns))
    listed = tuple(Row(key=f"{n}.md", title=f"contract-{n:04}.md", source=f"/c/{n}.md") for n in range(rows))
    moment = datetime.now(UTC)
    defined = TableDefined(sources=("/c",), by_chapters=False, rows=listed, columns=asked, at="2026")
    with (folder / "results.jsonl").open("wb") as log:
        log.write(encode_entry("table_defined", defined, moment))
        for row in listed:
            for number, column in enumerate(asked):
                quote = f"The parties agree in {row.key} that matter {number} is settled within {number} days."
                citation = Citation(
                    section_id="a8a96034", quote=quote, state=QuoteState.FOUND, path=("Contract", "Terms"), start_line=7
                )
                cell = Cell(
                    row=row.key,
                    column=column.key,
                    content="c" * 32,
                    model="m",
                    state=CellState.FOUND,
                    value=f"{number} days in {row.key}",
                    citations=(citation,),
                    conversation=f"{hash(row.key) & 0xFFFFFFFFFFFF:012x}",
                    at=f"2026{number}",
                )
                log.write(encode_entry("cell_recorded", CellRecorded(cell=cell), moment))


def make_job(content: TableContent) -> TableJob:
    """Return a job for a table that is only looked at."""
    plan = TablePlan(model=OfflineModel(), open_source=open_one, make_searcher=lambda _: None)
    defined = TableDefined(sources=content.sources, by_chapters=False, rows=content.rows, columns=content.columns)
    return TableJob(store=TableStore(content.folder), defined=defined, plan=plan)


async def measure_grid(folder: Path) -> tuple[float, float, float, float]:
    """Return the seconds to read a table, to show it, and of processor time for a row down in it and in an outline."""
    app = make_app(text="# A\n\n" + "".join(f"## Title {n} of a long document\n\nWords.\n\n" for n in range(5_000)))
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.pause()
        outline = app.screen.query_one(OutlineTree)
        outline.focus()
        lines = []
        for _ in range(_KEYS):
            started = process_time()
            await pilot.press("j")
            lines.append(process_time() - started)
        started = perf_counter()
        content = read_table(folder)
        read = perf_counter() - started
        await app.push_screen(TableScreen(make_job(content), content, app._keys))
        await pilot.pause()
        opened = perf_counter() - started
        assert app.screen.query_one(TableGrid).has_focus
        rows = []
        for _ in range(_KEYS):
            started = process_time()
            await pilot.press("j")
            rows.append(process_time() - started)
    return read, opened, median(rows), median(lines)


class _StockApp(App[None]):
    def __init__(self, content: TableContent) -> None:
        super().__init__()
        self._content = content

    @override
    def compose(self) -> ComposeResult:
        yield DataTable()

    def on_mount(self) -> None:
        grid = self.query_one(DataTable)
        grid.add_columns("", *(column.title for column in self._content.columns))
        for row in self._content.rows:
            cells = self._content.list_cells(row)
            grid.add_row(row.title, *(cell.value if cell is not None else "" for cell in cells))


async def measure_stock(folder: Path) -> tuple[float, float]:
    """Return the seconds until Textual's DataTable shows a table, and of processor time to move down by a row in it."""
    started = perf_counter()
    app = _StockApp(read_table(folder))
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.pause()
        opened = perf_counter() - started
        rows = []
        for _ in range(_KEYS):
            started = process_time()
            await pilot.press("down")
            rows.append(process_time() - started)
    return opened, median(rows)


def main() -> None:
    """Print a line for each size."""
    for rows, columns in ((200, 12), (5_000, 12)):
        with TemporaryDirectory() as home:
            folder = Path(home) / "table"
            write_table(folder, rows, columns)
            read, opened, down, line = asyncio.run(measure_grid(folder))
            stock_opened, stock_down = asyncio.run(measure_stock(folder))
        sys.stdout.write(
            f"{rows} x {columns}: read {read:.2f} s, open {opened:.2f} s, a row down {down * 1e3:.1f} ms, a line down "
            f"in the outline {line * 1e3:.1f} ms; DataTable: open {stock_opened:.2f} s, "
            f"down {stock_down * 1e3:.1f} ms\n"
        )


if __name__ == "__main__":
    main()
