"""The libraries that questions are asked of: one document, or the whole folder."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamtui.document.columns import Row, build_columns
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_raw
from roamtui.errors import SourceError
from roamtui.sources.read import read_file

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIXES = frozenset({".md", ".markdown", ".txt"})


def build_folder_library(folder: Path) -> Library:
    """Return all documents below a folder as one library; the key of each is its path below the folder.

    Raises:
        SourceError: There are none, or one cannot be read.
    """
    if not folder.is_dir():
        raise SourceError(f"There is no folder {folder}. Name the folder of the documents with --docs.")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    if not paths:
        raise SourceError(f"{folder} holds no Markdown or text files.")
    documents = [_read_document(path, key=path.relative_to(folder).as_posix()) for path in paths]
    rows = [Row(NodeKind.FILE, 1, document.key, 0) for document in documents]
    root = Document(key="", title=folder.name, text="", columns=build_columns(rows, 0))
    taken = set(root.ids)
    grafts = {}
    for row, document in enumerate(documents):
        salted = _salt(document, taken)
        taken.update(salted.ids)
        grafts[root.ids[row]] = salted
    return Library(source=str(folder), root=root, grafts=MappingProxyType(grafts))


def build_document_library(folder: Path, doc: str) -> Library:
    """Return one document below a folder as a library.

    Raises:
        SourceError: It cannot be read, or lies outside the folder.
    """
    path = folder / doc
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SourceError(f"{doc} lies outside {folder}.")
    return Library(source=str(path), root=_read_document(path, key=""))


def _read_document(path: Path, *, key: str) -> Document:
    return parse_raw(read_file(path), key=key)


def _salt(document: Document, taken: set[str]) -> Document:
    """Return a document none of whose ids is taken."""
    salted, attempt = document, 0
    while not taken.isdisjoint(salted.ids):
        attempt += 1
        salted = replace(document, salt=str(attempt))
    return salted
