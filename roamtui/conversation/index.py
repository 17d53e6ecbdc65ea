"""`Index`: what is listed and searched of conversations, made of their logs and brought up to date whenever it is read.

It can be deleted at any time: it holds nothing that the logs do not.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from roamtui.conversation.log import DAMAGE
from roamtui.conversation.log_files import LOG_SUFFIX, PRIVATE_FILE
from roamtui.conversation.state import make_title

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
