"""How many tokens a request takes and the next step may add, by our estimates and by what a provider has counted."""

from __future__ import annotations

import math

from roamtui.conversation.transcript import Usage
from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import Model, ModelRequest

WINDOW_TOKENS_DEFAULT = 64_000
"""Assumed where a model's context window is unknown."""
_ANSWER_TOKENS = 4_000
"""Kept free for the answer."""
_MESSAGE_TOKENS = 6
_TOOL_TOKENS = 120
_STEP_SHARE = 0.5
_TEXTS_REMEMBERED = 8_192
"""More than the messages of a long conversation."""
_ESTIMATES: dict[tuple[int, int], int] = {}
"""Tokens by hash and length of a text."""


def estimate_request_tokens(request: ModelRequest) -> int:
    """Return the estimated tokens of a request."""
    messages = request.messages
    texts = [message.text for message in messages]
    texts.extend(call.arguments for message in messages for call in message.tool_calls)
    return sum(map(_estimate_text, texts)) + _MESSAGE_TOKENS * len(messages) + _TOOL_TOKENS * len(request.tools)


def _estimate_text(text: str) -> int:
    """Return the estimated tokens of a message; most of a request is what the one before it was.

    What is remembered is a number for each text, not the text: those of earlier conversations are let go of.
    """
    key = (hash(text), len(text))
    tokens = _ESTIMATES.get(key)
    if tokens is None:
        if len(_ESTIMATES) >= _TEXTS_REMEMBERED:
            _ESTIMATES.clear()
        tokens = _ESTIMATES[key] = estimate_tokens(text)
    return tokens


def compute_step_tokens(request: ModelRequest, window_tokens: int | None) -> int:
    """Return how many tokens one step may add: half of what the window has left."""
    window = window_tokens or WINDOW_TOKENS_DEFAULT
    left = window - estimate_request_tokens(request) - _answer_room(window)
    return max(0, int(left * _STEP_SHARE))


def fits_window(request: ModelRequest, window_tokens: int | None) -> bool:
    """Return whether a request leaves room for an answer in the window; one of unknown size takes all."""
    return window_tokens is None or estimate_request_tokens(request) + _answer_room(window_tokens) <= window_tokens


def _answer_room(window_tokens: int) -> int:
    return min(_ANSWER_TOKENS, window_tokens // 4)


_REQUEST_TOKENS_MIN = 1_000
"""Of a shorter request, what a provider adds by itself says nothing about the rest."""
_NEGLIGIBLE = 1.05
_FACTOR_MAX = 4.0
_TENTHS = 10
"""Factors are rounded up to tenths, so that budgets change seldom."""


class TokenCalibration:
    """Learns how many of a model's tokens one of ours is; never less than one, since too small a request is no harm."""

    def __init__(self) -> None:
        self._model = ""
        self._factor = 1.0

    def get_window(self, model: Model) -> int | None:
        """Return a model's context window in our tokens, None where it is unknown."""
        window = model.window_tokens
        return window if window is None or model.name != self._model else int(window / self._factor)

    def learn(self, model: str, request: ModelRequest, usage: Usage | None) -> None:
        """Take what the provider of a model, by its name, counted of a request; an estimate teaches nothing."""
        if usage is None or usage.source != "provider":
            return
        if model != self._model:
            self._model, self._factor = model, 1.0
        estimated = estimate_request_tokens(request)
        ratio = usage.input_tokens / max(1, estimated)
        if estimated >= _REQUEST_TOKENS_MIN and ratio > _NEGLIGIBLE:
            self._factor = max(self._factor, min(_FACTOR_MAX, math.ceil(ratio * _TENTHS) / _TENTHS))
