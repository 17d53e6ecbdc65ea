"""`Fetcher`: the one way to a page of the web. Checks, limits, politeness and cache meet here."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path

import httpcore

from roamtui.sources.web.address import AllowedOrigins, is_same_site, origin_of, parse_address, resolve_link
from roamtui.sources.web.backend import TimeLimit
from roamtui.sources.web.cache import CachedReply, PageCache
from roamtui.sources.web.exchange import PAGE_STATUSES, Exchange, Reply, Report, Request
from roamtui.sources.web.failures import (
    AddressRefusedError,
    FetchError,
    NotCachedError,
    OriginRefusedError,
    UnreachableError,
    explain_status,
)
from roamtui.sources.web.options import DEFAULT_ACCEPT, FetchedPage, FetchOptions
from roamtui.sources.web.politeness import PoliteExchange
from roamtui.sources.web.replies import MISSING, is_answer, is_kept, list_conditions, make_entry, renew_entry
from roamtui.sources.web.resolving import AddressBook, Resolve, resolve_by_system

_DEFAULT_OPTIONS = FetchOptions()
_FAILING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
_UNREACHABLE_SECONDS = 30.0
"""How long a site that could not be reached is not tried for what is kept of it."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The answer to one request."""

    entry: CachedReply
    is_from_cache: bool
    """Whether the body was not transferred now."""
    problem: str = ""
    """Why the site itself gave no answer, empty where it did."""


class Fetcher:
    """Fetches pages, from several threads at once; one per program. A call blocks until the page is there."""

    def __init__(
        self,
        *,
        cache_dir: Path | None,
        options: FetchOptions = _DEFAULT_OPTIONS,
        resolve: Resolve = resolve_by_system,
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
        self._time_limit = TimeLimit()
        self._unreachable: dict[str, tuple[float, str]] = {}
        """Origins to which no connection came about: when it was tried last, and why it failed."""
        book = AddressBook(resolve)
        self._exchange = Exchange(options, self._time_limit, book, dial=dial, ssl_context=ssl_context)
        self._sites = PoliteExchange(self._exchange, options, self._time_limit, self._cache)

    def fetch(
        self,
        url: str,
        allowed: AllowedOrigins,
        *,
        accept: str = DEFAULT_ACCEPT,
        follows_public: bool = False,
        report: Report | None = None,
    ) -> FetchedPage:
        """Return the page at an address.

        Args:
            url: Its origin must be allowed.
            allowed: Origins that a person typed or approved.
            accept: The media types that are wanted, as in HTTP's header.
            follows_public: Whether redirects to other public origins are followed: for an address that a person typed.
            report: Called with the bytes received so far, and with their number where it is known.

        Raises:
            OriginRefusedError: The address, or a redirect, leads to an origin that nobody allowed.
            FetchError: There is no such page, or it may not or cannot be fetched.
            SourceError: The address is none.
        """
        address = parse_address(url)
        if not allowed.covers(address):
            raise OriginRefusedError(origin_of(address))
        current, problem = address, ""
        with self._time_limit.within(self._options.total_seconds_max):
            for _ in range(self._options.redirects_max + 1):
                request = Request(
                    url=current,
                    headers={"Accept": accept},
                    allows_local=allowed.may_be_local(current),
                    bytes_max=self._options.body_bytes_max,
                    report=report,
                )
                found = self._find(request, accept)
                problem = problem or found.problem
                if found.entry.location is None:
                    return self._make_page(address, replace(found, problem=problem))
                current = _follow(current, found.entry.location, allowed, follows_public=follows_public)
        raise FetchError(
            f"{address} sends on and on, more than {self._options.redirects_max} times. Check the address."
        )

    def close(self) -> None:
        """Close all connections; a fetch under way fails."""
        self._sites.close()
        self._exchange.close()

    def _make_page(self, url: str, found: _Found) -> FetchedPage:
        entry = found.entry
        if entry.status not in PAGE_STATUSES:
            raise explain_status(entry.url, entry.status)
        day = time.strftime("%Y-%m-%d", time.localtime(entry.fetched_at))
        notes: tuple[str, ...] = ()
        if self._options.is_offline:
            notes = (f"The network is off: {entry.url} is shown as it was on {day}.",)
        elif found.problem:
            notes = (f"{found.problem} {entry.url} is shown as it was on {day}.",)
        return FetchedPage(
            url=url,
            final_url=entry.url,
            media_type=entry.media_type,
            charset=entry.charset,
            body=entry.body,
            is_from_cache=found.is_from_cache,
            notes=notes,
        )

    def _find(self, request: Request, accept: str) -> _Found:
        """Return the answer to a request without following it; what is kept, where the site fails."""
        known = None if self._cache is None else self._cache.load(request.url, accept)
        if self._options.is_offline:
            if known is None:
                raise NotCachedError(request.url)
            return _Found(known, is_from_cache=True)
        if known is not None and known.is_fresh(time.time()) and not self._options.is_checking:
            return _Found(known, is_from_cache=True)
        try:
            return self._ask(request, accept, known)
        except FetchError as error:
            if known is None or known.status in MISSING or not _is_failing(error):
                raise
            return _Found(known, is_from_cache=True, problem=str(error))

    def _ask(self, request: Request, accept: str, known: CachedReply | None) -> _Found:
        """Return the site's answer; that it has not changed is one."""
        origin = origin_of(request.url)
        failed_at, failure = self._unreachable.get(origin, (0.0, ""))
        if known is not None and failure and time.monotonic() - failed_at < _UNREACHABLE_SECONDS:
            raise UnreachableError(failure)
        conditions = list_conditions(known)
        try:
            reply = self._sites.ask(replace(request, headers={**request.headers, **conditions}))
        except UnreachableError as error:
            self._unreachable[origin] = (time.monotonic(), str(error))
            raise
        self._unreachable.pop(origin, None)
        if known is not None and conditions and reply.status == HTTPStatus.NOT_MODIFIED:
            return _Found(self._renew(known, reply), is_from_cache=True)
        if not is_answer(reply):
            raise explain_status(request.url, reply.status)
        return _Found(self._keep(request.url, accept, reply), is_from_cache=False)

    def _renew(self, known: CachedReply, reply: Reply) -> CachedReply:
        now = time.time()
        entry = renew_entry(known, reply, now=now, fresh_seconds_max=self._options.fresh_seconds_max)
        if self._cache is not None and entry.is_fresh(now):
            self._cache.save(entry)
        return entry

    def _keep(self, url: str, accept: str, reply: Reply) -> CachedReply:
        """Return an answer as it is kept, and keep it if the site allows that."""
        entry = make_entry(url, accept, reply, now=time.time(), fresh_seconds_max=self._options.fresh_seconds_max)
        if self._cache is None:
            return entry
        if is_kept(reply):
            self._cache.save(entry)
        else:
            self._cache.drop(url, accept)
        return entry


def _is_failing(error: FetchError) -> bool:
    """Return whether a site fails for now. One that refuses a page, as to who must log in, does not."""
    if isinstance(error, AddressRefusedError):
        return False
    return error.status is None or error.status in _FAILING or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _follow(current: str, location: str, allowed: AllowedOrigins, *, follows_public: bool) -> str:
    """Return where a redirect leads."""
    target = resolve_link(current, location)
    if target is None:
        raise FetchError(f"{current} sends on to something that is no page of the web. It is not followed.")
    origin = origin_of(target)
    is_downgrade = current.startswith("https:") and target.startswith("http:")
    if allowed.covers(target) or is_same_site(origin_of(current), origin) or (follows_public and not is_downgrade):
        return target
    raise OriginRefusedError(origin)
