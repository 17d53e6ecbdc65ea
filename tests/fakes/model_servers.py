"""Fakes of providers on loopback: a scriptable server in the dialects of OpenAI, Anthropic and Ollama; embeddings."""

import json
import select
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http.server import ThreadingHTTPServer
from itertools import zip_longest
from typing import Any

from typing_extensions import override

from tests.fakes.hashed_embedder import hash_runs
from tests.fakes.loopback import LoopbackServer, QuietHandler


class Ending(StrEnum):
    """How a streamed reply ends."""

    WHOLE = "whole"
    UNFINISHED = "unfinished"
    """The connection closes properly, but the reply is unfinished."""
    CUT = "cut"
    """The connection breaks in the middle of the reply."""
    HANG = "hang"
    """The server stays silent until the client closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeReply:
    """The server's reply to one request."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and JSON arguments of each call."""
    chunk_size: int = 4
    """Characters in each piece of text and of arguments."""
    ending: Ending = Ending.WHOLE
    reason: str | None = None
    """Finish reason of a whole reply without calls, in the dialect's word; None for the usual one."""
    pieces_max: int | None = None
    """Number of pieces before an ending other than `WHOLE`; None for all of them."""
    status: int = 200
    error: object = None
    """JSON body of a reply whose status is not 200."""
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0
    gate: threading.Event | None = None
    """Awaited after `gate_after` pieces."""
    gate_after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A client's request."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]


class FakeServer(LoopbackServer, ABC):
    """Answers each request with the next of its replies; use as a context manager."""

    content_type = "text/event-stream"
    path_prefix = ""

    def __init__(self, *replies: FakeReply) -> None:
        self._replies = list(replies)
        self._lock = threading.Lock()
        self.requests: list[RecordedRequest] = []
        """Every request so far, oldest first."""
        self.request_came = threading.Event()
        """Set when a request was recorded."""
        self.facts: dict[str, object] = {}
        """JSON by the path at which a client asks about models; other paths are not found."""
        self.client_closed = threading.Event()
        """Set when a client closed its connection before the end of a reply."""
        super().__init__(_Handler, _QuietServer)

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path_prefix}"

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """Return the bodies of all requests so far."""
        return [request.body for request in self.requests]

    def reset(self, *replies: FakeReply) -> None:
        """Forget all requests, and script these replies."""
        with self._lock:
            self._replies = list(replies)
            self.requests.clear()
            self.request_came.clear()
            self.client_closed.clear()

    def take_reply(self, request: RecordedRequest) -> FakeReply:
        """Record a request and return the reply to it."""
        with self._lock:
            self.requests.append(request)
            self.request_came.set()
            if not self._replies:
                return FakeReply(status=400, error={"error": {"message": "the fake server has no more replies"}})
            return self._replies.pop(0)

    @abstractmethod
    def pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        """Yield the pieces of a whole reply, except its end."""

    @abstractmethod
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        """Yield the end of a whole reply."""


class _QuietServer(ThreadingHTTPServer):
    block_on_close = False

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: a client may disconnect at any moment."""


class _ClientClosedError(Exception):
    """The client disconnected."""


class _Handler(QuietHandler):
    fake: FakeServer

    def do_GET(self) -> None:
        fact = self.fake.facts.get(self.path)
        self.reply(404 if fact is None else 200, json.dumps(fact).encode(), content_type="application/json")

    def do_POST(self) -> None:
        if self.path == "/api/show":
            self.read_body()
            self.do_GET()
            return
        body = json.loads(self.read_body() or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.fake.take_reply(RecordedRequest(path=self.path, headers=headers, body=body))
        if reply.status != 200:
            self.reply(reply.status, json.dumps(reply.error).encode(), content_type="application/json")
            return
        try:
            self._stream(reply, body)
        except (_ClientClosedError, ConnectionError):
            self.fake.client_closed.set()
            self.close_connection = True

    def _stream(self, reply: FakeReply, body: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", self.fake.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for index, piece in enumerate(self.fake.pieces(reply, body)):
            if reply.gate is not None and index == reply.gate_after:
                self._wait_for(reply.gate)
            if reply.ending is not Ending.WHOLE and index == reply.pieces_max:
                break
            self._send_piece(piece)
        self._end(reply, body)

    def _end(self, reply: FakeReply, body: Mapping[str, Any]) -> None:
        if reply.ending is Ending.HANG:
            self._wait_for(threading.Event())
        if reply.ending is Ending.CUT:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if reply.ending is Ending.WHOLE:
            for piece in self.fake.final_pieces(reply, body):
                self._send_piece(piece)
        self.wfile.write(b"0\r\n\r\n")

    def _send_piece(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.flush()

    def _wait_for(self, gate: threading.Event) -> None:
        while not gate.wait(0.01):
            readable, _, _ = select.select([self.connection], [], [], 0)
            if self.fake.closing.is_set() or (readable and not self.connection.recv(1, socket.MSG_PEEK)):
                raise _ClientClosedError


def split_text(text: str, size: int) -> list[str]:
    """Return `text` in pieces of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


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
        if (body.get("stream_options") or {}).get("include_usage"):
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


class FakeAnthropicServer(FakeServer):
    """Speaks `POST /v1/messages`; give its `url` as `--api-base`."""

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


class FakeEmbeddingServer(LoopbackServer):
    """Speaks `POST /v1/embeddings` and `POST /api/embed`, and first refuses requests with some statuses."""

    def __init__(self, *failures: int) -> None:
        self.failures = list(failures)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        """Path and body of every request so far."""
        super().__init__(_EmbeddingHandler)

    @property
    def openai_url(self) -> str:
        """Return the base URL for an OpenAI client; an Ollama client takes `origin`."""
        return f"{self.origin}/v1"

    @property
    def texts(self) -> list[str]:
        return [text for _, body in self.requests for text in _list_inputs(body)]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, object]:
        """Return status and body of the reply to a request."""
        if self.failures:
            return self.failures.pop(0), {"error": {"message": "not now", "type": "server_error"}}
        self.requests.append((path, body))
        vectors = [hash_runs(text) for text in _list_inputs(body)]
        if path == "/api/embed":
            return 200, {"model": body["model"], "embeddings": vectors, "prompt_eval_count": 1}
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "model": body["model"], "data": data[::-1], "usage": usage}


class _EmbeddingHandler(QuietHandler):
    fake: FakeEmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.read_body())
        known = self.path in ("/v1/embeddings", "/api/embed")  # litellm also asks Ollama about the model
        status, reply = self.fake.answer(self.path, body) if known else (404, {})
        self.reply(status, json.dumps(reply).encode(), content_type="application/json")


def _list_inputs(body: dict[str, Any]) -> list[str]:
    given = body["input"]
    return [given] if isinstance(given, str) else list(given)
