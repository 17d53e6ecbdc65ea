"""How providers are asked: sizes, patience and retries."""

from __future__ import annotations

from dataclasses import dataclass

OLLAMA_WINDOW_TOKENS = 32_768
"""Sent as `num_ctx` unless told otherwise: Ollama's own default is small, and it cuts what is longer in silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LitellmOptions:
    """Settings of a `LitellmModel`."""

    window_tokens: int | None = None
    """Size of the context window, None for what is known of the model."""
    output_tokens_max: int | None = None
    """Longest reply, None for the provider's default and at most 8,192 where a number must be sent."""
    connect_seconds: float = 10.0
    """Patience for a connection."""
    first_token_seconds: float = 120.0
    """Patience until the first word, thought or call."""
    gap_seconds: float = 60.0
    """Patience between two pieces of a reply."""
    cancel_seconds: float = 0.08
    """Patience for the end of a cancelled reply; after it the process is ended, so that all takes less than 100 ms."""
    retries_max: int = 3
    """How often a passing fault is answered by sending the request again."""
    retry_wait_seconds: float = 1.0
    """Wait before the first retry, doubled for each that follows, where the provider names none."""
    retry_wait_seconds_max: float = 60.0
    """A provider that asks for a longer wait is not waited for."""

    has_spending_cap: bool = False
    """Whether the person set one, so that a price that nobody knows is worth a word."""

    def plan_retry(self, asked_seconds: float | None, retries: int) -> float | None:
        """Return how long to wait before a request is sent again, None where that is no use.

        Args:
            asked_seconds: How long the provider asks to wait, None where it does not say.
            retries: How often it was sent again before.
        """
        if retries >= self.retries_max:
            return None
        if asked_seconds is None:
            return min(self.retry_wait_seconds * float(2**retries), self.retry_wait_seconds_max)
        return asked_seconds if asked_seconds <= self.retry_wait_seconds_max else None
