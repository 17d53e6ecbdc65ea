"""Models of all providers, through litellm in a process of its own; nothing here imports litellm."""

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
from roamtui.models.text_tool_calls import is_tool_refusal, stream_with_text_tools, translate_request
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
"""What Python is told. -P keeps the working directory off the import path: it may be a stranger's folder."""
_END_SECONDS = 1.0
_FRAME_BYTES_MAX = 1 << 28
"""A longer line is no frame: something else has written to the pipe."""
_LAST_EVENTS = frozenset({"ReplyFinished", "ModelFailure", "ResolvedModel", "EmbeddingBatch", "cancelled"})
_CRASHED = ModelFailure(reason="The model's process ended unexpectedly", advice="ask again", is_transient=True)
_Reply = TypeVar("_Reply", ResolvedModel, EmbeddingBatch)


class LitellmModel:
    """A model of any provider that litellm knows. Keys come from the environment alone."""

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
        """Whether it takes no tools, as litellm knows or its server has said."""
        self.window_tokens = self._options.window_tokens
        """None where unknown, and for most models until `start` or `describe` has ended."""
        if self.window_tokens is None and name.startswith(("ollama/", "ollama_chat/")):
            self.window_tokens = OLLAMA_WINDOW_TOKENS

    @property
    def note(self) -> str:
        """What a person should know of it, once it is started: that it is asked in words, that its price is unknown."""
        known, notes = self._description, []
        if known is not None and known.can_call_tools is False:
            words = f"{self.name} has no tool calls, so it is told in words how to open sections."
            notes.append(f"{words} Expect more wrong turns.")
        is_priced = known is None or known.input_usd is not None or known.is_ollama
        if self._options.has_spending_cap and not is_priced:
            notes.append(f"The price of {self.name} is not known here, so the spending cap cannot hold it.")
        return " ".join(notes)

    async def start(self) -> None:
        """Start the process and learn the window's size, in seconds; what fails here is told by the first request.

        Once that is known this does nothing, even if the process was ended since: a question that waits for it here is
        not on the screen yet.
        """
        if self._description is None:
            with suppress(ModelError):
                await self.describe()

    async def describe(self) -> ResolvedModel:
        """Return what is known of the model without asking its provider.

        Raises:
            ModelError: Its name leads nowhere, or there is no process to ask.
        """
        job = replace(self._job, operation="describe", options=replace(self._options, retries=0))
        found = await self._worker.run_to_result(job, ResolvedModel)
        self._description, self.window_tokens = found, found.window_tokens
        self._lacks_tools = self._lacks_tools or found.can_call_tools is False
        return found

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply; `ReplyFinished` is the last.

        A passing fault is answered by sending the request again, as long as nothing of a reply was yielded. A model
        without tool calls is asked in words: litellm knows of some, a server tells by refusing the first request.
        Closing the iterator early, or cancelling the task that reads it, closes the provider's connection.

        Raises:
            ModelError: The model could not answer.
        """
        if not self._lacks_tools:
            has_begun = False
            try:
                async with aclosing(self._ask(request)) as events:
                    async for event in events:
                        has_begun = has_begun or not isinstance(event, RetryPending)
                        yield event
            except ModelError as error:
                if has_begun or not request.tools or not is_tool_refusal(str(error)):
                    raise
                self._lacks_tools = True
            else:
                return
            yield RetryPending(f"{self.name} refuses tool calls, so it is told in words how to open sections.", 0.0)
        async with (
            aclosing(self._ask(translate_request(request))) as told,
            aclosing(stream_with_text_tools(told, request)) as events,
        ):
            async for event in events:
                yield event

    async def _ask(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async with aclosing(self._worker.run(replace(self._job, request=request))) as events:
            async for event in events:
                assert not isinstance(event, ResolvedModel | EmbeddingBatch)
                yield event

    async def close(self) -> None:
        """End the process, unless it is shared; it may be asked again later."""
        if self._owns_worker:
            await self._worker.close()


class WorkerProcess:
    """Runs at most one model process at a time, and starts another when a job comes after one has ended.

    It takes several jobs at once.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, *, command: tuple[str, ...] = WORKER_COMMAND) -> None:
        self._environ = environ
        self._command = command
        self._process: Process | None = None
        """The one that was started last."""
        self._is_ended = True
        """Whether it takes no more jobs."""
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, asyncio.Queue[Frame | None]] = {}
        """What came back for each job, None for the end of the process."""
        self._numbers = count(1)

    @property
    def pid(self) -> int | None:
        """The running process's id, None where none runs."""
        return None if self._process is None or self._is_ended else self._process.pid

    async def run(self, job: Job) -> AsyncGenerator[ModelEvent | ResolvedModel | EmbeddingBatch, None]:
        """Yield what comes of a job. Closing the iterator early, or cancelling the task that reads it, cancels the job.

        A passing fault is answered by sending the job again, as long as nothing has come of it.

        Raises:
            ModelError: There is no reply, or no more of it.
        """
        for retries in count():
            fault, has_begun = None, False
            async with aclosing(self._run_once(job)) as events:
                async for event in events:
                    if isinstance(event, ModelFailure):
                        fault = event
                    else:
                        has_begun = True
                        yield event
            if fault is None:
                return
            wait = job.options.plan_retry(fault.wait_seconds, retries) if fault.is_transient and not has_begun else None
            if wait is None:
                raise ModelError(fault.message, overflow=fault.is_overflow)
            yield RetryPending(fault.reason, wait)
            await asyncio.sleep(wait)

    async def run_to_result(self, job: Job, kind: type[_Reply]) -> _Reply:
        """Return what comes of a job in the end, which is of a kind.

        Raises:
            ModelError: Nothing does.
        """
        async with aclosing(self.run(job)) as events:
            *_, last = [event async for event in events]
        assert isinstance(last, kind)
        return last

    async def close(self) -> None:
        """End the process, gently at first; a later job starts another."""
        async with self._starting:
            await self._finish()

    async def _run_once(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        """Send a job and yield what comes of it; leaving before the last event cancels it.

        A process that does not confirm the cancellation in time is ended.
        """
        process, number = await self._start(), next(self._numbers)
        frames = self._waiting[number] = asyncio.Queue()
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
                del self._waiting[number]

    async def _start(self) -> Process:
        async with self._starting:
            if self._process is not None and not self._is_ended:
                return self._process
            await self._finish()
            try:
                # A session of its own, a group on Windows: ctrl+c in the terminal is only for the program.
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
                reason = f"The model's process could not be started ({error.strerror or error})"
                raise ModelError(f"{reason}; free some memory and ask again.") from None
            self._is_ended = False
            self._reading = asyncio.create_task(self._read(self._process))
            return self._process

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                frame = json.loads(line)
                if frames := self._waiting.get(frame["id"]):
                    frames.put_nowait(frame)
        except (ConnectionError, ValueError, KeyError, TypeError):  # something else has written to the pipe
            self._kill(process)
        finally:
            self._end(process)
        await process.wait()

    async def _finish(self) -> None:
        """Wait for the end of the process, if there is one."""
        if self._process is not None and self._reading is not None:
            self._end(self._process)
            await asyncio.wait({self._reading}, timeout=_END_SECONDS)
            if not self._reading.done():
                self._kill(self._process)
            await self._reading
        self._process = self._reading = None

    def _kill(self, process: Process) -> None:
        self._end(process)
        with suppress(ProcessLookupError):
            process.kill()

    def _end(self, process: Process) -> None:
        """Give a process no more jobs, and tell all who wait."""
        if process is self._process and not self._is_ended:
            assert process.stdin is not None
            self._is_ended = True
            process.stdin.close()
            for frames in self._waiting.values():
                frames.put_nowait(None)


async def _send(process: Process, frame: Mapping[str, object]) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # the reader notices the end of the process
        process.stdin.write(encode_frame(frame))
        await process.stdin.drain()


def _is_last(frame: Frame | None) -> bool:
    return frame is None or frame["event"] in _LAST_EVENTS
