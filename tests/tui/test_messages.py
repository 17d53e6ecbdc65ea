"""A message stands at the foot of the screen until the next key or click: it covers no text, and no clock ends it."""

from __future__ import annotations

from textual.geometry import Region
from textual.widget import Widget

from roamtui.tui.app import RoamApp
from roamtui.tui.status_line import HintLine, MessageLine
from tests.tui.driving import app_of, make_app, press_until, screen_text, wait_until

_NOTHING = "Nothing to copy or stop. Press ctrl+q to quit."


def tell(app: RoamApp) -> list[str]:
    """Return the messages that stand on any screen."""
    return [str(line.render()) for screen in app.screen_stack for line in screen.query(MessageLine)]


async def test_a_message_stands_in_place_of_the_hints_until_the_next_key() -> None:
    async with make_app().run_test(size=(120, 30), notifications=True) as pilot:
        app = app_of(pilot)
        await wait_until(pilot, lambda: app.main_screen.chat_log.region.x > 0 and "ctrl+q" in screen_text(app))

        def list_places() -> dict[Widget, Region]:
            shown = app.main_screen.panes.walk_children(Widget)
            return {pane: pane.region for pane in shown if pane.region.area}

        places = list_places()
        hints = screen_text(app).splitlines()[-1]
        await press_until(pilot, lambda: tell(app) == [_NOTHING], "ctrl+c")
        assert screen_text(app).splitlines()[-1].strip() == _NOTHING
        assert list_places() == places
        await press_until(pilot, lambda: not tell(app) and app.main_screen.query_one(HintLine).display, "tab")
        await press_until(pilot, lambda: screen_text(app).splitlines()[-1] == hints, "shift+tab")
