"""`FaultyDisk`: what the program writes fails while a test wants that."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial

import pytest


class FaultyDisk:
    """A disk on which writing and bringing to disk fail from one time on, for a while."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, passes: int, faults: float) -> None:
        self.passes = passes
        """Times that still pass."""
        self.faults = faults
        """Times that fail after them."""
        for name in ("write", "fsync"):
            monkeypatch.setattr(os, name, partial(self._use, getattr(os, name)))

    def _use(self, change: Callable[..., int], *given: object) -> int:
        self.passes -= 1
        if self.passes < 0 < self.faults:
            self.faults -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return change(*given)
