"""Outline a site that has no llms.txt: list a page of it first, then those in its sitemap or navigation.

The list has the shape of an llms.txt, so its pages can be opened one by one.
"""

import html
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, islice, zip_longest
from urllib.parse import unquote, urljoin, urlsplit

from msgspec.structs import replace

from roamtui.convert.conversion import detect_format
from roamtui.convert.formats import HTML
from roamtui.document.document import Document, NodeKind, NodeRow, build_columns
from roamtui.document.parallel import run_parallel
from roamtui.document.site_files import SiteFiles
from roamtui.errors import SourceError
from roamtui.markdown.escaping import escape_signs
from roamtui.plain import format_count, sanitise_line, shorten
from roamtui.web.navigation import (
    DEPTH_MAX,
    Navigation,
    NavigationEntry,
    count_pages,
    keep_pages,
    read_navigation,
)
from roamtui.web.page import FetchedPage
from roamtui.web.robots import BYTES_MAX, Robots
from roamtui.web.urls import covers_origin, origin_of, resolve_href

_PAGES_MAX = 500
_FOLLOWED_MAX = 40
"""Maximum number of pages that are fetched for the lists in their texts."""
_FRAMES_MAX = 4
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


def read_own_navigation(page: FetchedPage) -> Navigation | None:
    """Read the navigation of a page, or return None if neither it nor a frame can list this page itself."""
    navigation = read_navigation(page)
    may_list = bool(navigation.frames) or any(_lists_page(area, page) for area in navigation.areas)
    return navigation if may_list else None


def outline_site(
    files: SiteFiles, first: FetchedPage, title: str, navigation: Navigation | None = None, *, is_own: bool
) -> Document | None:
    """List the links to the pages of a site, or return None if no sitemap and no navigation has them.

    Pages that robots.txt disallows are left out. If the `first` page is not the home page, give its
    `navigation` from `read_own_navigation`. Then only this navigation counts, and only if it lists the page
    itself. `is_own` says whether it is the site that the person named.
    """
    is_home = navigation is None
    robots_url = urljoin(first.final_url, "/robots.txt")
    robots = Robots(_fetch_body(files, robots_url))
    origin = origin_of(first.final_url)

    def is_page(url: str) -> bool:
        is_text = not _FILE_SUFFIX.search(url) and not _MACHINE_PAGE.search(urlsplit(url).path)
        is_other = url not in (first.url, first.final_url) and covers_origin(origin, origin_of(url))
        return is_text and is_other and robots.allows(url)

    sitemaps = _list_sitemaps(robots, robots_url) if is_home else []
    urls = _find_in_sitemaps(files, sitemaps, origin, is_page)
    entries = _group_by_folder(urls)
    is_followed = True
    if not urls:
        navigation = navigation or read_navigation(first)
        entries, is_followed = _find_navigation(files, first, navigation, is_page, is_home=is_home)
    found = count_pages(entries)
    if not found:
        return None
    shown = min(found, _PAGES_MAX)
    is_whole = shown == found and not files.is_cut
    shown_pages = f"{'' if is_whole else 'the first '}{format_count(shown, 'page')}"
    page_numbers = accumulate(entry.url is not None for entry in entries)
    shown_entries = [entry for entry, number in zip(entries, page_numbers, strict=True) if number <= shown]
    front = NavigationEntry(0, "Home" if is_home else title, first.url)
    site_title = title if is_home else urlsplit(first.final_url).netloc
    url = sitemaps[0] if urls else robots_url
    document = _make_list(site_title, shown_pages, (front, *shown_entries), url, is_own=is_own)
    lister = "sitemap" if urls else "navigation"
    reason = f"{files.begin_note(first.url)} this" if is_home else "This"
    place = f"its {lister}" if is_home else f"the navigation of {first.url}"
    reading = "Pages are fetched when they are opened."
    if document.ids_read_at_first:
        reading = "Your first question reads them all."
    notes = [f"{reason} outline of {shown_pages} comes from {place}. {reading}"]
    left_out: list[str] = []
    if not is_followed:
        left_out.append(f"pages that are listed only below the first {_FOLLOWED_MAX}")
    if shown < found:
        left_out.append(f"all pages after {shown_pages}")
    if files.is_cut:
        notes.append(files.explain_cut("some may be missing"))
        left_out.append("pages that the site listed too slowly")
    if robots.is_cut:
        notes.append(f"Only the first {BYTES_MAX // 1_000} kB of {robots_url} were read.")
    return replace(document, notes=tuple(notes), left_out=tuple(left_out))


def _list_sitemaps(robots: Robots, robots_url: str) -> list[str]:
    """Return the sitemaps of the site that its robots.txt names, or else where one usually is."""
    named = (resolve_href(robots_url, href) for href in robots.sitemaps)
    own = [url for url in named if url and covers_origin(origin_of(robots_url), origin_of(url))]
    return own or [urljoin(robots_url, "/sitemap.xml")]


def _lists_page(area: Iterable[NavigationEntry], page: FetchedPage) -> bool:
    return any(entry.url in (page.url, page.final_url) for entry in area)


def _group_by_folder(urls: Iterable[str]) -> tuple[NavigationEntry, ...]:
    folders: dict[tuple[str, ...], list[NavigationEntry]] = {(): []}
    for url in urls:
        parts = urlsplit(url)
        *folder, name = [part for part in unquote(parts.path).split("/") if part] or [parts.query or url]
        page = NavigationEntry(bool(folder), _make_title(name), url)
        folders.setdefault(tuple(folder), []).append(page)
    entries: list[NavigationEntry] = []
    for path, pages in folders.items():
        heading = [NavigationEntry(0, " / ".join(map(_make_title, path)), None)] if path else []
        entries += [*heading, *pages]
    return tuple(entries)


def _find_navigation(
    files: SiteFiles,
    first: FetchedPage,
    navigation: Navigation,
    is_page: Callable[[str], bool],
    *,
    is_home: bool,
) -> tuple[tuple[NavigationEntry, ...], bool]:
    """Find the navigation of a site, and return whether it is whole."""
    areas = [*navigation.areas]
    for url in navigation.frames[:_FRAMES_MAX]:
        if is_page(url) and (frame := _fetch_page(files, url)) is not None:
            areas += read_navigation(frame, is_frame=True).areas
    kept = [(keep_pages(area, is_page), area) for area in areas]
    site, area = max(kept, key=lambda each: count_pages(each[0]), default=((), ()))
    if not is_home:
        return (site if _lists_page(area, first) else ()), True
    listed = keep_pages(navigation.own, is_page)
    if count_pages(site) > count_pages(listed):
        return site, True
    below: dict[str, tuple[NavigationEntry, ...]] = {}
    known = {entry.url for entry in listed}

    def is_new(url: str) -> bool:
        return url not in known and is_page(url)

    pending = [entry.url for entry in listed if entry.url]
    while pending and len(below) < _FOLLOWED_MAX and not files.cut_if_late():
        urls = pending[: _FOLLOWED_MAX - len(below)]
        pending = pending[len(urls) :]
        pages = run_parallel(partial(_fetch_page, files), urls)
        for url, page in zip(urls, pages, strict=True):
            own = keep_pages(read_navigation(page).own, is_new) if page else ()
            below[url] = own
            known.update(entry.url for entry in own)
            pending += [entry.url for entry in own if entry.url]
    return tuple(_insert_below(listed, below, 0)), not pending


def _insert_below(
    entries: Sequence[NavigationEntry], below: Mapping[str, Sequence[NavigationEntry]], depth: int
) -> Iterator[NavigationEntry]:
    """Yield entries, each with the entries that its page lists below it."""
    for entry in entries:
        own_depth = min(entry.depth + depth, DEPTH_MAX)
        yield replace(entry, depth=own_depth)
        yield from _insert_below(below.get(entry.url or "", ()), below, own_depth + 1)


def _fetch_page(files: SiteFiles, url: str) -> FetchedPage | None:
    with suppress(SourceError):
        page = files.fetch(url, follows_public=False)
        return page if detect_format(page.body, "", page.media_type) is HTML else None
    return None


def _make_list(
    title: str, shown_pages: str, entries: Sequence[NavigationEntry], url: str, *, is_own: bool
) -> Document:
    """Write a list of links as Markdown, with a row for each heading and link."""
    text = f"# {escape_signs(title)}\n\n> {shown_pages}\n\n"
    rows = [NodeRow(NodeKind.SECTION, 1, title, 0)]
    for entry, after in zip_longest(entries, entries[1:]):
        level = entry.depth + 2
        name = shorten(sanitise_line(entry.title), _TITLE_LENGTH_MAX)
        if after is not None and after.depth > entry.depth:
            text += "\n"
            rows.append(NodeRow(NodeKind.SECTION, level, name, len(text)))
            text += f"{'#' * level} {escape_signs(name)}\n\n"
            level += 1
        if entry.url is not None:
            rows.append(NodeRow(NodeKind.LINK, level, name, len(text), entry.url))
            text += f"- [{escape_signs(name)}](<{entry.url}>)\n"
    columns = build_columns(rows, len(text))
    return Document(key="", title=title, text=text, columns=columns, url=url, is_site=is_own)


def _fetch_body(files: SiteFiles, url: str) -> bytes:
    """Fetch a file, and unpack it if it is compressed. Return nothing if there is none."""
    with suppress(SourceError, zlib.error):
        body = files.fetch(url).body
        if body.startswith(b"\x1f\x8b"):
            body = zlib.decompressobj(wbits=31).decompress(body, _SITEMAP_BYTES_MAX)
        return body
    return b""


def _find_in_sitemaps(
    files: SiteFiles, sitemaps: Sequence[str], origin: str, is_page: Callable[[str], bool]
) -> dict[str, None]:
    """Return the pages in sitemaps without repetitions: one more than are shown, if there are more."""
    urls: dict[str, None] = {}
    for url in islice(_list_locations(files, sitemaps, origin), _URLS_MAX):
        if len(urls) > _PAGES_MAX or files.cut_if_late():
            break
        if is_page(url):
            urls[url] = None
    return urls


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
