"""`Columns`: the nodes of one document in document order, a column for each property."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from roamtui.document.node import NodeKind
from roamtui.document.plain import shorten

_ABOVE_LENGTH_MAX = 1_000
_REPEATED_LENGTH_MAX = 50_000_000
"""Characters; a title of 100 KB would stand in the path of each of 50,000 sections below it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a parser finds for one node."""

    kind: NodeKind
    level: int
    """Depth that decides nesting: a row is a child of the nearest earlier row with a smaller level, 0 of none."""
    title: str
    start: int
    """Offset of its first character in the document's text."""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Rows in document order (parents before children), by index."""

    kinds: tuple[NodeKind, ...]
    levels: bytes
    titles: tuple[str, ...]
    urls: tuple[str, ...]
    starts: array[int]
    """Offsets of own text; the next row's start ends it. One more entry holds the end of the text."""
    parents: array[int]
    """Row of the parent, -1 at the top."""
    ends: array[int]
    """First row after the subtree."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def has_files(self) -> bool:
        """Whether it is the listing of a folder: the first row is a file or a folder."""
        return bool(self.kinds) and self.kinds[0] in (NodeKind.FILE, NodeKind.FOLDER)

    def children(self, row: int) -> Iterator[int]:
        """Yield the rows directly below `row`; those at the top for -1."""
        child, end = (0, len(self)) if row < 0 else (row + 1, self.ends[row])
        while child < end:
            yield child
            child = self.ends[child]

    def path(self, row: int) -> tuple[str, ...]:
        """Return the titles from the root down to `row`; one that would be a flood if all below repeated it is cut."""
        titles = [self.titles[row]]
        while (row := self.parents[row]) >= 0:
            title = self.titles[row]
            if len(title) > _ABOVE_LENGTH_MAX and len(title) * (self.ends[row] - row) > _REPEATED_LENGTH_MAX:
                title = shorten(title, _ABOVE_LENGTH_MAX)
            titles.append(title)
        return tuple(reversed(titles))

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Yield the path of each row, in order."""
        made: list[tuple[str, ...]] = []
        for row, title in enumerate(self.titles):
            parent = self.parents[row]
            path = (title,) if parent < 0 else (*made[parent], title)
            made.append(path)
            yield path


def build_columns(rows: Sequence[Row], length: int) -> Columns:
    """Nest `rows` by their levels and return them as columns.

    Skipped levels nest under the nearest shallower row. A row of level 0 has no parent and never is one.
    """
    levels = bytes(row.level for row in rows)
    parents, ends = nest_levels(levels)
    return Columns(
        kinds=tuple(row.kind for row in rows),
        levels=levels,
        titles=tuple(row.title for row in rows),
        urls=tuple(row.url for row in rows),
        starts=array("Q", [*(row.start for row in rows), length]),
        parents=parents,
        ends=ends,
    )


def nest_levels(levels: bytes) -> tuple[array[int], array[int]]:
    """Return the parent of each row, -1 at the top, and the first row after its subtree."""
    parents = array("l", [-1]) * len(levels)
    ends = array("l", [len(levels)]) * len(levels)
    open_rows: list[int] = []
    for index, level in enumerate(levels):
        while open_rows and (levels[open_rows[-1]] >= level or levels[open_rows[-1]] == 0):
            ends[open_rows.pop()] = index
        if open_rows:
            parents[index] = open_rows[-1]
        open_rows.append(index)
    return parents, ends
