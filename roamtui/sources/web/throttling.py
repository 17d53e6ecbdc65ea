"""Requests at a pace that sites can bear: few at once, with the pause that robots.txt asks for, and patient retries."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus

from protego import Protego

from roamtui.sources.web.backend import Deadline
from roamtui.sources.web.cache import HttpResponse, PageCache, parse_retry_after, to_cached_response
from roamtui.sources.web.http_client import HttpClient, HttpRequest
from roamtui.sources.web.page import FetchError, FetchOptions
from roamtui.sources.web.urls import origin_of

_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_FIRST_WAIT_SECONDS = 1.0
"""Before the first retry where the site names no time; twice as long before the next."""
ROBOTS_BYTES_MAX = 500_000
"""As much of the file as RFC 9309 wants to be read."""
ROBOTS_ACCEPT = "text/plain, */*;q=0.1"
ROBOTS_FRESH_SECONDS = 86_400.0
"""The file may be used for a day without asking again (RFC 9309)."""
_AGENT = "roamtui"


class ThrottledClient:
    """Asks sites in turn. Thread-safe."""

    def __init__(
        self, exchange: HttpClient, options: FetchOptions, time_limit: Deadline, cache: PageCache | None
    ) -> None:
        self._exchange = exchange
        self._options = options
        self._time_limit = time_limit
        self._cache = cache
        self._sites: dict[str, SiteThrottle] = {}
        self._lock = threading.Lock()

    def send(self, request: HttpRequest) -> HttpResponse:
        """Wait for a turn, send a request and return the answer; a site that is busy is asked again."""
        with self._lock:
            site = self._sites.setdefault(origin_of(request.url), SiteThrottle(self._options.connections_per_host))
        if site.requests:
            self._apply_robots(site, request)
        waits = 0
        while True:
            with self._hold_slot(site, request.url, is_first=not waits):
                site.requests += 1
                reply = self._exchange.send(request)
            if reply.status not in _BUSY or waits >= self._options.retries_max:
                return reply
            seconds = parse_retry_after(reply.headers.get("retry-after", ""))
            if seconds is None:
                seconds = _FIRST_WAIT_SECONDS * 2**waits
            if seconds > min(self._options.retry_seconds_max, self._time_limit.remaining()):
                return reply
            site.pause(seconds)
            waits += 1

    @contextmanager
    def _hold_slot(self, site: SiteThrottle, url: str, *, is_first: bool) -> Iterator[None]:
        """Hold a turn. The wait for the first one is no fault of the site: it does not count as the fetch's time."""
        seconds_max = self._options.total_seconds_max if is_first else self._time_limit.remaining()
        try:
            waited = site.acquire(seconds_max)
        except ThrottledError:
            raise FetchError(f"{url} was not fetched: too many other pages of that site are. Try again.") from None
        if is_first:
            self._time_limit.extend(waited)
        try:
            yield
        finally:
            site.release()

    def _apply_robots(self, site: SiteThrottle, request: HttpRequest) -> None:
        """Read the site's robots.txt before its second page; others wait for that, but never for long."""
        seconds = self._options.robots_seconds_max
        if site.is_robots_read or not site.robots_lock.acquire(timeout=seconds):
            return
        try:
            if not site.is_robots_read:
                with self._time_limit.within(seconds):
                    delay = Protego.parse(self._read_robots(site, request)).crawl_delay(_AGENT)
                if delay is not None and delay > 0:
                    site.slow_down(min(delay, self._options.crawl_delay_seconds_max))
                site.is_robots_read = True
        finally:
            site.robots_lock.release()

    def _read_robots(self, site: SiteThrottle, request: HttpRequest) -> str:
        """Return the site's robots.txt, empty where there is none that can be read."""
        url = f"{origin_of(request.url)}/robots.txt"
        known = None if self._cache is None else self._cache.load(url, ROBOTS_ACCEPT)
        now = time.time()
        if known is None or not known.is_fresh(now):
            headers = {"Accept": ROBOTS_ACCEPT}
            robots = replace(request, url=url, headers=headers, bytes_max=ROBOTS_BYTES_MAX, report=None)
            try:
                with self._hold_slot(site, url, is_first=False):
                    reply = self._exchange.send(robots)
            except FetchError:
                return ""
            known = to_cached_response(url, ROBOTS_ACCEPT, reply, fresh_seconds_max=0.0)
            if self._cache is not None and reply.is_cacheable:
                self._cache.save(replace(known, fresh_until=now + ROBOTS_FRESH_SECONDS))
        return known.body.decode("utf-8", "replace")


class ThrottledError(Exception):
    """The wait for a turn was too long."""


class SiteThrottle:
    """Hands out turns on one origin. Thread-safe."""

    def __init__(self, at_once_max: int) -> None:
        self.robots_lock = threading.Lock()
        self.is_robots_read = False
        self.requests = 0
        self._at_once_max = at_once_max
        self._condition = threading.Condition()
        self._active = 0
        self._next_at = -float("inf")
        self._delay_seconds = 0.0

    def acquire(self, seconds_max: float) -> float:
        """Wait for a turn; `release` ends it.

        Returns:
            The seconds waited.

        Raises:
            ThrottledError: There is none in time.
        """
        with self._condition:
            began_at = time.monotonic()
            while True:
                now = time.monotonic()
                pause = self._next_at - now
                if self._active < self._at_once_max and pause <= 0:
                    self._active += 1
                    self._next_at = max(self._next_at, now + self._delay_seconds)
                    return now - began_at
                left = began_at + seconds_max - now
                if left <= 0:
                    raise ThrottledError
                self._condition.wait(min(left, pause) if pause > 0 else left)

    def release(self) -> None:
        """End a turn."""
        with self._condition:
            self._active -= 1
            self._condition.notify_all()

    def slow_down(self, delay_seconds: float) -> None:
        """Give one turn at a time from now on, with a pause between the beginnings of two."""
        with self._condition:
            self._at_once_max = 1
            self._delay_seconds = delay_seconds
            self._next_at = max(self._next_at, time.monotonic() + delay_seconds)

    def pause(self, seconds: float) -> None:
        """Give no turn for some time."""
        with self._condition:
            self._next_at = max(self._next_at, time.monotonic() + seconds)
