"""Conversations on disk: one SQLite file, readable by its owner alone.

Rollback journal and FULL synchronisation: SQLite before 3.51.3 can lose a WAL at a reset. Migrations go by
`user_version`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING

from roamtui.conversation.codec import (
    SavedConversation,
    decode_conversation,
    decode_exchange,
    encode_exchange,
    encode_state,
)
from roamtui.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from roamtui.conversation.state import ConversationState
    from roamtui.conversation.transcript import Exchange

_VERSION = 1
_BUSY_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE conversations (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT NOT NULL, model TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, state TEXT NOT NULL
) STRICT;
CREATE INDEX conversations_by_source ON conversations (source, updated_at);
CREATE TABLE exchanges (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (conversation_id, number)
) STRICT;
PRAGMA user_version = 1;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """One line of a list of conversations."""

    id: str
    source: str
    title: str
    model: str
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    questions: int


class Store:
    """All conversations of a person. Safe to use from several threads and programs."""

    def __init__(self, path: Path) -> None:
        """Open the file, and make it where it is missing.

        Raises:
            StoreError: It cannot be opened, or a newer program wrote it.
        """
        self._path = path
        self._lock = Lock()
        self._written: dict[str, tuple[Exchange, ...]] = {}
        """Exchanges of each conversation as this object wrote them last."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"Conversations cannot be kept in {path}: {_explain(error)}.") from None
        try:
            self._connection.row_factory = sqlite3.Row
            self._prepare()
        except sqlite3.Error as error:
            self._connection.close()
            raise StoreError(f"Conversations cannot be kept in {path}: {_explain(error)}.") from None
        except StoreError:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def save(self, state: ConversationState) -> None:
        """Write a conversation: its state and the exchanges that are new since the last save, in one transaction.

        Raises:
            StoreError: It could not be written; what was on disk is unchanged.
        """
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        exchanges = state.transcript.exchanges
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO conversations VALUES (:id, :source, :title, :model, :now, :now, :state) "
                "ON CONFLICT (id) DO UPDATE SET title = :title, model = :model, updated_at = :now, state = :state",
                {
                    "id": state.id,
                    "source": identify_source(state),
                    "title": _storable(state.title),
                    "model": _storable(state.model),
                    "now": now,
                    "state": json.dumps(encode_state(state), ensure_ascii=True),
                },
            )
            count = connection.execute(
                "SELECT count(*) FROM exchanges WHERE conversation_id = ?", (state.id,)
            ).fetchone()[0]
            written = self._written.get(state.id, ())
            if count != len(written):
                written = ()
            connection.execute(
                "DELETE FROM exchanges WHERE conversation_id = ? AND number > ?", (state.id, len(exchanges))
            )
            connection.executemany(
                "INSERT OR REPLACE INTO exchanges VALUES (?, ?, ?)",
                [
                    (state.id, exchange.number, json.dumps(encode_exchange(exchange), ensure_ascii=True))
                    for index, exchange in enumerate(exchanges)
                    if index >= len(written) or written[index] is not exchange
                ],
            )
        self._written[state.id] = exchanges

    def load(self, conversation_id: str) -> SavedConversation:
        """Return a conversation.

        Raises:
            StoreError: There is none with this id, or it cannot be read.
        """
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM conversations WHERE id = ?", (conversation_id,)).fetchone()
            if row is None:
                raise StoreError(f'There is no conversation "{conversation_id}". `roamtui conversations` lists them.')
            exchanges = connection.execute(
                "SELECT data FROM exchanges WHERE conversation_id = ? ORDER BY number", (conversation_id,)
            ).fetchall()
            try:
                decoded = tuple(decode_exchange(json.loads(data)) for (data,) in exchanges)
                return decode_conversation(dict(row), json.loads(row["state"]), decoded)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise StoreError(f'The conversation "{conversation_id}" is damaged and cannot be read.') from None

    def list(self, source: str | None = None) -> tuple[ConversationSummary, ...]:
        """Return all conversations, or those about one source, newest first."""
        query = (
            "SELECT c.*, (SELECT count(*) FROM exchanges e WHERE e.conversation_id = c.id) AS questions "
            "FROM conversations c WHERE :source IS NULL OR c.source = :source ORDER BY c.updated_at DESC, c.rowid DESC"
        )
        with self._reading() as connection:
            rows = connection.execute(query, {"source": source}).fetchall()
        keys = ("id", "source", "title", "model", "created_at", "updated_at", "questions")
        return tuple(ConversationSummary(**{key: row[key] for key in keys}) for row in rows)

    def read_words(self) -> dict[str, str]:
        """Return all questions and answers of each conversation as one text, for searching; what is damaged has none.

        Raises:
            StoreError: They cannot be read.
        """
        query = (
            "SELECT conversation_id, group_concat(coalesce(json_extract(data, '$.question'), '') || char(10) || "
            "coalesce(json_extract(data, '$.answer'), ''), char(10)) AS words "
            "FROM exchanges WHERE json_valid(data) GROUP BY conversation_id"
        )
        with self._reading() as connection:
            return {row["conversation_id"]: row["words"] for row in connection.execute(query)}

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; its place in the list stays.

        Raises:
            StoreError: There is none with this id, or it could not be written.
        """
        with self._transaction() as connection:
            renamed = connection.execute(
                "UPDATE conversations SET title = ? WHERE id = ?", (_storable(title), conversation_id)
            ).rowcount
            if not renamed:
                raise StoreError(f'There is no conversation "{conversation_id}". `roamtui conversations` lists them.')

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation for good.

        Raises:
            StoreError: There is none with this id.
        """
        with self._transaction() as connection:
            deleted = connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,)).rowcount
            if not deleted:
                raise StoreError(f'There is no conversation "{conversation_id}". `roamtui conversations` lists them.')
        self._written.pop(conversation_id, None)

    def _prepare(self) -> None:
        connection = self._connection
        connection.executescript(
            "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
            "PRAGMA secure_delete = ON;"
        )
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise StoreError(f"{self._path} was written by a newer roamtui. Update roamtui to use it.")
        if version == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {self._schema_if_missing()} COMMIT;")

    def _schema_if_missing(self) -> str:
        return _SCHEMA.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS").replace(
            "CREATE INDEX", "CREATE INDEX IF NOT EXISTS"
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise StoreError(f"{self._path} cannot be read: {_explain(error)}.") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._connection
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                raise StoreError(f"The conversation is not saved: {_explain(error)} ({self._path}).") from None
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def identify_source(state: ConversationState) -> str:
    """Return what conversations of one source have in common: its name, or its content where it came by a pipe."""
    library = state.library
    return f"-{library.root.content_hash}" if library.source == "-" else _storable(library.source)


def _storable(text: str) -> str:
    """Return text that SQLite takes: a file's name may hold bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
