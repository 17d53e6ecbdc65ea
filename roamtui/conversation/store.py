"""Conversations on disk: a folder with one log of each, readable by its owner alone, with an index of them all."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from roamtui.conversation.events import ConversationBegun, ConversationForked, ConversationRenamed
from roamtui.conversation.importing import NOTHING, forget_in_copies, import_database
from roamtui.conversation.log import (
    DAMAGE,
    LOG_SUFFIX,
    PRIVATE_FILE,
    Log,
    append,
    decode_entries,
    encode_entries,
    explain,
    now,
    open_log,
    overwrite,
    prepare_folder,
)
from roamtui.conversation.state import ConversationState, apply, fold, make_title
from roamtui.errors import ContinuedElsewhereError, StoreError
from roamtui.locations import write_private_file

_CLOCK = ".newest"
"""An empty file; its time is that of the newest change, so that the order of changes does not go by the clock."""
_NO_SUCH = 'There is no conversation "{}". `roamtui conversations` lists them.'


class Store:
    """All conversations of a person. Safe to use from several threads and programs."""

    problem = ""
    """Why nothing can be kept, a sentence; empty where it can."""

    def __init__(self, folder: Path, *, is_patient: bool = False) -> None:
        """Make the folder where it is missing, and take over what versions before the logs have kept beside it.

        Args:
            folder: Where the logs lie.
            is_patient: Whether to go on where the folder cannot be used, and to try again at each use.

        Raises:
            StoreError: The folder cannot be used.
        """
        self._folder = folder
        self._lock = Lock()
        self._reports: list[str] = []
        self._is_closed = False
        try:
            prepare_folder(self._folder)
            self._reports += import_database(folder, self._import)
        except OSError as error:
            self.problem = f"Conversations cannot be kept in {folder}: {explain(error)}."
            if not is_patient:
                raise StoreError(self.problem) from None

    def close(self) -> None:
        """Keep nothing any more."""
        self._is_closed = True

    @property
    def notes_folder(self) -> Path:
        """Where a person's notes lie: beside the conversations."""
        return self._folder.with_name("notes")

    def take_reports(self) -> tuple[str, ...]:
        """Return sentences about what became of conversations that nobody was told yet."""
        reports, self._reports = tuple(self._reports), []
        return reports

    def read(self, conversation_id: str) -> Log:
        """Return all that happened in a conversation, to go on with: what is written next follows it.

        Raises:
            StoreError: There is none with this id, or it cannot be read.
        """
        try:
            content = self._find(conversation_id).read_bytes()
        except FileNotFoundError:
            raise StoreError(_NO_SUCH.format(conversation_id)) from None
        except OSError as error:
            raise StoreError(f"The conversation {conversation_id} cannot be read: {explain(error)}.") from None
        events = decode_entries(content)
        ids = [event.conversation_id for event in events if isinstance(event, ConversationBegun | ConversationForked)]
        if ids[-1:] != [conversation_id]:  # it was copied by hand, or its beginning cannot be read
            events.append(ConversationForked(conversation_id=conversation_id))
        return Log(conversation_id=conversation_id, events=events, saved=len(events), size=len(content))

    def load(self, conversation_id: str) -> ConversationState:
        """Return a conversation as it was left, without its document.

        Raises:
            StoreError: There is none with this id, or it cannot be read.
        """
        state = fold(NOTHING, self.read(conversation_id).events)
        return apply(state, state.transcript.exchanges[-1].ending) if state.is_asking else state

    def write(self, log: Log) -> None:
        """Append what is new in a log; all of it is on disk when this returns.

        Raises:
            ContinuedElsewhereError: Another program went on with the conversation since it was read or written here.
            StoreError: It could not be written; what was on disk is unchanged.
        """
        with self._lock, self._saving():
            count = len(log.events)
            if log.saved and not self._find(log.conversation_id).exists():  # it was deleted, and is written whole again
                log.saved = log.size = 0
            with open_log(self._find(log.conversation_id)) as file:
                size = _check_size(file, log)
                entries = encode_entries(log.events[log.saved : count], now())
                log.size = append(file, size, entries)
                self._order(file)
            log.saved = count

    def list(self, source: str | None = None) -> tuple[ConversationSummary, ...]:
        """Return all conversations, or those about one source, the one that was changed last first.

        Raises:
            StoreError: They cannot be read.
        """
        with self._lock, self._reading():
            summaries = Index(self._folder).list()
        return tuple(summary for summary in summaries if source is None or summary.source == source)

    def read_words(self) -> dict[str, str]:
        """Return all questions and answers of each conversation as one text, for searching.

        Raises:
            StoreError: They cannot be read.
        """
        with self._lock, self._reading():
            return Index(self._folder).read_words()

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title; its place in the list stays.

        Raises:
            StoreError: There is none with this id, or it could not be written.
        """
        path = self._find(conversation_id)
        if not path.exists():
            raise StoreError(_NO_SUCH.format(conversation_id))
        with self._lock, self._saving(), open_log(path) as file:
            before = os.fstat(file)
            append(file, before.st_size, encode_entries((ConversationRenamed(title=title),), now()))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation for good: its bytes are overwritten, in copies of older versions too.

        Where they may still be, a report says so.

        Raises:
            StoreError: There is none with this id, or it could not be deleted.
        """
        with self._lock, self._saving():
            try:
                overwrite(self._find(conversation_id))
            except FileNotFoundError:
                raise StoreError(_NO_SUCH.format(conversation_id)) from None
            Index(self._folder).list()
            left = forget_in_copies(self._folder, conversation_id)
        self._reports += [
            f"The deleted conversation may still be read in {path}. Delete that file too." for path in left
        ]

    def _import(self, log: Log, at: datetime, changed_at_ns: int) -> None:
        """Write the log of a conversation of an older version, unless that was done before."""
        path = self._find(log.conversation_id)
        if not path.exists():
            write_private_file(path, encode_entries(log.events, at))
            with open_log(path) as file:
                self._order(file, changed_at_ns)

    def _find(self, conversation_id: str) -> Path:
        name = conversation_id if conversation_id.isalnum() else "-"
        return self._folder / f"{name}{LOG_SUFFIX}"

    @contextmanager
    def _saving(self) -> Iterator[None]:
        with self._explained(self.problem or "The conversation is not saved: {reason} ({folder})."):
            prepare_folder(self._folder)
            yield
        self.problem = ""

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._explained("{folder} cannot be read: {reason}."):
            yield

    @contextmanager
    def _explained(self, failure: str) -> Iterator[None]:
        if self._is_closed:
            raise StoreError(failure.format(folder=self._folder, reason="it was closed"))
        try:
            yield
        except OSError as error:
            raise StoreError(failure.format(folder=self._folder, reason=explain(error))) from None

    def _order(self, file: int, moment: int | None = None) -> None:
        """Have the time of a log be after those of all others, whatever the clock says."""
        clock = self._folder / _CLOCK
        descriptor = os.open(clock, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE)
        try:
            is_new = moment is None
            moment = moment or time.time_ns()
            newest = os.fstat(descriptor).st_mtime_ns
            after = max(moment, newest + 1) if is_new else moment
            os.utime(file, ns=(after, after))
            os.utime(descriptor, ns=(after, after))
        finally:
            os.close(descriptor)


def _check_size(file: int, log: Log) -> int:
    """Return the size of a file that is as the log knows it, but for new titles.

    Raises:
        ContinuedElsewhereError: It is another's.
    """
    size = os.fstat(file).st_size
    if size != log.size:
        added = decode_entries(os.pread(file, size - log.size, log.size)) if log.size < size and log.size else []
        if not added or not all(isinstance(event, ConversationRenamed) for event in added):
            raise ContinuedElsewhereError(log.conversation_id)
    return size


_VERSION = 1
_TABLE = (
    "CREATE TABLE conversations (id TEXT PRIMARY KEY, size INTEGER, changed INTEGER, source TEXT, title TEXT, "
    "model TEXT, created_at TEXT, updated_at TEXT, questions INTEGER, words TEXT) STRICT"
)
_BUSY_SECONDS = 5.0

_Result = TypeVar("_Result")


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


class Index:
    """What is known of the logs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "index.sqlite3"

    def list(self) -> tuple[ConversationSummary, ...]:
        """Return all conversations, the one that was changed last first.

        Raises:
            OSError: The folder cannot be read.
        """
        query = (
            "SELECT id, source, title, model, created_at, updated_at, questions FROM conversations "
            "ORDER BY changed DESC, updated_at DESC"
        )
        rows = self._use(lambda connection: connection.execute(query).fetchall())
        return tuple(ConversationSummary(**dict(row)) for row in rows)

    def read_words(self) -> dict[str, str]:
        """Return all questions and answers of each conversation as one text.

        Raises:
            OSError: The folder cannot be read.
        """
        query = "SELECT id, words FROM conversations"
        return dict(self._use(lambda connection: [tuple(row) for row in connection.execute(query)]))

    def _use(self, read: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Return what is read of an index that is up to date; one that cannot be used is made anew."""
        for place in (self._path, self._path, ":memory:"):
            try:
                with closing(self._open(str(place))) as connection, connection:
                    self._refresh(connection)
                    return read(connection)
            except (sqlite3.Error, PermissionError):
                if place == ":memory:":
                    raise
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)
        raise AssertionError

    def _open(self, place: str) -> sqlite3.Connection:
        if place != ":memory:":
            os.close(os.open(place, os.O_CREAT | os.O_RDWR, PRIVATE_FILE))
        connection = sqlite3.connect(place, timeout=_BUSY_SECONDS)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = OFF")
            if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                connection.execute("DROP TABLE IF EXISTS conversations")
                connection.execute(_TABLE)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _refresh(self, connection: sqlite3.Connection) -> None:
        """Read the logs anew that changed since the index was made of them."""
        known = {row[0]: (row[1], row[2]) for row in connection.execute("SELECT id, size, changed FROM conversations")}
        found: dict[str, tuple[int, int]] = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith(LOG_SUFFIX):
                    status = entry.stat()
                    if status.st_size:
                        found[entry.name.removesuffix(LOG_SUFFIX)] = (status.st_size, status.st_mtime_ns)
        for conversation_id in known.keys() - found.keys():
            connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
        for conversation_id, state in found.items():
            if known.get(conversation_id) != state:
                try:
                    content = (self._folder / f"{conversation_id}{LOG_SUFFIX}").read_bytes()
                except FileNotFoundError:
                    continue
                row = (conversation_id, *state, *_summarise(content))
                connection.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


@dataclass(slots=True)
class _Summary:
    source: str = ""
    title: str = ""
    model: str = ""
    turns: list[list[str]] = field(default_factory=list)
    """Question and answer of each exchange."""

    def take(self, entry: dict[str, Any]) -> None:
        """Apply an entry, as the fold of its event does."""
        match entry["event"]:
            case "document_read":
                self.source = entry["source"]
            case "question_asked":
                self.turns.append([entry["question"], ""])
                self.model = entry["model"]
                self.title = self.title or make_title(entry["question"])
            case "question_answered":
                self.turns[-1][1] = entry["answer"]
            case "questions_taken_back":
                del self.turns[entry["first"] - 1 :]
                self.title = self.title if self.turns else ""
            case "conversation_renamed" | "conversation_forked":
                self.title = entry["title"] or self.title
            case _:
                pass


_NEEDED = tuple(
    f'{{"event": "{name}"'.encode()
    for name in (
        "document_read",
        "question_asked",
        "question_answered",
        "questions_taken_back",
        "conversation_renamed",
        "conversation_forked",
    )
)


def _summarise(content: bytes) -> tuple[str, str, str, str, str, int, str]:
    """Return source, title, model, first and last time, number of questions, and words of a log."""
    summary = _Summary()
    moments: list[str] = []
    lines = content.split(b"\n")
    for number, line in enumerate(lines):
        if line.startswith(_NEEDED) or not number or number >= len(lines) - 2:
            try:
                entry = json.loads(line)
                moments.append(entry["at"])
                summary.take(entry)
            except (*DAMAGE, IndexError):
                continue
    words = "\n".join(text for turn in summary.turns for text in turn)
    first, last = (moments[0], moments[-1]) if moments else ("", "")
    texts = (summary.source, summary.title, summary.model, first, last)
    source, title, model, first, last = (_storable(text) for text in texts)
    return source, title, model, first, last, len(summary.turns), _storable(words)


def _storable(text: str) -> str:
    """Return text that SQLite takes: words of a model may hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
