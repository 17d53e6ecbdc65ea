"""A job as the arguments of litellm's `acompletion`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from roamtui.conversation.transcript import Message, Role, ToolCall
from roamtui.models.litellm_options import OLLAMA_WINDOW_TOKENS

if TYPE_CHECKING:
    from roamtui.models.base import ToolSpec
    from roamtui.models.worker.jobs import Job
    from roamtui.models.worker.targets import Target

_OUTPUT_TOKENS_MAX = 8_192
"""Anthropic wants a number: long enough for any answer with quotes, short enough for small rate limits."""
_OUTPUT_TOKENS_UNKNOWN = 4_096
"""What every Anthropic model can write."""
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
    return arguments


def _find_output_tokens(job: Job, target: Target) -> int | None:
    if job.options.output_tokens_max or target.provider != "anthropic":
        return job.options.output_tokens_max
    return min(_OUTPUT_TOKENS_MAX, target.output_tokens or _OUTPUT_TOKENS_UNKNOWN)


def _build_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _build_messages(messages: tuple[Message, ...], provider: str) -> list[dict[str, Any]]:
    built = [_build_message(message, provider) for message in messages]
    if provider == "anthropic" and built:
        # A mark on the system text covers the tools too; one on the end lets the next request read all of this.
        for message in {id(m): m for m in (built[0], built[-1])}.values():
            _mark_cacheable(message)
    return built


def _build_message(message: Message, provider: str) -> dict[str, Any]:
    built: dict[str, Any] = {"role": message.role.value, "content": message.text}
    if message.role is Role.TOOL:
        built["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        built["content"] = message.text or None
        built["tool_calls"] = [_build_call(call) for call in message.tool_calls]
    if message.thinking and provider == "anthropic":
        built["thinking_blocks"] = json.loads(message.thinking)
    return built


def _build_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _repair_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _repair_arguments(arguments: str) -> str:
    """Return a JSON object in any case: most providers refuse a history that holds broken arguments."""
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except ValueError:
        is_object = False
    return arguments if is_object else json.dumps({"invalid_arguments": arguments})


def _mark_cacheable(message: dict[str, Any]) -> None:
    if message["role"] == Role.TOOL:
        message["cache_control"] = _CACHE
    elif message["content"]:
        message["content"] = [{"type": "text", "text": message["content"], "cache_control": _CACHE}]
