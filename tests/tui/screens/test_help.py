from __future__ import annotations

from roamtui.tui.screens.help import HelpDialog
from tests.tui.driving import make_app, press_until, running, screen_text


async def test_the_keys_of_where_a_person_is_come_first_with_the_signs_that_they_see_there() -> None:
    async with running(make_app(), (120, 90)) as (app, pilot):
        for keys, title in (("f1",), "Question box · current pane"), (("escape", "f1"), "Outline · current pane"):
            await press_until(pilot, HelpDialog, *keys)
            await pilot.pause()
            text = screen_text(app)
            assert title in text
            assert text.index("current pane") < text.index("Everywhere")
            if title.startswith("Outline"):
                assert text.index("Outline symbols") < text.index("Everywhere")
            await pilot.press("escape")
            await pilot.pause()
