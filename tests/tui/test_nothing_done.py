"""Keys that have nothing to do say so, in place of what was told before."""

from __future__ import annotations

import pytest

from tests.tui.driving import app_of, make_app, press_until, wait_until


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("x", "Section is not open"),
        ("u", "Nothing to undo"),
        ("full_stop", "No open sections"),
        ("n", "No matches"),
        ("N", "No matches"),
    ],
)
async def test_in_the_outline(key: str, told: str) -> None:
    async with make_app().run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", key)
        status_line = app_of(pilot).main_screen.status_line
        await wait_until(pilot, lambda: status_line.message == told)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("x", "Section is not open"),
        ("n", "No matches"),
        ("N", "No matches"),
        ("o", "No link in view"),
        ("backspace", "Nothing to go back to"),
    ],
)
async def test_in_the_reader(key: str, told: str) -> None:
    async with make_app(text="# Mill\n\nOld.\n\n## Loft\n\nRye is dried here.\n").run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", "j", "enter", "3")
        main = app_of(pilot).main_screen
        await wait_until(pilot, lambda: main.focused is main.reader_pane.reader)
        await press_until(pilot, lambda: main.status_line.message == told, key)


async def test_enter_in_the_reader_leads_to_no_link_that_is_out_of_view() -> None:
    async with make_app().run_test(size=(120, 24)) as pilot:
        main = app_of(pilot).main_screen
        await press_until(pilot, lambda: main.focused is main.reader_pane.reader, "escape", "enter", "3")
        await press_until(pilot, lambda: main.status_line.message == "No link in view", "enter")
        assert main.reader_pane.reader.top_y == 0
        await press_until(pilot, lambda: main.status_line.message == "Type the number of a link", "G", "enter")
        await press_until(pilot, "Deck oven › Steam", "1")
