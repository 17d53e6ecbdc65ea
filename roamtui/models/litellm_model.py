"""Models of any provider, through litellm in a separate process. Nothing here imports litellm."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Self

from msgspec.structs import replace
from typing_extensions import override

from roamtui.conversation.budget import get_answer_tokens
from roamtui.errors import ModelError
from roamtui.models.base import Model, ModelEvent, ModelFacts, ModelRequest, RetryPending
from roamtui.models.local_servers import is_loopback
from roamtui.models.options import ModelOptions
from roamtui.models.worker_process import WorkerProcess
from roamtui.models.worker_protocol import EmbeddingBatch, Job, ProviderError, ResolvedModel
from roamtui.models.written_calls import remove_tools

_TOOL_REFUSAL = re.compile(
    r"(?:not support|unsupported)[^.]{0,30}\b(?:tool|function)"
    r"|\b(?:tool|function)[^.]{0,30}(?:not|n't) (?:be )?(?:support|enabl|available)"
    r"|support tool use|requires --enable-auto-tool-choice|tools param requires",
    re.IGNORECASE,
)
"""Messages of servers whose model has no tool calls."""


class LitellmModel(Model):
    """A model of any provider that litellm knows. Keys come only from the environment."""

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        options: ModelOptions | None = None,
        worker: WorkerProcess | None = None,
    ) -> None:
        self.name = name
        self._options = options or ModelOptions()
        self._job = Job(operation="complete", model=name, api_base=api_base, options=self._options)
        self._worker = worker or WorkerProcess()
        self._owns_worker = worker is None
        self._is_described = False
        """Whether `facts` is complete."""
        self.facts = ModelFacts(window_tokens=self._options.window_tokens)
        self.small_setting = self._options.small_model

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
                await self.learn()

    async def learn(self) -> ResolvedModel:
        """Learn the model's window, tools and prices, and return all that is known about it.

        Only the person's own server is asked, never a provider.

        Raises:
            ModelError: The name is unknown, or the process could not be started.
        """
        # A retry would not help: a failure means that the name is unknown, or that the process ended.
        job = replace(self._job, operation="describe", options=replace(self._options, retries=0))
        resolved = await self._worker.run_to_result(job, ResolvedModel)
        self._is_described = not resolved.problem
        self.facts = resolved
        if self.window_limit is not None:
            self.limit_window(self.window_limit)
        self.refuses_tools = self.refuses_tools or resolved.can_call_tools is False
        notes = [self._no_tools_note] if resolved.can_call_tools is False and not self.small_reason else []
        is_local = resolved.api_base is not None and is_loopback(resolved.api_base)
        if is_local and self._options.output_tokens is None:
            # a model that never stops would take minutes
            self.answer_tokens_max = get_answer_tokens(self.window_tokens)
        if resolved.prices is None and self._options.has_spending_limit:
            notes.append(f"The price of {self.name} is not known, so your spending limit does not apply.")
        self.note = " ".join(notes)
        return resolved

    @override
    async def check(self) -> None:
        if (failure := (await self.learn()).missing_key_failure) is not None:
            raise ProviderError(failure)

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply. See `Model.stream`.

        After a transient failure, the request is sent again, unless a part of the reply was yielded. If the
        server refuses tools, it is asked once more without them, and all later requests have none. Closing
        the iterator early, or cancelling the task that reads it, closes the connection.

        Raises:
            ModelError: The model could not answer.
        """
        await self.start()
        if not self.refuses_tools:
            try:
                async with aclosing(self._send_request(request)) as events:
                    async for event in events:
                        yield event
            except ModelError as error:
                if not request.tools or not _TOOL_REFUSAL.search(str(error)):
                    raise
                self.refuses_tools = True
            else:
                return
            yield RetryPending(self._no_tools_note, 0.0)
        async with aclosing(self._send_request(remove_tools(request))) as events:
            async for event in events:
                yield event

    @property
    def _no_tools_note(self) -> str:
        return (
            f"{self.name} cannot call tools. Instead, roamtui opens the sections that the model names in its "
            "replies."
        )

    async def _send_request(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        options = replace(self._options, window_tokens=self.facts.window_tokens)
        async with aclosing(self._worker.run(replace(self._job, request=request, options=options))) as events:
            async for event in events:
                assert not isinstance(event, ResolvedModel | EmbeddingBatch)
                yield event

    @override
    def copy(self) -> Self:
        return type(self)(self.name, api_base=self._job.api_base, options=self._options)

    @override
    async def close(self) -> None:
        """Make the process exit, unless it is shared. A later request starts it again."""
        if self._owns_worker:
            await self._worker.close()
