"""Interferes with a coroutine at exactly one of the places where it waits."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator


@types.coroutine
def _drive(coroutine: Coroutine[object, None, object], number: int, act: Callable[[], object]) -> Generator[object]:
    waits, thrown = 0, None
    while True:
        try:
            waiting = coroutine.send(None) if thrown is None else coroutine.throw(thrown)
        except StopIteration:
            return waits >= number
        waits, thrown = waits + 1, None
        if waits == number:
            act()
        try:
            yield waiting
        except BaseException as error:  # noqa: BLE001 - the coroutine decides what becomes of it
            thrown = error


async def act_at_wait(coroutine: Coroutine[object, None, object], number: int, act: Callable[[], object]) -> bool:
    """Run a coroutine, and call `act` the `number`-th time (1 for the first) it waits for something.

    Returns:
        False if it did not wait so often.
    """
    return await _drive(coroutine, number, act)


async def cancel_at_wait(coroutine: Coroutine[object, None, object], number: int) -> bool:
    """Run a coroutine in a task that is cancelled the `number`-th time it waits for something.

    Returns:
        False if it did not wait so often.
    """
    task = asyncio.create_task(act_at_wait(coroutine, number, lambda: task.cancel()))  # noqa: PLW0108 - it comes later
    await asyncio.wait({task})
    return task.cancelled() or task.result()
