"""`kill -9` at any moment: what was shown is on disk, and the conversation goes on."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import pytest

from roamtui.conversation.store import ConversationStore
from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import Promises, kill_at_random, kill_at_writes
from tests.conversation.test_legacy_import import DATABASE

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_in_any_write(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_writes(programs, tmp_path, is_first=is_first) > 12


def test_killed_while_the_file_of_an_older_version_is_taken_over(programs: MortalPrograms, tmp_path: Path) -> None:
    titles = ["Who turns the compost?", "Garden, all of it", "How long are tools lent?"]
    for number in count(1):
        path = Promises(tmp_path / str(number)).path
        path.parent.mkdir(parents=True)
        shutil.copy(DATABASE, path.with_suffix(".sqlite3"))
        run = programs.run("conversations", home=tmp_path / str(number), kill_at_write=number)
        store = ConversationStore(path)
        summaries = store.list()
        assert len(summaries) == 7
        assert {*titles} <= {summary.title for summary in summaries}
        assert all(store.load(summary.id).transcript.exchanges for summary in summaries)
        assert len([*path.parent.glob("conversations.imported-*.sqlite3")]) == 1
        if not run.was_killed:
            break
    assert number > 10


def test_killed_at_random_moments(programs: MortalPrograms, tmp_path: Path) -> None:
    assert sum(kill_at_random(programs, tmp_path, runs=15, seed=1).values()) == 15
