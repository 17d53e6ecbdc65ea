"""Places the cells of an HTML table in its columns and rows. A cell may span several of them."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Generic, TypeVar

from msgspec import Struct

REPEATED_LENGTH_MAX = 200
"""Maximum length of a text that is repeated in each column and row that its cell spans."""
_COLUMNS_MAX = 50
"""Maximum number of columns of a table that cells may fill by their spans."""
_ROOM = 2_000
"""How many characters a table may repeat beyond its own length."""
T = TypeVar("T")


class SpannedCell(Struct, Generic[T], frozen=True):
    """A cell, before its place is known."""

    content: T
    length: int
    """Number of characters of its text."""
    columns: int = 1
    rows: int = 1
    """How many rows it spans. 0 means all that follow."""


class PlacedCell(Struct, Generic[T], frozen=True):
    """What is in one column of one row."""

    content: T | None
    """None in a place that a cell spans without being repeated there."""
    is_own: bool
    """Whether the cell begins here."""
    is_from_left: bool
    """Whether this is the cell of the column to the left, which spans this column too."""


def place_cells(rows: Sequence[Sequence[SpannedCell[T]]]) -> list[dict[int, PlacedCell[T]]]:
    """Return the cells of each row by column.

    A short cell that spans columns or rows is repeated in each of them. A cell that is alone in its row, such
    as the title of a part of the table, is in its first column only.
    """
    placed: list[dict[int, PlacedCell[T]]] = [{} for _ in rows]
    room = _ROOM
    for index, row in enumerate(rows):
        cells = placed[index]
        is_alone = len(row) < 2 and not cells
        column = 0
        for cell in row:
            column = next(each for each in count(column) if each not in cells)
            room += cell.length
            columns = max(1, min(cell.columns, _COLUMNS_MAX - column))
            row_count = max(1, cell.rows or len(rows)) if column < _COLUMNS_MAX else 1
            for below in placed[index : index + row_count]:
                for each in range(column, column + columns):
                    is_own = below is cells and each == column
                    is_short = cell.length <= min(REPEATED_LENGTH_MAX, room)
                    is_repeated = not is_own and is_short and (each == column or not is_alone)
                    room -= cell.length if is_repeated else 0
                    content = cell.content if is_own or is_repeated else None
                    below.setdefault(each, PlacedCell(content, is_own, each > column))
    return placed


def list_columns(rows: Sequence[Mapping[int, PlacedCell[T]]]) -> list[int]:
    """List the columns in which a cell with words begins, or all columns if there is none."""
    cells = [entry for row in rows for entry in row.items()]
    used = {column for column, cell in cells if cell.content and not cell.is_from_left}
    return sorted(used or dict(cells))
