"""`Fetcher`: the one way to a page of the web. Checks, limits, politeness and cache meet here."""

from __future__ import annotations

import ssl
import time
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import httpcore

from roamtui.sources.web.backend import Deadline, HostResolver, Resolve, resolve_with_system
from roamtui.sources.web.cache import MISSING, PAGE_STATUSES, CachedResponse, PageCache, to_cached_response
from roamtui.sources.web.http_client import HttpClient, HttpRequest, Report
from roamtui.sources.web.page import (
    BlockedAddressError,
    FetchedPage,
    FetchError,
    FetchOptions,
    NotCachedError,
    OriginNotApprovedError,
    UnreachableError,
    make_status_error,
)
from roamtui.sources.web.throttling import ThrottledClient
from roamtui.sources.web.urls import AllowedOrigins, is_same_site, origin_of, parse_url, resolve_href

ACCEPT = "text/markdown, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"
_DEFAULT_OPTIONS = FetchOptions()
_FAILING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
_UNREACHABLE_SECONDS = 30.0
"""How long a site that could not be reached is not tried for what is kept of it."""


class Fetcher:
    """Fetches pages, from several threads at once; one per program. A call blocks until the page is there."""

    def __init__(
        self,
        *,
        cache_dir: Path | None,
        options: FetchOptions = _DEFAULT_OPTIONS,
        resolve: Resolve = resolve_with_system,
        dial: httpcore.NetworkBackend | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Open no connection yet.

        Args:
            cache_dir: Folder of the cache, made when needed; None for no cache.
            options: Limits.
            resolve: Finds the addresses of a host.
            dial: Connects to an address that was checked; None for the machine's network.
            ssl_context: What proves a site's name; None for the usual authorities.
        """
        self._options = options
        self._cache = None if cache_dir is None else PageCache(cache_dir, options.cache_bytes_max)
        self._time_limit = Deadline()
        self._unreachable: dict[str, tuple[float, str]] = {}
        """Origins to which no connection came about: when it was tried last, and why it failed."""
        book = HostResolver(resolve)
        self._exchange = HttpClient(options, self._time_limit, book, dial=dial, ssl_context=ssl_context)
        self._sites = ThrottledClient(self._exchange, options, self._time_limit, self._cache)

    def fetch(
        self,
        url: str,
        allowed: AllowedOrigins,
        *,
        follows_public: bool = False,
        report: Report | None = None,
    ) -> FetchedPage:
        """Return the page at an address.

        Args:
            url: Its origin must be allowed.
            allowed: Origins that a person typed or approved.
            follows_public: Whether redirects to other public origins are followed: for an address that a person typed.
            report: Called with the bytes received so far, and with their number where it is known.

        Raises:
            OriginNotApprovedError: The address, or a redirect, leads to an origin that nobody allowed.
            FetchError: There is no such page, or it may not or cannot be fetched.
            SourceError: The address is none.
        """
        address = parse_url(url)
        if not allowed.allows(address):
            raise OriginNotApprovedError(origin_of(address))
        current, problem = address, ""
        with self._time_limit.within(self._options.total_seconds_max):
            for _ in range(self._options.redirects_max + 1):
                request = HttpRequest(
                    url=current,
                    headers={"Accept": ACCEPT},
                    allows_local=allowed.may_be_local(current),
                    bytes_max=self._options.body_bytes_max,
                    report=report,
                )
                entry, failure = self._load_or_fetch(request)
                problem = problem or failure
                if entry.location is None:
                    return self._make_page(address, entry, problem)
                current = _resolve_redirect(current, entry.location, allowed, follows_public=follows_public)
        raise FetchError(
            f"{address} sends on and on, more than {self._options.redirects_max} times. Check the address."
        )

    def close(self) -> None:
        """Close all connections; a fetch under way fails."""
        self._exchange.close()

    def _make_page(self, url: str, entry: CachedResponse, problem: str) -> FetchedPage:
        if entry.status not in PAGE_STATUSES:
            raise make_status_error(entry.url, entry.status)
        if self._options.is_offline:
            problem = "The network is off:"
        day = time.strftime("%Y-%m-%d", time.localtime(entry.fetched_at))
        return FetchedPage(
            url=url,
            final_url=entry.url,
            media_type=entry.media_type,
            charset=entry.charset,
            body=entry.body,
            notes=(f"{problem} {entry.url} is shown as it was on {day}.",) if problem else (),
        )

    def _load_or_fetch(self, request: HttpRequest) -> tuple[CachedResponse, str]:
        """Return the answer to a request without following it; where the site fails what is kept, and why it fails."""
        known = None if self._cache is None else self._cache.load(request.url, ACCEPT)
        if self._options.is_offline:
            if known is None:
                raise NotCachedError(request.url)
            return known, ""
        if known is not None and known.is_fresh(time.time()) and not self._options.is_checking:
            return known, ""
        try:
            return self._revalidate(request, known), ""
        except FetchError as error:
            if known is None or known.status in MISSING or not _is_failing(error):
                raise
            return known, str(error)

    def _revalidate(self, request: HttpRequest, known: CachedResponse | None) -> CachedResponse:
        """Return the site's answer, and keep it if the site allows that; that it has not changed is one."""
        origin = origin_of(request.url)
        failed_at, failure = self._unreachable.get(origin, (0.0, ""))
        if known is not None and failure and time.monotonic() - failed_at < _UNREACHABLE_SECONDS:
            raise UnreachableError(failure)
        conditions = {}
        if known is not None and known.status in PAGE_STATUSES:
            asked = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
            conditions = {name: value for name, value in asked.items() if value is not None}
        try:
            reply = self._sites.send(replace(request, headers={**request.headers, **conditions}))
        except UnreachableError as error:
            self._unreachable[origin] = (time.monotonic(), str(error))
            raise
        self._unreachable.pop(origin, None)
        entry = to_cached_response(request.url, ACCEPT, reply, self._options.fresh_seconds_max)
        if known is not None and conditions and reply.status == HTTPStatus.NOT_MODIFIED:
            entry = replace(
                known,
                etag=entry.etag or known.etag,
                last_modified=entry.last_modified or known.last_modified,
                fetched_at=entry.fetched_at,
                fresh_until=entry.fresh_until,
            )
            if self._cache is not None and entry.is_fresh(entry.fetched_at):
                self._cache.save(entry)
        elif not reply.is_conclusive:
            raise make_status_error(request.url, reply.status)
        elif self._cache is not None and reply.is_cacheable:
            self._cache.save(entry)
        elif self._cache is not None:
            self._cache.drop(request.url, ACCEPT)
        return entry


def _is_failing(error: FetchError) -> bool:
    """Return whether a site fails for now. One that refuses a page, as to who must log in, does not."""
    if isinstance(error, BlockedAddressError):
        return False
    return error.status is None or error.status in _FAILING or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _resolve_redirect(current: str, location: str, allowed: AllowedOrigins, *, follows_public: bool) -> str:
    """Return where a redirect leads."""
    target = resolve_href(current, location)
    if target is None:
        raise FetchError(f"{current} sends on to something that is no page of the web. It is not followed.")
    origin = origin_of(target)
    is_downgrade = current.startswith("https:") and target.startswith("http:")
    if allowed.allows(target) or is_same_site(origin_of(current), origin) or (follows_public and not is_downgrade):
        return target
    raise OriginNotApprovedError(origin)
