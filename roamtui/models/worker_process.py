"""The process in which litellm runs: started when it is needed, sent jobs, and ended.

Nothing here imports litellm.
"""

import asyncio
import json
import os
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from itertools import count
from typing import TypeVar

import msgspec

from roamtui.errors import ModelError, format_reason
from roamtui.models.base import ModelEvent, RetryPending
from roamtui.models.worker_protocol import (
    EmbeddingBatch,
    Frame,
    Job,
    JobEvent,
    ModelFailure,
    ProviderError,
    ResolvedModel,
    encode_frame,
)

WORKER_COMMAND = ("-P", "-m", "roamtui.models.litellm_worker")
"""Arguments for Python. -P keeps the untrusted working directory off the import path."""
_FRAME_BYTES_MAX = 1 << 28
"""Maximum length of a frame. If a line is longer, something else wrote to the pipe."""
_LAST_EVENTS = frozenset({"ReplyFinished", "ModelFailure", "ResolvedModel", "EmbeddingBatch"})
"""Names of the events that end a job. A cancelled job ends without an event."""
_RETRY_WAIT_SECONDS_MAX = 60.0
"""If the provider asks for a longer wait, there is no retry."""
_CRASHED = ModelFailure(
    reason="The model's process has ended", advice="Ask again.", is_transient=True, may_cost=True
)
_Result = TypeVar("_Result", ResolvedModel, EmbeddingBatch)


class WorkerProcess:
    """Runs one model process, which does several jobs at once. After its end, the next job restarts it."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, command: tuple[str, ...] = WORKER_COMMAND
    ) -> None:
        self._environ = environ
        self._command = command
        self._process: Process | None = None
        """The process to which jobs can be sent: from its start until its input is closed."""
        self._reader_task: asyncio.Task[None] | None = None
        """Reads the output of the process that was started last, and ends when it has exited."""
        self._start_lock = asyncio.Lock()
        self._events_by_job: dict[int, asyncio.Queue[Frame | None]] = {}
        """Events received for each job, by its number. None means that no more will come."""
        self._job_numbers = count(1)

    @property
    def pid(self) -> int | None:
        """Id of the running process, or None."""
        return None if self._process is None else self._process.pid

    async def run(self, job: Job) -> AsyncGenerator[ModelEvent | ResolvedModel | EmbeddingBatch, None]:
        """Yield the events of a job. Closing the iterator early, or cancelling its reader, cancels the job.

        After a transient failure, the job is run again, unless an event was yielded.

        Raises:
            ProviderError: There is no reply, or only a partial one.
        """
        for attempt in count():
            failure = None
            has_begun = False
            async with aclosing(self._run_once(job)) as events:
                async for event in events:
                    if isinstance(event, ModelFailure):
                        failure = event
                    else:
                        has_begun = True
                        yield event
            if failure is None:
                return
            options = job.options
            wait = failure.wait_seconds
            if wait is None:
                wait = min(options.retry_wait_seconds * float(2**attempt), _RETRY_WAIT_SECONDS_MAX)
            can_retry = failure.is_transient and not has_begun and attempt < options.retries
            if not can_retry or wait > _RETRY_WAIT_SECONDS_MAX:
                raise ProviderError(failure)
            yield RetryPending(failure.reason, wait, may_cost=failure.may_cost)
            await asyncio.sleep(wait)

    async def run_to_result(self, job: Job, kind: type[_Result]) -> _Result:
        """Run a job, and return its last event, which has type `kind`.

        Raises:
            ModelError: The job failed.
        """
        async with aclosing(self.run(job)) as events:
            *_, last = [event async for event in events]
        assert isinstance(last, kind)
        return last

    async def close(self) -> None:
        """End the process. A later job starts another one."""
        async with self._start_lock:
            if self._process is not None:
                self._kill(self._process)
            await self._wait_for_exit()

    async def _run_once(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        # If the caller stops before the last event, the job is cancelled. A process that does not confirm
        # that in time is killed.
        process = await self._start()
        number = next(self._job_numbers)
        events = self._events_by_job[number] = asyncio.Queue()
        is_over = False
        try:
            await _send(process, {"id": number, "job": msgspec.to_builtins(job)})
            while not is_over:
                event = await events.get()
                is_over = _is_last(event)
                yield _CRASHED if event is None else msgspec.convert(event, JobEvent)
        finally:
            try:
                if not is_over:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(job.options.cancel_seconds):
                            await _send(process, {"id": number, "job": None})
                            while not is_over:
                                is_over = _is_last(await events.get())
            finally:
                if not is_over:
                    self._kill(process)
                del self._events_by_job[number]

    async def _start(self) -> Process:
        async with self._start_lock:
            if self._process is not None:
                return self._process
            await self._wait_for_exit()
            try:
                # A new session, or a group on Windows, so that ctrl+c in the terminal does not interrupt the
                # process.
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *self._command,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    limit=_FRAME_BYTES_MAX,
                    env=os.environ if self._environ is None else self._environ,
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
            except OSError as error:
                reason = f"Could not start the process of the model: {format_reason(error)}"
                raise ModelError(f"{reason}. Free some memory and ask again.") from None
            self._reader_task = asyncio.create_task(self._read(self._process))
            return self._process

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                frame = json.loads(line)
                if events := self._events_by_job.get(frame["id"]):
                    events.put_nowait(frame["event"])
        except (ConnectionError, ValueError, KeyError, TypeError):
            self._kill(process)  # a line is no frame: something else wrote to the pipe
        self._send_no_more(process)  # not `_kill`: asyncio prints a warning if the process has ended
        await process.wait()

    async def _wait_for_exit(self) -> None:
        if self._reader_task is not None:
            await asyncio.wait((self._reader_task,))  # unlike await, it does not cancel the task

    def _kill(self, process: Process) -> None:
        with suppress(ProcessLookupError):
            process.kill()
        self._send_no_more(process)

    def _send_no_more(self, process: Process) -> None:
        """Close the input of a process, which ends it. Every waiting job learns that no more events come."""
        if process is self._process:
            self._process = None
            assert process.stdin is not None
            process.stdin.close()
            for events in self._events_by_job.values():
                events.put_nowait(None)


async def _send(process: Process, frame: Mapping[str, object]) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # the reader notices the end of the process
        process.stdin.write(encode_frame(frame))
        await process.stdin.drain()


def _is_last(event: Frame | None) -> bool:
    return event is None or event["type"] in _LAST_EVENTS
