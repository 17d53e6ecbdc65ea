"""The options of requests to models. This module imports little, because the settings need it."""

from msgspec import Struct

_FIRST_TOKEN_SECONDS = 120.0
_LOCAL_FIRST_TOKEN_SECONDS = 900.0
"""A person's own server may need minutes to read a long request before its first word."""


class ModelOptions(Struct, frozen=True, kw_only=True):
    """Sizes, timeouts and retries of requests to a model."""

    window_tokens: int | None = None
    """Size of the context window, or None if the server or litellm's table says it."""
    output_tokens: int | None = None
    """Maximum tokens of a reply. If None, Anthropic models get 8,192: Anthropic requires a number."""
    temperature: float | None = None
    small_model: bool | None = None
    """Whether each question goes to the model in one short request, or None if its size decides."""
    first_token_seconds: float | None = None
    """Seconds to wait for the first piece of a reply. If None, 120, or 900 for a person's own server."""
    gap_seconds: float = 60.0
    """Seconds to wait between two pieces of a reply."""
    retries: int = 3
    connect_seconds: float = 10.0
    """Seconds to wait for a connection, and for the token counts after a whole reply."""
    cancel_seconds: float = 0.08
    """Longest wait for a cancelled reply to end. Then the process is killed, so that cancelling takes less
    than 100 ms."""
    retry_wait_seconds: float = 1.0
    """Wait before the first retry if the provider names no time. It doubles with each further retry."""
    has_spending_limit: bool = False
    """Whether the person set a spending limit, so that an unknown price is worth a notice."""

    def get_first_token_timeout(self, api_base: str | None) -> float:
        """Return the timeout in seconds for the first piece of a server's reply, or the default."""
        if self.first_token_seconds is not None:
            return self.first_token_seconds
        return _FIRST_TOKEN_SECONDS if api_base is None else _LOCAL_FIRST_TOKEN_SECONDS
