"""Which IP addresses are the open internet's, which are a person's own network's, and which are never a site's.

The ranges are those of IANA's special-purpose registries, written out: what `ipaddress` calls global differs between
versions of Python.
"""

from __future__ import annotations

import ipaddress
from enum import StrEnum

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Reach(StrEnum):
    """Where an address leads."""

    PUBLIC = "public"
    LOCAL = "local"
    """To this machine, or to the network that it is in."""
    SPECIAL = "special"
    """Nowhere that a name of a site may lead: metadata services, multicast, reserved and embedding ranges."""


_LOCAL = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/32",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "::/128",
            "::1/128",
            "fc00::/7",
        ),
    )
)
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8",
            "100.100.100.200/32",  # metadata, within the range of carriers
            "168.63.129.16/32",  # a cloud's inner service, at a public address
            "169.254.0.0/16",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",
            "fd00:ec2::/32",  # metadata, within the range of private networks
            "fd20:ce::/32",
            "2001::/23",  # Teredo and other ranges of the protocol itself
            "2001:db8::/32",
            "2002::/16",  # 6to4: an IPv4 address in disguise
            "3fff::/20",
        ),
    )
)
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All that is given out of IPv6. What embeds IPv4 (mapped, compatible, translated) lies outside of it."""


def find_reach(address: Address) -> Reach:
    """Return where an address leads."""
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return Reach.SPECIAL
    is_local = _is_within(address, _LOCAL)
    if _is_within(address, _SPECIAL) and not (is_local and int(address) == 0):
        return Reach.SPECIAL
    if is_local:
        return Reach.LOCAL
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_IPV6:
        return Reach.SPECIAL
    return Reach.PUBLIC


def parse_ip(text: str) -> Address | None:
    """Return an address in its usual notation, None where the text is none."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_within(address: Address, networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]) -> bool:
    return any(address in network for network in networks if network.version == address.version)
