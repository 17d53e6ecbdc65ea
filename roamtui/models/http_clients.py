"""Makes the HTTP clients of this process refuse redirects, and read a reply only up to a limit.

A redirected request would take the key and the text of documents to a server that the person did not choose.
An endless reply, or one that unpacks to gigabytes, would fill the memory.

litellm has no settings for this, and opens connections through several libraries. In each of them, one public
method or hook is reached before a redirect is followed. Bodies of replies are read through httpx only.
"""

import importlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from contextvars import ContextVar
from typing import Any
from urllib.parse import urljoin

_REPLY_BYTES_MAX = 32_000_000
"""After decompression. A reply of 64,000 tokens, each in an event of its own, has 20 MB."""
_PIECE_BYTES_MAX = 1_000_000
"""Maximum bytes between two pieces of a streamed text. The clients' time grows with the square of these."""


class ReplyTooLargeError(Exception):
    """A server sent more than the limit for a reply, or for a piece of one."""


class ReceivedReply:
    """What a job has received from its server. Raises `ReplyTooLargeError` if that is too much."""

    def __init__(self, *, is_stream: bool) -> None:
        self._is_stream = is_stream
        self._size = 0
        self._piece_start = 0

    def add(self, data: bytes) -> None:
        """Count what has arrived."""
        self._size += len(data)
        is_piece_large = self._is_stream and self._size - self._piece_start > _PIECE_BYTES_MAX
        if is_piece_large or self._size > _REPLY_BYTES_MAX:
            raise ReplyTooLargeError

    def end_piece(self) -> None:
        """Start to count the next piece: what has arrived had text, thoughts or a call."""
        self._piece_start = self._size


current_reply: ContextVar[ReceivedReply | None] = ContextVar("current_reply", default=None)
"""Counts what the current task receives."""


class RedirectRefusedError(Exception):
    """A server redirected a request, which was not followed."""

    def __init__(self, url: str, location: str) -> None:
        self.target = urljoin(url, location)
        """URL to which the server redirected it."""
        super().__init__(self.target)


def restrict_clients() -> None:
    """Make httpx, requests and aiohttp raise `RedirectRefusedError`, and httpx `ReplyTooLargeError`."""
    clients: list[Any] = [importlib.import_module("httpx")]
    with suppress(ModuleNotFoundError):  # openai and litellm use it, if it is installed
        clients.append(importlib.import_module("httpx2"))
    for client in clients:
        _refuse_in_httpx(client)
        _limit_replies(client)
    _refuse_in_requests(importlib.import_module("requests"))
    _refuse_in_aiohttp(importlib.import_module("aiohttp"))


def _limit_replies(httpx: Any) -> None:  # noqa: ANN401
    read = httpx.Response.iter_bytes
    read_async = httpx.Response.aiter_bytes

    def iter_bytes(response: Any, chunk_size: int | None = None) -> Iterator[bytes]:  # noqa: ANN401
        for data in read(response, chunk_size):
            _count_received(data)
            yield data

    async def aiter_bytes(response: Any, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:  # noqa: ANN401
        async with aclosing(read_async(response, chunk_size)) as body:
            async for data in body:
                _count_received(data)
                yield data

    httpx.Response.iter_bytes = iter_bytes
    httpx.Response.aiter_bytes = aiter_bytes


def _count_received(data: bytes) -> None:
    if (reply := current_reply.get()) is not None:
        reply.add(data)


def _refuse_in_httpx(httpx: Any) -> None:  # noqa: ANN401
    has_location = httpx.Response.has_redirect_location.fget

    def has_redirect_location(response: Any) -> bool:  # noqa: ANN401
        if has_location(response):
            raise RedirectRefusedError(str(response.request.url), response.headers["location"])
        return False

    httpx.Response.has_redirect_location = property(has_redirect_location)


def _refuse_in_requests(requests: Any) -> None:  # noqa: ANN401
    get_target = requests.Session.get_redirect_target

    def get_redirect_target(session: Any, response: Any) -> None:  # noqa: ANN401
        location = get_target(session, response)
        if location is not None:
            raise RedirectRefusedError(response.url, location)

    requests.Session.get_redirect_target = get_redirect_target


def _refuse_in_aiohttp(aiohttp: Any) -> None:  # noqa: ANN401
    initialise = aiohttp.ClientSession.__init__

    async def refuse(_session: Any, _context: Any, redirect: Any) -> None:  # noqa: ANN401
        response = redirect.response
        location = response.headers.get("Location") or response.headers.get("URI") or ""
        raise RedirectRefusedError(str(redirect.url), location)

    def initialise_refusing(session: Any, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        tracing = aiohttp.TraceConfig()
        tracing.on_request_redirect.append(refuse)
        options["trace_configs"] = [*(options.get("trace_configs") or ()), tracing]
        initialise(session, *arguments, **options)

    aiohttp.ClientSession.__init__ = initialise_refusing
