"""The folder of a table: an append-only log of its definition and its cells, and the cells' conversations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from roamtui.conversation.line_file import LOG_SUFFIX, LineFile
from roamtui.conversation.log import ConversationStore
from roamtui.errors import StoreError, format_reason
from roamtui.table.cells import Cell
from roamtui.table.columns import Column

_LOG = f"results{LOG_SUFFIX}"
_CONVERSATIONS = "conversations"
_FIRST_ENTRY = re.compile(rb'^\{"event": ?"(?:table_defined|cell_recorded)"', re.MULTILINE)
_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A document."""

    key: str
    """Path of the file in its folder, or URL."""
    title: str
    source: str
    """Path or URL with which the document is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefined:
    """The sources, rows and columns of the table were defined, and replace the earlier ones."""

    sources: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    at: str = ""
    """When it was recorded: ISO 8601, UTC."""


class _Line(msgspec.Struct, omit_defaults=True):
    """A line of a log."""

    event: str
    cell: Cell | None = None
    defined: TableDefined | None = None


_DECODER = msgspec.json.Decoder(_Line)


@dataclass(frozen=True, kw_only=True)
class TableContent:
    """A table, as its log says."""

    folder: Path
    sources: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    columns: tuple[Column, ...] = ()
    cells: Mapping[tuple[str, str, str], Cell] = field(default_factory=dict)
    """The newest cell of each row, column and model. Those of columns that the table no longer has are kept."""
    skipped: int = 0
    """Number of lines that could not be read."""

    def redefine(self, defined: TableDefined) -> TableContent:
        """Return the table with another definition, and with all its cells."""
        return replace(self, sources=defined.sources, rows=defined.rows, columns=defined.columns)

    def get_log_path(self, cell: Cell) -> Path | None:
        """Return the log of the conversation of a cell, or None if no question was asked."""
        name = f"{cell.conversation}{LOG_SUFFIX}"
        return self.folder / _CONVERSATIONS / name if cell.conversation else None

    def list_cells(self, row: Row, model: str = "") -> tuple[Cell | None, ...]:
        """Return the cells of a row in the order of the columns: those of a model, or the newest of any model."""
        return tuple(self.get_cell(row.key, column.key, model) for column in self.columns)

    def get_cell(self, row: str, column: str, model: str = "") -> Cell | None:
        """Return the cell of a row and column: that of a model, or the newest of any model; None if there is none."""
        return self.cells.get((row, column, model))


class TableStore:
    """Reads and writes the folder of one table."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, which `start_run` creates if it is missing."""
        self.folder = folder
        self._path = folder / _LOG
        self._file: LineFile | None = None

    @contextmanager
    def start_run(self) -> Iterator[ConversationStore]:
        """Create the folder, hold its log for this run alone, and yield the store of the cells' conversations.

        The system releases the log if the program is killed.

        Raises:
            StoreError: The folder cannot be used, or another run fills the table.
        """
        try:
            self._file = LineFile.open(self._path)
        except OSError as error:
            reason = format_reason(error)
            raise StoreError(
                f"Could not use the table in {self.folder}: {reason}. If another run fills it, wait."
            ) from None
        try:
            yield ConversationStore(self.folder / _CONVERSATIONS, is_listed=False)
        finally:
            self._file.close()
            self._file = None

    def define(self, defined: TableDefined, current: TableContent) -> TableContent:
        """Record the definition of the table, unless it is the current one already. Return the table with it.

        Raises:
            StoreError: The log cannot be written.
        """
        content = current.redefine(defined)
        if content != current:
            self._append(_Line(event="table_defined", defined=replace(defined, at=_get_time())))
        return content

    def record(self, cell: Cell) -> Cell:
        """Append a cell. When this returns, it is on disk.

        Raises:
            StoreError: The log cannot be written.
        """
        cell = replace(cell, at=_get_time())
        self._append(_Line(event="cell_recorded", cell=cell))
        return cell

    def _append(self, line: _Line) -> None:
        assert self._file is not None, "only within `start_run`"
        try:
            # ASCII, because msgspec cannot encode lone surrogates.
            self._file.append(json.dumps(msgspec.to_builtins(line)).encode("ascii") + b"\n")
        except OSError as error:
            reason = format_reason(error)
            raise StoreError(f"Could not write {self._path}: {reason}. Make room, and run it again.") from None


def is_table(folder: Path) -> bool:
    """Check whether a folder holds a table. Other programs write files of this name too."""
    with suppress(OSError), (folder / _LOG).open("rb") as file:
        return _FIRST_ENTRY.search(file.read(_HEAD_BYTES)) is not None
    return False


def read_table(folder: Path) -> TableContent:
    """Read a table. A missing one is empty; a line that cannot be read is skipped.

    Raises:
        StoreError: The log cannot be read.
    """
    defined: TableDefined | None = None
    cells: dict[tuple[str, str, str], Cell] = {}
    skipped = 0
    path = folder / _LOG
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise StoreError(f"Could not read {path}: {format_reason(error)}.") from None
    for event in _decode_lines(data):
        match event:
            case Cell():
                cells[event.row, event.column, event.model] = cells[event.row, event.column, ""] = event
            case TableDefined():
                defined = event
            case None:
                skipped += 1
    content = TableContent(folder=folder, cells=cells, skipped=skipped)
    return content if defined is None else content.redefine(defined)


def _decode_lines(data: bytes) -> Iterator[Cell | TableDefined | None]:
    """Decode the lines of a log. A line that cannot be read becomes None."""
    for text in data.split(b"\n"):
        if text:
            line: _Line | None = None
            for decode in (_DECODER.decode, _decode_any):
                with suppress(ValueError, RecursionError):
                    line = decode(text)
                    break
            yield None if line is None else line.cell or line.defined


def _decode_any(text: bytes) -> _Line:
    """Decode a line more slowly, also with lone surrogates."""
    return msgspec.convert(json.loads(text), _Line)


def _get_time() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
