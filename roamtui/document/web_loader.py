"""Load web pages as documents: the page that the person named, and the pages that links lead to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urljoin, urlsplit, urlunsplit
from weakref import finalize

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.llms_txt import make_title_from_url
from roamtui.document.loader import LoadedBatch, Report, WebOptions, format_refusal, get_link_url, make_error_document
from roamtui.document.node import NodeKind
from roamtui.document.parallel import run_in_thread, run_parallel
from roamtui.document.parse import parse_source_text
from roamtui.document.site_outline import outline_site
from roamtui.errors import SourceError
from roamtui.sources.archive import list_archive
from roamtui.sources.convert.conversion import convert, detect_format
from roamtui.sources.convert.converted import ConversionOptions, ConvertedText, Format
from roamtui.sources.decode import decode_text, normalise_charset
from roamtui.sources.listing import Listing
from roamtui.sources.read import RawText, has_headings
from roamtui.sources.web.fetcher import Fetcher
from roamtui.sources.web.page import FetchedPage, FetchError, FetchOptions, OriginNotApprovedError
from roamtui.sources.web.urls import AllowedOrigins, origin_of, parse_origins, resolve_href

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES = frozenset({"application/markdown", "application/x-markdown", "application/octet-stream", ""})
_JSON_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json|text/json")
# Possessive, because a page with many comments before its first tag would take quadratic time.
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<!--(?:(?!-->).)*+-->\s*+|<\?xml[^>]*+>\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_SAMPLE_LENGTH = 4_096
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_JSON_LENGTH_MAX = 2_000_000
_LINK_TAG = re.compile(r"<link(?![\w-])", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LINKS_START_LENGTH = 200_000
_TAG_LENGTH_MAX = 4_000


class PageKind(StrEnum):
    """Kind of a fetched page."""

    MARKDOWN = "Markdown"
    """Markdown or plain text."""
    HTML = "an HTML page"
    JSON = "JSON"
    FILE = "a file such as a PDF"
    EMPTY = "nothing"
    OTHER = "no text"


def classify_page(page: FetchedPage) -> PageKind:
    """Detect the kind of a page by its media type, or by its content if the media type is wrong or missing."""
    media_type, body = page.media_type, page.body.strip()
    if not body:
        return PageKind.EMPTY
    if detect_format(page.body, "", media_type) not in (None, Format.HTML, Format.RST):
        return PageKind.FILE
    if media_type in _HTML_TYPES or _HTML_START.match(page.body[:_SAMPLE_LENGTH]):
        return PageKind.HTML
    if _JSON_TYPE.fullmatch(media_type):
        return PageKind.JSON
    if media_type != "text/markdown" and body[:1] in (b"{", b"[") and len(body) <= _JSON_LENGTH_MAX:
        # Sites also send JSON as plain text.
        with suppress(ValueError, RecursionError):
            json.loads(body)
            return PageKind.JSON
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
    return replace(document, title=title, is_html=kind is PageKind.HTML)


def _read_page(page: FetchedPage, kind: PageKind) -> ConvertedText:
    match kind:
        case PageKind.HTML:
            from roamtui.sources.convert.html import convert_html  # noqa: PLC0415 - many pages need no conversion

            converted = convert_html(decode_fetched_html(page), base_url=page.final_url)
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
        case PageKind.EMPTY:
            raise SourceError(f"{page.url} is empty. Try another address.")
        case PageKind.JSON:
            raise SourceError(f"{page.url} is JSON, not a page for readers. Save it as a file to open it as text.")
        case PageKind.OTHER:
            media_type = page.media_type or "of no known type"
            raise SourceError(
                f"{page.url} is {media_type}, which cannot be opened from the web. Download it and open the file."
            )


def decode_fetched_html(page: FetchedPage) -> str:
    """Decode an HTML page with the charset of the HTTP header or of the page itself. If neither is valid, use UTF-8."""
    found = _CHARSET.search(page.body[:_SAMPLE_LENGTH])
    labels = (page.charset, found.group(1).decode("ascii", "replace") if found else None)
    charset = next(filter(None, map(normalise_charset, filter(None, labels))), "utf-8")
    return page.body.decode(charset, "replace").lstrip("\ufeff")


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
_LIST_RELS = ("llms", "llms.txt", "llms-txt", "llmstxt")
_TEXT_SUFFIXES = (".md", ".markdown", ".mdx", ".mdown", ".txt", ".text")
_PAGE_SUFFIXES = (".html", ".htm")


class VariantStyle(StrEnum):
    """The ways in which sites offer Markdown variants of their pages. They are tried in this order."""

    SAME = "the same address"
    """The site answers a request for Markdown with Markdown."""
    SUFFIX = "page.md"
    HTML_SUFFIX = "page.html.md"
    INDEX_HTML = "page/index.html.md"
    INDEX = "page/index.md"
    ALTERNATE = "named by the page"
    """Each page has a `<link>` to its variant."""
    NONE = "none"


_DERIVED_URL_STYLES = (VariantStyle.SUFFIX, VariantStyle.HTML_SUFFIX, VariantStyle.INDEX_HTML, VariantStyle.INDEX)
"""Styles in which the URL of the Markdown variant is derived from the URL of the page."""


def is_text_url(url: str) -> bool:
    """Check whether a URL ends like the name of a text file."""
    return urlsplit(url).path.lower().endswith(_TEXT_SUFFIXES)


def make_markdown_url(url: str, style: VariantStyle) -> str | None:
    """Return the URL of the Markdown variant of a page in a style, or None if the style does not apply to the page."""
    parts = urlsplit(url)
    if style not in _DERIVED_URL_STYLES or parts.query:
        return None
    stem = parts.path.rstrip("/")
    suffix = next((suffix for suffix in _PAGE_SUFFIXES if stem.lower().endswith(suffix)), "")
    last = stem.rpartition("/")[2]
    if "." in last and not suffix and not last.rpartition(".")[2].isdigit():
        return None
    paths = {
        VariantStyle.SUFFIX: f"{stem.removesuffix(suffix) or '/index'}.md",
        VariantStyle.HTML_SUFFIX: f"{stem}.md" if suffix else f"{stem or '/index'}.html.md",
        VariantStyle.INDEX_HTML: None if suffix else f"{stem}/index.html.md",
        VariantStyle.INDEX: None if suffix else f"{stem}/index.md",
    }
    path = paths[style]
    return None if path is None else urlunsplit((parts.scheme, parts.netloc, path, "", ""))


class PageLoader:
    """Fetches pages for one source, and learns where each site keeps the Markdown variants of its pages."""

    def __init__(self, fetcher: Fetcher, typed: frozenset[str]) -> None:
        self.fetcher = fetcher
        self.typed = typed
        self.allowed: frozenset[str] = frozenset()
        """Typed origins that an option or the configuration allows."""
        self.origins_to_approve: frozenset[str] = frozenset()
        """Origins whose pages need approval although the person typed one of their URLs: sites without an llms.txt."""
        self.styles: dict[str, VariantStyle] = {}
        """The known style of each origin."""
        self.locks: dict[str, threading.Lock] = {}

    def close(self) -> None:
        """Close all connections; see `Loader`."""
        self.fetcher.close()

    def list_unapproved_origins(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the links of each origin that the person must approve first; see `Loader`."""
        allowed = AllowedOrigins(typed=self.typed, approved=approved)
        found: dict[str, tuple[str, ...]] = {}
        for node_id in node_ids:
            url = get_link_url(library, node_id)
            origin = origin_of(url) if url else ""
            needs_approval = origin in self.origins_to_approve and origin not in approved
            if url and (needs_approval or not allowed.allows(url)):
                found[origin] = (*found.get(origin, ()), node_id)
        return found

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Load the pages of several links, at most 8 at a time; see `Loader`."""
        urls = {node_id: get_link_url(library, node_id) for node_id in node_ids}
        depths: dict[str, int] = {}
        for node_id, url in urls.items():
            kinds = (library.get_label(other_id).kind for other_id in (*library.ancestors(node_id), node_id))
            depths.setdefault(url, sum(kind is NodeKind.LINK for kind in kinds))
        batch = _FetchBatch(self, AllowedOrigins(typed=self.typed, approved=approved), report)

        def load_page(url: str) -> Document:
            return batch.load_page(library, url, has_links=depths[url] < _DEPTH_MAX)

        pages = dict(zip(depths, run_parallel(load_page, depths, _PARALLEL_FETCHES_MAX), strict=True))
        documents = {node_id: pages[url] for node_id, url in urls.items()}
        refused = {node_id: batch.refused[url] for node_id, url in urls.items() if url in batch.refused}
        return LoadedBatch(documents=documents, refused_origins=refused)


class _FetchBatch:
    """Loads the pages of one batch, in threads."""

    def __init__(self, loader: PageLoader, allowed: AllowedOrigins, report: Report | None) -> None:
        self.refused: dict[str, str] = {}
        self._loader = loader
        self._allowed = allowed
        self._report = report
        self._done = 0
        self._bytes = 0
        self._lock = threading.Lock()

    def load_page(self, library: Library, url: str, *, has_links: bool) -> Document:
        """Return the page at a URL, or an empty document with the reason if it cannot be loaded."""
        if url == library.root.url:
            return make_error_document(url, f"{url} is what you have open: this link leads to itself.")
        with suppress(KeyError):
            document = library.document(url)
            if not document.problem:
                return document
        try:
            document = parse_page(self._fetch_page_or_variant(url), key=url, has_links=has_links)
        except OriginNotApprovedError as error:
            self.refused[url] = error.origin
            document = make_error_document(url, format_refusal(url, error.origin))
        except SourceError as error:
            document = make_error_document(url, str(error))
        document.precompute()
        self._report_progress(pages=1)
        return document

    def _fetch_page_or_variant(self, url: str) -> FetchedPage:
        """Fetch the Markdown variant of a page, or the page itself if there is no variant."""
        if is_text_url(url):
            return self._fetch(url)
        origin, styles = origin_of(url), self._loader.styles
        if origin not in styles:
            with self._loader.locks.setdefault(origin, threading.Lock()):  # one page tries, and all others wait for it
                if origin not in styles:
                    page, style = self._fetch_and_detect_style(url)
                    if style is not None:
                        styles[origin] = style
                    return page
        page = self._fetch_variant(make_markdown_url(url, styles[origin])) or self._fetch(url)
        if styles[origin] is VariantStyle.ALTERNATE and classify_page(page) is PageKind.HTML:
            return self._fetch_variant(_extract_alternate_url(page)) or page
        return page

    def _fetch_and_detect_style(self, url: str) -> tuple[FetchedPage, VariantStyle | None]:
        """Fetch a page or its variant. Return it with the site's style, or with None if it does not show the style.

        The page and all its possible variants are requested in parallel, which saves a round trip. This happens only
        once for each site. If the page cannot be fetched, its variant may still be in the cache.
        """
        urls = [make_markdown_url(url, style) for style in _DERIVED_URL_STYLES]
        fetching = run_in_thread(partial(self._fetch, url))
        found = run_parallel(self._fetch_variant, urls, len(urls))
        variant = next(((page, style) for page, style in zip(found, _DERIVED_URL_STYLES, strict=True) if page), None)
        try:
            page = fetching.result()
        except FetchError:
            if variant is None:
                raise
            return variant
        kind = classify_page(page)
        if kind is PageKind.MARKDOWN:
            return page, VariantStyle.SAME
        if variant is not None:
            return variant
        alternate = self._fetch_variant(_extract_alternate_url(page)) if kind is PageKind.HTML else None
        if alternate is not None:
            return alternate, VariantStyle.ALTERNATE
        # A home page, or a page that is not HTML, does not show what the other pages are like.
        is_typical = kind is PageKind.HTML and bool(urlsplit(url).path.strip("/"))
        return page, VariantStyle.NONE if is_typical else None

    def _fetch_variant(self, url: str | None) -> FetchedPage | None:
        """Fetch the text at a URL, or return None if there is no text."""
        if url is None:
            return None
        try:
            page = self._fetch(url)
        except SourceError:
            return None
        return page if classify_page(page) is PageKind.MARKDOWN else None

    def _fetch(self, url: str) -> FetchedPage:
        self._report_progress()
        received = 0

        def count(bytes_received: int, _total: int | None) -> None:
            nonlocal received
            self._report_progress(bytes_more=bytes_received - received)
            received = bytes_received

        return self._loader.fetcher.fetch(url, self._allowed, report=count if self._report else None)

    def _report_progress(self, *, pages: int = 0, bytes_more: int = 0) -> None:
        if self._report is None:
            return
        with self._lock:
            self._done += pages
            self._bytes += max(0, bytes_more)
            self._report(self._done, self._bytes)


def _extract_alternate_url(page: FetchedPage) -> str | None:
    """Return the URL of the Markdown variant that an HTML page links to, or None."""
    href = extract_link_url(decode_fetched_html(page), "alternate", media_types=_MARKDOWN_TYPES)
    variant = resolve_href(page.final_url, href) if href else None
    return variant if variant and is_text_url(variant) and not urlsplit(variant).path.endswith("llms.txt") else None


def make_page_loader(web: WebOptions, typed: frozenset[str]) -> PageLoader:
    """Make a page loader. Its connections are closed when it is garbage-collected or the program ends."""
    options = FetchOptions(is_offline=web.is_offline, always_revalidate=web.always_revalidate)
    fetcher = Fetcher(cache_dir=web.cache_dir, options=options)
    allowed = parse_origins(web.allowed, "--allow-origin") | parse_origins(web.read_allowed(), "web.allow")
    page_loader = PageLoader(fetcher, typed | allowed)
    page_loader.allowed = allowed
    finalize(page_loader, fetcher.close)
    return page_loader


def open_web_source(url: str, page_loader: PageLoader) -> Library:
    """Open the URL that a person typed. For a whole site, open its llms.txt, or else an outline of its pages.

    Raises:
        SourceError: There is no text at the URL. The message says what is there.
    """
    fetch = partial(page_loader.fetcher.fetch, allowed=AllowedOrigins(typed=page_loader.typed), follows_public=True)
    notes: list[str] = []
    parts = urlsplit(url)
    is_site = parts.path in ("", "/") and not parts.query
    lists = (_fetch_list(fetch, urljoin(url, path), notes) for path in _LIST_PATHS if is_site)
    page = next(filter(None, lists), None)
    if page is None:
        page = fetch(url)
        is_html = classify_page(page) is PageKind.HTML
        if is_html and is_site:
            listed = _fetch_linked_list(fetch, page, notes)
            if listed is None and (library := _open_outline(fetch, url, page, page_loader, notes)) is not None:
                return library
            page = listed or page
        elif is_html and _LIST_NAME.fullmatch(make_title_from_url(url).rpartition("/")[2]):
            notes.append(f"{url} is no such file: the site answers with {PageKind.HTML}, which is what you see.")
    document = parse_page(page)
    return Library(source=url, root=replace(document, notes=(*notes, *document.notes)))


_REPOSITORY = re.compile(
    r"https?://(?:github\.com/(?P<github>[\w.-]+/[\w.-]+?)|gitlab\.com/(?P<gitlab>[\w.-]+(?:/(?!-/)[\w.-]+)+?))(?:\.git)?/?"
    r"(?:(?<=/)(?:-/)?tree/(?P<ref>[\w./-]+?)/?)?"
)
_REPOSITORY_BYTES_MAX = 100_000_000


def make_archive_url(url: str) -> str | None:
    """Return the URL of the zip archive of a repository on GitHub or GitLab, or None for any other URL."""
    match = _REPOSITORY.fullmatch(url)
    if match is None:
        return None
    ref = match["ref"] or "HEAD"
    if match["github"]:
        return urljoin(url, f"/{match['github']}/archive/{ref}.zip")
    name = f"{match['gitlab'].rpartition('/')[2]}-{ref.replace('/', '-')}"
    return urljoin(url, f"/{match['gitlab']}/-/archive/{ref}/{name}.zip")


def fetch_repository_listing(url: str, page_loader: PageLoader, conversion: ConversionOptions) -> Listing | None:
    """Download the archive of a repository, and list its documents. Return None if the URL does not lead to one.

    Raises:
        SourceError: The archive cannot be fetched, is too large, or has no documents.
    """
    archive_url = make_archive_url(url)
    if archive_url is None:
        return None
    allowed = AllowedOrigins(typed=page_loader.typed)
    try:
        page = page_loader.fetcher.fetch(archive_url, allowed, follows_public=True, bytes_max=_REPOSITORY_BYTES_MAX)
    except FetchError as error:
        if error.status == HTTPStatus.NOT_FOUND:  # such as github.com/topics/rust, which is a page
            return None
        raise
    if not page.body.startswith(b"PK"):  # a page that asks for a login
        return None
    listing = list_archive(Path(urlsplit(url).path.strip("/")), data=page.body, conversion=conversion)
    readers = {key.partition("/")[2] or key: reader for key, reader in listing.readers.items()}
    return replace(listing, source=url, readers=readers, files={}, notes=(*page.notes, *listing.notes))


def _fetch_list(fetch: Callable[[str], FetchedPage], url: str, notes: list[str]) -> FetchedPage | None:
    """Fetch the llms.txt at a URL. If something else is there, return None and add a note that says what it is."""
    try:
        page = fetch(url)
    except OriginNotApprovedError as error:
        notes.append(f"{url} leads to {error.origin}, which is not followed.")
        return None
    except FetchError as error:
        if error.status is None:
            raise
        return None
    kind = classify_page(page)
    if kind is PageKind.MARKDOWN:
        return page
    notes.append(f"{url} is no llms.txt: the site answers with {kind}.")
    return None


def _fetch_linked_list(fetch: Callable[[str], FetchedPage], home: FetchedPage, notes: list[str]) -> FetchedPage | None:
    """Fetch the llms.txt that the home page of a site links to. If the link leads to something else, add a note."""
    html = decode_fetched_html(home)
    text_types = (*_MARKDOWN_TYPES, "")
    href = extract_link_url(html, *_LIST_RELS) or extract_link_url(html, "alternate", media_types=text_types)
    link = resolve_href(home.final_url, href) if href else None
    page = None
    if link is not None and "llms" in urlsplit(link).path.rpartition("/")[2]:
        try:
            page = _fetch_list(fetch, link, notes)
        except SourceError as error:
            notes.append(f"The llms.txt that the page names is not opened. {error}")
    return page


def _open_outline(
    fetch: Callable[[str], FetchedPage], url: str, home: FetchedPage, page_loader: PageLoader, notes: list[str]
) -> Library | None:
    """Open the outline of a site, with its home page loaded. If it has no outline, return None and add a note."""
    page = None
    with suppress(SourceError):  # a home page that runs JavaScript has no text
        page = parse_page(home, key=home.url, has_links=False)
    title = page.title if page is not None else make_title_from_url(home.final_url)
    outline = outline_site(fetch, home, decode_fetched_html(home), title)
    if outline is None:
        notes.append(f"{home.url} has no llms.txt; showing the page itself.")
        return None
    raw = RawText(text=outline.text, source=url, name="llms.txt", notes=(*notes, outline.note))
    library = Library(source=url, root=parse_source_text(raw, url=outline.url))
    page_loader.origins_to_approve = frozenset({origin_of(home.final_url), origin_of(url)}) - page_loader.allowed
    home_id = next(node_id for node_id in library.walk() if get_link_url(library, node_id))
    return library if page is None else library.graft_all({home_id: page})
