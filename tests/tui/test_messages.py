"""A message stands at the foot of the screen until the next key or click: it covers no text, and no clock ends it."""

from __future__ import annotations

import pytest
import textual.notifications
from textual.geometry import Region
from textual.message_pump import MessagePump
from textual.notifications import Notification, Notify
from textual.timer import Timer
from textual.widget import Widget

from roamtui.tui.app import RoamApp
from roamtui.tui.screens.lists import PickerDialog, PickerItem
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


@pytest.mark.parametrize("size", [(120, 30), (70, 24), (60, 20)])
async def test_a_long_message_is_whole_and_covers_nothing(size: tuple[int, int]) -> None:
    words = " ".join(f"word{number}" for number in range(30))
    async with make_app().run_test(size=size, notifications=True) as pilot:
        app = app_of(pilot)
        app.notify(words)
        await wait_until(pilot, "word29")
        line = app.main_screen.query_one(MessageLine).region
        assert line.height > 1
        shown = (app.main_screen.header, app.main_screen.panes, app.main_screen.status_line)
        assert [pane for pane in shown if pane.region.overlaps(line)] == []


async def test_a_message_that_runs_out_while_a_screen_draws_it_again_hangs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A toast of Textual would set a timer to a time that is over, and the loop of such a timer never ends."""
    clock = [1_000.0]
    monkeypatch.setattr(textual.notifications, "time", lambda: clock.pop(0) if len(clock) > 1 else clock[0])
    delays: list[float] = []

    def set_timer(pump: MessagePump, delay: float, *given: object, **named: object) -> Timer:
        delays.append(delay)
        return real_set_timer(pump, max(delay, 0.01), *given, **named)  # type: ignore[arg-type]

    real_set_timer = MessagePump.set_timer
    monkeypatch.setattr(MessagePump, "set_timer", set_timer)
    async with make_app().run_test(size=(120, 30), notifications=True) as pilot:
        app = app_of(pilot)
        app.post_message(Notify(Notification("It is copied.", raised_at=1_000.0)))  # as `App.notify` does
        await wait_until(pilot, "It is copied.")
        clock[:] = [1_004.9] * 3 + [1_005.1]
        await app.push_screen(PickerDialog("Theme", [PickerItem(value="one", label="one")]))
        await pilot.pause()
        await pilot.pause()
        assert [delay for delay in delays if delay < 0] == []
