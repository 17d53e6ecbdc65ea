"""`kill -9` at any moment: what was shown is on disk, and the conversation goes on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import Promises
from tests.real_documents import PROJECT_DIR

pytestmark = pytest.mark.slow

HANDBOOK = str(PROJECT_DIR / "examples" / "handbook.md")
QUESTIONS = ("How long is the grace period?", "What does a late book cost?", "Who may borrow?", "When is it open?")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalPrograms]:
    opened = MortalPrograms(tmp_path_factory.mktemp("runs"))
    yield opened
    opened.close()


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_between_any_two_statements(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    promises = Promises(tmp_path)
    if not is_first:
        promises.check(programs.run("ask", HANDBOOK, QUESTIONS[0], "--events", home=tmp_path), QUESTIONS[0])
    for number in count(1):
        question = f"{QUESTIONS[number % 4]} ({number})"
        going_on = [] if is_first or number % 7 == 0 else ["--continue"]
        run = programs.run("ask", HANDBOOK, question, "--events", *going_on, home=tmp_path, kill_at_statement=number)
        promises.check(run, question)
        if not run.was_killed:
            assert run.code == 0, run.errors
            assert number > 40
            return


def test_killed_at_random_moments(programs: MortalPrograms, tmp_path: Path) -> None:
    kill_at_random(programs, tmp_path, runs=30, seed=1)


def kill_at_random(programs: MortalPrograms, home: Path, *, runs: int, seed: int) -> int:
    """Ask, and kill the program at some moment; return how many of the runs were killed."""
    promises = Promises(home)
    chance = random.Random(seed)  # noqa: S311 - a test that can be run again
    killed = 0
    for number in range(runs):
        question = f"{chance.choice(QUESTIONS)} ({number})"
        going_on = ["--continue"] if promises.path.exists() and chance.random() < 0.9 else []
        given = {"kill_after_seconds": chance.uniform(0.0, 0.35)} if number % 10 else {}
        run = programs.run("ask", HANDBOOK, question, "--events", *going_on, home=home, **given)
        if "no conversation about this document" not in run.errors:
            assert run.was_killed or run.code == 0, run.errors
            promises.check(run, question)
        killed += run.was_killed
    return killed
