"""What a person named, paths or an address, into a library with what loads the rest of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from roamtui.document.document import Document, Row, build_columns
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_raw
from roamtui.errors import SourceError, UsageError
from roamtui.sources.convert.conversion import PageReport
from roamtui.sources.listing import Listing, is_listed, list_sources
from roamtui.sources.read import RawText, is_path, read_source

if TYPE_CHECKING:
    from roamtui.document.web_loader import PageLoader

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """How pages are fetched."""

    cache_dir: Path | None = None
    """Folder where pages are kept, None for nowhere."""
    is_offline: bool = False
    """Whether the cache alone is used."""
    is_checking: bool = False
    """Whether sites are asked if a page has changed even where they said that it would not yet."""
    allowed: tuple[str, ...] = ()
    """Addresses whose origins the person typed besides that of the source."""
    read_allowed: Callable[[], tuple[str, ...]] = tuple
    """Gives more of them, asked once the first page is needed."""


_NO_WEB = WebOptions()


def build_library(raw: RawText) -> Library:
    """Return the library of a single document."""
    return Library(source=raw.source, root=parse_raw(raw))


def open_named(
    names: Sequence[str], *, web: WebOptions = _NO_WEB, kept_dir: Path | None = None, report: PageReport | None = None
) -> tuple[Library, SourceLoader | None]:
    """Return the library of what a person named: paths, or one address or ``-``.

    Returns:
        The library, of files their listing alone, and what loads those and the pages of links; None where it has
        neither.

    Raises:
        SourceError: It cannot be read.
        UsageError: Something was named together with others that can only be opened alone.
    """
    if len(names) == 1 and is_address(names[0]):
        from roamtui.document.web_loader import open_address  # noqa: PLC0415 - only addresses need the web
        from roamtui.sources.web.address import origin_of, parse_address  # noqa: PLC0415 - likewise

        url = parse_address(names[0])
        pages = _make_pages(web, frozenset({origin_of(url)}))
        return open_address(url, pages.fetcher, pages.typed), SourceLoader(None, lambda: pages)
    is_single = len(names) == 1 and not (is_path(names[0]) and is_listed(Path(names[0])))
    listing = None
    try:
        if is_single:
            library = build_library(read_source(names[0], kept_dir=kept_dir, report=report))
        else:
            for name in names:
                if not is_path(name):
                    raise UsageError(f"{name} is opened by itself, not together with other sources.")
            listing = list_sources([Path(name) for name in names], kept_dir=kept_dir)
            rows = [
                Row(NodeKind.FOLDER if is_folder else NodeKind.FILE, len(path), path[-1], 0)
                for path, is_folder in listing.list_entries()
            ]
            root = Document(key="", title=listing.name, text="", columns=build_columns(rows, 0), notes=listing.notes)
            library = Library(source=listing.source, root=root)
    except SourceError as error:
        address = suggest_address(names[0]) if len(names) == 1 else None
        if address is None:
            raise
        raise SourceError(f"{error} If you mean a site, write {address}.") from None
    if listing is None and NodeKind.LINK not in library.root.columns.kinds:
        return library, None
    return library, SourceLoader(listing, lambda: _make_pages(web, frozenset()))


def is_address(name: str) -> bool:
    """Return whether what a person named has a scheme, as an address of the web must."""
    return name != "-" and not is_path(name)


def suggest_address(name: str) -> str | None:
    """Return the address that a person may mean by a name without a scheme that is no file, None where none."""
    if os.path.lexists(name) or _HOST.fullmatch(name) is None:
        return None
    return f"https://{name}"


def _make_pages(web: WebOptions, typed: frozenset[str]) -> PageLoader:
    """Return what fetches pages; its connections are closed when nobody holds it any more, and with the program."""
    from weakref import finalize  # noqa: PLC0415 - only addresses need the web

    from roamtui.document.web_loader import PageLoader  # noqa: PLC0415 - likewise
    from roamtui.sources.web.fetcher import Fetcher  # noqa: PLC0415 - likewise
    from roamtui.sources.web.page import FetchOptions  # noqa: PLC0415 - likewise

    options = FetchOptions(is_offline=web.is_offline, is_checking=web.is_checking)
    fetcher = Fetcher(cache_dir=web.cache_dir, options=options)
    allowed = read_origins(web.allowed, "--allow-origin") | read_origins(web.read_allowed(), "web.allow")
    pages = PageLoader(fetcher, typed | allowed)
    finalize(pages, fetcher.close)
    return pages


def read_origins(addresses: Sequence[str], option: str) -> frozenset[str]:
    """Return the origins of addresses that a person typed."""
    from roamtui.sources.web.address import origin_of  # noqa: PLC0415 - only addresses need the web

    try:
        return frozenset(map(origin_of, addresses))
    except SourceError as error:
        raise UsageError(f"{option}: {error}") from None


class SourceLoader:
    """Reads the files of a listing, and has a loader of pages made when the first link is opened."""

    def __init__(self, listing: Listing | None, make_pages: Callable[[], PageLoader]) -> None:
        self._listing = listing
        self._make_pages = make_pages

    @cached_property
    def _pages(self) -> PageLoader:
        return self._make_pages()

    @property
    def bytes_total(self) -> int:
        """Size of all files."""
        return self._listing.bytes_total if self._listing is not None else 0

    def load(self, library: Library, node_id: str) -> Document:
        """Return the document that belongs below a node, with all counted that would cost time later; see `Loader`."""
        if self._listing is None or find_address(library, node_id):
            return self._pages.load_batch(library, (node_id,), frozenset()).documents[node_id]
        listing, row = library.locate(node_id)
        key = "/".join(listing.columns.path(row))
        reader = self._listing.readers.get(key)
        if reader is None:
            problem = f"{key} was not there when the folder was listed. Read it again."
            return make_failure(key, problem, is_page=False)
        try:
            raw = reader()
        except SourceError as error:
            return make_failure(key, str(error), is_page=False)
        said = raw.notes[1:] if raw.is_converted else raw.notes  # that it was converted is not news in a folder
        notes = tuple(f"{key}{note.removeprefix(raw.name)}" for note in said)
        document = parse_raw(replace(raw, notes=notes), key=key)
        document.count_ahead()
        return document

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Return the documents that belong below several nodes, in the order asked; see `Loader`."""
        links = tuple(node_id for node_id in node_ids if find_address(library, node_id))
        batch = self._pages.load_batch(library, links, approved, report) if links else LoadedBatch(documents={})
        documents = dict(batch.documents)
        for node_id in node_ids:
            if node_id not in documents:
                documents[node_id] = self.load(library, node_id)
                if report is not None:
                    report(len(documents), 0)
        return LoadedBatch(documents={node_id: documents[node_id] for node_id in node_ids}, refused=batch.refused)

    def find_unapproved(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the origins that a person must approve first, each with its nodes; see `Loader`."""
        links = tuple(node_id for node_id in node_ids if find_address(library, node_id))
        return self._pages.find_unapproved(library, links, approved) if links else {}


_LOADED_ON_DEMAND = frozenset({NodeKind.FILE, NodeKind.LINK})

Report = Callable[[int, int], None]
"""Told, from any thread, how many pages of a batch are there and how many bytes were received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedBatch:
    """What several nodes gave."""

    documents: Mapping[str, Document]
    """By node, in the order asked."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Nodes whose page leads on to an origin that nobody approved, each with that origin."""


class Loader(Protocol):
    """Reads the files, or fetches the pages, of one source."""

    def load(self, library: Library, node_id: str) -> Document:
        """Return the document that belongs below a node; called in a thread.

        What cannot be read is a document with a `problem`, never an exception.
        """
        ...

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Return the documents that belong below several nodes; pages are fetched side by side."""
        ...

    def find_unapproved(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the origins that a person must approve before these nodes can be loaded, each with its nodes."""
        ...


def can_load(library: Library, node_id: str) -> bool:
    """Return whether a node is a file or a link that is not loaded, or could not be."""
    if node_id not in library or library.is_loaded(node_id):
        return False
    document, row = library.locate(node_id)
    return document.columns.kinds[row] in _LOADED_ON_DEMAND


def load_files(library: Library, loader: Loader, report: Callable[[int, int], None] | None = None) -> Library:
    """Return a library in which all files of the listing are loaded."""
    node_ids = library.list_unloaded()
    documents: dict[str, Document] = {}
    for done, node_id in enumerate(node_ids, start=1):
        documents[node_id] = loader.load(library, node_id)
        if report is not None:
            report(done, len(node_ids))
    return library.graft_all(documents) if documents else library


def find_address(library: Library, node_id: str) -> str:
    """Return the address of a link, empty for any other node."""
    document, row = library.locate(node_id)
    return document.columns.urls[row] if document.columns.kinds[row] is NodeKind.LINK else ""


def make_failure(key: str, problem: str, *, is_page: bool = True) -> Document:
    """Return what stands below a node whose page or file is not there."""
    return Document(
        key=key, title="", text="", columns=build_columns((), 0), url=key if is_page else None, problem=problem
    )


def explain_refusal(url: str, origin: str) -> str:
    """Return why a page is not fetched whose origin nobody approved, and how that is done."""
    return f"{url} is on {origin}, which nobody approved: nothing was fetched. Allow it with --allow-origin {origin}."
