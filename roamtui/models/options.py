"""Options of provider models, set in `config.toml` for all models or for one. Each `option` field is a setting."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.option_fields import option

OLLAMA_WINDOW_TOKENS = 32_768
"""Default for `num_ctx`, because Ollama's own default is small, and longer input is silently truncated."""
_FIRST_TOKEN_SECONDS = 120.0
_LOCAL_FIRST_TOKEN_SECONDS = 900.0
"""A server on this machine or network may need minutes to read a long request before its first word."""
_SECONDS_MAX = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Sizes, timeouts and retries of requests to a model."""

    window_tokens: int | None = option(None, "size of the context window (default: if known)", kind=int, low=1_000)
    output_tokens: int | None = option(None, "maximum tokens of a reply (default: the provider's)", kind=int, low=1)
    """If None, Anthropic models get at most 8,192, because Anthropic requires a number."""
    temperature: float | None = option(None, "sampling temperature (default: the provider's)", kind=float, high=2)
    first_token_seconds: float | None = option(
        None, "seconds to wait for the first piece of a reply", kind=float, low=1, high=_SECONDS_MAX
    )
    """If None, 120 seconds, or 900 for a server on this machine or network."""
    gap_seconds: float = option(60.0, "seconds to wait between two pieces of a reply", low=1, high=_SECONDS_MAX)
    retries: int = option(3, "number of retries after a transient failure", high=20)

    connect_seconds: float = 10.0
    """Timeout for a connection."""
    cancel_seconds: float = 0.08
    """Longest wait for a cancelled reply to end. Then the process is killed, so that cancelling takes less than 100
    ms."""
    retry_wait_seconds: float = 1.0
    """Wait before the first retry if the provider names no time. It doubles with each further retry."""
    retry_wait_seconds_max: float = 60.0
    """If the provider asks for a longer wait, there is no retry."""
    has_spending_cap: bool = False
    """Whether the person set a spending limit, so that an unknown price is worth a notice."""

    def get_first_token_timeout(self, *, is_local: bool) -> float:
        """Return the timeout in seconds for the first piece of a reply."""
        if self.first_token_seconds is not None:
            return self.first_token_seconds
        return _LOCAL_FIRST_TOKEN_SECONDS if is_local else _FIRST_TOKEN_SECONDS
