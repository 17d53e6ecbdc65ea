"""Pages are fetched through a proxy on loopback, and untrusted hosts are still checked on this machine."""

import base64
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

from roamtui.errors import UsageError
from roamtui.web.page import FetchError
from roamtui.web.proxy import resolve_proxy
from tests.fakes.hostile_server import (
    PUBLIC_ADDRESS,
    Client,
    FakeInternet,
    Handler,
    HostileServer,
    SeenRequest,
    answer,
    redirect,
)
from tests.web.fetching import allow, approve, open_fetcher

SITE = "https://docs.example"


def connect_to(server: HostileServer) -> Handler:
    """Return the handler of a proxy that connects its client to a server."""

    def handle(client: Client, _request: SeenRequest) -> bool:
        with socket.create_connection(("127.0.0.1", server.port)) as other:
            client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            thread = threading.Thread(target=_copy, args=(other, client.sock), daemon=True)
            thread.start()
            _copy(client.sock, other)
            thread.join()
        return False

    return handle


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("permit", "named"), [(approve, PUBLIC_ADDRESS), (allow, "docs.example")], ids=["approved", "typed"]
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_page_comes_through_the_proxy(scheme: str, permit: Callable[[str], object], named: str) -> None:
    internet = FakeInternet()
    port = 443 if scheme == "https" else 80
    internet.answers["docs.example"] = [[PUBLIC_ADDRESS]]
    certificate = "site.pem" if scheme == "https" else None
    with HostileServer(certificate) as site, HostileServer() as proxy:
        site.handlers["/"] = answer(b"public")
        proxy.handlers[f"{named}:{port}"] = connect_to(site)
        login = proxy.origin.replace("//", "//anna:p%40ss@")
        with open_fetcher(internet=internet, proxy=login) as fetcher:
            url = f"{scheme}://docs.example"
            assert fetcher.fetch(url, permit(url)).body == b"public"  # type: ignore[arg-type]
        assert site.requests[-1].headers["host"] == "docs.example"
        expected = "Basic " + base64.b64encode(b"anna:p@ss").decode()
        assert proxy.requests[0].headers["proxy-authorization"] == expected
        assert all("proxy-authorization" not in request.headers for request in site.requests)
        assert internet.dialled == [("127.0.0.1", proxy.port)] * len(internet.dialled)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.7", "169.254.169.254"])
def test_a_proxy_is_not_asked_for_an_untrusted_host_that_leads_inside(address: str) -> None:
    internet = FakeInternet()
    internet.answers |= {"docs.example": [[PUBLIC_ADDRESS]], "evil.example": [[address]]}
    with HostileServer("site.pem") as site, HostileServer() as proxy:
        proxy.handlers["docs.example:443"] = connect_to(site)
        with open_fetcher(internet=internet, proxy=proxy.origin) as fetcher:
            with pytest.raises(FetchError, match="not a public IP address"):
                fetcher.fetch("https://evil.example", approve("https://evil.example"))
            for target in ("https://evil.example/", f"https://{address}/"):
                site.handlers["/"] = redirect(target)
                with pytest.raises(FetchError, match="not a public IP address"):
                    fetcher.fetch(SITE, allow(SITE), follows_public=True)
        assert {request.path for request in proxy.requests} == {"docs.example:443"}


def test_only_a_typed_host_is_left_to_the_proxy_to_look_up() -> None:
    with HostileServer("site.pem") as site, HostileServer() as proxy:
        site.handlers["/"] = answer(b"public")
        proxy.handlers["docs.example:443"] = connect_to(site)
        with open_fetcher(internet=FakeInternet(), proxy=proxy.origin) as fetcher:
            with pytest.raises(FetchError, match="Host not found"):
                fetcher.fetch(SITE, approve(SITE))
            assert proxy.connections == 0
            assert fetcher.fetch(SITE, allow(SITE)).body == b"public"


def test_this_machine_and_its_network_are_reached_without_the_proxy() -> None:
    internet = FakeInternet()
    internet.answers["wiki.corp"] = [["10.0.0.7"]]
    with HostileServer() as wiki, HostileServer() as proxy:
        wiki.handlers["/"] = answer(b"inside")
        internet.servers["10.0.0.7", 80] = wiki
        with open_fetcher(internet=internet, proxy=proxy.origin) as fetcher:
            for url in ("http://wiki.corp", wiki.origin):
                assert fetcher.fetch(url, allow(url)).body == b"inside"
        assert proxy.connections == 0


def test_a_proxy_that_refuses_or_is_gone_is_named_without_its_login() -> None:
    with HostileServer() as proxy:
        proxy.handlers["docs.example:443"] = answer(b"", 407)
        login = proxy.origin.replace("//", "//anna:secret@")
        gone = "http://anna:secret@127.0.0.1:1"
        for url, words in ((login, "refuses to connect to docs.example: 407"), (gone, "cannot be reached")):
            with (
                open_fetcher(internet=FakeInternet(), proxy=url) as fetcher,
                pytest.raises(FetchError, match=f"proxy 127.0.0.1 {words}") as failure,
            ):
                fetcher.fetch(SITE, allow(SITE))
            assert "secret" not in str(failure.value)


def test_the_setting_names_a_proxy() -> None:
    assert resolve_proxy("") is None
    assert resolve_proxy("http://proxy.example:3128") is not None
    for wrong in ("proxy.example:3128", "socks5://proxy.example", "http://", "http://proxy.example:x", "http://a b"):
        with pytest.raises(UsageError, match=r"web\.proxy must be the URL of an HTTP proxy"):
            resolve_proxy(wrong)
