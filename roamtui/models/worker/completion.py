"""One reply: litellm's chunks into model events."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from roamtui.conversation.transcript import Usage
from roamtui.models.base import CallMade, ModelEvent, ModelStopped, TextDelta, ThinkingDelta, UsageReported
from roamtui.models.worker.arguments import build_arguments
from roamtui.models.worker.calls import CallAssembler
from roamtui.models.worker.errors import EmptyReplyError, SilentModelError, UnfinishedReplyError
from roamtui.models.worker.thinking import ThinkingAssembler

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    from roamtui.models.options import ModelOptions
    from roamtui.models.worker.jobs import Job
    from roamtui.models.worker.targets import Target

_CLOSE_SECONDS = 2.0
_REASONS = {"length": "length", "content_filter": "filtered"}
"""Why a reply ended before its end, by litellm's names."""


async def stream_completion(litellm: Any, job: Job, target: Target) -> AsyncGenerator[ModelEvent, None]:  # noqa: ANN401
    """Yield the events of one reply; close the connection when closed or cancelled.

    Raises:
        Exception: Whatever litellm raises, a reply that breaks off, or a silence that lasts too long.
    """
    reply = _Reply(job)
    arguments = build_arguments(job, target)
    first_seconds = job.options.wait_for_first_token(is_local=target.is_local)
    stream: Any = None
    try:
        async with _limit_silence(first_seconds):
            stream = await litellm.acompletion(**arguments, timeout=_build_timeout(job.options, first_seconds))
        async for chunk in _read_chunks(stream, reply, first_seconds, job.options.gap_seconds):
            for event in reply.take(chunk):
                yield event
        for event in reply.finish(stream):
            yield event
    finally:
        if stream is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await stream.aclose()


async def _read_chunks(
    stream: Any,  # noqa: ANN401
    reply: _Reply,
    first_seconds: float,
    gap_seconds: float,
) -> AsyncIterator[Any]:
    chunks = aiter(stream)
    end = object()
    while True:
        async with _limit_silence(gap_seconds if reply.has_begun else first_seconds):
            chunk = await anext(chunks, end)
        if chunk is end:
            return
        yield chunk


@asynccontextmanager
async def _limit_silence(seconds: float) -> AsyncIterator[None]:
    """Turn more than `seconds` of silence into an error of its own, and let all other timeouts pass."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise SilentModelError(seconds) from None
        raise


def _build_timeout(options: ModelOptions, first_seconds: float) -> object:
    """Return litellm's own limits: the connection's, and as a last resort one that is longer than ours."""
    httpx: Any = importlib.import_module("httpx")
    return httpx.Timeout(max(first_seconds, options.gap_seconds) + 5, connect=options.connect_seconds)


class _Reply:
    """What has come of one reply."""

    def __init__(self, job: Job) -> None:
        calls = (call for message in job.request.messages for call in message.tool_calls)
        self._calls = CallAssembler(taken_ids=(call.id for call in calls))
        self._thinking = ThinkingAssembler()
        self._usage: Any = None
        self._reason = "stop"
        self.has_begun = False
        """Whether any text, thought or call has come."""

    def take(self, chunk: Any) -> Iterator[ModelEvent]:  # noqa: ANN401
        """Yield what `chunk` adds."""
        if (usage := getattr(chunk, "usage", None)) is not None:
            self._usage = usage
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        self._reason = choice.finish_reason or self._reason
        yield from self._take_delta(choice.delta)

    def _take_delta(self, delta: Any) -> Iterator[ModelEvent]:  # noqa: ANN401
        self._thinking.add(getattr(delta, "thinking_blocks", None) or ())
        if thought := getattr(delta, "reasoning_content", None):
            self.has_begun = True
            yield ThinkingDelta(thought)
        if text := getattr(delta, "content", None):
            self.has_begun = True
            yield TextDelta(text)
        for piece in getattr(delta, "tool_calls", None) or ():
            self.has_begun = True
            self._calls.add(
                index=piece.index or 0,
                id=piece.id,
                name=piece.function.name,
                arguments=piece.function.arguments,
            )

    def finish(self, stream: Any) -> Iterator[ModelEvent]:  # noqa: ANN401
        """Yield what can be told only at the end.

        Raises:
            UnfinishedReplyError: The provider never said that the reply was whole.
            EmptyReplyError: Nor did anything else come.
        """
        if not _has_finished(stream):
            raise UnfinishedReplyError if self.has_begun else EmptyReplyError
        calls = self._calls.finish()
        for call in calls:
            yield CallMade(call)
        if self._usage is not None:
            yield UsageReported(_build_usage(self._usage, is_counted=_has_counted(stream)))
        reason = "tool_calls" if calls else _REASONS.get(self._reason, "stop")
        yield ModelStopped(reason, self._thinking.finish())


def _has_finished(stream: Any) -> bool:  # noqa: ANN401
    """Tell whether the provider gave a finish reason; where it gave none, litellm makes up a "stop"."""
    reasons = [getattr(stream, name, None) for name in ("received_finish_reason", "intermittent_finish_reason")]
    return any(reasons) or not hasattr(stream, "received_finish_reason")


def _has_counted(stream: Any) -> bool:  # noqa: ANN401
    """Tell whether the provider counted tokens; where it did not, litellm estimates them."""
    return any(getattr(chunk, "usage", None) is not None for chunk in getattr(stream, "chunks", ()))


def _build_usage(usage: Any, *, is_counted: bool) -> Usage:  # noqa: ANN401
    details = getattr(usage, "prompt_tokens_details", None)
    cost = getattr(usage, "cost", None)
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        cached_tokens=getattr(details, "cached_tokens", None) or 0,
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        source="provider" if is_counted else "estimate",
    )
