"""`Library`: the whole content of a source as one immutable tree.

A library consists of documents: the root, which is a file or the listing of a folder, and the documents *grafted* below
nodes of other documents. Loading returns a new library that shares the documents.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePath
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.document.document import Document, hash_text, make_node_id
from roamtui.document.node import LOADED_ON_DEMAND, Node, NodeKind, NodeLabel, Span
from roamtui.document.plain import sanitise_line
from roamtui.errors import UnknownSectionError
from roamtui.sources.listing import format_name, format_names, split_sources
from roamtui.sources.read import is_path

LISTING_KEY = "/"
"""Key of a listing that was made around a single document, whose own key is empty. No path or URL has this key."""
_CACHED_NODES_MAX = 1_000
_LIST_NAMES = frozenset({"llms.txt", "llms-full.txt"})
_LISTED_KINDS = (NodeKind.FILE, NodeKind.FOLDER)


class LibrarySource(Struct, frozen=True, kw_only=True):
    """One of several sources of a library."""

    name: str
    """A path, several paths joined by `join_sources`, or a URL."""
    key: str
    """Title of its row at the top level, and prefix of the keys of its documents. Empty for the first source, so that
    its ids stay the same."""

    @property
    def title(self) -> str:
        """Short name for people: the key, or for the first source the name of its file or site."""
        return self.key or make_short_name(self.name)


def make_short_name(name: str) -> str:
    """Make a short name, without slashes, for the `name` of a source."""
    if is_path(name):
        short = format_names([format_name(PurePath(path).name) or path for path in split_sources(name)])
    else:
        parts = urlsplit(name)
        last = parts.path.rstrip("/").rpartition("/")[2]
        short = last if last.strip(".") and last not in _LIST_NAMES else parts.netloc
    return re.sub(r"[/\\]", "_", sanitise_line(short) or sanitise_line(name))


class NodeNumbering:
    """Numbers the nodes of a library from 0, in document order, without a list of all nodes.

    Its cost grows with the number of documents, not of nodes, so it can be rebuilt for each page that is loaded.

    It stores only runs: sequences of rows of one document that no grafted document interrupts.
    """

    def __init__(self, root: Document, grafts: Mapping[str, Document], owners: Mapping[str, Document]) -> None:
        """`owners` is the document of each node, by the node's id."""
        self._owners = owners
        self._hosts: dict[int, tuple[Document, int]] = {}
        """Document and row above each grafted document, by the ``id()`` of the grafted document."""
        self._grafts: dict[int, list[tuple[int, int, Document]]] = defaultdict(list)
        """By the ``id()`` of a document, the documents grafted below its rows. Each entry has the first row after the
        graft, the row of the node that it is grafted below (negative, for sorting), and the grafted document."""
        for section_id, graft in grafts.items():
            host, row = owners[section_id], owners[section_id].rows_by_id[section_id]
            self._hosts[id(graft)] = (host, row)
            self._grafts[id(host)].append((host.columns.ends[row], -row, graft))
        for below in self._grafts.values():
            below.sort(key=lambda entry: entry[:2])  # if hosts end at the same row, the innermost comes first
        self._sizes: dict[int, int] = {}
        """By the ``id()`` of a document, the number of nodes in it and in all documents below it."""
        self._runs: dict[int, tuple[list[int], list[int]]] = {}
        """By the ``id()`` of a document, the first row of each of its runs, and the numbers of these rows."""
        self._starts: list[int] = []
        """Number of the first node of each run, in order."""
        self._first_rows: list[tuple[Document, int]] = []
        """Document and first row of each run, in the same order."""
        self._count = self._add_document(root, 0)

    def __len__(self) -> int:
        return self._count

    def locate(self, number: int) -> tuple[Document, int]:
        """Return the document and the row of the node with a number."""
        index = bisect_right(self._starts, number) - 1
        document, row = self._first_rows[index]
        return document, row + number - self._starts[index]

    def number_of(self, document: Document, row: int) -> int:
        """Return the number of the node in a row of a document."""
        rows, numbers = self._runs[id(document)]
        index = bisect_right(rows, row) - 1
        return numbers[index] + row - rows[index]

    def find(self, section_id: str) -> int | None:
        """Return the number of the node with this id, or None if no node has it."""
        document = self._owners.get(section_id)
        return None if document is None else self.number_of(document, document.rows_by_id[section_id])

    def id_of(self, number: int) -> str:
        """Return the id of the node with a number."""
        document, row = self.locate(number)
        return document.ids[row]

    def parent(self, number: int) -> int:
        """Return the number of the parent, or -1 at the top."""
        document, row = self.locate(number)
        parent_row = document.columns.parents[row]
        if parent_row >= 0:
            return self.number_of(document, parent_row)
        host = self._hosts.get(id(document))
        return -1 if host is None else self.number_of(*host)

    def subtree(self, number: int) -> range:
        """Return the numbers of a node and of all nodes below it."""
        document, row = self.locate(number)
        last = document.columns.ends[row]
        end = self.number_of(document, last - 1) + 1
        grafts = self._grafts.get(id(document), [])
        index = bisect_left(grafts, (last,))
        while index < len(grafts) and grafts[index][0] == last and -grafts[index][1] >= row:
            end += self._sizes[id(grafts[index][2])]
            index += 1
        return range(number, end)

    def host(self, document: Document) -> tuple[Document, int] | None:
        """Return the document and the row that a document is grafted below, or None for the root."""
        return self._hosts.get(id(document))

    def iter_runs(self, numbers: range) -> Iterator[tuple[Document, int, int]]:
        """Yield the runs in a range of nodes: document, first row, and row after the last."""
        if not numbers:
            return
        index = bisect_right(self._starts, numbers.start) - 1
        while index < len(self._starts) and self._starts[index] < numbers.stop:
            start = self._starts[index]
            end = self._starts[index + 1] if index + 1 < len(self._starts) else self._count
            document, row = self._first_rows[index]
            yield document, row + max(0, numbers.start - start), row + min(end, numbers.stop) - start
            index += 1

    def _add_document(self, document: Document, number: int) -> int:
        """Number a document and all documents below it from `number`. Return the number after the last one."""
        first = number
        rows, numbers = self._runs[id(document)] = ([0], [number])
        row = 0
        self._add_run(document, 0, number)
        for next_row, _, graft in self._grafts.get(id(document), ()):
            number = self._add_document(graft, number + next_row - row)
            row = next_row
            rows.append(row)
            numbers.append(number)
            self._add_run(document, row, number)
        number += len(document.columns) - row
        self._sizes[id(document)] = number - first
        return number

    def _add_run(self, document: Document, row: int, number: int) -> None:
        """Add a run. If the last run turns out to be empty, this one replaces it."""
        if self._starts and self._starts[-1] == number:
            self._first_rows[-1] = (document, row)
        else:
            self._starts.append(number)
            self._first_rows.append((document, row))


class Library(Struct, frozen=True, kw_only=True, dict=True):
    """A tree of nodes over one or more documents, with their texts.

    Each method that takes an id raises `UnknownSectionError` if no loaded node has it.
    """

    source: str
    """The name that the person gave: a path, a URL or ``-``."""
    root: Document
    grafts: Mapping[str, Document] = field(default_factory=dict)
    """Loaded documents, by the id of the node that each is grafted below."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Id of the node that a page is grafted below, by the id of each further link to the page."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Summaries of documents and sections that a model wrote, by the digest of the summarised text."""
    sources: tuple[LibrarySource, ...] = ()
    """Its sources, if a person has added or removed any; see `document/added_sources.py`. The root is then a listing of
    the documents of all sources."""

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {}

    @property
    def title(self) -> str:
        """Title of the root document, or the source if it has no title."""
        return self.root.title or self.source

    @cached_property
    def root_id(self) -> str:
        """Id of the whole library, which no node has."""
        return make_node_id(self.root.key, (), 0)

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every loaded document, the root first."""
        return (self.root, *self.grafts.values())

    @cached_property
    def _owners(self) -> dict[str, Document]:
        """Document of each node, by the node's id."""
        owners: dict[str, Document] = {}
        for document in reversed(self.documents):  # if two have the same id, the first one counts
            owners.update(dict.fromkeys(document.ids, document))
        return owners

    @cached_property
    def documents_by_key(self) -> Mapping[str, Document]:
        """Every loaded document by its key."""
        return {document.key: document for document in reversed(self.documents)}

    @cached_property
    def numbering(self) -> NodeNumbering:
        """Numbers of all loaded nodes, in order."""
        return NodeNumbering(self.root, self.grafts, self._owners)

    def __contains__(self, section_id: object) -> bool:
        return section_id in self._owners

    def __len__(self) -> int:
        return sum(len(document.columns) for document in self.documents)

    def locate(self, section_id: str) -> tuple[Document, int]:
        """Return the document and the row of a node."""
        document = self._owners.get(section_id)
        if document is None:
            raise UnknownSectionError(section_id)
        return document, document.rows_by_id[section_id]

    def get_label(self, section_id: str) -> NodeLabel:
        """Return the id, kind and title of a node, much faster than `node`."""
        document, row = self.locate(section_id)
        columns = document.columns
        has_children = columns.ends[row] - row > 1
        if not has_children and self.grafts:
            graft = self.grafts.get(section_id)
            has_children = graft is not None and len(graft.columns) > 0
        return NodeLabel(section_id, columns.kinds[row], columns.titles[row], has_children)

    def is_loaded(self, section_id: str) -> bool:
        """Check whether the children of a node are known. A file or page that could not be read is not loaded."""
        document, row = self.locate(section_id)
        is_known = document.columns.kinds[row] not in LOADED_ON_DEMAND
        return is_known or self.loaded_document(section_id) is not None

    def get_canonical_link(self, section_id: str) -> str:
        """Return the id of the node that the page of a link is grafted below: the first link to it that was opened."""
        return self.aliases.get(section_id, section_id)

    def loaded_document(self, section_id: str) -> Document | None:
        """Return the document of a file or link, or None if the node is neither or is not loaded."""
        graft = self.grafts.get(self.get_canonical_link(section_id))
        return None if graft is None or graft.problem else graft

    def list_unloaded_files(self) -> tuple[str, ...]:
        """List the files of the folder that have not been read yet, in order."""
        kinds = self.root.columns.kinds
        rows = (row for row, kind in enumerate(kinds) if kind is NodeKind.FILE)
        return tuple(self.root.ids[row] for row in rows if self.root.ids[row] not in self.grafts)

    def title_of(self, section_id: str) -> str:
        """Return the title of a node, much faster than `node`."""
        document, row = self.locate(section_id)
        return document.columns.titles[row]

    def parent(self, section_id: str) -> str | None:
        """Return the id of the parent of a node, or None at the top."""
        document, row = self.locate(section_id)
        parent_row = document.columns.parents[row]
        if parent_row >= 0:
            return document.ids[parent_row]
        host = self.numbering.host(document)
        return None if host is None else host[0].ids[host[1]]

    def ancestors(self, section_id: str) -> tuple[str, ...]:
        """Return the ids of the nodes above a node, from the top."""
        ids: list[str] = []
        parent = self.parent(section_id)
        while parent is not None:
            ids.append(parent)
            parent = self.parent(parent)
        return tuple(reversed(ids))

    def children(self, section_id: str) -> tuple[str, ...]:
        """Return the ids of the children of a node, or of the top nodes for `root_id`."""
        if section_id == self.root_id:
            return self.root.list_children(-1)
        document, row = self.locate(section_id)
        graft = self.grafts.get(section_id)
        return document.list_children(row) + (graft.list_children(-1) if graft else ())

    def title_id(self) -> str | None:
        """Return the id of the title: the only top-level node besides preambles, if it is a heading with children.

        Its children are then the top of the outline.
        """
        row = self.root.title_row
        return None if row is None else self.root.ids[row]

    def walk(self, section_id: str | None = None) -> Iterator[str]:
        """Yield the ids of all loaded nodes in order, or only of one node and all nodes below it."""
        numbers = range(len(self)) if section_id is None else self._number_subtree(section_id)
        for document, start, end in self.numbering.iter_runs(numbers):
            yield from document.ids[start:end]

    def _number_subtree(self, section_id: str) -> range:
        return self.numbering.subtree(self.numbering.number_of(*self.locate(section_id)))

    def source_of(self, section_id: str) -> LibrarySource | None:
        """Return the source of a node, or None if the library has only the source that it was opened with."""
        if not self.sources:
            return None
        top_id = next(iter(self.ancestors(section_id)), section_id)
        title = self.title_of(top_id)
        by_key = {source.key: source for source in self.sources}
        return by_key.get(title) or by_key.get("")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on text that was replaced, left out or not readable."""
        notes: list[str] = []
        for document in self.documents:
            notes += document.notes
            if document.problem:
                notes.append(document.problem)
        return tuple(notes)

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of all loaded documents."""
        return sum(document.tokens_before[-1] for document in self.documents)

    @cached_property
    def content_hash(self) -> str:
        """Digest of a document's text. For a folder, digest of its paths and loaded files, without linked pages."""
        if not self.root.columns.has_files:
            return self.root.content_hash
        files = [graft for node_id, graft in self.grafts.items() if self.get_label(node_id).kind is NodeKind.FILE]
        parts = [f"{document.key}\x1f{document.content_hash}" for document in (self.root, *files)]
        return hash_text("\n".join(sorted([*parts, *map("\x1f".join, self.root.columns.paths())])))

    def node(self, section_id: str) -> Node:
        """Return the node with this id. Up to 1,000 nodes are cached."""
        if (node := self._nodes.get(section_id)) is not None:
            return node
        if len(self._nodes) >= _CACHED_NODES_MAX:
            self._nodes.clear()
        document, row = self.locate(section_id)
        graft = self.grafts.get(self.get_canonical_link(section_id))
        columns = document.columns
        kind = columns.kinds[row]
        start, end_row = columns.starts[row], columns.ends[row]
        end = columns.starts[end_row]
        first, own_last = self.lines_of(self.own_span(section_id))
        runs = self.numbering.iter_runs(self._number_subtree(section_id))
        path = columns.path(row)
        node = self._nodes[section_id] = Node(
            id=section_id,
            kind=kind,
            level=columns.levels[row],
            title=columns.titles[row],
            path=path,
            doc="/".join(path) if kind in _LISTED_KINDS else document.key,
            url=columns.urls[row] or document.url,
            parent=self.parent(section_id),
            start_line=first,
            end_line=self.lines_of(self.span(section_id))[1],
            own_end_line=own_last,
            page=document.page_at(start),
            page_end=document.page_at(max(start, end - 1)),
            tokens=sum(part.tokens_before[last] - part.tokens_before[first] for part, first, last in runs),
            own_tokens=document.own_tokens[row],
            is_loaded=self.is_loaded(section_id),
            problem=graft.problem if graft is not None else "",
        )
        return node

    def own_span(self, section_id: str) -> Span:
        """Return the span of a node's own text. For a file, it ends at the first section below the title."""
        return self._find_span(section_id, is_own=True)

    def span(self, section_id: str) -> Span:
        """Return the span of a node's subtree in its own document. For a file, it is the whole file."""
        return self._find_span(section_id)

    def get_own_content_span(self, section_id: str) -> Span:
        """Like `own_span`, but for a loaded link, return the span of its page's own text."""
        return self._find_span(section_id, is_own=True, follows_link=True)

    def get_content_span(self, section_id: str) -> Span:
        """Like `span`, but for a loaded link, return the span of its whole page."""
        return self._find_span(section_id, follows_link=True)

    def _find_span(self, section_id: str, *, is_own: bool = False, follows_link: bool = False) -> Span:
        document, row = self.locate(section_id)
        columns = document.columns
        file = self.loaded_document(section_id) if follows_link or columns.kinds[row] is NodeKind.FILE else None
        if file is not None:
            end = file.columns.starts[file.head_rows] if is_own else len(file.text)
            return Span(doc=file.key, start=0, end=end)
        end_row = row + 1 if is_own else columns.ends[row]
        return Span(doc=document.key, start=columns.starts[row], end=columns.starts[end_row])

    def text_at(self, span: Span, *, length_max: int | None = None) -> str:
        """Return the exact text of a span, or only its first `length_max` characters."""
        end = span.end if length_max is None else min(span.end, span.start + length_max)
        return self.document(span.doc).text[span.start : end]

    def clean_text(self, span: Span) -> str:
        """Return the text of a span, with page furniture replaced by as many spaces."""
        return self.document(span.doc).clean_text(span.start, span.end)

    def own_text(self, section_id: str, *, length_max: int | None = None) -> str:
        """Return a node's own text, up to the next heading of any level, or only its first `length_max` characters."""
        return self.text_at(self.own_span(section_id), length_max=length_max)

    def document(self, key: str) -> Document:
        """Return the loaded document with this key."""
        return self.documents_by_key[key]

    def lines_of(self, span: Span) -> tuple[int, int]:
        """Return the 1-based first and last line of a span, both inclusive."""
        starts = self.document(span.doc).line_starts
        return max(1, bisect_right(starts, span.start)), max(1, bisect_right(starts, span.end - 1))

    def section_at(self, doc: str, offset: int) -> str | None:
        """Return the id of the node whose own text contains the character at `offset` of a document, or None."""
        document = self.document(doc)
        row = bisect_right(document.columns.starts, offset, 0, len(document.columns)) - 1
        return document.ids[row] if row >= 0 else None

    def summary(self, section_id: str) -> str:
        """Return the model's summary of a file, or of a section with its subsections, or an empty string."""
        if not self.summaries:
            return ""
        file = self.loaded_document(section_id)
        if file is not None:
            return self.summaries.get(file.content_hash, "")
        document, row = self.locate(section_id)
        return document.get_summary(row, self.summaries)

    def graft_all(self, documents: Mapping[str, Document]) -> Library:
        """Return a library that also has `documents`, each under the id of the node that it is grafted below.

        If nodes of two documents would have the same id, the document of the source that was added later, or else the
        one whose key sorts later, gets a salt. Ids therefore do not depend on the order of loading. If several nodes
        lead to one document, it is grafted below the first of them, and the others become aliases.
        """
        for section_id in documents:
            self.locate(section_id)
        # Reversed, so that the first node of each document counts.
        hosts = {graft.key: node_id for node_id, graft in reversed([*self.grafts.items()]) if not graft.problem}
        new_aliases = {}
        for node_id, document in documents.items():
            host = node_id if document.problem else hosts.setdefault(document.key, node_id)
            if host != node_id:
                new_aliases[node_id] = host
        documents = {node_id: document for node_id, document in documents.items() if node_id not in new_aliases}
        grown = replace(self, grafts={**self.grafts, **documents}, aliases={**self.aliases, **new_aliases})
        taken = set(self.root.ids)
        salted = dict(grown.grafts)
        ranks = {id(source): rank for rank, source in enumerate(self.sources)}  # an added source gets the salt

        def get_order(node_id: str) -> tuple[int, str]:
            source = grown.source_of(node_id)
            return ranks.get(id(source), 0), grown.grafts[node_id].key

        for node_id in sorted(salted, key=get_order):
            attempt = 0
            while not taken.isdisjoint(salted[node_id].ids):
                attempt += 1
                salted[node_id] = replace(grown.grafts[node_id], salt=str(attempt))
            taken.update(salted[node_id].ids)
        return replace(grown, grafts=salted)
