"""`ThrottledClient`: few requests at once per site, with the pause that robots.txt asks for, and retries."""

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

_BUSY_STATUSES = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_FIRST_WAIT_SECONDS = 1.0
"""Wait before the first retry if the site names no time. It doubles with each further retry."""
ROBOTS_BYTES_MAX = 500 * 1_024
"""Maximum size of a robots.txt. RFC 9309 demands that at least 500 KiB are read."""
ROBOTS_ACCEPT = "text/plain, */*;q=0.1"
ROBOTS_FRESH_SECONDS = 86_400.0
"""RFC 9309 allows caching for a day."""
_ROBOTS_AGENT = "roamtui"


class ThrottledClient:
    """Sends requests within the limits of each site. Thread-safe."""

    def __init__(self, client: HttpClient, options: FetchOptions, deadline: Deadline, cache: PageCache | None) -> None:
        self._client = client
        self._options = options
        self._deadline = deadline
        self._cache = cache
        self._sites: dict[str, SiteThrottle] = {}
        self._lock = threading.Lock()

    def send(self, request: HttpRequest) -> HttpResponse:
        """Wait for a slot, send a request and return the response. A busy site is asked again."""
        with self._lock:
            site = self._sites.setdefault(origin_of(request.url), SiteThrottle(self._options.connections_per_host))
        if site.requests:  # a single page does not need the robots.txt
            self._apply_robots(site, request)
        waits = 0
        while True:
            with self._hold_slot(site, request.url, is_first=not waits):
                site.requests += 1
                response = self._client.send(request)
            if response.status not in _BUSY_STATUSES or waits >= self._options.retries_max:
                return response
            seconds = parse_retry_after(response.headers.get("retry-after", ""))
            if seconds is None:
                seconds = _FIRST_WAIT_SECONDS * 2**waits
            if seconds > min(self._options.retry_seconds_max, self._deadline.remaining()):
                return response
            site.pause(seconds)
            waits += 1

    @contextmanager
    def _hold_slot(self, site: SiteThrottle, url: str, *, is_first: bool) -> Iterator[None]:
        """Hold a slot. The wait for the first slot does not count toward the time limit of the fetch."""
        seconds_max = self._options.total_seconds_max if is_first else self._deadline.remaining()
        try:
            waited = site.acquire(seconds_max)
        except TimeoutError:
            raise FetchError(f"{url} was not fetched: too many other requests to that site. Try again.") from None
        if is_first:
            self._deadline.extend(waited)
        try:
            yield
        finally:
            site.release()

    def _apply_robots(self, site: SiteThrottle, request: HttpRequest) -> None:
        """Read the robots.txt of a site, and slow down if it asks for that. Other threads wait, for a limited time."""
        seconds = self._options.robots_seconds_max
        if site.is_robots_read or not site.robots_lock.acquire(timeout=seconds):
            return
        try:
            if not site.is_robots_read:
                with self._deadline.within(seconds):
                    delay = Protego.parse(self._read_robots(site, request)).crawl_delay(_ROBOTS_AGENT)
                if delay is not None and delay > 0:
                    site.slow_down(min(delay, self._options.crawl_delay_seconds_max))
                site.is_robots_read = True
        finally:
            site.robots_lock.release()

    def _read_robots(self, site: SiteThrottle, request: HttpRequest) -> str:
        """Return the site's robots.txt, or an empty string if it cannot be read."""
        url = f"{origin_of(request.url)}/robots.txt"
        cached = None if self._cache is None else self._cache.load(url, ROBOTS_ACCEPT)
        now = time.time()
        if cached is None or not cached.is_fresh(now):
            headers = {"Accept": ROBOTS_ACCEPT}
            robots = replace(request, url=url, headers=headers, bytes_max=ROBOTS_BYTES_MAX, report=None)
            try:
                with self._hold_slot(site, url, is_first=False):
                    response = self._client.send(robots)
            except FetchError:
                return ""
            cached = to_cached_response(url, ROBOTS_ACCEPT, response, fresh_seconds_max=0.0)
            if self._cache is not None and response.is_cacheable:
                self._cache.save(replace(cached, fresh_until=now + ROBOTS_FRESH_SECONDS))
        return cached.body.decode("utf-8", "replace")


class SiteThrottle:
    """Hands out request slots for one origin. Thread-safe."""

    def __init__(self, concurrent_max: int) -> None:
        self.robots_lock = threading.Lock()
        self.is_robots_read = False
        self.requests = 0
        self._concurrent_max = concurrent_max
        self._condition = threading.Condition()
        self._active = 0
        self._next_at = -float("inf")
        self._delay_seconds = 0.0

    def acquire(self, seconds_max: float) -> float:
        """Wait for a slot, which `release` gives back.

        Returns:
            The seconds waited.

        Raises:
            TimeoutError: No slot became free in time.
        """
        with self._condition:
            began_at = time.monotonic()
            while True:
                now = time.monotonic()
                pause = self._next_at - now
                if self._active < self._concurrent_max and pause <= 0:
                    self._active += 1
                    self._next_at = max(self._next_at, now + self._delay_seconds)
                    return now - began_at
                left = began_at + seconds_max - now
                if left <= 0:
                    raise TimeoutError
                self._condition.wait(min(left, pause) if pause > 0 else left)

    def release(self) -> None:
        """Give a slot back."""
        with self._condition:
            self._active -= 1
            self._condition.notify_all()

    def slow_down(self, delay_seconds: float) -> None:
        """From now on, allow one request at a time, at least `delay_seconds` after the start of the one before."""
        with self._condition:
            self._concurrent_max = 1
            self._delay_seconds = delay_seconds
            self._next_at = max(self._next_at, time.monotonic() + delay_seconds)

    def pause(self, seconds: float) -> None:
        """Start no request for some seconds."""
        with self._condition:
            self._next_at = max(self._next_at, time.monotonic() + seconds)
