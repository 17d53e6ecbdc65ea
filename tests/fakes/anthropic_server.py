"""A fake of Anthropic's messages: streamed, with tool use, thinking and tokens read from the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import override

from tests.fakes.http_server import FakeReply, FakeServer, split_text


class FakeAnthropicServer(FakeServer):
    """Speaks `POST /v1/messages`; give its `url` as `--api-base`."""

    thinking = ""
    """Sent before the text, with a signature, where not empty."""

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        usage = {
            "input_tokens": reply.input_tokens - reply.cached_tokens,
            "output_tokens": 1,
            "cache_read_input_tokens": reply.cached_tokens,
            "cache_creation_input_tokens": 0,
        }
        message: dict[str, object] = {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield _event("message_start", message=message)
        index = 0
        if self.thinking:
            deltas = [{"type": "thinking_delta", "thinking": text} for text in split_text(self.thinking, 8)]
            deltas.append({"type": "signature_delta", "signature": "signed"})
            yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
            index += 1
        if reply.text:
            deltas = [{"type": "text_delta", "text": text} for text in split_text(reply.text, reply.chunk_size)]
            yield from _block(index, {"type": "text", "text": ""}, deltas)
            index += 1
        for number, (name, arguments) in enumerate(reply.calls):
            block = {"type": "tool_use", "id": f"toolu_{number}_fake", "name": name, "input": {}}
            parts = split_text(arguments, reply.chunk_size)
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            yield from _block(index, block, deltas)
            index += 1

    @override
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        reason = "tool_use" if reply.calls else reply.reason or "end_turn"
        yield _event(
            "message_delta",
            delta={"stop_reason": reason, "stop_sequence": None},
            usage={"output_tokens": reply.output_tokens},
        )
        yield _event("message_stop")


def _block(index: int, block: Mapping[str, object], deltas: list[dict[str, str]]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=block)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()
