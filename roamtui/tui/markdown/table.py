"""Lays out a table: cells side by side, wrapped where the columns are too wide for the view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roamtui.tui.markdown.line import HARD_BREAK, Look, Role, Run, measure_runs, wrap_runs

COLUMN_WIDTH_MIN = 12
"""Cells that a column keeps where a table has to be narrowed; past that it is scrolled sideways."""
_GRID = Look(Role.GRID)
_BETWEEN = Run(" │ ", _GRID)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One row of a table."""

    cells: tuple[list[Run], ...]
    is_head: bool = False


def lay_out_table(
    rows: Sequence[TableRow], alignments: Sequence[str], width: int | None, column_width_min: int
) -> Iterator[tuple[int, tuple[Run, ...]]]:
    """Yield the lines of a table, each after the index of its row; wider than `width` only where it cannot be narrowed.

    Args:
        rows: Its rows, the head first.
        alignments: ``left``, ``right``, ``center`` or empty, for each column.
        width: Cells in view, None for any number.
        column_width_min: Cells that a column keeps, unless it needs fewer.
    """
    columns = max((len(row.cells) for row in rows), default=0)
    if not columns:
        return
    widths = _find_widths(rows, columns, width, column_width_min)
    wrapped = [_wrap_row(row, widths) for row in rows]
    has_tall_rows = any(len(lines) > 1 for lines in wrapped)
    for number, (row, lines) in enumerate(zip(rows, wrapped, strict=True)):
        yield from ((number, _join_cells(cells, widths, alignments)) for cells in lines)
        is_last = number == len(rows) - 1
        if row.is_head or (has_tall_rows and not is_last):
            yield number, (_draw_rule(widths, "─" if row.is_head else "┄"),)


def _find_widths(rows: Sequence[TableRow], columns: int, width: int | None, width_min: int) -> list[int]:
    natural = [
        max((_measure_cell(row.cells[column]) for row in rows if column < len(row.cells)), default=0)
        for column in range(columns)
    ]
    room = None if width is None else width - (columns - 1) * len(_BETWEEN.text)
    if room is None or sum(natural) <= room:
        return natural
    return _narrow(natural, room, width_min)


def _narrow(natural: list[int], room: int, width_min: int) -> list[int]:
    """Cut the widest columns down to one width, such that all fit in `room` if they can."""
    limit = width_min
    for wide in sorted(set(natural), reverse=True):
        others = sum(cells for cells in natural if cells < wide)
        count = sum(1 for cells in natural if cells >= wide)
        share = (room - others) // count
        if share >= max((cells for cells in natural if cells < wide), default=0):
            limit = max(width_min, share)
            break
    return [min(cells, limit) for cells in natural]


def _measure_cell(cell: list[Run]) -> int:
    return max(measure_runs(line) for line in wrap_runs(cell, None))


def _wrap_row(row: TableRow, widths: list[int]) -> list[list[list[Run]]]:
    """Return for each line of a row the runs of each column."""
    cells = [wrap_runs(cell, max(1, width)) for cell, width in zip(row.cells, widths, strict=False)]
    height = max((len(lines) for lines in cells), default=1)
    return [[lines[number] if number < len(lines) else [] for lines in cells] for number in range(height)]


def _join_cells(cells: list[list[Run]], widths: list[int], alignments: Sequence[str]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for column, width in enumerate(widths):
        cell = cells[column] if column < len(cells) else []
        gap = max(0, width - measure_runs(cell))
        alignment = alignments[column] if column < len(alignments) else ""
        before = {"right": gap, "center": gap // 2}.get(alignment, 0)
        runs.extend((Run(" " * before), *cell, Run(" " * (gap - before))))
        if column < len(widths) - 1:
            runs.append(_BETWEEN)
    return tuple(run for run in runs if run.text and run is not HARD_BREAK)


def _draw_rule(widths: list[int], stroke: str) -> Run:
    return Run(f"{stroke}┼{stroke}".join(stroke * width for width in widths), _GRID)
