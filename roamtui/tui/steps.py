"""Work in slices: what runs it may do something else between them, or leave it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from time import monotonic
from typing import TypeVar, cast

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
_TURN_SECONDS = 0.004
"""How long keys may wait for slices."""


async def run_between_keys(steps: Steps[Result]) -> Result:
    """Return what comes out of work in slices, taking keys meanwhile."""
    until = monotonic() + _TURN_SECONDS
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("Result", end.value)
        if monotonic() > until:
            await asyncio.sleep(0)
            until = monotonic() + _TURN_SECONDS
