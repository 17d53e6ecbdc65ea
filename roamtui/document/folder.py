"""A listing of files into a library: folder, file, sections. Files are parsed when they are loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.document.columns import Row, build_columns
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import make_failure
from roamtui.document.node import NodeKind
from roamtui.document.page import parse_page
from roamtui.errors import SourceError

if TYPE_CHECKING:
    from roamtui.sources.listing import Listing


def build_folder(listing: Listing) -> Library:
    """Return a library of folders and files, none of which is read."""
    rows = [
        Row(NodeKind.FOLDER if entry.is_folder else NodeKind.FILE, len(entry.path), entry.path[-1], 0)
        for entry in listing.entries
    ]
    root = Document(key="", title=listing.name, text="", columns=build_columns(rows, 0), notes=listing.notes)
    return Library(source=listing.source, root=root)


class FileLoader:
    """Reads and parses the files of a listing."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    @property
    def bytes_total(self) -> int:
        """Size of all files."""
        return self._listing.bytes_total

    def load(self, library: Library, node_id: str) -> Document:
        """Return the document of a file, with all counted that would cost time later; see `Loader`."""
        listing, row = library.locate(node_id)
        key = "/".join(listing.columns.path(row))
        try:
            raw = self._listing.read(key)
        except SourceError as error:
            return make_failure(key, str(error), is_page=False)
        except KeyError:
            problem = f"{key} was not there when the folder was listed. Read it again."
            return make_failure(key, problem, is_page=False)
        said = raw.notes[1:] if raw.is_converted else raw.notes  # that it was converted is not news in a folder
        notes = tuple(f"{key}{note.removeprefix(raw.name)}" for note in said)
        document = parse_page(replace(raw, notes=notes), key=key)
        count_ahead(document)
        return document


def count_ahead(document: Document) -> None:
    """Make what a document makes on demand, here in a thread rather than while a person waits."""
    for made in (document.rows_by_id, document.tokens_before, document.content_hash):
        assert made is not None
