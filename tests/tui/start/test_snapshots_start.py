"""Pictures of the start screen."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.driving import wait_until
from tests.tui.picturing import LARGE, NARROW, Compare, name_size
from tests.tui.start.offering import make_start_app


@pytest.mark.parametrize("theme", ["dusk", "dawn"])
@pytest.mark.parametrize("size", [LARGE, NARROW], ids=name_size)
def test_start_screen(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    app = make_start_app(lambda source, _is_whole, _report: source, theme)

    async def show(pilot: Pilot[Any]) -> None:
        await wait_until(pilot, lambda: app.start_screen.has_offers)
        app.start_screen.query_one(Input).cursor_blink = False
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=show)
