"""The folder of a table: an append-only log of its rows, columns and cells."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import astuple

from roamtui.conversation.library_sync import is_source_missing
from roamtui.conversation.line_file import LOG_SUFFIX, LineFile, map_store_errors
from roamtui.errors import StoreError
from roamtui.sanitiser import sanitise_line
from roamtui.sources.listing import list_files
from roamtui.sources.read import check_file, is_path
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column, drop_repeated_columns

_LOG = f"results{LOG_SUFFIX}"
_START = b'{"definition": {'
"""The start of a log. Other programs write files of this name too."""


class ResultRow(Struct, frozen=True, kw_only=True):
    """A document that the questions are asked about."""

    title: str
    source: str
    """Path or URL to open the document."""


class ResultTable(Struct, kw_only=True):
    """Questions about documents, with the answers so far."""

    folder: Path
    rows: tuple[ResultRow, ...] = ()
    gone_rows: tuple[ResultRow, ...] = ()
    """Documents that this run leaves out, because they are no longer there. Their cells stay."""
    columns: tuple[Column, ...] = ()
    outputs: frozenset[str] = frozenset()
    """Resolved paths of the files that the table was written to. A folder's rows leave them out."""
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    """By row's source and column's key: the newest cell, also of deleted columns. Runs add cells."""
    states: Counter[CellState] = field(default_factory=Counter)
    """Number of finished cells by state. A run counts them when it begins, and `put` keeps the counts."""
    log: "TableLog | None" = None
    """The log, while a run of this program holds it."""

    def get_cell(self, row: ResultRow, column: Column) -> Cell | None:
        """Return the cell of a row and column, or None if the question was not answered."""
        return self.cells.get((row.source, column.key))

    def list_cells(self, row: ResultRow) -> tuple[Cell | None, ...]:
        """Return the cells of a row in the order of the columns."""
        return tuple(self.get_cell(row, column) for column in self.columns)

    def count_states(self) -> None:
        """Count the cells of the rows and columns."""
        cells = chain.from_iterable(map(self.list_cells, self.rows))
        self.states = Counter(cell.state for cell in cells if cell is not None)

    def put(self, cell: Cell) -> None:
        """Put a cell of the rows and columns into the table, and count it in place of the one before."""
        if (before := self.cells.get((cell.row, cell.column))) is not None:
            self.states[before.state] -= 1
        self.states[cell.state] += 1
        self.cells[cell.row, cell.column] = cell


class _Definition(Struct):
    """The rows, columns and outputs of the table, which replace the earlier ones."""

    rows: tuple[ResultRow, ...]
    columns: tuple[Column, ...]
    outputs: frozenset[str] = frozenset()


class _LogEntry(Struct, omit_defaults=True):
    definition: _Definition | None = None
    cell: Cell | None = None


class TableLog:
    """The log of a table, held until it is closed. If the program is killed, the system releases it."""

    def __init__(self, table: ResultTable) -> None:
        """Lock the log, and read what earlier runs have written.

        Raises:
            StoreError: The folder cannot be used, or another run fills the table.
        """
        self._table = table
        with map_store_errors("use the table", table.folder):
            self._file = LineFile(table.folder / _LOG)
        try:
            self.known = read_table(table.folder)
            """The rows, columns and outputs on disk, and the cells of earlier runs."""
        except StoreError:
            self._file.close()
            raise

    def begin_run(self) -> None:
        """Add the cells of earlier runs to the table, and record its columns after the earlier ones."""
        table = self._table
        for key, cell in self.known.cells.items():
            known = table.cells.get(key)
            if known is None or known.asked_at != cell.asked_at:  # `known` may have newer verdicts
                table.cells[key] = cell
        rows = set(table.rows)
        left_out = (row for row in self.known.rows if row not in rows)
        table.gone_rows = tuple(row for row in left_out if is_source_missing(row.source))
        table.count_states()
        self.define((*self.known.columns, *table.columns))
        table.log = self

    def record(self, cell: Cell) -> None:
        """Add a cell to disk and table, or raise `StoreError`."""
        self._append(_LogEntry(cell=cell))
        self._table.put(cell)

    def define(self, columns: Iterable[Column]) -> None:
        """Record columns, the rows of the table, and its outputs with earlier ones, or raise `StoreError`."""
        known = self.known
        outputs = known.outputs | self._table.outputs
        definition = _Definition(self._table.rows, drop_repeated_columns(columns), outputs)
        if definition != _Definition(known.rows, known.columns, known.outputs):
            self._append(_LogEntry(definition=definition))
            known.rows, known.columns, known.outputs = astuple(definition)

    def _append(self, entry: _LogEntry) -> None:
        with map_store_errors("save the table", self._table.folder):
            # ASCII, because msgspec cannot encode lone surrogates.
            self._file.append(json.dumps(msgspec.to_builtins(entry)).encode("ascii") + b"\n")

    def close(self) -> None:
        """Let other runs use the table."""
        self._table.log = None
        self._file.close()


def add_column(table: ResultTable, column: Column) -> None:
    """Add a column. The run that fills the table records it, or else the next run. May raise `StoreError`."""
    if table.log is not None:
        table.log.define((*table.log.known.columns, column))
    table.columns = drop_repeated_columns((*table.columns, column))
    table.count_states()


def delete_column(table: ResultTable, column: Column) -> None:
    """Delete a column, unless a run fills the table. Its answers return if its question is asked again.

    Raises:
        StoreError: The log cannot be written, or a run fills the table.
    """
    with closing(TableLog(table)) as log:
        log.define(other for other in log.known.columns if other.key != column.key)
    table.columns = tuple(other for other in table.columns if other.key != column.key)
    table.count_states()


def is_table(folder: Path) -> bool:
    """Return whether a folder holds a table."""
    with suppress(OSError), (folder / _LOG).open("rb") as file:
        return file.read(len(_START)) == _START
    return False


def read_table(folder: Path) -> ResultTable:
    """Read a table. A missing one is empty. The cells of unreadable lines will be asked again.

    Raises:
        StoreError: The log cannot be read.
    """
    table = ResultTable(folder=folder)
    path = folder / _LOG
    with map_store_errors("read the table", folder):
        data = path.read_bytes() if path.exists() else b""
    for text in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            line = msgspec.convert(json.loads(text), _LogEntry)
            if line.definition is not None:
                table.rows = line.definition.rows
                table.columns = line.definition.columns
                table.outputs = line.definition.outputs
            if line.cell is not None:
                table.cells[line.cell.row, line.cell.column] = line.cell
    return table


def list_rows(
    sources: Sequence[str],
    outputs: frozenset[str] = frozenset(),
    on_note: Callable[[str], object] = lambda _: None,
) -> tuple[ResultRow, ...]:
    """List the documents of sources, in order. Of a folder, leave out the files in `outputs`.

    `on_note` receives sentences about what the folders have besides.

    Raises:
        SourceError: A source cannot be read.
    """
    rows: dict[str, ResultRow] = {}  # a file and its folder may both be named
    for row in chain.from_iterable(_list_documents(source, on_note) for source in sources):
        if row.source in sources or os.path.realpath(row.source) not in outputs:
            rows.setdefault(row.source, row)
    return tuple(rows.values())


def _list_documents(source: str, on_note: Callable[[str], object]) -> Iterator[ResultRow]:
    if not is_path(source):
        yield ResultRow(title=source, source=source)
    elif not Path(source).is_dir():
        path = Path(source).absolute()
        check_file(path)
        yield ResultRow(title=sanitise_line(path.name), source=str(path))
    else:
        listing = list_files([Path(source)])
        for note in listing.notes:
            on_note(note)
        for key, file in listing.files.items():
            yield ResultRow(title=sanitise_line(key), source=str(file.path))
