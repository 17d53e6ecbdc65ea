"""What a model gets and gives: messages, calls of tools, and usage."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

OFFLINE = "offline"
"""The name to choose for answers without a model."""
RECORDED = "recorded"
"""Name of the model that repeats one answer. Its conversations are not saved until another model is asked."""


class Role(StrEnum):
    """The author of a message to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(Struct, frozen=True, kw_only=True):
    """The model's request to run a tool."""

    id: str
    name: str
    arguments: str
    """JSON as the model sent it; may be invalid."""


class Message(Struct, frozen=True, kw_only=True):
    """One message of a request."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


_TokenCount = Annotated[int, Meta(ge=0, le=10**12)]
_Dollars = Annotated[float, Meta(ge=0, le=1e9)]


class Usage(Struct, frozen=True, kw_only=True):
    """What one or more requests used. Impossible numbers are refused when it is decoded."""

    input_tokens: _TokenCount = 0
    output_tokens: _TokenCount = 0
    cached_tokens: _TokenCount = 0
    """How many of `input_tokens` the provider read from its cache."""
    cost_usd: _Dollars | None = 0.0
    """The sum of the known costs; None if no cost is known."""
    has_unknown_cost: bool = False
    """Whether there are requests whose cost is unknown, and so is not in `cost_usd`."""
    source: Literal["provider", "estimate"] = "estimate"
    """Where the numbers come from. It is ``provider`` only if all of them do."""

    def __add__(self, other: Usage) -> Usage:
        parts = (self, other)
        known = sum(part.cost_usd or 0.0 for part in parts)
        is_unknown = any(part.cost_usd is None or part.has_unknown_cost for part in parts)
        sources = {part.source for part in parts if part.input_tokens or part.output_tokens or part.cost_usd}
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=None if is_unknown and not known else known,
            has_unknown_cost=is_unknown,
            source="provider" if sources == {"provider"} else "estimate",
        )
