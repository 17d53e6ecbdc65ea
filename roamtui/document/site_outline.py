"""Outline a site that has no llms.txt: list its home page and the pages in its sitemap.

The list has the shape of an llms.txt, so its pages can be opened one by one. None of them is fetched here.
"""

import html
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from urllib.parse import unquote, urljoin, urlsplit

from roamtui.document.site_files import SiteFiles
from roamtui.errors import SourceError
from roamtui.markdown.escaping import escape_signs
from roamtui.plain import format_count, sanitise_line, shorten
from roamtui.sources.read import RawText
from roamtui.web.page import FetchedPage
from roamtui.web.robots import BYTES_MAX, Robots
from roamtui.web.urls import covers_origin, origin_of, resolve_href

_PAGES_MAX = 500
_URLS_MAX = 5_000
"""Maximum number of URLs to read from one sitemap, and from all. 500,000 would take half a minute."""
_SITEMAPS_MAX = 10
_SITEMAP_BYTES_MAX = 50_000_000
"""The limit of sitemaps.org, after decompression."""
# Regular expressions instead of an XML parser, because a sitemap may define entities that expand to
# gigabytes.
_LOCATION = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?([^<>\]]{1,4096})", re.IGNORECASE)
_SITEMAP_INDEX = re.compile(r"<sitemapindex\b", re.IGNORECASE)
_FILE_SUFFIX = re.compile(
    r"\.(?:png|jpe?g|gif|webp|svg|ico|css|js|json|xml|rss|atom|zip|gz|tgz|mp[34]|webm|woff2?|exe|dmg)\Z",
    re.IGNORECASE,
)
"""Ending of a URL that leads to a file such as a picture, not to a page."""
_MACHINE_PAGE = re.compile(
    r"/(?:(?:search|404)\.html?|(?:genindex|(?:\w+-)?modindex)(?:-[\w.]+)?(?:\.html?|/?))\Z", re.IGNORECASE
)
"""Path of a page that a program fills: a search form, an index of all names, an error."""
_PAGE_SUFFIX = re.compile(r"\.(?!\d+\Z)\w{1,5}\Z")
"""Suffix of a page such as `install.html`. `3.12` has none."""
_TITLE_LENGTH_MAX = 200


def outline_site(files: SiteFiles, home: FetchedPage, title: str) -> RawText | None:
    """Return the outline of a site as an llms.txt, or None if it has no sitemap.

    Pages that robots.txt disallows are left out.
    """
    robots_url = urljoin(home.final_url, "/robots.txt")
    robots = Robots(_fetch_body(files, robots_url))
    origin = origin_of(home.final_url)

    def is_page(url: str) -> bool:
        is_text = not _FILE_SUFFIX.search(url) and not _MACHINE_PAGE.search(urlsplit(url).path)
        is_other = url != home.final_url and covers_origin(origin, origin_of(url))
        return is_text and is_other and robots.allows(url)

    sitemap_urls = (resolve_href(robots_url, href) for href in robots.sitemaps)
    own_sitemaps = [url for url in sitemap_urls if url and covers_origin(origin, origin_of(url))]
    sitemaps = own_sitemaps or [urljoin(home.final_url, "/sitemap.xml")]
    urls: dict[str, None] = {}
    for url in islice(_list_locations(files, sitemaps, origin), _URLS_MAX):
        if len(urls) > _PAGES_MAX or files.check_time():
            break
        if is_page(url):
            urls[url] = None
    if not urls:
        return None
    shown = [*urls][:_PAGES_MAX]
    is_part = len(shown) < len(urls) or files.is_cut
    count = f"the first {format_count(len(shown), 'page')}" if is_part else format_count(len(urls), "page")
    folders: dict[tuple[str, ...], list[str]] = {(): [_format_link("Home", home.url)]}
    for url in shown:
        parts = urlsplit(url)
        *folder, name = [part for part in unquote(parts.path).split("/") if part] or [parts.query or url]
        folders.setdefault(tuple(folder), []).append(_format_link(_make_title(name), url))
    lines = [f"# {escape_signs(title)}", "", f"> {count}", ""]
    for path, links_of_folder in folders.items():
        heading = f"## {escape_signs(' / '.join(map(_make_title, path)))}"
        lines += ["", heading, "", *links_of_folder] if path else links_of_folder
    note = (
        f"{home.url} has no llms.txt, so this outline of {count} comes from its sitemap. "
        "Pages are fetched when you open them."
    )
    notes = [note]
    left_out = [f"all pages after {count}"] if len(shown) < len(urls) else []
    if files.is_cut:
        notes.append(files.explain_cut("some may be missing"))
        left_out.append("pages that the site listed too slowly")
    if robots.is_cut:
        notes.append(f"Only the first {BYTES_MAX // 1_000} kB of {robots_url} were read.")
    return RawText(
        text="\n".join(lines) + "\n",
        source=sitemaps[0],
        name="llms.txt",
        notes=tuple(notes),
        left_out=tuple(left_out),
    )


def _fetch_body(files: SiteFiles, url: str) -> bytes:
    """Fetch a file, and unpack it if it is compressed. Return nothing if there is none."""
    with suppress(SourceError, zlib.error):
        body = files.fetch(url).body
        if body.startswith(b"\x1f\x8b"):
            body = zlib.decompressobj(wbits=31).decompress(body, _SITEMAP_BYTES_MAX)
        return body
    return b""


def _list_locations(files: SiteFiles, sitemaps: Sequence[str], origin: str) -> Iterator[str]:
    """Yield the URLs in sitemaps, and in the sitemaps that a sitemap index lists."""
    pending = list(sitemaps)
    for url in islice(pending, _SITEMAPS_MAX):  # the loop adds to the list
        text = _fetch_body(files, url).decode("utf-8", "replace")
        hrefs = (html.unescape(match[1].strip()) for match in islice(_LOCATION.finditer(text), _URLS_MAX))
        urls = (resolve_href(url, href) for href in hrefs)
        if _SITEMAP_INDEX.search(text[:2_000]):
            pending += [
                listed
                for listed in urls
                if listed and listed not in pending and covers_origin(origin, origin_of(listed))
            ]
        else:
            yield from filter(None, urls)


def _make_title(name: str) -> str:
    """Make a title from a part of a path, such as `Getting started` from `getting-started.html`."""
    stem = _PAGE_SUFFIX.sub("", name)
    words = shorten(sanitise_line(re.sub(r"[-_+]+", " ", stem)).strip(), _TITLE_LENGTH_MAX) or name
    return words[:1].upper() + words[1:]


def _format_link(title: str, url: str) -> str:
    return f"- [{escape_signs(title)}](<{url}>)"
