"""`PageLoader`: fetches the pages of link nodes, their Markdown twins where there are any, several at a time."""

from __future__ import annotations

import threading
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roamtui.document.folder import count_ahead
from roamtui.document.links import explain_refusal, find_address, make_failure
from roamtui.document.loader import LoadedBatch
from roamtui.document.node import NodeKind
from roamtui.document.side_by_side import run_side_by_side, start
from roamtui.document.twins import OTHER_ADDRESSES, TwinStyle, TwinStyles, is_text_address, make_twin
from roamtui.document.web_text import PageKind, classify_page, decode_html, find_link, parse_fetched
from roamtui.errors import SourceError
from roamtui.sources.web.address import origin_of, resolve_link
from roamtui.sources.web.failures import FetchError, OriginRefusedError
from roamtui.sources.web.grants import Grants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.document.document import Document
    from roamtui.document.library import Library
    from roamtui.document.loader import Report
    from roamtui.sources.web.fetcher import Fetcher
    from roamtui.sources.web.page import FetchedPage

DEPTH_MAX = 2
"""Links that lead from the source to a page, one after the other; the pages at the end have no links to open."""
_FETCHED_AT_ONCE = 8
_MARKDOWN_TYPES = ("text/markdown", "text/x-markdown", "text/plain")


class PageLoader:
    """Fetches pages for one source, and learns where each site keeps the Markdown twins of its pages."""

    def __init__(self, fetcher: Fetcher, typed: frozenset[str], *, depth_max: int = DEPTH_MAX) -> None:
        """Fetch nothing yet.

        Args:
            fetcher: The program's way to the web.
            typed: Origins that the person typed.
            depth_max: Links that lead from the source to a page, one after the other.
        """
        self.fetcher = fetcher
        self.typed = typed
        self._depth_max = depth_max
        self._styles = TwinStyles()

    def find_unapproved(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the origins that a person must approve before these links can be opened; see `Loader`."""
        grants = Grants(typed=self.typed, approved=approved)
        found: dict[str, tuple[str, ...]] = {}
        for node_id in node_ids:
            url = find_address(library, node_id)
            if url and not grants.covers(url):
                origin = origin_of(url)
                found[origin] = (*found.get(origin, ()), node_id)
        return found

    def load(self, library: Library, node_id: str) -> Document:
        """Return the page of one link; see `Loader`."""
        return self.load_batch(library, (node_id,), frozenset()).documents[node_id]

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Return the pages of several links, at most 8 fetched at a time; see `Loader`."""
        urls = {node_id: find_address(library, node_id) for node_id in node_ids}
        depths: dict[str, int] = {}
        for node_id, url in urls.items():
            depths.setdefault(url, _find_depth(library, node_id))
        job = _Job(self.fetcher, Grants(typed=self.typed, approved=approved), self._styles, report)

        def read(url: str) -> Document:
            return job.read(library, url, has_links=depths[url] < self._depth_max)

        pages = dict(zip(depths, run_side_by_side(read, depths, _FETCHED_AT_ONCE), strict=True))
        documents = {node_id: pages[url] for node_id, url in urls.items()}
        refused = {node_id: job.refused[url] for node_id, url in urls.items() if url in job.refused}
        return LoadedBatch(documents=documents, refused=MappingProxyType(refused))


def _find_depth(library: Library, node_id: str) -> int:
    kinds = (library.heading(one).kind for one in (*library.ancestors(node_id), node_id))
    return sum(kind is NodeKind.LINK for kind in kinds)


class _Job:
    """One batch under way. Its pages are read in threads."""

    def __init__(self, fetcher: Fetcher, grants: Grants, styles: TwinStyles, report: Report | None) -> None:
        self.refused: dict[str, str] = {}
        self._fetcher = fetcher
        self._grants = grants
        self._styles = styles
        self._report = report
        self._done = 0
        self._bytes = 0
        self._lock = threading.Lock()

    def read(self, library: Library, url: str, *, has_links: bool) -> Document:
        """Return the page at an address, or why it is not there."""
        known = _find_known(library, url)
        if known is not None:
            return known
        try:
            document = parse_fetched(self._find_page(url), key=url, has_links=has_links)
        except OriginRefusedError as error:
            self.refused[url] = error.origin
            document = make_failure(url, explain_refusal(url, error.origin))
        except SourceError as error:
            document = make_failure(url, str(error))
        count_ahead(document)
        self._tell(pages=1)
        return document

    def _find_page(self, url: str) -> FetchedPage:
        """Return the Markdown twin of a page, or the page where it has none."""
        if is_text_address(url):
            return self._fetch(url)
        origin = origin_of(url)
        explored: list[FetchedPage] = []

        def try_out() -> TwinStyle | None:
            page, style = self._explore(url)
            explored.append(page)
            return style

        self._styles.settle(origin, try_out)
        if explored:
            return explored[0]
        style = self._styles.find(origin)
        twin = make_twin(url, style) if style is not None else None
        page = self._fetch_twin(twin) or self._fetch(url)
        if style is TwinStyle.ALTERNATE and classify_page(page) is PageKind.HTML:
            return self._fetch_twin(_find_alternate(page)) or page
        return page

    def _explore(self, url: str) -> tuple[FetchedPage, TwinStyle | None]:
        """Return a page or its twin, and what that tells of the site; None where it tells nothing.

        The page and all that may be its twin are asked for at once: once for a site, that saves a round trip.
        """
        addresses = {style: make_twin(url, style) for style in OTHER_ADDRESSES}
        asked = start(lambda: self._fetch_unless_failing(url))
        found = run_side_by_side(self._fetch_twin, addresses.values(), len(addresses))
        twins = dict(zip(addresses, found, strict=True))
        page = asked.result()
        kind = PageKind.EMPTY if isinstance(page, FetchError) else classify_page(page)
        if not isinstance(page, FetchError) and kind is PageKind.MARKDOWN:
            return page, TwinStyle.SAME
        for style, twin in twins.items():
            if twin is not None:
                return twin, style
        if isinstance(page, FetchError):
            raise page
        named = self._fetch_twin(_find_alternate(page)) if kind is PageKind.HTML else None
        if named is not None:
            return named, TwinStyle.ALTERNATE
        is_telling = kind is PageKind.HTML and bool(urlsplit(url).path.strip("/"))
        return page, TwinStyle.NONE if is_telling else None

    def _fetch_unless_failing(self, url: str) -> FetchedPage | FetchError:
        """Return a page, or why there is none: without the network, its twin alone may be in the cache."""
        try:
            return self._fetch(url)
        except FetchError as error:
            return error

    def _fetch_twin(self, url: str | None) -> FetchedPage | None:
        """Return the text at an address, None where there is none."""
        if url is None:
            return None
        try:
            page = self._fetch(url)
        except SourceError:
            return None
        return page if classify_page(page) is PageKind.MARKDOWN else None

    def _fetch(self, url: str) -> FetchedPage:
        self._tell()
        received = 0

        def count(bytes_received: int, _total: int | None) -> None:
            nonlocal received
            self._tell(bytes_more=bytes_received - received)
            received = bytes_received

        return self._fetcher.fetch(url, self._grants, report=count if self._report else None)

    def _tell(self, *, pages: int = 0, bytes_more: int = 0) -> None:
        if self._report is None:
            return
        with self._lock:
            self._done += pages
            self._bytes += max(0, bytes_more)
            self._report(self._done, self._bytes)


def _find_known(library: Library, url: str) -> Document | None:
    """Return the page at an address where it stands in the library already."""
    if url == library.root.url:
        return make_failure(url, f"{url} is what you have open: this link leads to itself.")
    try:
        document = library.document(url)
    except KeyError:
        return None
    return None if document.problem else document


def _find_alternate(page: FetchedPage) -> str | None:
    """Return the address of the twin that an HTML page names, None where it names none."""
    href = find_link(decode_html(page), "alternate", media_types=_MARKDOWN_TYPES)
    twin = resolve_link(page.final_url, href) if href else None
    return twin if twin and is_text_address(twin) and not urlsplit(twin).path.endswith("llms.txt") else None
