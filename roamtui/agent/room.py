"""How much section text the next step may deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.tokens import estimate_tokens

if TYPE_CHECKING:
    from roamtui.models.base import Request

WINDOW_TOKENS_DEFAULT = 64_000
"""Assumed where a model's context window is unknown."""
_ANSWER_TOKENS = 4_000
"""Kept free for the answer."""
_MESSAGE_TOKENS = 6
_TOOL_TOKENS = 120
_STEP_SHARE = 0.5


def estimate_request(request: Request) -> int:
    """Return the estimated tokens of a request."""
    texts = sum(
        _MESSAGE_TOKENS + estimate_tokens(message.text) + sum(estimate_tokens(c.arguments) for c in message.tool_calls)
        for message in request.messages
    )
    return texts + _TOOL_TOKENS * len(request.tools)


def find_room(request: Request, window_tokens: int | None) -> int:
    """Return how many tokens one step may add: half of what the window has left."""
    left = (window_tokens or WINDOW_TOKENS_DEFAULT) - estimate_request(request) - _ANSWER_TOKENS
    return max(0, int(left * _STEP_SHARE))
