"""Imports the conversations of version 0.1, which had no logs, from its SQLite file, once. The file is kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec

from roamtui.conversation.events import (
    EVENT_NAMES,
    ConversationEvent,
    ConversationRenamed,
    ConversationStarted,
    DocumentIdentified,
    OriginsApproved,
    QuestionAsked,
    ReadingSectionChanged,
    SectionsRelocated,
    StepRecorded,
)
from roamtui.conversation.log import DECODE_ERRORS, LOST_ANSWER, LOST_QUESTION, ConversationLog
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import OpenSection, StopReason
from roamtui.document.library import Library
from roamtui.document.parse import parse_document

_VERSION_MAX = 2
_BUSY_SECONDS = 5.0
_TEMPORARY_ERRORS = (
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
)  # fmt: skip
_EVENTS = {name: kind for kind, name in EVENT_NAMES.items()}
_EXCHANGE = get_type_hints(Exchange, localns={"ConversationEvent": object})
del _EXCHANGE["events"]
EMPTY_LIBRARY = Library(source="", root=parse_document(""))
"""Takes the place of the document if a conversation is read without its document."""
_EXCHANGES = "SELECT data FROM exchanges WHERE conversation_id = ? ORDER BY number"
_Value = TypeVar("_Value")


def import_legacy_database(folder: Path, write: Callable[[ConversationLog, datetime, int], None]) -> tuple[str, ...]:
    """Import the conversations from the file next to the folder of logs, then rename the file.

    If the import is interrupted, the next one continues: it skips conversations that already have a log.

    Args:
        folder: The folder of logs.
        write: Called with each log, the time of its last change, and a modification time in nanoseconds that keeps the
            order of changes.

    Returns:
        Sentences that tell the person about the import.

    Raises:
        OSError: A log could not be written. The file is unchanged, and the next start tries again.
    """
    path = folder.with_suffix(".sqlite3")
    if not path.is_file():
        return ()
    are_complete: list[bool] = []
    is_damaged = False
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            if connection.execute("PRAGMA user_version").fetchone()[0] > _VERSION_MAX:
                return (f"{path} has an unknown version and was not imported.",)
            is_damaged = connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
            for is_complete in _import_all(connection, write):
                are_complete.append(is_complete)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if _is_temporary(error):
            return (f"Could not import {path}: {error}. Will retry next time.",)
        is_damaged = True
    kept = path.with_stem(
        f"{path.stem}.{'damaged' if is_damaged else 'imported'}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
    )
    path.replace(kept)
    with suppress(OSError):
        kept.chmod(0o600)
    with suppress(OSError):
        path.with_name(f"{path.name}-journal").replace(kept.with_name(f"{kept.name}-journal"))
    number = f"{len(are_complete):,} conversation{'' if len(are_complete) == 1 else 's'}"
    if is_damaged:
        return (f"{path} was damaged: {number} could be imported. The old file is kept as {kept.name}.",)
    lost = f" {are_complete.count(False):,} of them could not be read completely." if not all(are_complete) else ""
    report = f"Imported {number} from an older version.{lost} The old file is kept as {kept.name}."
    return (report,) if are_complete else ()


def _import_all(
    connection: sqlite3.Connection, write: Callable[[ConversationLog, datetime, int], None]
) -> Iterator[bool]:
    """Write all conversations, and yield for each whether it could be read completely."""
    rows = [dict(row) for row in connection.execute("SELECT * FROM conversations")]
    rows.sort(key=lambda row: (_get_or_default(row.get("changed"), 0), str(row.get("updated_at"))))
    newest = 0
    for row in rows:
        try:
            exchanges = [data for (data,) in connection.execute(_EXCHANGES, (row["id"],))]
            is_complete = True
        except sqlite3.DatabaseError as error:
            if _is_temporary(error):
                raise
            exchanges, is_complete = [], False
        log = ConversationLog(conversation_id=row["id"])
        is_complete = _append_legacy_events(row, exchanges, log.events) and is_complete
        try:
            at = datetime.fromisoformat(row["updated_at"])
        except (TypeError, ValueError):
            at = datetime.fromtimestamp(0, UTC)
        newest = max(newest + 1, int(at.timestamp() * 1e9))
        if str(row["id"]).isalnum():
            write(log, at, newest)
            yield is_complete


def _is_temporary(error: Exception) -> bool:
    """Check whether a database error may pass, such as a lock or a full disk, because the database is not damaged."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _TEMPORARY_ERRORS


def erase_from_legacy_files(folder: Path, conversation_id: str) -> list[Path]:
    """Erase a conversation from the files of older versions. Return the files that may still contain it.

    Damaged files are not changed, because somebody may still want to recover something from them.
    """
    left = []
    for copy in sorted(folder.parent.glob(f"{folder.name}.*.sqlite3")):
        if copy.name.startswith(f"{folder.name}.damaged-"):
            if conversation_id.encode() in copy.read_bytes():
                left.append(copy)
            continue
        try:
            with closing(sqlite3.connect(copy)) as connection, connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("DELETE FROM exchanges WHERE conversation_id = ?", (conversation_id,))
                connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
        except sqlite3.Error:
            left.append(copy)
    return left


def _append_legacy_events(row: Mapping[str, Any], exchanges: Iterable[object], events: list[ConversationEvent]) -> bool:
    """Reconstruct the events of a conversation, because version 0.1 saved only its state.

    The events do not contain the transcript, so it is rebuilt before the next question. Return whether everything could
    be read.
    """
    is_complete = True
    saved: dict[str, Any] = {"content_hash": "", "open": (), "unfolded": (), "reading": None, "links": ()}
    saved |= {"approved_origins": (), "documents": {}}
    try:
        state = json.loads(row["state"])
        saved |= {**state, "open": msgspec.convert(state["open"], tuple[OpenSection, ...])}
    except DECODE_ERRORS:
        is_complete = False
    identified = DocumentIdentified(
        source=_get_or_default(row["source"], ""),
        content_hash=saved["content_hash"],
        documents=tuple(saved["documents"].items()),
        links=(("", tuple(saved["links"])),) if saved["links"] else (),
    )
    events += [ConversationStarted(conversation_id=row["id"], unfolded=tuple(saved["unfolded"])), identified]
    if saved["approved_origins"]:
        events.append(OriginsApproved(origins=tuple(saved["approved_origins"])))
    for number, data in enumerate(exchanges, start=1):
        try:
            exchange = read_exchange(json.loads(data))  # type: ignore[arg-type]
        except DECODE_ERRORS:
            is_complete = False
            exchange = Exchange(number=number, question=LOST_QUESTION, stopped=StopReason.ERROR, error=LOST_ANSWER)
        asked = QuestionAsked(
            number=number,
            question=exchange.question,
            within=exchange.within,
            model=exchange.model or _get_or_default(row["model"], ""),
            preface=exchange.preface,
            excerpts=exchange.excerpts,
        )
        steps = (StepRecorded(step=step) for step in exchange.steps)
        events += [SectionsRelocated(sections=exchange.open_before), asked, *exchange.events, *steps]
        events.append(replace(exchange.outcome, number=number))
    events += [SectionsRelocated(sections=saved["open"]), ConversationRenamed(title=_get_or_default(row["title"], ""))]
    if saved["reading"] is not None:
        events.append(ReadingSectionChanged(section_id=saved["reading"]))
    return is_complete


def read_exchange(data: Mapping[str, Any]) -> Exchange:
    """Read an exchange as version 0.1 saved it.

    Raises:
        Exception: The data is damaged; one of `DECODE_ERRORS`.
    """
    values = {name: msgspec.convert(data[name], hint) for name, hint in _EXCHANGE.items() if name in data}
    events = (*map(_convert_legacy_note, data.get("notes", ())), *data.get("events", ()))
    values["events"] = tuple(
        msgspec.convert(event, _EVENTS[event["kind"]]) for event in events if event["kind"] in _EVENTS
    )
    return Exchange(**values)


def _convert_legacy_note(note: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: PLR0911 - one case a kind
    """Convert what version 0.1 called a note to the fields of an event. Unknown notes stay unchanged."""
    match note["kind"]:
        case "draft":
            return {"kind": "answer_streamed", "text": note["text"]}
        case "search":
            return {"kind": "sections_searched", "query": note["query"], "hits": note["found"]}
        case "expansion":
            results = [
                {**result, "section_id": None if result["status"] == "unknown" else result["id"]}
                for result in note["tried"]
            ]
            return {"kind": "sections_expanded", "origin": "agent", "results": results}
        case "kept":
            return {"kind": "sections_kept", "origin": "agent", "reasons": note["reasons"]}
        case "reminder":
            return {"kind": "reminder_sent", "text": ""}
        case "retry":
            return {**note, "kind": "retry_scheduled"}
        case "closing":
            return {**note, "kind": "sections_closed", "origin": "agent"}
        case "page":
            text = {"problems": [("", note["text"])]} if note["is_problem"] else {"notes": [note["text"]]}
            return {"kind": "nodes_loaded", "section_ids": (), **text}
        case _:
            return note


def _get_or_default(value: object, default: _Value) -> _Value:
    # A column in SQLite may hold a value of any type.
    return value if isinstance(value, type(default)) else default
