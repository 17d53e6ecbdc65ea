"""One SQLite file of conversations that may be missing, full, read-only, replaced or damaged at any moment.

A copy is kept of a file before it is brought to a newer version; what is saved of a damaged one is in `damage.py`.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TypeVar

from roamtui.errors import StoreError
from roamtui.private_folders import make_private_folder

_BACKUPS_MAX = 3
_FIRST = (
    """CREATE TABLE IF NOT EXISTS conversations (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT NOT NULL, model TEXT NOT NULL,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, state TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX IF NOT EXISTS conversations_by_source ON conversations (source, updated_at)",
    """CREATE TABLE IF NOT EXISTS exchanges (
        conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
        number INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (conversation_id, number)
    ) STRICT""",
)
_WITH_REVISIONS = (
    "ALTER TABLE conversations ADD COLUMN revision INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN writer TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE conversations ADD COLUMN changed INTEGER NOT NULL DEFAULT 0",
    """UPDATE conversations SET changed = (SELECT count(*) FROM conversations other
        WHERE (other.updated_at, other.rowid) <= (conversations.updated_at, conversations.rowid))""",
    "DROP INDEX IF EXISTS conversations_by_source",
    "CREATE INDEX conversations_by_source ON conversations (source, changed)",
    "CREATE INDEX conversations_by_change ON conversations (changed)",
)
"""Who wrote a conversation last, how often it was written, and a place in the order of changes that no clock gives."""
_STEPS = (_FIRST, _WITH_REVISIONS)
VERSION = len(_STEPS)
"""`user_version` of the files that this program writes."""
_BUSY_SECONDS = 5.0
_PRIVATE_FILE = 0o600
_PREPARATION = (
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_GONE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_ERROR)
"""What another connection may not meet any more, or find the reason of: the file was moved, or its tables are gone."""
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the file can only be read",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_IOERR: "the disk cannot be written or read",
    sqlite3.SQLITE_BUSY: "another program keeps it locked",
}
"""By kind of error."""
_NOT_OPENED = "Conversations cannot be kept in {path}: {reason}."

_Result = TypeVar("_Result")


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to the newest version, all at once or not at all; a copy of the older one is kept beside it.

    Raises:
        StoreError: A newer program wrote it.
        sqlite3.Error: It cannot be read or written, or is damaged.
    """
    version = _read_version(connection)
    if version > VERSION:
        raise StoreError(f"{path} was written by a newer roamtui. Update roamtui to use it.")
    if version == VERSION:
        _check_tables(connection)
        return
    if version:
        _check_pages(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _read_version(connection)
        if version:
            _back_up(path, version)
        for step in _STEPS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def list_backups(path: Path) -> list[Path]:
    """Return the copies of older versions of a file, oldest first."""
    return sorted(path.parent.glob(f"{path.stem}.v*-*{path.suffix}"))


def name_beside(path: Path, label: str) -> Path:
    """Return a name beside a file that says what it is and when it was made, and that nothing has yet."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    number = 1
    while True:
        suffix = f"_{number}" if number > 1 else ""
        beside = path.with_name(f"{path.stem}.{label}-{moment}{suffix}{path.suffix}")
        if not beside.exists():
            return beside
        number += 1


def _read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_tables(connection: sqlite3.Connection) -> None:
    """Take a file without its tables for damaged.

    Raises:
        sqlite3.DatabaseError: A table or a column is missing.
    """
    try:
        connection.execute(
            "SELECT state, revision, writer, changed, number, data FROM conversations, exchanges LIMIT 0"
        )
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        raise _damaged("tables are missing") from None


def _check_pages(connection: sqlite3.Connection) -> None:
    """Look through all pages, before a damaged file is changed and its copy taken for whole.

    Raises:
        sqlite3.DatabaseError: It is damaged.
    """
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise _damaged(str(found))


def _damaged(reason: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _back_up(path: Path, version: int) -> None:
    """Copy a file that nobody can write meanwhile, through SQLite: closing a file by hand would end its locks."""
    for left_behind in path.parent.glob(f"{path.stem}.v*{path.suffix}.part"):
        left_behind.unlink(missing_ok=True)
    beside = name_beside(path, f"v{version}")
    part = beside.with_name(f"{beside.name}.part")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(path)) as original, closing(sqlite3.connect(part)) as copy:
            original.backup(copy)
        part.replace(beside)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    older = [backup for backup in list_backups(path) if backup != beside]
    for backup in older[: 1 - _BACKUPS_MAX]:
        backup.unlink(missing_ok=True)


class Database:
    """A file of the newest version, opened when it is needed. Safe to use from several threads and programs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._is_closed = False
        self._reports: list[str] = []
        self.generation = 0
        """Grows whenever the file is opened: it may be another one then."""

    def read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Return what `work` reads; it may be called again.

        Raises:
            StoreError: It cannot be read.
        """
        with self._lock:
            return self._run(work, "{path} cannot be read: {reason}.")

    def write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Carry out `work` in one transaction; it may be called again, and its first try is then taken back.

        Raises:
            StoreError: It could not be written; what was on disk is unchanged.
        """

        def transact(connection: sqlite3.Connection) -> _Result:
            try:
                connection.execute("BEGIN IMMEDIATE")
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            return result

        with self._lock:
            return self._run(transact, "The conversation is not saved: {reason} ({path}).")

    def connect(self) -> None:
        """Open the file, and make it where it is missing.

        Raises:
            StoreError: It cannot be opened, or a newer program wrote it.
        """
        with self._lock:
            self._run(lambda _connection: None, _NOT_OPENED)

    def close(self) -> None:
        """Close the file for good."""
        with self._lock:
            self._is_closed = True
            self._drop()

    def take_reports(self) -> tuple[str, ...]:
        """Return sentences about what became of the file that nobody was told yet."""
        with self._lock:
            reports, self._reports = tuple(self._reports), []
            return reports

    def report(self, sentence: str) -> None:
        """Keep a sentence for whoever takes the reports next."""
        with self._lock:
            self._reports.append(sentence)

    def _run(self, work: Callable[[sqlite3.Connection], _Result], failure: str) -> _Result:
        if self._is_closed:
            raise StoreError(failure.format(path=self._path, reason="it was closed"))
        try:
            for is_last in (False, False, True):
                try:
                    with _readable_errors():
                        return work(self._connected())
                except sqlite3.Error as error:
                    if is_last or not self._repair(error):
                        raise
            raise AssertionError
        except (OSError, sqlite3.Error) as error:
            failure = _NOT_OPENED if self._connection is None else failure
            raise StoreError(failure.format(path=self._path, reason=_explain(error))) from None

    def _connected(self) -> sqlite3.Connection:
        """Return a connection to the file that lies at the path now."""
        if self._connection is not None and _identify(self._path) != self._identity:
            self._drop()
        if self._connection is None:
            connection = _open(self._path)
            self._connection, self._identity = connection, _identify(self._path)
            self.generation += 1
        return self._connection

    def _repair(self, error: sqlite3.Error) -> bool:
        """Return whether the work may succeed on another connection, after a damaged file was replaced by a new one."""
        code = getattr(error, "sqlite_errorcode", None)
        kind = code & 0xFF if code is not None else None
        if kind not in (*_DAMAGE, *_GONE):
            return False
        identity = self._identity or _identify(self._path)
        self._drop()
        if kind in _DAMAGE:
            from roamtui.conversation.damage import replace_damaged  # noqa: PLC0415 - rarely needed

            report = replace_damaged(self._path, identity)
            self._reports += [report] if report else []
        return True

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._identity = None


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Take an error for damage whose words cannot be decoded: they quote a damaged file."""
    try:
        yield
    except UnicodeDecodeError:
        error = sqlite3.DatabaseError("the file is damaged")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error from None


def read_in_one_moment(connection: sqlite3.Connection, read: Callable[[sqlite3.Connection], _Result]) -> _Result:
    """Return what `read` reads, all of it as the file was at one moment, whatever other programs write meanwhile."""
    connection.execute("BEGIN")
    try:
        return read(connection)
    finally:
        _roll_back(connection)


def _open(path: Path) -> sqlite3.Connection:
    _make_private(path)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = _decode
        for pragma in _PREPARATION:
            connection.execute(pragma)
        migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_private(path: Path) -> None:
    """Make the file and the folders above it where they are missing, for their owner alone, whatever the umask is."""
    make_private_folder(path.parent)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with suppress(FileExistsError):
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE_FILE))
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "something else than a file is there; move it away")
    if stat.S_IMODE(mode) != _PRIVATE_FILE:
        with suppress(OSError):
            path.chmod(_PRIVATE_FILE)


def _identify(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one with its name, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _decode(text: bytes) -> str:
    """Return text even where a damaged file holds bytes that are none, so that the rows around it can be read."""
    return text.decode("utf-8", "replace")


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    reason = _REASONS.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF)
    return reason or str(error) or type(error).__name__
