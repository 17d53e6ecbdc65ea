"""The lines at the edges of the screen, where not all that they tell fits, and clicks on them."""

from __future__ import annotations

from roamtui.conversation.events import AnswerStreamed
from roamtui.conversation.state import ConversationState
from roamtui.tui.messages import make_section_command
from roamtui.tui.screens.help import HelpDialog
from tests.tui.driving import app_of, find_id, make_app, screen_text, wait_until


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


async def test_only_an_event_that_changes_the_state_shows_it_again() -> None:
    async with make_app().run_test(size=(120, 30)) as pilot:
        app = app_of(pilot)
        main, shown = app.main_screen, list[ConversationState]()
        await wait_until(pilot, lambda: main.has_started)
        main.watch(main, "state", lambda state: shown.append(state), init=False)  # noqa: PLW0108 - Textual asks its code
        await main.conversation.dispatch(lambda state: make_section_command("fold", state, find_id(app, "Dough")))
        assert shown == [main.conversation.state]
        main.conversation.publish(AnswerStreamed(text="Forty."))
        assert len(shown) == 1
