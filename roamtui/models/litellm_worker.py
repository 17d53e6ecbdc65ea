"""The process in which litellm runs: `python -m roamtui.models.litellm_worker`, frames on its standard pipes.

It ends when its standard input ends, whatever it is busy with: nobody is left to answer.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, MutableMapping
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any, BinaryIO

import msgspec
from typing_extensions import override

from roamtui.models.worker.completion import compute_vectors, stream_completion
from roamtui.models.worker.errors import (
    CONNECTION_TIMED_OUT,
    explain_error,
    explain_failed_import,
    explain_missing_keys,
    explain_unknown_model,
)
from roamtui.models.worker.jobs import (
    Frame,
    Job,
    JobEvent,
    Vectors,
    encode_event,
    encode_frame,
)
from roamtui.models.worker.targets import UnknownProviderError, find_target

_SETTINGS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
"""Without these, litellm fetches lists from the network and reads `.env` of the working directory."""


connect_seconds: ContextVar[float | None] = ContextVar("connect_seconds", default=None)
"""Patience of the running task for each connection, None for the system's."""


def prepare_environment(environ: MutableMapping[str, str]) -> None:
    """Set what litellm reads when it is imported; take out empty keys, which it takes for keys."""
    environ.update(_SETTINGS)
    environ.pop("LITELLM_LOG", None)
    for name in [name for name, value in environ.items() if name.endswith("_API_KEY") and not value.strip()]:
        del environ[name]
    for name in ("NO_PROXY", "no_proxy"):
        environ[name] = ",".join(filter(None, (environ.get(name), "localhost", "127.0.0.1", "::1")))


def load_litellm() -> Any:  # noqa: ANN401 -- nothing in this program depends on its types
    """Import litellm, which takes seconds, and keep it quiet."""
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.telemetry = False
    return litellm


class LimitedLoop(asyncio.SelectorEventLoop):
    """Gives up connections that nobody takes: litellm passes that limit on to few providers' clients."""

    @override
    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """Connect `sock`, within the limit of the running task.

        Raises:
            TimeoutError: The same for all addresses of a host, so that aiohttp passes it on as one.
        """
        limit = asyncio.timeout(connect_seconds.get())
        try:
            async with limit:
                await super().sock_connect(sock, address)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(CONNECTION_TIMED_OUT) from error


class LitellmWorker:
    """Does the jobs that come through `inward`, several at once, and sends what comes of them to `outward`."""

    def __init__(self, inward: BinaryIO, outward: int, environ: Mapping[str, str]) -> None:
        self._inward = inward
        self._outward = outward
        self._environ = environ
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._loading: asyncio.Future[Any] | None = None

    async def run(self) -> None:
        """Serve for ever; the process ends with its input."""
        loop = asyncio.get_running_loop()

        def deliver(frame: Frame) -> None:
            loop.call_soon_threadsafe(self._obey, frame)

        threading.Thread(target=_read_all, args=(self._inward, deliver), daemon=True).start()
        self._loading = asyncio.ensure_future(asyncio.to_thread(load_litellm))
        await asyncio.Event().wait()

    def _obey(self, frame: Frame) -> None:
        number = frame["id"]
        if frame["job"] is None:
            if task := self._tasks.get(number):
                task.cancel()
            return
        task = asyncio.create_task(self._work(number, msgspec.convert(frame["job"], Job)))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number))

    async def _work(self, number: int, job: Job) -> None:
        connect_seconds.set(job.options.connect_seconds)
        try:
            async with aclosing(self._do(job)) as events:
                async for event in events:
                    self._send(number, encode_event(event))
        except asyncio.CancelledError:
            self._send(number, {"event": "cancelled"})

    async def _do(self, job: Job) -> AsyncGenerator[JobEvent, None]:
        assert self._loading is not None
        try:
            litellm = await asyncio.shield(self._loading)
        except Exception as error:  # noqa: BLE001 -- an import may fail in any way
            yield explain_failed_import(error)
            return
        try:
            target = find_target(litellm, job, self._environ)
        except UnknownProviderError:
            yield explain_unknown_model(job.model, is_embedder=job.operation == "embed")
            return
        if job.operation == "describe":
            yield target
        elif not target.can_be_asked:
            yield explain_missing_keys(target)
        else:
            try:
                if job.operation == "embed":
                    yield Vectors.of(await compute_vectors(litellm, job, target))
                    return
                async with aclosing(stream_completion(litellm, job, target)) as events:
                    async for event in events:
                        yield event
            except Exception as error:  # noqa: BLE001 -- litellm's exceptions have no common base
                yield explain_error(error, target, self._environ)

    def _send(self, number: int, frame: Mapping[str, object]) -> None:
        """Write a frame; a full pipe stops all work until the program reads on."""
        data = memoryview(encode_frame({"id": number, **frame}))
        while data:
            data = data[os.write(self._outward, data) :]


def _read_all(pipe: BinaryIO, deliver: Callable[[Frame], None]) -> None:
    """Deliver frames until the pipe ends, then end the process at once, even if it hangs in an import."""
    try:
        for line in pipe:
            deliver(json.loads(line))
    finally:
        os._exit(0)


def _take_pipes() -> tuple[BinaryIO, int]:
    """Return the standard pipes for this module alone: what libraries print or read goes nowhere."""
    inward = os.fdopen(os.dup(0), "rb")
    outward = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return inward, outward


def main() -> None:
    """Run the process until its input ends."""
    inward, outward = _take_pipes()
    prepare_environment(os.environ)
    try:
        with asyncio.Runner(loop_factory=LimitedLoop) as runner:
            runner.run(LitellmWorker(inward, outward, os.environ).run())
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
