"""Open the paths or the URL that a person named, as a library and a loader for the files and pages not read yet."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from roamtui.document.document import Document, NodeRow, build_columns
from roamtui.document.library import Library
from roamtui.document.loader import LoadedBatch, Loader, Report, WebOptions, get_link_url, make_error_document
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_source_text
from roamtui.errors import SourceError, UsageError
from roamtui.sources.convert.converted import DEFAULT_OPTIONS, ConversionOptions, PageReport
from roamtui.sources.file_sources import list_sources
from roamtui.sources.listing import Listing
from roamtui.sources.read import RawText, is_path, read_source

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:/\S*)?", re.IGNORECASE)
_NO_WEB = WebOptions()


def build_library(raw: RawText) -> Library:
    """Build the library of a single document."""
    return Library(source=raw.source, root=parse_source_text(raw))


def open_sources(
    names: Sequence[str],
    *,
    web: WebOptions = _NO_WEB,
    conversion: ConversionOptions = DEFAULT_OPTIONS,
    report: PageReport | None = None,
) -> tuple[Library, SourceLoader | None]:
    """Open the sources that a person named: paths, or one URL, or ``-``.

    Return the library, which is only the listing if there are several files, and the loader of the files and links. The
    loader is None if there is nothing to load.

    Raises:
        SourceError: A source cannot be read.
        UsageError: Several sources were named, and one of them can only be opened by itself.
    """
    if len(names) == 1 and is_url(names[0]):
        from roamtui.document.web_loader import make_page_loader, open_web_source  # noqa: PLC0415 - only addresses need it
        from roamtui.sources.web.urls import normalise_url, origin_of  # noqa: PLC0415 - the same

        url = normalise_url(names[0])
        page_loader = make_page_loader(web, frozenset({origin_of(url)}))
        loader = SourceLoader(None, web)
        loader.page_loader = page_loader
        return open_web_source(url, page_loader), loader
    is_single = len(names) == 1 and not os.path.isdir(names[0])  # noqa: PTH112 - it never raises
    listing = None
    try:
        if is_single:
            library = build_library(read_source(names[0], conversion=conversion, report=report))
        else:
            for name in names:
                if not is_path(name):
                    raise UsageError(f"{name} cannot be combined with other sources.")
            listing = list_sources([Path(name) for name in names], conversion=conversion)
            library = _build_listed(listing)
    except SourceError as error:
        address = suggest_url(names[0]) if len(names) == 1 else None
        if address is None:
            raise
        raise SourceError(f"{error} If you mean a site, write {address}.") from None
    if listing is None and NodeKind.LINK not in library.root.columns.kinds:
        return library, None
    return library, SourceLoader(listing, web)


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


class SourceLoader:
    """Reads the files of a listing, and makes a page loader when the first link is opened."""

    def __init__(self, listing: Listing | None, web: WebOptions) -> None:
        self._listing = listing
        self._web = web

    @cached_property
    def page_loader(self) -> Loader:
        """Loader of linked pages, which is made when it is first needed."""
        from roamtui.document.web_loader import make_page_loader  # noqa: PLC0415 - only links need the web

        return make_page_loader(self._web, frozenset())

    @property
    def load_cost_total(self) -> int:
        """Sum of the load costs of all files, in bytes (see `estimate_load_cost`)."""
        return self._listing.load_cost_total if self._listing is not None else 0

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Load the documents of several nodes; see `Loader`."""
        links = tuple(node_id for node_id in node_ids if get_link_url(library, node_id))
        batch = self.page_loader.load_batch(library, links, approved, report) if links else LoadedBatch(documents={})
        documents = dict(batch.documents)
        for node_id in node_ids:
            if node_id not in documents:
                documents[node_id] = self._read_file(library, node_id)
                if report is not None:
                    report(len(documents), 0)
        return LoadedBatch(
            documents={node_id: documents[node_id] for node_id in node_ids}, refused_origins=batch.refused_origins
        )

    def _read_file(self, library: Library, node_id: str) -> Document:
        key = library.node(node_id).doc
        source = library.source_of(node_id)
        own_key = key.removeprefix(f"{source.key}/") if source is not None and source.key else key
        reader = self._listing.readers.get(own_key) if self._listing is not None else None
        if reader is None:
            problem = f"{key} was not there when the folder was listed. Read it again."
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
        """Return the nodes of each origin that the person must approve first; see `Loader`."""
        links = tuple(node_id for node_id in node_ids if get_link_url(library, node_id))
        return self.page_loader.list_unapproved_origins(library, links, approved) if links else {}

    def close(self) -> None:
        """Close the connections of the page loader, if there is one; see `Loader`."""
        if "page_loader" in vars(self):
            self.page_loader.close()
