"""How the models of providers are asked: what a person may set in `config.toml`, for all of them or for one.

A field with a range is a setting, whose key is its name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

OLLAMA_WINDOW_TOKENS = 32_768
"""Sent as `num_ctx` unless told otherwise: Ollama's own default is small, and it cuts what is longer in silence."""
_FIRST_TOKEN_SECONDS = 120.0
_FIRST_TOKEN_SECONDS_LOCAL = 900.0
"""A machine of one's own may read a long request for minutes before it says the first word."""
_SECONDS_MAX = 86_400.0
_T = TypeVar("_T")


def _setting(default: _T, *, low: float, high: float = math.inf, is_whole: bool = False) -> _T:
    return field(default=default, metadata={"low": low, "high": high, "is_whole": is_whole})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Sizes, patience and retries."""

    window_tokens: int | None = _setting(None, low=1_000, is_whole=True)
    """Size of the context window, None for what is known of the model."""
    output_tokens: int | None = _setting(None, low=1, is_whole=True)
    """Longest reply, None for the provider's default and at most 8,192 where a number must be sent."""
    temperature: float | None = _setting(None, low=0, high=2)
    """How freely it chooses its words, None for the provider's default."""
    first_token_seconds: float | None = _setting(None, low=1, high=_SECONDS_MAX)
    """Patience until the first word, thought or call; None for 120, and 900 where the server is near."""
    gap_seconds: float = _setting(60.0, low=1, high=_SECONDS_MAX)
    """Patience between two pieces of a reply."""
    retries: int = _setting(3, low=0, high=20, is_whole=True)
    """How often a passing fault is answered by sending the request again."""

    connect_seconds: float = 10.0
    """Patience for a connection."""
    cancel_seconds: float = 0.08
    """Patience for the end of a cancelled reply; after it the process is ended, so that all takes less than 100 ms."""
    retry_wait_seconds: float = 1.0
    """Wait before the first retry, doubled for each that follows, where the provider names none."""
    retry_wait_seconds_max: float = 60.0
    """A provider that asks for a longer wait is not waited for."""
    has_spending_cap: bool = False
    """Whether the person set one, so that a price that nobody knows is worth a word."""

    def wait_for_first_token(self, *, is_local: bool) -> float:
        """Return the patience until the first word of a server, in seconds.

        Args:
            is_local: Whether it is this machine or one of the same private network.
        """
        if self.first_token_seconds is not None:
            return self.first_token_seconds
        return _FIRST_TOKEN_SECONDS_LOCAL if is_local else _FIRST_TOKEN_SECONDS

    def plan_retry(self, asked_seconds: float | None, retries: int) -> float | None:
        """Return how long to wait before a request is sent again, None where that is no use.

        Args:
            asked_seconds: How long the provider asks to wait, None where it does not say.
            retries: How often it was sent again before.
        """
        if retries >= self.retries:
            return None
        if asked_seconds is None:
            return min(self.retry_wait_seconds * float(2**retries), self.retry_wait_seconds_max)
        return asked_seconds if asked_seconds <= self.retry_wait_seconds_max else None


_RANGES: Mapping[str, Mapping[str, Any]] = {item.name: item.metadata for item in fields(ModelOptions) if item.metadata}
MODEL_SETTINGS = frozenset(_RANGES)
"""Names of the fields that are settings."""


def read_model_settings(table: Mapping[str, object]) -> dict[str, Any]:
    """Return those entries of a TOML table that are settings of models, by name.

    Raises:
        ValueError: One means nothing; the message names it and says what it must be.
    """
    return {name: _read_number(name, value) for name, value in table.items() if name in _RANGES}


def _read_number(name: str, value: object) -> float:
    low, high, is_whole = _RANGES[name]["low"], _RANGES[name]["high"], _RANGES[name]["is_whole"]
    is_number = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
    if is_number and isinstance(value, int | float) and low <= value <= high:
        return value
    bounds = f"{low:g} or more" if high == math.inf else f"{low:g} to {high:g}"
    raise ValueError(f"{name} must be a {'whole ' if is_whole else ''}number, {bounds}")
