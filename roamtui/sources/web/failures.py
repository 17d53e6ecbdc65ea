"""The ways in which a fetch fails, each with one plain sentence."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from roamtui.errors import SourceError


class FetchError(SourceError):
    """An address gave no page. `status` is the site's, None where no answer came or it was none."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class UnreachableError(FetchError):
    """No connection to the site came about, so that another page of it need not be tried now."""


class AddressRefusedError(FetchError):
    """A host leads where it must not. What is kept of it is not shown either: it may have been another's."""


class BodyTooLargeError(FetchError):
    """A body is longer than is taken in."""

    def __init__(self, url: str, bytes_max: int) -> None:
        super().__init__(f"{url} is larger than {bytes_max / 1e6:,.0f} MB, or pretends to be small. It is not opened.")


class NotCachedError(FetchError):
    """The network is off, and the cache does not hold the page."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url} is not in the cache, and the network is off. Open it once without --no-network.")


class OriginRefusedError(SourceError):
    """A redirect or a link leads to an origin that nobody approved."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"This leads to {origin}, which you have not approved. Open that address yourself to allow it."
        )
        self.origin = origin
        """As `https://host[:port]`."""


def explain_status(url: str, status: int) -> FetchError:
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
