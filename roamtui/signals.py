"""Handles signals that end the program, so that an unfinished answer is saved first, as after ctrl+c."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from roamtui.errors import EXIT_CANCELLED

_END_SIGNALS = ("SIGTERM", "SIGHUP")
"""SIGTERM asks the program to end, and SIGHUP comes when its terminal closes. Windows has only SIGTERM."""


def add_end_handler(on_end: Callable[[], object]) -> Callable[[], None]:
    """Call `on_end` in the running event loop when a signal would end the program.

    Return a function that removes the handler. A signal that is already handled, or ignored as by `nohup`, is
    left alone. Where the event loop cannot handle signals, nothing happens.
    """
    loop = asyncio.get_running_loop()
    handled: list[int] = []
    for name in _END_SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with suppress(RuntimeError):  # on Windows, and in other threads than the first
                loop.add_signal_handler(number, on_end)
                handled.append(number)

    def remove() -> None:
        for number in handled:
            loop.remove_signal_handler(number)

    return remove


def resume_only_with_terminal() -> None:
    """Let the handler of SIGCONT, which starts to draw again, do nothing once the terminal has closed.

    A closing terminal sends this signal too. Textual would start a second writing thread. That thread would
    die, and Textual would wait for it forever.
    """
    number = getattr(signal, "SIGCONT", None)  # Windows has none
    resume = None if number is None else signal.getsignal(number)
    if number is None or not callable(resume):
        return

    def resume_if_there(received: int, frame: FrameType | None) -> None:
        if os.isatty(0):
            resume(received, frame)

    signal.signal(number, resume_if_there)


@contextmanager
def end_after_task() -> Iterator[None]:
    """If a signal would end the program, cancel the current task, and raise `SystemExit` after it."""
    task = asyncio.current_task()
    assert task is not None, "only a task can be cancelled"
    is_ending = False

    def cancel() -> None:
        nonlocal is_ending
        is_ending = True
        task.cancel()

    remove = add_end_handler(cancel)
    try:
        yield
    except asyncio.CancelledError:
        if not is_ending:
            raise
    finally:
        remove()
    if is_ending:
        raise SystemExit(EXIT_CANCELLED)
