"""Collects one reply of a model, event by event."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, assert_never

from roamtui.agent.events import AgentEvent, AnswerStreamed, RetryScheduled, ThinkingStreamed
from roamtui.agent.progress import Progress, give_own_id
from roamtui.models.base import (
    CallMade,
    Model,
    ModelStopped,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


async def listen(model: Model, request: Request, progress: Progress) -> AsyncGenerator[AgentEvent, None]:
    """Send a request, fill `progress.reply` from the stream, and yield what a person can watch of it.

    Raises:
        ModelError: The model could not answer.
    """
    reply = progress.reply
    call_ids = {call.id for message in request.messages for call in message.tool_calls}
    async with aclosing(model.stream(request)) as stream:  # type: ignore[type-var]
        async for event in stream:
            match event:
                case TextDelta(text):
                    reply.text += text
                    yield AnswerStreamed(text=text)
                case ThinkingDelta(text):
                    yield ThinkingStreamed(text=text)
                case CallMade(call):
                    reply.calls.append(give_own_id(call, call_ids))
                case UsageReported(usage):
                    progress.usage += usage
                case Retrying(reason, wait_seconds):
                    yield RetryScheduled(reason=reason, wait_seconds=wait_seconds)
                case ModelStopped(thinking=thinking):
                    reply.thinking = thinking
                case _:
                    assert_never(event)
