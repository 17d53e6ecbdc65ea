"""The program's side of the model process: start it when it is needed, send it jobs, end it."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from roamtui.models.base import ModelStopped
from roamtui.models.worker.embedding import EmbedJob, decode_vectors, encode_embed_job
from roamtui.models.worker.frames import write_json
from roamtui.models.worker.jobs import (
    Description,
    Fault,
    Job,
    JobEvent,
    JobWriter,
    decode_description,
    decode_event,
)
from roamtui.models.worker.link import WORKER_COMMAND, WorkerLink

if TYPE_CHECKING:
    from array import array
    from collections.abc import AsyncGenerator, Mapping

_CRASHED = Fault(
    reason="The model's process ended unexpectedly", advice="ask again", is_retryable=True, is_passing=True
)


class WorkerProcess:
    """Runs at most one model process at a time, and starts another when a job comes after one has ended.

    Args:
        environ: The process's environment, where keys are looked up; None for this program's own.
        command: Arguments of Python that start the process.
    """

    def __init__(self, environ: Mapping[str, str] | None = None, *, command: tuple[str, ...] = WORKER_COMMAND) -> None:
        self._environ = environ
        self._command = command
        self._link: WorkerLink | None = None
        self._connecting = asyncio.Lock()
        self._jobs = JobWriter()

    @property
    def pid(self) -> int | None:
        """The running process's id, None where none runs."""
        return None if self._link is None or self._link.is_ended else self._link.pid

    async def stream_job(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        """Yield what comes of `job`; the last event is `ModelStopped` or a `Fault`.

        Closing the iterator early, or cancelling the task that reads it, cancels the job.
        """
        try:
            link = await self._connect()
        except OSError as error:
            yield _explain_refusal(error)
            return
        async with link.exchange("complete", self._jobs.write(job), job.options.cancel_seconds) as exchange:
            while not exchange.is_over:
                frame = await exchange.receive()
                event = _CRASHED if frame is None else decode_event(frame)
                yield event
                assert exchange.is_over == isinstance(event, ModelStopped | Fault)

    async def describe(self, job: Job) -> Description | Fault:
        """Return what is known of the job's model; its provider is not asked."""
        try:
            link = await self._connect()
        except OSError as error:
            return _explain_refusal(error)
        async with link.exchange("describe", JobWriter().write(job), job.options.cancel_seconds) as exchange:
            frame = await exchange.receive()
        if frame is None:
            return _CRASHED
        if frame["event"] == "described":
            return decode_description(frame["data"])
        fault = decode_event(frame)
        assert isinstance(fault, Fault)
        return fault

    async def embed(self, job: EmbedJob) -> list[array[float]] | Fault:
        """Return a vector for each text of a job."""
        try:
            link = await self._connect()
        except OSError as error:
            return _explain_refusal(error)
        async with link.exchange("embed", write_json(encode_embed_job(job)), job.options.cancel_seconds) as exchange:
            frame = await exchange.receive()
        if frame is None:
            return _CRASHED
        if frame["event"] == "embedded":
            return decode_vectors(frame["data"])
        fault = decode_event(frame)
        assert isinstance(fault, Fault)
        return fault

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


def _explain_refusal(error: OSError) -> Fault:
    return Fault(
        reason=f"The model's process could not be started ({error.strerror or error})",
        advice="free some memory and ask again",
        is_retryable=True,
    )
