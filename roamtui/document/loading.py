"""How sources are read, what comes back for several nodes, and the documents of nodes that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from roamtui.document.document import Document, build_columns
from roamtui.document.library import Library
from roamtui.document.node import LOADED_ON_DEMAND, NodeKind
from roamtui.errors import SourceError, UsageError
from roamtui.sources.convert.converted import DEFAULT_OPTIONS, ConversionOptions
from roamtui.sources.web.urls import origin_of

Report = Callable[[int], None]
"""Receives the number of documents of a batch that are loaded. Called from any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedBatch:
    """The documents loaded for several nodes."""

    documents: Mapping[str, Document]
    """By id of the node, in the requested order."""
    refused_origins: Mapping[str, str] = field(default_factory=dict)
    """Origin that is not approved, by id of the node whose page redirects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadingOptions:
    """How sources are read and pages are fetched."""

    cache_dir: Path | None = None
    """Folder of the page cache, or None for no cache."""
    is_offline: bool = False
    """Whether pages come only from the cache."""
    always_fetch: bool = False
    """Whether to fetch pages even while their cached copies are fresh."""
    allowed: tuple[str, ...] = ()
    """URLs of further origins that the person typed, besides the origin of the source."""
    proxy: str = ""
    """As `web.proxy` in the settings: the URL of a proxy, "environment", or empty for none."""
    conversion: ConversionOptions = DEFAULT_OPTIONS

    def parse_allowed(self) -> frozenset[str]:
        """Return the origins of the allowed URLs.

        Raises:
            UsageError: A URL is invalid.
        """
        try:
            return frozenset(map(origin_of, self.allowed))
        except SourceError as error:
            raise UsageError(f"--allow-origin or web.allow: {error}") from None


def is_loadable(library: Library, node_id: str) -> bool:
    """Check whether a node is a file or a link that is not loaded, perhaps because loading it failed."""
    if node_id not in library or library.is_loaded(node_id):
        return False
    document, row = library.locate(node_id)
    return document.columns.kinds[row] in LOADED_ON_DEMAND


def get_link_url(library: Library, node_id: str) -> str:
    """Return the URL of a link, or an empty string for any other node."""
    document, row = library.locate(node_id)
    return document.columns.urls[row] if document.columns.kinds[row] is NodeKind.LINK else ""


def make_error_document(key: str, problem: str, *, is_page: bool = True) -> Document:
    """Make the empty document of a page or file that could not be read."""
    return Document(
        key=key, title="", text="", columns=build_columns((), 0), url=key if is_page else None, problem=problem
    )


def make_refusal(url: str, origin: str) -> Document:
    """Make the document that says that a page's origin is not approved, and how to approve it."""
    hint = f"nobody approved: nothing was fetched. Allow it with --allow-origin {origin}."
    return make_error_document(url, f"{url} is on {origin}, which {hint}")
