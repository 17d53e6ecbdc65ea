"""How far our estimates of tokens are from what a model's provider counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from roamtui.agent.room import estimate_request

if TYPE_CHECKING:
    from roamtui.conversation.transcript import Usage
    from roamtui.models.base import Model, Request

_REQUEST_TOKENS_MIN = 1_000
"""Of a shorter request, what a provider adds by itself says nothing about the rest."""
_NEGLIGIBLE = 1.05
_FACTOR_MAX = 4.0
_TENTHS = 10
"""Factors are rounded up to tenths, so that budgets change seldom."""


class TokenGauge:
    """Learns how many of a model's tokens one of ours is; never less than one, since too small a request is no harm."""

    def __init__(self) -> None:
        self._model = ""
        self._factor = 1.0

    def find_window(self, model: Model) -> int | None:
        """Return a model's context window in our tokens, None where it is unknown."""
        window = model.window_tokens
        return window if window is None or model.name != self._model else int(window / self._factor)

    def learn(self, model: str, request: Request, usage: Usage | None) -> None:
        """Take what the provider of a model, by its name, counted of a request; an estimate teaches nothing."""
        if usage is None or usage.source != "provider":
            return
        if model != self._model:
            self._model, self._factor = model, 1.0
        estimated = estimate_request(request)
        ratio = usage.input_tokens / max(1, estimated)
        if estimated >= _REQUEST_TOKENS_MIN and ratio > _NEGLIGIBLE:
            self._factor = max(self._factor, min(_FACTOR_MAX, math.ceil(ratio * _TENTHS) / _TENTHS))
