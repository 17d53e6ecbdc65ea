"""A damaged file is put aside, and what can be read of it goes on."""

from __future__ import annotations

import re
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roamtui.conversation.damage import list_damaged, read_rows
from roamtui.conversation.resume import resume_state
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import Store
from roamtui.errors import StoreError
from tests.conversation.conversations import ask, make_state
from tests.conversation.test_database import write_first

_PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.sqlite3"


def _fill(path: Path, count: int) -> list[ConversationState]:
    """Write conversations, some of them longer than a page."""
    states = []
    with closing(Store(path)) as store:
        for number in range(count):
            state = ask(make_state(conversation_id=f"c{number:03}"), "Alpha", question=f"Question {number}?")
            if number % 3 == 0:
                state = ask(state, "Beta", "Long", question="More?")
            store.save(state)
            states.append(state)
    return states


@pytest.mark.parametrize("content", [b"A text that somebody put here.\n" * 400, b"\x00" * 5_000], ids=["text", "zeros"])
def test_what_is_no_database_is_put_aside_unchanged(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with closing(Store(path)) as store:
        (report,) = store.take_reports()
        assert store.take_reports() == ()
        (aside,) = list_damaged(path)
        assert re.fullmatch(r"conversations\.damaged-\d{8}T\d{6}Z\.sqlite3", aside.name)
        assert aside.name in report
        assert "nothing in it could be read" in report
        assert aside.read_bytes() == content
        store.save(ask(make_state()))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def _break_header(content: bytearray) -> None:
    content[:100] = b"\xff" * 100


def _break_schema(content: bytearray) -> None:
    content[100:_PAGE] = b"\xff" * (_PAGE - 100)


@pytest.mark.parametrize("damage", [_break_header, _break_schema])
def test_with_its_head_gone_everything_is_read_from_the_pages(path: Path, damage: Callable[[bytearray], None]) -> None:
    states = _fill(path, 20)
    content = bytearray(path.read_bytes())
    damage(content)
    path.write_bytes(content)
    with closing(Store(path)) as store:
        (report,) = store.take_reports()
        assert "20 conversations with 27 questions could be read" in report
        assert [summary.id for summary in store.list()] == [state.id for state in reversed(states)]
        for state in states:
            assert resume_state(store.take_up(state.id), state.library, state.options)[0] == state


def test_a_damaged_file_of_the_first_version_is_read_too(path: Path) -> None:
    states = [ask(make_state(conversation_id=name), "Alpha") for name in "abc"]
    write_first(path, states)
    content = bytearray(path.read_bytes())
    _break_header(content)
    path.write_bytes(content)
    with closing(Store(path)) as store:
        assert [summary.id for summary in store.list()] == ["a", "b", "c"]
        assert resume_state(store.take_up("b"), states[1].library, states[1].options)[0] == states[1]


def test_a_file_without_its_tables_is_damaged(path: Path) -> None:
    _fill(path, 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE exchanges")
        connection.commit()
    with closing(Store(path)) as store:
        assert len(store.take_reports()) == 1
        store.save(ask(make_state()))


def test_pages_that_are_gone_take_nothing_with_them(path: Path) -> None:
    states = _fill(path, 30)
    content = bytearray(path.read_bytes())
    for page in range(8, 12):
        content[page * _PAGE : (page + 1) * _PAGE] = blake2b(b"noise").digest() * (_PAGE // 64)
    path.write_bytes(content)
    with closing(Store(path)) as store:
        summaries = store.list()
        store.read_words()
        for state in states:
            state_again = ask(state)
            try:
                store.take_up(state.id)
                store.save(state_again)
            except StoreError:
                continue
        (report,) = store.take_reports()
        found = store.list()
    assert "went on into a new file" in report
    assert len(found) > 20
    assert len(summaries) > 20


def test_damage_that_shows_while_saving_loses_nothing_of_what_is_in_memory(path: Path) -> None:
    states = _fill(path, 10)
    with closing(Store(path)) as store:
        state = resume_state(store.take_up(states[3].id), states[3].library, states[3].options)[0]
        store.save(state)
        content = bytearray(path.read_bytes())
        content[27] += 1  # the count of changes, without which SQLite trusts the pages that it remembers
        for page in range(1, len(content) // _PAGE):
            if content[page * _PAGE] in (0x02, 0x05, 0x0A, 0x0D):
                content[page * _PAGE : page * _PAGE + 8] = b"\xff" * 8
        path.write_bytes(content)
        state = ask(state, question="After the damage?")
        store.save(state)
        assert resume_state(store.load(state.id), state.library, state.options)[0] == state
        assert len(store.take_reports()) == 1


def test_questions_without_their_conversation_are_kept(path: Path) -> None:
    _fill(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE conversations SET state = 'no json', id = 'other'")
        connection.commit()
    content = bytearray(path.read_bytes())
    _break_header(content)
    path.write_bytes(content)
    with closing(Store(path)) as store:
        (summary,) = store.list()
        assert (summary.id, summary.questions, summary.title) == ("c000", 2, "Question 0?")
        state = resume_state(store.take_up("c000"), make_state().library, make_state().options)[0]
        store.save(ask(state, "Gamma"))


def test_a_gap_among_questions_is_closed(path: Path) -> None:
    _fill(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM exchanges WHERE number = 1")
        connection.commit()
    content = bytearray(path.read_bytes())
    _break_header(content)
    path.write_bytes(content)
    with closing(Store(path)) as store:
        state = resume_state(store.take_up("c000"), make_state().library, make_state().options)[0]
        assert [exchange.number for exchange in state.transcript.exchanges] == [1]
        assert state.needs_rebuild
        store.save(ask(state, "Gamma"))


def test_a_journal_of_the_damaged_file_is_not_played_into_the_new_one(path: Path) -> None:
    path.write_bytes(b"no database" * 1_000)
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 5_000)
    with closing(Store(path)) as store:
        store.save(ask(make_state()))
    assert not journal.exists()
    with closing(Store(path)) as store:
        assert len(store.list()) == 1


def test_another_program_that_replaced_the_file_first_is_followed(path: Path) -> None:
    _fill(path, 3)
    with closing(Store(path)) as first, closing(Store(path)) as second:
        first.list()
        content = bytearray(path.read_bytes())
        _break_header(content)
        path.write_bytes(content)
        assert len(first.list()) == len(second.list()) == 3
    assert len(list_damaged(path)) == 1


def test_without_room_for_a_new_file_the_old_one_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"no database" * 1_000)

    def refuse(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("roamtui.conversation.damage._write_new", refuse)
        with pytest.raises(StoreError, match="No space left on device"):
            Store(path)
    assert list_damaged(path) == []
    assert path.read_bytes() == b"no database" * 1_000
    Store(path).close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "conversations.sqlite3"
    _fill(path, 12)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=300)), max_size=12),
    cut=st.floats(0, 1),
)
def test_however_a_file_is_damaged_the_program_starts_and_saves(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[float, bytes]], cut: float
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "conversations.sqlite3"
    content = bytearray(whole)
    for place, garbage in changes:
        start = int(place * len(content))
        content[start : start + len(garbage)] = garbage[: len(content) - start]
    path.write_bytes(content[: int(cut * len(content)) if cut < 0.5 else len(content)])
    for row in read_rows(bytes(content)):
        assert isinstance(row, tuple)
    state = ask(make_state(conversation_id="new"), question="New?")
    try:
        with closing(Store(path)) as store:
            store.list()
            store.read_words()
            store.save(state)
            assert [exchange.question for exchange in store.load("new").transcript.exchanges] == ["New?"]
    except StoreError as error:
        assert "newer roamtui" in str(error)  # noqa: PT017 - the one damage that looks like something else
