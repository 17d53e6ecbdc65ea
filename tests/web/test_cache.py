"""The page cache: responses that it stores and evicts, also with other programs at the same time."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.file_cache import FileCache
from roamtui.web.fetcher import make_cache_name
from roamtui.web.page import FetchError, HttpResponse, OriginNotApprovedError
from tests.fakes.hostile_server import FakeInternet, Handler, HostileServer, answer, raw, redirect
from tests.web.fetching import allow, approve, open_fetcher


def test_a_page_is_fresh_for_a_time_unless_it_is_to_be_fetched_again(tmp_path: Path) -> None:
    with HostileServer() as server:
        server.handlers["/a"] = answer(b"words")
        for changes, requests in (({}, 1), ({}, 1), ({"always_fetch": True}, 2), ({"fresh_seconds": 0.0}, 3)):
            with open_fetcher(tmp_path, **changes) as fetcher:
                page = fetcher.fetch(f"{server.origin}/a", allow(server))
                assert (page.body, page.media_type) == (b"words", "text/markdown")
            assert len(server.requests) == requests


def test_offline_uses_cached_pages_of_any_age(tmp_path: Path) -> None:
    with HostileServer() as server:
        server.handlers |= {"/": redirect("/a"), "/a": answer(b"words")}
        server.handlers["/unkept"] = answer(headers=[("Cache-Control", "no-store")])
        with open_fetcher(tmp_path) as fetcher:
            fetcher.fetch(server.origin, allow(server))
            fetcher.fetch(f"{server.origin}/unkept", allow(server))
            with pytest.raises(FetchError):
                fetcher.fetch(f"{server.origin}/missing", allow(server))
        seen = len(server.requests)
        with open_fetcher(tmp_path, is_offline=True) as fetcher:
            page = fetcher.fetch(server.origin, allow(server))
            assert (page.body, page.final_url) == (b"words", f"{server.origin}/a")
            assert "roamtui was started with --no-network" in page.notes[0]
            with pytest.raises(FetchError) as caught:
                fetcher.fetch(f"{server.origin}/missing", allow(server))
            assert caught.value.status == 404
            with pytest.raises(FetchError, match="is not cached"):
                fetcher.fetch(f"{server.origin}/unkept", allow(server))
        assert len(server.requests) == seen


@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        (raw(b"no HTTP\r\n\r\n"), "does not answer with valid HTTP."),
        (answer(status=503), "overloaded or has a problem (503)."),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"), "did not arrive whole"),
        (redirect("data:text/plain,x"), None),
        (answer(status=403), None),
        (answer(status=404), None),
    ],
)
def test_if_a_site_fails_the_cached_page_is_used(tmp_path: Path, failing: Handler, reason: str | None) -> None:
    with HostileServer() as server, open_fetcher(tmp_path) as fetcher:
        server.handlers |= {"/": redirect("/a"), "/a": answer(b"words")}
        fetcher.fetch(server.origin, allow(server))
        cache = FileCache(tmp_path, HttpResponse, 9_000)
        name = make_cache_name(f"{server.origin}/a")
        kept = cache.load(name)
        assert kept is not None
        cache.save(name, replace(kept, fetched_at=946_728_000.0))
        server.handlers["/a"] = failing
        if reason is None:
            with pytest.raises(FetchError):
                fetcher.fetch(server.origin, allow(server))
            return
        page = fetcher.fetch(server.origin, allow(server))
        assert page.body == b"words"
        (note,) = page.notes
        assert reason in note
        assert note.endswith(f"{server.origin}/a is shown as it was on 2000-01-01.")
        server.handlers["/a"] = answer(b"new words")
        page = fetcher.fetch(server.origin, allow(server))
        assert (page.body, page.notes) == (b"new words", ())


def test_a_cached_page_of_a_typed_local_site_is_not_used_for_an_approved_one(tmp_path: Path) -> None:
    internet = FakeInternet()
    with HostileServer() as server, open_fetcher(tmp_path, internet) as fetcher:
        internet.add("inside.example", server, address="10.0.0.1")
        server.handlers["/a"] = answer(b"secret")
        assert fetcher.fetch("http://inside.example/a", allow("http://inside.example")).body == b"secret"
        with pytest.raises(FetchError, match="not a public IP address"):
            fetcher.fetch("http://inside.example/a", approve("http://inside.example"))
        del internet.answers["inside.example"]
        for is_offline in (False, True):
            with open_fetcher(tmp_path, internet, is_offline=is_offline, fresh_seconds=0.0) as other:
                assert other.fetch("http://inside.example/a", allow("http://inside.example")).body == b"secret"
                with pytest.raises(FetchError):
                    other.fetch("http://inside.example/a", approve("http://inside.example"))


def test_a_cached_redirect_is_checked_like_any_other(tmp_path: Path) -> None:
    with HostileServer() as first, HostileServer() as second, open_fetcher(tmp_path) as fetcher:
        first.handlers["/"] = redirect(second.origin)
        second.handlers["/"] = answer(b"words")
        assert fetcher.fetch(first.origin, allow(first, second)).body == b"words"
        with open_fetcher(tmp_path, is_offline=True) as offline, pytest.raises(OriginNotApprovedError):
            offline.fetch(first.origin, allow(first))
