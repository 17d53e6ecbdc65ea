"""Models of all providers, through litellm in a process of its own; nothing here imports litellm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, Request, Retrying
from roamtui.models.options import OLLAMA_WINDOW_TOKENS, ModelOptions
from roamtui.models.worker.jobs import Description, Fault, Job
from roamtui.models.worker.process import WorkerProcess


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
        self._name = name
        self._api_base = api_base
        self._options = options or ModelOptions()
        self._worker = worker or WorkerProcess(environ)
        self._owns_worker = worker is None
        self._can_call_tools: bool | None = None
        self._is_beyond_cap = False
        self._is_described = False
        self._window_tokens = self._options.window_tokens
        if self._window_tokens is None and name.startswith(("ollama/", "ollama_chat/")):
            self._window_tokens = OLLAMA_WINDOW_TOKENS

    @property
    def name(self) -> str:
        """The name under which a person chose it."""
        return self._name

    @property
    def window_tokens(self) -> int | None:
        """Size of its context window; None where unknown, and for most models until `start` or `describe` has ended."""
        return self._window_tokens

    @property
    def can_call_tools(self) -> bool | None:
        """Whether it has tool calls; None where unknown, and until `start` or `describe` has ended."""
        return self._can_call_tools

    @property
    def is_beyond_cap(self) -> bool:
        """Whether there is a spending cap that cannot hold, as the price is unknown; False until `start` has ended."""
        return self._is_beyond_cap

    async def start(self) -> None:
        """Start the process and learn the window's size, in seconds; what fails here is told by the first request.

        Once that is known this does nothing, even if the process was ended since: a question that waits for it here is
        not on the screen yet.
        """
        if not self._is_described:
            with suppress(ModelError):
                await self.describe()

    async def describe(self) -> Description:
        """Return what is known of the model without asking its provider.

        Raises:
            ModelError: Its name leads nowhere, or there is no process to ask.
        """
        found = await self._worker.describe(self._build_job(Request(messages=())))
        if isinstance(found, Fault):
            raise _build_error(found)
        self._is_described = True
        self._window_tokens = found.window_tokens
        self._can_call_tools = found.can_call_tools
        is_free = found.provider == "ollama_chat"
        self._is_beyond_cap = self._options.has_spending_cap and found.input_usd is None and not is_free
        return found

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply; `ModelStopped` is the last.

        A passing fault is answered by sending the request again, as long as nothing of a reply was yielded.
        Closing the iterator early, or cancelling the task that reads it, closes the provider's connection.

        Raises:
            ModelError: The model could not answer.
        """
        retries = 0
        while True:
            fault = None
            has_begun = False
            async with aclosing(self._worker.stream_job(self._build_job(request))) as events:
                async for event in events:
                    if isinstance(event, Fault):
                        fault = event
                        break
                    has_begun = True
                    yield event
            if fault is None:
                return
            wait = None if has_begun else self._plan_retry(fault, retries)
            if wait is None:
                raise _build_error(fault)
            yield Retrying(fault.reason, wait)
            await asyncio.sleep(wait)
            retries += 1

    async def close(self) -> None:
        """End the process, unless it is shared; it may be asked again later."""
        if self._owns_worker:
            await self._worker.close()

    def _build_job(self, request: Request) -> Job:
        return Job(model=self._name, api_base=self._api_base, options=self._options, request=request)

    def _plan_retry(self, fault: Fault, retries: int) -> float | None:
        """Return how long to wait before sending the request again, None where that is no use."""
        return self._options.plan_retry(fault.wait_seconds, retries) if fault.is_passing else None


def _build_error(fault: Fault) -> ModelError:
    return ModelError(fault.message, retryable=fault.is_retryable, overflow=fault.is_overflow)
