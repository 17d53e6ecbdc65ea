"""The lines at the edges of the screen, where not all that they tell fits, and clicks on them."""

from __future__ import annotations

from roamtui.tui.screens.help import HelpDialog
from tests.tui.driving import app_of, make_app, screen_text, wait_until


def find_cell(text: str, words: str) -> tuple[int, int]:
    """Return column and row where words stand on the screen."""
    rows = text.splitlines()
    row = next(number for number, line in enumerate(rows) if words in line)
    return rows[row].index(words), row


async def test_a_click_on_a_hint_does_what_its_key_does() -> None:
    async with make_app().run_test(size=(120, 30)) as pilot:
        main = app_of(pilot).main_screen
        await pilot.press("escape", "j")
        await pilot.pause()
        assert await pilot.click(offset=find_cell(screen_text(app_of(pilot)), "a open"))
        await wait_until(pilot, lambda: bool(main.conversation.state.open_sections))
        assert await pilot.click(offset=find_cell(screen_text(app_of(pilot)), "f1 help"))
        await wait_until(pilot, lambda: isinstance(app_of(pilot).screen, HelpDialog))
