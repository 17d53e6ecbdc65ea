"""`Node`: one place in a library, as everything outside `document/` sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


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
"""Kinds of nodes whose document is loaded later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters `start` (included) to `end` (excluded) of the text of document `doc`."""

    doc: str
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


class NodeLabel(NamedTuple):
    """The id, kind and title of a node, for callers that need no more. It costs a twentieth of a `Node`."""

    id: str
    kind: NodeKind
    title: str
    has_more: bool
    """Whether there are loaded nodes below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of a library, made on demand: a library stores columns and caches only recently used nodes."""

    id: str
    """8 hex digits, stable over reloads while path and ordinal stay the same."""
    kind: NodeKind
    level: int
    """1 to 6 for headings, 0 for a preamble."""
    title: str
    """Text and code of the heading's inline tokens, unsanitised; may be empty."""
    path: tuple[str, ...]
    """Titles from the root of its document, its own last."""
    doc: str
    """Key of its document within the source; for a file or folder, its own key; empty for a single document."""
    url: str | None
    parent: str | None
    """Id of the parent node, or None at the top."""
    start_line: int
    """1-based line of the heading."""
    end_line: int
    """1-based last line of the subtree, inclusive."""
    own_end_line: int
    """1-based last line of the own text, inclusive."""
    page: int | None
    """1-based page on which it starts, or None in a document without pages."""
    page_end: int | None
    """Page on which its subtree ends, inclusive."""
    tokens: int
    """Estimated tokens of the subtree."""
    own_tokens: int
    """Estimated tokens of the own text."""
    descendants: int
    """Number of loaded nodes below it."""
    is_loaded: bool
    """False while its children have not been read or fetched."""
    problem: str = ""
    """Why its file or page could not be read; empty if it could, or was not tried."""
