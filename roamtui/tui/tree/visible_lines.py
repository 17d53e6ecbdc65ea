"""`VisibleLines`: the nodes of a library that the tree shows, one per line. Independent of the screen.

Nodes are the ordered numbers of a `NodeNumbering`, so a hundred thousand lines are one sorted array: finding the line
of a node takes logarithmic time. An opening text of only white space is left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from enum import StrEnum

from roamtui.document.library import Library


class FoldState(StrEnum):
    """The fold state of a line, with its sign."""

    UNFOLDED = "▾"
    FOLDED = "▸"
    LEAF = "·"
    UNLOADED = "⋯"
    """A link or file that is not loaded yet, so its children are unknown."""
    FAILED = "✗"
    """The last attempt to load it failed."""


class VisibleLines:
    """The visible lines of a library: those of nodes below `unfolded` ones. A single top heading is never folded."""

    def __init__(self, library: Library, unfolded: frozenset[str]) -> None:
        self.library = library
        self.unfolded = unfolded
        self.numbering = library.numbering
        self._find_end: Callable[[int], int] = library.root.columns.ends.__getitem__
        """Returns the number after a node's last descendant. In one document, numbers are rows, so it is a look-up."""
        if library.grafts:
            self._find_end = lambda number: self.numbering.subtree(number).stop
        row = library.root.title_row
        title_number = None if row is None else self.numbering.number_of(library.root, row)
        hidden_ids = (hidden_id for document in library.documents for hidden_id in document.hidden_ids)
        self._hidden_numbers = set(map(self.numbering.find, hidden_ids))
        self._unfolded_numbers = {title_number, *map(self.numbering.find, unfolded)}
        self.numbers = array("Q")
        """The number of the node on each line."""
        number, end = 0, len(self.numbering)
        while number < end:
            if number not in self._hidden_numbers:
                self.numbers.append(number)
            number = number + 1 if number in self._unfolded_numbers else self._find_end(number)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return map(self.numbering.id_of, self.numbers)

    def id_at(self, line: int) -> str:
        """Return the id of the node on a line."""
        return self.numbering.id_of(self.numbers[line])

    def get_line(self, number: int | None) -> int | None:
        """Return the line of a node, or None if the node is hidden."""
        if number is None:
            return None
        line = bisect_left(self.numbers, number)
        return line if line < len(self.numbers) and self.numbers[line] == number else None

    def find_nearest_line(self, section_id: str) -> int | None:
        """Return the line of a node or of its nearest visible ancestor, or None."""
        number = self.numbering.find(section_id)
        while number is not None and self.get_line(number) is None:
            number = self.parent(number)
        return self.get_line(number)

    def parent(self, number: int) -> int | None:
        """Return the parent of a node, or None at the top."""
        parent = self.numbering.parent(number)
        return None if parent < 0 else parent

    def compute_guide_flags(self, line: int) -> tuple[bool, ...]:
        """Return, for each guide of a line from left to right, whether it continues, because a sibling follows."""
        following = []
        number = self.numbers[line]
        while (parent := self.parent(number)) is not None:
            following.append(self._next_shown(self._find_end(number)) < self._find_end(parent))
            number = parent
        return tuple(reversed(following))

    def fold_at(self, line: int) -> FoldState:
        """Return the fold state of the node on a line."""
        number = self.numbers[line]
        section_id = self.numbering.id_of(number)
        if not self.library.is_loaded(section_id):
            return FoldState.FAILED if self.library.node(section_id).problem else FoldState.UNLOADED
        if self._next_shown(number + 1) >= self._find_end(number):
            return FoldState.LEAF
        return FoldState.UNFOLDED if number in self._unfolded_numbers else FoldState.FOLDED

    def _next_shown(self, number: int) -> int:
        while number in self._hidden_numbers:
            number += 1
        return number
