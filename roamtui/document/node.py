"""`Node`: a section, file, folder or link of a library, as everything outside `document/` sees it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct


class NodeKind(StrEnum):
    """Kind of a node."""

    SECTION = "section"
    """A heading and the text below it."""
    PREAMBLE = "preamble"
    """Text before the first heading; front matter belongs to it."""
    TEXT = "text"
    """A group of paragraphs in a document without headings."""
    LINK = "link"
    """A page that is fetched when it is opened."""
    FILE = "file"
    FOLDER = "folder"


LOADED_ON_DEMAND = frozenset({NodeKind.FILE, NodeKind.LINK})
"""Kinds of nodes whose document is loaded only when it is needed."""


class Span(Struct, frozen=True, kw_only=True):
    """A range of the text of document `doc`: the characters from `start` up to `end` (exclusive)."""

    doc: str
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def get_part(self, start: int, end: int) -> Span:
        """Return a part of the range. Both offsets are counted from the start of the range."""
        return Span(doc=self.doc, start=self.start + start, end=self.start + end)


class NodeLabel(NamedTuple):
    """The id, kind and title of a node. It is made 20 times faster than a `Node`."""

    id: str
    kind: NodeKind
    title: str
    has_children: bool
    """Whether there are loaded nodes below it."""


class Node(Struct, frozen=True, kw_only=True):
    """A node of a library. It is made on demand, because a library stores only columns and recently used nodes."""

    id: str
    """8 hex digits. They stay the same when the document is read again, unless the path changes, or the number of
    earlier nodes with the same path."""
    kind: NodeKind
    level: int
    """1 to 6 for headings, 0 for a preamble."""
    title: str
    """Plain text of the heading, not sanitised; may be empty."""
    path: tuple[str, ...]
    """Titles of the nodes above it in its document, from the top, and its own title."""
    doc: str
    """Key of its document within the source, or its own key if it is a file or folder; empty for a single document."""
    url: str | None
    parent: str | None
    """Id of the parent node, or None at the top."""
    start_line: int
    """1-based line of the heading."""
    end_line: int
    """1-based last line of its subtree."""
    own_end_line: int
    """1-based last line of its own text, before the next heading."""
    page: int | None
    """1-based page on which it starts, or None in a document without pages."""
    page_end: int | None
    """1-based page on which its subtree ends."""
    tokens: int
    """Estimated tokens of its subtree."""
    own_tokens: int
    """Estimated tokens of its own text."""
    is_loaded: bool
    """False while its children have not been read or fetched."""
    problem: str = ""
    """Why its file or page could not be read; empty if it was read or not yet tried."""
