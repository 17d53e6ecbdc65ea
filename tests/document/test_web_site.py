"""An address is opened as what it is: a site's llms.txt, a page, or a sentence that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.web_options import WebOptions
from roamtui.document.web_sources import open_named
from roamtui.errors import SourceError, UsageError
from tests.fakes.site import FakeSite, SitePage

LIST = "# Site\n\n> Quote\n\n## Docs\n\n- [One](one.md): first\n"
HTML = "<html><head><title>Home</title>{0}</head><body><h1>Home</h1><p>Words.</p></body></html>"


def open_site(site: FakeSite, path: str = "") -> Library:
    library, loader = open_named([site.url(path)])
    assert loader is not None
    return library


def list_links(library: Library) -> list[str | None]:
    nodes = map(library.node, library.walk())
    return [node.url for node in nodes if node.kind is NodeKind.LINK]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"/llms.txt": LIST, "/docs/llms.txt": "# Other\n"}, "/one.md"),
        ({"/docs/llms.txt": LIST, "/": HTML}, "/docs/one.md"),
        ({"/llms.txt": SitePage(body=HTML, media_type="text/html"), "/docs/llms.txt": LIST}, "/docs/one.md"),
        ({"/": HTML.format('<link rel="llms.txt" href="/x/llms.txt">'), "/x/llms.txt": LIST}, "/x/one.md"),
        ({"/": HTML.format("<link rel=alternate type='text/plain' href=llms-x.txt>"), "/llms-x.txt": LIST}, "/one.md"),
    ],
)  # fmt: skip
def test_the_list_of_a_site_is_looked_up(found: dict[str, SitePage | str], expected: str) -> None:
    with FakeSite(found) as site:
        library = open_site(site)
        assert list_links(library) == [site.url(expected)]
        assert library.source == site.url("/")
        assert library.title == "Site"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (SitePage(body=HTML, media_type="text/html"), "an HTML page"),
        (SitePage(body=HTML, media_type="text/plain"), "an HTML page"),
        (SitePage(body='{"error": "no"}', media_type="application/json"), "JSON"),
        (SitePage(body=" ", media_type="text/plain"), "nothing"),
    ],
)
def test_what_answers_in_place_of_the_list_is_named_and_the_page_opened(answer: SitePage, words: str) -> None:
    with FakeSite({"/llms.txt": answer, "/": HTML.format("")}) as site:
        library = open_site(site)
        assert library.root.text == "# Home\n\nWords.\n"
        assert library.notes == (
            f"{site.url('/llms.txt')} is no llms.txt: the site answers with {words}.",
            f"{site.url('/')} has no llms.txt: this is the page itself.",
        )


def test_a_page_in_place_of_the_file_that_was_named_is_opened_and_said() -> None:
    answer = SitePage(body=HTML.format(""), media_type="text/html")
    with FakeSite({"/llms.txt": answer}) as site:
        library = open_site(site, "/llms.txt")
        assert library.title == "Home"
        (note,) = library.notes
        assert note.startswith(f"{site.url('/llms.txt')} is no such file: the site answers with an HTML page")


def test_a_page_is_a_document() -> None:
    with FakeSite({"/guide": HTML.format(""), "/guide.md": "---\na: b\n---\n\n## Only\n\nText.\n"}) as site:
        assert open_site(site, "/guide").title == "Home"
        assert open_site(site, "/guide.md").title == "127.0.0.1:" + site.url("/guide.md").rpartition(":")[2]


def test_a_full_list_is_pages_with_addresses() -> None:
    pages = "".join(f"# P{number}\nSource: /p{number}\n\nText.\n\n" for number in range(3))
    with FakeSite({"/llms-full.txt": pages}) as site:
        library = open_site(site, "/llms-full.txt")
        nodes = [library.node(section_id) for section_id in library.walk()]
        assert [(node.title, node.url) for node in nodes] == [(f"P{n}", site.url(f"/p{n}")) for n in range(3)]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (SitePage(status=404), "There is no page"),
        (SitePage(body='{"a": 1}', media_type="application/json"), "is JSON"),
        (SitePage(body=b"\0\1\2" * 100, media_type="image/gif"), "image/gif"),
        (SitePage(body=""), "is empty"),
    ],
)
def test_what_is_no_document_is_one_sentence(page: SitePage, words: str) -> None:
    with FakeSite({"/p": page}) as site, pytest.raises(SourceError, match=words):
        open_site(site, "/p")


@pytest.mark.parametrize("name", ["example.com", "docs.site.sh", "site.zip", "a.example/docs/llms.txt", "hanbook.md"])
def test_a_bare_name_is_no_address_but_the_address_is_suggested(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "handbook.md").write_text("# H\n", "utf-8")
    with pytest.raises(SourceError, match=rf"no file {name}\..*If you mean a site, write https://{name}\."):
        open_named([name])


@pytest.mark.parametrize("name", ["ftp://x.example/f", "file:///etc/passwd", "https://u:p@x.example/"])
def test_other_schemes_are_refused(name: str) -> None:
    with pytest.raises(SourceError):
        open_named([name])


def test_an_address_is_opened_alone_and_origins_must_be_addresses() -> None:
    with pytest.raises(UsageError, match="by itself"):
        open_named(["https://x.example/", "https://y.example/"])
    with pytest.raises(UsageError, match="--allow-origin"):
        open_named(["https://x.example/"], web=WebOptions(allowed=("x.example",)))


def test_without_the_network_what_was_fetched_is_there(tmp_path: Path) -> None:
    with FakeSite({"/llms.txt": LIST, "/one.md": "# One\n"}) as site:
        for is_offline in (False, True):
            site.forget()
            library, loader = open_named(
                [site.url("/llms.txt")], web=WebOptions(cache_dir=tmp_path, is_offline=is_offline)
            )
            assert loader is not None
            (link,) = [i for i in library.walk() if library.heading(i).kind is NodeKind.LINK]
            assert loader.load_batch(library, (link,), frozenset()).documents[link].text == "# One\n"
        assert site.counts.paths == []
        with pytest.raises(SourceError, match="not in the cache"):
            open_named([site.url("/other.md")], web=WebOptions(cache_dir=tmp_path, is_offline=True))
