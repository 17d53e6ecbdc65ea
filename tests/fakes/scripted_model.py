"""A model for tests: it gives scripted replies, and records the requests."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import override

from roamtui.conversation.budget import estimate_message_tokens
from roamtui.conversation.messages import ToolCall, Usage
from roamtui.errors import ModelError
from roamtui.models.base import (
    TOOL_TOKENS,
    FinishReason,
    Model,
    ModelEvent,
    ModelFacts,
    ModelRequest,
    ReplyFinished,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
    UsageReported,
)
from roamtui.models.worker_protocol import ModelFailure, ProviderError
from roamtui.text import estimate_tokens


def estimate_request_tokens(request: ModelRequest) -> int:
    return estimate_message_tokens(request.messages) + TOOL_TOKENS * len(request.tools)


def make_refusal(window_tokens: int | None = None, request_tokens: int | None = None) -> ProviderError:
    """Make the error of a request that was too long."""
    failure = ModelFailure(
        reason="It is too long",
        advice="Ask again.",
        is_overflow=True,
        window_tokens=window_tokens,
        request_tokens=request_tokens,
    )
    return ProviderError(failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One scripted reply."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, object] | str], ...] = ()
    """Name and arguments of each call; a `str` is sent as it is, so that it can be broken JSON."""
    chunk_size: int = 16
    """Characters in each text delta."""
    thinking: str = ""
    """Reasoning, sent before the text."""
    error: ModelError | None = None
    """Raised after text and calls, instead of the end."""
    gate: asyncio.Event | None = None
    """Awaited after `gate_after` text deltas."""
    gate_after: int = 0
    """0 holds back the whole reply."""
    usage: Usage | None = None
    """Reported usage; None for an estimate."""
    reason: FinishReason = "stop"
    """Finish reason of a reply without calls."""


Reply = ScriptedReply | str | Callable[[ModelRequest], ScriptedReply]


class ScriptedModel(Model):
    """Answers each request with the next of `replies`: a text, or what a callable makes of the request."""

    def __init__(
        self, replies: Iterable[Reply] = (), *, window_tokens: int | None = 128_000, name: str = "scripted"
    ) -> None:
        self._replies = list(replies)
        self.name = name
        self.facts = ModelFacts(server="", window_tokens=window_tokens, prices=(0.0, 0.0))
        self.requests: list[ModelRequest] = []
        """Every request so far, oldest first."""
        self.is_closed = False
        """Whether `close` was called after the last request."""

    def add_replies(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def replace_script(self, replies: Iterable[Reply]) -> None:
        """Give these replies to the next requests, whatever was left."""
        self._replies[len(self.requests) :] = replies

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.is_closed = False
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._replies):
            raise ModelError(f"The script has {len(self._replies)} replies, and request {number} came.")
        reply = self._replies[number - 1]
        if isinstance(reply, str):
            reply = ScriptedReply(text=reply)
        elif not isinstance(reply, ScriptedReply):
            reply = reply(request)
        if reply.thinking:
            yield ThinkingDelta(reply.thinking)
        async for event in _stream_text(reply):
            yield event
        for event in _finish(reply, request, number):
            yield event

    @override
    async def close(self) -> None:
        self.is_closed = True


async def _stream_text(reply: ScriptedReply) -> AsyncIterator[ModelEvent]:
    starts = range(0, len(reply.text), reply.chunk_size)
    for index, start in enumerate(starts):
        if reply.gate is not None and index == reply.gate_after:
            await reply.gate.wait()
        yield TextDelta(reply.text[start : start + reply.chunk_size])
        await asyncio.sleep(0)
    if reply.gate is not None and reply.gate_after >= len(starts):
        await reply.gate.wait()


def _finish(reply: ScriptedReply, request: ModelRequest, number: int) -> Iterator[ModelEvent]:
    calls = tuple(
        ToolCall(
            id=f"call_{number}_{index}",
            name=name,
            arguments=arguments if isinstance(arguments, str) else json.dumps(dict(arguments)),
        )
        for index, (name, arguments) in enumerate(reply.calls, start=1)
    )
    for call in calls:
        yield ToolCallReceived(call)
    if reply.error is not None:
        raise reply.error
    sent_text = reply.text + "".join(f"{name}{arguments}" for name, arguments in reply.calls)
    sent = sum(estimate_tokens(message.text) for message in request.messages)
    estimate = Usage(input_tokens=sent, output_tokens=estimate_tokens(sent_text), cost_usd=None)
    yield UsageReported(reply.usage or estimate)
    yield ReplyFinished("stop" if calls else reply.reason)


class SlowModel(ScriptedModel):
    """Starts when its gate opens."""

    def __init__(self, replies: Iterable[Reply] = (), *, gate: asyncio.Event) -> None:
        super().__init__(replies)
        self._gate = gate

    @override
    async def start(self) -> None:
        await self._gate.wait()
