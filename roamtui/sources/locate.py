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
    path, inner = _locate_key(source, doc)
    file = path / inner if inner else path
    if not file.is_file():
        return None
    return DocumentFile(file, path if inner else path.parent)


def _locate_key(source: str, doc: str) -> tuple[Path, str]:
    """Return the path of the source of the document with a key, and the document's path in it, if any."""
    paths = [Path(path) for path in split_sources(source)]
    if len(paths) == 1:
        return paths[0], doc
    name, _, inner = doc.partition("/")
    return name_paths(paths).get(name, paths[0].parent / doc), inner
