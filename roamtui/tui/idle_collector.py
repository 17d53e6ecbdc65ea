"""`IdleCollector`: collects garbage while nobody types. A full collection looks at all that is alive, in one go."""

from __future__ import annotations

import gc
from time import monotonic
from typing import TYPE_CHECKING, Any

from textual._styles_cache import StylesCache

if TYPE_CHECKING:
    from textual.app import App

_LOOK_SECONDS = 2.0
_IDLE_SECONDS = 1.0
"""Without a key for so long a person is reading."""
_PAUSE_SECONDS_MIN = 10.0
_PAUSE_FACTOR = 200
"""How many times as long as a collection took none follows it: half a percent of the time at most."""
_NEVER = 1_000_000


class IdleCollector:
    """Takes full collections over from Python, which begins them in the middle of a keypress."""

    def __init__(self) -> None:
        self._typed_at = 0.0
        self._due_at = 0.0
        self._threshold = gc.get_threshold()

    def start(self, app: App[Any]) -> None:
        """Collect from now on, by a timer of `app`; younger objects stay Python's own business."""
        self._threshold = gc.get_threshold()
        gc.set_threshold(*self._threshold[:2], _NEVER)
        app.set_interval(_LOOK_SECONDS, self.look)

    def stop(self) -> None:
        """Leave all to Python again."""
        gc.set_threshold(*self._threshold)

    def note_key(self) -> None:
        """Take note that somebody types."""
        self._typed_at = monotonic()

    def look(self) -> bool:
        """Collect if it is time and nobody types; return whether that was done."""
        now = monotonic()
        if now < max(self._due_at, self._typed_at + _IDLE_SECONDS) or not gc.isenabled():
            return False
        collect()
        self._due_at = monotonic() + max(_PAUSE_SECONDS_MIN, _PAUSE_FACTOR * (monotonic() - now))
        return True


def collect() -> None:
    """Collect all garbage, and with it the lines of widgets that are gone.

    Textual remembers two colours for each widget and background, 1,024 times, and by the widget's drawn lines: all that
    these widgets ever drew would stay until so many others have been on the screen.
    """
    StylesCache.get_inner_outer.cache_clear()
    gc.collect()
