"""Limits of a question: its options, its shares of the context window, and what a request takes.

Settings import this module at startup, so it imports little.
"""

from __future__ import annotations

from msgspec import Struct

from roamtui.document.text import estimate_tokens
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


class AgentOptions(Struct, frozen=True, kw_only=True):
    """Limits of one question."""

    steps_max: int = 12
    """Maximum number of requests to the model."""
    cost_usd_max: float | None = None
    """Spending limit of a conversation, above which the person is asked; None for no limit."""
    sends_hits: bool = False
    """Whether search results are sent with a question."""
    instructions: str = ""
    """How the person wants to be answered. A change takes effect only when the transcript is rebuilt."""
    needs_certainty: bool = False
    """Whether a doubtful passage is no answer without a model, as in a cell of a table."""
    question_note: str = ""
    """Text to send before each question. It is not part of the question, so its words are not searched for."""
    committed_usd: dict[str, float] | None = None
    """Spent or about to be spent, by the id of the conversation, if several agents share the spending limit."""


def share_window(window_tokens: int | None) -> tuple[int | None, int, int | None]:
    """Return the maximum tokens of the parts of a request, or None for no limit. The window's size may be unknown.

    The parts are the search results that come with a question, the open sections that come with it, and, after a
    rebuild, the earlier questions and answers.
    """
    if window_tokens is None:
        return None, _PREFACE_TOKENS_MAX, None
    preface = min(_PREFACE_TOKENS_MAX, int(window_tokens * _PREFACE_SHARE))
    return int(window_tokens * _HITS_SHARE), preface, int(window_tokens * _HISTORY_SHARE)


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
    input_usd, output_usd = prices
    reply_tokens = min(_ANSWER_TOKENS, (model.window_tokens or WINDOW_TOKENS_DEFAULT) // 4)
    return input_usd * estimate_request_tokens(request) + output_usd * reply_tokens


def compute_room(request: ModelRequest, window_tokens: int | None) -> int:
    """Return how many tokens a request and its answer leave of a window. Below 0, the request does not fit."""
    window = window_tokens or WINDOW_TOKENS_DEFAULT
    return window - estimate_request_tokens(request) - min(_ANSWER_TOKENS, window // 4)
