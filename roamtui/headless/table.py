"""`roamtui table`: fills a table and writes it."""

import asyncio
import os
import sys
from collections import Counter
from pathlib import Path

from roamtui.conversation.messages import OFFLINE
from roamtui.errors import UsageError
from roamtui.export.table import TABLE_RENDERERS
from roamtui.output import (
    ProgressLine,
    check_output_path,
    confirm_replacing,
    warn,
    write_data,
    write_export,
    write_notice,
)
from roamtui.table.cells import CellState
from roamtui.table.runner import TablePlan, TableRun, fill_table, format_estimate, format_progress
from roamtui.table.store import ResultTable


def run_table(table: ResultTable, plan: TablePlan, output_path: Path | None) -> int:
    """Fill a table and write it. Return 1 if a cell failed or the run ended early, else 0.

    The suffix of `output_path` decides the format. If it is None, JSON is written to stdout, or Markdown
    to a terminal.

    Raises:
        RoamtuiError: The table has no questions, or the table or the file cannot be written.
    """
    if not table.columns:
        raise UsageError("a table needs questions. Write them after -q, or in a file for --questions.")
    if output_path is not None:
        check_output_path(output_path, TABLE_RENDERERS, (row.source for row in table.rows))
        real_path = os.path.realpath(output_path)
        if real_path not in table.outputs:
            confirm_replacing(output_path)
        table.outputs |= {real_path}
    path = output_path or Path("table.md" if sys.stdout.isatty() else "table.json")
    progress = ProgressLine()

    async def say_estimate(run: TableRun) -> bool:
        progress.show("")
        write_notice(f"Asking {plan.model.name}: {format_estimate(run)}")
        return True

    try:
        run = asyncio.run(
            fill_table(table, plan, lambda run, _cell: progress.show(format_progress(run)), say_estimate)
        )
    except KeyboardInterrupt:
        progress.end()
        write_notice(f"Stopped. The cells that are filled are kept in {table.folder}")
        raise
    finally:
        progress.end()
    if note := plan.model.note:
        warn(note)
    text = TABLE_RENDERERS[path.suffix.lower()](table, path)
    if output_path is None:
        write_data(text)
    models = Counter(cell.model for row in table.rows for cell in table.list_cells(row) if cell is not None)
    if models.keys() - {plan.model.name}:
        counts = ", ".join(f"{name} {count:,}" for name, count in models.most_common())
        write_notice(f"Cells by model: {counts}. To have one model fill all, name it with --model.")
    elif plan.model.name == OFFLINE:
        write_notice("Each cell is the best passage of a document. For answers, choose a model with --model.")
    kept = f" · {run.kept:,} from an earlier run" if run.kept else ""
    write_notice(f"{format_progress(run)}{kept}. Its cells are kept in {table.folder}")
    if run.problems:
        is_unfinished = bool(run.stop_reason or run.unanswered)
        advice = ("To continue, run the same command again.",) if is_unfinished else ()
        warn(" ".join((*run.problems, *advice)))
    if output_path is not None:
        write_export(path, text)  # last, because a person whose file fails must know where the cells are
    return int(bool(run.unreadable or run.stop_reason or table.states[CellState.FAILED]))
