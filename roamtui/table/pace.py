"""`LimitedModel`: one model for all cells of a run, with one spending limit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from roamtui.agent.token_budget import estimate_request_usd
from roamtui.errors import ModelError
from roamtui.models.base import Model, ModelEvent, ModelRequest, UsageReported, warm_up_model


class LimitedModel:
    """Sends no request that could exceed the limit together with those that are being answered."""

    def __init__(self, model: Model, limit_usd: float | None = None) -> None:
        self._model = model
        self._limit_usd = limit_usd
        self._spent_usd = 0.0
        """Cost of all answers, and the estimated cost of the requests that are being answered."""
        self.has_reached_limit = False
        """Whether a request was refused because of the limit."""

    @property
    def name(self) -> str:
        """See `Model`."""
        return self._model.name

    @property
    def window_tokens(self) -> int | None:
        """See `Model`."""
        return self._model.window_tokens

    async def start(self) -> None:
        """See `warm_up_model`."""
        await warm_up_model(self._model)

    async def close(self) -> None:
        """See `Model`."""
        await self._model.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of a request.

        Raises:
            ModelError: The model could not answer, or the request could exceed the limit and was not sent.
        """
        usd = estimate_request_usd(self._model, request)
        if self._limit_usd is not None and self._spent_usd + usd > self._limit_usd:
            self.has_reached_limit = True
            raise ModelError(f"The next request could exceed the spending limit of ${self._limit_usd:g}.")
        self._spent_usd += usd
        try:
            async with aclosing(self._model.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, UsageReported):
                        self._spent_usd += event.usage.cost_usd or 0.0
                    yield event
        finally:
            self._spent_usd -= usd
