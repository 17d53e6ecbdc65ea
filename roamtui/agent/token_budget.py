"""Estimate the tokens and the cost of a request and the room for the next step, and learn from providers' counts."""

from __future__ import annotations

import math

from roamtui.conversation.transcript import Usage
from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import Model, ModelRequest, Prices

WINDOW_TOKENS_DEFAULT = 64_000
"""Assumed context window of a model whose window is unknown."""
_ANSWER_TOKENS = 4_000
"""Reserved for the answer."""
_MESSAGE_TOKENS = 6
_TOOL_TOKENS = 120
_STEP_SHARE = 0.5
"""Share of the remaining window that one step may add."""
_ESTIMATES_MAX = 8_192
"""Maximum number of cached estimates, more than a long conversation has messages. A full cache is emptied."""
_ESTIMATE_CACHE: dict[tuple[int, int], int] = {}
"""Token estimates by hash and length of a text. The texts themselves are not kept, so that their memory is freed."""


def estimate_request_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of a request. Texts are cached, because most were in the previous request too."""
    messages = request.messages
    texts = [message.text for message in messages]
    texts.extend(call.arguments for message in messages for call in message.tool_calls)
    total = _MESSAGE_TOKENS * len(messages) + _TOOL_TOKENS * len(request.tools)
    for text in texts:
        key = (hash(text), len(text))
        if key not in _ESTIMATE_CACHE:
            if len(_ESTIMATE_CACHE) >= _ESTIMATES_MAX:
                _ESTIMATE_CACHE.clear()
            _ESTIMATE_CACHE[key] = estimate_tokens(text)
        total += _ESTIMATE_CACHE[key]
    return total


def estimate_request_usd(model: Model, request: ModelRequest) -> float:
    """Estimate the cost of a request with its reply before it is sent. Without known prices, it is 0."""
    prices: Prices | None = getattr(model, "prices", None)
    if prices is None:
        return 0.0
    reply_tokens = _compute_answer_room(model.window_tokens or WINDOW_TOKENS_DEFAULT)
    return prices.input_usd * estimate_request_tokens(request) + prices.output_usd * reply_tokens


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


_REQUEST_TOKENS_MIN = 1_000
"""Minimum size of a request to learn from. In a smaller one, the tokens that a provider adds weigh too much."""
_NEGLIGIBLE_RATIO_MAX = 1.05
"""Maximum ratio of provider tokens to estimated tokens that is ignored."""
_FACTOR_MAX = 4.0
_TENTHS = 10
"""Factors are rounded up to tenths, so that budgets rarely change."""


class TokenCalibration:
    """Learns the ratio of provider tokens to estimated ones: at least 1, because overestimating does no harm."""

    def __init__(self) -> None:
        self._model = ""
        self._factor = 1.0

    def get_window(self, model: Model) -> int | None:
        """Return a model's context window in estimated tokens, or None if it is unknown."""
        window = model.window_tokens
        return window if window is None or model.name != self._model else int(window / self._factor)

    def learn(self, model: str, request: ModelRequest, usage: Usage | None) -> None:
        """Update the ratio with the usage of a request to `model`, if the provider reported it."""
        if usage is None or usage.source != "provider":
            return
        if model != self._model:
            self._model, self._factor = model, 1.0
        estimated = estimate_request_tokens(request)
        ratio = usage.input_tokens / max(1, estimated)
        if estimated >= _REQUEST_TOKENS_MIN and ratio > _NEGLIGIBLE_RATIO_MAX:
            self._factor = max(self._factor, min(_FACTOR_MAX, math.ceil(ratio * _TENTHS) / _TENTHS))
