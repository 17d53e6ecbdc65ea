"""A disk that is full, broken, read-only or missing: the program goes on, says so, and saves when it can again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation import store as store_module
from roamtui.conversation.events import SaveFailed
from roamtui.conversation.session import Session
from roamtui.conversation.store import Store
from roamtui.conversation.transcript import Stopped
from roamtui.models.scripted import ScriptedReply
from tests.agent.manual_agent import ask, expanding, ids, make_agent, model_of, saying
from tests.anomalies.mortal_programs import MortalPrograms
from tests.conversation.conversations import ask as play
from tests.conversation.conversations import make_state
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import ask as ask_in_app
from tests.tui.driving import make_app, screen_text

HANDBOOK = str(PROJECT_DIR / "examples" / "handbook.md")
_NOBODY = 65_534


class _FaultyConnection(sqlite3.Connection):
    """A connection whose statements fail from one on, for a while."""

    passes = 10**9
    """Statements that are still carried out."""
    faults = 0
    """Statements that fail after them."""

    @override
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        self._count()
        return super().execute(sql, parameters)

    @override
    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        self._count()
        return super().executemany(sql, parameters)

    def _count(self) -> None:
        cls = _FaultyConnection
        cls.passes -= 1
        if cls.passes < 0 < cls.faults:
            cls.faults -= 1
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> type[_FaultyConnection]:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_FaultyConnection))
    monkeypatch.setattr(_FaultyConnection, "passes", 10**9)
    monkeypatch.setattr(_FaultyConnection, "faults", 0)
    return _FaultyConnection


async def _ask_three(agent: Agent) -> list[str]:
    """Ask three questions, and return what was told of saving."""
    (fees,) = ids(agent, "Fees")
    told: list[str] = []
    for number in range(3):
        model_of(agent).add_replies(expanding(fees), saying(f'It costs "2 euros a day" [{fees}].'))
        events = await ask(agent, f"How much? ({number}) {'And why? ' * 600}")
        told += [event.message for event in events if isinstance(event, SaveFailed)]
        assert agent.session.state.transcript.exchanges[-1].stopped is Stopped.ANSWERED
    return told


def _check_saved(agent: Agent, path: Path) -> None:
    state = agent.session.state
    with closing(Store(path)) as store:
        assert Session.resume(state.library, state.id, store=store).state == state


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "step"), [(1, 17), (2, 7), (9, 13)])
async def test_any_statement_may_fail(tmp_path: Path, faulty: type[_FaultyConnection], faults: int, step: int) -> None:
    path = tmp_path / "conversations.sqlite3"
    for passes in range(0, 130, step):
        path.unlink(missing_ok=True)
        faulty.passes, faulty.faults = passes, faults
        store = Store(path, is_patient=True)
        agent = make_agent(store=store)
        told = await _ask_three(agent)
        assert all("the disk cannot be written or read" in message for message in told)
        faulty.faults = 0
        agent.session.save_now()
        assert agent.session.save_failure == ""
        _check_saved(agent, path)
        store.close()


async def test_one_failed_statement_is_tried_again_unnoticed(tmp_path: Path, faulty: type[_FaultyConnection]) -> None:
    with closing(Store(tmp_path / "conversations.sqlite3")) as store:
        faulty.passes, faulty.faults = 25, 1
        assert await _ask_three(make_agent(store=store)) == []
        assert faulty.faults == 0


async def test_a_full_disk_is_told_once_and_what_was_asked_meanwhile_is_saved_later(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite3"
    with closing(Store(path)) as store:
        agent = make_agent(store=store)
        store._database.read(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
        assert await _ask_three(agent) == [f"The conversation is not saved: the disk is full ({path})."]
        assert store.list() == ()
        store._database.read(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchone())
        assert await _ask_three(agent) == []
        _check_saved(agent, path)
        assert len(store.load(agent.session.state.id).transcript.exchanges) == 6


def test_a_clock_that_jumps_back_changes_no_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class _BackwardClock(datetime):
        moment = datetime(2026, 11, 20, 12, tzinfo=UTC)

        @classmethod
        @override
        def now(cls, tz: tzinfo | None = None) -> Any:
            cls.moment -= timedelta(hours=1)
            return cls.moment

    monkeypatch.setattr(store_module, "datetime", _BackwardClock)
    with closing(Store(tmp_path / "conversations.sqlite3")) as store:
        for name in "abc":
            store.save(play(make_state(conversation_id=name)))
        assert [summary.id for summary in store.list()] == ["c", "b", "a"]
        assert [summary.id for summary in store.list("manual.md")] == ["c", "b", "a"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalPrograms]:
    opened = MortalPrograms(tmp_path_factory.mktemp("runs"))
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("bytes_max", [600, 5_000, 30_000])
def test_a_file_that_cannot_grow_takes_no_answer_away(programs: MortalPrograms, tmp_path: Path, bytes_max: int) -> None:
    question = "How long is the grace period?"
    run = programs.run("ask", HANDBOOK, question, home=tmp_path, bytes_max=bytes_max)
    assert "saved" in run.errors
    assert "Traceback" not in run.errors
    again = programs.run("ask", HANDBOOK, question, "--events", home=tmp_path)
    assert (again.code, again.errors) == (0, "")
    assert again.find("answer")[0]["stopped"] == "answered"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="Only root can be somebody else.")
def test_a_home_that_can_only_be_read_is_read(programs: MortalPrograms) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        os.chown(home, _NOBODY, _NOBODY)
        question = "How long is the grace period?"
        first = programs.run("ask", HANDBOOK, question, "--events", home=home, uid=_NOBODY)
        assert (first.code, first.errors) == (0, "")
        data = home / "data" / "roamtui"
        data.chmod(0o500)
        (data / "conversations.sqlite3").chmod(0o400)
        home.chmod(0o500)
        second = programs.run("ask", HANDBOOK, "Who may borrow?", "--continue", "--events", home=home, uid=_NOBODY)
        assert second.code == 0
        assert second.find("answer")[0]["stopped"] == "answered"
        assert second.find("question_asked")[0]["number"] == 2
        assert len(second.find("save_failed")) == 1
        third = programs.run("ask", HANDBOOK, question, "--events", home=home / "missing", uid=_NOBODY)
        assert third.code == 0
        assert "will not be saved until that changes" in third.errors
        assert third.find("save_failed") == []


async def test_the_app_says_once_that_nothing_is_saved_and_goes_on(tmp_path: Path) -> None:
    replies = [ScriptedReply(text="Not found: " + "nothing at all. " * 400) for _ in range(4)]
    with closing(Store(tmp_path / "conversations.sqlite3")) as store:
        store._database.read(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
        app = make_app(replies, store=store)
        async with app.run_test(size=(160, 100)) as pilot:
            await ask_in_app(pilot, "Where? (0)")
            assert "! The conversation is not saved: the disk is full" in screen_text(app)
            await ask_in_app(pilot, "Where? (1)")
            assert "The conversation is not saved" not in screen_text(app).partition("❯ Where? (1)")[2]
            store._database.read(lambda connection: connection.execute("PRAGMA max_page_count = 10000").fetchone())
            await ask_in_app(pilot, "Where? (2)")
            assert app.main.session.save_failure == ""
        (summary,) = store.list()
        assert summary.questions == 3
