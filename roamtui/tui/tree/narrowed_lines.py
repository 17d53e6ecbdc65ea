"""Which lines a tree shows that is narrowed to some nodes: these and what is above them, in order. Knows no screen."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from roamtui.tui.tree.display_tree import split_key
from roamtui.tui.tree.title_filter import SLICE, Steps

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from roamtui.tui.tree.display_tree import DisplayTree, Key, Rank


def list_narrowed(tree: DisplayTree, matches: Sequence[Key]) -> Steps[array[Key]]:
    """Return, in slices of work, the keys of `matches` and of the nodes above them in the order of the tree.

    Args:
        tree: What they are nodes of.
        matches: In ascending order.
    """
    rows_by_slot = _part_by_document(tree, matches)
    hosts: dict[int, list[int]] = {}
    blocks: dict[int, array[Key]] = {}
    for slot in range(len(tree.documents) - 1, -1, -1):  # a host stands in a document before those it holds
        rows = rows_by_slot.get(slot, ())
        if slot in hosts:
            rows = sorted({*rows, *hosts[slot]})
        host = tree.host_of(slot) if rows else None
        if host is not None:
            host_slot, host_row = split_key(host)
            hosts.setdefault(host_slot, []).append(host_row)
        blocks[slot] = yield from _list_block(tree, slot, rows)
    return _join_blocks(tree, blocks, hosts) if hosts else blocks[0]


def _part_by_document(tree: DisplayTree, keys: Sequence[Key]) -> dict[int, Sequence[int]]:
    """Return the rows of ascending keys by the place of their document."""
    rows_by_slot: dict[int, Sequence[int]] = {}
    start = 0
    while start < len(keys):
        slot = split_key(keys[start])[0]
        end = bisect_left(keys, tree.key_at(slot + 1, 0), start)
        rows = keys[start:end]
        rows_by_slot[slot] = array("Q", (split_key(key)[1] for key in rows)) if slot else rows
        start = end
    return rows_by_slot


def _list_block(tree: DisplayTree, slot: int, rows: Sequence[int]) -> Steps[array[Key]]:
    """Return the keys of rows of one document with all above them in that document."""
    lines = yield from _add_ancestors(tree.documents[slot].columns.parents, rows)
    if slot:  # a row of the first document is its own key
        return array("Q", (tree.key_at(slot, row) for row in lines))
    title = tree.title
    if title is None or not lines or lines[0] >= title:
        return lines
    moved = array("Q", (row for row in lines if row < title))
    rest = array("Q", (row for row in lines if row > title))
    return array("Q", [title]) + moved + rest


def _add_ancestors(parents: Sequence[int], rows: Sequence[int]) -> Steps[array[int]]:
    """Return ascending rows with the rows above them.

    What is above a row and not after the row before it is above that one too: it is there already.
    """
    lines = array("Q")
    last = -1
    for start in range(0, len(rows), SLICE):
        for row in rows[start : start + SLICE]:
            parent = parents[row]
            if parent > last:
                above = []
                while parent > last:
                    above.append(parent)
                    parent = parents[parent]
                lines.extend(reversed(above))
            lines.append(row)
            last = row
        yield
    return lines


def _join_blocks(tree: DisplayTree, blocks: dict[int, array[Key]], hosts: Container[int]) -> array[Key]:
    """Return the lines of several documents in order: one that holds no other is never parted."""
    pieces: list[tuple[Rank, array[Key]]] = []
    for slot, block in blocks.items():
        if slot in hosts:
            pieces += [(tree.rank(key), array("Q", [key])) for key in block]
        elif block:
            pieces.append((tree.rank(block[0]), block))
    pieces.sort(key=lambda piece: piece[0])
    joined = array("Q")
    for _, piece in pieces:
        joined.extend(piece)
    return joined
