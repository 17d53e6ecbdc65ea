"""The rows of a table: the documents of some sources, or the chapters of these documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line
from roamtui.errors import SourceError, UsageError
from roamtui.sources.file_sources import is_multi_file, list_sources
from roamtui.sources.read import check_file, is_path
from roamtui.table.store import Row

OpenSource = Callable[[str], tuple[Library, Loader | None]]
"""Opens a source by its path or URL, and loads all its files. Raises SourceError if the source cannot be read."""


@dataclass(frozen=True, kw_only=True)
class RowDocument:
    """The open document of a row."""

    library: Library
    loader: Loader | None
    content_hash: str
    """Digest of the text that the row's questions are about."""


def list_rows(
    sources: Sequence[str],
    open_source: OpenSource,
    *,
    by_chapters: bool,
    read_known: Callable[[], Sequence[Row]] = tuple,
) -> tuple[Row, ...]:
    """List the rows of some sources, in order. For chapters, each document is opened once.

    Args:
        sources: Paths or URLs.
        open_source: Opens one of them.
        by_chapters: Whether each chapter is a row.
        read_known: Returns the rows of an earlier run. If a source cannot be read now, its earlier rows are listed.

    Raises:
        SourceError: A source cannot be read.
        UsageError: A source is not supported.
    """
    rows: dict[str, Row] = {}
    listed: set[tuple[str, str, str | None]] = set()
    for source in sources:
        try:
            new_rows = [
                row
                for document in _list_documents(source)
                for row in (
                    _list_chapters(document, open_row(document, open_source).library) if by_chapters else (document,)
                )
            ]
        except SourceError:
            new_rows = [row for row in read_known() if row.source == source or Path(source) in Path(row.source).parents]
            if not new_rows:
                raise
        for row in new_rows:
            place = (row.source, row.doc, row.within)
            if place in listed:  # a file and its folder were both named
                continue
            listed.add(place)
            # Files of the same name in several folders are told apart by their whole paths.
            key = row.key if row.key not in rows else f"{row.source} {row.key}"
            rows.setdefault(key, replace(row, key=key))
    return tuple(rows.values())


def _list_documents(source: str) -> Iterator[Row]:
    if source == "-":
        raise UsageError("a table needs files or addresses, not standard input.")
    if not is_path(source):
        yield Row(key=source, title=source, source=source)
    elif not is_multi_file(Path(source)):
        path = Path(source).absolute()
        check_file(path)
        yield Row(key=path.name, title=sanitise_line(path.name), source=str(path))
    else:
        listing = list_sources([Path(source)])
        for key, path in listing.files.items():
            doc = key if path == Path(listing.source) else ""  # all files of an archive share its path
            yield Row(key=key, title=sanitise_line(key), source=str(path), doc=doc)


def _list_chapters(row: Row, library: Library) -> Iterator[Row]:
    """Yield a row for each section at the top level, or `row` itself if there is none."""
    top = library.title_id() or library.root_id
    chapters = [node_id for node_id in library.children(top) if library.get_label(node_id).kind is NodeKind.SECTION]
    for node_id in chapters:
        title = f"{row.title} › {sanitise_line(library.title_of(node_id))}"
        yield Row(key=f"{row.key}#{node_id}", title=title, source=row.source, doc=row.doc, within=node_id)
    if not chapters:
        yield row


def check_output(path: Path, rows: Sequence[Row]) -> None:
    """Check that writing a file does not overwrite a document of the table.

    Raises:
        UsageError: The file is a document of the table.
    """
    if os.path.realpath(path) in {os.path.realpath(row.source) for row in rows}:
        raise UsageError(f"{path} is a source of the table. Name another file.")


def open_row(row: Row, open_source: OpenSource) -> RowDocument:
    """Open the document of a row.

    Raises:
        SourceError: The document cannot be read.
        UsageError: The document is not supported, or no longer has the chapter.
    """
    library, loader = open_source(row.source)
    if row.doc:
        library, loader = Library(source=row.source, root=library.document(row.doc)), None
    content_hash = library.content_hash
    if row.within is not None:
        if row.within not in library:
            raise UsageError(f"{row.title} is no longer in the document. Name the sources of the table again.")
        content_hash = blake2b(library.text(row.within).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return RowDocument(library=library, loader=loader, content_hash=content_hash)
