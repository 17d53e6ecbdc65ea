"""`kill -9` at any moment: what was shown is on disk, and the conversation goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import kill_at_random, kill_at_statements

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalPrograms]:
    opened = MortalPrograms(tmp_path_factory.mktemp("runs"))
    yield opened
    opened.close()


@pytest.mark.parametrize("is_first", [True, False])
def test_killed_between_any_two_statements(programs: MortalPrograms, tmp_path: Path, *, is_first: bool) -> None:
    assert kill_at_statements(programs, tmp_path, is_first=is_first) > 40


def test_killed_at_random_moments(programs: MortalPrograms, tmp_path: Path) -> None:
    assert sum(kill_at_random(programs, tmp_path, runs=30, seed=1).values()) == 30
