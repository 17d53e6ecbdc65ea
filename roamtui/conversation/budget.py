"""How the tokens of a model's context window are shared among the parts of a request."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from roamtui.outline.delivered import PART_TOKENS
from roamtui.text import estimate_tokens

if TYPE_CHECKING:  # the settings need no event
    from roamtui.conversation.messages import Message

WINDOW_TOKENS_DEFAULT = 64_000
"""Assumed context window of a model if nobody knows its size."""
OPEN_TOKENS_DEFAULT = 32_000
"""Default budget for the section text that stays open between questions, or opens with one."""
_MESSAGE_TOKENS = 6
_ANSWER_TOKENS = 4_000
_ANSWER_SHARE = 0.25
"""The answer gets `_ANSWER_TOKENS` or this share of the window, whichever is smaller."""
_MARGIN_SHARE = 0.05
"""Left free, because tokens are only estimated."""
_OUTLINE_SHARE = 0.1
_HITS_SHARE = 0.15
"""Search results, and sections that open with the question."""
_HITS_SHARE_WITHOUT_TOOLS = 0.3
"""A model without tools answers only from these."""
_OPEN_SHARE = 0.4
_HISTORY_SHARE = 0.2
"""Earlier questions and answers that a rebuild of the transcript keeps."""
_PART_SHARE = 1 / 6
"""One part of a section. A request can hold several of them, and everything else."""


class KeepOpenMode(StrEnum):
    """What happens to open sections between questions."""

    KEEP = "keep"
    """The least useful sections close, to stay within the budget."""
    FRESH = "fresh"
    """All sections of earlier questions close unless they are pinned."""


class OpenSectionOptions(Struct, frozen=True, kw_only=True):
    """Limits on what stays open between questions."""

    mode: KeepOpenMode = KeepOpenMode.KEEP
    budget_tokens: int = OPEN_TOKENS_DEFAULT
    part_tokens: int = PART_TOKENS
    """Size of a part of a section. A small context window makes both smaller."""


class RequestBudget(Struct, frozen=True, kw_only=True):
    """Maximum numbers of estimated tokens."""

    messages_max: int = WINDOW_TOKENS_DEFAULT
    """All messages of a request."""
    outline_max: int = WINDOW_TOKENS_DEFAULT
    hits_max: int = WINDOW_TOKENS_DEFAULT
    history_max: int = WINDOW_TOKENS_DEFAULT
    open_max: int = OPEN_TOKENS_DEFAULT
    part_max: int = PART_TOKENS


def share_window(
    window_tokens: int, *, tools_tokens: int, has_tools: bool = True, token_ratio: float = 1.0
) -> RequestBudget:
    """Share a context window. `token_ratio` is how many tokens the model counts for each estimated one."""
    window = window_tokens / token_ratio
    answer = get_answer_tokens(window_tokens) / token_ratio
    messages = window - answer - _MARGIN_SHARE * window - tools_tokens
    return RequestBudget(
        messages_max=max(0, int(messages)),
        outline_max=int(_OUTLINE_SHARE * window),
        hits_max=int((_HITS_SHARE if has_tools else _HITS_SHARE_WITHOUT_TOOLS) * window),
        history_max=int(_HISTORY_SHARE * window),
        open_max=min(OPEN_TOKENS_DEFAULT, int(_OPEN_SHARE * window)),
        part_max=min(PART_TOKENS, int(_PART_SHARE * window)),
    )


def get_answer_tokens(window_tokens: int) -> int:
    """Return how many tokens of a window are reserved for the answer."""
    return min(_ANSWER_TOKENS, int(window_tokens * _ANSWER_SHARE))


def estimate_message_tokens(messages: Iterable[Message]) -> int:
    """Estimate the tokens of messages, with their calls."""
    total = 0
    for message in messages:
        arguments = (call.arguments for call in message.tool_calls)
        total += _MESSAGE_TOKENS + sum(map(estimate_tokens, (message.text, *arguments)))
    return total
