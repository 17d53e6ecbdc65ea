"""`CheckedBackend`: connects httpcore only to checked IP addresses, or through a proxy, within a deadline.

The backend connects to the very IP address that it checked, so a DNS answer that changes in between has no
effect. The Host header and the TLS name still come from the URL.
"""

from __future__ import annotations

import ipaddress
import math
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpcore
from typing_extensions import override

from roamtui.web.addresses import AddressScope, HostResolver, classify_address
from roamtui.web.page import UnreachableError
from roamtui.web.proxy import Dial, Proxy

_ADDRESSES_TRIED_MAX = 4


class CheckedBackend(httpcore.NetworkBackend):
    """Connects only to addresses that the resolver allows.

    The proxy, if there is one, looks up public hosts that a person typed, because it may know names that this
    machine does not know, and may refuse IP addresses. All other hosts are looked up and checked here.
    """

    def __init__(
        self,
        resolver: HostResolver,
        deadline: Deadline,
        dial: Dial,
        *,
        allows_local: bool,
        proxy: Proxy | None = None,
    ) -> None:
        self._resolver = resolver
        self._deadline = deadline
        self._dial = dial
        self._allows_local = allows_local
        self._proxy = proxy

    @override
    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *_args: Any, **_options: Any
    ) -> httpcore.NetworkStream:
        seconds = self._deadline.clip(timeout)
        dial = self._dial if self._proxy is None else partial(self._proxy.connect, dial=self._dial)
        tried = self._resolve(host, port, seconds)[:_ADDRESSES_TRIED_MAX]
        for address in tried:
            try:
                stream = dial(address, port, self._deadline.clip(seconds / len(tried)))
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if address == tried[-1]:
                    raise
            else:
                return LimitedStream(stream, self._deadline)
        raise httpcore.ConnectTimeout

    def _resolve(self, host: str, port: int, seconds: float) -> tuple[str, ...]:
        try:
            addresses = self._resolver.resolve(host, port, seconds, allows_local=self._allows_local)
        except UnreachableError:
            if self._proxy is None or not self._allows_local:
                raise
            return (host,)
        scopes = {classify_address(ipaddress.ip_address(text)) for text in addresses}
        is_for_proxy = self._proxy is not None and self._allows_local and scopes == {AddressScope.PUBLIC}
        return (host,) if is_for_proxy else addresses


class LimitedStream(httpcore.NetworkStream):
    """A connection in which each operation times out at the deadline of the fetch."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    @override
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clip(timeout))

    @override
    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._clip(timeout))

    @override
    def close(self) -> None:
        self._stream.close()

    @override
    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._clip(timeout))
        return LimitedStream(stream, self._deadline)

    def _clip(self, timeout: float | None) -> float:
        seconds = self._deadline.clip(timeout)
        if seconds <= 0:
            self._stream.close()
            raise httpcore.ReadTimeout
        return seconds

    @override
    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class Deadline(threading.local):
    """The time limit of a fetch. Each thread has its own.

    Sockets are read in the thread that fetches, so the limit holds for each read.
    """

    def __init__(self) -> None:
        self._ends_at = math.inf

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the `with` block to some seconds, or to an outer limit that ends earlier."""
        outer = self._ends_at
        self._ends_at = min(outer, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._ends_at = outer

    def remaining(self) -> float:
        """Return the seconds left, at least 0."""
        return max(0.0, self._ends_at - time.monotonic())

    def clip(self, seconds: float | None) -> float:
        """Shorten a timeout to the seconds left."""
        return self.remaining() if seconds is None else min(seconds, self.remaining())
