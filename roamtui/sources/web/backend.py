"""httpcore network backend that connects only to checked IP addresses or through a proxy, within a deadline.

The backend connects to the very IP address that it checked, so a DNS answer that changes in between has no
effect. The Host header and the TLS name still come from the URL. The address ranges are copied from IANA's
special-purpose registries, because the result of `ipaddress.is_global` depends on the version of Python.
"""

from __future__ import annotations

import base64
import ipaddress
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
from typing_extensions import override

from roamtui.errors import UsageError
from roamtui.sources.web.page import BlockedAddressError, UnreachableError
from roamtui.sources.web.urls import DEFAULT_PORTS, strip_www

Dial = Callable[[str, int, float], httpcore.NetworkStream]
"""Connects to an IP address and port, within some seconds."""
_ADDRESSES_TRIED_MAX = 4


class CheckedBackend(httpcore.NetworkBackend):
    """Connects only to addresses that the resolver allows.

    With `has_proxy`, `dial` connects through a proxy, which looks up the hosts that a person typed. A proxy
    may know names that this machine does not, and may refuse addresses. All other hosts are looked up and
    checked here.
    """

    def __init__(
        self,
        resolver: HostResolver,
        deadline: Deadline,
        dial: Dial,
        *,
        allows_local: bool,
        has_proxy: bool = False,
    ) -> None:
        self._resolver = resolver
        self._deadline = deadline
        self._dial = dial
        self._allows_local = allows_local
        self._has_proxy = has_proxy

    @override
    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *_args: Any, **_options: Any
    ) -> httpcore.NetworkStream:
        seconds = self._deadline.clip(timeout)
        tried = self._resolve(host, port, seconds)[:_ADDRESSES_TRIED_MAX]
        for address in tried:
            try:
                stream = self._dial(address, port, self._deadline.clip(seconds / len(tried)))
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
            if not (self._has_proxy and self._allows_local):
                raise
            return (host,)
        scopes = {classify_address(ipaddress.ip_address(text)) for text in addresses}
        is_for_proxy = self._has_proxy and self._allows_local and scopes == {AddressScope.PUBLIC}
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
    """The time limit of the fetch in the calling thread.

    Each thread has its own. Sockets are read in the thread that fetches, so the limit applies to each read.
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


Resolve = Callable[[str, int], Sequence[str]]
"""Returns the IP addresses of a host and port, or raises OSError."""
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _parse_networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(map(ipaddress.ip_network, text.split()))


_LOCAL_NETWORKS = _parse_networks(
    "0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::/128 ::1/128 fc00::/7"
)
_SPECIAL_NETWORKS = _parse_networks("""
    0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/3 2001::/23 2001:db8::/32 2002::/16 3fff::/20
    100.100.100.200/32 168.63.129.16/32 fd00:ec2::/32 fd20:ce::/32
""")
"""Networks in which no site can be. The last four are metadata and internal services of clouds; 2001::/23
(Teredo) and 2002::/16 (6to4) embed IPv4."""
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All allocated IPv6 addresses. Mapped, compatible and translated IPv4 addresses are outside this network."""


def resolve_with_system(host: str, port: int) -> list[str]:
    """Ask the system's resolver for the IP addresses of a host."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class HostResolver:
    """Resolves hosts to IP addresses. Thread-safe.

    Refuses private addresses unless a person typed the origin, and special ones unless a person typed the
    address.
    """

    def __init__(self, resolve: Resolve = resolve_with_system) -> None:
        self._resolve = resolve
        self._scopes: dict[str, AddressScope] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, seconds_max: float, *, allows_local: bool) -> tuple[str, ...]:
        """Return the IP addresses of a host, all of which are safe to connect to.

        `allows_local` means that the host may be on this machine or its network, because a person typed the
        origin.

        Raises:
            FetchError: The host is unknown, or one of its addresses is refused.
        """
        literal = parse_ip(host)
        addresses = self._look_up(host, port, seconds_max) if literal is None else [literal]
        for address in addresses:
            scope = classify_address(address)
            if not allows_local and scope is not AddressScope.PUBLIC:
                raise BlockedAddressError(
                    f"{address} is not a public address, so {host} is not fetched. "
                    "Only an address that you type yourself may be private."
                )
            if not allows_local or literal is not None:
                continue
            if scope is AddressScope.SPECIAL:
                raise BlockedAddressError(
                    f"{host} points to {address}, which cannot be the address of a website. "
                    "Check the spelling."
                )
            # A typed name may be local, but it must stay so: a public name that suddenly leads to this
            # machine is an attack on the services that run here (DNS rebinding).
            with self._lock:
                expected = self._scopes.setdefault(strip_www(host), scope)
            if scope is not expected:
                raise BlockedAddressError(
                    f"{host} sometimes leads to the internet and sometimes to your own network ({address}). "
                    "This may be an attack, so it was not fetched."
                )
        return tuple(map(str, addresses))

    def _look_up(self, host: str, port: int, seconds_max: float) -> Sequence[Address]:
        """Call the resolver in a thread, because `getaddrinfo` has no timeout."""
        answers: list[list[Address]] = []

        def ask() -> None:
            try:
                answers.append(list(map(ipaddress.ip_address, self._resolve(host, port))))
            except (OSError, ValueError):
                answers.append([])

        thread = threading.Thread(target=ask, daemon=True, name="roamtui-lookup")
        thread.start()
        thread.join(seconds_max)
        if not answers:
            raise UnreachableError(f"Looking up {host} timed out. Check the network and try again.")
        if not answers[0]:
            raise UnreachableError(f"Host not found: {host}. Check the spelling and the network.")
        return answers[0]


class AddressScope(StrEnum):
    """The network that an IP address belongs to."""

    PUBLIC = "public"
    LOCAL = "local"
    """This machine, or its own network."""
    SPECIAL = "special"
    """No site can be here: metadata services, multicast, reserved ranges, and ranges that embed IPv4."""


def classify_address(address: Address) -> AddressScope:
    """Classify an IP address by IANA's special-purpose registries."""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return AddressScope.SPECIAL
    is_local = any(address in network for network in _LOCAL_NETWORKS)
    if any(address in network for network in _SPECIAL_NETWORKS) and not (is_local and int(address) == 0):
        return AddressScope.SPECIAL
    if is_local:
        return AddressScope.LOCAL
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_IPV6:
        return AddressScope.SPECIAL
    return AddressScope.PUBLIC


def parse_ip(text: str) -> Address | None:
    """Parse an IP address in its usual notation, or return None if the text is not one."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


FROM_ENVIRONMENT = "environment"


def resolve_proxy(setting: str, environ: Mapping[str, str]) -> str:
    """Return the URL of the proxy that `web.proxy` names, or an empty string if there is none.

    Raises:
        UsageError: It is not the URL of an HTTP proxy.
    """
    name = "web.proxy"
    if setting == FROM_ENVIRONMENT:
        name = "HTTPS_PROXY"
        setting = environ.get("HTTPS_PROXY") or environ.get("https_proxy") or ""
    try:
        parts = urlsplit(setting)
        is_valid = parts.scheme in DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if setting and not (is_valid and setting.isascii() and setting.isprintable() and " " not in setting):
        raise UsageError(f'{name} must be the URL of an HTTP proxy, such as "http://proxy.example:3128".')
    return setting


class ProxyDial:
    """Connects to public hosts through a proxy, and directly to addresses of this machine and its network."""

    def __init__(self, url: str, dial: Dial) -> None:
        """Use the proxy at `url`, which `resolve_proxy` returned. `dial` opens the connection to it."""
        parts = urlsplit(url)
        self._scheme = parts.scheme
        self._host = parts.hostname or ""
        self._port = parts.port or DEFAULT_PORTS[parts.scheme]
        self._headers: list[tuple[bytes, bytes]] = []
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers = [(b"Proxy-Authorization", b"Basic " + base64.b64encode(login.encode()))]
        self._dial = dial

    def connect(self, host: str, port: int, timeout: float) -> httpcore.NetworkStream:
        """Connect to a host or IP address; see `Dial`."""
        address = parse_ip(host)
        if address is not None and classify_address(address) is not AddressScope.PUBLIC:
            return self._dial(host, port, timeout)
        # The message has no login, and no address of the proxy but its host.
        hint = "Check web.proxy in config.toml."
        try:
            stream = self._dial(self._host, self._port, timeout)
            if self._scheme == "https":
                stream = stream.start_tls(httpcore.default_ssl_context(), self._host, timeout)
            target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            origin = httpcore.Origin(self._scheme.encode(), self._host.encode(), self._port)
            request = httpcore.Request(
                "CONNECT",
                httpcore.URL(
                    scheme=origin.scheme, host=origin.host, port=origin.port, target=target.encode()
                ),
                headers=[(b"Host", target.encode()), *self._headers],
                extensions={"timeout": {"read": timeout, "write": timeout}},
            )
            response = httpcore.HTTP11Connection(origin, stream).handle_request(request)
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
            raise UnreachableError(f"The proxy {self._host} cannot be reached. {hint}") from None
        if response.status // 100 != 2:
            stream.close()
            raise UnreachableError(
                f"The proxy {self._host} refuses to connect to {host}: {response.status}. {hint}"
            )
        tunnel: httpcore.NetworkStream = response.extensions["network_stream"]
        return tunnel
