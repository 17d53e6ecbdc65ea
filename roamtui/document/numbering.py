"""Numbers of the nodes of a library, in document order."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping

from roamtui.document.document import Document


class NodeNumbering:
    """Numbers the nodes of a library from 0, in document order, without a list of all nodes.

    Its cost grows with the number of documents, not of nodes, so it can be rebuilt for each page that is
    loaded.

    It stores only runs: sequences of rows of one document that no grafted document interrupts.
    """

    def __init__(
        self, root: Document, grafts: Mapping[str, Document], owners: Mapping[str, Document]
    ) -> None:
        """`owners` is the document of each node, by the node's id."""
        self._grafts: dict[int, list[tuple[int, int, Document]]] = defaultdict(list)
        """By the ``id()`` of a document, the documents grafted below its rows. Each entry has the first row
        after the graft, the row of the node that it is grafted below (negative, for sorting), and the grafted
        document."""
        for section_id, graft in grafts.items():
            host = owners[section_id]
            row = owners[section_id].rows_by_id[section_id]
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

    def id_of(self, number: int) -> str:
        """Return the id of the node with a number."""
        document, row = self.locate(number)
        return document.ids[row]

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
        """Number a document and all documents below it from `number`. Return the next number."""
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
