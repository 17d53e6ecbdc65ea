"""`Library`: everything that a source holds, as one tree and one value.

A library is made of documents: the root one (a file, or the listing of a folder) and those grafted below nodes of
others. Loading gives a new library; the documents are shared.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamtui.document.ids import hash_path
from roamtui.document.lines import line_number_at
from roamtui.document.node import Node, NodeKind, Span
from roamtui.errors import UnknownSectionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from roamtui.document.document import Document

_LOADABLE = frozenset({NodeKind.LINK, NodeKind.FILE, NodeKind.FOLDER})


@dataclass(frozen=True, kw_only=True)
class Library:
    """A tree of nodes over one or more documents."""

    source: str
    """What the person named: a path, an address or ``-``."""
    root: Document
    grafts: Mapping[str, Document] = field(default_factory=lambda: MappingProxyType({}))
    """Documents below the node with the given id."""

    @property
    def title(self) -> str:
        """Title of the whole, never empty unless the source has neither heading nor name."""
        return self.root.title or self.source

    @property
    def root_id(self) -> str:
        """Id that stands for the whole library; no node has it."""
        return hash_path(self.root.key, (), 0)

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every loaded document, the root first."""
        return (self.root, *self.grafts.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was replaced or guessed while reading."""
        return tuple(note for document in self.documents for note in document.notes)

    def __contains__(self, section_id: object) -> bool:
        return any(section_id in document.rows_by_id for document in self.documents)

    def __len__(self) -> int:
        return sum(len(document.columns) for document in self.documents)

    def locate(self, section_id: str) -> tuple[Document, int]:
        """Return the document and the row of a node.

        Raises:
            UnknownSectionError: No loaded node has this id.
        """
        for document in self.documents:
            row = document.rows_by_id.get(section_id)
            if row is not None:
                return document, row
        raise UnknownSectionError(section_id)

    def node(self, section_id: str) -> Node:
        """Return the node with this id, made anew."""
        document, row = self.locate(section_id)
        columns = document.columns
        end = columns.ends[row]
        starts = columns.starts
        kind = columns.kinds[row]
        tokens = document.tokens_before
        nodes_below, tokens_below = self._count_grafted(document, row)
        return Node(
            id=section_id,
            kind=kind,
            level=columns.levels[row],
            title=columns.titles[row],
            path=columns.path(row),
            doc=document.key,
            url=columns.urls[row] or document.url,
            parent=self.parent(section_id),
            start_line=line_number_at(document.line_starts, starts[row]),
            end_line=line_number_at(document.line_starts, max(starts[row], starts[end] - 1)),
            own_end_line=line_number_at(document.line_starts, max(starts[row], starts[row + 1] - 1)),
            tokens=tokens[end] - tokens[row] + tokens_below,
            own_tokens=document.own_tokens[row],
            descendants=end - row - 1 + nodes_below,
            is_loaded=section_id in self.grafts or kind not in _LOADABLE or end - row > 1,
        )

    def _count_grafted(self, document: Document, row: int) -> tuple[int, int]:
        """Return the nodes and tokens of all documents that stand somewhere below a row."""
        if document.key not in self._grafted_counts:
            return 0, 0
        rows, nodes, tokens = self._grafted_counts[document.key]
        first, last = bisect_left(rows, row), bisect_left(rows, document.columns.ends[row])
        return nodes[last] - nodes[first], tokens[last] - tokens[first]

    @cached_property
    def _grafted_counts(self) -> dict[str, tuple[list[int], list[int], list[int]]]:
        """By document key: its rows with documents below, the nodes in those before each row, the tokens likewise."""
        counts = {}
        totals: dict[str, tuple[int, int]] = {}
        for node_id, document in reversed([(self.root_id, self.root), *self.grafts.items()]):
            rows = sorted(document.rows_by_id[node] for node in document.rows_by_id.keys() & totals.keys())
            below = [totals[document.ids[row]] for row in rows]
            nodes = list(accumulate((count for count, _ in below), initial=0))
            tokens = list(accumulate((count for _, count in below), initial=0))
            if rows:
                counts[document.key] = rows, nodes, tokens
            totals[node_id] = len(document.columns) + nodes[-1], document.tokens_before[-1] + tokens[-1]
        return counts

    def title_of(self, section_id: str) -> str:
        """Return the title of a node, without the cost of making it."""
        document, row = self.locate(section_id)
        return document.columns.titles[row]

    def parent(self, section_id: str) -> str | None:
        """Return the id of the node above, None at the top."""
        document, row = self.locate(section_id)
        parent_row = document.columns.parents[row]
        if parent_row >= 0:
            return document.ids[parent_row]
        return next((node_id for node_id, graft in self.grafts.items() if graft is document), None)

    def ancestors(self, section_id: str) -> tuple[str, ...]:
        """Return the ids from the top down to the parent of a node."""
        ids = []
        parent = self.parent(section_id)
        while parent is not None:
            ids.append(parent)
            parent = self.parent(parent)
        return tuple(reversed(ids))

    def children(self, section_id: str) -> tuple[str, ...]:
        """Return the ids directly below a node, or at the top for `root_id`."""
        if section_id == self.root_id:
            return _child_ids(self.root, -1)
        document, row = self.locate(section_id)
        graft = self.grafts.get(section_id)
        return _child_ids(document, row) + (_child_ids(graft, -1) if graft else ())

    def title_id(self) -> str | None:
        """Return the id of the single top heading that holds everything, if there is one.

        Preambles may stand beside it: its children are the top of the outline.
        """
        tops = [row for row in self.root.columns.children(-1) if self.root.columns.kinds[row] is not NodeKind.PREAMBLE]
        if len(tops) == 1 and self.root.columns.kinds[tops[0]] is NodeKind.SECTION:
            row = tops[0]
            if self.root.columns.ends[row] - row > 1 and self.root.columns.levels[row] == 1:
                return self.root.ids[row]
        return None

    def walk(self, section_id: str | None = None) -> Iterator[str]:
        """Yield the ids of all loaded nodes in order, or of one node and those below it."""
        if section_id is None:
            yield from self._walk_rows(self.root, 0, len(self.root.columns))
            return
        document, row = self.locate(section_id)
        yield from self._walk_rows(document, row, document.columns.ends[row])

    def _walk_rows(self, document: Document, start: int, end: int) -> Iterator[str]:
        pending: list[tuple[int, Document]] = []
        ids = document.ids
        for row in range(start, end):
            while pending and pending[-1][0] <= row:
                graft = pending.pop()[1]
                yield from self._walk_rows(graft, 0, len(graft.columns))
            yield ids[row]
            if self.grafts and ids[row] in self.grafts:
                pending.append((document.columns.ends[row], self.grafts[ids[row]]))
        for _, graft in reversed(pending):
            yield from self._walk_rows(graft, 0, len(graft.columns))

    def own_span(self, section_id: str) -> Span:
        """Return where the own text of a node stands."""
        document, row = self.locate(section_id)
        starts = document.columns.starts
        return Span(doc=document.key, start=starts[row], end=starts[row + 1])

    def span(self, section_id: str) -> Span:
        """Return where the subtree of a node stands in its own document."""
        document, row = self.locate(section_id)
        starts = document.columns.starts
        return Span(doc=document.key, start=starts[row], end=starts[document.columns.ends[row]])

    def text_at(self, span: Span) -> str:
        """Return the text of a span, exactly as in the source."""
        return self.document(span.doc).text[span.start : span.end]

    def own_text(self, section_id: str) -> str:
        """Return the text from a heading to the next heading of any level."""
        return self.text_at(self.own_span(section_id))

    def text(self, section_id: str) -> str:
        """Return the text from a heading to the next one of the same or a higher level."""
        return self.text_at(self.span(section_id))

    def document(self, key: str) -> Document:
        """Return the loaded document with this key.

        Raises:
            KeyError: No loaded document has it.
        """
        for document in self.documents:
            if document.key == key:
                return document
        raise KeyError(key)

    def lines_of(self, span: Span) -> tuple[int, int]:
        """Return the 1-based first and last line of a span, both inclusive."""
        starts = self.document(span.doc).line_starts
        return line_number_at(starts, span.start), line_number_at(starts, max(span.start, span.end - 1))

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

    def graft(self, section_id: str, document: Document) -> Library:
        """Return a library in which `document` stands below the node `section_id`.

        Where ids collide, the later file by key is salted, so that ids do not depend on the order of loading.
        """
        _, _row = self.locate(section_id)
        grafts = {**self.grafts, section_id: document}
        taken: dict[str, str] = {}
        for node_id, graft in sorted(grafts.items(), key=lambda item: item[1].key):
            salted, attempt = graft, 0
            while any(i in taken or i in self.root.rows_by_id for i in salted.ids):
                attempt += 1
                salted = replace(graft, salt=str(attempt))
            taken.update(dict.fromkeys(salted.ids, node_id))
            grafts[node_id] = salted
        return replace(self, grafts=MappingProxyType(grafts))


def _child_ids(document: Document, row: int) -> tuple[str, ...]:
    ids = document.ids
    return tuple(ids[child] for child in document.columns.children(row))
