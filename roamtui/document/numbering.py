"""`NodeNumbering`: nodes of a library by number, in document order, without a list of all nodes.

It costs by documents, not by nodes, so that it can be made anew for each page that is loaded.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator

from roamtui.document.document import Document
from roamtui.document.library import Library


class NodeNumbering:
    """Numbers the nodes of a library from 0, as `Library.walk` gives them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._hosts: dict[int, tuple[Document, int]] = {}
        """Document and row above each grafted document, by its identity."""
        self._below: dict[int, list[tuple[int, int, Document]]] = defaultdict(list)
        """Of each document that others stand below: where in it they come, minus the row that holds them, and they."""
        for section_id, graft in library.grafts.items():
            host, row = library.locate(section_id)
            self._hosts[id(graft)] = (host, row)
            self._below[id(host)].append((host.columns.ends[row], -row, graft))
        for below in self._below.values():
            below.sort(key=lambda entry: entry[:2])
        self._sizes: dict[int, int] = {}
        """Nodes of each document and of all below it, by identity."""
        self._runs: dict[int, tuple[list[int], list[int]]] = {}
        """Of each document: the rows at which its unbroken runs begin, and their numbers."""
        self._starts: list[int] = []
        self._segments: list[tuple[Document, int]] = []
        """Document and first row of the run that begins at each of `_starts`."""
        self._count = self._place(library.root, 0)

    def __len__(self) -> int:
        return self._count

    def locate(self, number: int) -> tuple[Document, int]:
        """Return the document and the row of a node."""
        index = bisect_right(self._starts, number) - 1
        document, row = self._segments[index]
        return document, row + number - self._starts[index]

    def number_of(self, document: Document, row: int) -> int:
        """Return the number of a row of a document."""
        rows, numbers = self._runs[id(document)]
        index = bisect_right(rows, row) - 1
        return numbers[index] + row - rows[index]

    def find(self, section_id: str) -> int | None:
        """Return the number of the node with this id, None where there is none."""
        return self.number_of(*self._library.locate(section_id)) if section_id in self._library else None

    def id_of(self, number: int) -> str:
        """Return the id of a node."""
        document, row = self.locate(number)
        return document.ids[row]

    def parent(self, number: int) -> int:
        """Return the number of the node above, -1 at the top."""
        document, row = self.locate(number)
        parent_row = document.columns.parents[row]
        if parent_row >= 0:
            return self.number_of(document, parent_row)
        host = self._hosts.get(id(document))
        return -1 if host is None else self.number_of(*host)

    def subtree(self, number: int) -> range:
        """Return the numbers of a node and all below it."""
        document, row = self.locate(number)
        last = document.columns.ends[row]
        end = self.number_of(document, last - 1) + 1
        below = self._below.get(id(document), [])
        place = bisect_left(below, (last,))
        while place < len(below) and below[place][0] == last and -below[place][1] >= row:
            end += self._sizes[id(below[place][2])]
            place += 1
        return range(number, end)

    def host(self, document: Document) -> tuple[Document, int] | None:
        """Return the document and the row below which a document stands, None for the root."""
        return self._hosts.get(id(document))

    def iter_runs(self, numbers: range) -> Iterator[tuple[Document, int, int]]:
        """Yield the unbroken runs of a range of nodes: document, first row, and row after the last."""
        if not numbers:
            return
        index = bisect_right(self._starts, numbers.start) - 1
        while index < len(self._starts) and self._starts[index] < numbers.stop:
            start = self._starts[index]
            end = self._starts[index + 1] if index + 1 < len(self._starts) else self._count
            document, row = self._segments[index]
            yield document, row + max(0, numbers.start - start), row + min(end, numbers.stop) - start
            index += 1

    def _place(self, document: Document, number: int) -> int:
        """Number a document and those below it from `number`; return the number after the last."""
        first = number
        rows, numbers = self._runs[id(document)] = ([0], [number])
        row = 0
        self._add_run(document, 0, number)
        for place, _, graft in self._below.get(id(document), ()):
            number += place - row
            row = place
            number = self._place(graft, number)
            rows.append(row)
            numbers.append(number)
            self._add_run(document, row, number)
        number += len(document.columns) - row
        self._sizes[id(document)] = number - first
        return number

    def _add_run(self, document: Document, row: int, number: int) -> None:
        """Note where a run begins; one that turns out to be empty gives way to what begins at the same number."""
        if self._starts and self._starts[-1] == number:
            self._segments[-1] = (document, row)
        else:
            self._starts.append(number)
            self._segments.append((document, row))
