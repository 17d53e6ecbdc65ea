"""`LibraryTree`: which nodes a library has and how they stand to one another; texts are in `Library`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from roamtui.document.ids import hash_path
from roamtui.document.node import Heading, NodeKind
from roamtui.document.places import Places
from roamtui.errors import UnknownSectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from roamtui.document.document import Document

_STANDING_FOR = (NodeKind.FILE, NodeKind.LINK)
_LOADABLE = (NodeKind.LINK, NodeKind.FILE, NodeKind.FOLDER)
_make_heading: Callable[[tuple[str, NodeKind, str, bool]], Heading] = partial(tuple.__new__, Heading)
"""A heading from its fields, without the call in Python that `Heading` itself is."""


@dataclass(frozen=True, kw_only=True)
class LibraryTree:
    """Nodes of one or more documents as one tree, by their ids."""

    source: str
    """What the person named: a path, an address or ``-``."""
    root: Document
    grafts: Mapping[str, Document] = field(default_factory=lambda: MappingProxyType({}))
    """Documents below the node with the given id."""
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Links to a page that stands below another node already, each with the id of that node."""
    summaries: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What a model wrote of documents and sections, by the digest of the text that it is of."""

    @property
    def title(self) -> str:
        """Title of the whole, never empty unless the source has neither heading nor name."""
        return self.root.title or self.source

    @cached_property
    def root_id(self) -> str:
        """Id that stands for the whole library; no node has it."""
        return hash_path(self.root.key, (), 0)

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every loaded document, the root first."""
        return (self.root, *self.grafts.values())

    @cached_property
    def _places(self) -> Places:
        return Places(root=self.root, grafts=self.grafts)

    def __contains__(self, section_id: object) -> bool:
        return section_id in self._places.owners

    def __len__(self) -> int:
        return sum(len(document.columns) for document in self.documents)

    def locate(self, section_id: str) -> tuple[Document, int]:
        """Return the document and the row of a node.

        Raises:
            UnknownSectionError: No loaded node has this id.
        """
        document = self._places.owners.get(section_id)
        if document is None:
            raise UnknownSectionError(section_id)
        return document, document.rows_by_id[section_id]

    def heading(self, section_id: str) -> Heading:
        """Return what names the node with this id.

        Raises:
            UnknownSectionError: No loaded node has this id.
        """
        document, row = self.locate(section_id)
        columns = document.columns
        has_more = columns.ends[row] - row > 1 or (bool(self.grafts) and bool(self._count_grafted(section_id)))
        return Heading(section_id, columns.kinds[row], columns.titles[row], has_more)

    def headings_below(self, section_id: str, limit: int) -> tuple[tuple[Heading, ...], int]:
        """Return what names the first nodes directly below one, in order, and how many there are."""
        if self.grafts or section_id == self.root_id:
            children = self.children(section_id)
            return tuple(map(self.heading, children[:limit])), len(children)
        document, row = self.locate(section_id)
        columns, ids = document.columns, document.ids
        kinds, titles, ends = columns.kinds, columns.titles, columns.ends
        rows = list(islice(columns.children(row), limit + 1))
        named = [(ids[i], kinds[i], titles[i], ends[i] - i > 1) for i in rows[:limit]]
        count = len(rows) if len(rows) <= limit else len(document.list_children(row))
        return tuple(map(_make_heading, named)), count

    def _count_grafted(self, section_id: str) -> int:
        graft = self.grafts.get(section_id)
        return len(graft.columns) if graft is not None else 0

    def is_loaded(self, section_id: str) -> bool:
        """Return whether what stands below a node is known; what could not be read may be tried again."""
        return self._is_loaded_at(section_id, *self.locate(section_id))

    def _is_loaded_at(self, section_id: str, document: Document, row: int) -> bool:
        columns = document.columns
        if columns.kinds[row] not in _LOADABLE or columns.ends[row] - row > 1:
            return True
        graft = self.grafts.get(self.find_host(section_id))
        return graft is not None and not graft.problem

    def find_host(self, section_id: str) -> str:
        """Return the node that has what is below a node: for all links to one page the first that was opened."""
        return self.aliases.get(section_id, section_id)

    def problem_of(self, section_id: str) -> str:
        """Return why the file or page of a node could not be read, an empty string where it could or was not tried."""
        graft = self.grafts.get(self.find_host(section_id)) if self.grafts else None
        return graft.problem if graft is not None else ""

    def file(self, section_id: str) -> Document | None:
        """Return the document that a file's or link's node stands for, None where it is neither or not loaded."""
        graft = self.grafts.get(self.find_host(section_id)) if self.grafts else None
        if graft is None or graft.problem:
            return None
        document, row = self.locate(section_id)
        return graft if document.columns.kinds[row] in _STANDING_FOR else None

    def list_unloaded(self) -> tuple[str, ...]:
        """Return the files of the listing that nobody tried to read yet, in order."""
        kinds = self.root.columns.kinds
        rows = (row for row, kind in enumerate(kinds) if kind is NodeKind.FILE)
        return tuple(self.root.ids[row] for row in rows if self.root.ids[row] not in self.grafts)

    def title_of(self, section_id: str) -> str:
        """Return the title of a node, without the cost of making it."""
        document, row = self.locate(section_id)
        return document.columns.titles[row]

    def parent(self, section_id: str) -> str | None:
        """Return the id of the node above, None at the top."""
        return self._find_parent(*self.locate(section_id))

    def _find_parent(self, document: Document, row: int) -> str | None:
        parent_row = document.columns.parents[row]
        if parent_row >= 0:
            return document.ids[parent_row]
        return self._places.hosts.get(id(document))

    def ancestors(self, section_id: str) -> tuple[str, ...]:
        """Return the ids from the top down to the parent of a node."""
        ids: list[str] = []
        host: str | None = section_id
        while host is not None:
            document, row = self.locate(host)
            parents = document.columns.parents
            while (row := parents[row]) >= 0:
                ids.append(document.ids[row])
            host = self._places.hosts.get(id(document))
            if host is not None:
                ids.append(host)
        return tuple(reversed(ids))

    def children(self, section_id: str) -> tuple[str, ...]:
        """Return the ids directly below a node, or at the top for `root_id`."""
        if section_id == self.root_id:
            return self.root.list_children(-1)
        document, row = self.locate(section_id)
        graft = self.grafts.get(section_id)
        return document.list_children(row) + (graft.list_children(-1) if graft else ())

    def title_id(self) -> str | None:
        """Return the id of the single top heading that holds everything, if there is one.

        Preambles may stand beside it: its children are the top of the outline.
        """
        row = self.root.title_row
        return None if row is None else self.root.ids[row]

    def walk(self, section_id: str | None = None) -> Iterator[str]:
        """Yield the ids of all loaded nodes in order, or of one node and those below it."""
        if section_id is None:
            yield from self._places.walk(self.root, 0, len(self.root.columns))
            return
        document, row = self.locate(section_id)
        yield from self._places.walk(document, row, document.columns.ends[row])
