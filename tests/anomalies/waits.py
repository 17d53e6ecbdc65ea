"""Interferes with a coroutine at exactly one of the places where it waits."""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator

Work = Coroutine[object, None, object]


@types.coroutine
def _drive(work: Work, number: int, act: Callable[[], object]) -> Generator[object, None, bool]:
    waits = 0
    thrown = None
    while True:
        try:
            waiting = work.send(None) if thrown is None else work.throw(thrown)
        except StopIteration:
            return waits >= number
        waits += 1
        thrown = None
        if waits == number:
            act()
        try:
            yield waiting
        except BaseException as error:  # noqa: BLE001 - the work decides what becomes of it
            thrown = error


async def act_at_wait(work: Work, number: int, act: Callable[[], object]) -> bool:
    """Run a coroutine, and call `act` the `number`-th time (1 for the first) it waits for something.

    Returns:
        False if it did not wait so often.
    """
    return await _drive(work, number, act)


async def cancel_at_wait(work: Work, number: int) -> bool:
    """Run a coroutine in a task that is cancelled the `number`-th time it waits for something.

    Returns:
        False if it did not wait so often.
    """

    def cancel() -> None:
        task.cancel()

    task = asyncio.create_task(act_at_wait(work, number, cancel))
    await asyncio.wait({task})
    return task.cancelled() or task.result()
