"""A thread with an event loop and a model process, for code that is not asynchronous and asks models nevertheless."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar
from weakref import finalize

from roamtui.models.litellm_model import WorkerProcess

_T = TypeVar("_T")
_END_SECONDS = 5


class BackgroundModels:
    """Runs coroutines for whoever can wait. Thread and process begin when they are needed, and end with this object."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.worker = WorkerProcess(environ)
        """The process, to be used by what runs here alone."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: finalize[[asyncio.AbstractEventLoop, threading.Thread, WorkerProcess], BackgroundModels] | None = (
            None
        )

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Return what a coroutine returns; may be called from any thread but its own."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._start())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End thread and process; a later coroutine begins others."""
        with self._lock:
            if self._end is not None:
                self._end()
            self._end = self._loop = None

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_run, args=(self._loop,), name="background models", daemon=True)
                thread.start()
                self._end = finalize(self, _end, self._loop, thread, self.worker)
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, worker: WorkerProcess) -> None:
    """End the process, then the loop; wait for both, unless garbage is collected in the very thread of the loop."""

    async def close() -> None:
        try:
            await worker.close()
        finally:
            loop.stop()

    asyncio.run_coroutine_threadsafe(close(), loop)
    if threading.current_thread() is not thread:
        thread.join(_END_SECONDS)
