"""Requests at a pace that sites can bear: few at once, with the pause that robots.txt asks for, and patient retries."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from roamtui.sources.web.address import is_same_site, origin_of, resolve_link
from roamtui.sources.web.exchange import PAGE_STATUSES, Request
from roamtui.sources.web.failures import FetchError
from roamtui.sources.web.freshness import read_seconds
from roamtui.sources.web.replies import is_kept, make_entry
from roamtui.sources.web.robots import ROBOTS_ACCEPT, ROBOTS_BYTES_MAX, ROBOTS_FRESH_SECONDS, find_crawl_delay
from roamtui.sources.web.turns import NoTurnError, Turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from roamtui.sources.web.cache import CachedReply, PageCache
    from roamtui.sources.web.exchange import Exchange, Reply
    from roamtui.sources.web.options import FetchOptions
    from roamtui.sources.web.time_limit import TimeLimit

_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_FIRST_WAIT_SECONDS = 1.0
"""Before the first retry where the site names no time; twice as long before the next."""
_ROBOTS_REDIRECTS_MAX = 2


class _Site:
    """What is known of one origin."""

    def __init__(self, connections_max: int) -> None:
        self.turns = Turns(connections_max)
        self.robots_lock = threading.Lock()
        self.is_robots_read = False
        self.requests = 0


class PoliteExchange:
    """Asks sites in turn. Thread-safe."""

    def __init__(
        self, exchange: Exchange, options: FetchOptions, time_limit: TimeLimit, cache: PageCache | None
    ) -> None:
        self._exchange = exchange
        self._options = options
        self._time_limit = time_limit
        self._cache = cache
        self._sites: dict[str, _Site] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    def ask(self, request: Request) -> Reply:
        """Wait for a turn, send a request and return the answer; a site that is busy is asked again.

        Raises:
            FetchError: No answer came, or none that can be taken in.
        """
        site = self._find_site(request.url)
        if site.requests:
            self._heed_robots(site, request)
        waits = 0
        while True:
            with self._turn(site, request.url, is_first=not waits):
                site.requests += 1
                reply = self._exchange.ask(request)
            if reply.status not in _BUSY or waits >= self._options.retries_max:
                return reply
            seconds = find_retry_seconds(reply, now=time.time())
            if seconds is None:
                seconds = _FIRST_WAIT_SECONDS * 2**waits
            if seconds > min(self._options.retry_seconds_max, self._time_limit.remaining()):
                return reply
            site.turns.pause(seconds)
            waits += 1

    def close(self) -> None:
        """Let nobody wait for a turn any more."""
        with self._lock:
            self._is_closed = True
            sites = list(self._sites.values())
        for site in sites:
            site.turns.close()

    def _find_site(self, url: str) -> _Site:
        origin = origin_of(url)
        with self._lock:
            site = self._sites.get(origin)
            if site is None:
                site = self._sites[origin] = _Site(self._options.connections_per_host)
                if self._is_closed:
                    site.turns.close()
            return site

    @contextmanager
    def _turn(self, site: _Site, url: str, *, is_first: bool) -> Iterator[None]:
        """Hold a turn. The wait for the first one is no fault of the site: it does not count as the fetch's time."""
        seconds_max = self._options.total_seconds_max if is_first else self._time_limit.remaining()
        try:
            waited = site.turns.take(seconds_max)
        except NoTurnError:
            raise FetchError(f"{url} was not fetched: too many other pages of that site are. Try again.") from None
        if is_first:
            self._time_limit.extend(waited)
        try:
            yield
        finally:
            site.turns.release()

    def _heed_robots(self, site: _Site, request: Request) -> None:
        """Read the site's robots.txt before its second page; others wait for that, but never for long."""
        seconds = self._options.robots_seconds_max
        if site.is_robots_read or not site.robots_lock.acquire(timeout=seconds):
            return
        try:
            if not site.is_robots_read:
                with self._time_limit.within(seconds):
                    delay = find_crawl_delay(self._read_robots(site, request))
                if delay > 0:
                    site.turns.slow_down(min(delay, self._options.crawl_delay_seconds_max))
                site.is_robots_read = True
        finally:
            site.robots_lock.release()

    def _read_robots(self, site: _Site, request: Request) -> str:
        """Return the site's robots.txt, empty where there is none that can be read."""
        url = f"{origin_of(request.url)}/robots.txt"
        for _ in range(_ROBOTS_REDIRECTS_MAX + 1):
            entry = self._find_robots(site, replace(request, url=url))
            if entry is None or entry.location is None:
                return entry.body.decode("utf-8", "replace") if entry and entry.status in PAGE_STATUSES else ""
            target = resolve_link(url, entry.location)
            if target is None or not is_same_site(origin_of(request.url), origin_of(target)):
                return ""
            url = target
        return ""

    def _find_robots(self, site: _Site, request: Request) -> CachedReply | None:
        known = None if self._cache is None else self._cache.load(request.url, ROBOTS_ACCEPT)
        if known is not None and known.is_fresh(time.time()):
            return known
        robots = replace(request, headers={"Accept": ROBOTS_ACCEPT}, bytes_max=ROBOTS_BYTES_MAX, report=None)
        try:
            with self._turn(site, request.url, is_first=False):
                reply = self._exchange.ask(robots)
        except FetchError:
            return None
        now = time.time()
        entry = make_entry(request.url, ROBOTS_ACCEPT, reply, now=now, fresh_seconds_max=ROBOTS_FRESH_SECONDS)
        if self._cache is not None and is_kept(reply):
            self._cache.save(replace(entry, fresh_until=now + ROBOTS_FRESH_SECONDS))
        return entry


def find_retry_seconds(reply: Reply, *, now: float) -> float | None:
    """Return how long a busy site wants to be left alone, None where it does not say.

    Args:
        reply: Its answer.
        now: Seconds since 1970.
    """
    text = reply.headers.get("retry-after", "").strip()
    seconds = read_seconds(text)
    if seconds is not None or not text:
        return seconds
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - only a busy site needs it

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None
