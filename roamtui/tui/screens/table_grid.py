"""`TableGrid`: the cells of a table, in Textual's `DataTable`."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.coordinate import Coordinate
from textual.widgets import DataTable
from typing_extensions import override

from roamtui.document.plain import sanitise_line
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import Row, Table

_TITLE_SHARE = 0.3
"""Maximum share of the grid's width for the titles of the rows."""
_COLUMN_WIDTH_MIN = 18
"""Minimum width of a column in cells. Columns that do not fit scroll."""
_PADDING = 2
"""Empty cells beside the words of a column, at both sides together."""


class TableGrid(DataTable[Text], inherit_bindings=False):
    """Shows the documents of a table below the names of its questions. Titles of documents do not scroll sideways."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"table-grid--{state.value}" for state in CellState}

    def __init__(self, table: Table) -> None:
        super().__init__(fixed_columns=1, cursor_background_priority="css")
        self.table = table

    @property
    def document(self) -> Row | None:
        """The row under the cursor, or None in an empty table."""
        rows = self.table.rows
        return rows[self.cursor_row] if self.cursor_row < len(rows) else None

    @property
    def question(self) -> Column | None:
        """The column under the cursor, or None if there are no questions yet."""
        columns = self.table.columns
        return columns[self.cursor_column - 1] if 0 < self.cursor_column <= len(columns) else None

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor, or None if it has no answer yet."""
        document, question = self.document, self.question
        return self.table.get_cell(document, question) if document and question else None

    def show(self) -> None:
        """Draw the table again. The cursor stays where it is, or at the edge."""
        rows, columns, place = self.table.rows, self.table.columns, self.cursor_coordinate
        width = self.scrollable_content_region.width
        titles = min(max((cell_len(row.title) + _PADDING for row in rows), default=0), int(width * _TITLE_SHARE))
        column_width = max(_COLUMN_WIDTH_MIN, (width - titles) // max(1, len(columns)))
        self.clear(columns=True)
        self.add_column("", width=max(1, titles - _PADDING))
        for column in columns:
            self.add_column(_make_line(column.title), width=column_width - _PADDING, key=column.key)
        for row in rows:
            shown = map(self._draw, self.table.list_cells(row))
            self.add_row(_make_line(row.title, Style(bold=True)), *shown, key=row.source)
        self.move_cursor(row=place.row, column=place.column)

    def refresh_cell(self, cell: Cell) -> None:
        """Draw a cell again."""
        self.update_cell(cell.row, cell.column, self._draw(cell))

    @override
    def validate_cursor_coordinate(self, value: Coordinate) -> Coordinate:
        row, column = super().validate_cursor_coordinate(value)
        return Coordinate(row, column or min(1, len(self.table.columns)))

    def _draw(self, cell: Cell | None) -> Text:
        if cell is None:
            return Text()
        ink = Style(color=self.get_component_rich_style(f"table-grid--{cell.state.value}").color)
        return _make_line(cell.text, Style() if cell.value else ink, lead=Text(f"{cell.state.sign} ", ink))

    def on_resize(self) -> None:
        self.show()

    @override
    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.call_after_refresh(self.show)


def _make_line(words: str, style: Style | str = "", lead: Text | str = "") -> Text:
    """Return one line that is cut where its column ends. `lead` comes before its words."""
    return Text.assemble(lead, (sanitise_line(words), style), no_wrap=True, overflow="ellipsis", end="")
