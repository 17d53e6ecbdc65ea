"""The status line where not all that it tells fits."""

from __future__ import annotations

import pytest

from tests.tui.driving import app_of, make_app, screen_text

LONG = f"opened “{'a very long title ' * 12}”"


@pytest.mark.parametrize("width", [64, 80, 120])
async def test_a_long_message_is_cut_and_hides_nothing_of_what_is_open(width: int) -> None:
    async with make_app().run_test(size=(width, 24)) as pilot:
        app_of(pilot).main.status_line.change(message=LONG, open_count=3, open_tokens=1234)
        await pilot.pause()
        line = screen_text(app_of(pilot)).splitlines()[-2]
        assert "opened “a very long" in line
        assert "…" in line
        assert "◆ 3 open · ~1.2k tok" in line


async def test_what_happened_is_told_before_what_the_model_is() -> None:
    async with make_app().run_test(size=(64, 24)) as pilot:
        app_of(pilot).main.status_line.change(model="offline", model_note="no language model", message="took back 2")
        await pilot.pause()
        assert "offline (no language model)  took back 2  ◇" in screen_text(app_of(pilot))
        app_of(pilot).main.status_line.change(message="opened “The second of many ovens”")
        await pilot.pause()
        assert "offline  opened “The second of many ovens”  ◇ nothing open" in screen_text(app_of(pilot))
