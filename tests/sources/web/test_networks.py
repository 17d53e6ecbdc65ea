"""Which addresses are the open internet's."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.sources.web.networks import Reach, find_reach

_PUBLIC = ["8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "2a00:1450::1"]
_LOCAL = ["127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"]
_LOCAL += ["0.0.0.0", "::", "::1", "fd12:3456::1", "fc00::1"]  # noqa: S104 - nothing listens here
_SPECIAL = ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "192.0.0.192", "0.1.2.3"]
_SPECIAL += ["224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "203.0.113.9"]
_SPECIAL += ["::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1"]
_SPECIAL += ["2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1"]
_SPECIAL += ["::ffff:0:127.0.0.1", "3fff::1", "5f00::1"]

ipv4 = st.ip_addresses(v=4).map(lambda address: ipaddress.IPv4Address(str(address)))


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        *((text, Reach.PUBLIC) for text in _PUBLIC),
        *((text, Reach.LOCAL) for text in _LOCAL),
        *((text, Reach.SPECIAL) for text in _SPECIAL),
    ],
)
def test_reach(text: str, reach: Reach) -> None:
    assert find_reach(ipaddress.ip_address(text)) is reach


@given(st.ip_addresses())
def test_what_python_holds_for_special_is_never_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    special = (address.is_private, address.is_loopback, address.is_link_local, address.is_multicast)
    if any((*special, address.is_reserved, address.is_unspecified)):
        assert find_reach(address) is not Reach.PUBLIC


@given(ipv4, st.integers(0, 0xFFFF_FFFF))
def test_no_address_that_embeds_another_is_public(address: ipaddress.IPv4Address, rest: int) -> None:
    inner = int(address)
    embedded = {
        "compatible": inner,
        "mapped": 0xFFFF << 32 | inner,
        "translated": 0xFFFF << 48 | inner,
        "NAT64": 0x64_FF9B << 96 | inner,
        "local NAT64": 0x64_FF9B_0001 << 80 | rest << 32 | inner,
        "6to4": 0x2002 << 112 | inner << 80 | rest,
        "Teredo": 0x2001_0000 << 96 | rest << 64 | inner ^ 0xFFFF_FFFF,
    }
    for value in embedded.values():
        assert find_reach(ipaddress.IPv6Address(value)) is not Reach.PUBLIC
