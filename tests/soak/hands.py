"""Hands at the running app, as quick as it takes keys: they wait for what must come, never for time to pass.

Textual's own pilot waits after each key until the program has been quiet for a while and all has scrolled, which takes
many times as long as the work itself. Keys that follow each other at once are the harder case anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key, Resize
from textual.geometry import Size
from textual.keys import key_to_character
from textual.pilot import Pilot

from roamtui.tui.app import RoamApp

_ROUNDS_OF_REST = 2
"""A message goes up to the app and down again."""
_ROUND_SECONDS = 0.01
_ROUNDS_MAX = 20_000


class Hands:
    """Presses keys and resizes the terminal."""

    def __init__(self, pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, RoamApp)
        self._pilot = pilot
        self._app = pilot.app

    async def press(self, *keys: str) -> None:
        """Type keys one right after the other, and wait until the last one is done with."""
        for key in keys:
            self._app.post_message(Key(key, key_to_character(key)))
        await self.rest()
        await self.until(self._has_taken_all)
        await self.rest()

    def _has_taken_all(self) -> bool:
        order = self._app._key_queue
        is_there = order._marked_widget.is_attached and order._marked_widget.is_running
        return not (order._waiting or (order._is_marked and order._rounds_left and is_there))

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size, and wait until the app has seen it."""
        size = Size(width, height)
        driver = self._app._driver
        assert isinstance(driver, HeadlessDriver)
        driver._size = size
        self._app.post_message(Resize(size, size))
        await self.until(lambda: self._app.screen.size == size)

    async def rest(self) -> None:
        """Let the app do what it was just told to."""
        for _ in range(_ROUNDS_OF_REST):
            await self._pilot.pause(0)

    async def until(
        self,
        is_met: Callable[[], bool],
        rounds_max: int = _ROUNDS_MAX,
        tell: Callable[[], str] = lambda: "what was waited for did not come",
    ) -> None:
        """Let the app and its threads work until a condition is met, or the app has ended."""
        for _ in range(rounds_max):
            if is_met() or self._app._exit:
                return
            if self._app._exception is not None:
                raise self._app._exception
            await self._pilot.pause(_ROUND_SECONDS)
        assert is_met(), tell()
