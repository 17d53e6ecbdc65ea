"""Receive a model's reply, separate thoughts and calls from its text, and stop a reply that does not end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from roamtui.conversation.messages import Message, Role
from roamtui.errors import ModelError
from roamtui.models.base import (
    CallUnreadable,
    Model,
    ModelEvent,
    ModelRequest,
    ReplyFinished,
    RetryPending,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
    UsageReported,
)
from roamtui.models.repetition import RepetitionGuard
from roamtui.models.reply_reader import ReplyReader
from roamtui.models.usage import UsageMeter, add_cost, estimate_request
from roamtui.models.worker_protocol import ProviderError
from roamtui.text import BYTES_PER_TOKEN

_SHORT_REPLY_TOKENS = 100
"""Assumed tokens of the reply of `complete_once`: a list of numbers or a summary."""


async def read_reply(
    model: Model, request: ModelRequest, meter: UsageMeter
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a reply. It is stopped if it repeats itself, or exceeds the model's limit.

    `meter` counts every attempt for which the provider may charge, however it ends.

    Raises:
        ModelError: The model could not answer.
    """
    reader = ReplyReader([tool.name for tool in request.tools])
    guards = {TextDelta: RepetitionGuard(), ThinkingDelta: RepetitionGuard()}
    received_bytes = thoughts_bytes = 0
    leaves_calls_out = False
    failure: ModelError | None = None
    ending: ReplyFinished | None = None
    async with aclosing(_stream_counted(model, request, meter)) as stream:
        try:
            async for event in stream:
                if isinstance(event, ReplyFinished):
                    ending = event
                    break
                is_repeated = False
                if isinstance(event, TextDelta | ThinkingDelta):
                    is_repeated = guards[type(event)].feed(event.text)
                    received_bytes += _count_bytes(event.text)
                # Some servers send a call both as a call and as text.
                leaves_calls_out = leaves_calls_out or isinstance(event, ToolCallReceived)
                if isinstance(event, ThinkingDelta):
                    reader.add_thoughts(event.text)
                read = reader.feed(event.text) if isinstance(event, TextDelta) else [event]
                for reply_event in read:
                    if isinstance(reply_event, ThinkingDelta):
                        thoughts_bytes += _count_bytes(reply_event.text)
                    yield reply_event
                # thoughts may be longer than an answer, but some servers let them fill the window
                answer_tokens = model.answer_tokens_max or model.window_tokens
                exceeds_limit = received_bytes - thoughts_bytes > answer_tokens * BYTES_PER_TOKEN
                fills_window = received_bytes > model.window_tokens * BYTES_PER_TOKEN
                if is_repeated or exceeds_limit or fills_window:
                    ending = ReplyFinished("repeated" if is_repeated else "length")
                    break
        except ModelError as error:
            failure = error
            leaves_calls_out = True
    for reply_event in reader.finish(is_cut=failure is not None):
        if not (leaves_calls_out and isinstance(reply_event, ToolCallReceived | CallUnreadable)):
            yield reply_event
    if failure is not None:
        raise failure
    if ending is not None:
        yield ending


async def _stream_counted(
    model: Model, request: ModelRequest, meter: UsageMeter
) -> AsyncGenerator[ModelEvent, None]:
    sent = estimate_request(model, request)
    written_bytes = 0
    needs_estimate = True
    try:
        async with aclosing(model.stream(request)) as stream:  # type: ignore[type-var]
            async for event in stream:
                match event:
                    case TextDelta(text) | ThinkingDelta(text):
                        written_bytes += _count_bytes(text)
                    case ToolCallReceived(call):
                        written_bytes += _count_bytes(call.name + call.arguments)
                    case RetryPending(may_cost=True):
                        meter.add(sent)
                    case UsageReported(usage):
                        needs_estimate = False
                        meter.add(add_cost(usage, model.facts.prices))
                        if usage.source == "provider":
                            model.update_token_ratio(sent.input_tokens, usage.input_tokens)
                    case _:
                        pass
                yield event
    except ModelError as error:
        may_cost = isinstance(error, ProviderError) and error.failure.may_cost
        needs_estimate = needs_estimate and (may_cost or written_bytes > 0)
        raise
    finally:
        if needs_estimate:
            written = replace(sent, output_tokens=written_bytes // BYTES_PER_TOKEN, cost_usd=None)
            meter.add(add_cost(written, model.facts.prices))


def _count_bytes(text: str) -> int:
    """Count bytes, because they tell the number of tokens better than characters do."""
    return len(text.encode("utf-8", "replace"))


async def complete_once(model: Model, system: str, question: str, meter: UsageMeter) -> str:
    """Return the reply to one question without tools, and without thoughts. `meter` counts its request.

    Raises:
        ModelError: The model could not answer, or the request could exceed the spending limit of `meter`.
    """
    messages = (Message(role=Role.SYSTEM, text=system), Message(role=Role.USER, text=question))
    request = ModelRequest(messages=messages)
    text = ""
    await model.start()  # the model may learn its prices
    sent = estimate_request(model, request)
    expected = replace(sent, output_tokens=_SHORT_REPLY_TOKENS, cost_usd=None)
    with meter.reserving(lambda: add_cost(expected, model.facts.prices)):
        async with aclosing(read_reply(model, request, meter)) as events:
            async for event in events:
                if isinstance(event, ThinkingDelta) and event.replaces_text:
                    text = ""
                elif isinstance(event, TextDelta):
                    text += event.text
    return text.strip()
