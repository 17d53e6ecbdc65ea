"""`TimeLimit`: when the fetch of this thread must have ended, whatever the other side does."""

from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TimeLimit(threading.local):
    """The end of the fetch that runs in the calling thread; each thread has its own.

    Sockets are read in the thread that fetches, so that a limit set there reaches every single read.
    """

    def __init__(self) -> None:
        self._ends_at = math.inf

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """End everything inside after so many seconds, and not later than a limit around it."""
        outer = self._ends_at
        self._ends_at = min(outer, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._ends_at = outer

    def extend(self, seconds: float) -> None:
        """Leave time out of the account, such as a wait for one's turn."""
        self._ends_at += seconds

    def remaining(self) -> float:
        """Return the seconds that are left, at most none."""
        return max(0.0, self._ends_at - time.monotonic())

    def clip(self, seconds: float | None) -> float:
        """Return a time-out that does not outlast the fetch."""
        return self.remaining() if seconds is None else min(seconds, self.remaining())
