"""How the models of providers are asked: what a person may set in `config.toml`, for all of them or for one.

A field that is an option is a setting, whose key is its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.option_fields import option

OLLAMA_WINDOW_TOKENS = 32_768
"""Sent as `num_ctx` unless told otherwise: Ollama's own default is small, and it cuts what is longer in silence."""
_FIRST_TOKEN_SECONDS = 120.0
_FIRST_TOKEN_SECONDS_LOCAL = 900.0
"""A machine of one's own may read a long request for minutes before it says the first word."""
_SECONDS_MAX = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Sizes, patience and retries."""

    window_tokens: int | None = option(None, "size of the context window, else what is known", kind=int, low=1_000)
    output_tokens: int | None = option(None, "longest reply, else the provider's default", kind=int, low=1)
    """None for at most 8,192 where a number must be sent."""
    temperature: float | None = option(None, "how freely it chooses its words", kind=float, high=2)
    """None for the provider's default."""
    first_token_seconds: float | None = option(
        None, "patience until the first word, thought or call", kind=float, low=1, high=_SECONDS_MAX
    )
    """None for 120, and 900 where the server is near."""
    gap_seconds: float = option(60.0, "patience between two pieces of a reply", low=1, high=_SECONDS_MAX)
    retries: int = option(3, "how often a passing fault is answered by sending the request again", high=20)

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
        """Return the patience until the first word of a server, in seconds."""
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
