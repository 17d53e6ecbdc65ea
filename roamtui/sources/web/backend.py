"""Connections to checked addresses, with a limit on time, as httpcore's network backend.

The check stands where the connection is made: what is connected to is the very address that was checked, so that an
answer of DNS that changes in between changes nothing. Host and TLS name stay those of the URL.
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
from typing_extensions import override

from roamtui.sources.web.resolving import AddressBook

_ADDRESSES_TRIED = 4


class CheckedBackend(httpcore.NetworkBackend):
    """Connects only where the address book allows it."""

    def __init__(
        self, book: AddressBook, time_limit: TimeLimit, dial: httpcore.NetworkBackend, *, allows_local: bool
    ) -> None:
        self._book = book
        self._time_limit = time_limit
        self._dial = dial
        self._allows_local = allows_local

    @override
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        seconds = self._time_limit.clip(timeout)
        addresses = self._book.find(host, port, allows_local=self._allows_local, seconds_max=seconds)
        tried = addresses[:_ADDRESSES_TRIED]
        with self._time_limit.within(seconds):
            for index, address in enumerate(tried):
                share = self._time_limit.remaining() / (len(tried) - index)
                if share <= 0:
                    break
                try:
                    stream = self._dial.connect_tcp(address, port, share, local_address, socket_options)
                except (httpcore.ConnectError, httpcore.ConnectTimeout):
                    if index == len(tried) - 1:
                        raise
                else:
                    return LimitedStream(stream, self._time_limit)
        raise httpcore.ConnectTimeout

    @override
    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        raise httpcore.ConnectError("Pages do not come from sockets of this machine.")

    @override
    def sleep(self, seconds: float) -> None:
        self._dial.sleep(self._time_limit.clip(seconds))


class LimitedStream(httpcore.NetworkStream):
    """A connection whose every step ends when the fetch must."""

    def __init__(self, stream: httpcore.NetworkStream, time_limit: TimeLimit) -> None:
        self._stream = stream
        self._time_limit = time_limit
        self.has_read_since_write = False
        """Whether anything was received since the last request: else its answer was there before it was asked."""

    @override
    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        seconds = self._time_limit.clip(timeout)
        if seconds <= 0:
            raise httpcore.ReadTimeout
        self.has_read_since_write = True
        return self._stream.read(max_bytes, seconds)

    @override
    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        seconds = self._time_limit.clip(timeout)
        if seconds <= 0:
            raise httpcore.WriteTimeout
        self.has_read_since_write = False
        self._stream.write(buffer, seconds)

    @override
    def close(self) -> None:
        self._stream.close()

    @override
    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        seconds = self._time_limit.clip(timeout)
        if seconds <= 0:
            self._stream.close()
            raise httpcore.ConnectTimeout
        return LimitedStream(self._stream.start_tls(ssl_context, server_hostname, seconds), self._time_limit)

    @override
    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class TimeLimit(threading.local):
    """The end of the fetch that runs in the calling thread; each thread has its own.

    Sockets are read in the thread that fetches, so that a limit set there reaches every single read.
    """

    def __init__(self) -> None:
        self._ends_at = math.inf

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """End everything inside after so many seconds, and not later than a limit around it."""
        outer = self._ends_at
        self._ends_at = min(outer, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._ends_at = outer

    def extend(self, seconds: float) -> None:
        """Leave time out of the account, such as a wait for one's turn."""
        self._ends_at += seconds

    def remaining(self) -> float:
        """Return the seconds that are left, at most none."""
        return max(0.0, self._ends_at - time.monotonic())

    def clip(self, seconds: float | None) -> float:
        """Return a time-out that does not outlast the fetch."""
        return self.remaining() if seconds is None else min(seconds, self.remaining())
