"""`SourceWatch`: whether what lies on disk is another than what is shown. Knows no screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from roamtui.sources.watching import SourceStamp, stamp_source

_IDLE_SHARE = 20
"""How many times longer than a look the pause after it is, at least."""


class SourceWatch:
    """Compares the stamps of files with those that they had when they were read."""

    def __init__(self, look: Callable[[], Mapping[str, SourceStamp] | None]) -> None:
        """Take what the first look shows for what was read.

        Args:
            look: Returns the stamp of each file by its key, None while the source is not there.
        """
        self._look = look
        self.is_new = True
        """Whether nobody has looked yet."""
        self._known: Mapping[str, SourceStamp] | None = None
        self._seen: Mapping[str, SourceStamp] | None = None
        self._next_seconds = 0.0

    @classmethod
    def of_file(cls, source: str) -> SourceWatch:
        """Return a watch over a single file, which has been looked at."""

        def look() -> Mapping[str, SourceStamp] | None:
            stamp = stamp_source(source)
            return None if stamp is None else {"": stamp}

        watch = cls(look)
        watch.look()
        return watch

    @property
    def is_stale(self) -> bool:
        """Whether something was written since it was read, as far as the last look goes."""
        return self._seen is not None and self._seen != self._known

    def look(self) -> bool:
        """Look at the files; return whether that shows a change which no look before has shown.

        What is away for a moment, as a file while an editor replaces it, has not changed. Where looking takes long it
        is done less often.
        """
        if time.monotonic() < self._next_seconds:
            return False
        stamps = self.measure()
        if self.is_new:
            self.is_new, self._known, self._seen = False, stamps, stamps
            return False
        if stamps is None or stamps == self._seen:
            return False
        self._seen = stamps
        return self.is_stale

    def measure(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamps of today, and compare them with nothing."""
        started = time.monotonic()
        stamps = self._look()
        ended = time.monotonic()
        self._next_seconds = ended + (ended - started) * _IDLE_SHARE
        return stamps

    def find_changed(self, stamps: Mapping[str, SourceStamp] | None) -> frozenset[str]:
        """Return the keys of the files that were written, came or went since they were read."""
        known, now = self._known or {}, stamps or {}
        return frozenset(key for key in known.keys() | now.keys() if known.get(key) != now.get(key))

    def forget(self) -> None:
        """Take what is on disk for changed, whatever it is."""
        self._known = None

    def take(self, stamps: Mapping[str, SourceStamp] | None) -> None:
        """Note that what is shown now was read when the files had these stamps."""
        self.is_new = False
        self._known = stamps
        self._seen = self._seen if stamps is None else stamps
