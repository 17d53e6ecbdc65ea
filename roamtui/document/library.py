"""`Library`: everything that a source holds, as one tree and one value.

A library is made of documents: the root one (a file, or the listing of a folder) and those grafted below nodes of
others. Loading gives a new library; the documents are shared.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamtui.document.document import hash_text
from roamtui.document.lines import line_number_at
from roamtui.document.node import Node, NodeKind, Span
from roamtui.document.places import find_aliases, salt_documents
from roamtui.document.summaries import find_row_summary
from roamtui.document.tree import LibraryTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from roamtui.document.document import Document

_NODES_KEPT = 1_000
_LISTED = (NodeKind.FILE, NodeKind.FOLDER)


@dataclass(frozen=True, kw_only=True)
class Library(LibraryTree):
    """A tree of nodes over one or more documents, with their texts."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was replaced, left out or could not be read."""
        told = ((*document.notes, document.problem) for document in self.documents)
        return tuple(note for notes in told for note in notes if note)

    @cached_property
    def content_hash(self) -> str:
        """Digest of the files that are loaded: paths and texts, not pages of links. That of the text of a document."""
        if not self.root.columns.has_files:
            return self.root.content_hash
        files = [graft for node_id, graft in self.grafts.items() if self.heading(node_id).kind is NodeKind.FILE]
        parts = [f"{document.key}\x1f{document.content_hash}" for document in (self.root, *files)]
        return hash_text("\n".join(sorted([*parts, *map("\x1f".join, self.root.columns.paths())])))

    def node(self, section_id: str) -> Node:
        """Return the node with this id; the last ones that were asked for are kept.

        Raises:
            UnknownSectionError: No loaded node has this id.
        """
        node = self._nodes.get(section_id)
        if node is None:
            if len(self._nodes) >= _NODES_KEPT:
                self._nodes.clear()
            node = self._nodes[section_id] = self._make_node(section_id)
        return node

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {}

    def _make_node(self, section_id: str) -> Node:
        document, row = self.locate(section_id)
        columns = document.columns
        end = columns.ends[row]
        kind = columns.kinds[row]
        tokens = document.tokens_before
        nodes_below, tokens_below = self._places.count_below(document, row) if self.grafts else (0, 0)
        path = columns.path(row)
        first, last, own_last = self._find_lines(section_id, document, row)
        return Node(
            id=section_id,
            kind=kind,
            level=columns.levels[row],
            title=columns.titles[row],
            path=path,
            doc="/".join(path) if kind in _LISTED else document.key,
            url=columns.urls[row] or document.url,
            parent=self._find_parent(document, row),
            start_line=first,
            end_line=last,
            own_end_line=own_last,
            tokens=tokens[end] - tokens[row] + tokens_below,
            own_tokens=document.own_tokens[row],
            descendants=end - row - 1 + nodes_below,
            is_loaded=self._is_loaded_at(section_id, document, row),
            problem=self.problem_of(section_id),
        )

    def _find_lines(self, section_id: str, document: Document, row: int) -> tuple[int, int, int]:
        """Return the first line of a node, the last of its subtree and the last of its own text."""
        columns = document.columns
        if columns.kinds[row] is NodeKind.SECTION:
            starts, lines = columns.starts, document.line_starts
            start, own_end, end = starts[row], starts[row + 1], starts[columns.ends[row]]
            first = bisect_right(lines, start)
            own_last = bisect_right(lines, own_end - 1, first)
            return first, own_last if end == own_end else bisect_right(lines, end - 1, own_last), own_last
        first, own_last = self.lines_of(self.own_span(section_id))
        return first, self.lines_of(self.span(section_id))[1], own_last

    def own_span(self, section_id: str) -> Span:
        """Return where the own text of a node stands; of a file, all before its first section below the title."""
        document, row = self.locate(section_id)
        if document.columns.kinds[row] is NodeKind.FILE:
            return self.shown_own_span(section_id)
        return _slice(document, row, row + 1)

    def span(self, section_id: str) -> Span:
        """Return where the subtree of a node stands in its own document; of a file, all of it."""
        document, row = self.locate(section_id)
        if document.columns.kinds[row] is NodeKind.FILE:
            return self.shown_span(section_id)
        return _slice(document, row, document.columns.ends[row])

    def shown_own_span(self, section_id: str) -> Span:
        """Return where the own text stands that is read at a node: its own, of a link that of its page."""
        file = self.file(section_id)
        if file is not None:
            return Span(doc=file.key, start=0, end=file.columns.starts[file.head_rows])
        document, row = self.locate(section_id)
        return _slice(document, row, row + 1)

    def shown_span(self, section_id: str) -> Span:
        """Return where all stands that is read at a node: its subtree, of a link its page."""
        file = self.file(section_id)
        if file is not None:
            return Span(doc=file.key, start=0, end=len(file.text))
        document, row = self.locate(section_id)
        return _slice(document, row, document.columns.ends[row])

    def text_at(self, span: Span, *, length_max: int | None = None) -> str:
        """Return the text of a span, exactly as in the source; of a longer one its first `length_max` characters."""
        end = span.end if length_max is None else min(span.end, span.start + length_max)
        return self.document(span.doc).text[span.start : end]

    def own_text(self, section_id: str, *, length_max: int | None = None) -> str:
        """Return the text from a heading to the next heading of any level, or the first characters of it."""
        return self.text_at(self.own_span(section_id), length_max=length_max)

    def text(self, section_id: str, *, length_max: int | None = None) -> str:
        """Return the text from a heading to the next one of the same or a higher level, or the first characters."""
        return self.text_at(self.span(section_id), length_max=length_max)

    def document(self, key: str) -> Document:
        """Return the loaded document with this key.

        Raises:
            KeyError: No loaded document has it.
        """
        return self._places.documents_by_key[key]

    def lines_of(self, span: Span) -> tuple[int, int]:
        """Return the 1-based first and last line of a span, both inclusive."""
        starts = self.document(span.doc).line_starts
        return line_number_at(starts, span.start), line_number_at(starts, max(span.start, span.end - 1))

    def page_of(self, span: Span) -> int | None:
        """Return the 1-based page that a span begins on, None in a document without pages."""
        return self.document(span.doc).page_at(span.start)

    def section_at(self, doc: str, offset: int) -> str | None:
        """Return the id of the node whose own text holds the character at `offset`, None outside all."""
        document = self.document(doc)
        starts = document.columns.starts
        low, high = 0, len(document.columns)
        while low < high:
            middle = (low + high) // 2
            if starts[middle] <= offset:
                low = middle + 1
            else:
                high = middle
        return document.ids[low - 1] if low else None

    def summary(self, section_id: str) -> str:
        """Return what a model wrote of a file, or of a section with all below it; empty where nothing was."""
        if not self.summaries:
            return ""
        file = self.file(section_id)
        if file is not None:
            return self.summaries.get(file.content_hash, "")
        return find_row_summary(*self.locate(section_id), self.summaries)

    def graft(self, section_id: str, document: Document) -> Library:
        """Return a library in which `document` stands below the node `section_id`.

        Where ids collide, the later file by key is salted, so that ids do not depend on the order of loading.

        Raises:
            UnknownSectionError: No loaded node has this id.
        """
        return self.graft_all({section_id: document})

    def graft_all(self, documents: Mapping[str, Document]) -> Library:
        """Return a library in which each of `documents` stands below the node whose id it has here; see `graft`.

        Raises:
            UnknownSectionError: No loaded node has one of the ids.
        """
        for section_id in documents:
            self.locate(section_id)
        found = find_aliases(self.grafts, documents)
        aliases = MappingProxyType({**self.aliases, **found}) if found else self.aliases
        documents = {node_id: document for node_id, document in documents.items() if node_id not in found}
        grafts = MappingProxyType({**self.grafts, **documents})
        is_new = documents.keys().isdisjoint(self.grafts)
        places = self._places.add(documents, grafts) if is_new else None
        if places is None:
            return replace(self, grafts=MappingProxyType(salt_documents(self.root, grafts)), aliases=aliases)
        grown = replace(self, grafts=grafts, aliases=aliases)
        vars(grown)["_places"] = places
        return grown


def _slice(document: Document, row: int, end_row: int) -> Span:
    starts = document.columns.starts
    return Span(doc=document.key, start=starts[row], end=starts[end_row])
