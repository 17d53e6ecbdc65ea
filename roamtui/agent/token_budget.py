"""Share out a model's context window, and estimate the tokens and the cost of a request."""

from __future__ import annotations

from msgspec import Struct

from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import Model, ModelRequest

WINDOW_TOKENS_DEFAULT = 64_000
"""Assumed context window of a model whose window is unknown."""
_HITS_SHARE = 0.15
_PREFACE_SHARE = 0.4
_PREFACE_TOKENS_MAX = 32_000
_HISTORY_SHARE = 0.2
_ANSWER_TOKENS = 4_000
"""Reserved for the answer."""
_MESSAGE_TOKENS = 6
_TOOL_TOKENS = 120
_STEP_SHARE = 0.5
"""Share of the remaining window that one step may add."""


class WindowShares(Struct, frozen=True, kw_only=True):
    """Maximum tokens of the parts of a request, or None for no limit."""

    hits: int | None
    """Of the search results that come with a question."""
    preface: int
    """Of the open sections that come with a question."""
    history: int | None
    """Of earlier questions and answers after a rebuild."""


def share_window(window_tokens: int | None) -> WindowShares:
    """Share out a context window, whose size may be unknown."""
    if window_tokens is None:
        return WindowShares(hits=None, preface=_PREFACE_TOKENS_MAX, history=None)
    return WindowShares(
        hits=int(window_tokens * _HITS_SHARE),
        preface=min(_PREFACE_TOKENS_MAX, int(window_tokens * _PREFACE_SHARE)),
        history=int(window_tokens * _HISTORY_SHARE),
    )


def estimate_request_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of a request."""
    texts = [message.text for message in request.messages]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    frame = _MESSAGE_TOKENS * len(request.messages) + _TOOL_TOKENS * len(request.tools)
    return frame + sum(map(estimate_tokens, texts))


def estimate_request_usd(model: Model, request: ModelRequest) -> float:
    """Estimate the cost of a request with its reply before it is sent. Without known prices, it is 0."""
    prices: tuple[float, float] | None = getattr(model, "prices", None)
    if prices is None:
        return 0.0
    reply_tokens = _compute_answer_room(model.window_tokens or WINDOW_TOKENS_DEFAULT)
    input_usd, output_usd = prices
    return input_usd * estimate_request_tokens(request) + output_usd * reply_tokens


def compute_step_tokens(request: ModelRequest, window_tokens: int | None) -> int:
    """Return how many tokens one step may add to a request."""
    window = window_tokens or WINDOW_TOKENS_DEFAULT
    room_tokens = window - estimate_request_tokens(request) - _compute_answer_room(window)
    return max(0, int(room_tokens * _STEP_SHARE))


def fits_window(request: ModelRequest, window_tokens: int | None) -> bool:
    """Return whether a request leaves room for an answer. A window of unknown size fits everything."""
    if window_tokens is None:
        return True
    return estimate_request_tokens(request) + _compute_answer_room(window_tokens) <= window_tokens


def _compute_answer_room(window_tokens: int) -> int:
    return min(_ANSWER_TOKENS, window_tokens // 4)
