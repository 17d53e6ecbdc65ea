"""Pictures of a table."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.driving import press_until
from tests.tui.picturing import NARROW, USUAL, WIDE, Compare, name_size
from tests.tui.tabling import Tables, await_grid


@pytest.mark.parametrize("size", [USUAL, NARROW, WIDE], ids=name_size)
def test_picture(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    """A table with found, partly found and missing values, and the proof of the cell under the cursor."""
    filled = Tables(tmp_path)
    filled.fill()

    async def show(pilot: Pilot[None]) -> None:
        await await_grid(pilot)
        await press_until(pilot, "three months", "down")

    assert snap_compare(filled.make_app("dusk"), terminal_size=size, run_before=show)
