"""The folder of a table: append-only logs of its definition and its cells, and the cells' conversations.

A run writes one log. A run of a part of the rows writes a log of its own, so that runs on several machines never write
the same file; what they wrote is merged when it is read. Nothing else is needed to open a table.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from roamtui.conversation.line_file import LOG_SUFFIX, LineFile
from roamtui.conversation.log import ConversationStore
from roamtui.errors import StoreError, UsageError, format_reason
from roamtui.table.cells import Cell
from roamtui.table.columns import Column

_LOG = "results"
_CONVERSATIONS = "conversations"
_FIRST_ENTRY = re.compile(rb'^\{"event": ?"(?:table_defined|cell_recorded)"', re.MULTILINE)
_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A document, or a chapter of one."""

    key: str
    """Path of the file in its folder, or URL; for a chapter, followed by ``#`` and its id."""
    title: str
    source: str
    """Path or URL with which the document is opened."""
    doc: str = ""
    """Key of the document if its source has several, such as an archive."""
    within: str | None = None
    """Id of the chapter, or None for the whole document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefined:
    """The sources, rows and columns of the table were defined, and replace the earlier ones."""

    sources: tuple[str, ...]
    by_chapters: bool
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of the rows, for a run on one of several machines."""

    number: int
    """Number of the part, from 1."""
    count: int

    @property
    def suffix(self) -> str:
        """Suffix of the names of its files, such as ``-2-of-8``."""
        return f"-{self.number}-of-{self.count}"

    def select(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return the rows of this part: every `count`-th one, from row `number` on."""
        return tuple(rows[self.number - 1 :: self.count])


def parse_shard(text: str) -> Shard:
    """Parse the value of ``--shard``, such as ``2/8``.

    Raises:
        UsageError: The text is not of this form, or the first number is not between 1 and the second.
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UsageError(f'--shard takes a part such as 2/8, from 1/8 to 8/8, not "{text}".')
    return Shard(number=int(number), count=int(count))


@dataclass(frozen=True, kw_only=True)
class TableContent:
    """A table, merged from its logs."""

    folder: Path
    sources: tuple[str, ...] = ()
    by_chapters: bool = False
    rows: tuple[Row, ...] = ()
    columns: tuple[Column, ...] = ()
    cells: Mapping[tuple[str, str, str], Cell] = field(default_factory=dict)
    """The newest cell of each row, column and model. Those of columns that the table no longer has are kept."""
    conversation_folders: Mapping[str, Path] = field(default_factory=dict)
    """Where the conversation of a cell is, by its id."""
    skipped: int = 0
    """Number of lines that could not be read."""

    def redefine(self, defined: TableDefined) -> TableContent:
        """Return the table with another definition, and with all its cells."""
        return replace(
            self,
            sources=defined.sources,
            by_chapters=defined.by_chapters,
            rows=defined.rows,
            columns=defined.columns,
        )

    def get_log_path(self, cell: Cell) -> Path | None:
        """Return the log of the conversation of a cell, or None if no question was asked."""
        folder = self.conversation_folders.get(cell.conversation, self.folder / _CONVERSATIONS)
        return folder / f"{cell.conversation}{LOG_SUFFIX}" if cell.conversation else None

    def list_cells(self, row: Row, model: str = "") -> tuple[Cell | None, ...]:
        """Return the cells of a row in the order of the columns: those of a model, or the newest of any model."""
        return tuple(self.get_cell(row.key, column.key, model) for column in self.columns)

    def get_cell(self, row: str, column: str, model: str = "") -> Cell | None:
        """Return the cell of a row and column: that of a model, or the newest of any model; None if there is none."""
        return self.cells.get((row, column, model))


class TableStore:
    """Reads and writes the folder of one table."""

    def __init__(self, folder: Path, shard: Shard | None = None) -> None:
        """Use a folder, which `start_run` creates if it is missing."""
        self.folder = folder
        suffix = shard.suffix if shard is not None else ""
        self._path = folder / f"{_LOG}{suffix}{LOG_SUFFIX}"
        self._conversations = folder / f"{_CONVERSATIONS}{suffix}"
        self._file: LineFile | None = None

    @contextmanager
    def start_run(self) -> Iterator[ConversationStore]:
        """Create the folder, hold its log for this run alone, and yield the store of the cells' conversations.

        The system releases the log if the program is killed.

        Raises:
            StoreError: The folder cannot be used, or another run writes the same log.
        """
        try:
            self._file = LineFile.open(self._path)
        except OSError as error:
            reason = format_reason(error)
            raise StoreError(
                f"Could not use the table in {self.folder}: {reason}. If another run fills it, wait, or use --shard."
            ) from None
        try:
            yield ConversationStore(self._conversations, is_listed=False)
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
    """Check whether a folder holds a table. Other programs write files of these names too."""
    for path in folder.glob(f"{_LOG}*{LOG_SUFFIX}"):
        with suppress(OSError), path.open("rb") as file:
            if _FIRST_ENTRY.search(file.read(_HEAD_BYTES)):
                return True
    return False


def read_table(folder: Path) -> TableContent:
    """Read and merge the logs of a table. A missing one is empty; a line that cannot be read is skipped.

    Raises:
        StoreError: A log cannot be read.
    """
    collects = gc.isenabled()
    gc.disable()  # reading creates no garbage, and looking for it would double the time
    try:
        return _merge_logs(folder)
    finally:
        if collects:
            gc.enable()


def _merge_logs(folder: Path) -> TableContent:
    defined: TableDefined | None = None
    cells: dict[tuple[str, str, str], Cell] = {}
    folders: dict[str, Path] = {}
    skipped = 0
    for path in sorted(folder.glob(f"{_LOG}*{LOG_SUFFIX}")):
        conversations = folder / f"{_CONVERSATIONS}{path.stem.removeprefix(_LOG)}"
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreError(f"Could not read {path}: {format_reason(error)}.") from None
        for event in _decode_lines(data):
            match event:
                case Cell():
                    folders[event.conversation] = conversations
                    for key in ((event.row, event.column, event.model), (event.row, event.column, "")):
                        other = cells.get(key)
                        if other is None or event.at >= other.at:
                            cells[key] = event
                case TableDefined() if defined is None or event.at >= defined.at:
                    defined = event
                case None:
                    skipped += 1
                case _:
                    pass
    content = TableContent(folder=folder, cells=cells, conversation_folders=folders, skipped=skipped)
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
