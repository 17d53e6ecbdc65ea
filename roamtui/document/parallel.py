"""Run work in daemon threads. Unlike with `concurrent.futures`, the program does not wait for them when it exits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_parallel(work: Callable[[_Item], _Result], items: Iterable[_Item], threads_max: int) -> list[_Result]:
    """Run `work` on all items, at most `threads_max` at a time, and return the results in the order of the items.

    If `work` fails for several items, raise the error of the first one.
    """
    jobs: list[tuple[_Item, Future[_Result]]] = [(item, Future()) for item in items]
    queue = iter(jobs)
    lock = threading.Lock()

    def run_jobs() -> None:
        while True:
            with lock:
                job = next(queue, None)
            if job is None:
                return
            item, future = job
            _run_into(future, partial(work, item))

    for _ in range(min(threads_max, len(jobs))):
        threading.Thread(target=run_jobs, daemon=True).start()
    return [future.result() for _, future in jobs]


def run_in_thread(work: Callable[[], _Result]) -> Future[_Result]:
    """Start `work` in a new thread, and return a future for its result."""
    future: Future[_Result] = Future()
    threading.Thread(target=_run_into, args=(future, work), daemon=True).start()
    return future


def _run_into(future: Future[_Result], work: Callable[[], _Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - the future raises it again
        future.set_exception(error)
    else:
        future.set_result(result)
