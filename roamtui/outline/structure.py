"""Make the parts of an outline: entries for nodes, and ranges of many nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct

from roamtui.document.library import Library
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.outline.labels import PLAIN_PATH_STEP, format_node_and_heading, format_node_title, has_own_text
from roamtui.text import compute_body_start, format_count, format_tokens

LISTED_MAX = 250
"""Up to this many children of a range are listed one by one. With 64 ranges at each step, two calls lead to
any of 16,000 sections, and three to any of a million."""
_RANGE_CHILDREN_MAX = 60
"""Maximum number of children in a range. It doubles if there would be more than `_RANGES_MAX` ranges."""
_RANGES_MAX = 64
_TITLE_LENGTH_MAX = 80


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """A line of an outline: a node, or a chain of nodes in which only the last one has text."""

    node_id: str
    """Id of the first node of the chain."""
    section_id: str
    """Id with which the entry is opened: that of the last node of the chain, or, if this node is a file with
    a single title, of the section with that title."""
    name: str
    """Titles of the chain, safe to display."""
    below: tuple[str, ...]
    """Ids of the children that an outline lists below it."""


def make_entries(library: Library, node_ids: Iterable[str]) -> list[OutlineEntry]:
    """Make an entry for each node that has text in it or below it.

    A file with a single title is opened by the id of the section with that title, so that one text has one
    id. A node without own text and with a single child shares a line with that child.
    """
    entries = (_make_entry(library, node_id) for node_id in node_ids)
    return [entry for entry in entries if entry is not None]


def _make_entry(library: Library, node_id: str) -> OutlineEntry | None:
    first_id = node_id
    names: list[str] = []
    below: tuple[str, ...] = ()
    while True:
        names.append(format_node_and_heading(library.node(node_id), length_max=_TITLE_LENGTH_MAX))
        canonical = get_canonical_id(library, node_id)
        file = library.node(node_id).file if canonical != node_id else None
        node_id = canonical
        below = list_outline_children(library, canonical)
        if file is not None and file.sole_row:
            opening = file.text[: file.columns.starts[file.sole_row]]
            if opening[compute_body_start(opening) :].strip():
                below = (*file.ids[: file.sole_row], *below)
        if len(below) > 1 or not library.node(node_id).is_loaded or has_own_text(library, node_id):
            break
        if not below:
            return None
        node_id = below[0]
    return OutlineEntry(node_id=first_id, section_id=node_id, name=PLAIN_PATH_STEP.join(names), below=below)


def get_canonical_id(library: Library, node_id: str) -> str:
    """Return the id that opens a node: for a file or page with a single title, the id of its section."""
    file = library.node(node_id).file
    return node_id if file is None or file.sole_row is None else file.ids[file.sole_row]


def list_roots(library: Library) -> tuple[str, ...]:
    """List the ids at the top of the outline, without preambles that are only white space."""
    title_id = library.title_id
    roots = library.children(library.root_id)
    hidden = library.root.hidden_ids
    if title_id is None:
        return tuple(root for root in roots if root not in hidden) if hidden else roots
    preambles = tuple(root for root in roots if root != title_id and root not in hidden)
    return preambles + library.children(title_id)


def list_outline_children(library: Library, section_id: str) -> tuple[str, ...]:
    """List a node's children in an outline. Those of a file with a single title are the ones below it."""
    file = None if section_id == library.root_id else library.node(section_id).file
    if file is None:
        return library.children(section_id)
    if file.sole_row is not None:
        return file.list_children(file.sole_row)
    return file.list_children(-1)[file.lead_row_count :]  # without a preamble


class ChildRanges(Struct, frozen=True):
    """The children of a section in consecutive ranges. Each can be opened, unless there are too many."""

    library: Library
    children: tuple[str, ...]
    tokens_before: Sequence[int]
    """For each child, the tokens of the subtrees of all earlier children; then the total."""

    @classmethod
    def for_section(cls, library: Library, section_id: str) -> ChildRanges:
        """Make the ranges of the outline children of a section."""
        children = list_outline_children(library, section_id)
        if library.grafts or not children:
            tokens = (library.count_tokens(child)[1] for child in children)
            return cls(library, children, [0, *accumulate(tokens)])
        first = library.node(children[0])
        before = first.document.tokens_before
        rows = first.document.rows_by_id
        end = first.document.columns.ends[rows[children[-1]]]
        tokens_before = [before[row] - before[first.row] for row in (*map(rows.__getitem__, children), end)]
        return cls(library, children, tokens_before)

    def split(self, start: int, end: int) -> list[tuple[int, int]]:
        """Split the children from `start` up to `end` (exclusive) into at most 64 ranges."""
        size = _RANGE_CHILDREN_MAX
        tokens = WHOLE_TOKENS_MAX
        while True:
            parts: list[tuple[int, int]] = []
            position = start
            while position < end and len(parts) <= _RANGES_MAX:
                limit = self.tokens_before[position] + tokens
                fitting = bisect_right(self.tokens_before, limit, lo=position + 1, hi=end + 1) - 1
                stop = max(position + 1, min(fitting, position + size, end))
                parts.append((position, stop))
                position = stop
            if len(parts) <= _RANGES_MAX:
                return parts or [(start, end)]
            size = size * 2
            tokens = tokens * 2

    def get_bounds(self, range_numbers: tuple[int, ...]) -> tuple[int, int] | None:
        """Return the start and the (exclusive) end of a range of children, or None if there is no such range.

        The first step is the number of a range of all children, from 1. The next step is the number of a
        range within that range, and so on.
        """
        start, end = 0, len(self.children)
        for step in range_numbers:
            parts = self.split(start, end)
            if not 1 <= step <= len(parts):
                return None
            start, end = parts[step - 1]
        return start, end

    def describe(
        self, section_id: str, range_numbers: tuple[int, ...] = (), *, title_length_max: int = 50
    ) -> list[str]:
        """Render a line for each part of a range: id, first and last title, number of sections, and size.

        For `range_numbers`, see `get_bounds`. With a `title_length_max` of 0, the titles are left out.
        """
        bounds = self.get_bounds(range_numbers)
        lines = []
        for number, (start, end) in enumerate(self.split(*bounds) if bounds is not None else (), start=1):
            ends = [self.library.node(self.children[index]) for index in dict.fromkeys((start, end - 1))]
            shown: list[str] = []
            if title_length_max:
                shown = [" … ".join(format_node_title(node, length_max=title_length_max) for node in ends)]
            count = format_count(end - start, "section")
            size = f"({count}, {format_tokens(self.tokens_before[end] - self.tokens_before[start])})"
            reference = f"{section_id}:c{'.'.join(map(str, (*range_numbers, number)))}"
            if end - start == 1:
                reference = get_canonical_id(self.library, self.children[start])
            lines.append(" ".join((f"- [{reference}]", *shown, size)))
        return lines
