"""Parallel work in threads that no exit of the program waits for, unlike those of `concurrent.futures`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def run_parallel(work: Callable[[_Item], _Result], items: Iterable[_Item], threads_max: int) -> list[_Result]:
    """Return what `work` gives for each item, in their order, once all are done, `threads_max` of them at a time.

    What it raises is raised here, that of the first item first.
    """
    futures: list[tuple[_Item, Future[_Result]]] = [(item, Future()) for item in items]
    waiting = iter(futures)
    turn = threading.Lock()

    def take_all() -> None:
        while True:
            with turn:
                taken = next(waiting, None)
            if taken is None:
                return
            _run_into(taken[1], partial(work, taken[0]))

    for _ in range(min(threads_max, len(futures))):
        threading.Thread(target=take_all, daemon=True).start()
    return [future.result() for _, future in futures]


def run_in_thread(work: Callable[[], _Result]) -> Future[_Result]:
    """Begin work in a thread of its own, and return what it will have given."""
    future: Future[_Result] = Future()
    threading.Thread(target=_run_into, args=(future, work), daemon=True).start()
    return future


def _run_into(future: Future[_Result], work: Callable[[], _Result]) -> None:
    """Do work, and have a future tell what it gave or raised."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - whoever waits for the future raises it again
        future.set_exception(error)
    else:
        future.set_result(result)
