"""Opens sources, and loads the files and pages that a command needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from roamtui.document.added_sources import open_all, restore_sources
from roamtui.document.library import Library
from roamtui.document.library_source import LibrarySource
from roamtui.document.loader import Loader, is_url, load_files, load_pages, open_sources
from roamtui.document.loading import LoadingOptions, get_link_url
from roamtui.document.web_loader import PageLoader
from roamtui.errors import SourceError, UsageError
from roamtui.headless.output import report_conversion, write_notice
from roamtui.paths import conversions_path, indexes_path, make_index_stem, pages_path
from roamtui.settings import Settings
from roamtui.sources.convert.converted import ConversionOptions, PageReport
from roamtui.sources.file_sources import split_sources
from roamtui.sources.web.urls import AllowedOrigins, normalise_url, origin_of

_LOADED_AT_START_BYTES = 1_000_000
"""A smaller folder is loaded before the app shows it, because nobody notices the time."""
_NO_SETTINGS = Settings()
_FILES_REPORTED_MIN = 200
"""If at least this many files are loaded at once, a line on stderr says so."""


def make_loading_options(
    settings: Settings = _NO_SETTINGS,
    *,
    is_offline: bool = False,
    allowed_origins: Sequence[str] = (),
    reads_scans: bool = False,
) -> LoadingOptions:
    """Return how sources are read.

    Args:
        settings: The person's settings.
        is_offline: Whether to use cached pages only.
        allowed_origins: Sites from which pages may be fetched without asking, besides the source's own site.
        reads_scans: Whether tesseract reads scanned pages of PDFs.
    """
    return LoadingOptions(
        cache_dir=pages_path(),
        is_offline=is_offline,
        allowed=(*allowed_origins, *settings.web.allow),
        proxy=settings.web.proxy,
        conversion=ConversionOptions(
            cache_dir=conversions_path(), ocr_languages=settings.ocr.languages, reads_scans=reads_scans
        ),
    )


def open_library(sources: Sequence[str], options: LoadingOptions | None = None, *, index: str | None = None) -> Library:
    """Return the library of some sources, with all its files loaded. Arguments and errors are as in `open_lazily`."""
    return open_lazily(sources, options, load_all=True, index=index)[0]


def open_lazily(
    sources: Sequence[str],
    options: LoadingOptions | None = None,
    *,
    load_all: bool = False,
    index: str | None = None,
    report: PageReport | None = None,
) -> tuple[Library, Loader | None]:
    """Open sources as a library, and return it with a loader. The files of a large folder are loaded later, if needed.

    Args:
        sources: Paths or URLs.
        options: How they are read, or None for the defaults.
        load_all: Whether to load all files now, for instance to resume a conversation.
        index: A LanceDB database with summaries of the documents.
        report: Receives the progress of a conversion, or None for lines on stderr.

    Raises:
        UsageError: There is no source, sources cannot be combined, or LanceDB is not installed.
        SourceError: A source cannot be read.
        IndexLostError: The database cannot be used.
    """
    if not sources:
        raise UsageError("no document given. Try `roamtui handbook.md` or `roamtui --help`.")
    if len(sources) == 1 and is_url(sources[0]) and sys.stderr.isatty():
        write_notice(f"Fetching {sources[0]}…")
    with report_conversion(sources[0]) as write_progress:
        library, loader = open_sources(sources, options or make_loading_options(), report=report or write_progress)
    library = _add_summaries(library)
    if index is not None:
        from roamtui.search.lance import LanceDatabase, load_summaries  # noqa: PLC0415 - few searches have one

        library = replace(library, summaries={**load_summaries(LanceDatabase(index)), **library.summaries})
    if loader is not None and (load_all or loader.load_cost_total <= _LOADED_AT_START_BYTES):
        count = len(library.list_unloaded_files())
        if count >= _FILES_REPORTED_MIN:
            write_notice(f"Reading {count:,} files…")
        library = load_files(library, loader)
    return library, loader


def _add_summaries(library: Library) -> Library:
    path = indexes_path() / f"{make_index_stem(library.source)}.sqlite3"
    if not path.exists():
        return library
    from roamtui.search.index import load_summaries  # noqa: PLC0415 - few sources have an index on disk

    return replace(library, summaries=load_summaries(path))


def open_added_source(name: str, options: LoadingOptions | None = None) -> tuple[Library, Loader | None]:
    """Open a source that is added to a conversation, with all its files. Errors are as in `open_lazily`."""
    if name == "-":
        raise UsageError("standard input cannot be added. Save it as a file first.")
    return open_lazily(split_sources(name), options, load_all=True, report=lambda *_: None)


def reopen_source(
    source: str,
    options: LoadingOptions,
    links: tuple[str, ...] = (),
    approved: frozenset[str] = frozenset(),
    *,
    is_own: bool = True,
    added: tuple[LibrarySource, ...] = (),
) -> Library:
    """Open the current version of the source of a saved conversation or file.

    Args:
        source: Its path or URL, as it was saved.
        options: How it is read.
        links: Links whose pages are needed.
        approved: Origins of pages that a person approved.
        is_own: Whether a person named the source. If a file did, the URL must be allowed.
        added: All sources of the conversation, if a person added or removed any.

    Raises:
        SourceError: The source cannot be read.
        UsageError: The source is not supported.
    """
    if source.startswith("-"):
        raise SourceError("It came from standard input. Give its source with --source.")
    if is_url(source) and not is_own:
        origin = origin_of(normalise_url(source))
        if origin not in map(origin_of, options.allowed):
            raise SourceError(f"Fetching from an address found in a file needs --allow-origin {origin}.")
    library, loader = open_lazily(split_sources(source), options, load_all=True)
    if added:
        library, loader = restore_sources(library, loader, added, partial(open_added_source, options=options))
    return library if loader is None else load_pages(library, loader, links, approved)


def reload_library(
    previous: Library, changed: frozenset[str], *, sources: Sequence[str], options: LoadingOptions | None = None
) -> Library:
    """Reload a library with the files and pages that were loaded before.

    Of several files, only new ones and those with the keys in `changed` are read again. Each page is requested again,
    and downloaded if it has changed. A page that cannot be read shows an error if the cache has no old version.

    Raises:
        SourceError: A source cannot be read.
    """
    if previous.sources:
        return open_all(previous.sources, partial(open_added_source, options=options), previous.source)[0]
    library, loader = open_sources(sources, replace(options or make_loading_options(), always_revalidate=True))
    library = _add_summaries(library)
    library = replace(library, summaries={**previous.summaries, **library.summaries})
    if loader is None:
        return library
    loaded = {document.key: document for document in previous.grafts.values() if not document.problem}
    unread = {previous.node(node_id).doc for node_id in previous.list_unloaded_files()}
    keys = {node_id: library.node(node_id).doc for node_id in library.list_unloaded_files()}
    kept = {node_id: loaded[key] for node_id, key in keys.items() if key in loaded.keys() - changed}
    wanted = tuple(node_id for node_id, key in keys.items() if node_id not in kept and key not in unread)
    library = library.graft_all({**kept, **loader.load_batch(library, wanted, frozenset()).documents})
    links = tuple(node_id for node_id in (*previous.grafts, *previous.aliases) if get_link_url(previous, node_id))
    urls = (url for page in loaded.values() for url in (page.key, page.url) if url and is_url(url))
    return load_pages(library, loader, links, frozenset(map(origin_of, urls)))


def fetch_picture(options: LoadingOptions, url: str, source: str) -> bytes:
    """Fetch a picture that a person wants to see, under the same rules as pages.

    A private address is fetched only if the person typed its origin, for instance as the source of the document.

    Raises:
        SourceError: It cannot or must not be fetched.
    """
    typed = frozenset({origin_of(normalise_url(source))}) if is_url(source) else frozenset()
    with closing(PageLoader(options, typed)) as page_loader:
        allowed = AllowedOrigins(typed=page_loader.typed, approved=frozenset({origin_of(normalise_url(url))}))
        return page_loader.fetcher.fetch(url, allowed).body
