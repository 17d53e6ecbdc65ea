"""`Turns`: how many requests a host gets at once, and how soon after one another."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class NoTurnError(Exception):
    """The wait for a turn was too long, or nobody gets one any more."""


class Turns:
    """Hands out turns on one host. Thread-safe."""

    def __init__(self, at_once_max: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._at_once_max = at_once_max
        self._clock = clock
        self._condition = threading.Condition()
        self._active = 0
        self._next_at = -float("inf")
        self._delay_seconds = 0.0
        self._is_closed = False

    def take(self, seconds_max: float) -> float:
        """Wait for a turn; `release` ends it.

        Returns:
            The seconds waited.

        Raises:
            NoTurnError: There is none in time.
        """
        with self._condition:
            began_at = self._clock()
            while not self._is_closed:
                now = self._clock()
                pause = self._next_at - now
                if self._active < self._at_once_max and pause <= 0:
                    self._active += 1
                    self._next_at = max(self._next_at, now + self._delay_seconds)
                    return now - began_at
                left = began_at + seconds_max - now
                if left <= 0:
                    break
                self._condition.wait(min(left, pause) if pause > 0 else left)
        raise NoTurnError

    def release(self) -> None:
        """End a turn."""
        with self._condition:
            self._active -= 1
            self._condition.notify_all()

    def slow_down(self, delay_seconds: float) -> None:
        """Give one turn at a time from now on, with a pause between the beginnings of two."""
        with self._condition:
            self._at_once_max = 1
            self._delay_seconds = delay_seconds
            self._next_at = max(self._next_at, self._clock() + delay_seconds)

    def pause(self, seconds: float) -> None:
        """Give no turn for some time."""
        with self._condition:
            self._next_at = max(self._next_at, self._clock() + seconds)

    def close(self) -> None:
        """Give no turn any more."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()
