"""Open paths or a URL as a library, and load its files and pages when they are needed."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import finalize

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.converted import ProgressCallback
from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import Library, Node
from roamtui.document.parse import parse_source_text
from roamtui.errors import SourceError, UsageError
from roamtui.opening.web_loader import open_web_source, parse_page
from roamtui.parallel import run_parallel
from roamtui.paths import is_standard_input
from roamtui.sources.conversion_cache import DEFAULT_OPTIONS, ConversionOptions
from roamtui.sources.listing import ListedFile, list_files, read_listed
from roamtui.sources.read import DOCUMENT_SUFFIXES, SourceText, is_path, read_source
from roamtui.sources.source_names import make_short_name
from roamtui.web.page import FetchOptions, OriginNotApprovedError, PageFetcher
from roamtui.web.urls import AllowedOrigins, normalise_url, origin_of

if TYPE_CHECKING:
    from roamtui.web.fetcher import Fetcher

_HOST = r"(?i)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?(?:/\S*)?"


class LoadingOptions(Struct, frozen=True, kw_only=True):
    """How sources are read and pages are fetched."""

    cache_dir: Path | None = None
    """Folder of the page cache, or None for no cache."""
    fetching: FetchOptions = FetchOptions()
    allowed: tuple[str, ...] = ()
    """URLs of origins that the person typed, in addition to the origin of the source."""
    conversion: ConversionOptions = DEFAULT_OPTIONS

    def parse_allowed(self) -> frozenset[str]:
        """Return the origins of the allowed URLs, or raise a `UsageError` for an invalid one."""
        try:
            return frozenset(map(origin_of, self.allowed))
        except SourceError as error:
            raise UsageError(f"--allow-origin or web.allow cannot be used: {error}") from None


def make_error_document(key: str, problem: str, *, is_page: bool) -> Document:
    """Make the empty document of a page or file that could not be read."""
    columns = make_columns((), 0)
    url = key if is_page else None
    return Document(key=key, title="", text="", columns=columns, url=url, problem=problem)


_DEFAULTS = LoadingOptions()


class Loader:
    """Reads the files, and fetches the pages, of the sources of a library."""

    def __init__(
        self,
        options: LoadingOptions = _DEFAULTS,
        *,
        files: Mapping[str, ListedFile] | None = None,
        typed_origins: frozenset[str] = frozenset(),
    ) -> None:
        """`files` are the listed files by key. The person typed URLs of `typed_origins`."""
        self.options = options
        self.files = files or {}
        self.typed_origins = typed_origins
        self._close: Callable[[], object] | None = None

    @cached_property
    def _fetcher(self) -> "Fetcher":
        from roamtui.web.fetcher import Fetcher  # noqa: PLC0415 - few documents need connections

        fetcher = Fetcher(cache_dir=self.options.cache_dir, options=self.options.fetching)
        self._close = finalize(self, fetcher.close)
        return fetcher

    def make_page_fetcher(self, approved: frozenset[str] = frozenset()) -> PageFetcher:
        """Return a function that fetches pages. An invalid origin or proxy raises a `UsageError`."""
        typed = self.typed_origins | self.options.parse_allowed()
        return partial(self._fetcher.fetch, allowed=AllowedOrigins(typed=typed, approved=approved))

    def load_batch(
        self, library: Library, node_ids: tuple[str, ...], approved: frozenset[str]
    ) -> dict[str, Document]:
        """Load the documents of several nodes, pages in parallel. Call this in a thread.

        The document of a node that cannot be read has a `problem`. A page of an origin that nobody has
        approved has a `refused_origin` too.
        """
        urls = {node_id: url for node_id in node_ids if (url := library.node(node_id).link_url)}
        pages = self._load_pages(library, tuple(dict.fromkeys(urls.values())), approved) if urls else {}
        return {
            node_id: pages[urls[node_id]] if node_id in urls else self._read_file(library.node(node_id))
            for node_id in node_ids
        }

    def _load_pages(
        self, library: Library, urls: Sequence[str], approved: frozenset[str]
    ) -> dict[str, Document]:
        fetch = self.make_page_fetcher(approved)
        has_site = any(document.is_site for document in library.documents)

        def load_page(url: str) -> Document:
            if url == library.root.url:
                return make_error_document(
                    url, f"{url} is what you have open: this link leads to itself.", is_page=True
                )
            if url in library.documents_by_key and not library.documents_by_key[url].problem:
                return library.documents_by_key[url]
            try:
                document = parse_page(
                    fetch(url), key=url, has_links=not has_site, conversion=self.options.conversion
                )
            except OriginNotApprovedError as error:
                remedy = f"Allow it when roamtui asks, or add --allow-origin {error.origin}."
                problem = f"{url} was not fetched, because {error.origin} is not allowed. {remedy}"
                document = make_error_document(url, problem, is_page=True)
                document = replace(document, refused_origin=error.origin)
            except SourceError as error:
                document = make_error_document(url, str(error), is_page=True)
            document.precompute()
            return document

        return dict(zip(urls, run_parallel(load_page, urls), strict=True))

    def _read_file(self, node: Node) -> Document:
        key = node.doc
        file = self.files.get(node.doc)
        if file is None:
            problem = (
                node.problem
                or f"{key} was added or changed after the files were listed. Reload the document."
            )
            return make_error_document(key, problem, is_page=False)
        try:
            source = read_listed(file, key, conversion=self.options.conversion)
        except SourceError as error:
            return make_error_document(key, str(error), is_page=False)
        source = replace(source, conversion_note="")  # too many notes for the files of a folder
        document = parse_source_text(source, key=key)
        document.precompute()
        return document

    def close(self) -> None:
        """Close all connections. A page that is being fetched fails."""
        if self._close is not None:
            self._close()


def merge_loaders(loader: Loader | None, key: str, other: Loader | None) -> Loader | None:
    """Return a loader that loads the source `key` with `other`, and all other sources like `loader`."""
    if other is None:
        return loader
    known = loader or Loader(other.options)
    added = {f"{key}/{name}" if key else name: file for name, file in other.files.items()}
    typed_origins = known.typed_origins | other.typed_origins
    return Loader(other.options, files={**known.files, **added}, typed_origins=typed_origins)


def load_pending(library: Library, loader: Loader) -> Library:
    """Load the files of a folder, or the pages of a small site, that nobody has tried to load yet."""
    node_ids = library.pending_ids
    return library.graft_all(loader.load_batch(library, node_ids, frozenset())) if node_ids else library


def load_pages(
    library: Library, loader: Loader | None, links: Sequence[str], approved: frozenset[str] = frozenset()
) -> Library:
    """Load the pages of links, each after the pages that lead to it. Nobody is asked for approval.

    A link that is no longer in the library is skipped. If a page cannot be loaded, or its origin is not
    approved, its document has no text, and its `problem` says why.
    """
    if loader is None:
        return library
    pending = tuple(dict.fromkeys(links))
    while ready := tuple(link for link in pending if link in library and not library.node(link).is_loaded):
        library = library.graft_all(loader.load_batch(library, ready, approved))
        pending = tuple(link for link in pending if link not in ready)
    return library


def reload_documents(library: Library, loader: Loader, previous: Library, changed: frozenset[str]) -> Library:
    """Load into a new version of a library what the `previous` one had loaded, and new files.

    Documents that were loaded, and whose keys are not in `changed`, are taken from the previous version.
    """
    loaded = {
        document.key: document
        for document in previous.grafts.values()
        if not document.problem and document.key not in changed
    }
    unread = {previous.node(node_id).doc for node_id in previous.pending_ids}
    keys = {node_id: library.node(node_id).doc for node_id in library.pending_ids}
    kept = {node_id: loaded[key] for node_id, key in keys.items() if key in loaded}
    wanted = tuple(node_id for node_id, key in keys.items() if node_id not in kept and key not in unread)
    library = library.graft_all({**kept, **loader.load_batch(library, wanted, frozenset())})
    links = tuple(
        node_id for node_id in (*previous.grafts, *previous.aliases) if previous.node(node_id).link_url
    )
    urls = (url for page in loaded.values() for url in (page.key, page.url) if url and is_url(url))
    return load_pages(library, loader, links, frozenset(map(origin_of, urls)))


class OpenedSource(NamedTuple):
    """A source that was opened."""

    library: Library
    loader: Loader | None
    """Loads the files of the library and the pages that it links to. None if there is nothing to load."""


def make_document_library(source: SourceText) -> Library:
    """Build the library of a single document."""
    return Library(source=source.source, root=parse_source_text(source))


def open_sources(
    names: Sequence[str], options: LoadingOptions = _DEFAULTS, *, on_progress: ProgressCallback | None = None
) -> OpenedSource:
    """Open the sources that a person named: paths, or one URL, or ``-``.

    Of several files or a folder, only the listing is read.

    Raises:
        SourceError: A source cannot be read.
        UsageError: Several sources were named, and one of them can only be opened by itself.
    """
    if len(names) == 1 and is_url(names[0]):
        url = normalise_url(names[0])
        loader = Loader(options, typed_origins=frozenset({origin_of(url)}))
        on_progress = on_progress or (lambda *_: None)
        library = open_web_source(url, loader.make_page_fetcher(), on_progress, options.conversion)
        return OpenedSource(library, loader)
    try:
        if len(names) == 1 and not os.path.isdir(names[0]):  # noqa: PTH112 - it never raises
            library = make_document_library(
                read_source(names[0], conversion=options.conversion, on_progress=on_progress)
            )
            has_links = NodeKind.LINK in library.root.columns.kinds
            return OpenedSource(library, Loader(options) if has_links else None)
        for name in names:
            if not is_path(name):
                raise UsageError(f"{name} cannot be opened together with other documents. Open it by itself.")
        listing = list_files([Path(name) for name in names])
    except SourceError as error:
        url_meant = suggest_url(names[0]) if len(names) == 1 else None
        if url_meant is None:
            raise
        raise SourceError(f"{error} If you mean a website, write {url_meant}.") from None
    rows = [
        NodeRow(NodeKind.FOLDER if is_folder else NodeKind.FILE, len(path), path[-1], 0)
        for path, is_folder in listing.list_entries()
    ]
    root = Document(
        key="",
        title=make_short_name(listing.source),
        text="",
        columns=make_columns(rows, 0),
        notes=listing.notes,
        left_out=listing.left_out,
    )
    library = Library(source=listing.source, root=root)
    return OpenedSource(library, Loader(options, files=listing.files))


def is_url(name: str) -> bool:
    """Return whether the name of a source is a URL, not a path or ``-``."""
    return not is_standard_input(name) and not is_path(name)


def suggest_url(name: str) -> str | None:
    """Return the URL that a name without a scheme may mean, or None if it is a file or names no host."""
    is_file = os.path.lexists(name) or ("/" not in name and Path(name.lower()).suffix in DOCUMENT_SUFFIXES)
    return None if is_file or re.fullmatch(_HOST, name) is None else f"https://{name}"
