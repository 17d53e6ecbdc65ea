"""`DisplayTree`: a library as the tree that a person sees, with a total order over its nodes. Knows no screen.

It differs from the library in two ways: the single top heading holds everything, opening text included, and an opening
text of white space alone is not there. Nodes are keys, whole numbers made of a document's slot and a row, so that a
hundred thousand lines are one array.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.tokens import estimate_tokens

Key = int
Rank = tuple[float, ...]

_ROW_BITS = 32
_ROW_MASK = (1 << _ROW_BITS) - 1


class DisplayTree:
    """The nodes of `library` as they are shown."""

    def __init__(self, library: Library, before: DisplayTree | None = None) -> None:
        self.library = library
        self.documents: tuple[Document, ...] = library.documents
        self.is_single = len(self.documents) == 1
        """Whether there is one document alone: then keys are rows, and sort nodes but for what stands before the title.

        A title comes first; all other rows follow it in their order.
        """
        self._hosts: list[Key | None] = [None]
        self._grafts: dict[Key, int] = {}
        self._prefixes: list[Rank] = [()]
        self.grows = before is not None and self._holds(before)
        """Whether every key of the tree before means the same node here."""
        self._known_slots = len(before.documents) if before is not None and self.grows else 1
        title_id = library.title_id()
        self.title: Key | None = None if title_id is None else library.root.rows_by_id[title_id]
        self._slots = {id(document): slot for slot, document in reversed([*enumerate(self.documents)])}
        for slot, host_id in enumerate(library.grafts, start=1):
            host = self.find(host_id)
            self._hosts.append(host)
            if host is None:  # a graft below nothing is never shown
                self._prefixes.append((inf,))
                continue
            self._grafts[host] = slot
            self._prefixes.append(self._after(host))

    def _holds(self, before: DisplayTree) -> bool:
        hosts_before = tuple(before.library.grafts)
        return (
            len(before.documents) <= len(self.documents)
            and tuple(self.library.grafts)[: len(hosts_before)] == hosts_before
            and all(old.columns is new.columns for old, new in zip(before.documents, self.documents, strict=False))
        )

    @property
    def new_hosts(self) -> list[Key]:
        """Nodes below which the tree before had no document yet."""
        return [host for host in self._hosts[self._known_slots :] if host is not None]

    @property
    def moved_keys(self) -> list[Key]:
        """The nodes that stand before the title in the document and below it on the screen."""
        return [top for top in self._top_rows(0) if top != self.title]

    def end_row(self, key: Key) -> int:
        """Return the row after all below a node in its document."""
        slot, row = split_key(key)
        columns = self.documents[slot].columns
        return len(columns) if key == self.title else columns.ends[row]

    def find(self, section_id: str) -> Key | None:
        """Return the key of the node with this id, None where there is none."""
        if section_id not in self.library:
            return None
        document, row = self.library.locate(section_id)
        return self._slots[id(document)] << _ROW_BITS | row

    def id_of(self, key: Key) -> str:
        """Return the id of a node."""
        return self.documents[key >> _ROW_BITS].ids[key & _ROW_MASK]

    def title_of(self, key: Key) -> str:
        """Return the title of a node as the document has it."""
        return self.documents[key >> _ROW_BITS].columns.titles[key & _ROW_MASK]

    def kind_of(self, key: Key) -> NodeKind:
        """Return what a node stands for."""
        return self.documents[key >> _ROW_BITS].columns.kinds[key & _ROW_MASK]

    def tokens_of(self, key: Key) -> int:
        """Return about how many tokens a node and all below it have; costs little, however long they are."""
        document, row = self.documents[key >> _ROW_BITS], key & _ROW_MASK
        if document.columns.kinds[row] is NodeKind.FOLDER:
            return self.library.node(document.ids[row]).tokens if self._is_whole else 0
        slot = self._grafts.get(key)
        grafted = 0 if slot is None else estimate_rows(self.documents[slot], 0, None)
        return grafted + estimate_rows(document, row, document.columns.ends[row])

    def page_of(self, key: Key) -> int | None:
        """Return the page that a node begins on, None where its document has none."""
        document = self.documents[key >> _ROW_BITS]
        return document.page_at(document.columns.starts[key & _ROW_MASK]) if document.page_starts else None

    def is_loaded(self, key: Key) -> bool:
        """Return whether the children of a node are known."""
        return self.library.is_loaded(self.id_of(key))

    def parent(self, key: Key) -> Key | None:
        """Return the node above, None at the top."""
        slot, row = key >> _ROW_BITS, key & _ROW_MASK
        parent_row = self.documents[slot].columns.parents[row]
        if parent_row >= 0:
            return slot << _ROW_BITS | parent_row
        if slot == 0 and self.title is not None and key != self.title:
            return self.title
        return self._hosts[slot]

    def ancestors(self, key: Key) -> Iterator[Key]:
        """Yield the nodes above, the nearest first."""
        parent = self.parent(key)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def children(self, key: Key | None) -> Iterator[Key]:
        """Yield the nodes directly below, those at the top for None."""
        if key is None:
            if self.title is not None:
                yield self.title
            else:
                yield from self._top_rows(0)
            return
        slot = key >> _ROW_BITS
        base = slot << _ROW_BITS
        if key == self.title:
            yield from self.moved_keys
        for row in self.documents[slot].columns.children(key & _ROW_MASK):
            yield base | row
        if key in self._grafts:
            yield from self._top_rows(self._grafts[key])

    def has_children(self, key: Key) -> bool:
        """Return whether anything stands below a node."""
        row = key & _ROW_MASK
        if self.documents[key >> _ROW_BITS].columns.ends[row] - row > 1:
            return True
        return key in self._grafts and next(self._top_rows(self._grafts[key]), None) is not None

    def has_next(self, key: Key) -> bool:
        """Return whether a sibling follows a node."""
        slot, row = key >> _ROW_BITS, key & _ROW_MASK
        columns = self.documents[slot].columns
        parent_row = columns.parents[row]
        if key == self.title:
            return False
        if columns.ends[row] < (columns.ends[parent_row] if parent_row >= 0 else len(columns)):
            return True
        graft = self._grafts.get(slot << _ROW_BITS | parent_row) if parent_row >= 0 else None
        return graft is not None and next(self._top_rows(graft), None) is not None

    def rank(self, key: Key) -> Rank:
        """Return what sorts nodes into the order of their lines."""
        slot, row = key >> _ROW_BITS, key & _ROW_MASK
        return (*self._prefixes[slot], self._place(slot, row), 0)

    def rank_after(self, key: Key) -> Rank:
        """Return what sorts after all nodes below `key` and before any other that follows."""
        return (*self._after(key), inf)

    def _after(self, key: Key) -> Rank:
        """Return what ranks below a graft of `key` begin with: it follows the subtree, grafts of deeper hosts first."""
        slot, row = key >> _ROW_BITS, key & _ROW_MASK
        prefix = self._prefixes[slot]
        if self._is_moved(slot, row):
            return (*prefix, self._place(slot, row), 1)
        return (*prefix, self.documents[slot].columns.ends[row] - 1, 1, -row)

    def _is_moved(self, slot: int, row: int) -> bool:
        """Return whether a row stands before the title in the document and below it on the screen."""
        return slot == 0 and self.title is not None and row < self.title

    def _place(self, slot: int, row: int) -> float:
        if self.title is not None and self._is_moved(slot, row):
            return self.title + 0.5
        return row

    def _top_rows(self, slot: int) -> Iterator[Key]:
        document = self.documents[slot]
        kinds = document.columns.kinds
        for row in document.columns.children(-1):
            if kinds[row] is not NodeKind.PREAMBLE or self._has_text(slot, row):
                yield slot << _ROW_BITS | row

    def _has_text(self, slot: int, row: int) -> bool:
        document = self.documents[slot]
        starts = document.columns.starts
        return bool(document.text[starts[row] : starts[row + 1]].strip())

    @cached_property
    def _is_whole(self) -> bool:
        """Whether all files are loaded, so that the sizes of folders are known."""
        return not self.library.list_unloaded()

    @staticmethod
    def key_at(slot: int, row: int) -> Key:
        """Return the key of a row of the `slot`-th document."""
        return slot << _ROW_BITS | row


def split_key(key: Key) -> tuple[int, int]:
    """Return the place of a node's document among all, and its row in it."""
    return key >> _ROW_BITS, key & _ROW_MASK


_COUNTED_DOCUMENT_LENGTH_MAX = 1_000_000
"""Characters; shorter documents are counted as a whole in the time that nobody notices."""
_COUNTED_LENGTH_MAX = 20_000
"""Characters; of a longer section as many are counted, and the rest is taken to be like them."""


def estimate_rows(document: Document, first: int, end: int | None) -> int:
    """Return the estimated tokens of the rows `first` to `end` of a document, to its end for None.

    They are exact unless the document is long and its tokens have not been counted yet.
    """
    columns = document.columns
    last = len(columns) if end is None else end
    if "tokens_before" in vars(document) or len(document.text) <= _COUNTED_DOCUMENT_LENGTH_MAX:
        return document.tokens_before[last] - document.tokens_before[first]
    start, length = columns.starts[first], columns.starts[last] - columns.starts[first]
    counted = estimate_tokens(document.text[start : start + min(length, _COUNTED_LENGTH_MAX)])
    return counted if length <= _COUNTED_LENGTH_MAX else counted * length // _COUNTED_LENGTH_MAX
