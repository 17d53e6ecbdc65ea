"""`HttpClient`: sends one request and reads the response within all limits, without interpreting it.

It uses httpcore, on which httpx is built, instead of httpx. So it handles no redirects, cookies or logins,
and has no second URL parser, which might connect to a host that was not checked.
"""

import ssl
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

import httpcore

from roamtui.web.addresses import HostResolver
from roamtui.web.backend import CheckedBackend, Deadline
from roamtui.web.page import (
    PAGE_STATUSES,
    USER_AGENT,
    FetchError,
    FetchOptions,
    HttpResponse,
    UnreachableError,
)
from roamtui.web.proxy import Dial, resolve_proxy

ACCEPT = "text/markdown, text/plain;q=0.9, text/html;q=0.8, */*;q=0.5"
_IDLE_CONNECTIONS_MAX = 32
_IDLE_SECONDS_MAX = 20.0
_GZIP_BITS = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


class HttpClient:
    """Sends requests over connections that stay open. Thread-safe."""

    def __init__(
        self,
        options: FetchOptions,
        deadline: Deadline,
        resolver: HostResolver,
        *,
        dial: Dial | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Set up without opening a connection. Raise `UsageError` if the URL of the proxy is invalid."""
        self._options = options
        self._deadline = deadline
        self._resolver = resolver
        self._dial = dial or httpcore.SyncBackend().connect_tcp
        self._proxy = resolve_proxy(options.proxy)
        self._ssl_context = ssl_context
        self._pools: dict[bool, httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    def send(self, url: str, *, allows_local: bool) -> HttpResponse:
        """Request a URL and return the response, even if its status means an error.

        With `allows_local`, the host may be on this machine or its network.

        Raises:
            FetchError: There was no response, or the response was invalid or too large.
        """
        try:
            response = self._get_pool(allows_local=allows_local).handle_request(self._make_request(url))
            try:
                headers: dict[str, str] = {}
                for name, value in response.headers:
                    key = name.decode("ascii", "replace").lower()
                    headers.setdefault(key, value.decode("utf-8", "replace"))
                body = b""
                if response.status in PAGE_STATUSES:
                    body = read_body(response.iter_stream(), headers, self._options.body_bytes_max, url)
            finally:
                response.close()
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise self._make_error(url, error) from None
        return HttpResponse(
            url=url,
            status=response.status,
            headers=headers,
            body=body,
            fetched_at=time.time(),
            allowed_local=allows_local,
        )

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            pools = list(self._pools.values())
            self._pools.clear()
        for pool in pools:
            pool.close()

    def _make_request(self, url: str) -> httpcore.Request:
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        read = self._options.read_timeout_seconds
        connect = self._options.connect_timeout_seconds
        headers = {
            "Host": parts.netloc,
            "Accept": ACCEPT,
            # the only encoding that the standard library decompresses in bounded steps
            "Accept-Encoding": "gzip",
            "Connection": "keep-alive",
            "User-Agent": USER_AGENT,
        }
        return httpcore.Request(
            "GET",
            httpcore.URL(
                scheme=parts.scheme.encode("ascii"),
                host=(parts.hostname or "").encode("ascii"),
                port=parts.port,
                target=target.encode("ascii"),
            ),
            headers=[(name.encode("ascii"), value.encode("utf-8")) for name, value in headers.items()],
            extensions={"timeout": {"connect": connect, "read": read, "write": read, "pool": connect}},
        )

    def _make_error(self, url: str, error: Exception) -> FetchError:
        host = urlsplit(url).netloc
        is_unreachable = isinstance(error, httpcore.ConnectTimeout | httpcore.ConnectError)
        cause = error.args[0] if is_unreachable and error.args else None
        if isinstance(cause, ssl.SSLCertVerificationError):
            problem = "".join(character for character in cause.verify_message if character.isprintable())
            return UnreachableError(f"{host} has no valid certificate ({problem}). Check the URL.")
        if isinstance(error, httpcore.TimeoutException) or self._deadline.remaining() <= 0:
            reason = f"{url} took too long to answer. Try again later."
        elif is_unreachable:
            reason = f"{host} cannot be reached. Check the URL and the network."
        elif isinstance(error, httpcore.NetworkError) or "complete message body" in str(error):
            reason = f"{url} did not arrive whole. Try again."
        else:
            reason = f"{host} does not answer with valid HTTP. Check the URL and the port."
        return UnreachableError(reason) if is_unreachable else FetchError(reason)

    def _get_pool(self, *, allows_local: bool) -> httpcore.ConnectionPool:
        """Return a pool. Requests that may reach this machine have their own, so that no other reuses it."""
        with self._lock:
            if allows_local not in self._pools:
                if self._ssl_context is None:
                    self._ssl_context = httpcore.default_ssl_context()
                self._pools[allows_local] = httpcore.ConnectionPool(
                    ssl_context=self._ssl_context,
                    max_connections=None,
                    max_keepalive_connections=_IDLE_CONNECTIONS_MAX,
                    keepalive_expiry=_IDLE_SECONDS_MAX,
                    network_backend=CheckedBackend(
                        self._resolver,
                        self._deadline,
                        self._dial,
                        allows_local=allows_local,
                        proxy=self._proxy,
                    ),
                )
            return self._pools[allows_local]


def read_body(pieces: Iterable[bytes], headers: Mapping[str, str], bytes_max: int, url: str) -> bytes:
    """Join and decompress the pieces of a body, within a limit of bytes.

    Raises:
        FetchError: The body is too large, incomplete, damaged, or compressed other than by gzip.
    """
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > bytes_max:
        raise _make_size_error(url, bytes_max)
    name = headers.get("content-encoding", "").strip().lower()
    if name not in ("", "identity", "gzip", "x-gzip"):
        raise FetchError(
            f"{url} uses a compression that roamtui cannot read. Save it from a browser and open the file."
        )
    decoder = zlib.decompressobj(_GZIP_BITS) if name.endswith("gzip") else None
    body = bytearray()
    received = 0
    for piece in pieces:
        received += len(piece)
        try:
            body += piece if decoder is None else decoder.decompress(piece, bytes_max - len(body) + 1)
            while decoder and decoder.unused_data.startswith(_GZIP_MAGIC) and len(body) <= bytes_max:
                following = decoder.unused_data
                decoder = zlib.decompressobj(_GZIP_BITS)
                body += decoder.decompress(following, bytes_max - len(body) + 1)
        except zlib.error:
            raise FetchError(f"{url} sent damaged data. Try again.") from None
        if max(received, len(body)) > bytes_max:
            raise _make_size_error(url, bytes_max)
    if decoder and received and not decoder.eof:
        raise FetchError(f"{url} did not arrive whole. Try again.")
    return bytes(body)


def _make_size_error(url: str, bytes_max: int) -> FetchError:
    return FetchError(f"{url} is larger than {bytes_max / 1e6:,.0f} MB. Download it and open the file.")
