"""Models of any provider, through litellm in a separate process. Nothing here imports litellm."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import count
from typing import TypeVar

import msgspec

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, ModelRequest, RetryPending
from roamtui.models.options import OLLAMA_WINDOW_TOKENS, ModelOptions
from roamtui.models.text_tool_calls import TOOL_REFUSAL, stream_with_text_tools, translate_request
from roamtui.models.worker_protocol import (
    EmbeddingBatch,
    Frame,
    Job,
    JobEvent,
    ModelFailure,
    ResolvedModel,
    decode_event,
    encode_frame,
)

WORKER_COMMAND = ("-P", "-m", "roamtui.models.litellm_worker")
"""Arguments for Python. -P keeps the working directory off the import path, because its files may not be trusted."""
_END_SECONDS_MAX = 1.0
_FRAME_BYTES_MAX = 1 << 28
"""Maximum length of a frame. If a line is longer, something else wrote to the pipe."""
_LAST_EVENTS = frozenset({"ReplyFinished", "ModelFailure", "ResolvedModel", "EmbeddingBatch", "cancelled"})
_CRASHED = ModelFailure(reason="The model's process ended unexpectedly", advice="ask again", is_transient=True)
_Reply = TypeVar("_Reply", ResolvedModel, EmbeddingBatch)


class LitellmModel:
    """A model of any provider that litellm knows. Keys come only from the environment."""

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        options: ModelOptions | None = None,
        environ: Mapping[str, str] | None = None,
        worker: WorkerProcess | None = None,
    ) -> None:
        self.name = name
        self._options = options or ModelOptions()
        self._job = Job(operation="complete", model=name, api_base=api_base, options=self._options)
        self._worker = worker or WorkerProcess(environ)
        self._owns_worker = worker is None
        self._description: ResolvedModel | None = None
        self._lacks_tools = False
        """Whether the model has no tool calls, according to litellm or its server."""
        self.window_tokens = self._options.window_tokens
        """Size of the context window; None if unknown, as for most models until `start` or `describe` has finished."""
        if self.window_tokens is None and name.startswith(("ollama/", "ollama_chat/")):
            self.window_tokens = OLLAMA_WINDOW_TOKENS

    @property
    def note(self) -> str:
        """Sentences for the person if the model has no tool calls or no known price; empty before it has started."""
        known, notes = self._description, []
        if known is not None and known.can_call_tools is False:
            words = f"{self.name} has no tool calls, so tool calls are described in the prompt."
            notes.append(f"{words} Expect more mistakes.")
        is_priced = known is None or known.input_usd is not None or known.is_ollama
        if self._options.has_spending_cap and not is_priced:
            notes.append(f"No price known for {self.name}; the spending limit does not apply.")
        return " ".join(notes)

    async def start(self) -> None:
        """Start the process and learn the window size, which takes seconds. The first request reports failures.

        Once the window size is known, this does nothing, even if the process has ended, because waiting here would
        delay the question.
        """
        if self._description is None:
            with suppress(ModelError):
                await self.describe()

    async def describe(self) -> ResolvedModel:
        """Return what is known about the model, without asking its provider.

        Raises:
            ModelError: The name is unknown, or the process could not be started.
        """
        job = replace(self._job, operation="describe", options=replace(self._options, retries=0))
        found = await self._worker.run_to_result(job, ResolvedModel)
        self._description, self.window_tokens = found, found.window_tokens
        self._lacks_tools = self._lacks_tools or found.can_call_tools is False
        return found

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply. `ReplyFinished` is the last.

        After a transient failure, the request is sent again, unless a part of the reply was yielded. If a model has no
        tool calls, they are described in the prompt. litellm knows some of these models. For others, the server
        refuses the first request. Closing the iterator early, or cancelling the task that reads it, closes the
        connection.

        Raises:
            ModelError: The model could not answer.
        """
        if not self._lacks_tools:
            has_begun = False
            try:
                async with aclosing(self._send_request(request)) as events:
                    async for event in events:
                        has_begun = has_begun or not isinstance(event, RetryPending)
                        yield event
            except ModelError as error:
                if has_begun or not request.tools or not TOOL_REFUSAL.search(str(error)):
                    raise
                self._lacks_tools = True
            else:
                return
            yield RetryPending(f"{self.name} refuses tool calls, so they are described in the prompt.", 0.0)
        async with (
            aclosing(self._send_request(translate_request(request))) as replies,
            aclosing(stream_with_text_tools(replies, request)) as events,
        ):
            async for event in events:
                yield event

    async def _send_request(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async with aclosing(self._worker.run(replace(self._job, request=request))) as events:
            async for event in events:
                assert not isinstance(event, ResolvedModel | EmbeddingBatch)
                yield event

    async def close(self) -> None:
        """End the process, unless it is shared. A later request starts it again."""
        if self._owns_worker:
            await self._worker.close()


class WorkerProcess:
    """Runs one model process, which does several jobs at once. If it has ended, the next job starts it again."""

    def __init__(self, environ: Mapping[str, str] | None = None, *, command: tuple[str, ...] = WORKER_COMMAND) -> None:
        self._environ = environ
        self._command = command
        self._process: Process | None = None
        """The process that was started last."""
        self._is_ended = True
        """Whether the process accepts no more jobs."""
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._frames_by_job: dict[int, asyncio.Queue[Frame | None]] = {}
        """Frames for each job, by its number. None marks the end of the process."""
        self._job_numbers = count(1)

    @property
    def pid(self) -> int | None:
        """Id of the running process, or None."""
        return None if self._process is None or self._is_ended else self._process.pid

    async def run(self, job: Job) -> AsyncGenerator[ModelEvent | ResolvedModel | EmbeddingBatch, None]:
        """Yield the events of a job. Closing the iterator early, or cancelling the task that reads it, cancels the job.

        After a transient failure, the job is run again, unless an event was yielded.

        Raises:
            ModelError: There is no reply, or only a partial one.
        """
        for retries in count():
            failure, has_begun = None, False
            async with aclosing(self._run_once(job)) as events:
                async for event in events:
                    if isinstance(event, ModelFailure):
                        failure = event
                    else:
                        has_begun = True
                        yield event
            if failure is None:
                return
            options, wait = job.options, failure.wait_seconds
            if wait is None:
                wait = min(options.retry_wait_seconds * float(2**retries), options.retry_wait_seconds_max)
            can_retry = failure.is_transient and not has_begun and retries < options.retries
            if not can_retry or wait > options.retry_wait_seconds_max:
                raise ModelError(failure.message, overflow=failure.is_overflow)
            yield RetryPending(failure.reason, wait)
            await asyncio.sleep(wait)

    async def run_to_result(self, job: Job, kind: type[_Reply]) -> _Reply:
        """Run a job, and return its last event, which has type `kind`.

        Raises:
            ModelError: The job failed.
        """
        async with aclosing(self.run(job)) as events:
            *_, last = [event async for event in events]
        assert isinstance(last, kind)
        return last

    async def close(self) -> None:
        """End the process, and kill it if it does not end soon. A later job starts another one."""
        async with self._starting:
            await self._finish()

    async def _run_once(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        # Leaving before the last event cancels the job. A process that does not confirm that in time is killed.
        process, number = await self._start(), next(self._job_numbers)
        frames = self._frames_by_job[number] = asyncio.Queue()
        is_over = False
        try:
            await _send(process, {"id": number, "job": msgspec.to_builtins(job)})
            while not is_over:
                frame = await frames.get()
                is_over = _is_last(frame)
                yield _CRASHED if frame is None else decode_event(frame)
        finally:
            try:
                if not is_over:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(job.options.cancel_seconds):
                            await _send(process, {"id": number, "job": None})
                            while not is_over:
                                is_over = _is_last(await frames.get())
            finally:
                if not is_over:
                    self._kill(process)
                del self._frames_by_job[number]

    async def _start(self) -> Process:
        async with self._starting:
            if self._process is not None and not self._is_ended:
                return self._process
            await self._finish()
            try:
                # A new session, or a group on Windows, so that ctrl+c in the terminal does not interrupt the process.
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
                reason = f"Could not start the model process ({error.strerror or error})"
                raise ModelError(f"{reason}; free some memory and ask again.") from None
            self._is_ended = False
            self._reading = asyncio.create_task(self._read(self._process))
            return self._process

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                frame = json.loads(line)
                if frames := self._frames_by_job.get(frame["id"]):
                    frames.put_nowait(frame)
        except (ConnectionError, ValueError, KeyError, TypeError):  # something else wrote to the pipe
            self._kill(process)
        finally:
            self._end(process)
        await process.wait()

    async def _finish(self) -> None:
        # Waits until the process has ended, if there is one.
        if self._process is not None and self._reading is not None:
            self._end(self._process)
            await asyncio.wait({self._reading}, timeout=_END_SECONDS_MAX)
            if not self._reading.done():
                self._kill(self._process)
            await self._reading
        self._process = self._reading = None

    def _kill(self, process: Process) -> None:
        self._end(process)
        with suppress(ProcessLookupError):
            process.kill()

    def _end(self, process: Process) -> None:
        # The process takes no more jobs, and every waiting job learns that it ended.
        if process is self._process and not self._is_ended:
            assert process.stdin is not None
            self._is_ended = True
            process.stdin.close()
            for frames in self._frames_by_job.values():
                frames.put_nowait(None)


async def _send(process: Process, frame: Mapping[str, object]) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # the reader notices the end of the process
        process.stdin.write(encode_frame(frame))
        await process.stdin.drain()


def _is_last(frame: Frame | None) -> bool:
    return frame is None or frame["event"] in _LAST_EVENTS
