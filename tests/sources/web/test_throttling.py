"""Requests to a site: few at once, with the pauses that it asks for, and retries while it is busy."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import pytest

from roamtui.sources.web import throttling
from roamtui.sources.web.fetcher import Fetcher
from roamtui.sources.web.page import FetchError
from tests.fakes.hostile_server import Client, HostileServer, SeenRequest, answer
from tests.sources.web.fetching import allow, open_fetcher


def _count_robots(server: HostileServer) -> int:
    return sum(request.path == "/robots.txt" for request in server.requests)


def _fetch_all(fetcher: Fetcher, server: HostileServer, count: int) -> list[bytes]:
    def fetch(number: int) -> bytes:
        return fetcher.fetch(f"{server.origin}/{number}", allow(server)).body

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(fetch, range(count)))


def _fill(server: HostileServer, count: int) -> None:
    server.handlers |= {f"/{number}": answer(str(number).encode()) for number in range(count)}


def test_connections_to_a_host_are_limited() -> None:
    gate, arrived = threading.Event(), itertools.count(1)

    def wait(client: Client, request: SeenRequest) -> bool:
        if next(arrived) == 4:  # the first page comes alone, before robots.txt; then three at once
            gate.set()
        if request.path != "/first":
            client.wait_for(gate)
        return answer(request.path.encode())(client, request)

    with HostileServer() as server, open_fetcher(connections_per_host=3) as fetcher:
        server.handlers |= {f"/{number}": wait for number in range(9)}
        server.handlers["/first"] = wait
        fetcher.fetch(f"{server.origin}/first", allow(server))
        assert _fetch_all(fetcher, server, 9) == [f"/{number}".encode() for number in range(9)]
        assert server.most_at_once == 3
        assert server.connections <= 3


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_site_is_asked_again_after_a_pause(status: int) -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        calls: list[int] = []

        def be_busy_twice(client: Client, request: SeenRequest) -> bool:
            calls.append(1)
            busy = answer(b"", status, [("Retry-After", "0")])
            return (answer(b"words") if len(calls) == 3 else busy)(client, request)

        server.handlers["/a"] = be_busy_twice
        assert fetcher.fetch(f"{server.origin}/a", allow(server)).body == b"words"
        assert len(calls) == 3


def test_pauses_double_if_a_busy_site_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "_FIRST_WAIT_SECONDS", 0.01)
    with HostileServer() as server, open_fetcher(retries_max=9, retry_seconds_max=0.03) as fetcher:
        server.handlers["/a"] = answer(b"", 429)
        with pytest.raises(FetchError, match="rate limiting or overloaded"):
            fetcher.fetch(f"{server.origin}/a", allow(server))
        assert len(server.paths) == 3, "after 0.01 and 0.02 seconds, 0.04 would be too long"


@pytest.mark.parametrize(("wait", "requests"), [("0", 3), ("3600", 1), (formatdate(4e9, usegmt=True), 1)])
def test_a_site_that_stays_busy_is_left_alone(wait: str, requests: int) -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers["/a"] = answer(b"", 429, [("Retry-After", wait)])
        with pytest.raises(FetchError, match="rate limiting or overloaded") as caught:
            fetcher.fetch(f"{server.origin}/a", allow(server))
        assert caught.value.status == 429
        assert len(server.paths) == requests
