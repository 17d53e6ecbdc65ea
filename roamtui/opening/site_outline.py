"""Outline a site that has no llms.txt: list its home page first, then the pages in its sitemap.

The list has the shape of an llms.txt, so its pages can be opened one by one.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from msgspec.structs import replace

from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.errors import SourceError
from roamtui.markdown.escaping import escape_signs
from roamtui.opening.site_files import SiteFiles
from roamtui.sanitiser import sanitise_line
from roamtui.text import format_count, shorten
from roamtui.web.http_client import read_body
from roamtui.web.page import USER_AGENT, FetchedPage, FetchError
from roamtui.web.urls import covers_origin, origin_of, resolve_href

_PAGES_MAX = 500
_URLS_MAX = 5_000
"""Maximum number of URLs to read from all sitemaps. 500,000 would take half a minute."""
_SITEMAPS_MAX = 10
_ROBOTS_BYTES_MAX = 512_000
"""As many bytes as RFC 9309 asks crawlers to read."""
_SITEMAP_BYTES_MAX = 50_000_000
"""The limit of sitemaps.org, after decompression."""
# Regular expressions instead of an XML parser, because a sitemap may define entities that expand to
# gigabytes.
_LOCATION = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?([^<>\]]{1,4096})", re.IGNORECASE)
_SITEMAP_INDEX = re.compile(r"<sitemapindex\b", re.IGNORECASE)
_SITEMAP_END = re.compile(r"</(?:urlset|sitemapindex)\s*>", re.IGNORECASE)
_MACHINE_PAGE = re.compile(
    r"/(?:(?:search|404)\.html?|(?:genindex|(?:\w+-)?modindex)(?:-[\w.]+)?(?:\.html?|/?))\Z", re.IGNORECASE
)
"""Path of a page that a program fills: a search form, an index of all names, an error."""
_PAGE_SUFFIX = re.compile(r"\.(?!\d+\Z)\w{1,5}\Z")
"""Suffix of a page such as `install.html`. `3.12` has none."""
_TITLE_LENGTH_MAX = 200


class _ListedPage(NamedTuple):
    heading: str
    """The folders above the page; empty if there are none."""
    title: str
    url: str


def outline_site(files: SiteFiles, first: FetchedPage, title: str, *, is_own: bool) -> Document | None:
    """List the links to the pages of a site, or return None if no sitemap has them.

    Pages that robots.txt disallows are left out, but its rules with wildcards are ignored. If the site fails
    to send its rules, all pages are disallowed (RFC 9309). `first` is the home page, and `title` its title.
    `is_own` says whether this is the site that the person named.
    """
    reason = files.explain_missing_list()
    robots_url = urljoin(first.final_url, "/robots.txt")
    try:
        rules = _fetch_body(files, robots_url)
    except SourceError as error:
        status = error.status if isinstance(error, FetchError) else None
        if status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return None
        rules = b""
    robots = RobotFileParser()
    robots.parse(rules[:_ROBOTS_BYTES_MAX].decode("utf-8-sig", "replace").splitlines())
    origin = origin_of(first.final_url)

    def is_page(url: str) -> bool:
        is_text = not _MACHINE_PAGE.search(urlsplit(url).path)
        is_other = url not in (first.url, first.final_url) and covers_origin(origin, origin_of(url))
        return is_text and is_other and robots.can_fetch(USER_AGENT, url)

    sitemaps = _list_sitemaps(robots.site_maps() or (), robots_url)
    urls, is_cut = _find_in_sitemaps(files, sitemaps, origin, is_page)
    if not urls:
        return None
    shown = [*_group_by_folder(urls)][:_PAGES_MAX]
    is_whole = len(shown) == len(urls)
    is_late = files.is_late
    may_miss_pages = is_late or len(rules) > _ROBOTS_BYTES_MAX or (is_cut and is_whole)
    shown_pages = f"{'' if is_whole and not is_late else 'the first '}{format_count(len(shown), 'page')}"
    document = _make_list(title, shown_pages, first.url, shown, sitemaps[0], is_own=is_own)
    reading = "Pages are fetched when they are opened."
    if document.eager_ids:
        reading = "Your first question reads them all."
    notes = [f"{reason} This outline of {shown_pages} comes from its sitemap. {reading}"]
    left_out: list[str] = []
    if not is_whole:
        left_out.append(f"all pages after {shown_pages}")
    if may_miss_pages:
        notes.append("Not all lists of the site were read, so some pages may be missing.")
        left_out.append("pages in lists that were not read")
    return replace(document, notes=tuple(notes), left_out=tuple(left_out))


def _list_sitemaps(hrefs: Iterable[str], robots_url: str) -> list[str]:
    """Return the sitemaps of the site among those that its robots.txt names, or else where one usually is."""
    named = (resolve_href(robots_url, href) for href in hrefs)
    own = [url for url in named if url and covers_origin(origin_of(robots_url), origin_of(url))]
    return own or [urljoin(robots_url, "/sitemap.xml")]


def _group_by_folder(urls: Iterable[str]) -> Iterator[_ListedPage]:
    folders: dict[str, list[_ListedPage]] = {"": []}  # the pages in no folder come first
    for url in urls:
        parts = urlsplit(url)
        *folder, name = [part for part in parts.path.split("/") if part] or [parts.query or url]
        heading = " / ".join(map(_make_title, folder))
        folders.setdefault(heading, []).append(_ListedPage(heading, _make_title(name), url))
    return chain.from_iterable(folders.values())


def _make_list(
    title: str, shown_pages: str, home_url: str, pages: Iterable[_ListedPage], url: str, *, is_own: bool
) -> Document:
    """Write a list of links as Markdown, with a row for each heading and link."""
    text = f"# {escape_signs(title)}\n\n> {shown_pages}\n\n"
    rows = [NodeRow(NodeKind.SECTION, 1, title, 0)]
    above = ""
    for page in (_ListedPage("", "Home", home_url), *pages):
        if page.heading != above:
            above = page.heading
            text += "\n"
            rows.append(NodeRow(NodeKind.SECTION, 2, above, len(text)))
            text += f"## {escape_signs(above)}\n\n"
        rows.append(NodeRow(NodeKind.LINK, 3 if above else 2, page.title, len(text), page.url))
        text += f"- [{escape_signs(page.title)}](<{page.url}>)\n"
    columns = make_columns(rows, len(text))
    return Document(key="", title=title, text=text, columns=columns, url=url, is_site=is_own)


def _fetch_body(files: SiteFiles, url: str) -> bytes:
    """Fetch a file, and unpack it if it is compressed, or raise a `SourceError`."""
    body = files.fetch(url).body
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        return read_body((body,), {"content-encoding": "gzip"}, _SITEMAP_BYTES_MAX, url)
    except FetchError as error:
        files.note_problem(str(error))
        raise


def _find_in_sitemaps(
    files: SiteFiles, sitemaps: Sequence[str], origin: str, is_page: Callable[[str], bool]
) -> tuple[dict[str, None], bool]:
    """Return the pages in sitemaps and in those that they list, and whether any URL or sitemap was not read.

    The search stops one page after the number of pages that are shown.
    """
    pages: dict[str, None] = {}
    pending = list(sitemaps)
    count = 0
    is_cut = False
    for sitemap in islice(pending, _SITEMAPS_MAX):  # the loop adds to the list
        text = ""
        with suppress(SourceError):
            text = _fetch_body(files, sitemap).decode("utf-8", "replace")
        is_cut = is_cut or _SITEMAP_END.search(text) is None
        is_index = _SITEMAP_INDEX.search(text[:2_000]) is not None
        for match in _LOCATION.finditer(text):
            if len(pages) > _PAGES_MAX or count == _URLS_MAX or files.is_late:
                return pages, True
            count += 1
            url = resolve_href(sitemap, html.unescape(match[1].strip()))
            if url is None:
                continue
            if not is_index and is_page(url):
                pages[url] = None
            elif is_index and url not in pending and covers_origin(origin, origin_of(url)):
                pending.append(url)
    return pages, is_cut or len(pending) > _SITEMAPS_MAX


def _make_title(name: str) -> str:
    """Make a title from a part of a path, such as `Getting started` from `getting-started.html`."""
    stem = _PAGE_SUFFIX.sub("", unquote(name))
    words = shorten(sanitise_line(re.sub(r"[-_+]+", " ", stem)).strip(), _TITLE_LENGTH_MAX) or name
    return words[:1].upper() + words[1:]
