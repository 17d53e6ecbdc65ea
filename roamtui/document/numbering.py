"""Numbers of the nodes of a library, in document order."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import itemgetter

from roamtui.document.document import Document


class NodeNumbering:
    """Numbers the nodes of a library from 0. The nodes of a grafted document follow its host directly.

    Only runs are stored: rows of one document that no grafted document interrupts. The cost grows with the
    number of documents, not of nodes, so the numbering can be rebuilt for each page that is loaded.
    """

    def __init__(
        self, root: Document, grafts: Mapping[str, Document], owners: Mapping[str, Document]
    ) -> None:
        """`owners` is the document of each node, by the node's id."""
        self._grafts: dict[int, list[tuple[int, Document]]] = defaultdict(list)
        """By the ``id()`` of a document, the row after each host in it, and the document grafted there."""
        for node_id, graft in grafts.items():
            host = owners[node_id]
            self._grafts[id(host)].append((host.rows_by_id[node_id] + 1, graft))
        for below in self._grafts.values():
            below.sort(key=itemgetter(0))
        self._places: dict[int, tuple[list[int], list[int]]] = {}
        """By the ``id()`` of a document, the first row of each of its runs, and the numbers of these rows.
        The last entry is the end of the document."""
        self._starts: list[int] = []
        """Number of the first node of each run, in order."""
        self._first_rows: list[tuple[Document, int]] = []
        """Document and first row of each run, in the same order."""
        self._count = 0
        self._add_document(root)

    def _add_document(self, document: Document) -> None:
        rows: list[int] = []
        numbers: list[int] = []
        self._places[id(document)] = (rows, numbers)
        row = 0
        for next_row, graft in (*self._grafts[id(document)], (len(document.columns), None)):
            rows.append(row)
            numbers.append(self._count)
            if next_row > row:
                self._starts.append(self._count)
                self._first_rows.append((document, row))
                self._count += next_row - row
                row = next_row
            if graft is not None:
                self._add_document(graft)
        rows.append(row)
        numbers.append(self._count)

    def __len__(self) -> int:
        return self._count

    def locate(self, number: int) -> tuple[Document, int]:
        """Return the document and the row of the node with a number."""
        index = bisect_right(self._starts, number) - 1
        document, row = self._first_rows[index]
        return document, row + number - self._starts[index]

    def number_of(self, document: Document, row: int) -> int:
        """Return the number of the node in a row of a document, or the number after its last node."""
        rows, numbers = self._places[id(document)]
        index = bisect_right(rows, row) - 1
        return numbers[index] + row - rows[index]

    def id_of(self, number: int) -> str:
        """Return the id of the node with a number."""
        document, row = self.locate(number)
        return document.ids[row]

    def subtree(self, number: int) -> range:
        """Return the numbers of a node and of all nodes below it."""
        document, row = self.locate(number)
        return range(number, self.number_of(document, document.columns.ends[row]))

    def iter_runs(self, numbers: range) -> Iterator[tuple[Document, int, int]]:
        """Yield the runs in a range of nodes: document, first row, and row after the last."""
        number = numbers.start
        while number < numbers.stop:
            index = bisect_right(self._starts, number) - 1
            start = self._starts[index]
            end = self._starts[index + 1] if index + 1 < len(self._starts) else self._count
            document, row = self._first_rows[index]
            stop = min(end, numbers.stop)
            yield document, row + number - start, row + stop - start
            number = stop
