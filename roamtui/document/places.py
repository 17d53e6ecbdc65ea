"""`Places`: where the nodes of a library stand among its documents, found without looking through them all."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from roamtui.document.document import Document


@dataclass(frozen=True, kw_only=True)
class Places:
    """The documents of one library by what they are looked for by. Made on demand."""

    root: Document
    grafts: Mapping[str, Document]
    """Documents below the node with the given id."""

    @cached_property
    def owners(self) -> dict[str, Document]:
        """The document of each id."""
        owners: dict[str, Document] = {}
        for document in reversed((self.root, *self.grafts.values())):
            owners.update(dict.fromkeys(document.ids, document))
        return owners

    @cached_property
    def documents_by_key(self) -> dict[str, Document]:
        """Each document by its key."""
        return {document.key: document for document in reversed((self.root, *self.grafts.values()))}

    @cached_property
    def hosts(self) -> dict[int, str]:
        """The node above each grafted document, by the document's identity."""
        return {id(graft): node_id for node_id, graft in self.grafts.items()}

    def count_below(self, document: Document, row: int) -> tuple[int, int]:
        """Return the nodes and tokens of all documents that stand somewhere below a row."""
        if document.key not in self._counts:
            return 0, 0
        rows, nodes, tokens = self._counts[document.key]
        first, last = bisect_left(rows, row), bisect_left(rows, document.columns.ends[row])
        return nodes[last] - nodes[first], tokens[last] - tokens[first]

    @cached_property
    def _counts(self) -> dict[str, tuple[list[int], list[int], list[int]]]:
        """By document key: its rows with documents below, the nodes in those before each row, the tokens likewise."""
        counts = {}
        totals: dict[str, tuple[int, int]] = {}
        for node_id, document in reversed([("", self.root), *self.grafts.items()]):
            rows = sorted(document.rows_by_id[node] for node in document.rows_by_id.keys() & totals.keys())
            below = [totals[document.ids[row]] for row in rows]
            nodes = list(accumulate((count for count, _ in below), initial=0))
            tokens = list(accumulate((count for _, count in below), initial=0))
            if rows:
                counts[document.key] = rows, nodes, tokens
            totals[node_id] = len(document.columns) + nodes[-1], document.tokens_before[-1] + tokens[-1]
        return counts

    def walk(self, document: Document, start: int, end: int) -> Iterator[str]:
        """Yield the ids of the rows `start` to `end` of a document and of all that stands below them, in order."""
        pending: list[tuple[int, Document]] = []
        ids = document.ids
        for row in range(start, end):
            while pending and pending[-1][0] <= row:
                graft = pending.pop()[1]
                yield from self.walk(graft, 0, len(graft.columns))
            yield ids[row]
            if self.grafts and ids[row] in self.grafts:
                pending.append((document.columns.ends[row], self.grafts[ids[row]]))
        for _, graft in reversed(pending):
            yield from self.walk(graft, 0, len(graft.columns))

    def add(self, new: Mapping[str, Document], grafts: Mapping[str, Document]) -> Places | None:
        """Return the places with further documents, None where one of their ids is taken.

        Args:
            new: The further documents, below nodes that had none.
            grafts: All documents with them.
        """
        ids = [section_id for document in new.values() for section_id in document.ids]
        if len(set(ids)) < len(ids) or not self.owners.keys().isdisjoint(ids):
            return None
        places = Places(root=self.root, grafts=grafts)
        owners = self.owners.copy()
        for document in new.values():
            owners.update(dict.fromkeys(document.ids, document))
        vars(places)["owners"] = owners
        return places


def salt_documents(root: Document, grafts: Mapping[str, Document]) -> dict[str, Document]:
    """Return the same documents, those salted whose ids an earlier one by key has."""
    taken = set(root.ids)
    salted = dict(grafts)
    for node_id, graft in sorted(grafts.items(), key=lambda item: item[1].key):
        attempt = 0
        while not taken.isdisjoint(salted[node_id].ids):
            attempt += 1
            salted[node_id] = replace(graft, salt=str(attempt))
        taken.update(salted[node_id].ids)
    return salted


def find_aliases(grafts: Mapping[str, Document], new: Mapping[str, Document]) -> dict[str, str]:
    """Return the nodes whose new document stands below another node already, or is new there too, with that node."""
    hosts = {graft.key: node_id for node_id, graft in reversed([*grafts.items()]) if not graft.problem}
    aliases = {}
    for node_id, document in new.items():
        host = node_id if document.problem else hosts.setdefault(document.key, node_id)
        if host != node_id:
            aliases[node_id] = host
    return aliases
