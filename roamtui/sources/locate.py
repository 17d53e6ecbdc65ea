"""Find the file on this machine that contains a document of a library."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from roamtui.sources.listing import name_paths, split_sources


class DocumentFile(Struct, frozen=True):
    """The file on this machine that contains a document of a library."""

    path: Path
    root: Path
    """The folder that was opened, or that contains the opened file."""


def locate_document(source: str, doc: str) -> DocumentFile | None:
    """Return where a document of a library is, or None if it is not on this machine, such as a web page."""
    paths = [Path(path) for path in split_sources(source)]
    path = paths[0]
    inner = doc
    if len(paths) > 1:
        name, _, inner = doc.partition("/")
        path = name_paths(paths).get(name, path.parent / doc)
    file = path / inner if inner else path
    if not file.is_file():
        return None
    return DocumentFile(file, path if inner else path.parent)
