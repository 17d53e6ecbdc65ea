"""How many tokens the outline may cost."""

from __future__ import annotations

OUTLINE_TOKENS_MAX = 12_000
_WINDOW_SHARE = 0.15
"""An outline is cached by providers and a wrong turn is not, so it may take a good share of the window."""


def outline_budget(window_tokens: int | None) -> int:
    """Return the token budget of an outline for a model's context window, None where that is unknown."""
    if window_tokens is None:
        return OUTLINE_TOKENS_MAX
    return min(OUTLINE_TOKENS_MAX, int(window_tokens * _WINDOW_SHARE))
