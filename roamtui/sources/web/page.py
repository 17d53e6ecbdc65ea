"""`FetchedPage`: what fetching gives, with the limits that it keeps and the ways in which it fails."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

import roamtui
from roamtui.errors import SourceError

USER_AGENT = f"roamtui/{roamtui.__version__} (+https://pypi.org/project/roamtui/)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Limits of every fetch. Times are in seconds."""

    is_offline: bool = False
    """Whether the cache alone is used."""
    is_checking: bool = False
    """Whether sites are asked if a page has changed even where they said that it would not yet."""
    connect_seconds_max: float = 10.0
    read_seconds_max: float = 15.0
    """From one piece of an answer to the next."""
    total_seconds_max: float = 60.0
    """For a fetch with all its redirects and retries, without the wait for its turn."""
    body_bytes_max: int = 32_000_000
    """After decompression."""
    redirects_max: int = 5
    connections_per_host: int = 8
    """One, where the site's robots.txt asks for a pause between requests."""
    retries_max: int = 2
    """After a 429 or 503."""
    retry_seconds_max: float = 10.0
    """The longest wait before a retry; a site that asks for more is not asked again."""
    robots_seconds_max: float = 3.0
    """For reading robots.txt, once per origin."""
    crawl_delay_seconds_max: float = 2.0
    """The longest pause between requests that a site gets."""
    fresh_seconds_max: float = 300.0
    """How long a page is used without asking the site again, if the site allows it."""
    cache_bytes_max: int = 500_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """One page as it came, decompressed but not decoded."""

    url: str
    """The address that was asked for, normalised, without fragment."""
    final_url: str
    """Where it was found after all redirects."""
    media_type: str
    """In lower case, without parameters; empty where the site does not say it."""
    charset: str | None
    """What the site says of the encoding of its text."""
    body: bytes
    notes: tuple[str, ...] = ()
    """What a person should know of it, one sentence each."""


class FetchError(SourceError):
    """An address gave no page. `status` is the site's, None where no answer came or it was none."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class UnreachableError(FetchError):
    """No connection to the site came about, so that another page of it need not be tried now."""


class BlockedAddressError(FetchError):
    """A host leads where it must not. What is kept of it is not shown either: it may have been another's."""


class BodyTooLargeError(FetchError):
    """A body is longer than is taken in."""

    def __init__(self, url: str, bytes_max: int) -> None:
        super().__init__(f"{url} is larger than {bytes_max / 1e6:,.0f} MB, or pretends to be small. It is not opened.")


class NotCachedError(FetchError):
    """The network is off, and the cache does not hold the page."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url} is not in the cache, and the network is off. Open it once without --no-network.")


class OriginNotApprovedError(SourceError):
    """A redirect or a link leads to an origin that nobody approved."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"This leads to {origin}, which you have not approved. Open that address yourself to allow it."
        )
        self.origin = origin
        """As `https://host[:port]`."""


def make_status_error(url: str, status: int) -> FetchError:
    """Return the failure that an answer other than a page stands for."""
    match status:
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
            reason = f"There is no page at {url} ({status}). Check the address."
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN | HTTPStatus.PAYMENT_REQUIRED:
            reason = f"{url} is not given to everyone ({status}). Open it in a browser and save it as a file."
        case HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.SERVICE_UNAVAILABLE:
            reason = f"{urlsplit(url).netloc} asks for fewer requests ({status}). Try again later."
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            reason = f"{urlsplit(url).netloc} has a problem of its own ({status}). Try again later."
        case _:
            reason = f"{url} is answered by status {status} in place of a page. Check the address."
    return FetchError(reason, status=status)
