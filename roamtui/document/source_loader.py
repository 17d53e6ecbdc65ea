"""`SourceLoader`: what stands below the nodes of one library, files and pages alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.loader import LoadedBatch
from roamtui.document.node import NodeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from roamtui.document.document import Document
    from roamtui.document.folder import FileLoader
    from roamtui.document.library import Library
    from roamtui.document.loader import Report
    from roamtui.document.web_loader import PageLoader


class SourceLoader:
    """Reads files itself, and has a loader of pages made when the first link is opened."""

    def __init__(self, files: FileLoader | None, make_pages: Callable[[], PageLoader]) -> None:
        """Read nothing yet.

        Args:
            files: Reads the files, None for a library without a listing.
            make_pages: Makes what fetches pages; called once at most.
        """
        self._files = files
        self._make_pages = make_pages
        self._pages: PageLoader | None = None

    @property
    def bytes_total(self) -> int:
        """Size of all files."""
        return self._files.bytes_total if self._files is not None else 0

    def load(self, library: Library, node_id: str) -> Document:
        """Return the document that belongs below a node; see `Loader`."""
        if self._files is not None and not _is_link(library, node_id):
            return self._files.load(library, node_id)
        return self._find_pages().load(library, node_id)

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str], report: Report | None = None
    ) -> LoadedBatch:
        """Return the documents that belong below several nodes, in the order asked; see `Loader`."""
        links = tuple(node_id for node_id in node_ids if _is_link(library, node_id))
        batch = self._find_pages().load_batch(library, links, approved, report) if links else LoadedBatch(documents={})
        files = {node_id: self.load(library, node_id) for node_id in node_ids if node_id not in links}
        documents = {**batch.documents, **files}
        return LoadedBatch(documents={node_id: documents[node_id] for node_id in node_ids}, refused=batch.refused)

    def find_unapproved(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the origins that a person must approve first, each with its nodes; see `Loader`."""
        links = tuple(node_id for node_id in node_ids if _is_link(library, node_id))
        return self._find_pages().find_unapproved(library, links, approved) if links else {}

    def _find_pages(self) -> PageLoader:
        if self._pages is None:
            self._pages = self._make_pages()
        return self._pages


def _is_link(library: Library, node_id: str) -> bool:
    return library.heading(node_id).kind is NodeKind.LINK
