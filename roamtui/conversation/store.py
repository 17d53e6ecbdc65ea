"""Stores conversations on disk: a private folder contains a log of each conversation, and an index of all logs."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from roamtui.conversation.events import (
    ConversationEvent,
    ConversationForked,
    ConversationRenamed,
    ConversationStarted,
    QuestionAsked,
)
from roamtui.conversation.log import (
    DECODE_ERRORS,
    LOG_SUFFIX,
    Appender,
    ConversationLog,
    decode_entries,
    encode_entries,
    is_other_version,
    locked,
    map_store_errors,
    open_log,
    prepare_folder,
    read_at,
    shred,
)
from roamtui.conversation.state import ConversationState, apply, fold_events
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import ConversationConflictError, StoreError, format_reason
from roamtui.paths import open_private_file

_CLOCK_NAME = ".newest"
"""An empty file that has the modification time of the newest change.

Later changes get later times, so that a wrong clock cannot mix up the order of the conversations.
"""
_CLOCK_STEP_NS = 100
"""The smallest difference between two file times on Windows."""
_INDEX_NAME = "index.sqlite3"
"""An index for listing and searching the logs. It may be deleted at any time, and is then rebuilt from the logs."""
_INDEX_VERSION = 2
_EMPTY_LIBRARY = Library(source="", root=parse_document(""))
"""Takes the place of the document if a conversation is read without its document."""
_TABLE = (
    "CREATE TABLE conversations (id TEXT PRIMARY KEY, size INTEGER, changed INTEGER, source TEXT, title TEXT, "
    "model TEXT, created_at TEXT, updated_at TEXT, questions INTEGER, "
    "is_answered INTEGER, is_one_shot INTEGER, words TEXT) STRICT"
)
_INSERT = "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BUSY_SECONDS = 5.0
_NO_SUCH = 'No conversation "{}". Run `roamtui conversations` to list them.'


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """One entry in a list of conversations."""

    id: str
    source: str
    title: str
    model: str
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    questions: int
    is_answered: bool = True
    """Whether any question has an answer, or the last one is unfinished, as after the program was killed."""
    is_one_shot: bool = False
    """Whether `roamtui ask` asked all questions."""


class ConversationStore:
    """All conversations of a person. Several threads and programs may use them at the same time."""

    problem = ""
    """A sentence that says why conversations cannot be saved; empty if they can."""

    def __init__(self, folder: Path, *, is_patient: bool = False, is_listed: bool = True) -> None:
        """Create the folder if it is missing.

        Args:
            folder: Folder of the logs.
            is_patient: Whether to continue if the folder cannot be used, and to try again each time it is needed.
            is_listed: Whether the conversations appear in lists. Those of the cells of a table do not.

        Raises:
            StoreError: The folder cannot be used.
        """
        self._folder = folder
        self._is_listed = is_listed
        self._lock = Lock()
        self._warnings: list[str] = []
        self._appenders: defaultdict[str, Appender] = defaultdict(Appender)
        try:
            prepare_folder(self._folder)
        except OSError as error:
            self.problem = f"Could not store conversations in {folder}: {format_reason(error)}."
            if not is_patient:
                raise StoreError(self.problem) from None

    @property
    def notes_folder(self) -> Path:
        """Folder with the person's notes."""
        return self._folder.with_name("notes")

    def pop_warnings(self) -> tuple[str, ...]:
        """Return the warnings about deleted conversations, each only once."""
        warnings, self._warnings = tuple(self._warnings), []
        return warnings

    def read(self, conversation_id: str) -> ConversationLog:
        """Read the log of a conversation, so that it can be continued.

        Raises:
            StoreError: The conversation does not exist or cannot be read.
        """
        path = self._get_path(conversation_id)
        with map_store_errors(f"Could not read the conversation {conversation_id}: {{reason}}.", path):
            content = path.read_bytes() if self._exists(path) else b""
        if not content:
            raise StoreError(_NO_SUCH.format(conversation_id))
        if is_other_version(content):
            raise StoreError(
                f"The conversation {conversation_id} was written by another version of roamtui. Start a new one."
            )
        events = decode_entries(content)
        saved = len(events)
        ids = [event.conversation_id for event in events if isinstance(event, ConversationStarted | ConversationForked)]
        if ids[-1:] != [conversation_id]:  # the file was copied by hand, or its beginning cannot be read
            events.append(ConversationForked(conversation_id=conversation_id))
            saved = len(events) - 1
        return ConversationLog(conversation_id=conversation_id, events=events, saved_count=saved, size=len(content))

    def load(self, conversation_id: str) -> ConversationState:
        """Return the last state of a conversation, without its document.

        Raises:
            StoreError: The conversation does not exist or cannot be read.
        """
        state = fold_events(_EMPTY_LIBRARY, self.read(conversation_id).events)
        return apply(state, state.transcript.exchanges[-1].outcome) if state.is_asking else state

    def write(self, log: ConversationLog) -> None:
        """Append the new events of a log to its file. When this returns, they are on disk.

        Raises:
            ConversationConflictError: Another program has continued the conversation since this program read or wrote
                it.
            StoreError: The events could not be written. The file is unchanged.
        """
        with self._lock, self._saving():
            count = len(log.events)
            path, appender = self._get_path(log.conversation_id), self._appenders[log.conversation_id]
            with locked(self._folder):
                with open_log(path) as file:
                    appender.repair(file)
                    size = os.fstat(file).st_size
                    if not size:  # the file is new, or was deleted and is written again from the start
                        log.saved_count = log.size = 0
                    elif size != log.size:  # another program may have renamed the conversation
                        is_longer = 0 < log.size < size
                        added = decode_entries(read_at(file, log.size, size - log.size)) if is_longer else []
                        if not added or not all(isinstance(event, ConversationRenamed) for event in added):
                            raise ConversationConflictError(log.conversation_id)
                    log.size = appender.append(file, encode_entries(log.events[log.saved_count : count]))
                    log.saved_count = count  # before anything else can fail: a retry would append the same events again
                with suppress(OSError):  # without it, the time of the append decides the order until the next save
                    newest = self._advance_clock()
                    os.utime(path, ns=(newest, newest))

    def list(self, source: str | None = None) -> tuple[ConversationSummary, ...]:
        """Return all conversations, or only those about one source, the last changed one first.

        Raises:
            StoreError: The folder cannot be read.
        """
        if not self._is_listed:
            return ()
        rows = self._query(
            "SELECT id, source, title, model, created_at, updated_at, questions, is_answered, is_one_shot "
            "FROM conversations "
            "ORDER BY changed DESC, updated_at DESC"
        )
        summaries = (ConversationSummary(**dict(row)) for row in rows)
        return tuple(summary for summary in summaries if source is None or summary.source == source)

    def read_search_texts(self) -> dict[str, str]:
        """Return the questions and answers of each conversation as one text, by id.

        Raises:
            StoreError: The folder cannot be read.
        """
        return {row["id"]: row["words"] for row in self._query("SELECT id, words FROM conversations")}

    def rename(self, conversation_id: str, title: str) -> None:
        """Rename a conversation. Its position in the list does not change.

        Raises:
            StoreError: The conversation does not exist or cannot be written.
        """
        path = self._get_path(conversation_id)
        with self._lock, self._saving("rename"), locked(self._folder):
            if not self._exists(path):
                raise StoreError(_NO_SUCH.format(conversation_id))
            self._append_in_place(conversation_id, ConversationRenamed(title=title))

    def _append_in_place(self, conversation_id: str, event: ConversationEvent) -> None:
        """Append an event to a log without changing the position of the conversation in the list."""
        path = self._get_path(conversation_id)
        with open_log(path) as file:
            before = os.fstat(file)
            self._appenders[conversation_id].append(file, encode_entries((event,)))
        with suppress(OSError):  # the event matters more than the position
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation, and overwrite its bytes.

        `pop_warnings` then names the index if it may still contain some of it.

        Raises:
            StoreError: The conversation does not exist or cannot be deleted.
        """
        path = self._get_path(conversation_id)
        with self._lock, self._saving("delete"):
            if not path.exists():
                raise StoreError(_NO_SUCH.format(conversation_id))
            shred(path)
            index = self._folder / _INDEX_NAME
            try:
                if index.exists():
                    _refresh_index(self._folder, str(index), "SELECT 1")  # removes the conversation
            except (sqlite3.Error, OSError):
                try:
                    index.unlink(missing_ok=True)
                except OSError:
                    self._warnings.append(f"{index} may still contain the deleted conversation. Delete that file too.")

    def _get_path(self, conversation_id: str) -> Path:
        name = conversation_id if conversation_id.isalnum() else "-"
        return self._folder / f"{name}{LOG_SUFFIX}"

    def _exists(self, path: Path) -> bool:
        """Check whether a log exists. An empty file does not count: it remains if an erased log cannot be deleted."""
        return path.exists() and path.stat().st_size > 0

    def _query(self, query: str) -> Sequence[sqlite3.Row]:
        """Update the index, then query it.

        If the index cannot be used, rebuild it; if that fails too, build it in memory.
        """
        with self._lock, map_store_errors("Could not read {folder}: {reason}.", self._folder):
            path = self._folder / _INDEX_NAME
            for _ in range(2):
                with suppress(sqlite3.Error, OSError):
                    os.close(open_private_file(path))
                    return _refresh_index(self._folder, str(path), query)
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            return _refresh_index(self._folder, ":memory:", query)

    @contextmanager
    def _saving(self, verb: str = "save") -> Iterator[None]:
        failure = self.problem or f"Could not {verb} the conversation: {{reason}} ({{folder}})."
        with map_store_errors(failure, self._folder):
            prepare_folder(self._folder)
            yield
        self.problem = ""

    def _advance_clock(self, moment: int | None = None) -> int:
        """Return a modification time that is later than those of all logs, even if the system's clock was set back.

        The caller must close the log before it sets this time, because Windows sets the time again when it closes a
        file that was written.
        """
        clock = self._folder / _CLOCK_NAME
        os.close(open_private_file(clock))
        newest = moment or max(time.time_ns(), clock.stat().st_mtime_ns + _CLOCK_STEP_NS)
        os.utime(clock, ns=(newest, newest))
        return newest


def _refresh_index(folder: Path, database: str, sql: str) -> Sequence[sqlite3.Row]:
    """Bring the index up to date with the logs in `folder`, and return the rows of the query `sql`.

    `database` is the path of the index, or ":memory:" to build one for this query only.
    """
    with closing(sqlite3.connect(database, timeout=_BUSY_SECONDS)) as connection, connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = OFF")
        if connection.execute("PRAGMA user_version").fetchone()[0] != _INDEX_VERSION:
            connection.execute("DROP TABLE IF EXISTS conversations")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version = {_INDEX_VERSION}")
        indexed = {key: tuple(rest) for key, *rest in connection.execute("SELECT id, size, changed FROM conversations")}
        on_disk: dict[str, tuple[int, int]] = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(LOG_SUFFIX) and (status := entry.stat()).st_size:
                    on_disk[entry.name.removesuffix(LOG_SUFFIX)] = (status.st_size, status.st_mtime_ns)
        for conversation_id in indexed.keys() - on_disk.keys():
            connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
        for conversation_id, size_and_time in on_disk.items():
            if indexed.get(conversation_id) != size_and_time:
                with suppress(FileNotFoundError):
                    content = (folder / f"{conversation_id}{LOG_SUFFIX}").read_bytes()
                    if is_other_version(content):
                        continue
                    row = (conversation_id, *size_and_time, *_summarise(content))
                    connection.execute(_INSERT, row)
        return connection.execute(sql).fetchall()


def _summarise(content: bytes) -> tuple[str | int, ...]:
    """Compute the columns of a log's entry in the index, starting with `source`."""
    events = decode_entries(content)
    state = fold_events(_EMPTY_LIBRARY, events)
    exchanges = state.transcript.exchanges
    words = "\n".join(text for exchange in exchanges for text in (exchange.question, exchange.answer))
    lines = content.split(b"\n")
    texts = (
        state.source,
        state.title,
        state.model,
        _parse_first_timestamp(lines),
        _parse_first_timestamp(reversed(lines)),
        words,
    )
    *storable, words = (text.encode("utf-8", "backslashreplace").decode("utf-8") for text in texts)  # no surrogates
    is_answered = state.is_asking or any(exchange.answer or exchange.citations for exchange in exchanges)
    asked = [event.is_one_shot for event in events if isinstance(event, QuestionAsked)]
    return (*storable, len(exchanges), is_answered, bool(asked) and all(asked), words)


def _parse_first_timestamp(lines: Iterable[bytes]) -> str:
    for line in lines:
        with suppress(*DECODE_ERRORS):
            return str(json.loads(line)["at"])
    return ""
