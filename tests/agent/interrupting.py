"""Interrupts a coroutine at exactly one of the places where it waits."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator


@types.coroutine
def _drive(coroutine: Coroutine[object, None, None], number: int) -> Generator[object, None, bool]:
    waited = 0
    is_cancelled = False
    while True:
        try:
            if waited == number and not is_cancelled:
                is_cancelled = True
                waiting = coroutine.throw(asyncio.CancelledError())
            else:
                waiting = coroutine.send(None)
        except StopIteration:
            return is_cancelled
        except asyncio.CancelledError:
            return True
        waited += 1
        if waited != number or is_cancelled:
            yield waiting


async def cancel_at_wait(coroutine: Coroutine[object, None, None], number: int) -> bool:
    """Run a coroutine and cancel it the `number`-th time (1 for the first) it waits for something.

    Returns:
        False where it ended before that.
    """
    return await _drive(coroutine, number)
