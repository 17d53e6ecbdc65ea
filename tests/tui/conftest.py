"""Pictures of the screen are taken once the app has started and its screen no longer changes."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.tui.driving import wait_until, wait_until_started
from tests.tui.picturing import Compare, Scene

_ROUND_SECONDS = 0.02


@pytest.fixture
def snap_compare(snap_compare: Compare) -> Compare:
    """Wait for the app before and after `run_before`, then compare its picture with the one that was kept."""

    def compare(app: App[Any], *, terminal_size: tuple[int, int] = (80, 24), run_before: Scene | None = None) -> bool:
        async def show(pilot: Pilot[Any]) -> None:
            await wait_until_started(pilot)
            if run_before is not None:
                await run_before(pilot)
            lines: list[Any] = []

            def is_at_rest() -> bool:
                before, lines[:] = [*lines], pilot.app.screen._compositor.render_strips()
                return before == lines

            await pilot.pause(_ROUND_SECONDS)
            await wait_until(pilot, is_at_rest)

        return snap_compare(app, terminal_size=terminal_size, run_before=show)

    return compare
