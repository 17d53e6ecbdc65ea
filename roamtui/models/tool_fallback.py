"""`ToolFallbackModel`: a provider's model, asked in words alone once it is known that it has no tool calls."""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING

from roamtui.errors import ModelError
from roamtui.models.base import ModelEvent, Request, Retrying
from roamtui.models.prompt_tools import PromptToolsModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from roamtui.models.litellm_model import LitellmModel
    from roamtui.models.worker.jobs import Description

_REFUSAL = re.compile(
    r"(?:not support|unsupported)[^.]{0,30}\b(?:tool|function)"
    r"|\b(?:tool|function)[^.]{0,30}(?:not|n't) (?:be )?(?:support|enabl|available)"
    r"|requires --enable-auto-tool-choice",
    re.IGNORECASE,
)


class ToolFallbackModel:
    """A model with tool calls, or without: litellm knows of some, a server tells by refusing the first request."""

    def __init__(self, model: LitellmModel) -> None:
        self._model = model
        self._in_words = PromptToolsModel(model)
        self._has_refused = False

    @property
    def name(self) -> str:
        """The name under which a person chose it."""
        return self._model.name

    @property
    def window_tokens(self) -> int | None:
        """Size of its context window, None where unknown."""
        return self._model.window_tokens

    @property
    def note(self) -> str:
        """What a person should know of it, once it is started: that it is asked in words, that its price is unknown."""
        notes = []
        if self._model.can_call_tools is False:
            words = f"{self.name} has no tool calls, so it is told in words how to open sections."
            notes.append(f"{words} Expect more wrong turns.")
        if self._model.is_beyond_cap:
            notes.append(f"The price of {self.name} is not known here, so the spending cap cannot hold it.")
        return " ".join(notes)

    async def start(self) -> None:
        """Start what asks it, and learn what is known of it."""
        await self._model.start()

    async def describe(self) -> Description:
        """Return what is known of the model without asking its provider.

        Raises:
            ModelError: Its name leads nowhere, or there is no process to ask.
        """
        return await self._model.describe()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply, after a second request where the first was refused for its tools.

        Raises:
            ModelError: The model could not answer.
        """
        if not self._is_asked_in_words:
            async with aclosing(self._ask_with_tools(request)) as events:
                async for event in events:
                    yield event
            if not self._has_refused:
                return
            yield Retrying(f"{self.name} refuses tool calls, so it is told in words how to open sections.", 0.0)
        async with aclosing(self._in_words.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Let go of what it holds."""
        await self._model.close()

    @property
    def _is_asked_in_words(self) -> bool:
        return self._has_refused or self._model.can_call_tools is False

    async def _ask_with_tools(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of a reply; nothing more where the request was refused for its tools, which is noted."""
        has_begun = False
        try:
            async with aclosing(self._model.stream(request)) as events:
                async for event in events:
                    has_begun = has_begun or not isinstance(event, Retrying)
                    yield event
        except ModelError as error:
            if has_begun or not request.tools or _REFUSAL.search(str(error)) is None:
                raise
            self._has_refused = True
