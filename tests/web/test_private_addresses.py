"""Attempts to reach this machine or its network by names, changing DNS answers, and redirects."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.web.addresses import AddressScope, classify_address
from roamtui.web.page import FetchError
from roamtui.web.urls import normalise_url, origin_of
from tests.case_files import read_rows
from tests.fakes.hostile_server import PUBLIC_ADDRESS, FakeInternet, HostileServer, answer, redirect
from tests.web.fetching import allow, approve, open_fetcher

SITE = "http://docs.example"
_PUBLIC, _LOCAL, _SPECIAL = (read_rows("web/addresses", scope) for scope in ("public", "local", "special"))


@pytest.mark.parametrize("address", [*_LOCAL, *_SPECIAL, "not an address", "127.1"])
def test_an_approved_name_with_a_private_address_is_not_connected_to(address: str) -> None:
    internet = FakeInternet()
    internet.answers["docs.example"] = [[address]]
    with open_fetcher(internet=internet) as fetcher, pytest.raises(FetchError) as caught:
        fetcher.fetch(SITE, approve(SITE))
    assert internet.dialled == []
    assert "docs.example" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data"],
)
def test_an_approved_private_ip_address_is_not_connected_to(url: str) -> None:
    internet = FakeInternet()
    origin = origin_of(normalise_url(url))
    with open_fetcher(internet=internet) as fetcher, pytest.raises(FetchError, match="not a public IP address"):
        fetcher.fetch(url, approve(origin))
    assert (internet.lookups, internet.dialled) == ([], [])


def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    internet = FakeInternet()
    with HostileServer() as site, HostileServer() as inside, open_fetcher(internet=internet) as fetcher:
        site.handlers["/"] = answer(b"public")
        internet.add("docs.example", site)
        internet.servers["10.0.0.1", 80] = inside
        internet.answers["docs.example"] = [[PUBLIC_ADDRESS], ["10.0.0.1"]]
        assert fetcher.fetch(SITE, approve(SITE)).body == b"public"
        assert internet.lookups == ["docs.example"]
        assert internet.dialled == [(PUBLIC_ADDRESS, 80)]
        assert site.requests[0].headers["host"] == "docs.example"


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize("later", [["127.0.0.1"], ["127.0.0.1", PUBLIC_ADDRESS]])
def test_a_name_that_turns_from_public_to_private_is_refused(later: list[str], *, is_typed: bool) -> None:
    internet = FakeInternet()
    with HostileServer() as site, HostileServer() as inside, open_fetcher(internet=internet) as fetcher:
        site.handlers["/"] = answer(b"public", headers=[("Connection", "close")])
        internet.add("docs.example", site)
        internet.servers["127.0.0.1", 80] = inside
        internet.answers |= {"docs.example": [[PUBLIC_ADDRESS], later], "www.docs.example": [later]}
        allowed = allow(SITE) if is_typed else approve(SITE)
        assert fetcher.fetch(SITE, allowed).body == b"public"
        for url in (f"{SITE}/admin", "http://www.docs.example/admin"):
            with pytest.raises(FetchError, match="may be an attack" if is_typed else "not a public IP address"):
                fetcher.fetch(url, allowed)
        assert inside.connections == 0


def test_a_redirect_into_private_space_is_refused() -> None:
    internet = FakeInternet()
    with HostileServer() as site, HostileServer() as inside, open_fetcher(internet=internet) as fetcher:
        internet.add("docs.example", site)
        internet.answers |= {"evil.example": [["10.0.0.1"]], "localhost": [["127.0.0.1"]]}
        internet.servers |= {("10.0.0.1", 80): inside, ("127.0.0.1", 80): inside}
        for host in ("evil.example", "localhost", "127.0.0.1", "10.0.0.1", "[::1]"):
            site.handlers["/"] = redirect(f"http://{host}/")
            with pytest.raises(FetchError, match="not a public IP address"):
                fetcher.fetch(SITE, allow(SITE), follows_public=True)
        assert inside.connections == 0


def test_a_typed_origin_may_be_local_but_no_other_port_or_name_is() -> None:
    internet = FakeInternet()
    with HostileServer() as server, open_fetcher(internet=internet) as fetcher:
        internet.answers |= {"wiki.corp": [["10.0.0.7"]], "other.corp": [["10.0.0.7"]]}
        internet.servers |= {("10.0.0.7", 80): server, ("10.0.0.7", 8080): server}
        server.handlers["/"] = answer(b"inside")
        assert fetcher.fetch("http://wiki.corp", allow("http://wiki.corp")).body == b"inside"
        for url in ("http://wiki.corp:8080/", "http://other.corp/"):
            server.handlers["/"] = redirect(url)
            with pytest.raises(FetchError, match="not a public IP address"):
                fetcher.fetch("http://wiki.corp", allow("http://wiki.corp"), follows_public=True)


def test_a_typed_name_does_not_lead_to_a_metadata_service_while_a_typed_number_does() -> None:
    internet = FakeInternet()
    with HostileServer() as server, open_fetcher(internet=internet) as fetcher:
        internet.answers["docs.example"] = [["169.254.169.254"]]
        internet.servers["169.254.169.254", 80] = server
        server.handlers["/"] = answer(b"inside")
        with pytest.raises(FetchError, match="cannot be the IP address of a website"):
            fetcher.fetch(SITE, allow(SITE))
        assert fetcher.fetch("http://169.254.169.254/", allow("http://169.254.169.254")).body == b"inside"


@pytest.mark.parametrize(
    ("texts", "scope"),
    [(_PUBLIC, AddressScope.PUBLIC), (_LOCAL, AddressScope.LOCAL), (_SPECIAL, AddressScope.SPECIAL)],
)
def test_an_address_has_the_scope_of_its_range(texts: list[str], scope: AddressScope) -> None:
    assert [text for text in texts if classify_address(ipaddress.ip_address(text)) is not scope] == []


@given(st.ip_addresses())
def test_an_address_that_python_calls_special_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if address in ipaddress.ip_network("64:ff9b::/96"):
        address = ipaddress.IPv4Address(address.packed[-4:])
    special = (address.is_private, address.is_loopback, address.is_link_local, address.is_multicast)
    if any((*special, address.is_reserved, address.is_unspecified)):
        assert classify_address(address) is not AddressScope.PUBLIC
