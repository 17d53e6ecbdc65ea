"""`ThrottledClient`: few requests at once per site, and retries after the pause that a busy site asks for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from roamtui.sources.web.backend import Deadline
from roamtui.sources.web.cache import HttpResponse, parse_retry_after
from roamtui.sources.web.http_client import HttpClient, HttpRequest
from roamtui.sources.web.page import FetchError, FetchOptions
from roamtui.sources.web.urls import origin_of

_BUSY_STATUSES = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_FIRST_WAIT_SECONDS = 1.0
"""Wait before the first retry if the site names no time. It doubles with each further retry."""


class ThrottledClient:
    """Sends requests within the limits of each site. Thread-safe."""

    def __init__(self, client: HttpClient, options: FetchOptions, deadline: Deadline) -> None:
        self._client = client
        self._options = options
        self._deadline = deadline
        self._sites: dict[str, SiteThrottle] = {}
        self._lock = threading.Lock()

    def send(self, request: HttpRequest) -> HttpResponse:
        """Wait for a slot, send a request and return the response. A busy site is asked again."""
        with self._lock:
            site = self._sites.setdefault(origin_of(request.url), SiteThrottle(self._options.connections_per_host))
        waits = 0
        while True:
            with self._hold_slot(site, request.url, is_first=not waits):
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


class SiteThrottle:
    """Hands out request slots for one origin. Thread-safe."""

    def __init__(self, concurrent_max: int) -> None:
        self._concurrent_max = concurrent_max
        self._condition = threading.Condition()
        self._active = 0
        self._next_at = -float("inf")

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

    def pause(self, seconds: float) -> None:
        """Start no request for some seconds."""
        with self._condition:
            self._next_at = max(self._next_at, time.monotonic() + seconds)
