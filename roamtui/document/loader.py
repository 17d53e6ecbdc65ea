"""Interfaces of the objects that load the files and pages of a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from roamtui.document.document import Document, build_columns
from roamtui.document.library import Library
from roamtui.document.node import LOADED_ON_DEMAND, NodeKind

Report = Callable[[int, int], None]
"""Receives the number of documents of a batch that are loaded, and of bytes received. Called from any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedBatch:
    """The documents loaded for several nodes."""

    documents: Mapping[str, Document]
    """By id of the node, in the requested order."""
    refused_origins: Mapping[str, str] = field(default_factory=dict)
    """Origin that is not approved, by id of the node whose page redirects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """How pages are fetched."""

    cache_dir: Path | None = None
    """Folder of the page cache, or None for no cache."""
    is_offline: bool = False
    """Whether pages come only from the cache."""
    always_revalidate: bool = False
    """Whether to ask sites if a page has changed even while the cached page is still fresh."""
    allowed: tuple[str, ...] = ()
    """URLs of further origins that the person typed, besides the origin of the source."""
    read_allowed: Callable[[], tuple[str, ...]] = tuple
    """Returns further such URLs. Called when the first page is needed."""
    read_proxy: Callable[[], str] = str
    """Returns the URL of the proxy, or an empty string. Called when the first page is needed."""


class Loader(Protocol):
    """Reads the files, or fetches the pages, of one or several sources."""

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Load the documents of several nodes. Called in a thread. Pages are fetched in parallel.

        The document of a node that cannot be read has a `problem`.
        """
        ...

    def list_unapproved_origins(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the nodes of each origin that the person must approve before the nodes can be loaded."""
        ...

    def close(self) -> None:
        """Close all connections. A page that is being fetched fails."""
        ...


def is_loadable(library: Library, node_id: str) -> bool:
    """Check whether a node is a file or a link that is not loaded, perhaps because loading it failed."""
    if node_id not in library or library.is_loaded(node_id):
        return False
    document, row = library.locate(node_id)
    return document.columns.kinds[row] in LOADED_ON_DEMAND


def load_files(library: Library, loader: Loader, on_progress: Callable[[int, int], None] | None = None) -> Library:
    """Load all files of a folder that nobody has tried to load yet.

    `on_progress` receives the number of files that are loaded, and their total.
    """
    node_ids = library.list_unloaded_files()
    if not node_ids:
        return library
    report = None if on_progress is None else lambda done, _: on_progress(done, len(node_ids))
    return library.graft_all(loader.load_batch(library, node_ids, frozenset(), report).documents)


def get_link_url(library: Library, node_id: str) -> str:
    """Return the URL of a link, or an empty string for any other node."""
    document, row = library.locate(node_id)
    return document.columns.urls[row] if document.columns.kinds[row] is NodeKind.LINK else ""


def make_error_document(key: str, problem: str, *, is_page: bool = True) -> Document:
    """Make the empty document of a page or file that could not be read."""
    return Document(
        key=key, title="", text="", columns=build_columns((), 0), url=key if is_page else None, problem=problem
    )


def format_refusal(url: str, origin: str) -> str:
    """Say that a page's origin is not approved, and how to approve it."""
    return f"{url} is on {origin}, which nobody approved: nothing was fetched. Allow it with --allow-origin {origin}."
