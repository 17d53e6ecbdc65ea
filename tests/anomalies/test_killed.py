"""`kill -9` at any moment: what was shown is on disk, and the conversation goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from roamtui.conversation.damage import list_damaged
from roamtui.conversation.database import list_backups
from roamtui.conversation.store import Store
from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import Promises, kill_at_random, kill_at_statements
from tests.conversation.conversations import ask, make_state
from tests.conversation.test_database import write_first

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalPrograms]:
    opened = MortalPrograms(tmp_path_factory.mktemp("runs"))
    yield opened
    opened.close()


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_between_any_two_statements(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_statements(programs, tmp_path, is_first=is_first) > 30


def test_killed_while_an_older_file_is_brought_up_to_date(programs: MortalPrograms, tmp_path: Path) -> None:
    states = [ask(make_state(conversation_id=name), "Alpha") for name in "ab"]
    for number in count(1):
        path = Promises(tmp_path / str(number)).path
        path.parent.mkdir(parents=True)
        write_first(path, states)
        run = programs.run("conversations", home=tmp_path / str(number), kill_at_statement=number)
        with closing(Store(path)) as store:
            assert [summary.id for summary in store.list()] == ["a", "b"]
            assert store.load("a").transcript == states[0].transcript
        assert 1 <= len(list_backups(path)) <= 2
        assert list_damaged(path) == []
        if not run.was_killed:
            break
    assert number > 15


def test_killed_while_a_damaged_file_is_replaced(programs: MortalPrograms, tmp_path: Path) -> None:
    states = [ask(make_state(conversation_id=name), "Alpha") for name in "ab"]
    for number in count(1):
        path = Promises(tmp_path / str(number)).path
        with closing(Store(path)) as store:
            for state in states:
                store.save(state)
        path.write_bytes(b"x" * 100 + path.read_bytes()[100:])
        run = programs.run("conversations", home=tmp_path / str(number), kill_at_statement=number)
        with closing(Store(path)) as store:
            assert [summary.id for summary in store.list()] == ["b", "a"]
        assert len(list_damaged(path)) == 1
        if not run.was_killed:
            break
    assert number > 15


def test_killed_at_random_moments(programs: MortalPrograms, tmp_path: Path) -> None:
    assert sum(kill_at_random(programs, tmp_path, runs=15, seed=1).values()) == 15
