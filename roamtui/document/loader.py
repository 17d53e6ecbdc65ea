"""Open the paths or the URL that a person named as a library, and load its files and pages when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from roamtui.document.document import Document, NodeRow, build_columns
from roamtui.document.library import Library
from roamtui.document.loading import (
    LoadedBatch,
    LoadingOptions,
    Report,
    get_link_url,
    is_loadable,
    make_error_document,
    make_refusal,
)
from roamtui.document.node import Node, NodeKind
from roamtui.document.parse import parse_source_text
from roamtui.document.web_loader import PageLoader, open_web_source
from roamtui.errors import SourceError, UsageError
from roamtui.sources.convert.converted import PageReport
from roamtui.sources.file_sources import list_sources
from roamtui.sources.listing import Listing
from roamtui.sources.read import RawText, is_path, read_source
from roamtui.sources.web.urls import normalise_url, origin_of

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_DEFAULTS = LoadingOptions()
FileReader = Callable[[], RawText]
"""Reads a file. Any thread may call it. Raises `SourceError`."""
_NO_READERS: Mapping[str, FileReader] = MappingProxyType({})


class Loader:
    """Reads the files, and fetches the pages, of the sources of a library."""

    def __init__(
        self,
        options: LoadingOptions = _DEFAULTS,
        *,
        readers: Mapping[str, FileReader] = _NO_READERS,
        typed: frozenset[str] = frozenset(),
        load_cost_total: int = 0,
    ) -> None:
        """`readers` reads each file by its key. `typed` are the origins of the URLs that the person opened."""
        self.options = options
        self.load_cost_total = load_cost_total
        """Sum of the load costs of all files, in bytes (see `estimate_load_cost`)."""
        self.readers = readers
        self.typed = typed

    @cached_property
    def pages(self) -> PageLoader:
        """Loader of linked pages, which is made when the first one is opened."""
        return PageLoader(self.options, self.typed)

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Load the documents of several nodes. Called in a thread. Pages are fetched in parallel.

        The document of a node that cannot be read has a `problem`.
        """
        links = tuple(node_id for node_id in node_ids if get_link_url(library, node_id))
        batch = self.pages.load_batch(library, links, approved, report) if links else LoadedBatch(documents={})
        documents = dict(batch.documents)
        for node_id in node_ids:
            if node_id not in documents:
                documents[node_id] = self._read_file(library.node(node_id))
                if report is not None:
                    report(len(documents))
        ordered = {node_id: documents[node_id] for node_id in node_ids}
        return LoadedBatch(documents=ordered, refused_origins=batch.refused_origins)

    def _read_file(self, node: Node) -> Document:
        key, reader = node.doc, self.readers.get(node.doc)
        if reader is None:
            problem = node.problem or f"{key} was not there when the sources were listed. Read it again."
            return make_error_document(key, problem, is_page=False)
        try:
            raw = reader()
        except SourceError as error:
            return make_error_document(key, str(error), is_page=False)
        kept_notes = raw.notes[1:] if raw.is_converted else raw.notes  # in a folder, a conversion is not worth a note
        notes = tuple(f"{key}{note.removeprefix(raw.name)}" for note in kept_notes)
        document = parse_source_text(replace(raw, notes=notes), key=key)
        document.precompute()
        return document

    def list_unapproved_origins(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the nodes of each origin that the person must approve before the nodes can be loaded."""
        links = tuple(node_id for node_id in node_ids if get_link_url(library, node_id))
        return self.pages.list_unapproved_origins(library, links, approved) if links else {}

    def close(self) -> None:
        """Close all connections. A page that is being fetched fails."""
        if "pages" in vars(self):
            self.pages.close()


def add_loader(loader: Loader | None, key: str, other: Loader | None) -> Loader | None:
    """Return a loader that loads the source `key` with `other`, and all other sources like `loader`."""
    if other is None:
        return loader
    known = loader or Loader(other.options)
    added = {f"{key}/{name}" if key else name: reader for name, reader in other.readers.items()}
    return Loader(other.options, readers={**known.readers, **added}, typed=known.typed | other.typed)


def load_files(library: Library, loader: Loader, on_progress: Callable[[int, int], None] | None = None) -> Library:
    """Load all files of a folder that nobody has tried to load yet.

    `on_progress` receives the number of files that are loaded, and their total.
    """
    node_ids = library.list_unloaded_files()
    if not node_ids:
        return library
    report = None if on_progress is None else lambda done: on_progress(done, len(node_ids))
    return library.graft_all(loader.load_batch(library, node_ids, frozenset(), report).documents)


def load_pages(
    library: Library, loader: Loader, links: Sequence[str], approved: frozenset[str] = frozenset()
) -> Library:
    """Load the pages of links, each after those that lead to it, without asking the person for approval.

    A link that is no longer in the library is skipped. A page that cannot be loaded, or whose origin is not approved,
    gets the reason as its text.
    """
    pending = tuple(dict.fromkeys(links))
    while ready := tuple(link for link in pending if is_loadable(library, link)):
        unapproved = loader.list_unapproved_origins(library, ready, approved)
        refusals = {
            link: make_refusal(get_link_url(library, link), origin)
            for origin, refused in unapproved.items()
            for link in refused
        }
        batch = loader.load_batch(library, tuple(link for link in ready if link not in refusals), approved)
        library = library.graft_all({**batch.documents, **refusals})
        pending = tuple(link for link in pending if link not in ready)
    return library


def build_library(raw: RawText) -> Library:
    """Build the library of a single document."""
    return Library(source=raw.source, root=parse_source_text(raw))


def open_sources(
    names: Sequence[str],
    options: LoadingOptions = _DEFAULTS,
    *,
    report: PageReport | None = None,
) -> tuple[Library, Loader | None]:
    """Open the sources that a person named: paths, or one URL, or ``-``.

    Return the library, which is only the listing if there are several files, and the loader of the files and links. The
    loader is None if there is nothing to load.

    Raises:
        SourceError: A source cannot be read.
        UsageError: Several sources were named, and one of them can only be opened by itself.
    """
    if len(names) == 1 and is_url(names[0]):
        url = normalise_url(names[0])
        loader = Loader(options, typed=frozenset({origin_of(url)}))
        return open_web_source(url, loader.pages), loader
    try:
        if len(names) == 1 and not os.path.isdir(names[0]):  # noqa: PTH112 - it never raises
            library = build_library(read_source(names[0], conversion=options.conversion, report=report))
            return library, Loader(options) if NodeKind.LINK in library.root.columns.kinds else None
        for name in names:
            if not is_path(name):
                raise UsageError(f"{name} cannot be combined with other sources.")
        listing = list_sources([Path(name) for name in names], conversion=options.conversion)
    except SourceError as error:
        address = suggest_url(names[0]) if len(names) == 1 else None
        if address is None:
            raise
        raise SourceError(f"{error} If you mean a site, write {address}.") from None
    return _build_listed(listing), Loader(options, readers=listing.readers, load_cost_total=listing.load_cost_total)


def _build_listed(listing: Listing) -> Library:
    """Build a library that lists several files. None of them is loaded yet."""
    rows = [
        NodeRow(NodeKind.FOLDER if is_folder else NodeKind.FILE, len(path), path[-1], 0)
        for path, is_folder in listing.list_entries()
    ]
    root = Document(key="", title=listing.name, text="", columns=build_columns(rows, 0), notes=listing.notes)
    return Library(source=listing.source, root=root)


def is_url(name: str) -> bool:
    """Check whether the name of a source is a URL, not a path or ``-``."""
    return name != "-" and not is_path(name)


def suggest_url(name: str) -> str | None:
    """Return the URL that a name without a scheme may mean, or None if it names a file or does not look like a host."""
    if os.path.lexists(name) or _HOST.fullmatch(name) is None:
        return None
    return f"https://{name}"
