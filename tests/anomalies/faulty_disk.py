"""`FaultyDisk`: what the program asks of the file system fails when a test wants that."""

import errno
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from roamtui.errors import RoamtuiError

FAULTS = (errno.EMFILE, errno.ENOSPC, errno.EIO, errno.EINTR, errno.EROFS)
SHORT = 0
"""In place of an error, for `write` only: it writes half."""
FULL = -1
"""Likewise: it writes half, and what comes next fails as on a full disk."""
_BY_PATH = ("open", "mkdir", "chmod", "utime", "replace", "unlink")
_BY_FILE = ("write", "fsync", "ftruncate")


class FaultyDisk:
    """A folder in which calls that open, change or lock something fail from one on, for a while.

    Python's own functions are patched. Nothing waits for a real disk.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, *, names: tuple[str, ...] = ()) -> None:
        """Let calls fail below a folder; `names` are those that may, by default all."""
        self.passes = 0
        """Calls that still pass."""
        self.faults = 0.0
        """Calls that fail after them."""
        self.error = errno.ENOSPC
        """How they fail: an error number, `SHORT` or `FULL`."""
        self.calls: list[str] = []
        """Names of the calls that were made while it was failing last."""
        self._is_failing = False
        self._folder = f"{folder}{os.sep}"
        self._names = names
        self._files: set[int] = set()
        for name in _BY_PATH:
            monkeypatch.setattr(os, name, self._by_path(name, getattr(os, name)))
        for name in _BY_FILE:
            monkeypatch.setattr(os, name, self._by_file(name, getattr(os, name)))
        monkeypatch.setattr(os, "close", self._close(os.close))
        monkeypatch.setattr(io, "open", self._by_path("open", io.open))
        monkeypatch.setattr(fcntl, "flock", self._lock(fcntl.flock))

    @contextmanager
    def failing(self, passes: int, faults: float, error: int) -> Iterator[list[str]]:
        """Let calls fail inside; what the program says of it is not raised but listed."""
        told: list[str] = []
        self.passes, self.faults, self.error, self.calls = passes, faults, error, []
        self._is_failing = True
        try:
            yield told
        except RoamtuiError as failure:
            told.append(str(failure))
        finally:
            self.faults, self._is_failing = 0, False

    def use(self, name: str) -> bool:
        """Count a call, and return whether it is to do half of what it should.

        Raises:
            OSError: It is to fail.
        """
        if self._names and name not in self._names:
            return False
        if self._is_failing:
            self.calls.append(name)
        self.passes -= 1
        if self.passes >= 0 or self.faults <= 0:
            return False
        if self.error == FULL:
            self.error = errno.ENOSPC
            return True
        self.faults -= 1
        if self.error == SHORT:
            return True
        raise OSError(self.error, os.strerror(self.error))

    def holds(self, path: object) -> bool:
        """Return whether a path lies in the folder."""
        return str(path).startswith(self._folder)

    def _by_path(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def use_and_call(path: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function is called
            if not self.holds(path):
                return call(path, *given, **named)
            self.use(name)
            done = call(path, *given, **named)
            if isinstance(done, int):
                self._files.add(done)
            return done

        return use_and_call

    def _by_file(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def use_and_call(file: int, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - likewise
            if file not in self._files:
                return call(file, *given, **named)
            is_short = self.use(name)
            if name == "fsync":
                return None
            if name == "write" and is_short:
                given = (given[0][: (len(given[0]) + 1) // 2],)
            return call(file, *given, **named)

        return use_and_call

    def _lock(self, flock: Callable[[int, int], None]) -> Callable[[int, int], None]:
        def use_and_lock(file: int, operation: int) -> None:
            if file in self._files and operation & fcntl.LOCK_EX:
                self.use("lock")
            flock(file, operation)

        return use_and_lock

    def _close(self, close: Callable[[int], None]) -> Callable[[int], None]:
        def forget_and_close(file: int) -> None:
            self._files.discard(file)
            close(file)

        return forget_and_close
