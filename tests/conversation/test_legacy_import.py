"""The database of version 0.1 is imported once, and kept."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ClosingDeclined,
    ConversationEvent,
    NodesLoaded,
    ReminderSent,
    RetryScheduled,
    SectionsClosed,
    SectionsExpanded,
    SectionsSearched,
)
from roamtui.conversation.legacy_import import read_exchange
from roamtui.conversation.library_sync import resume_state
from roamtui.conversation.log import LOST_QUESTION
from roamtui.conversation.state import OpenSectionOptions
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import StopReason
from tests.conversation.conversations import begin, check_messages, make_library, messages
from tests.real_documents import PROJECT_DIR

DATABASE = PROJECT_DIR / "tests" / "cases" / "version_0_1" / "data" / "conversations.sqlite3"
"""As version 0.1 wrote it, with 7 conversations."""
_OPEN_LAST = "31e28d54525c"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    shutil.copy(DATABASE, tmp_path / "conversations.sqlite3")
    return tmp_path / "conversations"


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path.with_suffix(".sqlite3"))) as connection, connection:
        connection.execute(statement)


def test_the_old_database_is_imported_once_in_order_and_kept(path: Path) -> None:
    with closing(sqlite3.connect(DATABASE)) as connection:
        rows = connection.execute("SELECT id, title, model, source FROM conversations ORDER BY changed DESC").fetchall()
    store = ConversationStore(path)
    (warning,) = store.pop_warnings()
    assert warning.startswith("Imported 7 conversations from an older version. The old file is kept as")
    assert [(one.id, one.title, one.model, one.source) for one in store.list()] == rows
    (kept,) = path.parent.glob("*.sqlite3")
    assert kept.read_bytes() == DATABASE.read_bytes()
    assert kept.stat().st_mode & 0o077 == 0
    store = ConversationStore(path)
    assert store.pop_warnings() == ()
    assert len(store.list()) == 7


def test_the_first_schema_is_imported(path: Path) -> None:
    _change(path, "DROP INDEX conversations_by_source")
    _change(path, "DROP INDEX conversations_by_change")
    for column in ("changed", "writer", "revision"):
        _change(path, f"ALTER TABLE conversations DROP COLUMN {column}")
    _change(path, "PRAGMA user_version = 1")
    store = ConversationStore(path)
    assert len(store.list()) == 7


def test_open_sections_stay_open_and_the_transcript_is_rebuilt(path: Path) -> None:
    store = ConversationStore(path)
    for summary in store.list():
        log = store.read(summary.id)
        state, _ = resume_state(log.events, make_library(), OpenSectionOptions())
        assert state.needs_rebuild
        check_messages(messages(begin(state)))
    saved = store.load(_OPEN_LAST)
    with closing(sqlite3.connect(DATABASE)) as connection:
        [(state_text,)] = connection.execute("SELECT state FROM conversations WHERE id = ?", (_OPEN_LAST,))
    assert saved.open_sections
    assert all(f'"{section.section_id}"' in state_text for section in saved.open_sections)


def test_a_damaged_question_is_reported_and_the_others_are_complete(path: Path) -> None:
    _change(path, "UPDATE exchanges SET data = substr(data, 1, 90) WHERE number = 1")
    _change(path, "UPDATE conversations SET state = 'x'")
    store = ConversationStore(path)
    (warning,) = store.pop_warnings()
    assert "7 of them could not be read completely." in warning
    for summary in store.list():
        first, *others = store.load(summary.id).transcript.exchanges
        assert (first.question, first.stopped) == (LOST_QUESTION, StopReason.ERROR)
        assert all(exchange.answer or exchange.stopped is not StopReason.ANSWERED for exchange in others)


@pytest.mark.parametrize("damage", ["no database at all", "cut", "pages"])
def test_a_damaged_file_is_renamed_and_reported(path: Path, damage: str) -> None:
    file = path.with_suffix(".sqlite3")
    content = file.read_bytes()
    damaged = {
        "no database at all": b"no database " * 500,
        "cut": content[: len(content) // 2],
        "pages": content[:8_192] + b"\xff" * 8_192 + content[16_384:],
    }[damage]
    file.write_bytes(damaged)
    store = ConversationStore(path)
    (warning,) = store.pop_warnings()
    assert "was damaged" in warning
    store.list()
    (aside,) = path.parent.glob("conversations.damaged-*.sqlite3")
    assert aside.read_bytes() == damaged


def test_a_locked_file_is_imported_next_time(path: Path) -> None:
    with closing(sqlite3.connect(path.with_suffix(".sqlite3"), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("roamtui.conversation.legacy_import._BUSY_SECONDS", 0.02)
            store = ConversationStore(path)
            assert "Could not import" in store.pop_warnings()[0]
    store = ConversationStore(path)
    assert len(store.list()) == 7


@pytest.mark.parametrize("version", [3, 99])
def test_a_file_with_an_unknown_schema_is_not_changed(path: Path, version: int) -> None:
    _change(path, f"PRAGMA user_version = {version}")
    store = ConversationStore(path)
    assert "was not imported." in store.pop_warnings()[0]
    assert store.list() == ()
    assert path.with_suffix(".sqlite3").exists()


_NOTES = (
    ({"kind": "draft", "text": "I look."}, AnswerStreamed),
    ({"kind": "search", "query": "it", "found": [{"section_id": "0123abcd", "why": "x"}]}, SectionsSearched),
    ({"kind": "expansion", "tried": [{"id": "0123abcd", "status": "opened"}]}, SectionsExpanded),
    ({"kind": "kept", "reasons": [["0123abcd", "pinned"]]}, ClosingDeclined),
    ({"kind": "reminder"}, ReminderSent),
    ({"kind": "retry", "reason": "Busy", "wait_seconds": 2.0}, RetryScheduled),
    ({"kind": "closing", "section_ids": ["0123abcd"], "reason": CloseReason.BUDGET.value}, SectionsClosed),
    ({"kind": "page", "text": "It is old.", "is_problem": False}, NodesLoaded),
    ({"kind": "page", "text": "It is gone.", "is_problem": True}, NodesLoaded),
)


@pytest.mark.parametrize(("note", "kind"), _NOTES, ids=[str(note["kind"]) for note, _ in _NOTES])
def test_a_note_of_version_0_1_becomes_an_event(note: dict[str, object], kind: type[ConversationEvent]) -> None:
    exchange = read_exchange({"number": 1, "question": "Why?", "notes": [note, {"kind": "newer"}]})
    assert [type(event) for event in exchange.events] == [kind]
