"""The folder of a table: an append-only log of its rows, columns and cells, and the cells' conversations."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from roamtui.conversation.line_file import LOG_SUFFIX, LineFile, map_store_errors
from roamtui.table.cells import Cell
from roamtui.table.columns import Column

_LOG = f"results{LOG_SUFFIX}"
_START = b'{"definition": {'
"""The start of a log. Other programs write files of this name too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A document."""

    title: str
    source: str
    """Path or URL with which the document is opened."""


@dataclass(slots=True, kw_only=True)
class Table:
    """Questions about documents, with the answers so far."""

    folder: Path
    rows: tuple[Row, ...] = ()
    columns: tuple[Column, ...] = ()
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    """The newest cell by the source of its row and the key of its column, also of former columns. Runs add to it."""

    @property
    def conversations(self) -> Path:
        """The folder of the cells' conversations."""
        return self.folder / "conversations"

    def get_cell(self, row: Row, column: Column) -> Cell | None:
        """Return the cell of a row and column, or None if the question was not answered."""
        return self.cells.get((row.source, column.key))

    def list_cells(self, row: Row) -> tuple[Cell | None, ...]:
        """Return the cells of a row in the order of the columns."""
        return tuple(self.get_cell(row, column) for column in self.columns)


class _Definition(msgspec.Struct):
    """The rows and columns of the table, which replace the earlier ones."""

    rows: tuple[Row, ...]
    columns: tuple[Column, ...]


class _Line(msgspec.Struct, omit_defaults=True):
    """A line of a log."""

    definition: _Definition | None = None
    cell: Cell | None = None


class TableLog:
    """The log of a table, held by one run. The system releases it if the program is killed."""

    def __init__(self, table: Table) -> None:
        """Hold the log. Add the cells of earlier runs to `table`, and record its rows and columns.

        Raises:
            StoreError: The folder cannot be used, or another run fills the table.
        """
        self._folder = table.folder
        with map_store_errors("use the table", table.folder):
            self._file = LineFile(table.folder / _LOG)
        known = read_table(table.folder)
        table.cells.update(known.cells)
        if (known.rows, known.columns) != (table.rows, table.columns):
            self._append(_Line(definition=_Definition(rows=table.rows, columns=table.columns)))

    def record(self, cell: Cell) -> None:
        """Append a cell. When this returns, it is on disk.

        Raises:
            StoreError: The log cannot be written.
        """
        self._append(_Line(cell=cell))

    def close(self) -> None:
        """Let another run fill the table."""
        self._file.close()

    def _append(self, line: _Line) -> None:
        with map_store_errors("save the table", self._folder):
            # ASCII, because msgspec cannot encode lone surrogates.
            self._file.append(json.dumps(msgspec.to_builtins(line)).encode("ascii") + b"\n")


def is_table(folder: Path) -> bool:
    """Check whether a folder holds a table."""
    with suppress(OSError), (folder / _LOG).open("rb") as file:
        return file.read(len(_START)) == _START
    return False


def read_table(folder: Path) -> Table:
    """Read a table. A missing one is empty; a line that cannot be read is skipped, so its cell will be asked again.

    Raises:
        StoreError: The log cannot be read.
    """
    table, path = Table(folder=folder), folder / _LOG
    with map_store_errors("read the table", folder):
        data = path.read_bytes() if path.exists() else b""
    for text in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            line = msgspec.convert(json.loads(text), _Line)
            if line.definition is not None:
                table.rows, table.columns = line.definition.rows, line.definition.columns
            if line.cell is not None:
                table.cells[line.cell.row, line.cell.column] = line.cell
    return table
