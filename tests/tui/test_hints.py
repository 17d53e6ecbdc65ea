"""Hints of keys: those that work where a person types, none torn from what it does."""

from __future__ import annotations

import pytest

from roamtui.tui.actions import Scope
from roamtui.tui.keys import build_keys
from roamtui.tui.status_line import ScreenHints
from tests.tui.driving import make_app, screen_text


async def test_in_a_field_of_the_outline_no_letter_is_told_as_a_key() -> None:
    app = make_app()
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("escape")
        await pilot.pause()
        assert "space fold" in screen_text(app)
        for key, enter in (("s", "enter walk the matches"), ("/", "enter first match")):
            await pilot.press(key, "o")
            await pilot.pause()
            last = screen_text(app).splitlines()[-1]
            assert last.split("   ")[:2] == [f" {enter}", "esc leave"]
            await pilot.press("escape")
            await pilot.pause()
            assert "space fold" in screen_text(app).splitlines()[-1]


@pytest.mark.parametrize("scope", [Scope.CONVERSATIONS, Scope.FIND])
@pytest.mark.parametrize("width", [30, 44, 58, 90])
def test_a_key_stands_beside_what_it_does(scope: Scope, width: int) -> None:
    keys = build_keys()
    lines = ScreenHints(keys, scope).lay_out(width).plain.splitlines()
    assert all(len(line) <= width for line in lines)
    hints = [f"{keys.show_first(action.id)} {action.label}" for action in keys.within(scope)]
    assert [hint for line in lines for hint in line.split("  ")] == [*hints, "esc leave"]
