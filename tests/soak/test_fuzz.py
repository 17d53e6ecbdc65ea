"""A few hundred random things at the running app; `make fuzz` does many thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_app_goes_on_and_shows_what_is_true(seed: int, tmp_path: Path) -> None:
    done = fuzz.run(tmp_path, 60, seed)
    assert done.total() >= 60
