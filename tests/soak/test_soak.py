"""A short day and a few random things at the running app; `make soak` and `make fuzz` do many."""

from pathlib import Path

import pytest

from tests.soak import fuzz, key_walk
from tests.soak.long_use import use

_OBJECTS_SHARE = 1.27
_RESIDENT_KB = 17_000
_SPARE = 12
"""Workers, threads and files that come and go; what each question left behind would be more."""


@pytest.mark.slow
def test_the_app_survives_and_shows_what_is_true(tmp_path: Path) -> None:
    assert fuzz.run(tmp_path, 40, seed=1)["steps"] == 40


@pytest.mark.slow
def test_every_key_can_be_pressed_everywhere_and_messages_name_keys_that_work(tmp_path: Path) -> None:
    walks = key_walk.walk_all(tmp_path, 35, seed=2)
    assert [walk.pressed.total() for walk in walks] == [35] * len(key_walk.SIZES)
    assert any(walk.messages for walk in walks), "some message names a key, so that it is pressed"


@pytest.mark.slow
async def test_long_use_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first, *_, last = await use(tmp_path, monkeypatch, 30, steps=30)
    assert last.questions >= first.questions + 15
    assert last.objects < first.objects * _OBJECTS_SHARE
    assert last.resident_kb < first.resident_kb + _RESIDENT_KB
    assert last.tasks <= first.tasks + _SPARE
    assert last.threads <= first.threads + _SPARE
    assert last.descriptors <= first.descriptors + _SPARE
