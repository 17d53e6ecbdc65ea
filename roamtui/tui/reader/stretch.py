"""`Stretch`: the part of a document that the reader shows for a node. Knows no screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.document.lines import find_line_starts, normalise_line_ends
from roamtui.document.node import NodeKind
from roamtui.document.parse import measure_front_matter, parse_document
from roamtui.document.plain import plain_line
from roamtui.tui.node_names import name_node
from roamtui.tui.reader.chunks import Chunk, split_chunks, split_lines

if TYPE_CHECKING:
    from roamtui.document.document import Document
    from roamtui.document.library import Library

_FRONT_MATTER_MAX = 50_000
"""Characters in which front matter is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Characters `start` to `end` of `document`."""

    document: Document
    start: int
    end: int
    is_made: bool = False
    """Whether the document is words in place of a text that is not there, as of a folder."""

    @property
    def text(self) -> str:
        """The characters as they stand in the source."""
        return self.document.text[self.start : self.end]

    def cut(self, *, is_raw: bool) -> list[Chunk]:
        """Return the chunks to lay out one by one, of lines for the raw text, of blocks otherwise."""
        text = self.document.text
        if is_raw:
            return split_lines(text, self.start, self.end)
        front_end = min(self.end, self._find_front_matter()) if self.start == 0 else 0
        front = [Chunk(start=0, end=front_end, is_front_matter=True)] if front_end else []
        start = max(self.start, front_end)
        return [*front, *split_chunks(text, start, self.end, self._list_headings())]

    def _list_headings(self) -> list[int]:
        columns = self.document.columns
        return [
            start
            for start, kind in zip(columns.starts, columns.kinds, strict=False)
            if kind is NodeKind.SECTION and self.start <= start < self.end
        ]

    def _find_front_matter(self) -> int:
        text = self.document.text[:_FRONT_MATTER_MAX]
        normal = normalise_line_ends(text)
        lines = normal.count("\n", 0, measure_front_matter(normal))
        starts = find_line_starts(text)
        return starts[lines] if lines < len(starts) else len(text)


def find_stretch(library: Library, section_id: str) -> Stretch:
    """Return what is read at a node: its subtree, or all of the file or page that was loaded below it.

    Raises:
        UnknownSectionError: No loaded node has this id, nor is it the library's own.
    """
    words = "" if section_id == library.root_id else _say_instead(library, section_id)
    if words:
        return Stretch(document=parse_document(words), start=0, end=len(words), is_made=True)
    document = library.root if section_id == library.root_id else library.file(section_id)
    if document is not None and (section_id == library.root_id or not _has_own_text(library, section_id)):
        return Stretch(document=document, start=0, end=len(document.text))
    span = library.span(section_id)
    return Stretch(document=library.locate(section_id)[0], start=span.start, end=span.end)


def _say_instead(library: Library, section_id: str) -> str:
    """Return what stands in place of the text of a folder or of what could not be read, else an empty string."""
    node = library.node(section_id)
    if node.kind is NodeKind.FOLDER:
        return "\n".join(name_node(library, child) for child in library.children(section_id)) + "\n"
    return f"{node.problem}\n" if node.problem else ""


def _has_own_text(library: Library, section_id: str) -> bool:
    document, row = library.locate(section_id)
    return document.columns.kinds[row] in (NodeKind.SECTION, NodeKind.PREAMBLE, NodeKind.TEXT)


def name_library(library: Library) -> str:
    """Return the title of the whole on one line."""
    return plain_line(library.title)
