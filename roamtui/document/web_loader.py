"""Load web pages as documents: the page that the person named, and the pages that links lead to."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from urllib.parse import urljoin, urlsplit, urlunsplit
from weakref import finalize

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loading import (
    LoadedBatch,
    LoadingOptions,
    Report,
    get_link_url,
    make_error_document,
    make_refusal,
)
from roamtui.document.node import NodeKind
from roamtui.document.parallel import run_parallel
from roamtui.document.parse import parse_source_text
from roamtui.document.plain import make_title_from_url
from roamtui.document.site_outline import outline_site
from roamtui.errors import SourceError
from roamtui.sources.convert.conversion import convert, detect_format
from roamtui.sources.convert.converted import ConvertedText, Format
from roamtui.sources.decode import decode_html, decode_text, normalise_charset
from roamtui.sources.read import RawText, has_headings
from roamtui.sources.web.page import FetchedPage, FetchError, FetchOptions, OriginNotApprovedError
from roamtui.sources.web.urls import AllowedOrigins, origin_of, resolve_href

_TEXT_TYPES = frozenset({"application/markdown", "application/x-markdown", "application/octet-stream", ""})
_LINK_TAG = re.compile(r"<link(?![\w-])", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LINKS_START_LENGTH = 200_000
_TAG_LENGTH_MAX = 4_000

Fetch = Callable[[str], FetchedPage]
"""Fetches the page at a URL. Raises `SourceError`."""


class PageKind(StrEnum):
    """Kind of a fetched page."""

    MARKDOWN = "Markdown"
    """Markdown or plain text."""
    HTML = "an HTML page"
    FILE = "a file such as a PDF"
    OTHER = "no text"


def classify_page(page: FetchedPage) -> PageKind:
    """Detect the kind of a page by its media type, or by its content if the media type is wrong or missing."""
    media_type = page.media_type
    if not page.body.strip():
        return PageKind.OTHER
    page_format = detect_format(page.body, "", media_type)
    if page_format not in (None, Format.HTML, Format.RST):
        return PageKind.FILE
    if page_format is Format.HTML:
        return PageKind.HTML
    return PageKind.MARKDOWN if media_type.startswith("text/") or media_type in _TEXT_TYPES else PageKind.OTHER


def parse_page(page: FetchedPage, *, key: str = "", has_links: bool = True) -> Document:
    """Parse a page into a document. If the page is not text, raise a `SourceError` that says what it is."""
    kind = classify_page(page)
    found = _read_page(page, kind)
    raw = RawText(
        text=found.text,
        source=page.url,
        name=make_title_from_url(page.final_url),
        is_markdown=kind is not PageKind.MARKDOWN or has_headings(urlsplit(page.final_url).path),
        notes=(*page.notes, *found.notes),
        page_starts=found.page_starts,
        is_converted=kind is PageKind.FILE,
    )
    document = parse_source_text(raw, key=key, url=page.final_url, has_links=has_links)
    title = found.title if found.title and document.title == raw.name else document.title
    return replace(document, title=title)


def _read_page(page: FetchedPage, kind: PageKind) -> ConvertedText:
    match kind:
        case PageKind.HTML:
            from roamtui.sources.convert.html import convert_html  # noqa: PLC0415 - many pages need no conversion

            converted = convert_html(_decode_page(page), base_url=page.final_url)
            if converted.text.strip():
                return ConvertedText(text=converted.text, title=converted.title)
            raise SourceError(
                f"{page.url} holds no text without a browser: it runs JavaScript, or asks whether you are a person. "
                "Open it in a browser and save it as a file."
            )
        case PageKind.MARKDOWN:
            charset = normalise_charset(page.charset or "utf-8")
            if charset not in (None, "utf-8", "ascii"):
                with suppress(UnicodeError):
                    return ConvertedText(text=page.body.decode(charset).lstrip("\ufeff"))
            text, notes = decode_text(page.body, page.url)
            return ConvertedText(text=text, notes=notes)
        case PageKind.FILE:
            file = convert(page.body, make_title_from_url(page.final_url), page.media_type)
            assert file is not None  # `classify_page` detected the format
            return file
        case PageKind.OTHER if not page.body.strip():
            raise SourceError(f"{page.url} is empty. Try another address.")
        case PageKind.OTHER:
            media_type = page.media_type or "of no known type"
            raise SourceError(
                f"{page.url} is {media_type}, which cannot be opened from the web. Download it and open the file."
            )


def _decode_page(page: FetchedPage) -> str:
    return decode_html(page.body, page.charset)[0]


def extract_link_url(html: str, *rels: str, media_types: tuple[str, ...] = ()) -> str | None:
    """Return the URL of the first ``<link>`` with one of these `rels` and, if any are given, media types."""
    for start in _LINK_TAG.finditer(html[:_LINKS_START_LENGTH]):
        end = html.find(">", start.end(), start.end() + _TAG_LENGTH_MAX)
        tag = html[start.end() : end + 1]
        attributes = {name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(tag)}
        is_wanted = any(rel in rels for rel in attributes.get("rel", "").lower().split())
        if is_wanted and (not media_types or attributes.get("type", "").lower() in media_types):
            return attributes.get("href") or None
    return None


_DEPTH_MAX = 2
"""Maximum number of links between the source and a page. Links on a page at this depth do not become nodes."""
_PARALLEL_FETCHES_MAX = 8
_MARKDOWN_TYPES = ("text/markdown", "text/x-markdown", "text/plain")
_LIST_PATHS = ("/llms.txt", "/docs/llms.txt")
"""Paths where a site may have its list of pages, in the order in which they are tried."""
_LIST_NAME = re.compile(r"llms[\w.-]*\.(?:txt|md)", re.IGNORECASE)
_TEXT_SUFFIXES = (".md", ".markdown", ".mdx", ".mdown", ".txt", ".text")
_PAGE_SUFFIXES = (".html", ".htm")
_VARIANT_SUFFIXES = (".md", ".html.md", "/index.html.md", "/index.md")
"""What sites append to the path of a page to name its Markdown variant, in the order in which they are tried."""


def is_text_url(url: str) -> bool:
    """Check whether a URL ends like the name of a text file."""
    return urlsplit(url).path.lower().endswith(_TEXT_SUFFIXES)


def make_markdown_url(url: str, suffix: str) -> str | None:
    """Return the URL of the Markdown variant of a page, or None if a page with this URL has no such variant."""
    parts = urlsplit(url)
    stem = parts.path.rstrip("/")
    page_suffix = next((page_suffix for page_suffix in _PAGE_SUFFIXES if stem.lower().endswith(page_suffix)), "")
    last = stem.rpartition("/")[2]
    is_file = "." in last and not page_suffix and not last.rpartition(".")[2].isdigit()
    if not suffix or parts.query or is_file or (page_suffix and suffix.startswith("/")):
        return None
    if page_suffix:  # "page.html" has the variants "page.md" and "page.html.md"
        path = stem.removesuffix(page_suffix) + (suffix if suffix == ".md" else f"{page_suffix}.md")
    else:
        path = (stem or "" if suffix.startswith("/") else stem or "/index") + suffix
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


class PageLoader:
    """Fetches the pages of all sources, and learns where each site keeps the Markdown variants of its pages."""

    def __init__(self, options: LoadingOptions, typed: frozenset[str]) -> None:
        """`typed` are the origins that the person opened. Connections are closed at the latest at garbage collection.

        Raises:
            UsageError: The URL of the proxy or of an allowed origin is invalid.
        """
        from roamtui.sources.web.fetcher import Fetcher  # noqa: PLC0415 - few documents need connections
        from roamtui.sources.web.proxy import resolve_proxy  # noqa: PLC0415 - the same

        fetching = FetchOptions(
            is_offline=options.is_offline,
            always_fetch=options.always_fetch,
            proxy=resolve_proxy(options.proxy, os.environ),
        )
        self.typed = typed | options.parse_allowed()
        self.fetcher = Fetcher(cache_dir=options.cache_dir, options=fetching)
        finalize(self, self.fetcher.close)
        self._suffixes: dict[str, str] = {}
        """What each known origin appends to the path of a page to name its Markdown variant. Empty if nothing."""
        self._locks: dict[str, threading.Lock] = {}

    def close(self) -> None:
        """Close all connections."""
        self.fetcher.close()

    def list_unapproved_origins(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the links of each origin that the person must approve first."""
        allowed = AllowedOrigins(typed=self.typed, approved=approved)
        found: dict[str, tuple[str, ...]] = {}
        for node_id in node_ids:
            url = get_link_url(library, node_id)
            if not allowed.allows(url):
                origin = origin_of(url)
                found[origin] = (*found.get(origin, ()), node_id)
        return found

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Load the pages of several links, at most 8 at a time."""
        urls = {node_id: get_link_url(library, node_id) for node_id in node_ids}
        depths: dict[str, int] = {}
        for node_id, url in urls.items():
            kinds = (library.get_label(other_id).kind for other_id in (*library.ancestors(node_id), node_id))
            depths.setdefault(url, sum(kind is NodeKind.LINK for kind in kinds))
        allowed = AllowedOrigins(typed=self.typed, approved=approved)
        refused: dict[str, str] = {}
        done: set[str] = set()

        def tell() -> None:
            if report is not None:
                report(len(done))

        def fetch(url: str) -> FetchedPage:
            tell()
            return self.fetcher.fetch(url, allowed)

        def load_page(url: str) -> Document:
            if url == library.root.url:
                return make_error_document(url, f"{url} is what you have open: this link leads to itself.")
            if library.has_document(url) and not library.document(url).problem:
                return library.document(url)
            try:
                document = parse_page(self._fetch_best(fetch, url), key=url, has_links=depths[url] < _DEPTH_MAX)
            except OriginNotApprovedError as error:
                refused[url] = error.origin
                document = make_refusal(url, error.origin)
            except SourceError as error:
                document = make_error_document(url, str(error))
            document.precompute()
            done.add(url)
            tell()
            return document

        pages = dict(zip(depths, run_parallel(load_page, depths, _PARALLEL_FETCHES_MAX), strict=True))
        return LoadedBatch(
            documents={node_id: pages[url] for node_id, url in urls.items()},
            refused_origins={node_id: refused[url] for node_id, url in urls.items() if url in refused},
        )

    def _fetch_best(self, fetch: Fetch, url: str) -> FetchedPage:
        """Fetch the Markdown variant of a page, or the page itself if there is no variant."""
        if is_text_url(url):
            return fetch(url)
        origin = origin_of(url)
        if origin not in self._suffixes:
            with self._locks.setdefault(origin, threading.Lock()):  # one page tries, and all others wait for it
                if origin not in self._suffixes:
                    return self._fetch_first(fetch, url)
        variant = _fetch_text(fetch, make_markdown_url(url, self._suffixes[origin]))
        return variant or _fetch_with_alternate(fetch, url)

    def _fetch_first(self, fetch: Fetch, url: str) -> FetchedPage:
        """Fetch the first page of a site, or its variant, and remember how the site names its variants.

        If the page cannot be fetched, its variant may still be in the cache.
        """
        page: FetchedPage | FetchError
        try:
            page = _fetch_with_alternate(fetch, url)
        except FetchError as error:
            page = error
        if isinstance(page, FetchError) or classify_page(page) is PageKind.HTML:
            urls = [make_markdown_url(url, suffix) for suffix in _VARIANT_SUFFIXES]
            variants = run_parallel(partial(_fetch_text, fetch), urls, len(urls))
            for variant, suffix in zip(variants, _VARIANT_SUFFIXES, strict=True):
                if variant is not None:
                    self._suffixes[origin_of(url)] = suffix
                    return variant
        if isinstance(page, FetchError):
            raise page
        if classify_page(page) is PageKind.MARKDOWN or urlsplit(url).path.strip("/"):
            self._suffixes[origin_of(url)] = ""  # a home page in HTML does not show what the other pages are like
        return page


def _fetch_text(fetch: Fetch, url: str | None) -> FetchedPage | None:
    """Fetch the text at a URL, or return None if there is no text."""
    with suppress(SourceError):
        return _fetch_list(fetch, url) if url is not None else None
    return None


def _fetch_list(fetch: Fetch, url: str) -> FetchedPage | None:
    """Fetch the llms.txt at a URL, or return None if its site answers with something else.

    Raises:
        SourceError: The site does not answer, so asking it for other pages is pointless.
    """
    try:
        page = fetch(url)
    except OriginNotApprovedError:
        return None
    except FetchError as error:
        if error.status is None:
            raise
        return None
    return page if classify_page(page) is PageKind.MARKDOWN else None


def _fetch_with_alternate(fetch: Fetch, url: str) -> FetchedPage:
    """Fetch a page, or the Markdown variant that it links to."""
    page = fetch(url)
    if classify_page(page) is not PageKind.HTML:
        return page
    href = extract_link_url(_decode_page(page), "alternate", media_types=_MARKDOWN_TYPES)
    variant = resolve_href(page.final_url, href) if href else None
    is_variant = variant and is_text_url(variant) and not urlsplit(variant).path.endswith("llms.txt")
    return (_fetch_text(fetch, variant) if is_variant else None) or page


def open_web_source(url: str, page_loader: PageLoader) -> Library:
    """Open the URL that a person typed. For a whole site, open its llms.txt, or else an outline of its pages.

    Raises:
        SourceError: There is no text at the URL. The message says what is there.
    """
    fetch = partial(page_loader.fetcher.fetch, allowed=AllowedOrigins(typed=page_loader.typed), follows_public=True)
    notes: list[str] = []
    parts = urlsplit(url)
    is_site = parts.path in ("", "/") and not parts.query
    page = next(filter(None, (_fetch_list(fetch, urljoin(url, path)) for path in _LIST_PATHS if is_site)), None)
    if page is None:
        page = fetch(url)
        is_html = classify_page(page) is PageKind.HTML
        if is_html and is_site:
            if (library := _open_outline(fetch, url, page)) is not None:
                return library
            notes.append(f"{page.url} has no llms.txt; showing the page itself.")
        elif is_html and _LIST_NAME.fullmatch(make_title_from_url(url).rpartition("/")[2]):
            notes.append(f"{url} is no such file: the site answers with {PageKind.HTML}, which is what you see.")
    document = parse_page(page)
    return Library(source=url, root=replace(document, notes=(*notes, *document.notes)))


def _open_outline(fetch: Fetch, url: str, home: FetchedPage) -> Library | None:
    """Open the outline of a site, with its home page loaded. Return None if the site has no outline."""
    page = None
    with suppress(SourceError):  # a home page that runs JavaScript has no text
        page = parse_page(home, key=home.url, has_links=False)
    title = page.title if page is not None else make_title_from_url(home.final_url)
    outline = outline_site(fetch, home, _decode_page(home), title)
    if outline is None:
        return None
    raw = RawText(text=outline.text, source=url, name="llms.txt", notes=(outline.note,))
    library = Library(source=url, root=parse_source_text(raw, url=outline.url))
    home_id = next(node_id for node_id in library.walk() if get_link_url(library, node_id))
    return library if page is None else library.graft_all({home_id: page})
