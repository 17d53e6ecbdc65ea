"""Responses and fetched pages, the limits of fetching, and its errors."""

import math
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Protocol

from msgspec import Struct

import roamtui
from roamtui.errors import SourceError

USER_AGENT = f"roamtui/{roamtui.__version__} (+https://pypi.org/project/roamtui/)"

PAGE_STATUSES = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)
MISSING_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_REDIRECTS = (301, 302, 303, 307, 308)
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


class FetchOptions(Struct, frozen=True, kw_only=True):
    """Limits of each fetch, and its proxy. Times are in seconds."""

    is_offline: bool = False
    """Whether to use only the cache."""
    always_fetch: bool = False
    """Whether to fetch pages even while their cached copies are fresh."""
    proxy: str = ""
    """URL of an HTTP proxy, or empty for direct connections."""
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


class HttpResponse(Struct, frozen=True, kw_only=True):
    """A response as the site sent it, now or earlier. The cache stores it in this form."""

    url: str
    status: int
    headers: Mapping[str, str]
    """First value of each header, by its name in lower case."""
    body: bytes
    """Empty unless the response is a page."""
    fetched_at: float
    """Seconds since 1970."""
    allowed_local: bool
    """Whether it was allowed to come from this machine or its network."""

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters. Empty if the site sent no valid one."""
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return media_type if _MEDIA_TYPE.fullmatch(media_type) else ""

    @property
    def charset(self) -> str | None:
        """Charset in the Content-Type header, in lower case, or None."""
        charset = _CHARSET.search(self.headers.get("content-type", ""))
        return charset[1].lower() if charset else None

    @property
    def location(self) -> str | None:
        """Redirect target as the site wrote it, possibly relative."""
        return self.headers.get("location") if self.status in _REDIRECTS else None

    @property
    def is_conclusive(self) -> bool:
        """Whether the response is a page, a redirect, or says that the page does not exist."""
        return self.status in PAGE_STATUSES or self.status in MISSING_STATUSES or self.location is not None


class FetchedPage(Struct, frozen=True, kw_only=True):
    """A fetched page, decompressed but not decoded."""

    url: str
    """Requested URL, normalised, without fragment."""
    final_url: str
    """URL after all redirects."""
    media_type: str
    """In lower case, without parameters. Empty if the site sent no valid one."""
    charset: str | None
    """Charset in the Content-Type header."""
    body: bytes
    notes: tuple[str, ...] = ()
    """Sentences for the person, such as that the page comes from the cache."""


class PageFetcher(Protocol):
    """A function that fetches as `Fetcher.fetch` does. It knows the allowed origins."""

    def __call__(
        self, url: str, *, follows_public: bool = False, seconds_max: float = math.inf
    ) -> FetchedPage:
        """Fetch the page at a URL."""


class FetchError(SourceError):
    """A page could not be fetched. `status` is the HTTP status, or None if there was no valid response."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class UnreachableError(FetchError):
    """The site cannot be reached, so there is no point in trying its other pages now."""


class BlockedAddressError(FetchError):
    """A host has a forbidden IP address. Its cached pages are not shown either: they may be forged."""


class OriginNotApprovedError(SourceError):
    """A redirect or a link leads to an origin that nobody approved."""

    def __init__(self, origin: str) -> None:
        super().__init__(f"{origin} is not allowed yet. To allow it, open that URL in roamtui yourself.")
        self.origin = origin
        """As `https://host[:port]`."""
