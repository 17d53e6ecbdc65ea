"""The model port: one method that takes a request and yields events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Protocol, runtime_checkable

from msgspec import Struct

from roamtui.conversation.transcript import Message, Role, ToolCall, Usage


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as it is described to a model."""

    name: str
    description: str
    parameters: Mapping[str, object]
    """JSON schema of the arguments."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request to a model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    allow_calls: bool = True
    """If False, the model must answer without tools. They are still sent, so that the provider's cache applies."""


class TextDelta(Struct, frozen=True, tag=True):
    """A piece of the reply's text."""

    text: str


class ThinkingDelta(Struct, frozen=True, tag=True):
    """A piece of the model's reasoning. It is shown dimmed, and never quoted."""

    text: str


class ToolCallReceived(Struct, frozen=True, tag=True):
    """A complete tool call."""

    call: ToolCall


class UsageReported(Struct, frozen=True, tag=True):
    """Token counts of this request."""

    usage: Usage


class RetryPending(Struct, frozen=True, tag=True):
    """A transient failure. The request will be sent again after a wait. Nothing of the reply was shown yet."""

    reason: str
    wait_seconds: float


class ReplyFinished(Struct, frozen=True, tag=True):
    """The end of a complete reply. Always the last event."""

    reason: str
    """`stop`, `tool_calls`, `length` if the output limit was reached, `filtered` if the provider blocked the reply."""


ModelEvent = TextDelta | ThinkingDelta | ToolCallReceived | UsageReported | RetryPending | ReplyFinished


@runtime_checkable
class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The name by which a person selects it."""
        ...

    @property
    def window_tokens(self) -> int | None:
        """Size of the context window, or None if unknown."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the events of one reply. `ReplyFinished` is the last.

        Raises:
            ModelError: The model could not answer.
        """
        ...

    async def close(self) -> None:
        """Release resources. A later request starts the model again."""
        ...


async def warm_up_model(model: Model) -> None:
    """Call the model's `start`, if it has one, so that slow models load early and learn their window size.

    Failures are not raised here, because the first request reports them.
    """
    if (start := getattr(model, "start", None)) is not None:
        await start()


def get_startup_note(model: Model) -> str:
    """Return the model's `note`, a sentence to show once the model has started. It is empty for most models."""
    return str(getattr(model, "note", ""))


async def complete_once(model: Model, system: str, question: str) -> str:
    """Return the reply to one question without tools.

    Raises:
        ModelError: The model could not answer.
    """
    messages = (Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text=question))
    text = ""
    async with aclosing(model.stream(ModelRequest(messages=messages, allow_calls=False))) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, TextDelta):
                text += event.text
    return text
