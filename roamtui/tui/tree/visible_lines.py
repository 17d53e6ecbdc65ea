"""`VisibleLines`: which nodes of a library the tree shows, one a line. Knows no screen.

Folding and unfolding cost by what appears or goes; a line is found by its node in logarithmic time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from roamtui.document.library import Library
from roamtui.tui.tree.display_tree import DisplayTree, Key

_SPLICES_MAX = 256
"""Changes at once past this number build all lines anew: each splice moves the lines after it."""


class Fold(StrEnum):
    """What stands below a line."""

    UNFOLDED = "unfolded"
    FOLDED = "folded"
    LEAF = "leaf"
    UNLOADED = "unloaded"
    """Nobody knows yet: a link or file that was not opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShape:
    """Where a line stands in the tree."""

    fold: Fold
    has_next: tuple[bool, ...]
    """For each depth from 1 to the line's own: whether a sibling follows there. Empty at the top."""


class VisibleLines:
    """The visible lines of a library whose nodes `unfolded` show their children."""

    def __init__(self, library: Library, unfolded: frozenset[str]) -> None:
        self.tree = DisplayTree(library)
        self.unfolded = unfolded
        self._unfolded_keys = self._find_unfolded()
        self._lines = self._build()

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return map(self.tree.id_of, self._lines)

    def id_at(self, line: int) -> str:
        """Return the id of the node on a line."""
        return self.tree.id_of(self._lines[line])

    def key_at(self, line: int) -> Key:
        """Return the key of the node on a line."""
        return self._lines[line]

    def find_line(self, key: Key) -> int | None:
        """Return the line of a node, None where it is not visible."""
        tree = self.tree
        if tree.is_single:
            line = 0 if key == tree.title else bisect_left(self._lines, key, 1 if tree.title else 0)
        else:
            line = bisect_left(self._lines, tree.rank(key), key=tree.rank)
        return line if line < len(self._lines) and self._lines[line] == key else None

    def line_of(self, section_id: str) -> int | None:
        """Return the line of the node with this id, None where it is not visible."""
        key = self.tree.find(section_id)
        return None if key is None else self.find_line(key)

    def nearest_line(self, section_id: str) -> int | None:
        """Return the line of a node, or of its nearest visible ancestor; None where neither is visible."""
        key = self.tree.find(section_id)
        if key is None:
            return None
        for candidate in (key, *self.tree.ancestors(key)):
            line = self.find_line(candidate)
            if line is not None:
                return line
        return None

    def end_of(self, line: int) -> int:
        """Return the line after the last visible descendant of a line's node."""
        tree, key = self.tree, self._lines[line]
        if tree.is_single:
            return bisect_left(self._lines, tree.end_row(key), line + 1)
        return bisect_left(self._lines, tree.rank_after(key), lo=line + 1, key=tree.rank)

    def shape_at(self, line: int) -> LineShape:
        """Return where a line stands in the tree; costs by its depth."""
        tree, key = self.tree, self._lines[line]
        following = []
        level = key
        for parent in tree.ancestors(key):
            following.append(tree.has_next(level))
            level = parent
        following.reverse()
        return LineShape(fold=self.fold_at(line), has_next=tuple(following))

    def fold_at(self, line: int) -> Fold:
        """Return what stands below the node on a line."""
        tree, key = self.tree, self._lines[line]
        if line + 1 < len(self._lines) and tree.parent(self._lines[line + 1]) == key:
            return Fold.UNFOLDED
        if not tree.is_loaded(key):
            return Fold.UNLOADED
        return Fold.FOLDED if tree.has_children(key) else Fold.LEAF

    def update(self, library: Library, unfolded: frozenset[str]) -> None:
        """Take another library or other unfolded nodes."""
        changed = _find_changes(self.unfolded, unfolded)
        self.unfolded = unfolded
        touched: list[Key] = []
        if library is not self.tree.library:
            self.tree = DisplayTree(library, self.tree)
            self._unfolded_keys = self._find_unfolded()
            if not self.tree.grows:
                self._lines = self._build()
                return
            touched = self.tree.new_hosts
        else:
            self._note_changes(changed)
        if len(changed) + len(touched) > _SPLICES_MAX:
            self._lines = self._build()
            return
        touched.extend(key for key in map(self.tree.find, changed) if key is not None)
        self._splice(touched)

    def parent_line(self, line: int) -> int | None:
        """Return the line of the node above a line's node, None at the top."""
        parent = self.tree.parent(self._lines[line]) if line < len(self._lines) else None
        return None if parent is None else self.find_line(parent)

    def find_folded(self, section_id: str) -> tuple[str, ...]:
        """Return the ids of the nodes above a node that hide it, from the top down."""
        key = self.tree.find(section_id)
        above = () if key is None else tuple(self.tree.ancestors(key))
        return tuple(self.tree.id_of(a) for a in reversed(above) if not self._is_unfolded(a))

    def _splice(self, touched: Iterable[Key]) -> None:
        """Replace the lines below `touched` nodes, each line once."""
        tree = self.tree
        done = 0
        for key in sorted(set(touched), key=tree.rank):
            line = self.find_line(key)
            if line is None or line < done:
                continue
            below = self._list_below(key) if self._is_unfolded(key) else array("Q")
            self._lines[line + 1 : self.end_of(line)] = below
            done = line + 1 + len(below)

    def _build(self) -> array[Key]:
        if not self.tree.is_single:
            return self._descend(self.tree.children(None))
        lines = array("Q")
        for key in self.tree.children(None):
            lines.append(key)
            if self._is_unfolded(key):
                lines.extend(self._list_below(key))
        return lines

    def _list_below(self, key: Key) -> array[Key]:
        """Return the lines below an unfolded node."""
        tree = self.tree
        if not tree.is_single:
            return self._descend(tree.children(key))
        lines = array("Q", tree.moved_keys if key == tree.title else ())
        append, unfolded, ends = lines.append, self._unfolded_keys, tree.documents[0].columns.ends
        row, end = key + 1, tree.end_row(key)
        while row < end:
            append(row)
            row = row + 1 if row in unfolded else ends[row]
        return lines

    def _descend(self, keys: Iterator[Key]) -> array[Key]:
        lines = array("Q")
        unfolded = self._unfolded_keys
        pending = [keys]
        while pending:
            for key in pending[-1]:
                lines.append(key)
                if key in unfolded:
                    pending.append(self.tree.children(key))
                    break
            else:
                pending.pop()
        return lines

    def _is_unfolded(self, key: Key) -> bool:
        return key in self._unfolded_keys

    def _find_unfolded(self) -> set[Key]:
        """Return the keys of the nodes that show their children; the title always does."""
        keys = {self.tree.find(section_id) for section_id in self.unfolded}
        return {key for key in (*keys, self.tree.title) if key is not None}

    def _note_changes(self, changed: frozenset[str]) -> None:
        for section_id in changed:
            key = self.tree.find(section_id)
            if key is None or key == self.tree.title:
                continue
            if section_id in self.unfolded:
                self._unfolded_keys.add(key)
            else:
                self._unfolded_keys.discard(key)


def _find_changes(before: frozenset[str], after: frozenset[str]) -> frozenset[str]:
    """Return what is in one alone; most often a few were added or taken away, which needs one look instead of two."""
    if len(after) >= len(before):
        added = after - before
        return added if len(after) - len(added) == len(before) else added | (before - after)
    removed = before - after
    return removed if len(before) - len(removed) == len(after) else removed | (after - before)
