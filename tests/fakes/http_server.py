"""A scriptable HTTP server on loopback, in a thread of its own; the dialects of providers build on it."""

from __future__ import annotations

import json
import select
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import ThreadingHTTPServer
from typing import Any, cast

from typing_extensions import override

from tests.fakes.loopback import LoopbackServer, QuietHandler


class Ending(StrEnum):
    """How a streamed reply ends."""

    WHOLE = "whole"
    UNFINISHED = "unfinished"
    """The connection ends in order, but the reply was not finished."""
    CUT = "cut"
    """The connection breaks in the middle of the reply."""
    HANG = "hang"
    """Nothing more comes, until the client closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeReply:
    """What the server answers to one request."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and JSON arguments of each call."""
    chunk_size: int = 4
    """Characters in each piece of text and of arguments."""
    ending: Ending = Ending.WHOLE
    reason: str | None = None
    """Why a whole reply without calls ends, in the dialect's word; None for its plain end."""
    pieces_max: int | None = None
    """An ending other than `WHOLE` comes after so many pieces; None for all of them."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: object = None
    """JSON body of a reply whose status is not 200."""
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0
    counts_tokens: bool = True
    """Whether the reply ends with its number of tokens, where the dialect leaves that open."""
    gate: threading.Event | None = None
    """Awaited after `gate_after` pieces."""
    gate_after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """What a client asked."""

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
        self.client_closed = threading.Event()
        """Set when a client closed its connection before the end of a reply."""
        server = self

        class Handler(_Handler):
            fake = server

        super().__init__(Handler, _QuietServer)

    @property
    def url(self) -> str:
        """Return what a client takes as its base."""
        return f"{self.origin}{self.path_prefix}"

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """Return the bodies of all requests so far."""
        return [request.body for request in self.requests]

    def reset(self, *replies: FakeReply) -> None:
        """Forget all requests and take these replies."""
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
        """Yield what is sent of a whole reply, but for its end."""

    @abstractmethod
    def final_pieces(self, reply: FakeReply, body: Mapping[str, Any]) -> Iterator[bytes]:
        """Yield what ends a whole reply."""


class _QuietServer(ThreadingHTTPServer):
    block_on_close = False

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """A client may go away at any moment."""


class _ClientClosedError(Exception):
    """The client went away."""


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeServer

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = cast("Mapping[str, Any]", json.loads(self.rfile.read(length) or b"{}"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.fake.take_reply(RecordedRequest(path=self.path, headers=headers, body=body))
        if reply.status != 200:
            self._send_error(reply)
            return
        try:
            self._stream(reply, body)
        except (_ClientClosedError, ConnectionError):
            self.fake.client_closed.set()
            self.close_connection = True

    def _send_error(self, reply: FakeReply) -> None:
        data = json.dumps(reply.error).encode()
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: FakeReply, body: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", self.fake.content_type)
        self.send_header("transfer-encoding", "chunked")
        for name, value in reply.headers.items():
            self.send_header(name, value)
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
