"""What requests to models use, as their servers say it, or else as an estimate."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from msgspec.structs import replace

from roamtui.conversation.budget import estimate_message_tokens
from roamtui.conversation.messages import Usage
from roamtui.errors import ModelError
from roamtui.models.base import Model, ModelRequest

Prices = tuple[float, float]
Release = Callable[[Usage], None]
"""Ends the reservation for a request. Its argument is what was spent by then."""


def estimate_request(model: Model, request: ModelRequest) -> Usage:
    """Estimate what a request uses before its reply."""
    tokens = estimate_message_tokens(request.messages)
    if request.tools:
        tokens += model.estimate_tool_tokens(len(request.tools))
    return add_cost(Usage(input_tokens=tokens, cost_usd=None), model.facts.prices)


def add_cost(usage: Usage, prices: Prices | None) -> Usage:
    """Add the cost, if it is unknown, by the prices in USD of a sent and of a received token."""
    if usage.cost_usd is not None or prices is None:
        return usage
    sent_usd, received_usd = prices
    return replace(usage, cost_usd=sent_usd * usage.input_tokens + received_usd * usage.output_tokens)


class UsageMeter:
    """Adds up what requests use, until somebody takes it. Thread-safe."""

    def __init__(self, reserve: Callable[[Usage, Usage], Release | None] | None = None) -> None:
        self._total = Usage()
        self._lock = Lock()
        self._reserve = reserve
        """Reserves a request, given this total and the request's estimate. None without a spending limit."""

    @contextmanager
    def charging(self) -> Iterator[None]:
        """In this task and its threads, count in this meter the requests to models that tasks share."""
        token = _CHARGED.set(self)
        try:
            yield
        finally:
            _CHARGED.reset(token)

    @property
    def charged(self) -> "UsageMeter":
        """The meter of the current task, or this meter if the task has none."""
        return _CHARGED.get() or self

    @contextmanager
    def reserving(self, estimate: Callable[[], Usage]) -> Iterator[None]:
        """Reserve what a request may use while it runs. Without a spending limit, do nothing.

        Raises:
            ModelError: The request could exceed the limit.
        """
        if self._reserve is None:
            yield
            return
        release = self._reserve(self._total, estimate())
        if release is None:
            raise ModelError("The next request could exceed your spending limit.")
        try:
            yield
        finally:
            release(self._total)

    def add(self, usage: Usage) -> None:
        """Count a request."""
        with self._lock:
            self._total += usage

    def take(self) -> Usage:
        """Return what all requests since the last call have used."""
        with self._lock:
            total = self._total
            self._total = Usage()
            return total


_CHARGED: ContextVar[UsageMeter | None] = ContextVar("charged", default=None)
