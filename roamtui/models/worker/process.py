"""The program's side of the model process: it is started when it is needed, and takes several jobs at once."""

from __future__ import annotations

import asyncio
import os
import sys
from array import array
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from itertools import count
from typing import Self

import msgspec

from roamtui.models.base import ModelEvent
from roamtui.models.worker.jobs import (
    BrokenFrameError,
    Description,
    EmbedJob,
    Fault,
    Frame,
    Job,
    JobEvent,
    Vectors,
    decode_event,
    encode_frame,
    receive_frame,
)

WORKER_COMMAND = ("-P", "-m", "roamtui.models.litellm_worker")
"""What Python is told. -P keeps the working directory off the import path: it may be a stranger's folder."""
_END_SECONDS = 1.0
_LAST_EVENTS = frozenset({"stopped", "fault", "described", "embedded", "cancelled"})
_CRASHED = Fault(
    reason="The model's process ended unexpectedly", advice="ask again", is_retryable=True, is_passing=True
)


class Exchange:
    """What comes back for one job."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self.is_over = False
        """Whether the last frame was received."""

    def deliver(self, frame: Frame | None) -> None:
        """Add a frame, None for the end of the process."""
        self._frames.put_nowait(frame)

    async def receive(self) -> Frame | None:
        """Return the next frame, None where the process ended before the last one."""
        frame = await self._frames.get()
        self.is_over = frame is None or frame["event"] in _LAST_EVENTS
        return frame


class WorkerLink:
    """A process from its start to its end; make one with `open`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._exchanges: dict[int, Exchange] = {}
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
            env=environ,
            start_new_session=True,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @asynccontextmanager
    async def exchange(self, operation: str, job: Job | EmbedJob) -> AsyncIterator[Exchange]:
        """Send a job and give what comes back; leaving before the last frame cancels it.

        A process that does not confirm the cancellation in time is ended.
        """
        number = next(self._numbers)
        exchange = self._exchanges[number] = Exchange()
        try:
            await self._send({"op": operation, "id": number, "job": msgspec.to_builtins(job)})
            if self.is_ended:
                exchange.deliver(None)
            yield exchange
        finally:
            try:
                if not exchange.is_over and not self.is_ended:
                    await self._cancel(number, exchange, job.options.cancel_seconds)
            finally:
                del self._exchanges[number]

    async def close(self) -> None:
        """End the process, gently at first."""
        self._end()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()
        await self._reading

    async def _send(self, frame: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        with suppress(ConnectionError):  # the reader notices the end of the process
            self._process.stdin.write(encode_frame(frame))
            await self._process.stdin.drain()

    async def _cancel(self, number: int, exchange: Exchange, seconds: float) -> None:
        is_confirmed = False
        try:
            async with asyncio.timeout(seconds):
                await self._send({"op": "cancel", "id": number})
                while not exchange.is_over:
                    await exchange.receive()
            is_confirmed = True
        except TimeoutError:
            pass
        finally:
            if not is_confirmed:
                self._kill()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while (frame := await receive_frame(self._process.stdout)) is not None:
                if exchange := self._exchanges.get(frame["id"]):
                    exchange.deliver(frame)
        except BrokenFrameError:
            self._kill()
        finally:
            self._end()

    def _kill(self) -> None:
        self._end()
        with suppress(ProcessLookupError):
            self._process.kill()

    def _end(self) -> None:
        """Take no more jobs, and tell all who wait."""
        assert self._process.stdin is not None
        if not self.is_ended:
            self.is_ended = True
            self._process.stdin.close()
            for exchange in self._exchanges.values():
                exchange.deliver(None)


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
        return None if self._link is None or self._link.is_ended else self._link.pid

    async def stream_job(self, job: Job) -> AsyncGenerator[ModelEvent | Fault, None]:
        """Yield what comes of `job`; the last event is `ModelStopped` or a `Fault`.

        Closing the iterator early, or cancelling the task that reads it, cancels the job.
        """
        async with aclosing(self._run("complete", job)) as events:
            async for event in events:
                assert not isinstance(event, Description | Vectors)
                yield event

    async def describe(self, job: Job) -> Description | Fault:
        """Return what is known of the job's model; its provider is not asked."""
        async with aclosing(self._run("describe", job)) as events:
            event = await anext(events)
        assert isinstance(event, Description | Fault)
        return event

    async def embed(self, job: EmbedJob) -> list[array[float]] | Fault:
        """Return a vector for each text of a job."""
        async with aclosing(self._run("embed", job)) as events:
            event = await anext(events)
        assert isinstance(event, Vectors | Fault)
        return event if isinstance(event, Fault) else event.decode()

    async def _run(self, operation: str, job: Job | EmbedJob) -> AsyncGenerator[JobEvent, None]:
        try:
            link = await self._connect()
        except OSError as error:
            reason = f"The model's process could not be started ({error.strerror or error})"
            yield Fault(reason=reason, advice="free some memory and ask again", is_retryable=True)
            return
        async with link.exchange(operation, job) as exchange:
            while not exchange.is_over:
                frame = await exchange.receive()
                yield _CRASHED if frame is None else decode_event(frame)

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
