"""`Library`: the whole content of a source as one immutable tree.

A library consists of documents: the root, which is a file or the listing of a folder, and the documents
*grafted* below nodes of other documents. Loading returns a new library that shares the documents.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.document.document import (
    LISTED,
    LOADED_ON_DEMAND,
    TEXTLESS,
    Document,
    NodeKind,
    hash_text,
    make_node_id,
)
from roamtui.document.footers import blank_footers
from roamtui.document.numbering import NodeNumbering
from roamtui.errors import UnknownSectionError
from roamtui.markdown.table_header import find_header_above
from roamtui.sources.source_names import format_file_names, make_short_name, split_sources
from roamtui.text import Span, format_count

LISTING_KEY = "/"
"""Key of a listing around a single document, whose own key is empty. No path or URL has this key."""
_NON_SPACE = re.compile(r"\S")
_PROBLEMS_MAX = 3
"""Maximum number of unreadable documents for which the notes say why."""
_CACHED_NODES_MAX = 1_000


class LibrarySource(Struct, frozen=True, kw_only=True):
    """One of several sources of a library."""

    name: str
    """A path, several paths joined by `join_sources`, or a URL."""
    key: str
    """Title of its row at the top level, and prefix of the keys of its documents. Empty for the first source,
    so that its ids stay the same."""

    @property
    def title(self) -> str:
        """Short name for people: the key, or for the first source the name of its file or site."""
        return self.key or make_short_name(self.name)


def normalise_name(name: str) -> str:
    """Fold a title or file name, so that case, spaces, code marks and marks around it make no difference."""
    return " ".join(name.casefold().replace("`", "").strip(" \t\r\n[]\"'").split())


class Node(Struct, frozen=True, kw_only=True, eq=False):
    """A node of a library, made on demand: a library stores only columns and recently used nodes."""

    id: str
    """8 hex digits. They stay the same when the document is read again, unless the path changes, or the
    number of earlier nodes with the same path."""
    kind: NodeKind
    level: int
    """1 to 6 for headings, 0 for a preamble."""
    title: str
    """Plain text of the heading without an anchor such as ``{#a}``, not sanitised; may be empty."""
    path: tuple[str, ...]
    """Titles of the nodes above it in its document, from the top, and its own title."""
    doc: str
    """Key of its document, or its own key if it is a file or folder; empty for a single document."""
    url: str | None
    link_url: str
    """URL of the page that it leads to if it is a link; else empty."""
    parent: str | None
    """Id of the parent node, or None at the top."""
    ancestors: tuple[str, ...]
    """Ids of the nodes above it, from the top."""
    document: Document
    """The document that it is a row of."""
    row: int
    file: Document | None
    """The document of a loaded file or link; None for any other node."""
    span: Span
    """Range of its subtree in its own document. For a file, it is the whole file."""
    own_span: Span
    """Range of its own text, up to the next heading; for a file, to the first section below its title."""
    content_span: Span
    """Like `span`, but for a loaded link, the range of its whole page."""
    own_content_span: Span
    """Like `own_span`, but for a loaded link, the range of its page's own text."""
    has_children: bool
    """Whether there are loaded nodes below it."""
    is_loaded: bool
    """False while its children have not been read or fetched, or if its file or page could not be read."""
    problem: str
    """Why its file or page could not be read; empty if it was read or not yet tried."""


class LineRange(NamedTuple):
    """Where a span is in its document."""

    first_line: int
    """1-based, like all numbers here."""
    last_line: int
    page: int | None
    """Page on which it starts, or None in a document without pages."""
    last_page: int | None
    page_label: str
    """The printed number of the first page; empty if it equals `page`."""


class _Owners(dict[str, Document]):
    """The document of each node, by the node's id."""

    def __missing__(self, node_id: str) -> Document:
        raise UnknownSectionError(node_id)


class Library(Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """A tree of nodes over one or more documents, with their texts."""

    source: str
    """The name that the person gave: a path, a URL or ``-``."""
    root: Document
    grafts: Mapping[str, Document] = field(default_factory=dict)
    """Loaded documents, by the id of the node that each is grafted below."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """For each further link to a page, by its id: the id of the link that the page is grafted below."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Summaries of documents that a model wrote, by the digest of the text."""
    sources: tuple[LibrarySource, ...] = ()
    """Its sources, if a person has added or removed any; see `opening/added_sources.py`. The root is then a
    listing of the documents of all sources."""

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

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """Every loaded document, the root first."""
        return (self.root, *self.grafts.values())

    @cached_property
    def _owners(self) -> _Owners:
        owners = _Owners()
        for document in reversed(self.documents):  # if two have the same id, the first one counts
            owners.update(dict.fromkeys(document.ids, document))
        return owners

    @cached_property
    def hosts(self) -> Mapping[int, str]:
        """Id of the node that each document is grafted below, by the ``id()`` of the document."""
        return {id(document): node_id for node_id, document in self.grafts.items()}

    @cached_property
    def documents_by_key(self) -> Mapping[str, Document]:
        """Every loaded document by its key."""
        return {document.key: document for document in reversed(self.documents)}

    @cached_property
    def numbering(self) -> NodeNumbering:
        """Numbers of all loaded nodes, in order."""
        return NodeNumbering(self.root, self.grafts, self._owners)

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._owners

    def __len__(self) -> int:
        return len(self._owners)

    @cached_property
    def section_count(self) -> int:
        """Number of sections: all loaded nodes but files, folders and links, which have no own text."""
        kinds = [document.columns.kinds for document in self.documents]
        return sum(len(each) - sum(map(each.count, TEXTLESS)) for each in kinds)

    @cached_property
    def ids_by_name(self) -> Mapping[str, Sequence[str]]:
        """Ids of nodes by normalised title; of files also by name and path, with and without extension."""
        ids_by_name: dict[str, list[str]] = defaultdict(list)
        for document in self.documents:
            columns = document.columns
            for row, (node_id, kind) in enumerate(zip(document.ids, columns.kinds, strict=True)):
                names = {normalise_name(each) for each in {columns.titles[row], columns.get_shown_title(row)}}
                if kind is NodeKind.FILE:
                    names.add(normalise_name(self.node(node_id).doc))
                    names |= {posixpath.splitext(each)[0] for each in names}
                for each in names:
                    ids_by_name[each].append(node_id)
        ids_by_name.pop("", None)
        return dict(ids_by_name)

    @cached_property
    def pending_ids(self) -> tuple[str, ...]:
        """The files of the folder, and the pages of small sites, that have not been read yet, in order."""
        node_ids = chain.from_iterable(document.eager_ids for document in self.documents)
        return tuple(node_id for node_id in node_ids if self.resolve_alias(node_id) not in self.grafts)

    def children(self, node_id: str) -> tuple[str, ...]:
        """Return the ids of the children of a node, or of the top nodes for `root_id`."""
        if node_id == self.root_id:
            return self.root.list_children(-1)
        document = self._owners[node_id]
        below = document.list_children(document.rows_by_id[node_id])
        graft = self.grafts.get(node_id)
        return below if graft is None else graft.list_children(-1) + below

    @cached_property
    def title_id(self) -> str | None:
        """Id of the title: the only top-level node that is no preamble, if it is a heading with children."""
        row = self.root.title_row
        return None if row is None else self.root.ids[row]

    def walk(self, node_id: str | None = None) -> Iterator[str]:
        """Yield the ids of all loaded nodes in order, or only of one node and all nodes below it."""
        for document, start, end in self.iter_runs(node_id):
            yield from document.ids[start:end]

    def iter_runs(self, node_id: str | None = None) -> Iterator[tuple[Document, int, int]]:
        """Yield the nodes of `walk` as rows of documents: document, first row, and row after the last."""
        numbers = range(len(self))
        if node_id is not None:
            node = self.node(node_id)
            numbers = self.numbering.subtree(self.numbering.number_of(node.document, node.row))
        return self.numbering.iter_runs(numbers)

    @property
    def source_names(self) -> tuple[str, ...]:
        """The names of its sources, whether a person added any or not."""
        return tuple(source.name for source in self.sources) or split_sources(self.source)

    def source_of(self, node_id: str) -> LibrarySource | None:
        """Return the source of a node, or None if no source was ever added or removed."""
        if not self.sources:
            return None
        top_id = next(iter(self.node(node_id).ancestors), node_id)
        title = self.node(top_id).title
        by_key = {source.key: source for source in self.sources}
        return by_key.get(title) or by_key.get("")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on text that was replaced or left out, and on the first documents that could not be read."""
        notes = [note for document in self.documents for note in document.notes]
        problems = [document.problem for document in self.documents if document.problem]
        notes += problems[:_PROBLEMS_MAX]
        if len(problems) > _PROBLEMS_MAX:
            more = format_count(len(problems) - _PROBLEMS_MAX, "more document")
            notes.append(f"Could not read {more}. To list them, run `roamtui outline` with --skipped.")
        if names := self.empty_names:
            notes.append(f"No text: {format_file_names(names)}.")
        return tuple(notes)

    @property
    def empty_names(self) -> list[str]:
        """The keys of documents that were read and have no text."""
        read = [document for document in self.grafts.values() if not document.problem]
        return [document.key for document in read if not document.text or document.text.isspace()]

    @property
    def has_text(self) -> bool:
        """Whether any loaded document has text."""
        return any(document.text.strip() for document in self.documents)

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of all loaded documents."""
        return sum(document.tokens_before[-1] for document in self.documents)

    @cached_property
    def files_hash(self) -> str:
        """Digest of a document's text, or of a folder's paths and loaded files, without linked pages."""
        if not self.root.columns.is_listing:
            return self.root.content_hash
        files = [graft for node_id, graft in self.grafts.items() if self.node(node_id).kind is NodeKind.FILE]
        parts = [f"{document.key}\x1f{document.content_hash}" for document in (self.root, *files)]
        return hash_text("\n".join(sorted([*parts, *map("\x1f".join, self.root.columns.paths())])))

    def resolve_alias(self, node_id: str) -> str:
        """Return, for a further link to a page, the id of the link that has the page; else the id itself."""
        return self.aliases.get(node_id, node_id)

    def node(self, node_id: str) -> Node:
        """Return the node with this id. Up to 1,000 nodes are cached."""
        if (node := self._nodes.get(node_id)) is not None:
            return node
        document = self._owners[node_id]
        row = document.rows_by_id[node_id]
        columns = document.columns
        key = document.key
        kind = columns.kinds[row]
        title = columns.get_shown_title(row)
        parent_row = columns.parents[row]
        parent_id = document.ids[parent_row] if parent_row >= 0 else self.hosts.get(id(document))
        parent = None if parent_id is None else self.node(parent_id)
        path = (title,) if parent is None or parent_row < 0 else (*parent.path, title)
        # The page of a link is grafted below the first link to it that was opened.
        graft = self.grafts.get(self.resolve_alias(node_id)) if self.grafts else None
        file = None if graft is None or graft.problem else graft
        start = columns.starts[row]
        last = columns.ends[row]
        span = Span(doc=key, start=start, end=columns.starts[last])
        own_span = Span(doc=key, start=start, end=columns.starts[row + 1])
        content_span = span
        own_content_span = own_span
        if file is not None:
            content_span = Span(doc=file.key, start=0, end=len(file.text))
            own_content_span = Span(doc=file.key, start=0, end=file.columns.starts[file.lead_row_count])
        is_file = kind is NodeKind.FILE
        if len(self._nodes) >= _CACHED_NODES_MAX:
            self._nodes.clear()
        node = self._nodes[node_id] = Node(
            id=node_id,
            kind=kind,
            level=columns.levels[row],
            title=title,
            path=path,
            doc="/".join(path) if kind in LISTED else key,
            url=columns.urls[row] or document.url,
            link_url=columns.urls[row] if kind is NodeKind.LINK else "",
            parent=parent_id,
            ancestors=() if parent is None else (*parent.ancestors, parent.id),
            document=document,
            row=row,
            file=file,
            span=content_span if is_file else span,
            own_span=own_content_span if is_file else own_span,
            content_span=content_span,
            own_content_span=own_content_span,
            has_children=last > row + 1
            or (node_id in self.grafts and bool(self.grafts[node_id].columns.kinds)),
            is_loaded=file is not None or kind not in LOADED_ON_DEMAND,
            problem="" if graft is None else graft.problem,
        )
        return node

    def count_tokens(self, node_id: str) -> tuple[int, int]:
        """Return the estimated tokens of a node's own text, and of its subtree."""
        node = self.node(node_id)
        document = node.document
        row = node.row
        parts = self.iter_runs(node_id) if self.grafts else ((document, row, document.columns.ends[row]),)
        tokens = sum(part.tokens_before[last] - part.tokens_before[first] for part, first, last in parts)
        return document.own_tokens[row], tokens

    def get_line_range(self, span: Span) -> LineRange:
        """Return the lines and pages of a span."""
        document = self.documents_by_key[span.doc]
        end = max(span.start, span.end - 1)
        first = max(1, bisect_right(document.line_starts, span.start))
        last = max(1, bisect_right(document.line_starts, end))
        page = document.page_at(span.start)
        return LineRange(first, last, page, document.page_at(end), document.get_page_label(page))

    def text_at(self, span: Span) -> str:
        """Return the exact text of a span."""
        return self.documents_by_key[span.doc].text[span.start : span.end]

    def clean_text(self, span: Span) -> str:
        """Return the text of a span, with page footers replaced by as many spaces."""
        return blank_footers(self.documents_by_key[span.doc].text, span.start, span.end)

    def find_header(self, span: Span) -> Span | None:
        """Return the header rows above a span that continues a table, or None for any other span."""
        text = self.documents_by_key[span.doc].text
        first = _NON_SPACE.search(text, span.start, span.end)
        bounds = find_header_above(text, first.start()) if first else None
        return None if bounds is None else Span(doc=span.doc, start=bounds[0], end=bounds[1])

    def list_headers(self, spans: Iterable[Span]) -> list[str]:
        """Return the table header to write above each span; empty if it has none, or has it already."""
        shown: list[Span] = []
        texts: list[str] = []
        for span in spans:
            header = self.find_header(span)
            is_new = header is not None and not any(map(header.overlaps, shown))
            texts.append(self.clean_text(header) if header is not None and is_new else "")
            shown += [span] if header is None else [span, header]
        return texts

    def find_node_at(self, doc: str, offset: int) -> str | None:
        """Return the id of the node whose own text contains `offset` of a document, or None."""
        document = self.documents_by_key[doc]
        row = bisect_right(document.columns.starts, offset, 0, len(document.columns.kinds)) - 1
        return document.ids[row] if row >= 0 else None

    def summary(self, node_id: str) -> str:
        """Return the model's summary of a file, or of the document that begins with this node, or empty."""
        node = self.node(node_id)
        document = node.document if node.file is None and node.row == 0 else node.file
        return "" if document is None else self.summaries.get(document.content_hash, "")

    def graft_all(self, documents: Mapping[str, Document]) -> Library:
        """Return a library that also has `documents`, each under the id of the node that it is grafted below.

        If nodes of two documents would have the same id, the document of the source that was added later gets
        a salt, or else the one whose key sorts later. Ids therefore do not depend on the order of loading.
        If several nodes lead to one document, it is grafted below the first of them, and the others become
        aliases.
        """
        hosts = {graft.key: node_id for node_id, graft in self.grafts.items() if not graft.problem}
        grafts = dict(self.grafts)
        aliases = dict(self.aliases)
        for node_id, document in documents.items():
            self.node(node_id)
            host = node_id if document.problem else hosts.setdefault(document.key, node_id)
            if host == node_id:
                grafts[node_id] = document
            else:
                aliases[node_id] = host
        grown = replace(self, grafts=grafts, aliases=aliases)
        taken = set(self.root.ids)
        salted = dict(grafts)
        # Sorted by source, so that the one added later gets the salt.
        ranks = {id(source): rank for rank, source in enumerate(self.sources)}

        def get_order(node_id: str) -> tuple[int, str]:
            source = grown.source_of(node_id)
            return ranks.get(id(source), 0), grafts[node_id].key

        for node_id in sorted(salted, key=get_order):
            attempt = 0
            while not taken.isdisjoint(salted[node_id].ids):
                attempt += 1
                salted[node_id] = replace(grafts[node_id], salt=str(attempt))
            taken.update(salted[node_id].ids)
        return replace(grown, grafts=salted)
