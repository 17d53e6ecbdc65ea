"""The tables of conversations, version by version, and the copy that is kept of a file before it is changed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from roamtui.errors import StoreError

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
