"""Run work in daemon threads. Unlike `concurrent.futures`, the program's exit does not wait for them."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")
_AWAITED: ContextVar[list[Future[Any]] | None] = ContextVar("awaited", default=None)
"""In a thread of `call_in_thread`: a list for the future that the thread waits for."""
_THREADS_MAX = 8


def run_parallel(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """Run `work`, which may wait for a network, on all items in a few threads. Keep their order."""
    numbered = [*enumerate(items)]
    waiting = iter(numbered)  # threads can share the iterator of a list
    results: dict[int, _Result] = {}

    def run_waiting() -> None:
        for index, item in waiting:
            results[index] = work(item)

    for thread in [run_in_thread(run_waiting) for _ in numbered[:_THREADS_MAX]]:
        thread.result()
    return [results[index] for index in sorted(results)]


async def call_in_thread(
    function: Callable[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
) -> _Result:
    """Call a function that may wait for a network in a new thread, and return its result.

    If the caller is cancelled, a future that the function waits for by `wait_for_result` is cancelled too.
    """
    import asyncio  # noqa: PLC0415 - commands that wait for nothing do without it

    awaited: list[Future[Any]] = []
    token = _AWAITED.set(awaited)
    called = run_in_thread(partial(function, *args, **kwargs))
    _AWAITED.reset(token)
    try:
        return await asyncio.wrap_future(called)
    except asyncio.CancelledError:
        for future in awaited:
            future.cancel()
        raise


def wait_for_result(future: Future[_Result]) -> _Result:
    """Return the result of a future. The future is cancelled if the caller of `call_in_thread` is."""
    if (awaited := _AWAITED.get()) is not None:
        awaited[:] = [future]
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def run_in_thread(work: Callable[[], _Result]) -> Future[_Result]:
    """Start `work` in a new thread, in the context of the caller, and return a future for its result."""
    future: Future[_Result] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - the future raises it again
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    return future


async def open_in_thread(work: Callable[[], _Result], close: Callable[[_Result], object]) -> _Result:
    """Return what `work` opens in a thread. If the caller is cancelled, `close` it as soon as it is open."""
    import asyncio  # noqa: PLC0415 - much that needs threads does without it

    opening = run_in_thread(work)

    def close_unwanted(opened: Future[_Result]) -> None:
        if not opened.cancelled() and opened.exception() is None:
            close(opened.result())

    try:
        return await asyncio.wrap_future(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(close_unwanted)
        raise
