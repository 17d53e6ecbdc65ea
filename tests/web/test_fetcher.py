"""`Fetcher`: requests, pages, redirects and errors."""

import gzip
from collections.abc import Callable

import pytest

import roamtui
from roamtui.errors import SourceError
from roamtui.web.http_client import ACCEPT
from roamtui.web.page import FetchError, OriginNotApprovedError
from tests.fakes.hostile_server import FakeInternet, Handler, HostileServer, answer, redirect
from tests.web.fetching import allow, approve, open_fetcher

PAGE = b"# Guide\n\nWords.\n" * 50


def test_a_page_is_fetched_with_its_media_type_and_charset() -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers["/guide.md"] = answer(PAGE, headers=[("Content-Type", 'Text/Markdown; charset="UTF-8"; x=y')])
        page = fetcher.fetch(f"{server.origin}/guide.md#part", allow(server))
        (request,) = server.requests
    assert (page.body, page.media_type, page.charset) == (PAGE, "text/markdown", "utf-8")
    assert page.url == page.final_url == f"{server.origin}/guide.md"
    assert page.notes == ()
    assert request.headers == {
        "host": f"127.0.0.1:{server.port}",
        "accept": ACCEPT,
        "accept-encoding": "gzip",
        "connection": "keep-alive",
        "user-agent": f"roamtui/{roamtui.__version__} (+https://pypi.org/project/roamtui/)",
    }


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0)),
        ("X-GZIP", gzip.compress(PAGE, mtime=0) + b"\0\0padding"),
        ("gzip", gzip.compress(PAGE[:9], mtime=0) + gzip.compress(PAGE[9:], mtime=0)),
        ("gzip", b""),
    ],
)
def test_a_body_is_decompressed(encoding: str, data: bytes) -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers["/"] = answer(data, headers=[("Content-Encoding", encoding)])
        assert fetcher.fetch(server.origin, allow(server)).body == (PAGE if data else b"")


def test_connections_are_reused_without_cookies_or_referrer() -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers |= {path: answer(b"x", headers=[("Set-Cookie", "id=1; Path=/")]) for path in ("/a", "/b")}
        for path in ("/a", "/b"):
            assert fetcher.fetch(server.origin + path, allow(server)).body == b"x"
        assert server.connections == 1
        assert not [request for request in server.requests if {"cookie", "referer"} & set(request.headers)]


def test_only_allowed_origins_are_fetched() -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        with pytest.raises(OriginNotApprovedError) as caught:
            fetcher.fetch(server.origin, allow("http://127.0.0.1:1"))
        with pytest.raises(SourceError):
            fetcher.fetch("file:///etc/passwd", allow(server))
        assert server.connections == 0
    assert caught.value.origin == server.origin
    assert server.origin in str(caught.value)


def test_redirects_within_the_site_are_followed() -> None:
    internet = FakeInternet()
    with HostileServer() as plain, HostileServer("site.pem") as safe, open_fetcher(internet=internet) as fetcher:
        internet.add("docs.example", plain)
        internet.add("www.docs.example", safe, address="93.184.215.15", port=443)
        internet.servers["93.184.215.14", 443] = safe
        plain.handlers["/"] = redirect("https://docs.example/new", 301)
        safe.handlers["/new"] = redirect("//www.docs.example/newest?a=b", 308)
        safe.handlers["/newest?a=b"] = answer(PAGE)
        page = fetcher.fetch("http://docs.example", approve("http://docs.example"))
        assert page.body == PAGE
        assert (page.url, page.final_url) == ("http://docs.example/", "https://www.docs.example/newest?a=b")
        assert [request.headers["host"] for request in safe.requests] == ["docs.example", "www.docs.example"]


def _page(head: str) -> Handler:
    return answer(f"<html><head>{head}</head><p>Words.".encode(), headers=[("Content-Type", "text/html")])


REFRESH = "<META content=\"0; URL='{0}'\" HTTP-EQUIV=refresh>"


def _refresh(target: str) -> Handler:
    return _page(REFRESH.format(target))


@pytest.mark.parametrize("lead", [redirect, _refresh])
def test_a_redirect_to_another_origin_must_be_allowed_itself(lead: Callable[[str], Handler]) -> None:
    internet = FakeInternet()
    with HostileServer() as first, HostileServer("site.pem") as second, open_fetcher(internet=internet) as fetcher:
        internet.add("old.example", first)
        internet.add("docs.example", second, address="93.184.215.15", port=443)
        first.handlers["/"] = lead("https://docs.example/")
        second.handlers["/"] = answer(PAGE)
        second.handlers["/down"] = lead("http://docs.example/")
        second.handlers["/inside"] = lead(f"https://127.0.0.1:{second.port}/private")
        with pytest.raises(OriginNotApprovedError) as caught:
            fetcher.fetch("http://old.example", allow("http://old.example"))
        assert caught.value.origin == "https://docs.example"
        assert second.connections == 0
        assert fetcher.fetch("http://old.example", approve("http://old.example", "https://docs.example")).body == PAGE
        page = fetcher.fetch("http://old.example", allow("http://old.example"), follows_public=True)
        assert page.final_url == "https://docs.example/"
        with pytest.raises(OriginNotApprovedError):  # never from https to http
            fetcher.fetch("https://docs.example/down", allow("https://docs.example"), follows_public=True)
        with pytest.raises(FetchError, match="not a public IP address"):
            fetcher.fetch("https://docs.example/inside", allow("https://docs.example"), follows_public=True)
        assert "/private" not in second.paths


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "javascript:alert(1)", "http://me:secret@127.0.0.1/", "http://2130706433/", "http://[::1"],
)
def test_a_redirect_to_something_other_than_a_web_page_is_not_followed(location: str) -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers["/"] = redirect(location)
        with pytest.raises(FetchError, match=r"does not lead to a web page|status 302"):
            fetcher.fetch(server.origin, allow(server), follows_public=True)
        assert server.paths == ["/"]


def test_endless_redirects_end() -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers["/"] = redirect("/")
        with pytest.raises(FetchError, match="Too many redirects"):
            fetcher.fetch(server.origin, allow(server))
        assert len(server.paths) == 6


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (REFRESH.format("/en/latest/"), "/en/latest/"),
        (REFRESH.format("/back"), "/back"),
        (REFRESH.format("javascript:x()"), "/"),
        (REFRESH.format("/en/latest/").replace("0;", "60;"), "/"),
        (f"<!-- {REFRESH.format('/en/latest/')} --><noscript>{REFRESH.format('/en/latest/')}</noscript>", "/"),
        ('<meta http-equiv="refresh" content="5"><!--' + "<!--" * 40_000, "/"),
    ],
)
def test_a_refresh_is_followed_as_a_redirect(head: str, expected: str) -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers |= {"/": _page(head), "/en/latest/": answer(PAGE), "/back": _refresh("/")}
        page = fetcher.fetch(server.origin, allow(server))
        assert (page.url, page.final_url) == (f"{server.origin}/", server.origin + expected)


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/gone", "/missing", "/loop"])
def test_a_page_that_waits_before_it_redirects_is_shown_if_its_target_cannot_be(target: str) -> None:
    with HostileServer() as server, open_fetcher() as fetcher:
        server.handlers |= {"/": _page(REFRESH.format(target).replace("0;", "5;")), "/loop": redirect("/loop")}
        page = fetcher.fetch(server.origin, allow(server))
        assert page.final_url == f"{server.origin}/"
        assert page.notes[0].endswith("The page before the redirect is shown.")
        server.handlers["/"] = _refresh(target)
        with pytest.raises((FetchError, OriginNotApprovedError)):
            fetcher.fetch(server.origin, allow(server))


def test_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with HostileServer() as server, HostileServer() as proxy, open_fetcher() as fetcher:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.origin)
        server.handlers["/"] = answer(PAGE)
        assert fetcher.fetch(server.origin, allow(server)).body == PAGE
        assert proxy.connections == 0
