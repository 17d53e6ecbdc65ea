"""A job as the arguments of litellm's `acompletion`.

Whatever a model has said goes back in a form that every provider takes: one message that cannot be sent would end the
conversation for good.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from roamtui.conversation.transcript import Message, Role, ToolCall
from roamtui.models.options import OLLAMA_WINDOW_TOKENS

if TYPE_CHECKING:
    from roamtui.models.base import ToolSpec
    from roamtui.models.worker.jobs import Job
    from roamtui.models.worker.targets import Target

_OUTPUT_TOKENS_MAX = 8_192
"""Anthropic wants a number: long enough for any answer with quotes, short enough for small rate limits."""
_OUTPUT_TOKENS_UNKNOWN = 4_096
"""What every Anthropic model can write."""
_BRACKETS_MAX = 200
"""In a call's arguments; ours have three, and parsers give up on some hundred within each other."""
_NAME_LENGTH_MAX = 64
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_CACHE = {"type": "ephemeral"}


def build_arguments(job: Job, target: Target) -> dict[str, Any]:
    """Return what litellm is called with, but for timeouts."""
    arguments: dict[str, Any] = {
        "model": target.model,
        "messages": _build_messages(job.request.messages, target.provider),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_retries": 0,
        "num_retries": 0,
    }
    if job.request.tools:
        arguments["tools"] = [_build_tool(tool) for tool in job.request.tools]
        if not job.request.allow_calls:
            arguments["tool_choice"] = "none"
    if target.api_base:
        arguments["api_base"] = target.api_base
    if target.missing_keys:
        arguments["api_key"] = "none"  # clients of providers refuse to start without any
    if target.is_ollama:
        arguments["num_ctx"] = job.options.window_tokens or OLLAMA_WINDOW_TOKENS
    if output_tokens := _find_output_tokens(job, target):
        arguments["max_tokens"] = output_tokens
    if job.options.temperature is not None:
        arguments["temperature"] = job.options.temperature
    return arguments


def _find_output_tokens(job: Job, target: Target) -> int | None:
    if job.options.output_tokens or target.provider != "anthropic":
        return job.options.output_tokens
    return min(_OUTPUT_TOKENS_MAX, target.output_tokens or _OUTPUT_TOKENS_UNKNOWN)


def _build_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _build_messages(messages: tuple[Message, ...], provider: str) -> list[dict[str, Any]]:
    built = [_build_message(message, provider) for message in messages]
    if provider == "anthropic" and built:
        # The mark on the system text covers the tools too.
        for index in {0, _find_end_before(messages), len(built) - 1}:
            _mark_cacheable(built[index])
    return built


def _find_end_before(messages: tuple[Message, ...]) -> int:
    """Return the index of the message with which the request before this one ended, 0 where there was none.

    Its mark is where that request was written to the cache. From the mark at the end Anthropic looks back 20 blocks for
    it, and a step with many calls has more.
    """
    replies = (index for index in reversed(range(len(messages))) if messages[index].role is Role.ASSISTANT)
    return max(0, next(replies, 0) - 1)


def _build_message(message: Message, provider: str) -> dict[str, Any]:
    text = _replace_surrogates(message.text)
    built: dict[str, Any] = {"role": message.role.value, "content": text}
    if message.role is Role.TOOL:
        built["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        built["content"] = text or None
        built["tool_calls"] = [_build_call(call) for call in message.tool_calls]
    if message.thinking and provider == "anthropic":
        built["thinking_blocks"] = json.loads(message.thinking)
    return built


def _build_call(call: ToolCall) -> dict[str, Any]:
    name = _NO_NAME.sub("_", call.name)[:_NAME_LENGTH_MAX]
    function = {"name": name or "unnamed", "arguments": _repair_arguments(_replace_surrogates(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def _replace_surrogates(text: str) -> str:
    """Return text that UTF-8 can hold: halves of characters are joined, or replaced where the other half is missing."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _repair_arguments(arguments: str) -> str:
    """Return a JSON object in any case: most providers refuse a history that holds broken arguments."""
    return arguments if _is_object(arguments) else json.dumps({"invalid_arguments": arguments})


def _is_object(arguments: str) -> bool:
    if arguments.count("{") + arguments.count("[") > _BRACKETS_MAX:
        return False
    try:
        value = json.loads(arguments)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _mark_cacheable(message: dict[str, Any]) -> None:
    if message["role"] == Role.TOOL:
        message["cache_control"] = _CACHE
    elif message["content"]:
        message["content"] = [{"type": "text", "text": message["content"], "cache_control": _CACHE}]
