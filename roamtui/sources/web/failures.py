"""The ways in which a fetch fails, each with one plain sentence."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roamtui.errors import SourceError

if TYPE_CHECKING:
    import httpcore


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
            reason = f"{_host(url)} asks for fewer requests ({status}). Try again later."
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            reason = f"{_host(url)} has a problem of its own ({status}). Try again later."
        case _:
            reason = f"{url} is answered by status {status} in place of a page. Check the address."
    return FetchError(reason, status=status)


def explain_failure(url: str, error: Exception, *, is_out_of_time: bool) -> FetchError:
    """Return the failure that an exception of httpcore stands for."""
    import httpcore  # noqa: PLC0415 - loaded by the first fetch

    host = _host(url)
    if isinstance(error, httpcore.ConnectTimeout | httpcore.ConnectError):
        return UnreachableError(_explain_connecting(host, error))
    if is_out_of_time:
        reason = f"{url} took too long. Try again later."
    elif isinstance(error, httpcore.TimeoutException):
        reason = f"{host} stopped answering. Try again later."
    elif isinstance(error, httpcore.RemoteProtocolError) and "complete message body" in str(error):
        reason = f"{url} came incomplete. Try again."
    elif isinstance(error, httpcore.NetworkError):
        reason = f"The connection to {host} broke. Try again."
    else:
        reason = f"{host} does not speak proper HTTP. Check the address and the port."
    return FetchError(reason)


def _explain_connecting(host: str, error: httpcore.ConnectError | httpcore.ConnectTimeout) -> str:
    import ssl  # noqa: PLC0415 - loaded by httpcore

    import httpcore  # noqa: PLC0415 - loaded by the first fetch

    if isinstance(error, httpcore.ConnectTimeout):
        return f"{host} cannot be reached: no connection in time. Check the address and the network."
    cause = error.args[0] if error.args else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = "".join(character for character in cause.verify_message if character.isprintable())
        return f"{host} cannot prove who it is ({reason}), so nothing was fetched. Check the address."
    if isinstance(cause, ssl.SSLError):
        return f"No safe connection to {host}: TLS failed. Check the address and the port."
    if isinstance(cause, ConnectionRefusedError):
        return f"{host} refuses the connection. Check the address and the port."
    return f"{host} cannot be reached. Check the address and the network."


def _host(url: str) -> str:
    return urlsplit(url).netloc
