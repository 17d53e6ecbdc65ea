"""A short day at the running app leaves nothing behind; `make soak` lives long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.day import live_day
from tests.soak.faulty_model import FAULTS

_QUESTIONS = 10
"""So many in each of three conversations; what is held is compared before and after the last two."""
_DEEDS = {"tree", "resize", "detour", "reload", "again"}
_OBJECTS_SHARE = 1.27
_RESIDENT_KB = 17_000
_TASKS = 12
"""Messages and idle workers that come and go; a task that each question left behind would be twenty."""
_POOL_THREADS = 8
"""Those of asyncio's pool, which come when two things are under way at once and stay; a leak would be twenty."""
_DESCRIPTORS = 8
"""A file that is just being read or saved; a leak would be twenty."""


@pytest.mark.slow
@pytest.mark.timeout(3_600)  # on a machine that is busy with much else
async def test_a_day_leaves_nothing_behind(tmp_path: Path) -> None:
    day, screen = await live_day(tmp_path, 3 * _QUESTIONS, 6, questions_per_conversation=_QUESTIONS)
    assert set(day.faults) == set(FAULTS)
    assert set(day.deeds) >= _DEEDS
    assert day.deeds["asked"] == 3 * _QUESTIONS + 1
    assert day.deeds["cancelled"] > 3
    _, first, *_, last = day.holdings
    assert last.objects < first.objects * _OBJECTS_SHARE
    assert last.resident_kb < first.resident_kb + _RESIDENT_KB
    assert last.tasks <= first.tasks + _TASKS
    assert last.threads <= first.threads + _POOL_THREADS
    assert last.descriptors <= first.descriptors + _DESCRIPTORS
    assert last.children == first.children
    lines = [" ".join(line.split()) for line in screen.splitlines()]
    assert any("Started a new conversation No open sections" in line for line in lines), screen
    assert any("❯ Ask this document…" in line for line in lines), screen
    assert any(line.startswith("└ ▸ Questions and glossary") for line in lines), screen
