"""Sites that send too much, too slowly, too little, something else than they declare, or no HTTP at all."""

import gzip
import itertools
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import closing

import pytest

from roamtui.web.fetcher import Fetcher
from roamtui.web.http_client import read_body
from roamtui.web.page import FetchError
from tests.case_files import read_rows
from tests.fakes.hostile_server import (
    Client,
    FakeInternet,
    Handler,
    HostileServer,
    SeenRequest,
    answer,
    raw,
    redirect,
    stream,
)
from tests.web.fetching import allow, approve, make_options, open_fetcher

_LIMIT = 200_000
_OK = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n"


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


_BOMB = gzip.compress(bytes(50_000_000))
_ENDLESS_NOTHING = itertools.chain(
    [_chunk(gzip.compress(b"")[:10])], itertools.repeat(_chunk(b"\x00\x00\x00\xff\xff" * 5000))
)


def test_a_bomb_takes_no_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FetchError, match="is larger than"):
            read_body([_BOMB], {"content-encoding": "gzip"}, _LIMIT, "https://docs.example/")
        assert tracemalloc.get_traced_memory()[1] < 10 * _LIMIT
    finally:
        tracemalloc.stop()


_BROKEN: dict[str, tuple[Handler, str]] = {
    "says 10 GB": (raw(_OK + b"Content-Length: 10000000000\r\n\r\n", b"x" * 1000), "is larger than"),
    "never ends in chunks": (stream(_CHUNKED + b"\r\n", itertools.repeat(_chunk(b"x" * 65536))), "is larger than"),
    "a gzip bomb": (answer(_BOMB, headers=[("Content-Encoding", "gzip")]), "is larger than"),
    "compressed endlessly into nothing": (
        stream(_CHUNKED + b"Content-Encoding: gzip\r\n\r\n", _ENDLESS_NOTHING),
        "is larger than",
    ),
    "shorter than it says": (raw(_OK + b"Content-Length: 100\r\n\r\nshort"), "did not arrive whole"),
    "chunks without an end": (raw(_CHUNKED + b"\r\n5\r\nwords\r\n"), "did not arrive whole"),
    "gzip without an end": (
        answer(gzip.compress(b"words" * 100)[:-9], headers=[("Content-Encoding", "gzip")]),
        "did not arrive whole",
    ),
    "an encoding that was not asked for": (
        answer(headers=[("Content-Encoding", "br")]),
        "compression that roamtui cannot read",
    ),
    "gzip in name only": (answer(b"words", headers=[("Content-Encoding", "gzip")]), "sent damaged data"),
    "no HTTP": (raw(b"220 mail.example ESMTP\r\n\r\n"), "valid HTTP"),
    "control characters": (raw(b"HTTP/1.1 200 OK\r\nA: \x00\x1b]52;c;\x07\r\n\r\n"), "valid HTTP"),
    "a giant header": (raw(_OK + b"A: " + b"x" * 300_000 + b"\r\n\r\n"), "valid HTTP"),
}


@pytest.mark.parametrize("name", _BROKEN)
def test_a_broken_response_and_one_over_the_limit_are_errors(name: str) -> None:
    handler, words = _BROKEN[name]
    with HostileServer() as server, open_fetcher(body_bytes_max=_LIMIT) as fetcher:
        server.handlers["/"] = handler
        with pytest.raises(FetchError, match=words) as caught:
            fetcher.fetch(server.origin, allow(server))
    assert str(caught.value).isprintable()
    assert caught.value.status is None


def test_the_body_of_an_error_page_is_not_read() -> None:
    with HostileServer() as server, open_fetcher(body_bytes_max=_LIMIT) as fetcher:
        server.handlers["/"] = raw(b"HTTP/1.1 404 Not Found\r\nContent-Length: 10000000000\r\n\r\n", b"x" * 1000)
        with pytest.raises(FetchError, match="There is no page") as caught:
            fetcher.fetch(server.origin, allow(server))
    assert caught.value.status == 404


def _drip(data: bytes) -> Handler:
    def handle(client: Client, _request: SeenRequest) -> bool:
        client.drip(data, 0.02)
        return False

    return handle


_SLOW: dict[str, Handler] = {
    "headers": _drip(_OK + b"A: " + b"b" * 10_000),
    "a body": _drip(_OK + b"Content-Length: 10000\r\n\r\n" + b"x" * 10_000),
    "informational answers": _drip(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 500),
    "redirects": redirect("/"),
}


@pytest.mark.parametrize("name", _SLOW)
def test_a_slow_fetch_ends_at_its_deadline(name: str) -> None:
    with HostileServer() as server, open_fetcher(total_seconds_max=0.3, redirects_max=10**9) as fetcher:
        server.handlers["/"] = _SLOW[name]
        with pytest.raises(FetchError, match="too long to answer"):
            fetcher.fetch(server.origin, allow(server))


@pytest.mark.parametrize(
    "before", [Client.hang, lambda client: client.drip(b"\x16\x03\x03\x40\x00" + bytes(900), 0.01)]
)
def test_a_tls_handshake_times_out(before: Callable[[Client], None]) -> None:
    internet = FakeInternet()
    with HostileServer("site.pem", before=before) as server:
        internet.add("docs.example", server, port=443)
        with open_fetcher(internet=internet, total_seconds_max=0.3) as fetcher, pytest.raises(FetchError):
            fetcher.fetch("https://docs.example", approve("https://docs.example"))


def test_a_resolver_that_never_answers_times_out() -> None:
    gate = threading.Event()

    def resolve(_host: str, _port: int) -> list[str]:
        gate.wait()
        return []

    fetcher = Fetcher(cache_dir=None, options=make_options(connect_timeout_seconds=0.1), resolve=resolve)
    with closing(fetcher), pytest.raises(FetchError, match="Looking up docs"):
        fetcher.fetch("https://docs.example", approve("https://docs.example"))
    gate.set()


@pytest.mark.parametrize(("certificate", "host", "words"), read_rows("web/hostile_sites", "certificates"))
def test_a_site_with_an_invalid_certificate_is_refused(certificate: str, host: str, words: str) -> None:
    internet = FakeInternet()
    with HostileServer(certificate) as server, open_fetcher(internet=internet) as fetcher:
        internet.add(host, server, port=443)
        with pytest.raises(FetchError, match=words) as caught:
            fetcher.fetch(f"https://{host}/", allow(f"https://{host}"))
        assert server.requests == []
    assert str(caught.value).isprintable()
