"""The kinds of nodes of a library, and `Span`, a range of its text."""

from __future__ import annotations

from enum import StrEnum

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

    def get_part(self, start: int, end: int) -> Span:
        """Return a part of the range. Both offsets are counted from the start of the range."""
        return Span(doc=self.doc, start=self.start + start, end=self.start + end)
