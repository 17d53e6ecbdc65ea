"""A message of the status line leaves with the next key, and a long title comes whole."""

from __future__ import annotations

from roamtui.tui.messages import StatusMessage
from tests.tui.driving import make_app, press_until, running, wait_until


async def test_a_message_leaves_with_the_next_key_but_not_while_the_person_types() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        screen = app.main_screen
        await wait_until(pilot, lambda: screen.has_started)
        await press_until(pilot, lambda: screen.status_line.message == "No open sections", "escape", "full_stop")
        await press_until(pilot, lambda: screen.status_line.message == "", "j")
        screen.panes.focus_question_box()
        screen.post_message(StatusMessage("Pinned"))
        await pilot.press("x")
        assert screen.status_line.message == "Pinned"
        screen.post_message(StatusMessage("Working", is_progress=True))
        await pilot.press("escape", "j")
        assert screen.status_line.progress == "Working"
