"""Files of older programs are brought up to date, and a copy of each is kept."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.conversation import database
from roamtui.conversation.codec import encode_exchange, encode_state
from roamtui.conversation.database import VERSION, list_backups
from roamtui.conversation.resume import resume_state
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import Store
from roamtui.errors import StoreError
from tests.conversation.conversations import ask, make_state

_FIRST_SCHEMA = """
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.sqlite3"


def write_first(path: Path, states: list[ConversationState]) -> None:
    """Write a file as the first version of the program did, each conversation an hour older than the one before."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_FIRST_SCHEMA)
        for index, state in enumerate(states):
            moment = f"2026-01-01T{20 - index:02}:00:00.000000+00:00"
            values = (state.id, "manual.md", state.title, state.model, moment, moment, json.dumps(encode_state(state)))
            connection.execute("INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            for exchange in state.transcript.exchanges:
                data = json.dumps(encode_exchange(exchange))
                connection.execute("INSERT INTO exchanges VALUES (?, ?, ?)", (state.id, exchange.number, data))
        connection.commit()


def _version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_file_of_the_first_version_goes_on(path: Path) -> None:
    states = [ask(ask(make_state(conversation_id=name), "Alpha"), question=f"About {name}?") for name in "abc"]
    write_first(path, states)
    before = path.read_bytes()
    with closing(Store(path)) as store:
        assert [summary.id for summary in store.list()] == ["a", "b", "c"]
        for state in states:
            assert resume_state(store.take_up(state.id), state.library, state.options)[0] == state
        store.save(ask(states[2]))
        assert [summary.id for summary in store.list("manual.md")] == ["c", "a", "b"]
    assert _version(path) == VERSION
    (backup,) = list_backups(path)
    assert backup.name.startswith("conversations.v1-")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert _read_all(backup) == _read_all_bytes(before, path.with_name("before"))
    Store(path).close()
    assert list_backups(path) == [backup], "a file of today is not copied"


def _read_all_bytes(content: bytes, path: Path) -> list[str]:
    path.write_bytes(content)
    return _read_all(path)


def _read_all(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [*connection.iterdump(), str(_version(path))]


def test_of_many_copies_the_newest_are_kept(path: Path) -> None:
    for number in range(5):
        path.unlink(missing_ok=True)
        write_first(path, [ask(make_state(conversation_id=f"c{number}"))])
        Store(path).close()
    kept = list_backups(path)
    assert len(kept) == 3
    assert any("c4" in line for backup in kept for line in _read_all(backup))


def test_what_cannot_be_copied_is_not_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_first(path, [ask(make_state())])
    before = path.read_bytes()
    monkeypatch.setattr(database, "name_beside", lambda path, _label: path.with_name("no") / "folder.sqlite3")
    with pytest.raises(StoreError, match=r"^Conversations cannot be kept in .*: No such file or directory\.$"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("failing", range(1, 8))
def test_a_migration_happens_as_a_whole_or_not_at_all(
    path: Path, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = ask(make_state(), "Alpha")
    write_first(path, [state])
    steps = list(database._WITH_REVISIONS)
    steps.insert(failing, "INSERT INTO nothing VALUES (1)")
    with monkeypatch.context() as patch:
        patch.setattr(database, "_STEPS", (database._FIRST, tuple(steps)))
        with pytest.raises(StoreError):
            Store(path)
    assert _version(path) == 1
    with closing(Store(path)) as store:
        assert resume_state(store.take_up(state.id), state.library, state.options)[0] == state


def test_two_programs_migrate_once(path: Path) -> None:
    write_first(path, [ask(make_state())])
    with closing(sqlite3.connect(path, isolation_level=None)) as behind:
        assert behind.execute("PRAGMA user_version").fetchone()[0] == 1
        Store(path).close()
        behind.row_factory = sqlite3.Row
        database.migrate(behind, path)
    assert len(list_backups(path)) == 1


def test_left_behind_copies_are_cleared_away(path: Path) -> None:
    write_first(path, [ask(make_state())])
    left = path.with_name("conversations.v1-20260101T000000Z.sqlite3.part")
    left.touch()
    Store(path).close()
    assert not left.exists()
