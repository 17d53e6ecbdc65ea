"""`TableGrid`: the cells of a table, drawn line by line, so that thousands of rows cost no more than a screenful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from roamtui.document.plain import sanitise_line
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import Row

_TITLE_SHARE = 0.3
"""Maximum share of the grid's width for the titles of the rows."""
_TITLE_WIDTH_MAX = 32
_COLUMN_WIDTH_MIN = 18
"""Minimum width of a column in cells. Columns that do not fit scroll, and arrows in the header point to them."""
_VALUE_LENGTH_MAX = 300
"""Maximum number of characters of a value to draw. A passage may have thousands, but no column is that wide."""
_STATES = tuple(state.value for state in CellState)


class TableGrid(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the rows of a table below a header with the names of its columns. Header and row titles do not scroll."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"table-grid--{name}" for name in (*_STATES, "head", "title", "cursor", "cursor-row")
    }

    @dataclass
    class CursorMoved(Message):
        """The cursor moved to another cell."""

    @dataclass
    class CellClicked(Message):
        """The person clicked a cell that the cursor was on already."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Row] = ()
        self.columns: Sequence[Column] = ()
        self.cells: Mapping[tuple[str, str, str], Cell] = {}
        self.cursor_row = 0
        self.cursor_column = 0
        self._first_column = 0
        self._styles: dict[str, Style] = {}
        self._title_width = 0
        """Width in cells of the longest title of the first thousand rows."""
        self._lines: dict[str, int] = {}
        """Line of each row, by its key."""

    @property
    def row(self) -> Row | None:
        """The row under the cursor, or None in an empty table."""
        return self.rows[self.cursor_row] if self.cursor_row < len(self.rows) else None

    @property
    def column(self) -> Column | None:
        """The column under the cursor, or None if there are no questions yet."""
        return self.columns[self.cursor_column] if self.cursor_column < len(self.columns) else None

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor, or None if it has no answer yet."""
        return self.get_cell(self.row, self.column) if self.row is not None and self.column is not None else None

    def get_cell(self, row: Row, column: Column) -> Cell | None:
        """Return the newest cell of a row and column, or None."""
        return self.cells.get((row.key, column.key, ""))

    def show(self, rows: Sequence[Row], columns: Sequence[Column], cells: Mapping[tuple[str, str, str], Cell]) -> None:
        """Replace the rows, columns and cells."""
        self.rows, self.columns, self.cells = rows, columns, cells
        self._lines = {row.key: line for line, row in enumerate(rows)}
        self._title_width = max((cell_len(row.title) for row in rows[:1_000]), default=0)
        self.virtual_size = Size(self.scrollable_content_region.width, len(rows) + 1)
        self.move_to(self.cursor_row, self.cursor_column)
        self.refresh()

    def refresh_cell(self, cell: Cell) -> None:
        """Draw the line of a cell again, if it is in view."""
        line = self._lines.get(cell.row)
        if line is not None:
            self._refresh_row(line)

    def move_to(self, row: int, column: int) -> None:
        """Move the cursor, and scroll it into view. It stops at the edges."""
        before, first_column = self.cursor_row, self._first_column
        self.cursor_row = max(0, min(row, len(self.rows) - 1))
        self.cursor_column = max(0, min(column, len(self.columns) - 1))
        _, _, count = self._measure_columns()
        self._first_column = min(self._first_column, max(0, len(self.columns) - count))
        if not self._first_column <= self.cursor_column < self._first_column + count:
            is_left = self.cursor_column < self._first_column
            self._first_column = self.cursor_column if is_left else self.cursor_column - count + 1
        height = max(1, self.scrollable_content_region.height - 1)
        top = round(self.scroll_target_y)
        if not top <= self.cursor_row < top + height:
            top = self.cursor_row if self.cursor_row < top else self.cursor_row - height + 1
            self.scroll_to(y=top, animate=False, force=True)
        if self._first_column != first_column:
            self.refresh()
        for line in {before, self.cursor_row}:
            self._refresh_row(line)
        self.post_message(self.CursorMoved())

    def _refresh_row(self, line: int) -> None:
        self.refresh_line(line + 1)  # the names of the columns are the line above the first row

    def move_page(self, pages: int) -> None:
        """Move the cursor down by `pages` screens, or up if negative."""
        self.move_to(self.cursor_row + pages * max(1, self.scrollable_content_region.height - 2), self.cursor_column)

    def _measure_columns(self) -> tuple[int, int, int]:
        """Return the width of the titles, the width of each column, and how many columns are in view."""
        width = self.scrollable_content_region.width
        titles = min(self._title_width + 1, _TITLE_WIDTH_MAX, max(8, int(width * _TITLE_SHARE)))
        count = max(1, min(len(self.columns), (width - titles) // _COLUMN_WIDTH_MIN))
        return titles, max(1, (width - titles) // count), count

    @override
    def render_line(self, y: int) -> Strip:
        styles, width = self._read_styles(), self.scrollable_content_region.width
        titles, column_width, count = self._measure_columns()
        end = self._first_column + count
        shown = self.columns[self._first_column : end]
        if y == 0:
            more = ("‹" if self._first_column else "") + ("›" if end < len(self.columns) else "")
            segments = [Segment(_fit(more, titles), styles["head"])]
            segments += [Segment(_fit(column.title, column_width), styles["head"]) for column in shown]
            return Strip(segments).adjust_cell_length(width, styles["head"])
        line = y - 1 + round(self.scroll_y)
        if line >= len(self.rows):
            return Strip.blank(width, styles["base"])
        row, is_cursor_row = self.rows[line], line == self.cursor_row
        ground = styles["cursor-row"] if is_cursor_row else styles["base"]
        segments = [Segment(_fit(row.title, titles), ground + styles["title"])]
        for number, column in enumerate(shown, self._first_column):
            cell = self.get_cell(row, column)
            is_cursor = is_cursor_row and number == self.cursor_column and self.has_focus
            if cell is None:
                segments.append(Segment(" " * column_width, styles["cursor"] if is_cursor else ground))
                continue
            words = sanitise_line((cell.value or cell.state.label)[:_VALUE_LENGTH_MAX])
            if is_cursor:
                segments.append(Segment(_fit(f"{cell.state.sign} {words}", column_width), styles["cursor"]))
                continue
            state = ground + styles[cell.state.value]
            segments.append(Segment(f"{cell.state.sign} ", state))
            segments.append(Segment(_fit(words, column_width - 2), ground if cell.value else state))
        return Strip(segments).adjust_cell_length(width, ground)

    @override
    def notify_style_update(self) -> None:
        self._styles = {}
        super().notify_style_update()

    def _read_styles(self) -> Mapping[str, Style]:
        if not self._styles:
            styles = {
                name: self.get_component_rich_style(f"table-grid--{name}")
                for name in (*_STATES, "head", "title", "cursor", "cursor-row")
            }
            inks = {name: Style(color=styles[name].color, bold=styles[name].bold) for name in (*_STATES, "title")}
            self._styles = {**styles, **inks, "base": self.rich_style}
        return self._styles

    def on_resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.rows) + 1)
        self.move_to(self.cursor_row, self.cursor_column)

    @on(events.Focus)
    @on(events.Blur)
    def _redraw(self) -> None:
        self.refresh()

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or not 0 < offset.y <= len(self.rows):
            return
        titles, column_width, _ = self._measure_columns()
        column = self.cursor_column
        if offset.x >= titles:
            column = self._first_column + (offset.x - titles) // column_width
        before = (self.cursor_row, self.cursor_column)
        self.move_to(offset.y - 1 + round(self.scroll_y), column)
        if before == (self.cursor_row, self.cursor_column):
            self.post_message(self.CellClicked())


def _fit(text: str, width: int) -> str:
    """Cut a text, with an ellipsis, or pad it to exactly `width` cells. The last cell is always a space."""
    if cell_len(text) >= width:
        text = set_cell_size(text, max(0, width - 2)) + "…"
    return set_cell_size(text, width)
