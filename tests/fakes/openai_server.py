"""A fake of OpenAI's chat completions: streamed, with parallel tool calls split over many deltas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from typing_extensions import override

from tests.fakes.http_server import FakeReply, FakeServer, split_text


class FakeOpenAIServer(FakeServer):
    """Speaks `POST /v1/chat/completions`; give its `url` as `--api-base`."""

    path_prefix = "/v1"

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        yield _frame(body, {"role": "assistant", "content": ""})
        for text in split_text(reply.text, reply.chunk_size):
            yield _frame(body, {"content": text})
        for index, (name, _) in enumerate(reply.calls):
            function = {"name": name, "arguments": ""}
            call = {"index": index, "id": f"call_{index}_fake", "type": "function", "function": function}
            yield _frame(body, {"tool_calls": [call]})
        split = [split_text(arguments, reply.chunk_size) for _, arguments in reply.calls]
        for row in zip_longest(*split):
            for index, text in enumerate(row):
                if text is not None:
                    yield _frame(body, {"tool_calls": [{"index": index, "function": {"arguments": text}}]})

    @override
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        yield _frame(body, {}, finish="tool_calls" if reply.calls else reply.reason or "stop")
        if reply.counts_tokens and (body.get("stream_options") or {}).get("include_usage"):
            usage = {
                "prompt_tokens": reply.input_tokens,
                "completion_tokens": reply.output_tokens,
                "total_tokens": reply.input_tokens + reply.output_tokens,
                "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
            }
            yield _encode(_envelope(body) | {"choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"


def openai_error(message: str, *, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, object]:
    """Return an error body as OpenAI sends it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _frame(body: Mapping[str, Any], delta: Mapping[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _encode(_envelope(body) | {"choices": [choice]})


def _envelope(body: Mapping[str, Any]) -> dict[str, object]:
    return {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}


def _encode(chunk: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"
