"""A fake of Ollama's chat: lines of JSON, each tool call whole and in a line of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import override

from tests.fakes.http_server import FakeReply, FakeServer, split_text


class FakeOllamaServer(FakeServer):
    """Speaks `POST /api/chat`; give its `url` as `--api-base`."""

    content_type = "application/x-ndjson"

    @override
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        for text in split_text(reply.text, reply.chunk_size):
            yield _line(body, {"content": text})
        for name, arguments in reply.calls:
            function = {"name": name, "arguments": json.loads(arguments)}
            yield _line(body, {"content": "", "tool_calls": [{"function": function}]})

    @override
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        counts = {"prompt_eval_count": reply.input_tokens, "eval_count": reply.output_tokens}
        yield _line(body, {"content": ""}, done=True, done_reason=reply.reason or "stop", **counts)


def _line(body: Mapping[str, Any], message: Mapping[str, object], **fields: object) -> bytes:
    line = {
        "model": body.get("model"),
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", **message},
        "done": False,
    }
    return json.dumps(line | fields).encode() + b"\n"
