"""A walk over the keys of the running app; `make fuzz` takes long ones."""

from pathlib import Path

import pytest

from tests.soak import key_walk


@pytest.mark.slow
def test_every_key_can_be_pressed_everywhere_and_messages_name_keys_that_work(tmp_path: Path) -> None:
    walks = key_walk.walk_all(tmp_path, 35, seed=2)
    assert [walk.pressed.total() for walk in walks] == [35] * len(key_walk.SIZES)
    assert any(walk.messages for walk in walks), "some message names a key, so that it is pressed"
