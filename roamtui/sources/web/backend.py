"""Connections to checked addresses, with a limit on time, as httpcore's network backend.

The check stands where the connection is made: what is connected to is the very address that was checked, so that an
answer of DNS that changes in between changes nothing. Host and TLS name stay those of the URL. The ranges of addresses
are those of IANA's special-purpose registries, written out: what `ipaddress` calls global differs between versions of
Python.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import httpcore
from typing_extensions import override

from roamtui.sources.web.page import BlockedAddressError, FetchError, UnreachableError
from roamtui.sources.web.urls import bare_host

_ADDRESSES_TRIED = 4


class CheckedBackend(httpcore.NetworkBackend):
    """Connects only where the address book allows it."""

    def __init__(
        self, book: HostResolver, time_limit: Deadline, dial: httpcore.NetworkBackend, *, allows_local: bool
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
        addresses = self._book.resolve(host, port, allows_local=self._allows_local, seconds_max=seconds)
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


class LimitedStream(httpcore.NetworkStream):
    """A connection whose every step ends when the fetch must."""

    def __init__(self, stream: httpcore.NetworkStream, time_limit: Deadline) -> None:
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


class Deadline(threading.local):
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


Resolve = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, or raises OSError."""
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _read_networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(map(ipaddress.ip_network, text.split()))


_LOCAL = _read_networks(
    "0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::/128 ::1/128 fc00::/7"
)
_SPECIAL = _read_networks("""
    0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
    224.0.0.0/3 2001::/23 2001:db8::/32 2002::/16 3fff::/20
    100.100.100.200/32 168.63.129.16/32 fd00:ec2::/32 fd20:ce::/32
""")
"""The last four are metadata and inner services of clouds; 2001::/23 has Teredo, 2002::/16 is IPv4 in disguise."""
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All that is given out of IPv6. What embeds IPv4 (mapped, compatible, translated) lies outside of it."""


def resolve_with_system(host: str, port: int) -> list[str]:
    """Return what the machine's resolver says of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class HostResolver:
    """Finds the addresses of hosts, and refuses those that a site must not lead to. Thread-safe."""

    def __init__(self, resolve: Resolve = resolve_with_system) -> None:
        self._resolve = resolve
        self._reaches: dict[str, AddressScope] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, *, allows_local: bool, seconds_max: float) -> tuple[str, ...]:
        """Return the addresses of a host, all of which may be connected to.

        Args:
            host: A name, or an address in its usual notation.
            port: Where to connect to.
            allows_local: Whether a person typed the origin, so that it may be on this machine or network.
            seconds_max: How long to wait for an answer.

        Raises:
            FetchError: The host is unknown, or one of its addresses is refused.
        """
        literal = parse_ip(host)
        if literal is not None:
            if not allows_local and classify_address(literal) is not AddressScope.PUBLIC:
                raise _refuse(host, literal)
            return (str(literal),)
        found = [parse_ip(text) for text in self._query_resolver(host, port, seconds_max)]
        addresses = [address for address in found if address is not None]
        if not addresses or len(addresses) < len(found):
            raise FetchError(f"{host} has no address that can be used. Check its spelling.")
        self._check(host, addresses, allows_local=allows_local)
        return tuple(map(str, addresses))

    def _check(self, host: str, addresses: Sequence[Address], *, allows_local: bool) -> None:
        """Refuse addresses that are not public.

        A typed name may be local, but then it is so always: a name that has been public and suddenly leads to this
        machine is an attack on what runs here.
        """
        for address in addresses:
            reach = classify_address(address)
            if not allows_local:
                if reach is not AddressScope.PUBLIC:
                    raise _refuse(host, address)
                continue
            if reach is AddressScope.SPECIAL:
                raise BlockedAddressError(f"{host} leads to {address}, where no site can be. Check its spelling.")
            with self._lock:
                expected = self._reaches.setdefault(bare_host(host), reach)
            if reach is not expected:
                raise BlockedAddressError(
                    f"{host} leads to the open internet and to this machine's network by turns ({address}). "
                    "That may be an attack, so it is not fetched."
                )

    def _query_resolver(self, host: str, port: int, seconds_max: float) -> Sequence[str]:
        """Ask the resolver in a thread of its own, because it cannot be told to give up."""
        answers: list[Sequence[str]] = []

        def ask() -> None:
            try:
                answers.append(self._resolve(host, port))
            except (OSError, UnicodeError):
                answers.append(())

        thread = threading.Thread(target=ask, daemon=True, name="roamtui-lookup")
        thread.start()
        thread.join(seconds_max)
        if not answers:
            raise UnreachableError(f"The address of {host} was not found in time. Check the network, and try again.")
        if not answers[0]:
            raise UnreachableError(f"There is no host {host}, or no network. Check its spelling and the connection.")
        return answers[0]


def _refuse(host: str, address: Address) -> BlockedAddressError:
    shown = str(address)
    return BlockedAddressError(
        f"{host} leads to {shown}, which is no public address. Only an address that you type yourself may do that."
        if shown != host
        else f"{host} is no public address. Only an address that you type yourself may be one."
    )


class AddressScope(StrEnum):
    """Where an address leads."""

    PUBLIC = "public"
    LOCAL = "local"
    """To this machine, or to the network that it is in."""
    SPECIAL = "special"
    """Nowhere that a name of a site may lead: metadata services, multicast, reserved and embedding ranges."""


def classify_address(address: Address) -> AddressScope:
    """Return where an address leads."""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return AddressScope.SPECIAL
    is_local = any(address in network for network in _LOCAL)
    if any(address in network for network in _SPECIAL) and not (is_local and int(address) == 0):
        return AddressScope.SPECIAL
    if is_local:
        return AddressScope.LOCAL
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_IPV6:
        return AddressScope.SPECIAL
    return AddressScope.PUBLIC


def parse_ip(text: str) -> Address | None:
    """Return an address in its usual notation, None where the text is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
