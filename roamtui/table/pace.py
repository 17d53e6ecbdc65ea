"""`SharedModel`: one model for all cells of a run, with one rate limit and one spending limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from roamtui.agent.token_budget import estimate_request_usd
from roamtui.errors import ModelError
from roamtui.models.base import Model, ModelEvent, ModelRequest, RetryPending, UsageReported, warm_up_model


class SpendingLimitError(ModelError):
    """The next request of a run could exceed its spending limit."""

    def __init__(self, limit_usd: float) -> None:
        super().__init__(f"The next request could exceed the spending limit of ${limit_usd:g}.")


class SharedModel:
    """Sends the requests of several questions at the same time.

    While a provider makes one of them wait, no other is sent. No request is sent that could exceed the limit together
    with those that are being answered.
    """

    def __init__(self, model: Model, limit_usd: float | None = None) -> None:
        self._model = model
        self._limit_usd = limit_usd
        self.spent_usd = 0.0
        self.has_reached_limit = False
        """Whether a request was refused because of the limit."""
        self.waiting_reason = ""
        """Why requests wait at the moment; empty if they do not."""
        self._reserved_usd: dict[int, float] = {}
        """Estimated cost of each request that is being answered."""
        self._slowed: set[int] = set()
        """Requests that the provider makes wait."""
        self._changed = asyncio.Event()
        """Set, and replaced by a new event, whenever another request may be sent."""
        self._requests = 0

    @property
    def name(self) -> str:
        """See `Model`."""
        return self._model.name

    @property
    def window_tokens(self) -> int | None:
        """See `Model`."""
        return self._model.window_tokens

    @property
    def note(self) -> str:
        """See `get_startup_note`."""
        return str(getattr(self._model, "note", ""))

    async def start(self) -> None:
        """See `warm_up_model`."""
        await warm_up_model(self._model)

    async def close(self) -> None:
        """See `Model`."""
        await self._model.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Wait until the request may be sent, then yield its events.

        Raises:
            ModelError: The model could not answer.
            SpendingLimitError: The request could exceed the limit, and was not sent.
        """
        usd = estimate_request_usd(self._model, request)
        while self._slowed or (self._reserved_usd and not self._has_room(usd)):
            await self._changed.wait()
        if self._limit_usd is not None and not self._has_room(usd):
            self.has_reached_limit = True
            raise SpendingLimitError(self._limit_usd)
        self._requests += 1
        number = self._requests
        self._reserved_usd[number] = usd
        try:
            async with aclosing(self._model.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, RetryPending) and event.wait_seconds > 0:
                        self._slowed.add(number)
                        self.waiting_reason = event.reason
                    elif number in self._slowed:
                        self._slowed.discard(number)
                        self._wake_waiting()
                    if isinstance(event, UsageReported):
                        self.spent_usd += event.usage.cost_usd or 0.0
                    yield event
        finally:
            self._slowed.discard(number)
            del self._reserved_usd[number]
            self._wake_waiting()

    def _has_room(self, usd: float) -> bool:
        return self._limit_usd is None or self.spent_usd + sum(self._reserved_usd.values()) + usd <= self._limit_usd

    def _wake_waiting(self) -> None:
        if not self._slowed:
            self.waiting_reason = ""
        self._changed.set()
        self._changed = asyncio.Event()
