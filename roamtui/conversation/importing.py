"""Takes over the SQLite file in which versions before the logs kept conversations, once; the file itself is kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from roamtui.conversation.events import (
    ConversationBegun,
    ConversationEvent,
    ConversationRenamed,
    DocumentRead,
    OriginsApproved,
    QuestionAnswered,
    QuestionAsked,
    ReadingChanged,
    SectionsFoundAgain,
    StepRecorded,
    name_event,
)
from roamtui.conversation.log import DAMAGE, LOST_ANSWER, LOST_QUESTION, Log
from roamtui.conversation.state import Exchange, apply, fold
from roamtui.conversation.transcript import OpenSection, Stopped
from roamtui.document.library import Library
from roamtui.document.parse import parse_document

_VERSION_MAX = 2
_BUSY_SECONDS = 5.0
_EVENTS = {name_event(kind): kind for kind in get_args(ConversationEvent)}
_EXCHANGE = get_type_hints(Exchange, localns={"ConversationEvent": object})
del _EXCHANGE["events"]
NOTHING = Library(source="", root=parse_document(""))
"""In place of the document of a conversation that is read without it."""
_ROWS = "SELECT * FROM conversations"
_EXCHANGES = "SELECT number, data FROM exchanges WHERE conversation_id = ? ORDER BY number"

WriteLog = Callable[[Log, datetime, int], None]


@dataclass(slots=True)
class _Count:
    conversations: int = 0
    lost: int = 0
    """Conversations of which something could not be read."""


def import_database(folder: Path, write: WriteLog) -> tuple[str, ...]:
    """Take over the conversations of a file beside the folder of logs, and give it a name that says so.

    What was taken over before is left as it is, so that this can be stopped at any moment.

    Args:
        folder: Of the logs.
        write: Is given each log, the time of its last change, and its place in the order of changes in nanoseconds.

    Returns:
        Sentences about what became of the file.

    Raises:
        OSError: A log could not be written; the file stays as it was, for the next time.
    """
    path = folder.with_suffix(".sqlite3")
    if not path.is_file():
        return ()
    count = _Count()
    is_damaged = False
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            if connection.execute("PRAGMA user_version").fetchone()[0] > _VERSION_MAX:
                return (f"{path} was written by another roamtui than any that this one knows. It is left alone.",)
            is_damaged = connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
            _import_all(connection, write, count)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            return (f"{path} cannot be taken over now: {error}. It is tried again the next time.",)
        is_damaged = True
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        is_damaged = True
    kept = _put_aside(path, "damaged" if is_damaged else "imported")
    number = f"{count.conversations:,} conversation{'' if count.conversations == 1 else 's'}"
    if is_damaged:
        return (f"{path} was damaged: {number} of it could be read and taken over. The file is kept as {kept.name}.",)
    lost = f" {count.lost:,} of them could not be read whole." if count.lost else ""
    return (f"{number} of an older version were taken over.{lost} The old file is kept as {kept.name}.",) * bool(
        count.conversations
    )


def _import_all(connection: sqlite3.Connection, write: WriteLog, count: _Count) -> None:
    rows = [dict(row) for row in connection.execute(_ROWS)]
    rows.sort(key=lambda row: (_number(row.get("changed")), str(row.get("updated_at"))))
    newest = 0
    for row in rows:
        reader = _Reader(row)
        try:
            exchanges = connection.execute(_EXCHANGES, (row["id"],)).fetchall()
        except sqlite3.DatabaseError:
            exchanges, reader.is_whole = [], False
        events = [*reader.read(exchanges)]
        try:
            at = datetime.fromisoformat(row["updated_at"])
        except (TypeError, ValueError):
            at = datetime.fromtimestamp(0, UTC)
        newest = max(newest + 1, int(at.timestamp() * 1e9))
        if str(row["id"]).isalnum():
            write(Log(conversation_id=row["id"], events=events), at, newest)
            count.conversations += 1
            count.lost += not reader.is_whole


def _put_aside(path: Path, label: str) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    names = (f"{path.stem}.{label}-{moment}{suffix}{path.suffix}" for suffix in ("", *(f"_{n}" for n in range(2, 99))))
    kept = next(beside for beside in map(path.with_name, names) if not beside.exists())
    path.replace(kept)
    with suppress(OSError):
        kept.chmod(0o600)
    with suppress(FileNotFoundError):
        path.with_name(f"{path.name}-journal").replace(kept.with_name(f"{kept.name}-journal"))
    return kept


def forget_in_copies(folder: Path, conversation_id: str) -> tuple[Path, ...]:
    """Overwrite a conversation in the files of older versions; return those in which it may still be read.

    A file that was put aside as damaged is left as it is: somebody may want to save more of it.
    """
    copies = sorted(folder.parent.glob(f"{folder.name}.*.sqlite3"))
    damaged = [copy for copy in copies if copy.name.startswith(f"{folder.name}.damaged-")]
    left = [copy for copy in copies if copy not in damaged and not _has_forgotten(copy, conversation_id)]
    return (*left, *(copy for copy in damaged if conversation_id.encode() in copy.read_bytes()))


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


class _Reader:
    """Tells what happened in a conversation of which only the state was kept."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self._state = fold(NOTHING, ())
        self.is_whole = True

    def read(self, exchanges: list[sqlite3.Row]) -> Iterator[ConversationEvent]:
        """Yield the events; the transcript is not among them, so that it is built anew before the next question."""
        saved = self._read_state()
        for event in self._tell(saved, exchanges):
            self._state = apply(self._state, event)
            yield event

    def _tell(self, saved: dict[str, Any], exchanges: list[sqlite3.Row]) -> Iterator[ConversationEvent]:
        yield ConversationBegun(conversation_id=self._row["id"], unfolded=tuple(saved["unfolded"]))
        yield DocumentRead(
            source=_text(self._row["source"]),
            content_hash=saved["content_hash"],
            documents=tuple(saved["documents"].items()),
            links=(("", tuple(saved["links"])),) if saved["links"] else (),
        )
        if saved["approved_origins"]:
            yield OriginsApproved(origins=tuple(saved["approved_origins"]))
        for row in exchanges:
            yield from self._tell_exchange(self._read_exchange(row["data"]))
        yield SectionsFoundAgain(sections=saved["open"])
        if saved["reading"] is not None:
            yield ReadingChanged(section_id=saved["reading"])
        if self._state.title != _text(self._row["title"]):
            yield ConversationRenamed(title=_text(self._row["title"]))

    def _tell_exchange(self, exchange: Exchange) -> Iterator[ConversationEvent]:
        number = self._state.question_number + 1
        if exchange.open_before != self._state.open:
            yield SectionsFoundAgain(sections=exchange.open_before)
        yield QuestionAsked(
            number=number,
            question=exchange.question,
            within=exchange.within,
            model=exchange.model or _text(self._row["model"]),
            preface=exchange.preface,
            excerpts=exchange.excerpts,
        )
        yield from exchange.events
        for step in exchange.steps:
            yield StepRecorded(step=step)
        ending = exchange.ending
        yield QuestionAnswered(
            number=number,
            answer=ending.answer,
            stopped=ending.stopped,
            citations=ending.citations,
            usage=ending.usage,
            steps=ending.steps,
            error=ending.error,
        )

    def _read_state(self) -> dict[str, Any]:
        saved: dict[str, Any] = {}
        try:
            saved = json.loads(self._row["state"])
            saved["open"] = msgspec.convert(saved["open"], tuple[OpenSection, ...])
        except DAMAGE:
            self.is_whole = False
            saved = {}
        empty: dict[str, Any] = {"open": (), "unfolded": (), "links": (), "approved_origins": (), "documents": {}}
        return {"content_hash": "", "reading": None, **empty, **saved}

    def _read_exchange(self, data: object) -> Exchange:
        try:
            return _decode_exchange(json.loads(data))  # type: ignore[arg-type]
        except DAMAGE:
            self.is_whole = False
            return Exchange(number=0, question=LOST_QUESTION, stopped=Stopped.ERROR, error=LOST_ANSWER)


def _decode_exchange(data: Mapping[str, Any]) -> Exchange:
    values = {name: msgspec.convert(data[name], hint) for name, hint in _EXCHANGE.items() if name in data}
    kept = (*map(_read_note, data.get("notes", ())), *data.get("events", ()))
    values["events"] = tuple(msgspec.convert(one, _EVENTS[one["kind"]]) for one in kept if one["kind"] in _EVENTS)
    return Exchange(**values)


def _read_note(note: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the event that version 0.1 kept as a note; what a newer version alone knows stays as it is."""
    event: dict[str, Any]
    match note["kind"]:
        case "draft":
            event = {"kind": "answer_streamed", "text": note["text"]}
        case "search":
            event = {"kind": "sections_searched", "query": note["query"], "hits": note["found"]}
        case "expansion":
            results = [
                {**one, "section_id": None if one["status"] == "unknown" else one["id"]} for one in note["tried"]
            ]
            event = {"kind": "sections_expanded", "origin": "agent", "results": results}
        case "kept":
            event = {"kind": "sections_kept", "origin": "agent", "reasons": note["reasons"]}
        case "reminder":
            event = {"kind": "reminder_sent", "text": ""}
        case "retry":
            event = {**note, "kind": "retry_scheduled"}
        case "closing":
            event = {**note, "kind": "sections_closed", "origin": "agent"}
        case "page":
            told = {"problems": [("", note["text"])]} if note["is_problem"] else {"notes": [note["text"]]}
            event = {"kind": "nodes_loaded", "section_ids": (), **told}
        case _:
            event = {**note}
    return event


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
