"""Lays out the rows of a table side by side in columns. Independent of the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from roamtui.markdown.lines import Run, RunStyle, TextRole, measure_runs, wrap_runs

Cells = Sequence[list[Run]]

_GRID = RunStyle(TextRole.GRID)
_COLUMN_GAP = Run(" │ ", _GRID)
_FIGURE = re.compile(
    r"(?:[(\[] ?)?[-–—−+~<>≤≥±≈]? ?[$€£¥]? ?[(]?[-–−]?"
    r"\d[\d.,' \u00a0\u202f]*(?: ?(?:%|[a-zµ]{1,3}\b))? ?[)\]]{0,2}[*†‡¹²³]*"
    r"|[$€£¥]? ?[-–—−]+ ?%?|n/?a",
    re.IGNORECASE,
)
"""A number with its sign, currency and unit, such as ``(2,724)``, ``$ 5.1 %`` and ``32 MiB``, or a dash for none."""
_FIGURE_LENGTH_MAX = 40
_FIGURES_MIN = 0.8
"""Minimum share of figures among a column's filled cells. Financial statements often have a few words among them."""


def lay_out_rows(
    rows: Sequence[Cells], are_heads: Sequence[bool], alignments: Sequence[str], room: int | None, width_min: int
) -> list[list[list[Run]]]:
    """Return the lines of each row. A rule follows a heading row, and separates a row of several lines from the others.

    Args:
        rows: The cells of each row.
        are_heads: Whether each row is a heading row.
        alignments: Alignment of each column. A column of figures without one is aligned to the right.
        room: Width in cells to fit in, or None for no limit.
        width_min: Columns are not narrowed below this width, even if the table does not fit.
    """
    widths = _compute_column_widths(rows, room, width_min)
    body = [cells for cells, is_head in zip(rows, are_heads, strict=True) if not is_head]
    aligned = _align_figures(body, alignments, len(widths))
    wrapped = [_wrap_row(cells, widths, aligned) for cells in rows] if widths else []
    is_tall = [len(lines) > 1 for lines in wrapped]
    for number, lines in enumerate(wrapped):
        if are_heads[number] or (number < len(rows) - 1 and any(is_tall[number : number + 2])):
            stroke = "─" if are_heads[number] else "┄"
            lines.append([Run(f"{stroke}┼{stroke}".join(stroke * width for width in widths), _GRID)])
    return wrapped


def _align_figures(rows: Sequence[Cells], alignments: Sequence[str], columns: int) -> list[str]:
    """Return the alignment of each column. A column of figures has at least two filled cells."""
    aligned = [*alignments, *[""] * columns][:columns]
    for column, alignment in enumerate(aligned):
        cells = ["".join(run.text for run in row[column]).strip() for row in rows if column < len(row)]
        filled = [cell for cell in cells if cell]
        figures = [cell for cell in filled if len(cell) <= _FIGURE_LENGTH_MAX and _FIGURE.fullmatch(cell)]
        has_digit = any(character.isdecimal() for figure in figures for character in figure)
        if not alignment and has_digit and len(filled) > 1 and len(figures) >= _FIGURES_MIN * len(filled):
            aligned[column] = "right"
    return aligned


def _compute_column_widths(rows: Sequence[Cells], room: int | None, width_min: int) -> list[int]:
    """Compute the width of each column in cells. The widest are narrowed if the table does not fit."""
    columns = max(map(len, rows), default=0)
    natural = [0] * columns
    for row in rows:
        for column, cell in enumerate(row):
            natural[column] = max(natural[column], *map(measure_runs, wrap_runs(cell, None)))
    if room is None:
        return natural
    limit = max(width_min, compute_width_limit(natural, room - (columns - 1) * len(_COLUMN_GAP.text)))
    return [min(cells, limit) for cells in natural]


def compute_width_limit(widths: Sequence[int], room: int) -> int:
    """Compute the width that no column may exceed so that a table fits into `room`. `widths` are those without a limit.

    The wider columns thus get a common width. It is 0 if there is not even one cell for each column.
    """
    for width in sorted(set(widths), reverse=True):
        narrower = [cells for cells in widths if cells < width]
        limit = (room - sum(narrower)) // (len(widths) - len(narrower))
        if limit >= max(narrower, default=0):
            return limit
    return 0


def _wrap_row(row: Cells, widths: Sequence[int], alignments: Sequence[str]) -> list[list[Run]]:
    """Lay out the cells of a row side by side."""
    cells = [wrap_runs(cell, max(1, width)) for cell, width in zip(row, widths, strict=False)]
    lines = []
    for number in range(max(map(len, cells), default=1)):
        runs: list[Run] = []
        for column, width in enumerate(widths):
            cell = cells[column][number] if column < len(cells) and number < len(cells[column]) else []
            gap = max(0, width - measure_runs(cell))
            left_gap = {"right": gap, "center": gap // 2}.get(alignments[column], 0)
            runs += [_COLUMN_GAP] if column else []
            runs += [Run(" " * left_gap), *cell, Run(" " * (gap - left_gap))]
        lines.append(runs)
    return lines
