"""What loads the files and pages of a library, and what a library says about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from roamtui.document.document import Document, build_columns
from roamtui.document.library import Library
from roamtui.document.node import NodeKind

_LOADED_ON_DEMAND = frozenset({NodeKind.FILE, NodeKind.LINK})

Report = Callable[[int, int], None]
"""Told, from any thread, how many pages of a batch are there and how many bytes were received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedBatch:
    """What several nodes gave."""

    documents: Mapping[str, Document]
    """By node, in the order asked."""
    refused_origins: Mapping[str, str] = field(default_factory=dict)
    """Nodes whose page leads on to an origin that nobody approved, each with that origin."""


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


class BatchLoader(Protocol):
    """Loads several nodes of a library at once."""

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Return the documents that belong below several nodes; pages are fetched side by side."""
        ...

    def list_unapproved_origins(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the origins that a person must approve before these nodes can be loaded, each with its nodes."""
        ...

    def close(self) -> None:
        """Close all connections; a page under way fails."""
        ...


class Loader(BatchLoader, Protocol):
    """Reads the files, or fetches the pages, of one source."""

    def load(self, library: Library, node_id: str) -> Document:
        """Return the document that belongs below a node; called in a thread.

        What cannot be read is a document with a `problem`, never an exception.
        """
        ...


def is_loadable(library: Library, node_id: str) -> bool:
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


def get_link_url(library: Library, node_id: str) -> str:
    """Return the address of a link, empty for any other node."""
    document, row = library.locate(node_id)
    return document.columns.urls[row] if document.columns.kinds[row] is NodeKind.LINK else ""


def make_error_document(key: str, problem: str, *, is_page: bool = True) -> Document:
    """Return what stands below a node whose page or file is not there."""
    return Document(
        key=key, title="", text="", columns=build_columns((), 0), url=key if is_page else None, problem=problem
    )


def format_refusal(url: str, origin: str) -> str:
    """Return why a page is not fetched whose origin nobody approved, and how that is done."""
    return f"{url} is on {origin}, which nobody approved: nothing was fetched. Allow it with --allow-origin {origin}."
