"""What a fetched page says: its text as Markdown, or why it is no document."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roamtui.document.document import Document
from roamtui.document.llms_txt import name_address
from roamtui.document.parse import parse_raw
from roamtui.errors import SourceError
from roamtui.sources.convert.conversion import Converted, Format, convert, find_format
from roamtui.sources.decode import decode_text, find_charset
from roamtui.sources.read import RawText, has_headings

if TYPE_CHECKING:
    from roamtui.sources.web.page import FetchedPage

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES = frozenset({"application/markdown", "application/x-markdown", "application/octet-stream", ""})
_JSON_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json|text/json")
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<!--(?:(?!-->).)*+-->\s*+|<\?xml[^>]*+>\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_START_LENGTH = 4_096
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_JSON_LENGTH_MAX = 2_000_000
_LINK_TAG = re.compile(r"<link(?![\w-])", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LINKS_LENGTH = 200_000
_TAG_LENGTH_MAX = 4_000


class PageKind(StrEnum):
    """What an address gave."""

    MARKDOWN = "Markdown"
    """Markdown or plain text."""
    HTML = "an HTML page"
    JSON = "JSON"
    FILE = "a PDF, an EPUB book or a Word document"
    EMPTY = "nothing"
    OTHER = "no text"


def classify_page(page: FetchedPage) -> PageKind:
    """Return what a page is: by its media type, and by its first characters where that is wrong or says nothing."""
    media_type = page.media_type
    if not page.body.strip():
        return PageKind.EMPTY
    if find_format(page.body, "", media_type) in (Format.PDF, Format.EPUB, Format.DOCX):
        return PageKind.FILE
    if media_type in _HTML_TYPES or _HTML_START.match(page.body[:_START_LENGTH]):
        return PageKind.HTML
    if _JSON_TYPE.fullmatch(media_type) or _is_json(page):
        return PageKind.JSON
    return PageKind.MARKDOWN if media_type.startswith("text/") or media_type in _TEXT_TYPES else PageKind.OTHER


def _is_json(page: FetchedPage) -> bool:
    """Return whether a text without a media type of its own is one JSON object or list."""
    body = page.body.strip()
    if page.media_type == "text/markdown" or body[:1] not in (b"{", b"[") or len(body) > _JSON_LENGTH_MAX:
        return False
    try:
        return isinstance(json.loads(body), dict | list)
    except (ValueError, RecursionError):
        return False


def parse_fetched(page: FetchedPage, *, key: str = "", has_links: bool = True) -> Document:
    """Return a page as a document; the message of a `SourceError` says what it is instead."""
    kind = classify_page(page)
    found = _read_page(page, kind)
    raw = RawText(
        text=found.text,
        source=page.url,
        name=name_address(page.final_url),
        is_markdown=kind is not PageKind.MARKDOWN or has_headings(urlsplit(page.final_url).path),
        notes=(*page.notes, *found.notes),
        page_starts=found.page_starts,
        is_converted=kind is PageKind.FILE,
    )
    document = parse_raw(raw, key=key, url=page.final_url, has_links=has_links)
    title = found.title if found.title and document.title == raw.name else document.title
    return replace(document, title=title, is_html=kind is PageKind.HTML)


def _read_page(page: FetchedPage, kind: PageKind) -> Converted:
    match kind:
        case PageKind.HTML:
            from roamtui.sources.convert.html import convert_html  # noqa: PLC0415 - many pages need no conversion

            converted = convert_html(decode_html(page), base_url=page.final_url)
            if converted.text.strip():
                return Converted(text=converted.text, title=converted.title)
            raise SourceError(
                f"{page.url} holds no text without a browser: it runs JavaScript, or asks whether you are a person. "
                "Open it in a browser and save it as a file."
            )
        case PageKind.MARKDOWN:
            charset = find_charset(page.charset or "utf-8")
            if charset not in (None, "utf-8", "ascii"):
                with suppress(UnicodeError):
                    return Converted(text=page.body.decode(charset).lstrip("\ufeff"))
            text, notes = decode_text(page.body, page.url)
            return Converted(text=text, notes=notes)
        case PageKind.FILE:
            file = convert(page.body, name_address(page.final_url), page.media_type)
            assert file is not None  # its format was found before
            return file
        case PageKind.EMPTY:
            raise SourceError(f"{page.url} is empty. Try another address.")
        case PageKind.JSON:
            raise SourceError(f"{page.url} is JSON, not a page for readers. Save it as a file to open it as text.")
        case PageKind.OTHER:
            named = page.media_type or "of no known type"
            raise SourceError(f"{page.url} is {named}, which is not opened from the web. Save it and name the file.")


def decode_html(page: FetchedPage) -> str:
    """Return the characters of an HTML page, by what the site says of its encoding, then by what the page says."""
    found = _CHARSET.search(page.body[:_START_LENGTH])
    named = (page.charset, found.group(1).decode("ascii", "replace") if found else None)
    charset = next(filter(None, map(find_charset, filter(None, named))), "utf-8")
    return page.body.decode(charset, "replace").lstrip("\ufeff")


def find_link(html: str, *rels: str, media_types: tuple[str, ...] = ()) -> str | None:
    """Return the address in the first ``<link>`` with one of these relations, and types where any are given."""
    for begin in _LINK_TAG.finditer(html[:_LINKS_LENGTH]):
        end = html.find(">", begin.end(), begin.end() + _TAG_LENGTH_MAX)
        tag = html[begin.end() : end + 1]
        attributes = {name.lower(): one or other or bare for name, one, other, bare in _ATTRIBUTE.findall(tag)}
        is_wanted = any(rel in rels for rel in attributes.get("rel", "").lower().split())
        if is_wanted and (not media_types or attributes.get("type", "").lower() in media_types):
            return attributes.get("href") or None
    return None
