"""Web pages: fetched in parallel, and as Markdown if the site has it; sites are opened by their llms.txt."""

import gzip
from contextlib import AbstractContextManager, closing

import pytest

from roamtui.conversation.conversation import Conversation
from roamtui.document.document import Document, NodeKind
from roamtui.document.library import Library
from roamtui.document.parse import parse_source_text
from roamtui.errors import SourceError
from roamtui.opening.loader import Loader, open_sources, suggest_url
from roamtui.opening.web_loader import open_web_source
from roamtui.sources.conversion_cache import DEFAULT_OPTIONS
from roamtui.sources.read import SourceText
from roamtui.web.page import FetchedPage, FetchError
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.fakes.hostile_server import Client, HostileServer, SeenRequest, answer
from tests.fakes.site import FakeSite, SitePage

HTML = "<html><head><title>T</title></head><body><main><h1>{0}</h1><p>Words of {0}.</p><h2>More</h2><p>x</p></main>"
MARKDOWN = "# {0}\n\nWords of {0}.\n\n## More\n\nx\n"
VARIANT = "# P\n\nWords that only the Markdown has.\n"
LIST = "# Site\n\n> Quote\n\n## Docs\n\n- [One](one.md): first\n"
PLAIN_LIST = SitePage(body=LIST, media_type="text/plain")
REFERENCES = "# Site\n\n- [One]\n\n[one]: /one.md\n"
HOME = "<html><head><title>Home</title>{0}</head><body><h1>Home</h1><p>Words.</p></body></html>"


def make_library(site: FakeSite, *paths: str) -> Library:
    """Return an llms.txt of links to these paths, titled by them."""
    text = "# Site\n\n## Docs\n\n" + "".join(f"- [to {path}]({path}): note\n" for path in paths)
    raw = SourceText(text=text, source=site.url("/llms.txt"), name="llms.txt")
    return Library(source=raw.source, root=parse_source_text(raw, url=site.url("/llms.txt")))


def find_all(library: Library, *paths: str) -> tuple[str, ...]:
    ids = {library.node(node_id).title: node_id for node_id in reversed([*library.walk()])}
    return tuple(ids[f"to {path}"] for path in paths)


def open_loader(site: FakeSite) -> AbstractContextManager[Loader]:
    return closing(Loader(typed_origins=frozenset({site.origin})))


def load(site: FakeSite, *paths: str) -> tuple[Library, dict[str, Document]]:
    """Return the library with the pages of these links, and the batch that they came in."""
    library = make_library(site, *paths)
    with open_loader(site) as loader:
        batch = loader.load_batch(library, find_all(library, *paths), frozenset())
    return library.graft_all(batch), batch


def test_pages_are_converted_unless_the_site_offers_markdown() -> None:
    book = SitePage(body=make_pdf([lay_out("A boat floats.")]), media_type="application/pdf")
    notes = SitePage(body="# Notes", media_type="application/json")
    rows = SitePage(body="a,b\n1,2\n", media_type="application/octet-stream")
    page = SitePage(body=HTML.format("P"), markdown=VARIANT)
    with FakeSite({"/p": page, "/q": HTML.format("Q"), "/r": book, "/n.md": notes, "/t.csv": rows}) as site:
        _, batch = load(site, "/p", "/q", "/r", "/n.md", "/t.csv")
        texts = [document.text for document in batch.values()]
        assert texts[:3] == [VARIANT, MARKDOWN.format("Q"), "# Page 1: A boat floats.\n\nA boat floats."]
        assert texts[3:] == ["# Notes", "## a: 1 (row 2)\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (SitePage(status=404), "no page"),
        (SitePage(body='{"a": 1}', media_type="application/json"), "is application/json"),
        (SitePage(body=b"%PDF-1.7\nnothing", media_type="application/pdf"), "is a damaged PDF"),
        (SitePage(body="<html><body><div id=root></div><script>x()</script>"), "only in a browser"),
    ],
)
def test_an_unreadable_page_says_why_and_can_be_loaded_again(page: SitePage, words: str) -> None:
    with FakeSite({"/p": page}) as site:
        library = make_library(site, "/p")
        with open_loader(site) as loader:
            (link,) = find_all(library, "/p")
            failed = library.graft_all(loader.load_batch(library, (link,), frozenset()))
            assert words in failed.node(link).problem
            assert failed.node(link).problem.endswith(".")
            assert not failed.node(link).is_loaded
            site.pages["/p"] = SitePage(body=MARKDOWN.format("P"), media_type="text/markdown")
            again = failed.graft_all(loader.load_batch(failed, (link,), frozenset()))
            assert again.node(link).is_loaded
            assert again.node(link).problem == ""


def test_several_links_to_one_page_share_it() -> None:
    with FakeSite({"/p.md": MARKDOWN.format("P")}) as site:
        text = "- [One](/p.md#a)\n- [Two](/p.md)\n- [Other](/llms.txt)\n"
        root = parse_source_text(SourceText(text=text, source="s", name="llms.txt"), url=site.url("/llms.txt"))
        library = Library(source="s", root=root)
        one, two, other = root.ids
        with open_loader(site) as loader:
            library = library.graft_all(loader.load_batch(library, (two,), frozenset()))
            library = library.graft_all(loader.load_batch(library, (one, other), frozenset()))
        assert library.node(one).is_loaded
        assert library.aliases.get(one, one) == two
        assert library.node(one).content_span == library.node(two).content_span
        assert (library.children(one), len(library.children(two))) == ((), 1)
        assert [path for path in site.counts.paths if path == "/p.md"] == ["/p.md"]
        assert "leads to itself" in library.node(other).problem
        assert len([*library.walk()]) == len(set(library.walk()))


def test_another_origin_is_not_fetched() -> None:
    with FakeSite({"/p.md": "# P\n"}) as other, FakeSite({}) as site:
        site.pages["/go.md"] = SitePage(status=302, location=other.url("/p.md"))
        library = make_library(site, other.url("/p.md"), "/go.md")
        direct, redirect = find_all(library, other.url("/p.md"), "/go.md")
        with open_loader(site) as loader:
            batch = loader.load_batch(library, (direct, redirect), frozenset())
        assert {document.refused_origin for document in batch.values()} == {other.origin}
        assert all(f"--allow-origin {other.origin}" in document.problem for document in batch.values())
        assert other.counts.paths == []


def open_site(site: FakeSite, path: str = "") -> Library:
    library, loader = open_sources([site.url(path)])
    assert loader is not None
    return library


def list_links(library: Library) -> list[str | None]:
    nodes = map(library.node, library.walk())
    return [node.url for node in nodes if node.kind is NodeKind.LINK]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"/llms.txt": LIST, "/docs/llms.txt": "# Other\n"}, "/one.md"),
        ({"/llms.txt": SitePage(body=HOME, media_type="text/html"), "/docs/llms.txt": LIST}, "/docs/one.md"),
        ({"/llms.txt": SitePage(body=LIST.encode("utf-16"))}, "/one.md"),
        ({"/llms.txt": REFERENCES}, "/one.md"),
        ({"/llms.txt": SitePage(status=302, location="/d/list"), "/d/list": PLAIN_LIST}, "/d/one.md"),
    ],
)
def test_the_list_of_a_site_is_looked_up(found: dict[str, SitePage | str], expected: str) -> None:
    with FakeSite(found) as site:
        library = open_site(site)
        assert list_links(library) == [site.url(expected)]
        assert library.source == site.url("/")
        assert library.title == "Site"


def test_a_list_is_known_by_its_path_whatever_its_query() -> None:
    with FakeSite({"/llms.txt": PLAIN_LIST}) as site:
        assert list_links(open_site(site, "/llms.txt?v=2")) == [site.url("/one.md")]


@pytest.mark.parametrize(
    "answer",
    [
        SitePage(body=HOME, media_type="text/html"),
        SitePage(body="# Not found\n\nThis page does not exist.\n", media_type="text/markdown"),
        SitePage(body=bytes(range(256)) * 9, media_type="text/plain"),
    ],
)
def test_a_site_without_a_list_opens_its_home_page_and_says_so(answer: SitePage) -> None:
    with FakeSite({"/llms.txt": answer, "/": HOME.format("")}) as site:
        library = open_site(site)
        assert library.root.text == "# Home\n\nWords.\n"
        assert library.notes == (f"{site.url('/')} has no llms.txt. Only this page is shown.",)


@pytest.mark.parametrize(
    ("path", "page", "problem"),
    [
        (
            "/llms.txt",
            SitePage(status=503),
            "{} cannot be fetched now, because its site is overloaded or has a problem (503)",
        ),
        ("/llms.txt", SitePage(status=302, location="/llms.txt"), "Too many redirects from {}"),
        ("/llms.txt", SitePage(status=403), "{} needs a login (403)"),
        ("/sitemap.xml", SitePage(status=403), "{} needs a login (403)"),
        ("/sitemap.xml", SitePage(body=b"\x1f\x8b damaged"), "{} sent damaged data"),
    ],
)
@pytest.mark.parametrize("listed", ["", "/guide.html"])
def test_a_site_whose_list_fails_is_not_said_to_have_none(path: str, page: SitePage, problem: str, listed: str) -> None:
    with FakeSite({"/": HOME.format(""), "/guide.html": HTML.format("Guide")}) as site:
        if listed:
            site.pages["/robots.txt"] = f"Sitemap: {site.url('/sitemap.xml')}\nSitemap: {site.url('/other.xml')}"
            site.pages["/other.xml"] = make_sitemap(site, listed)
        site.pages[path] = page
        notes = " ".join(open_site(site).notes)
    shown = "This outline of 1 page comes from its sitemap." if listed else "Only this page is shown."
    is_named = path == "/llms.txt" or not listed
    assert (problem.format(site.url(path)) in notes) is is_named
    assert f". {shown}" in notes
    assert ("Not all lists of the site were read" in notes) is bool(listed)


def test_a_site_whose_home_page_fails_is_outlined_by_its_sitemap() -> None:
    with FakeSite({"/": SitePage(status=500)}) as site:
        with pytest.raises(SourceError, match="has a problem"):
            open_site(site)
        site.pages["/sitemap.xml"] = make_sitemap(site, "/guide.html")
        assert list_links(open_site(site)) == [site.url("/"), site.url("/guide.html")]


def test_a_page_without_a_word_is_said_to_be_empty() -> None:
    with FakeSite({"/": SitePage(body="", media_type="text/plain")}) as site:
        with pytest.raises(SourceError) as caught:
            open_site(site)
        assert str(caught.value) == f"The page at {site.url('/')} is empty. Check the URL."


def make_sitemap(site: FakeSite, *paths: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{site.url(path)}</loc></url>' for path in paths)}</urlset>"


def list_titles(library: Library) -> list[str]:
    return [library.node(node_id).title for node_id in library.walk()]


def test_a_site_without_a_list_is_outlined_by_its_sitemap() -> None:
    with FakeSite({"/": HOME.format(""), "/guide/ovens.html": HTML.format("Ovens")}) as site:
        site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private/\n"
        paths = ["/", "/guide/ovens.html", "/guide/rye-bread", "/private/x", "/about"]
        paths += ["/search.html", "/en/genindex.html", "/genindex-A.html", "/py-modindex.html", "/404.html"]
        other = "<url><loc>https://other.example/x</loc></url></urlset>"
        site.pages["/sitemap.xml"] = make_sitemap(site, *paths).replace("</urlset>", other)
        library = open_site(site)
        assert list_titles(library)[:2] == [
            "Home",
            "Home",
        ]  # the title of the site and its home page, which is loaded
        assert "Words." in "".join(document.text for document in library.documents)
        assert list_links(library) == [
            site.url(path) for path in ("/", "/about", "/guide/ovens.html", "/guide/rye-bread")
        ]
        assert {"About", "Guide", "Ovens", "Rye bread"} < set(list_titles(library))
        (note,) = library.notes
        assert "has no llms.txt. This outline of 3 pages comes from its sitemap." in note
        assert "/guide/ovens.html" not in site.counts.paths


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("docs.example.com", "https://docs.example.com"),
        ("docs.example.com/guide.html", "https://docs.example.com/guide.html"),
        ("handbok.md", None),
        ("Handbok.PDF", None),
        ("handbook", None),
    ],
)
def test_a_name_may_mean_a_website_unless_it_ends_like_a_document(name: str, url: str | None) -> None:
    assert suggest_url(name) == url


def make_index(*urls: str) -> str:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>"


def test_an_index_of_sitemaps_is_followed_within_the_site_until_500_pages_are_found() -> None:
    with FakeSite({"/": HOME.format("")}) as site:
        urls = ("/a.xml", "/b.xml.gz", "http://127.0.0.9/c.xml", "/d.xml")
        site.pages["/robots.txt"] = f"Sitemap: {site.url('/maps/index.xml')}\n"
        site.pages["/maps/index.xml"] = make_index(*urls)
        site.pages["/a.xml"] = make_sitemap(site, *(f"/a/{number}" for number in range(400)))
        parts = make_sitemap(site, *(f"/b/{number}" for number in range(400))).encode().partition(b"</url>")
        zipped = b"".join(map(gzip.compress, parts))
        site.pages["/b.xml.gz"] = SitePage(body=zipped)
        library = open_site(site)
        assert len(list_links(library)) == 501
        assert "the first 500 pages" in library.notes[0]
        assert "/d.xml" not in site.counts.paths


@pytest.mark.parametrize(
    ("sitemaps", "pages", "is_whole"),
    [
        (["/0.xml", "/1.xml", "/2.xml"], 20, True),
        (["/0.xml", "/1.xml", "/missing.xml", "/2.xml"], 20, False),
        (["/0.xml", "/torn.xml"], 20, False),
        ([f"/{number}.xml" for number in range(15)], 20, False),
        (["/0.xml"], 10_000, False),
    ],
)
def test_an_outline_from_a_part_of_the_sitemaps_says_so(sitemaps: list[str], pages: int, *, is_whole: bool) -> None:
    with FakeSite({"/": HOME.format("")}) as site:
        site.pages["/sitemap.xml"] = make_index(*map(site.url, sitemaps))
        for path in set(sitemaps) - {"/missing.xml"}:
            paths = (f"{path}/{number}" if number < 20 else f"/{number}/404.html" for number in range(pages))
            sitemap = make_sitemap(site, *paths)
            site.pages[path] = sitemap.removesuffix("</urlset>") if path == "/torn.xml" else sitemap
        root = open_site(site).root
        sentence = "Not all lists of the site were read, so some pages may be missing."
        assert (sentence not in root.notes) is is_whole
        assert root.left_out == (() if is_whole else ("pages in lists that were not read",))


@pytest.mark.parametrize(("status", "is_listed"), [(503, False), (403, True), (404, True)])
def test_a_site_that_fails_to_send_its_robots_txt_forbids_its_pages(status: int, *, is_listed: bool) -> None:
    with FakeSite({"/": HOME.format(""), "/robots.txt": SitePage(status=status)}) as site:
        site.pages["/sitemap.xml"] = make_sitemap(site, "/about")
        library = open_site(site)
        assert (site.url("/about") in list_links(library)) is is_listed
        assert is_listed or "/robots.txt cannot be fetched now" in library.notes[0]


def test_only_a_part_of_a_huge_robots_txt_is_read_and_that_is_said() -> None:
    rules = b"User-agent: *\nDisallow: /private/\n" + b"Disallow: /x*y$\n" * 60_000
    with FakeSite({"/": HOME.format(""), "/robots.txt": SitePage(body=rules)}) as site:
        site.pages["/sitemap.xml"] = make_sitemap(site, "/private/x", "/about")
        library = open_site(site)
        assert list_links(library) == [site.url("/"), site.url("/about")]
        assert library.notes[1:] == ("Not all lists of the site were read, so some pages may be missing.",)


def drip(client: Client, _request: SeenRequest) -> bool:
    client.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n")
    client.drip(b"x" * 100_000, 0.02)
    return False


def test_a_site_whose_list_never_arrives_opens_its_home_page_after_a_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roamtui.opening.site_files._SECONDS_MAX", 0.3)
    reports: list[int] = []
    with HostileServer() as server:
        home = answer(HOME.format("").encode(), headers=[("Content-Type", "text/html")])
        server.handlers = {"/": home, "/llms.txt": drip, "/docs/llms.txt": drip, "/sitemap.xml": drip}
        library, _ = open_sources([server.origin], on_progress=lambda done, _: reports.append(done))
        assert set(server.paths) <= {"/llms.txt", "/"}
        words = "took more than 0.3 seconds to list its pages. Only this page is shown."
        assert library.notes == (f"{server.address} {words}",)
    assert library.root.text == "# Home\n\nWords.\n"
    assert reports == [1]


def test_a_page_that_is_not_the_home_page_is_opened_alone() -> None:
    with FakeSite({"/b/c.html": HTML.format("C")}) as site:
        library = open_site(site, "/b/c.html")
        assert (library.root.title, library.notes, list_links(library)) == ("C", (), [])


@pytest.mark.parametrize(("count", "is_read"), [(39, True), (40, False)])
async def test_a_small_site_is_read_whole_at_the_first_question(count: int, *, is_read: bool) -> None:
    paths = [f"/p{number}.html" for number in range(count)]
    with FakeSite({"/": HOME.format(""), **{path: HTML.format(path) for path in paths[1:]}}) as site:
        site.pages["/sitemap.xml"] = make_sitemap(site, *paths)
        library, loader = open_sources([site.origin])
        site.forget()
        conversation = Conversation(library, source_loader=loader)
        for _ in range(2):
            library = await conversation.load_all()
        assert {path for path in site.counts.paths if path in paths} == (set(paths) if is_read else set())
        assert site.counts.paths.count(paths[0]) == is_read
        assert any("/p0.html" in note for note in library.notes) is is_read


def test_only_the_site_that_a_person_named_is_said_to_be_read_by_the_first_question() -> None:
    def fetch(url: str, **_: object) -> FetchedPage:
        body = {"": HOME.format(""), "sitemap.xml": "<urlset><loc>/a</loc></urlset>"}.get(url.rpartition("/")[2])
        if body is None:
            raise FetchError("There is nothing else.", status=404)
        final_url = url.replace("moved", "other")
        return FetchedPage(url=url, final_url=final_url, media_type="text/html", charset=None, body=body.encode())

    for url, are_read in (("https://docs.example/", True), ("https://moved.example/", False)):
        library = open_web_source(url, fetch, lambda *_: None, DEFAULT_OPTIONS)
        assert ("Your first question reads them all." in library.notes[0]) == are_read
        assert bool(library.root.eager_ids) == are_read
