"""Repositories on GitHub and GitLab are opened from their archive, which is fetched only for a URL that was typed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from roamtui.document.web_loader import PageLoader, fetch_repository_listing, make_archive_url
from roamtui.errors import SourceError
from roamtui.sources.convert.converted import DEFAULT_OPTIONS
from roamtui.sources.listing import Listing
from tests.fakes.hostile_server import FakeInternet, Handler, HostileServer, answer, redirect
from tests.sources.listings import keys
from tests.sources.web.fetching import open_fetcher

URL = "http://github.com/larch/lane"
ARCHIVE = "/larch/lane/archive/HEAD.zip"
CODE_ADDRESS = "93.184.215.77"


def make_zip(members: Mapping[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


ZIP = make_zip({"lane-1a2b/README.md": "# Lane\n", "lane-1a2b/docs/a.md": "# A\n", "lane-1a2b/src/x.py": "x"})


def list_from(handlers: Mapping[str, Handler], code: Handler | None = None) -> Listing | None:
    """List the repository of `URL` from a site with these handlers. Its archive is on another one."""
    internet = FakeInternet()
    with HostileServer() as site, HostileServer() as code_site, open_fetcher(internet=internet) as fetcher:
        internet.add("github.com", site)
        internet.add("codeload.github.com", code_site, address=CODE_ADDRESS)
        site.handlers |= handlers
        if code is not None:
            code_site.handlers["/larch/lane/zip/HEAD"] = code
        try:
            return fetch_repository_listing(URL, PageLoader(fetcher, frozenset({"http://github.com"})), DEFAULT_OPTIONS)
        finally:
            sent = [request for server in (site, code_site) for request in server.requests]
            assert not any("authorization" in str(request).lower() for request in sent)


def test_a_repository_is_a_folder_of_its_documents() -> None:
    listing = list_from({ARCHIVE: redirect("http://codeload.github.com/larch/lane/zip/HEAD")}, answer(ZIP))
    assert listing is not None
    assert keys(listing) == ["README.md", "docs", "docs/a.md"]
    assert (listing.source, listing.name) == (URL, "lane")
    assert listing.readers["docs/a.md"]().text == "# A\n"


@pytest.mark.parametrize("handler", [answer(status=404), answer(b"<html>Log in</html>")])
def test_what_has_no_archive_is_opened_as_a_page(handler: Handler) -> None:
    assert list_from({ARCHIVE: handler}) is None


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (answer(b"PK broken"), "damaged"),
        (answer(make_zip({"lane/x.py": ""})), "contains no Markdown"),
        (answer(ZIP, length=200_000_000), "larger than 100 MB"),
        (redirect("http://127.0.0.1:1/x.zip"), "not a public address"),
        (answer(status=500), "server error"),
    ],
)
def test_an_archive_that_cannot_be_opened_says_why(handler: Handler, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        list_from({ARCHIVE: handler})


@pytest.mark.parametrize(
    ("url", "archive"),
    [
        ("https://github.com/a/b", "https://github.com/a/b/archive/HEAD.zip"),
        ("https://github.com/a/b.git", "https://github.com/a/b/archive/HEAD.zip"),
        ("https://github.com/a/b/", "https://github.com/a/b/archive/HEAD.zip"),
        ("https://github.com/a/b/tree/v1.0", "https://github.com/a/b/archive/v1.0.zip"),
        ("https://gitlab.com/a/b/c", "https://gitlab.com/a/b/c/-/archive/HEAD/c-HEAD.zip"),
        ("https://gitlab.com/a/c/-/tree/x/y", "https://gitlab.com/a/c/-/archive/x/y/c-x-y.zip"),
        ("https://github.com/a", None),
        ("https://github.com/a/b/blob/main/README.md", None),
        ("https://github.com/a/b/issues", None),
        ("https://github.com.example/a/b", None),
        ("https://github.com/a/b?tab=readme", None),
        ("https://gitlab.com/a/b/-/issues", None),
    ],
)
def test_only_the_address_of_a_repository_has_an_archive(url: str, archive: str | None) -> None:
    assert make_archive_url(url) == archive
