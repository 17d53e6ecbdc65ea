"""A site without a list of its pages is outlined by its navigation, in the order and nesting of the links."""

from urllib.parse import urlsplit

import pytest

from roamtui.conversation.conversation import Conversation
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.document.loader import open_sources
from roamtui.document.web_loader import open_web_source
from roamtui.sources.conversion_cache import DEFAULT_OPTIONS
from roamtui.web.page import FetchedPage, FetchError
from tests.fakes.site import FakeSite, SitePage

PAGE = "<title>T</title><body>{0}<main><h1>{1}</h1><p>Words of {1}.</p></main>"
PATHS = ["/a.html", "/b/", "/b/c.html", "/b/d.html", "/e.html"]
NESTED = ["Home /", "A /a.html", "B", "  B /b/", "  C /b/c.html", "  D /b/d.html", "E /e.html"]
TREE = (
    '<{0}><li><a href="#top">Top</a></li><li><a href="a.html">A</a><ul><li><a href="a.html#x">X</a></li></ul></li>'
    '<li><a href="b/">B</a><{0}><li><a href="b/c.html">C</a></li><li><a href="b/d.html">D</a></li></{0}></li>'
    '<li><a href="e.html">E</a></li></{0}>'
)
MENU = (
    '<ul><li><a href="/">T</a></li><li><a href="/a.html">A</a></li><li><a href="#">B</a><ul><li><a href="/b/">B</a>'
    '</li><li><a href="/b/c.html">C</a></li><li><a href="/b/d.html">D</a></li></ul></li>'
    '<li><a href="/e.html">E</a></li></ul>'
)


def make_pages(navigation: str) -> dict[str, SitePage | str]:
    pages = {path: PAGE.format("", path) for path in PATHS}
    return {"/": PAGE.format(navigation, "Start"), **pages}


def open_site(site: FakeSite) -> Library:
    return open_sources([site.origin])[0]


def list_pages(library: Library, site: FakeSite) -> list[str]:
    """List the pages of an outline, and the titles above them, indented by their depth."""
    nodes = [library.node(node_id) for node_id in library.walk() if library.node(node_id).document is library.root]
    lines = ("  " * (len(node.ancestors) - 1) + node.title for node in nodes[1:])
    urls = (node.link_url.replace(site.origin, " ") for node in nodes[1:])
    return [line + url for line, url in zip(lines, urls, strict=True)]


@pytest.mark.parametrize(
    "navigation",
    [
        f"<nav>{TREE.format('ul')}</nav>",
        f"<div role=navigation>{TREE.format('ol')}</div>",
        f"<aside><div>{TREE.format('ul')}</div></aside><nav><a href=/a.html>A</a></nav>",
        f"<div>{MENU}</div>",
    ],
)
def test_pages_are_listed_as_the_navigation_nests_them_and_not_fetched(navigation: str) -> None:
    with FakeSite(make_pages(navigation)) as site:
        library = open_site(site)
        assert list_pages(library, site) == NESTED
        assert "comes from its navigation" in library.notes[0]
        assert set(PATHS).isdisjoint(site.counts.paths)


def test_a_page_that_is_not_the_home_page_is_opened_alone() -> None:
    with FakeSite(make_pages("")) as site:
        site.pages["/b/c.html"] = PAGE.format(f"<nav>{TREE.format('ul')}</nav>", "C")
        library, _ = open_sources([site.url("/b/c.html")])
        assert (library.root.title, library.notes, library.root.columns.kinds.count(NodeKind.LINK)) == ("C", (), 0)


def test_links_that_lead_nowhere_on_the_site_are_no_pages() -> None:
    hrefs = [
        "",
        "#x",
        "/",
        "./",
        "https://other.example/a.html",
        "mailto:a@b.example",
        "javascript:x()",
        "x.png",
        "//[",
        "../..//a.html",
    ]
    items = "".join(f'<li><a href="{href}">L</a></li>' for href in hrefs)
    with FakeSite(make_pages(f"<nav><ul>{items}<li><a href=/private/x>X</a></li></ul></nav>")) as site:
        site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private/\n"
        assert list_pages(open_site(site), site) == ["Home /", "L /a.html"]
        for base in ("https://other.example/", "http://["):
            site.pages["/"] = PAGE.format(f'<base href="{base}"><nav><a href="a.html">A</a></nav>', "Start")
            assert open_site(site).root.title == "Start"


def test_a_huge_navigation_is_cut_and_that_is_said() -> None:
    deep = "<ul><li><a href=/{0}>{0}</a>" * 300
    items = "".join(f"<ul><li><a href=/p{number}>{number}</a>" for number in range(200))
    items += "".join(f"<li><a href=/q{number}>{number}</a></li>" for number in range(10_000))
    with FakeSite(make_pages(f"<nav>{deep}{items}</nav>")) as site:
        library = open_site(site)
        assert library.root.columns.kinds.count(NodeKind.LINK) == 501
        assert library.root.left_out == ("all pages after the first 500 pages",)
        assert max(library.root.columns.levels) <= 7


@pytest.mark.parametrize(("count", "is_read"), [(39, True), (40, False)])
async def test_a_small_site_is_read_whole_at_the_first_question(count: int, *, is_read: bool) -> None:
    paths = [f"/p{number}.html" for number in range(count)]
    navigation = "".join(f"<a href={path}>{path}</a>" for path in paths)
    pages = {path: PAGE.format("", path) for path in paths[1:]}
    with FakeSite({"/": PAGE.format(f"<nav>{navigation}</nav>", "Start"), **pages}) as site:
        library, loader = open_sources([site.origin])
        site.forget()
        conversation = Conversation(library, source_loader=loader)
        for _ in range(2):
            library = await conversation.load_all()
        assert {path for path in site.counts.paths if path in paths} == (set(paths) if is_read else set())
        assert site.counts.paths.count(paths[0]) == is_read
        assert any("/p0.html" in note for note in library.notes) is is_read


def test_only_the_site_that_a_person_named_is_said_to_be_read_by_the_first_question() -> None:
    body = PAGE.format(f"<nav>{TREE.format('ul')}</nav>", "Start").encode()

    def fetch(url: str, **_: object) -> FetchedPage:
        if urlsplit(url).path != "/":
            raise FetchError("There is nothing else.")
        final_url = url.replace("moved", "other")
        return FetchedPage(url=url, final_url=final_url, media_type="text/html", charset=None, body=body)

    for url, are_read in (("https://docs.example/", True), ("https://moved.example/", False)):
        library = open_web_source(url, fetch, lambda *_: None, 20, DEFAULT_OPTIONS)
        assert ("Your first question reads them all." in library.notes[0]) == are_read
        assert bool(library.root.ids_read_at_first) == are_read
