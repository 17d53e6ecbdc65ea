"""`Fetcher`: fetches web pages with all checks, limits and the cache."""

import hashlib
import math
import re
import ssl
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from roamtui.convert.conversion import parse_page_head
from roamtui.file_cache import FileCache
from roamtui.web.addresses import HostResolver, Resolve, resolve_with_system
from roamtui.web.backend import Deadline
from roamtui.web.http_client import HttpClient
from roamtui.web.page import (
    MISSING_STATUSES,
    PAGE_STATUSES,
    BlockedAddressError,
    FetchedPage,
    FetchError,
    FetchOptions,
    HttpResponse,
    OriginNotApprovedError,
)
from roamtui.web.proxy import Dial
from roamtui.web.urls import AllowedOrigins, covers_origin, normalise_url, origin_of, resolve_href

_DEFAULT_OPTIONS = FetchOptions()
_CACHE_BYTES_MAX = 500_000_000
_TEMPORARY_STATUSES = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_HEAD_LENGTH_MAX = 200_000
_REFRESH = re.compile(r"\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_REFRESH_SECONDS_MAX = 10
"""A page that redirects only after a longer time counts as the page, because a person can read it."""


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

        The cache folder is created when it is needed. `dial` opens connections to IP addresses that have been
        checked. Raise `UsageError` if the URL of the proxy is invalid.
        """
        self._options = options
        self._cache = FileCache(cache_dir, HttpResponse, _CACHE_BYTES_MAX) if cache_dir else None
        self._deadline = Deadline()
        self._client = HttpClient(
            self._options, self._deadline, HostResolver(resolve), dial=dial, ssl_context=ssl_context
        )

    def fetch(
        self,
        url: str,
        allowed: AllowedOrigins,
        *,
        follows_public: bool = False,
        seconds_max: float = math.inf,
    ) -> FetchedPage:
        """Fetch the page at a URL. With `follows_public`, follow redirects to other public origins too.

        `seconds_max` can only shorten the time limit of the options.

        Raises:
            OriginNotApprovedError: The URL, or a redirect, leads to an origin that is not allowed.
            FetchError: The page does not exist, or cannot or must not be fetched.
            SourceError: The URL is invalid.
        """
        requested_url = normalise_url(url)
        if not allowed.allows(requested_url):
            raise OriginNotApprovedError(origin_of(requested_url))
        pages: list[tuple[HttpResponse, str]] = []
        notes: list[str] = []
        with self._deadline.within(min(seconds_max, self._options.total_seconds_max)):
            try:
                for page in self._iter_readable(requested_url, allowed, follows_public=follows_public):
                    pages.append(page)
            except (FetchError, OriginNotApprovedError) as error:
                if not pages:
                    raise
                notes.append(f"{error} The page before the redirect is shown.")
        response, problem = pages[-1]
        if self._options.is_offline:
            problem = "roamtui was started with --no-network."
        if problem:
            day = time.strftime("%Y-%m-%d", time.localtime(response.fetched_at))
            notes.append(f"{problem} {response.url} is shown as it was on {day}.")
        return FetchedPage(
            url=requested_url,
            final_url=response.url,
            media_type=response.media_type,
            charset=response.charset,
            body=response.body,
            notes=tuple(notes),
        )

    def _iter_readable(
        self, url: str, allowed: AllowedOrigins, *, follows_public: bool
    ) -> Iterator[tuple[HttpResponse, str]]:
        """Follow redirects. Yield pages that a person has time to read before a redirect, and the last."""
        current = url
        problem = ""
        visited: set[str] = set()
        for _ in range(self._options.redirects_max + 1):
            response, failure = self._load_or_fetch(current, allows_local=allowed.may_be_local(current))
            problem = problem or failure
            visited.add(current)
            if response.location is not None:
                target = resolve_href(current, response.location)
                if target is None:
                    raise FetchError(
                        f"The redirect from {current} does not lead to a web page. Check the URL."
                    )
            elif response.status not in PAGE_STATUSES:
                raise _make_status_error(response.url, response.status)
            else:
                refresh = _find_refresh(response)
                if refresh is None or refresh[0] in visited:
                    yield response, problem
                    return
                target, seconds = refresh
                if seconds > 0:
                    yield response, problem
            is_downgrade = current.startswith("https:") and target.startswith("http:")
            may_follow = allowed.allows(target) or covers_origin(origin_of(current), origin_of(target))
            if not may_follow and (is_downgrade or not follows_public):
                raise OriginNotApprovedError(origin_of(target))
            current = target
        raise FetchError(f"Too many redirects from {url}. Check the URL.")

    def close(self) -> None:
        """Close all connections. Running fetches fail."""
        self._client.close()

    def _load_or_fetch(self, url: str, *, allows_local: bool) -> tuple[HttpResponse, str]:
        """Return the response, fetched or cached. If the fetch failed, also return the error, else ""."""
        cached = None if self._cache is None else self._cache.load(make_cache_name(url))
        if cached is not None and cached.allowed_local and not allows_local:
            cached = None
        if self._options.is_offline:
            if cached is None:
                raise FetchError(f"{url} is not cached. Open it once without --no-network.")
            return cached, ""
        if cached is not None and cached.status not in MISSING_STATUSES and not self._options.always_fetch:
            age = time.time() - cached.fetched_at
            if 0 <= age < self._options.fresh_seconds:
                return cached, ""
        try:
            response = self._client.send(url, allows_local=allows_local)
            if not response.is_conclusive:
                raise _make_status_error(url, response.status)
        except FetchError as error:
            status = error.status
            is_fault = status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            is_temporary = is_fault or status in _TEMPORARY_STATUSES
            # If the site refuses the page, its cached copy is not shown either.
            is_refused = isinstance(error, BlockedAddressError) or not is_temporary
            if cached is None or cached.status in MISSING_STATUSES or is_refused:
                raise
            return cached, str(error)
        if self._cache is not None and "no-store" not in response.headers.get("cache-control", "").lower():
            self._cache.save(make_cache_name(url), response)
        return response, ""


def make_cache_name(url: str) -> str:
    """Return the name of the file that caches the response of a URL."""
    return f"{hashlib.sha256(url.encode()).hexdigest()}.page"


def _find_refresh(response: HttpResponse) -> tuple[str, int] | None:
    """Return the URL that `<meta http-equiv="refresh">` of a page leads to, and after how many seconds.

    An element in `noscript`, `template` or `svg` does not count.
    """
    if response.media_type not in _HTML_TYPES or b"refresh" not in response.body[:_HEAD_LENGTH_MAX].lower():
        return None
    for meta in parse_page_head(response.body, response.charset, _HEAD_LENGTH_MAX).iter("meta"):
        match = _REFRESH.match(meta.get("content", ""))
        is_refresh = meta.get("http-equiv", "").strip().lower() == "refresh"
        is_unused = next(meta.iterancestors("noscript", "template", "svg"), None) is not None
        if match and is_refresh and not is_unused and int(match[1]) <= _REFRESH_SECONDS_MAX:
            target = resolve_href(response.url, match[2])
            return None if target is None else (target, int(match[1]))
    return None


def _make_status_error(url: str, status: int) -> FetchError:
    match status:
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
            reason = f"There is no page at {url} ({status}). Check the URL."
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN | HTTPStatus.PAYMENT_REQUIRED:
            reason = f"{url} needs a login ({status}). Save it from a browser and open the file."
        case _ if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            problem = f"its site is overloaded or has a problem ({status})"
            reason = f"{url} cannot be fetched now, because {problem}. Try again later."
        case _:
            reason = f"{url} answered with status {status} instead of a page. Check the URL."
    return FetchError(reason, status=status)
