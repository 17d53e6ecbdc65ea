"""Pictures of the start screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.driving import wait_until
from tests.tui.opening import Opener
from tests.tui.picturing import LARGE, NARROW, Compare, name_size


@pytest.mark.parametrize("size", [LARGE, NARROW], ids=name_size)
def test_start_screen(
    snap_compare: Compare, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = Opener().make_app(theme="dusk")

    async def show(pilot: Pilot[Any]) -> None:
        await wait_until(pilot, "A handbook")
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=show)
