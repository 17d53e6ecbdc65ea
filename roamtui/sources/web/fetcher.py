"""`Fetcher`: fetches web pages with all checks, limits, retries and the cache."""

from __future__ import annotations

import ssl
import time
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

from roamtui.sources.web.backend import Deadline, Dial, HostResolver, Resolve, resolve_with_system
from roamtui.sources.web.cache import (
    MISSING_STATUSES,
    PAGE_STATUSES,
    CachedResponse,
    HttpResponse,
    PageCache,
    parse_retry_after,
    to_cached_response,
)
from roamtui.sources.web.http_client import HttpClient, HttpRequest
from roamtui.sources.web.page import (
    BlockedAddressError,
    FetchedPage,
    FetchError,
    FetchOptions,
    OriginNotApprovedError,
    make_status_error,
)
from roamtui.sources.web.urls import AllowedOrigins, covers_origin, normalise_url, origin_of, resolve_href

ACCEPT = "text/markdown, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"
_DEFAULT_OPTIONS = FetchOptions()
_TEMPORARY_STATUSES = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
_BUSY_STATUSES = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_FIRST_WAIT_SECONDS = 1.0
"""Wait before the first retry if a busy site names no time. It doubles with each further retry."""


class Fetcher:
    """Fetches pages. A program needs only one. Thread-safe: a call blocks until the page is complete."""

    def __init__(
        self,
        *,
        cache_dir: Path | None,
        options: FetchOptions = _DEFAULT_OPTIONS,
        resolve: Resolve = resolve_with_system,
        dial: Dial | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Set up without opening a connection.

        The cache folder is created when needed. `dial` opens connections to IP addresses after they were checked.
        """
        self._options = options
        self._cache = None if cache_dir is None else PageCache(cache_dir, options.cache_bytes_max)
        self._deadline = Deadline()
        self._client = HttpClient(options, self._deadline, HostResolver(resolve), dial=dial, ssl_context=ssl_context)

    def fetch(
        self,
        url: str,
        allowed: AllowedOrigins,
        *,
        follows_public: bool = False,
    ) -> FetchedPage:
        """Fetch the page at a URL. With `follows_public`, redirects to other public origins are followed too.

        Raises:
            OriginNotApprovedError: The URL, or a redirect, leads to an origin that is not allowed.
            FetchError: The page does not exist, or cannot or must not be fetched.
            SourceError: The URL is invalid.
        """
        requested_url = normalise_url(url)
        if not allowed.allows(requested_url):
            raise OriginNotApprovedError(origin_of(requested_url))
        current, problem = requested_url, ""
        with self._deadline.within(self._options.total_seconds_max):
            for _ in range(self._options.redirects_max + 1):
                request = HttpRequest(
                    url=current,
                    headers={"Accept": ACCEPT},
                    allows_local=allowed.may_be_local(current),
                )
                entry, failure = self._load_or_fetch(request)
                problem = problem or failure
                if entry.location is None:
                    break
                target = resolve_href(current, entry.location)
                if target is None:
                    raise FetchError(f"{current} redirects to something other than a web page. It was not followed.")
                is_downgrade = current.startswith("https:") and target.startswith("http:")
                may_follow = allowed.allows(target) or covers_origin(origin_of(current), origin_of(target))
                if not may_follow and (is_downgrade or not follows_public):
                    raise OriginNotApprovedError(origin_of(target))
                current = target
            else:
                raise FetchError(
                    f"Too many redirects from {requested_url}: more than {self._options.redirects_max}. "
                    "Check the address."
                )
        if entry.status not in PAGE_STATUSES:
            raise make_status_error(entry.url, entry.status)
        if self._options.is_offline:
            problem = "The network is off:"
        day = time.strftime("%Y-%m-%d", time.localtime(entry.fetched_at))
        return FetchedPage(
            url=requested_url,
            final_url=entry.url,
            media_type=entry.media_type,
            charset=entry.charset,
            body=entry.body,
            notes=(f"{problem} {entry.url} is shown as it was on {day}.",) if problem else (),
        )

    def close(self) -> None:
        """Close all connections. Running fetches fail."""
        self._client.close()

    def _load_or_fetch(self, request: HttpRequest) -> tuple[CachedResponse, str]:
        """Return the response, fetched or cached. If it is cached because the fetch failed, also return the error."""
        cached = None if self._cache is None else self._cache.load(request.url)
        if self._options.is_offline:
            if cached is None:
                raise FetchError(f"{request.url} is not cached. Open it once without --no-network.")
            return cached, ""
        if cached is not None and cached.is_fresh(time.time()) and not self._options.always_revalidate:
            return cached, ""
        try:
            return self._revalidate(request, cached), ""
        except FetchError as error:
            status = error.status
            is_temporary = status is None or status in _TEMPORARY_STATUSES or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            # If the site refuses the page, its cached copy is not shown either.
            is_refused = isinstance(error, BlockedAddressError) or not is_temporary
            if cached is None or cached.status in MISSING_STATUSES or is_refused:
                raise
            return cached, str(error)

    def _revalidate(self, request: HttpRequest, cached: CachedResponse | None) -> CachedResponse:
        """Fetch a page, or only ask for changes if it is cached. Update the cache as the site allows."""
        conditions = {}
        if cached is not None and cached.status in PAGE_STATUSES:
            validators = {"If-None-Match": cached.etag, "If-Modified-Since": cached.last_modified}
            conditions = {name: value for name, value in validators.items() if value is not None}
        response = self._send(replace(request, headers={**request.headers, **conditions}))
        entry = to_cached_response(request.url, response, self._options.fresh_seconds_max)
        if cached is not None and conditions and response.status == HTTPStatus.NOT_MODIFIED:
            entry = replace(
                cached,
                etag=entry.etag or cached.etag,
                last_modified=entry.last_modified or cached.last_modified,
                fetched_at=entry.fetched_at,
                fresh_until=entry.fresh_until,
            )
            if self._cache is not None and entry.is_fresh(entry.fetched_at):
                self._cache.save(entry)
        elif not response.is_conclusive:
            raise make_status_error(request.url, response.status)
        elif self._cache is not None and "no-store" not in response.headers.get("cache-control", "").lower():
            self._cache.save(entry)
        elif self._cache is not None:
            self._cache.drop(request.url)
        return entry

    def _send(self, request: HttpRequest) -> HttpResponse:
        """Send a request. A busy site is asked again after the pause that it asks for, if that is short."""
        for attempt in range(self._options.retries_max):
            response = self._client.send(request)
            if response.status not in _BUSY_STATUSES:
                return response
            seconds = parse_retry_after(response.headers.get("retry-after", ""))
            seconds = _FIRST_WAIT_SECONDS * 2**attempt if seconds is None else seconds
            if seconds > min(self._options.retry_seconds_max, self._deadline.remaining()):
                return response
            time.sleep(seconds)
        return self._client.send(request)
