"""Models of any provider, through litellm in a separate process. Nothing here imports litellm."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from itertools import count
from typing import TypeVar

import msgspec
from msgspec.structs import replace
from typing_extensions import override

from roamtui.conversation.events import Message, Role
from roamtui.errors import ModelError, format_reason
from roamtui.models.base import Model, ModelEvent, ModelOptions, ModelRequest, RetryPending
from roamtui.models.local_servers import ASSUMED_WINDOW_TOKENS, is_loopback
from roamtui.models.worker_protocol import (
    ASSUMED_NOTE,
    EmbeddingBatch,
    Frame,
    Job,
    JobEvent,
    ModelFailure,
    ResolvedModel,
    encode_frame,
)
from roamtui.models.written_calls import READ_START, READ_TOOL, SECTION_ID

WORKER_COMMAND = ("-P", "-m", "roamtui.models.litellm_worker")
"""Arguments for Python. -P keeps the untrusted working directory off the import path."""
_FRAME_BYTES_MAX = 1 << 28
"""Maximum length of a frame. If a line is longer, something else wrote to the pipe."""
_LAST_EVENTS = frozenset({"ReplyFinished", "ModelFailure", "ResolvedModel", "EmbeddingBatch"})
"""Names of the events that end a job. One that was cancelled ends without an event."""
_CRASHED = ModelFailure(
    reason="The model's process ended unexpectedly", advice="ask again", is_transient=True
)
_TOOL_REFUSAL = re.compile(
    r"(?:not support|unsupported)[^.]{0,30}\b(?:tool|function)"
    r"|\b(?:tool|function)[^.]{0,30}(?:not|n't) (?:be )?(?:support|enabl|available)"
    r"|requires --enable-auto-tool-choice|tools param requires",
    re.IGNORECASE,
)
"""Messages of servers whose model has no tool calls."""
_NO_TOOLS = "You have no tools here: answer from the texts and excerpts in these messages."
_READ_REQUEST = (
    f"If they do not answer the question, reply with one line and nothing else: {READ_START} and the ids of "
    f"the sections that you want to read, such as {READ_START} a8a96034, b9e8ef5c"
)
"""Added for a model without tools. `parse_calls` reads its reply."""
_LOCAL_ANSWER_TOKENS_MAX = 1_200
"""Maximum tokens of an answer of a server on this machine, where a model that does not stop takes minutes."""
_Result = TypeVar("_Result", ResolvedModel, EmbeddingBatch)


class LitellmModel(Model):
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
        self._is_described = False
        """Whether the attributes say what is known about the model."""
        self._lacks_tools = False
        """Whether the model has no tool calls, according to litellm or its server."""
        self.window_tokens = self._options.window_tokens
        """Size of the context window; None if unknown, often until `start` or `describe` is done."""
        self._window_limit: int | None = None
        """Size of the window that the server named when it refused a request."""

    @property
    @override
    def lacks_tools(self) -> bool:
        return self._lacks_tools or super().lacks_tools

    @override
    def limit_window(self, window_tokens: int) -> None:
        super().limit_window(window_tokens)
        self._window_limit = self.window_tokens

    @property
    @override
    def is_started(self) -> bool:
        return self._is_described and self._worker.pid is not None

    @override
    async def start(self) -> None:
        """Start the process and learn the window, which takes seconds. The first request reports failures.

        Once the server has been asked, this does nothing, even if the process has ended, because waiting here
        would delay the question.
        """
        if not self._is_described:
            with suppress(ModelError):
                await self.describe()

    async def describe(self) -> ResolvedModel:
        """Return what is known about the model. Only a server of the person's own is asked, never a provider.

        Raises:
            ModelError: The name is unknown, or the process could not be started.
        """
        # Nothing is sent, so a failure (the name is unknown, or the process ended) is reported at once.
        job = replace(self._job, operation="describe", options=replace(self._options, retries=0))
        resolved = await self._worker.run_to_result(job, ResolvedModel)
        self._is_described = resolved.is_reached
        self.window_tokens = resolved.window_tokens
        self.window_note = resolved.window_note
        if self._window_limit is not None:
            super().limit_window(self._window_limit)
        self._lacks_tools = self._lacks_tools or resolved.can_call_tools is False
        notes = [self._no_tools_note] if resolved.can_call_tools is False else []
        is_local = resolved.api_base is not None and is_loopback(resolved.api_base)
        if is_local and self._options.output_tokens is None:
            self.answer_tokens_max = min(
                _LOCAL_ANSWER_TOKENS_MAX, (resolved.window_tokens or ASSUMED_WINDOW_TOKENS) // 4
            )
        if resolved.input_usd is not None:
            output_usd = resolved.input_usd if resolved.output_usd is None else resolved.output_usd
            self.prices = resolved.input_usd, output_usd
        elif self._options.has_spending_cap and not resolved.is_ollama:
            notes.append(f"The price of {self.name} is not known, so your spending limit does not apply.")
        if resolved.is_reached and resolved.window_note == ASSUMED_NOTE:
            notes.append(
                f"The server does not say how large its window is: {self.window_tokens:,} tokens are assumed."
            )
            notes.append("If it is larger, set window_tokens in config.toml.")
        self.note = " ".join(notes)
        return resolved

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply. `ReplyFinished` is the last.

        After a transient failure, the request is sent again, unless a part of the reply was yielded. If the
        server refuses tools, it is asked once more without them, and all later requests have none. Closing
        the iterator early, or cancelling the task that reads it, closes the connection.

        Raises:
            ModelError: The model could not answer.
        """
        await self.start()
        if not self.lacks_tools:
            try:
                async with aclosing(self._send_request(request)) as events:
                    async for event in events:
                        yield event
            except ModelError as error:
                if not request.tools or not _TOOL_REFUSAL.search(str(error)):
                    raise
                self._lacks_tools = True
            else:
                return
            yield RetryPending(self._no_tools_note, 0.0)
        async with aclosing(self._send_request(_remove_tools(request))) as events:
            async for event in events:
                yield event

    @property
    def _no_tools_note(self) -> str:
        return f"{self.name} cannot call tools, so it names the sections that it wants to read."

    async def _send_request(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        options = replace(self._options, window_tokens=self.window_tokens)
        async with aclosing(self._worker.run(replace(self._job, request=request, options=options))) as events:
            async for event in events:
                assert not isinstance(event, ResolvedModel | EmbeddingBatch)
                yield event

    @override
    async def close(self) -> None:
        """Make the process exit, unless it is shared. A later request starts it again."""
        if self._owns_worker:
            await self._worker.close()


class WorkerProcess:
    """Runs one model process, which does several jobs at once. After its end, the next job restarts it."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, command: tuple[str, ...] = WORKER_COMMAND
    ) -> None:
        self._environ = environ
        self._command = command
        self._process: Process | None = None
        """The process that was started last."""
        self._accepts_jobs = False
        """Whether jobs can be sent to the process: from its start until its input is closed."""
        self._reader_task: asyncio.Task[None] | None = None
        self._start_lock = asyncio.Lock()
        self._frames_by_job: dict[int, asyncio.Queue[Frame | None]] = {}
        """Frames received for each job, by its number. None means that no more will come."""
        self._job_numbers = count(1)

    @property
    def pid(self) -> int | None:
        """Id of the running process, or None."""
        return None if self._process is None or not self._accepts_jobs else self._process.pid

    async def run(self, job: Job) -> AsyncGenerator[ModelEvent | ResolvedModel | EmbeddingBatch, None]:
        """Yield the events of a job. Closing the iterator early, or cancelling its reader, cancels the job.

        After a transient failure, the job is run again, unless an event was yielded.

        Raises:
            ModelError: There is no reply, or only a partial one.
        """
        for attempt in count():  # from 0
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
                wait = min(options.retry_wait_seconds * float(2**attempt), options.retry_wait_seconds_max)
            can_retry = failure.is_transient and not has_begun and attempt < options.retries
            if not can_retry or wait > options.retry_wait_seconds_max:
                raise ModelError(
                    f"{failure.reason}; {failure.advice}.",
                    overflow=failure.is_overflow,
                    window_tokens=failure.window_tokens,
                    request_tokens=failure.request_tokens,
                )
            yield RetryPending(failure.reason, wait)
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
            await self._wait_for_exit()

    async def _run_once(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        # If the caller stops before the last event, the job is cancelled. A process that does not confirm
        # that in time is killed.
        process = await self._start()
        number = next(self._job_numbers)
        frames = self._frames_by_job[number] = asyncio.Queue()
        is_over = False
        try:
            await _send(process, {"id": number, "job": msgspec.to_builtins(job)})
            while not is_over:
                frame = await frames.get()
                is_over = _is_last(frame)
                yield _CRASHED if frame is None else msgspec.convert(frame["event"], JobEvent)
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
        async with self._start_lock:
            if self._process is not None and self._accepts_jobs:
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
                reason = f"Could not start the model process ({format_reason(error)})"
                raise ModelError(f"{reason}; free some memory and ask again.") from None
            self._accepts_jobs = True
            self._reader_task = asyncio.create_task(self._read(self._process))
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
            self._stop_accepting(process)
        await process.wait()

    async def _wait_for_exit(self) -> None:
        # Does nothing if no process was started. The task that reads its output ends when the process has
        # exited.
        if self._process is not None and self._reader_task is not None:
            self._kill(self._process)
            await self._reader_task
        self._process = self._reader_task = None

    def _kill(self, process: Process) -> None:
        self._stop_accepting(process)
        with suppress(ProcessLookupError):
            process.kill()

    def _stop_accepting(self, process: Process) -> None:
        # Closing its input makes the process exit. Every waiting job learns that no more events will come.
        if process is self._process and self._accepts_jobs:
            assert process.stdin is not None
            self._accepts_jobs = False
            process.stdin.close()
            for frames in self._frames_by_job.values():
                frames.put_nowait(None)


def _remove_tools(request: ModelRequest) -> ModelRequest:
    """Remove tools from a request, and write earlier calls as text, so that the model sees what it has read.

    Of calls, only those that open sections are kept. Messages alternate between user and assistant, because
    many chat templates demand it.
    """
    advice = f"{_NO_TOOLS} {_READ_REQUEST}" if request.tools and request.allow_calls else _NO_TOOLS
    messages: list[Message] = []
    opening_ids: set[str] = set()
    for message in request.messages:
        opening = [call for call in message.tool_calls if call.name == READ_TOOL]
        opening_ids.update(call.id for call in opening)
        text = message.text
        role = message.role
        if role is Role.SYSTEM:
            text = f"{text}\n\n{advice}"
        elif role is Role.TOOL:
            text = text if message.tool_call_id in opening_ids else ""
            role = Role.USER
        elif message.tool_calls:
            text = "\n".join(
                f"{READ_START} {', '.join(SECTION_ID.findall(call.arguments))}" for call in opening
            )
        if text and messages and messages[-1].role is role:
            messages[-1] = Message(role=role, text=f"{messages[-1].text}\n\n{text}")
        elif text:
            messages.append(Message(role=role, text=text))
    return ModelRequest(messages=tuple(messages))


async def _send(process: Process, frame: Mapping[str, object]) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # the reader notices the end of the process
        process.stdin.write(encode_frame(frame))
        await process.stdin.drain()


def _is_last(frame: Frame | None) -> bool:
    return frame is None or frame["event"] is None or frame["event"]["type"] in _LAST_EVENTS
