"""`roamtui table`: fills a table and writes it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from roamtui.errors import EXIT_CANCELLED, RoamtuiError, UsageError, format_reason
from roamtui.export.table import RENDERERS, format_progress, render_json_table
from roamtui.headless.output import ProgressLine, warn, write_notice, write_text
from roamtui.models.base import get_startup_note
from roamtui.models.registry import OFFLINE
from roamtui.table.cells import Cell, CellState
from roamtui.table.rows import check_output as check_output_path
from roamtui.table.runner import TablePlan, TableRun, fill_table
from roamtui.table.store import TableDefined, TableStore, read_table

_BAR_WIDTH = 20


def check_output(path: Path | None) -> None:
    """Check the name of the file for a table.

    Raises:
        UsageError: There is no format of this name.
    """
    if path is not None and path.suffix.lower() not in RENDERERS:
        raise UsageError(f"-o takes a file whose name ends with {', '.join(RENDERERS)}.")


def run_table(store: TableStore, defined: TableDefined, plan: TablePlan, output_path: Path | None) -> int:
    """Fill a table, write it, and return the exit status: 1 if a cell failed or the run ended early, 130 if cancelled.

    The suffix of `output_path` decides the format. If it is None, JSON is written to stdout.

    Raises:
        RoamtuiError: The table cannot be read, or saved, or written to the file.
    """
    if not defined.columns:
        raise UsageError("a table needs questions. Give them with -q, or a file of them with --questions.")
    if output_path is not None:
        check_output_path(output_path, defined.rows)
    line, last = ProgressLine(), TableRun(total=0)

    def show(run: TableRun, _cell: Cell | None) -> None:
        nonlocal last
        last = run
        filled = _BAR_WIDTH * run.done // max(1, run.total)
        line.show(f"{'█' * filled}{'░' * (_BAR_WIDTH - filled)} {format_progress(run)}")

    try:
        run = asyncio.run(fill_table(store, defined, plan, show))
    except KeyboardInterrupt:
        line.end()
        write_notice(f"Stopped: {last.done:,} of {last.total:,} cells are done. Run it again to go on.")
        return EXIT_CANCELLED
    finally:
        line.end()
    if note := get_startup_note(plan.model):
        warn(note)
    content, model = read_table(store.folder), plan.model.name
    if content.skipped:
        warn(f"{content.skipped:,} lines of the table could not be read, so their cells were asked again.")
    if output_path is None:
        write_text(render_json_table(content, model))
    else:
        text = RENDERERS[output_path.suffix.lower()](content, model, output_path.absolute().parent)
        try:
            output_path.write_bytes(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            reason = format_reason(error)
            raise RoamtuiError(f"could not write {output_path}: {reason}. Name another file.") from None
    if model == OFFLINE:
        write_notice("Each cell is the best passage of its row. No model has read them: --model chooses one.")
    write_notice(f"{format_progress(run)}. The table is in {store.folder}")
    if run.unread_note:
        warn(run.unread_note)
    if run.stop_reason:
        warn(f"{run.total - run.done:,} cells were not asked. {run.stop_reason} Run it again to go on.")
    return int(bool(run.unread or run.stop_reason or run.counts[CellState.FAILED]))
