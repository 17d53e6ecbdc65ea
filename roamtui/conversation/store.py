"""Conversations on disk: one SQLite file, readable by its owner alone.

Rollback journal and FULL synchronisation: SQLite before 3.51.3 can lose a WAL at a reset.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from roamtui.conversation.codec import Damage, SavedConversation, encode_exchange, encode_state
from roamtui.conversation.damage import list_damaged
from roamtui.conversation.database import Database, list_backups, read_in_one_moment
from roamtui.conversation.reading import NO_SUCH, keep_damaged, read_conversation, read_number, read_text
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.errors import ContinuedElsewhereError, StoreError

_SAVE = (
    "INSERT INTO conversations VALUES (:id, :source, :title, :model, :now, :now, :state, :revision, :writer, :changed) "
    "ON CONFLICT (id) DO UPDATE SET source = :source, title = :title, model = :model, updated_at = :now, "
    "state = :state, revision = :revision, writer = :writer, changed = :changed"
)


def forget_in_copies(path: Path, conversation_id: str) -> tuple[Path, ...]:
    """Overwrite a conversation in the copies of older versions; return the files in which it may still be read.

    A file that was put aside as damaged is left as it is: somebody may want to save more of it.
    """
    left = [copy for copy in list_backups(path) if not _has_forgotten(copy, conversation_id)]
    left += [aside for aside in list_damaged(path) if conversation_id.encode() in aside.read_bytes()]
    return tuple(left)


def _has_forgotten(copy: Path, conversation_id: str) -> bool:
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM exchanges WHERE conversation_id = ?", (conversation_id,))
            connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
            connection.execute("COMMIT")
    except sqlite3.Error:
        return False
    return True


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What this object knows to lie on disk of a conversation."""

    revision: int
    exchanges: tuple[Exchange, ...] = ()
    """As this object wrote them last."""
    generation: int = 0
    """Of the database that it wrote them into."""
    damage: Damage | None = None
    """What could not be read of it when it was taken up, until it is kept aside."""


class Store:
    """All conversations of a person. Safe to use from several threads and programs."""

    problem = ""
    """Why the file could not be opened at first, a sentence; empty where it could."""

    def __init__(self, path: Path, *, is_patient: bool = False) -> None:
        """Open the file, and make it where it is missing.

        Args:
            path: The file.
            is_patient: Whether to go on without the file where it cannot be opened, and to try again at each use.

        Raises:
            StoreError: It cannot be opened, or a newer program wrote it.
        """
        self._path = path
        self._writer = os.urandom(8).hex()
        self._known: dict[str, _Known] = {}
        self._database = Database(path)
        try:
            self._database.connect()
        except StoreError as error:
            if not is_patient:
                raise
            self.problem = str(error)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def take_reports(self) -> tuple[str, ...]:
        """Return sentences about what became of the file that nobody was told yet."""
        return self._database.take_reports()

    def save(self, state: ConversationState) -> None:
        """Write a conversation: its state and the exchanges that are new since the last save, in one transaction.

        Raises:
            ContinuedElsewhereError: Another program went on with it since it was taken up or written here.
            StoreError: It could not be written; what was on disk is unchanged.
        """
        exchanges = state.transcript.exchanges

        def write(connection: sqlite3.Connection) -> _Known:
            revision = self._check_revision(connection, state.id)
            changed = connection.execute(
                "SELECT CAST(coalesce(max(changed), 0) AS INTEGER) + 1 FROM conversations"
            ).fetchone()[0]
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            self._put_damaged_aside(connection, state.id, now)
            values = {
                "id": state.id,
                "source": identify_source(state),
                "title": _storable(state.title),
                "model": _storable(state.model),
                "now": now,
                "state": json.dumps(encode_state(state), ensure_ascii=True),
                "revision": revision,
                "writer": self._writer,
                "changed": changed,
            }
            connection.execute(_SAVE, values)
            written = self._find_written(connection, state.id)
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
            return _Known(revision=revision, exchanges=exchanges, generation=self._database.generation)

        known = self._database.write(write)
        for conversation_id, before in self._known.items():
            # It holds no texts of earlier ones.
            self._known[conversation_id] = _Known(revision=before.revision, damage=before.damage)
        self._known[state.id] = known

    def _check_revision(self, connection: sqlite3.Connection, conversation_id: str) -> int:
        """Return the number of the revision that is to be written.

        Raises:
            ContinuedElsewhereError: The one on disk is another's.
        """
        known = self._known.get(conversation_id, _Known(revision=0))
        row = connection.execute(
            "SELECT revision, writer FROM conversations WHERE id = ?", (conversation_id,)
        ).fetchone()
        if row is None:
            return known.revision + 1
        revision = read_number(row["revision"])
        if revision != known.revision and row["writer"] != self._writer:
            raise ContinuedElsewhereError(conversation_id)
        return max(revision, known.revision) + 1

    def _put_damaged_aside(self, connection: sqlite3.Connection, conversation_id: str, now: str) -> None:
        """Copy rows that could not be read, and make room for what was read in their place."""
        damage = self._known.get(conversation_id, _Known(revision=0)).damage
        if damage is not None:
            keep_damaged(connection, conversation_id, damage, now)
            connection.execute("DELETE FROM exchanges WHERE conversation_id = ?", (conversation_id,))

    def _find_written(self, connection: sqlite3.Connection, conversation_id: str) -> tuple[Exchange, ...]:
        """Return the exchanges that lie on disk as this object wrote them, none where that is not certain."""
        known = self._known.get(conversation_id)
        if known is None or known.generation != self._database.generation:
            return ()
        query = "SELECT count(*) FROM exchanges WHERE conversation_id = ?"
        count = connection.execute(query, (conversation_id,)).fetchone()[0]
        return known.exchanges if count == len(known.exchanges) else ()

    def load(self, conversation_id: str) -> SavedConversation:
        """Return a conversation as it lies on disk; of one that is damaged what is left, and what is not.

        Raises:
            StoreError: There is none with this id, or the file cannot be read.
        """
        return self._database.read(
            lambda connection: read_in_one_moment(connection, lambda one: read_conversation(one, conversation_id))
        )

    def take_up(self, conversation_id: str) -> SavedConversation:
        """Return a conversation to go on with: what is saved of it next follows what lies on disk now.

        Raises:
            StoreError: There is none with this id, or the file cannot be read.
        """
        saved = self.load(conversation_id)
        exchanges = saved.transcript.exchanges if saved.damage is None else ()
        self._known[conversation_id] = _Known(
            revision=saved.revision,
            exchanges=exchanges,
            generation=self._database.generation,
            damage=saved.damage,
        )
        return saved

    def list(self, source: str | None = None) -> tuple[ConversationSummary, ...]:
        """Return all conversations, or those about one source, the one that was changed last first."""
        # Not the state, which is large: with 5,000 conversations it is most of the file.
        query = (
            "SELECT id, source, title, model, created_at, updated_at, "
            "(SELECT count(*) FROM exchanges e WHERE e.conversation_id = c.id) AS questions "
            "FROM conversations c WHERE :source IS NULL OR c.source = :source ORDER BY c.changed DESC, c.rowid DESC"
        )
        rows = self._database.read(lambda connection: connection.execute(query, {"source": source}).fetchall())
        keys = ("id", "source", "title", "model", "created_at", "updated_at")
        return tuple(
            ConversationSummary(**{key: read_text(row[key]) for key in keys}, questions=row["questions"])
            for row in rows
        )

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
        rows = self._database.read(lambda connection: connection.execute(query).fetchall())
        return {row["conversation_id"]: row["words"] for row in rows}

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; its place in the list stays.

        Raises:
            StoreError: There is none with this id, or it could not be written.
        """

        def write(connection: sqlite3.Connection) -> None:
            values = (_storable(title), conversation_id)
            if not connection.execute("UPDATE conversations SET title = ? WHERE id = ?", values).rowcount:
                raise StoreError(NO_SUCH.format(conversation_id))

        self._database.write(write)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation for good: its bytes are overwritten, in copies of older versions too.

        Where they may still be, a report says so.

        Raises:
            StoreError: There is none with this id.
        """

        def write(connection: sqlite3.Connection) -> None:
            if not connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,)).rowcount:
                raise StoreError(NO_SUCH.format(conversation_id))

        self._database.write(write)
        self._known.pop(conversation_id, None)
        for path in forget_in_copies(self._path, conversation_id):
            self._database.report(f"The deleted conversation may still be read in {path}. Delete that file too.")


def identify_source(state: ConversationState) -> str:
    """Return what conversations of one source have in common: its name, or its content where it came by a pipe."""
    library = state.library
    return f"-{library.root.content_hash}" if library.source == "-" else _storable(library.source)


def is_gone(source: str) -> bool:
    """Return whether none of the files and folders that a source names is there any more."""
    is_file = "://" not in source and not source.startswith("-")
    return is_file and not any(os.path.lexists(name) for name in (source, *source.split(", ")))


def _storable(text: str) -> str:
    """Return text that SQLite takes: a file's name may hold bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
