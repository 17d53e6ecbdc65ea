"""What every model is: one method that takes a request and yields events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from roamtui.conversation.transcript import Message, ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, object]
    """JSON schema of its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    allow_calls: bool = True
    """False asks for an answer without calls; the tools stay declared, so that a provider's cache holds."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """Some more of what the model thinks aloud; shown dimly, never quoted."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallReceived:
    """A whole tool call."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of this request."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class RetryPending:
    """A passing fault: the request is sent again after a wait, nothing of it was shown yet."""

    reason: str
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class ReplyFinished:
    """The reply is whole. Always the last event."""

    reason: str
    """`stop`, `tool_calls`, `length` where the model may write no more at once, `filtered` where a provider objects."""
    thinking: str = ""
    """The provider's thinking blocks as JSON, to be stored with the step."""


ModelEvent = TextDelta | ThinkingDelta | ToolCallReceived | UsageReported | RetryPending | ReplyFinished


@runtime_checkable
class Model(Protocol):
    """Something that answers requests."""

    @property
    def name(self) -> str:
        """The name under which a person chose it."""
        ...

    @property
    def window_tokens(self) -> int | None:
        """Size of its context window, None where unknown."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the events of one reply; `ReplyFinished` is the last.

        Raises:
            ModelError: The model could not answer.
        """
        ...

    async def close(self) -> None:
        """Release what it holds; it may be asked again later."""
        ...


async def warm_up_model(model: Model) -> None:
    """Warm up a model that takes seconds to start, by its `start`, and let it learn its window; never fails."""
    if (start := getattr(model, "start", None)) is not None:
        await start()


def get_startup_note(model: Model) -> str:
    """Return what a person should know of a model that was started, its `note`, a sentence; empty for most."""
    return str(getattr(model, "note", ""))
