"""Small libraries to search in."""

from collections.abc import Mapping
from types import MappingProxyType

from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.search.searcher import Searcher


def make_library(text: str) -> Library:
    return Library(source="test.md", root=parse_document(text))


def make_folder(texts: Mapping[str, str]) -> Library:
    """Return documents by key as the library of a folder, all of them loaded."""
    rows = [NodeRow(NodeKind.FILE, 1, key.rpartition("/")[2], 0) for key in texts]
    root = Document(key="", title="folder", text="", columns=make_columns(rows, 0))
    grafts = {root.ids[row]: parse_document(text, key=key) for row, (key, text) in enumerate(texts.items())}
    return Library(source="folder", root=root, grafts=MappingProxyType(grafts))


def find_titles(library: Library, query: str, *, limit: int = 10, within: str | None = None) -> list[str]:
    """Return the titles that a new keyword search finds, best first."""
    hits = Searcher(library).search(library, query, limit=limit, within=within)
    return [library.node(hit.section_id).title for hit in hits]


def id_of(library: Library, title: str) -> str:
    return next(section_id for section_id in library.walk() if library.node(section_id).title == title)
