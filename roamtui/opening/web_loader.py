"""Load web pages as documents: the page that the person named, and the pages that links lead to."""

import re
from contextlib import suppress
from pathlib import PurePosixPath
from urllib.parse import urljoin, urlsplit

from msgspec.structs import asdict, replace

from roamtui.convert.conversion import convert_page, detect_format
from roamtui.convert.converted import ConvertedText, ProgressCallback
from roamtui.convert.decode import decode_text
from roamtui.convert.formats import CONVERTED_SUFFIXES, HTML, RST, Format
from roamtui.document.document import Document, NodeKind
from roamtui.document.library import Library
from roamtui.document.parse import parse_source_text
from roamtui.errors import SourceError
from roamtui.opening.site_files import SiteFiles
from roamtui.sources.conversion_cache import DEFAULT_OPTIONS, ConversionOptions, convert_cached
from roamtui.sources.read import DOCUMENT_SUFFIXES, SourceText, has_headings
from roamtui.web.page import FetchedPage, FetchError, PageFetcher, UnreachableError
from roamtui.web.urls import covers_origin, make_title_from_url, origin_of

_TEXT_TYPES = frozenset({"application/markdown", "application/x-markdown", "application/octet-stream", ""})
_LIST_PATHS = ("/llms.txt", "/docs/llms.txt")
"""Paths where a site may have its list of pages, in the order in which they are tried."""
_LINK = re.compile(r"\]\(|https?://")
"""A sign that a text without rows of links has links, unlike a page that only says "not found"."""


def detect_page_format(page: FetchedPage) -> Format | None:
    """Detect the format to convert a page from, or return None for text, unknown types and empty pages."""
    name = urlsplit(page.final_url).path
    page_format = detect_format(page.body, name, page.media_type) if page.body.strip() else None
    return None if page_format is RST else page_format  # a page in RST is shown as the text that it is


def _is_text(page: FetchedPage) -> bool:
    suffix = PurePosixPath(urlsplit(page.final_url).path).suffix.lower()
    is_named_text = suffix in DOCUMENT_SUFFIXES.difference(CONVERTED_SUFFIXES)
    has_text_type = page.media_type.startswith("text/") or page.media_type in _TEXT_TYPES
    return (has_text_type or is_named_text) and bool(page.body.strip()) and detect_page_format(page) is None


def parse_page(
    page: FetchedPage,
    *,
    key: str = "",
    has_links: bool = True,
    conversion: ConversionOptions = DEFAULT_OPTIONS,
    on_progress: ProgressCallback | None = None,
) -> Document:
    """Parse a page into a document. If it has no text, raise a `SourceError` that says what it is."""
    page_format = detect_page_format(page)
    if page_format is None or page_format is HTML:
        converted = _read_page(page, page_format)
    else:
        name = make_title_from_url(page.final_url)
        converted = convert_cached(
            page.body, name, page_format, conversion=conversion, on_progress=on_progress
        )
    source = SourceText(
        source=page.url,
        name=make_title_from_url(page.final_url),
        is_markdown=page_format is not None or has_headings(urlsplit(page.final_url).path),
        is_converted=page_format is not None,
        **asdict(converted),
    )
    document = parse_source_text(source, key=key, url=page.final_url, has_links=has_links)
    return replace(document, notes=(*page.notes, *document.notes))


def _read_page(page: FetchedPage, page_format: Format | None) -> ConvertedText:
    if page_format is HTML:
        converted = convert_page(page.body, page.charset, page.final_url)
        if converted.text.strip():
            return converted
        raise SourceError(
            f"{page.url} shows its text only in a browser. Save it there as a file, and open the file."
        )
    if _is_text(page):
        text, notes = decode_text(page.body, page.url, page.charset)
        return ConvertedText(text=text, notes=notes)
    if not page.body.strip():
        raise SourceError(f"The page at {page.url} is empty. Check the URL.")
    reason = f"it is {page.media_type or 'of no known type'}"
    raise SourceError(
        f"{page.url} cannot be opened from the web, because {reason}. Download it and open the file."
    )


def _open_list(files: SiteFiles, url: str) -> Document | None:
    """Open the llms.txt at a URL; None if that fails or is no list. Raise if the site cannot be reached."""
    try:
        page = files.fetch(url)
        document = parse_page(page) if _is_text(page) else None
    except SourceError as error:
        if isinstance(error, UnreachableError) and not files.is_late:
            raise
        return None
    is_list = document and (NodeKind.LINK in document.columns.kinds or _LINK.search(document.text))
    return document if is_list else None


def open_web_source(
    url: str, fetch: PageFetcher, on_progress: ProgressCallback, conversion: ConversionOptions
) -> Library:
    """Open the URL that a person typed: the llms.txt of a site, or an outline of its pages, or a page.

    A page that is not the home page is opened alone.

    Raises:
        SourceError: There is no text at the URL. The message says what is there.
    """
    parts = urlsplit(url)
    is_home = parts.path in ("", "/") and not parts.query
    files = SiteFiles(fetch, url, on_progress)
    lists = (_open_list(files, urljoin(url, path)) for path in _LIST_PATHS if is_home)
    listed = next(filter(None, lists), None)
    if listed is not None:
        return Library(source=url, root=listed)
    try:
        page = fetch(url, follows_public=True)
    except FetchError:
        absent = FetchedPage(url=url, final_url=url, media_type="", charset=None, body=b"")
        if is_home and (library := _open_outline(files, url, absent)):
            return library
        raise
    is_html = detect_page_format(page) is HTML
    library = _open_outline(files, url, page) if is_html and is_home else None
    if library is not None:
        return library
    document = parse_page(page, conversion=conversion, on_progress=on_progress)
    if is_html and is_home:
        note = f"{files.explain_missing_list()} Only this page is shown."
        left_out = ("the other pages of the site", *document.left_out)
        document = replace(document, notes=(note, *document.notes), left_out=left_out)
    return Library(source=url, root=document)


def _open_outline(files: SiteFiles, url: str, first: FetchedPage) -> Library | None:
    """Open the outline of a site, with the text of its home page. Return None if it has no outline."""
    from roamtui.opening.site_outline import outline_site  # noqa: PLC0415 - few sites have no list of pages

    page = None
    with suppress(SourceError):  # a home page that runs JavaScript has no text
        page = parse_page(first, key=first.url, has_links=False)
    title = page.title if page is not None else make_title_from_url(first.final_url)
    is_own = covers_origin(origin_of(url), origin_of(first.final_url))
    outline = outline_site(files, first, title, is_own=is_own)
    if outline is None:
        return None
    library = Library(source=url, root=outline)
    first_id = next(node_id for node_id in library.walk() if library.node(node_id).kind is NodeKind.LINK)
    return library if page is None else library.graft_all({first_id: page})
