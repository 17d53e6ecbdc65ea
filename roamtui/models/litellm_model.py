"""Models of all providers, through litellm in a process of its own; nothing here imports litellm."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, Request, Retrying
from roamtui.models.options import OLLAMA_WINDOW_TOKENS, ModelOptions
from roamtui.models.prompt_tools import read_in_words, refuses_tools, translate_request
from roamtui.models.worker.jobs import Job, Target, Vectors
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
        self._options = options or ModelOptions()
        self._job = Job(operation="complete", model=name, api_base=api_base, options=self._options)
        self._worker = worker or WorkerProcess(environ)
        self._owns_worker = worker is None
        self._description: Target | None = None
        self._lacks_tools = False
        """Whether it takes no tools, as litellm knows or its server has said."""
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
    def note(self) -> str:
        """What a person should know of it, once it is started: that it is asked in words, that its price is unknown."""
        known, notes = self._description, []
        if known is not None and known.can_call_tools is False:
            words = f"{self.name} has no tool calls, so it is told in words how to open sections."
            notes.append(f"{words} Expect more wrong turns.")
        is_priced = known is None or known.input_usd is not None or known.provider == "ollama_chat"
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

    async def describe(self) -> Target:
        """Return what is known of the model without asking its provider.

        Raises:
            ModelError: Its name leads nowhere, or there is no process to ask.
        """
        job = replace(self._job, operation="describe", options=replace(self._options, retries=0))
        found = await self._worker.ask(job, Target)
        self._description, self._window_tokens = found, found.window_tokens
        self._lacks_tools = self._lacks_tools or found.can_call_tools is False
        return found

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply; `ModelStopped` is the last.

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
                        has_begun = has_begun or not isinstance(event, Retrying)
                        yield event
            except ModelError as error:
                if has_begun or not request.tools or not refuses_tools(str(error)):
                    raise
                self._lacks_tools = True
            else:
                return
            yield Retrying(f"{self.name} refuses tool calls, so it is told in words how to open sections.", 0.0)
        async with (
            aclosing(self._ask(translate_request(request))) as told,
            aclosing(read_in_words(told, request)) as events,
        ):
            async for event in events:
                yield event

    async def _ask(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        async with aclosing(self._worker.run(replace(self._job, request=request))) as events:
            async for event in events:
                assert not isinstance(event, Target | Vectors)
                yield event

    async def close(self) -> None:
        """End the process, unless it is shared; it may be asked again later."""
        if self._owns_worker:
            await self._worker.close()
