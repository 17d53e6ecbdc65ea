"""Fetched pages, the limits of fetching, and its errors."""

from __future__ import annotations

from msgspec import Struct

import roamtui
from roamtui.errors import SourceError

USER_AGENT = f"roamtui/{roamtui.__version__} (+https://pypi.org/project/roamtui/)"


class FetchOptions(Struct, frozen=True, kw_only=True):
    """Limits of each fetch, and its proxy. Times are in seconds."""

    is_offline: bool = False
    """Whether only the cache is used."""
    always_fetch: bool = False
    """Whether to fetch pages even while their cached copies are fresh."""
    proxy: str = ""
    """As `web.proxy` in the settings: the URL of a proxy, "environment", or empty for direct connections."""
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 15.0
    """Longest wait for the next piece of a response."""
    total_seconds_max: float = 60.0
    """Longest time of a fetch with all its redirects."""
    body_bytes_max: int = 32_000_000
    """Maximum size of a page, after decompression."""
    redirects_max: int = 5
    fresh_seconds: float = 300.0
    """How long a cached page is used without asking the site again."""
    cache_bytes_max: int = 500_000_000


class FetchedPage(Struct, frozen=True, kw_only=True):
    """A page as received, decompressed but not decoded."""

    url: str
    """Requested URL, normalised, without fragment."""
    final_url: str
    """URL after all redirects."""
    media_type: str
    """In lower case, without parameters; empty if the site sent none."""
    charset: str | None
    """Charset in the Content-Type header."""
    body: bytes
    notes: tuple[str, ...] = ()
    """Sentences for the person, such as that the page comes from the cache."""


class FetchError(SourceError):
    """A page could not be fetched. `status` is the HTTP status, or None if there was no valid response."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class UnreachableError(FetchError):
    """No connection to the site is possible, so trying its other pages now is pointless."""


class BlockedAddressError(FetchError):
    """A host has a forbidden IP address. Its cached pages are not shown either: they may be forged."""


class OriginNotApprovedError(SourceError):
    """A redirect or a link leads to an origin that nobody approved."""

    def __init__(self, origin: str) -> None:
        super().__init__(f"{origin} is not allowed yet. To allow it, open that address in roamtui yourself.")
        self.origin = origin
        """As `https://host[:port]`."""
