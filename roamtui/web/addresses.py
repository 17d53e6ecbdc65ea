"""Looks up hosts, and refuses IP addresses that belong to no site, or that only a person may name.

The ranges are copied from IANA's special-purpose registries, because the result of `ipaddress.is_global`
depends on the version of Python.
"""

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from enum import StrEnum

from roamtui.web.page import BlockedAddressError, UnreachableError
from roamtui.web.urls import strip_www

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
"""Networks that contain no sites. The last four are metadata and internal services of clouds. 2001::/23
(Teredo) and 2002::/16 (6to4) embed IPv4 addresses."""
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All allocated IPv6 addresses. Mapped and compatible IPv4 addresses are outside this network."""
_TRANSLATED_IPV4 = ipaddress.IPv6Network("64:ff9b::/96")
"""Public IPv4 addresses in a network that has only IPv6 (RFC 6052). Their last 32 bits are the address."""


def resolve_with_system(host: str, port: int) -> list[str]:
    """Ask the system's resolver for the IP addresses of a host."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class HostResolver:
    """Resolves hosts to IP addresses. Thread-safe.

    It refuses private addresses unless a person typed the origin, and special addresses unless a person typed
    the address itself.
    """

    def __init__(self, resolve: Resolve = resolve_with_system) -> None:
        self._resolve = resolve
        self._scopes: dict[str, AddressScope] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, seconds_max: float, *, allows_local: bool) -> tuple[str, ...]:
        """Return the IP addresses of a host. It is safe to connect to each.

        With `allows_local`, the host may be on this machine or its network, because a person typed the
        origin. Raise `FetchError` if the host is unknown, or if one of its addresses is refused.
        """
        literal = parse_ip(host)
        addresses = self._look_up(host, port, seconds_max) if literal is None else [literal]
        for address in addresses:
            scope = classify_address(address)
            if not allows_local and scope is not AddressScope.PUBLIC:
                raise BlockedAddressError(
                    f"{address} is not a public IP address, so {host} is not fetched. "
                    "Only a URL that you type yourself may lead to a private one."
                )
            if not allows_local or literal is not None:
                continue
            if scope is AddressScope.SPECIAL:
                raise BlockedAddressError(
                    f"{host} points to {address}, which cannot be the IP address of a website. "
                    "Check the spelling."
                )
            # A typed name may be local, but then it must stay local: a public name that suddenly leads to
            # this machine is an attack on the services that run here (DNS rebinding).
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
    """This machine, or the network that it is in."""
    SPECIAL = "special"
    """No site can be here: metadata services, multicast, reserved ranges, and ranges that embed IPv4."""


def classify_address(address: Address) -> AddressScope:
    """Classify an IP address by IANA's special-purpose registries."""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return AddressScope.SPECIAL
    if address in _TRANSLATED_IPV4:
        embedded = ipaddress.IPv4Address(address.packed[-4:])
        is_public = classify_address(embedded) is AddressScope.PUBLIC
        return AddressScope.PUBLIC if is_public else AddressScope.SPECIAL
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
