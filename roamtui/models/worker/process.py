"""The program's side of the model process: it is started when it is needed, and takes several jobs at once."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from itertools import count
from typing import Self, TypeVar

import msgspec

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, Retrying
from roamtui.models.worker.jobs import (
    Fault,
    Frame,
    Job,
    JobEvent,
    Target,
    Vectors,
    decode_event,
    encode_frame,
)

WORKER_COMMAND = ("-P", "-m", "roamtui.models.litellm_worker")
"""What Python is told. -P keeps the working directory off the import path: it may be a stranger's folder."""
_END_SECONDS = 1.0
_FRAME_BYTES_MAX = 1 << 28
"""A longer line is no frame: something else has written to the pipe."""
_Reply = TypeVar("_Reply", Target, Vectors)
_LAST_EVENTS = frozenset({"ModelStopped", "Fault", "Target", "Vectors", "cancelled"})
_CRASHED = Fault(
    reason="The model's process ended unexpectedly", advice="ask again", is_retryable=True, is_passing=True
)


class WorkerLink:
    """A process from its start to its end; make one with `open`."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._waiting: dict[int, asyncio.Queue[Frame | None]] = {}
        """What came back for each job, None for the end of the process."""
        self._numbers = count(1)
        self._reading = asyncio.create_task(self._read())
        self.is_ended = False
        """Whether no more jobs can be sent."""

    @classmethod
    async def open(cls, environ: Mapping[str, str], command: tuple[str, ...]) -> Self:
        """Start a process: Python with the arguments `command`."""
        # A session of its own: ctrl+c in the terminal is the program's affair, not the process's.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=_FRAME_BYTES_MAX,
            env=environ,
            start_new_session=True,
        )
        return cls(process)

    async def run(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        """Send a job and yield what comes of it; leaving before the last event cancels it.

        A process that does not confirm the cancellation in time is ended.
        """
        number = next(self._numbers)
        frames = self._waiting[number] = asyncio.Queue()
        is_over = False
        try:
            await self._send({"id": number, "job": msgspec.to_builtins(job)})
            if self.is_ended:
                frames.put_nowait(None)
            while not is_over:
                frame = await frames.get()
                is_over = _is_last(frame)
                yield _CRASHED if frame is None else decode_event(frame)
        finally:
            try:
                if not is_over and not self.is_ended:
                    await self._cancel(number, frames, job.options.cancel_seconds)
            finally:
                del self._waiting[number]

    async def close(self) -> None:
        """End the process, gently at first."""
        self._end()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self._kill()
            await self.process.wait()
        await self._reading

    async def _send(self, frame: Mapping[str, object]) -> None:
        assert self.process.stdin is not None
        with suppress(ConnectionError):  # the reader notices the end of the process
            self.process.stdin.write(encode_frame(frame))
            await self.process.stdin.drain()

    async def _cancel(self, number: int, frames: asyncio.Queue[Frame | None], seconds: float) -> None:
        is_confirmed = False
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._send({"id": number, "job": None})
                    while not is_confirmed:
                        is_confirmed = _is_last(await frames.get())
        finally:
            if not is_confirmed:
                self._kill()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            while line := await self.process.stdout.readline():
                frame = json.loads(line)
                if frames := self._waiting.get(frame["id"]):
                    frames.put_nowait(frame)
        except (ConnectionError, ValueError, KeyError, TypeError):  # something else has written to the pipe
            self._kill()
        finally:
            self._end()

    def _kill(self) -> None:
        self._end()
        with suppress(ProcessLookupError):
            self.process.kill()

    def _end(self) -> None:
        """Take no more jobs, and tell all who wait."""
        assert self.process.stdin is not None
        if not self.is_ended:
            self.is_ended = True
            self.process.stdin.close()
            for frames in self._waiting.values():
                frames.put_nowait(None)


def _is_last(frame: Frame | None) -> bool:
    return frame is None or frame["event"] in _LAST_EVENTS


class WorkerProcess:
    """Runs at most one model process at a time, and starts another when a job comes after one has ended."""

    def __init__(self, environ: Mapping[str, str] | None = None, *, command: tuple[str, ...] = WORKER_COMMAND) -> None:
        self._environ = environ
        self._command = command
        self._link: WorkerLink | None = None
        self._connecting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The running process's id, None where none runs."""
        return None if self._link is None or self._link.is_ended else self._link.process.pid

    async def run(self, job: Job) -> AsyncGenerator[ModelEvent | Target | Vectors, None]:
        """Yield what comes of a job. Closing the iterator early, or cancelling the task that reads it, cancels the job.

        A passing fault is answered by sending the job again, as long as nothing has come of it.

        Raises:
            ModelError: There is no reply, or no more of it.
        """
        for retries in count():
            try:
                link = await self._connect()
            except OSError as error:
                reason = f"The model's process could not be started ({error.strerror or error})"
                raise ModelError(f"{reason}; free some memory and ask again.", retryable=True) from None
            fault, has_begun = None, False
            async with aclosing(link.run(job)) as events:
                async for event in events:
                    if isinstance(event, Fault):
                        fault = event
                    else:
                        has_begun = True
                        yield event
            if fault is None:
                return
            wait = job.options.plan_retry(fault.wait_seconds, retries) if fault.is_passing and not has_begun else None
            if wait is None:
                raise ModelError(fault.message, retryable=fault.is_retryable, overflow=fault.is_overflow)
            yield Retrying(fault.reason, wait)
            await asyncio.sleep(wait)

    async def ask(self, job: Job, kind: type[_Reply]) -> _Reply:
        """Return what comes of a job in the end, which is of a kind.

        Raises:
            ModelError: Nothing does.
        """
        async with aclosing(self.run(job)) as events:
            *_, last = [event async for event in events]
        assert isinstance(last, kind)
        return last

    async def close(self) -> None:
        """End the process; a later job starts another."""
        async with self._connecting:
            link, self._link = self._link, None
            if link is not None:
                await link.close()

    async def _connect(self) -> WorkerLink:
        async with self._connecting:
            if self._link is not None and self._link.is_ended:
                await self._link.close()
                self._link = None
            if self._link is None:
                environ = os.environ if self._environ is None else self._environ
                self._link = await WorkerLink.open(environ, self._command)
            return self._link
