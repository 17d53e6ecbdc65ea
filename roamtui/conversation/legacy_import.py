"""Takes over the SQLite file in which versions before the logs kept conversations, once; the file itself is kept."""

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
_PASSING = (
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
)  # fmt: skip
_EVENTS = {name: kind for kind, name in EVENT_NAMES.items()}
_EXCHANGE = get_type_hints(Exchange, localns={"ConversationEvent": object})
del _EXCHANGE["events"]
EMPTY_LIBRARY = Library(source="", root=parse_document(""))
"""In place of the document of a conversation that is read without it."""
_EXCHANGES = "SELECT data FROM exchanges WHERE conversation_id = ? ORDER BY number"
_Value = TypeVar("_Value")


def import_legacy_database(folder: Path, write: Callable[[ConversationLog, datetime, int], None]) -> tuple[str, ...]:
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
    are_whole: list[bool] = []
    is_damaged = False
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            if connection.execute("PRAGMA user_version").fetchone()[0] > _VERSION_MAX:
                return (f"{path} was written by another roamtui than any that this one knows. It is left alone.",)
            is_damaged = connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
            for is_whole in _import_all(connection, write):
                are_whole.append(is_whole)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if _is_passing(error):
            return (f"{path} cannot be taken over now: {error}. It is tried again the next time.",)
        is_damaged = True
    kept = _rename_aside(path, "damaged" if is_damaged else "imported")
    number = f"{len(are_whole):,} conversation{'' if len(are_whole) == 1 else 's'}"
    if is_damaged:
        return (f"{path} was damaged: {number} of it could be read and taken over. The file is kept as {kept.name}.",)
    lost = f" {are_whole.count(False):,} of them could not be read whole." if not all(are_whole) else ""
    told = f"{number} of an older version were taken over.{lost} The old file is kept as {kept.name}."
    return (told,) if are_whole else ()


def _import_all(
    connection: sqlite3.Connection, write: Callable[[ConversationLog, datetime, int], None]
) -> Iterator[bool]:
    """Write all conversations, and yield of each whether it could be read whole."""
    rows = [dict(row) for row in connection.execute("SELECT * FROM conversations")]
    rows.sort(key=lambda row: (_typed(row.get("changed"), 0), str(row.get("updated_at"))))
    newest = 0
    for row in rows:
        try:
            exchanges = [data for (data,) in connection.execute(_EXCHANGES, (row["id"],))]
            is_whole = True
        except sqlite3.DatabaseError as error:
            if _is_passing(error):
                raise
            exchanges, is_whole = [], False
        log = ConversationLog(conversation_id=row["id"])
        is_whole = _append_legacy_events(row, exchanges, log.events) and is_whole
        try:
            at = datetime.fromisoformat(row["updated_at"])
        except (TypeError, ValueError):
            at = datetime.fromtimestamp(0, UTC)
        newest = max(newest + 1, int(at.timestamp() * 1e9))
        if str(row["id"]).isalnum():
            write(log, at, newest)
            yield is_whole


def _is_passing(error: Exception) -> bool:
    """Return whether a database could not be read for a reason that says nothing of what it holds."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING


def _rename_aside(path: Path, label: str) -> Path:
    kept = path.with_stem(f"{path.stem}.{label}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
    path.replace(kept)
    with suppress(OSError):
        kept.chmod(0o600)
    with suppress(OSError):
        path.with_name(f"{path.name}-journal").replace(kept.with_name(f"{kept.name}-journal"))
    return kept


def erase_from_legacy_files(folder: Path, conversation_id: str) -> list[Path]:
    """Overwrite a conversation in the files of older versions; return those in which it may still be read.

    A file that was put aside as damaged is left as it is: somebody may want to save more of it.
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
    """Add what happened in a conversation of which only the state was kept; return whether all could be read.

    The transcript is not among it, so that it is built anew before the next question.
    """
    is_whole = True
    saved: dict[str, Any] = {"content_hash": "", "open": (), "unfolded": (), "reading": None, "links": ()}
    saved |= {"approved_origins": (), "documents": {}}
    try:
        state = json.loads(row["state"])
        saved |= {**state, "open": msgspec.convert(state["open"], tuple[OpenSection, ...])}
    except DECODE_ERRORS:
        is_whole = False
    read = DocumentIdentified(
        source=_typed(row["source"], ""),
        content_hash=saved["content_hash"],
        documents=tuple(saved["documents"].items()),
        links=(("", tuple(saved["links"])),) if saved["links"] else (),
    )
    events += [ConversationStarted(conversation_id=row["id"], unfolded=tuple(saved["unfolded"])), read]
    if saved["approved_origins"]:
        events.append(OriginsApproved(origins=tuple(saved["approved_origins"])))
    for number, data in enumerate(exchanges, start=1):
        try:
            exchange = read_exchange(json.loads(data))  # type: ignore[arg-type]
        except DECODE_ERRORS:
            is_whole = False
            exchange = Exchange(number=number, question=LOST_QUESTION, stopped=StopReason.ERROR, error=LOST_ANSWER)
        asked = QuestionAsked(
            number=number,
            question=exchange.question,
            within=exchange.within,
            model=exchange.model or _typed(row["model"], ""),
            preface=exchange.preface,
            excerpts=exchange.excerpts,
        )
        steps = (StepRecorded(step=step) for step in exchange.steps)
        events += [SectionsRelocated(sections=exchange.open_before), asked, *exchange.events, *steps]
        events.append(replace(exchange.outcome, number=number))
    events += [SectionsRelocated(sections=saved["open"]), ConversationRenamed(title=_typed(row["title"], ""))]
    if saved["reading"] is not None:
        events.append(ReadingSectionChanged(section_id=saved["reading"]))
    return is_whole


def read_exchange(data: Mapping[str, Any]) -> Exchange:
    """Return a question with all that followed, as version 0.1 and those after it kept it.

    Raises:
        Exception: It is damaged, one of `DAMAGE`.
    """
    values = {name: msgspec.convert(data[name], hint) for name, hint in _EXCHANGE.items() if name in data}
    kept = (*map(_parse_legacy_note, data.get("notes", ())), *data.get("events", ()))
    values["events"] = tuple(msgspec.convert(one, _EVENTS[one["kind"]]) for one in kept if one["kind"] in _EVENTS)
    return Exchange(**values)


def _parse_legacy_note(note: Mapping[str, Any]) -> Mapping[str, Any]:
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


def _typed(value: object, default: _Value) -> _Value:
    return value if isinstance(value, type(default)) else default
