"""A site or a page of the web as a library: its llms.txt, looked up where only the site is named, else the page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from roamtui.document.library import Library
from roamtui.document.llms_txt import name_address
from roamtui.document.web_text import PageKind, classify_page, decode_html, find_link, parse_fetched
from roamtui.errors import SourceError
from roamtui.sources.web.address import resolve_link
from roamtui.sources.web.failures import FetchError, OriginRefusedError
from roamtui.sources.web.grants import Grants

if TYPE_CHECKING:
    from roamtui.sources.web.fetcher import Fetcher
    from roamtui.sources.web.page import FetchedPage

LOOKED_UP = ("/llms.txt", "/docs/llms.txt")
"""Where a site's list of pages is looked up, one after the other."""
_LIST_NAME = re.compile(r"llms[\w.-]*\.(?:txt|md)", re.IGNORECASE)
_RELS = ("llms", "llms.txt", "llms-txt", "llmstxt", "alternate")
_PLAIN_TYPES = ("text/markdown", "text/plain", "text/x-markdown", "")


@dataclass(slots=True)
class _Visit:
    """The pages of one site that are looked at until one is opened."""

    fetcher: Fetcher
    grants: Grants
    notes: tuple[str, ...] = ()
    """What was found in place of an llms.txt, one sentence each."""

    def fetch(self, url: str) -> FetchedPage:
        return self.fetcher.fetch(url, self.grants, follows_public=True)

    def try_list(self, url: str) -> FetchedPage | None:
        """Return the llms.txt at an address, None where there is none; what is there instead is noted."""
        try:
            page = self.fetch(url)
        except OriginRefusedError as error:
            self.notes = (*self.notes, f"{url} leads to {error.origin}, which is not followed.")
            return None
        except FetchError as error:
            if error.status is None:
                raise
            return None
        kind = classify_page(page)
        if kind is PageKind.MARKDOWN:
            return page
        self.notes = (*self.notes, f"{url} is no llms.txt: the site answers with {kind}.")
        return None


def open_address(url: str, fetcher: Fetcher, typed: frozenset[str]) -> Library:
    """Return the library of an address that a person typed.

    Args:
        url: Normalised.
        fetcher: The program's way to the web.
        typed: Origins that the person typed, that of `url` among them.

    Raises:
        SourceError: There is nothing to read; the message says what there is.
    """
    visit = _Visit(fetcher, Grants(typed=typed))
    page = _find_list(visit, url) if _is_site(url) else visit.fetch(url)
    if _LIST_NAME.fullmatch(name_address(url).rpartition("/")[2]) and classify_page(page) is PageKind.HTML:
        visit.notes = (f"{url} is no such file: the site answers with {PageKind.HTML}, which is what you see.",)
    document = parse_fetched(page)
    return Library(source=url, root=replace(document, notes=(*visit.notes, *document.notes)))


def _is_site(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def _find_list(visit: _Visit, url: str) -> FetchedPage:
    """Return the llms.txt of a site, else the page at its address."""
    for path in LOOKED_UP:
        page = visit.try_list(urljoin(url, path))
        if page is not None:
            return page
    home = visit.fetch(url)
    if classify_page(home) is not PageKind.HTML:
        return home
    link = _find_named_list(home)
    try:
        named = visit.try_list(link) if link is not None else None
    except SourceError as error:
        visit.notes = (*visit.notes, f"The llms.txt that the page names is not opened. {error}")
        named = None
    if named is None:
        visit.notes = (*visit.notes, f"{url} has no llms.txt: this is the page itself.")
    return named or home


def _find_named_list(home: FetchedPage) -> str | None:
    """Return the address of the llms.txt that a page names in a ``<link>``, None where it names none."""
    html = decode_html(home)
    href = find_link(html, *_RELS[:-1]) or find_link(html, "alternate", media_types=_PLAIN_TYPES)
    link = resolve_link(home.final_url, href) if href else None
    return link if link is not None and "llms" in urlsplit(link).path.rpartition("/")[2] else None
