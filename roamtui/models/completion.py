"""Send requests for completions and embeddings to providers through litellm.

Replies in the history are repaired so that every provider accepts them, because a single message that cannot
be sent would block the conversation forever.
"""

import asyncio
import importlib
import json
import math
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec

from roamtui.conversation.messages import Message, Role, ToolCall, Usage
from roamtui.convert.decode import replace_surrogates
from roamtui.models.base import (
    ARGUMENTS_LENGTH_MAX,
    FinishReason,
    ModelEvent,
    ReplyFinished,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
    UsageReported,
)
from roamtui.models.failures import UnfinishedReplyError
from roamtui.models.http_clients import ReceivedReply
from roamtui.models.usage import add_cost
from roamtui.models.worker_protocol import EmbeddingBatch, Job, ResolvedModel
from roamtui.text import estimate_tokens

_ANTHROPIC_OUTPUT_TOKENS = 8_192
"""Anthropic requires a limit. This has room for any answer, and stays below small rate limits."""
_TOOL_NAME_LENGTH_MAX = 64
"""Maximum length of a tool name that every provider accepts."""
_INVALID_NAME_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")
_FINISH_REASONS: Mapping[str, FinishReason] = {"length": "length", "content_filter": "filtered"}
"""Reasons why a reply ended early, by litellm's names for them."""


async def stream_completion(
    litellm: Any,  # noqa: ANN401 - a module
    job: Job,
    resolved: ResolvedModel,
    received: ReceivedReply,
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of one reply. If this is closed or cancelled, the connection is closed.

    Raises:
        Exception: Any litellm exception, a reply that breaks off, or a timeout.
    """
    reply = _ReplyAssembler()
    arguments = make_arguments(job, resolved)
    first_seconds = job.options.get_first_token_timeout(resolved.api_base)
    # The time limit of the connection is a last resort, so it is longer than `deadline`.
    httpx: Any = importlib.import_module("httpx")
    longest = max(first_seconds, job.options.gap_seconds)
    timeout = httpx.Timeout(longest + 5, connect=job.options.connect_seconds)
    stream: Any = None
    get_time = asyncio.get_running_loop().time
    deadline = get_time() + first_seconds
    try:
        async with asyncio.timeout_at(deadline):
            stream = await litellm.acompletion(**arguments, timeout=timeout)
        chunks = aiter(stream)
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(chunks, None)
            except Exception:
                if not _has_finish_reason(stream):
                    raise
                break  # nothing but the token counts was missing
            if chunk is None:
                break
            for event in reply.feed(chunk):
                yield event
            if reply.has_news:
                received.end_piece()
                deadline = get_time() + job.options.gap_seconds
            elif _has_finish_reason(stream):
                deadline = min(deadline, get_time() + job.options.connect_seconds)
        for event in reply.finish(stream):
            yield event
    finally:
        if stream is not None:
            await stream.aclose()


def make_arguments(job: Job, resolved: ResolvedModel) -> dict[str, Any]:
    """Build litellm's arguments for a completion, except for timeouts."""
    arguments = _build_common_arguments(resolved) | {
        "messages": _build_messages(job.request.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if job.request.tools:
        arguments["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.make_bare_schema(),
                },
            }
            for tool in job.request.tools
        ]
        if not job.request.allows_calls:
            arguments["tool_choice"] = "none"
    if resolved.provider == "anthropic":
        # Anthropic caches a request up to each mark. One mark is after the system text, and so includes the
        # tools. One is at the end. One is where the previous request ended, because Anthropic looks back only
        # 20 blocks from the end, and a step with many calls has more.
        roles = [message.role for message in job.request.messages]
        replied = len(roles) - 1 - roles[::-1].index(Role.ASSISTANT) if Role.ASSISTANT in roles else 1
        marks = sorted({0, replied - 1, len(roles) - 1})
        points = [{"location": "message", "index": mark} for mark in marks]
        arguments["cache_control_injection_points"] = points
    if resolved.is_ollama:
        arguments["num_ctx"] = resolved.window_tokens
    output_tokens = job.options.output_tokens
    if output_tokens is None and resolved.provider == "anthropic":
        output_tokens = _ANTHROPIC_OUTPUT_TOKENS
    if output_tokens is not None:
        arguments["max_tokens"] = output_tokens
    if job.options.temperature is not None:
        arguments["temperature"] = job.options.temperature
    return arguments


def _build_common_arguments(resolved: ResolvedModel) -> dict[str, Any]:
    arguments: dict[str, Any] = {"model": resolved.model, "max_retries": 0, "drop_params": True}
    if resolved.api_base:
        arguments["api_base"] = resolved.api_base
    if resolved.missing_keys:
        arguments["api_key"] = "none"  # clients of providers refuse to start without one
    return arguments


def _build_messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    built: list[dict[str, Any]] = []
    for message in messages:
        text = replace_surrogates(message.text)
        fields: dict[str, Any] = {"role": message.role.value, "content": text}
        if message.role is Role.TOOL:
            fields["tool_call_id"] = message.tool_call_id
        if message.tool_calls:
            fields["content"] = text or None
            fields["tool_calls"] = []
            for call in message.tool_calls:
                name = _INVALID_NAME_CHARACTER.sub("_", call.name)[:_TOOL_NAME_LENGTH_MAX] or "unnamed"
                arguments = replace_surrogates(call.arguments)
                # most providers refuse a history with broken arguments
                if not _are_acceptable_arguments(arguments):
                    arguments = json.dumps({"invalid_arguments": arguments})
                function = {"name": name, "arguments": arguments}
                fields["tool_calls"].append({"id": call.id, "type": "function", "function": function})
        built.append(fields)
    return built


def _are_acceptable_arguments(arguments: str) -> bool:
    """Return whether every provider accepts these arguments: a JSON object that can be encoded as UTF-8."""
    try:
        value = json.loads(arguments)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


class _ReplyAssembler:
    def __init__(self) -> None:
        self._calls = CallAssembler()
        self._usage: Any = None
        self._finish_reason = "stop"
        self.has_news = False
        """Whether the last chunk had text, thinking or a call. Some servers send empty chunks without end."""

    def feed(self, chunk: Any) -> Iterator[ModelEvent]:  # noqa: ANN401
        """Yield the events of one chunk."""
        if (usage := getattr(chunk, "usage", None)) is not None:
            self._usage = usage
        self.has_news = False
        choice = next((choice for choice in chunk.choices if not choice.index), None)
        if choice is None:  # a server may write several answers at once, and one was asked for
            return
        self._finish_reason = choice.finish_reason or self._finish_reason
        attributes = ("reasoning_content", "content", "tool_calls")
        thought, text, pieces = (getattr(choice.delta, attribute, None) for attribute in attributes)
        self.has_news = bool(thought or text or pieces)
        if thought:
            yield ThinkingDelta(thought)
        if text:
            yield TextDelta(text)
        for piece in pieces or ():
            function = piece.function
            self._calls.add_piece(
                index=piece.index or 0, id=piece.id, name=function.name, arguments=function.arguments
            )

    def finish(self, stream: Any) -> Iterator[ModelEvent]:  # noqa: ANN401
        """Yield the events that are known only at the end: calls, usage, and the finish reason.

        Raises:
            UnfinishedReplyError: The provider gave no finish reason.
        """
        # Without a finish reason from the provider, litellm invents "stop"; without token counts, it
        # estimates them.
        if not _has_finish_reason(stream) and hasattr(stream, "received_finish_reason"):
            raise UnfinishedReplyError
        calls = self._calls.finish()
        yield from map(ToolCallReceived, calls)
        chunks = getattr(stream, "chunks", ())
        is_counted = any(getattr(chunk, "usage", None) is not None for chunk in chunks)
        if (usage := read_usage(self._usage, is_counted=is_counted)) is not None:
            yield UsageReported(usage)
        yield ReplyFinished("stop" if calls else _FINISH_REASONS.get(self._finish_reason, "stop"))


def _has_finish_reason(stream: Any) -> bool:  # noqa: ANN401
    """Return whether the provider has said that the reply is whole, or why it is not."""
    names = ("received_finish_reason", "intermittent_finish_reason")
    return any(getattr(stream, name, None) for name in names)


def read_usage(reported: Any, *, is_counted: bool) -> Usage | None:  # noqa: ANN401
    """Return the usage that a server reports for a request, or None if it reports nothing possible.

    Unless `is_counted`, the numbers are litellm's estimates.
    """
    details = getattr(reported, "prompt_tokens_details", None)
    cost = getattr(reported, "cost", None)
    values = {
        "input_tokens": getattr(reported, "prompt_tokens", None) or 0,
        "output_tokens": getattr(reported, "completion_tokens", None) or 0,
        "cached_tokens": getattr(details, "cached_tokens", None) or 0,
        "cost_usd": cost if isinstance(cost, int | float) else None,
        "source": "provider" if is_counted else "estimate",
    }
    try:
        usage = msgspec.convert(values, Usage)
    except msgspec.ValidationError:
        return None
    is_possible = usage.cached_tokens <= usage.input_tokens
    return usage if is_possible and usage.input_tokens + usage.output_tokens else None


class CallAssembler:
    """Assembles the tool calls of one reply from their pieces.

    Pieces with the same index belong together. But a name with another id, or without one, starts a new call
    if the arguments so far are complete, because parallel calls of Ollama all have index 0. Else the call
    continues, because some servers give each piece another id.
    """

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._positions: dict[int, int] = {}
        """Positions in `_calls` of the last call with each index."""

    def add_piece(self, *, index: int, id: str | None, name: str | None, arguments: str | None) -> None:  # noqa: A002
        """Add a piece as the provider sent it."""
        position = self._positions.get(index)
        call = self._calls[position] if position is not None else ToolCall(id="", name="", arguments="")
        has_other_id = not id or id != call.id
        if name and has_other_id and _are_acceptable_arguments(call.arguments):
            position = None
            call = ToolCall(id="", name="", arguments="")
        if position is None:
            position = self._positions[index] = len(self._calls)
            self._calls.append(call)
        joined = (call.arguments + (arguments or ""))[:ARGUMENTS_LENGTH_MAX]
        rest = "" if name is None or name == call.name else name  # some servers repeat it in each piece
        self._calls[position] = ToolCall(id=call.id or id or "", name=call.name + rest, arguments=joined)

    def finish(self) -> tuple[ToolCall, ...]:
        """Return the calls in order of arrival. Ids may be missing or used before."""
        return tuple(
            ToolCall(id=call.id, name=call.name or "unnamed", arguments=call.arguments or "{}")
            for call in self._calls
            if call.name or call.arguments
        )


async def compute_vectors(litellm: Any, job: Job, resolved: ResolvedModel) -> EmbeddingBatch:  # noqa: ANN401
    """Return a vector for each text, in order, and what they cost.

    Raises:
        Exception: Any litellm exception, or a reply that does not fit the texts.
    """
    arguments = _build_common_arguments(resolved) | {
        "input": list(job.texts),
        "timeout": job.options.get_first_token_timeout(resolved.api_base),
    }
    if resolved.is_ollama:
        # litellm's name for embedding
        arguments["model"] = f"ollama/{resolved.model.removeprefix('ollama_chat/')}"
    elif resolved.provider != "voyage":  # Voyage refuses this argument, and some others require it
        arguments["encoding_format"] = "float"
    reply = await litellm.aembedding(**arguments)
    entries = sorted(reply.data, key=lambda entry: int(entry["index"]))
    vectors = [list(map(float, entry["embedding"])) for entry in entries]
    if len(vectors) != len(job.texts):
        raise ValueError(f"the server returned {len(vectors)} vectors for {len(job.texts)} texts")
    if len({len(vector) for vector in vectors}) > 1 or not all(vectors):
        raise ValueError("the server returned vectors of different lengths, or empty ones")
    if not all(map(math.isfinite, chain.from_iterable(vectors))):
        raise ValueError("the server returned vectors with values that are not numbers")
    usage = read_usage(getattr(reply, "usage", None), is_counted=True)
    usage = usage or Usage(input_tokens=sum(map(estimate_tokens, job.texts)), cost_usd=None)
    return EmbeddingBatch(vectors, add_cost(usage, resolved.prices))
