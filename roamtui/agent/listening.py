"""Collects one reply of a model, event by event."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from roamtui.conversation.events import AnswerStreamed, ConversationEvent, RetryScheduled, ThinkingStreamed
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

    from roamtui.agent.progress import Progress
    from roamtui.conversation.transcript import ToolCall


async def listen(model: Model, request: Request, progress: Progress) -> AsyncGenerator[ConversationEvent, None]:
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
                    reply.calls.append(_give_own_id(call, call_ids))
                case UsageReported(usage):
                    reply.usage = usage
                    progress.usage += usage
                case Retrying(reason, wait_seconds):
                    yield RetryScheduled(reason=reason, wait_seconds=wait_seconds)
                case ModelStopped(reason, thinking):
                    reply.reason, reply.thinking = reason, thinking
                case _:
                    assert_never(event)


def _give_own_id(call: ToolCall, taken: set[str]) -> ToolCall:
    """Return a call whose id no other call of the conversation has; some servers number those of each reply anew."""
    number, call_id = 1, call.id
    while not call_id or call_id in taken:
        number += 1
        call_id = f"{call.id or 'call'}_{number}"
    taken.add(call_id)
    return call if call_id == call.id else replace(call, id=call_id)
