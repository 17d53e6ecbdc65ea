"""Lays out the rows of a table side by side in columns. Independent of the screen."""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.markdown.lines import Run, RunStyle, TextRole, measure_longest_word, measure_runs, wrap_runs

Cells = Sequence[list[Run]]

_GRID = RunStyle(TextRole.GRID)
_COLUMN_GAP = Run(" │ ", _GRID)
_WORD_WIDTH_MAX = 60
"""In cells. A longer word in a table may be broken."""
_FIGURE_LETTERS_MAX = 3
"""Maximum number of letters in a figure, for its currency or unit, as in ``32 MiB``."""
_FIGURES_MIN = 0.8
"""Minimum share of figures among a column's filled cells. Financial statements often have a few words among them."""


def lay_out_rows(
    rows: Sequence[Cells], are_heads: Sequence[bool], alignments: Sequence[str], room: int | None, *, can_scroll: bool
) -> list[list[list[Run]]]:
    """Return the lines of each row. A rule follows a heading row.

    Args:
        rows: The cells of each row.
        are_heads: Whether each row is a heading row.
        alignments: Alignment of each column. A column of figures without one is aligned to the right.
        room: Width in cells to fit in, or None for no limit.
        can_scroll: Whether the table may be wider, so that no word is broken.
    """
    widths = _compute_column_widths(rows, room, can_scroll=can_scroll)
    body = [cells for cells, is_head in zip(rows, are_heads, strict=True) if not is_head]
    aligned = _align_figures(body, alignments, len(widths))
    wrapped = [_wrap_row(cells, widths, aligned) for cells in rows] if widths else []
    for lines, is_head in zip(wrapped, are_heads, strict=False):
        if is_head:
            lines.append([Run("─┼─".join("─" * width for width in widths), _GRID)])
    return wrapped


def _align_figures(rows: Sequence[Cells], alignments: Sequence[str], columns: int) -> list[str]:
    """Return the alignment of each column. A column of figures has at least two filled cells."""
    aligned = [*alignments, *[""] * columns][:columns]
    for column, alignment in enumerate(aligned):
        cells = ["".join(run.text for run in row[column]).strip() for row in rows if column < len(row)]
        filled = [cell for cell in cells if cell]
        figures = [cell for cell in filled if sum(map(str.isalpha, cell)) <= _FIGURE_LETTERS_MAX]
        has_digit = any(map(str.isdecimal, "".join(figures)))
        if not alignment and has_digit and len(filled) > 1 and len(figures) >= _FIGURES_MIN * len(filled):
            aligned[column] = "right"
    return aligned


def _compute_column_widths(rows: Sequence[Cells], room: int | None, *, can_scroll: bool) -> list[int]:
    """Compute the width of each column in cells. The widest are narrowed if the table does not fit.

    Words are not broken if they fit side by side, or if the table may scroll.
    """
    columns = [[row[column] for row in rows if column < len(row)] for column in range(max(map(len, rows), default=0))]
    natural = [max(measure_runs(line) for cell in cells for line in wrap_runs(cell, None)) for cells in columns]
    if room is None:
        return natural
    room -= (len(columns) - 1) * len(_COLUMN_GAP.text)
    if sum(natural) <= room:
        return natural
    words = [min(_WORD_WIDTH_MAX, max(map(measure_longest_word, cells))) for cells in columns]
    for limit in range(room, 0, -1):
        widths = [min(cells, max(limit, word)) for cells, word in zip(natural, words, strict=True)]
        if sum(widths) <= room:
            return widths
    limit = compute_width_limit(words, room)
    return words if can_scroll else [min(word, max(1, limit)) for word in words]


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
