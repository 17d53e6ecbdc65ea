"""What stands around the text of a block: parts that are not repeated or not given, and subsections.

Nothing is left out without a line that says so and names the ids that give it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from roamtui.document.node import Node, NodeKind, Span
from roamtui.outline.labels import describe_size_briefly, is_blank, name_node, name_shown
from roamtui.outline.pages import split_pages
from roamtui.outline.ranges import LISTED_MAX, list_ranges, name_parts
from roamtui.outline.scent import make_scent
from roamtui.outline.spans import Bounds, subtract_bounds
from roamtui.outline.tops import list_below, list_head

if TYPE_CHECKING:
    from roamtui.document.library import Library

_STUB_SCENT_LENGTH = 200
_NAMED_MAX = 30

Delivered = Mapping[str, Sequence[Bounds]]
"""Ranges of characters that the model has, by document key."""


def name_gap(library: Library, gap: Span, delivered: Delivered) -> list[str]:
    """Return a line for each part of a gap between texts: what stands above, and what is given nowhere."""
    missing = subtract_bounds(gap.start, gap.end, delivered.get(gap.doc, ()))
    parts = [(start, end, True) for start, end in subtract_bounds(gap.start, gap.end, missing)]
    lines = []
    for start, end, is_given in sorted([*parts, *((start, end, False) for start, end in missing)]):
        part = Span(doc=gap.doc, start=start, end=end)
        if library.text_at(part).strip():
            first, last = library.lines_of(part)
            names = "; ".join(_name_parts_of(library, part, is_given=is_given))
            state = "given above already" if is_given else "not given here, open it by its id"
            lines.append(f"(lines {first}-{last}, {names}: {state})")
    return lines


def _name_parts_of(library: Library, part: Span, *, is_given: bool) -> list[str]:
    """Return ids and titles of the sections that a range of text touches; of a long one those of its pages."""
    document = library.document(part.doc)
    starts = document.columns.starts
    first = bisect_right(starts, part.start) - 1
    rows = list(takewhile(lambda row: starts[row] < part.end, range(first, len(document.columns))))
    if len(rows) == 1 and not is_given:
        section_id = document.ids[rows[0]]
        offset = starts[rows[0]]
        pages = enumerate(split_pages(library.own_text(section_id)), start=1)
        inside = [n for n, (low, high) in pages if offset + low < part.end and offset + high > part.start]
        if max(inside) > 1:
            return [f"[{section_id}:{number}]" for number in inside]
    named = [f"[{document.ids[row]}] {name_node(library.heading(document.ids[row]))}" for row in rows[:_NAMED_MAX]]
    return [*named, f"+{len(rows) - _NAMED_MAX} more"] if len(rows) > _NAMED_MAX else named


def list_subsections(library: Library, node: Node, wanted: Span, given: Delivered) -> list[str]:
    """Return what stands below a node: what the block itself shows, what stands above, and stubs of the rest."""
    own = library.shown_own_span(node.id)
    head = list_head(library, node.id)
    is_first = wanted.start == own.start and wanted.end <= own.end
    held = [f"Its text is that of {name_sections(library, node.id, head)}"] if head and is_first else []
    return held + _list_below(library, node, wanted, given)


def _list_below(library: Library, node: Node, wanted: Span, given: Delivered) -> list[str]:
    children = list_below(library, node.id)
    if not children:
        return []
    own = library.shown_own_span(node.id)
    if own.start < wanted.start < own.end:
        return [f"(Its subsections are listed with its first page, [{node.id}:1].)"]
    if wanted.end > own.end:
        inside = tuple(i for i in library.walk(node.id) if i != node.id and _is_own_given(library, i, given))
        links = tuple(i for i in inside if library.heading(i).kind is NodeKind.LINK)
        sections = tuple(i for i in inside if i not in links)
        lines = [f"Includes its subsections: {name_sections(library, node.id, sections)}"] if sections else []
        return [*lines, f"Pages, each opened by its id: {name_sections(library, node.id, links)}"] if links else lines
    if len(children) > LISTED_MAX:
        return [f"Subsections ({len(children)}, collapsed, by ranges):", *list_ranges(library, node.id)]
    open_ids = tuple(child for child in children if _is_given(library, child, given))
    closed = [child for child in children if child not in open_ids]
    lines = ["Subsections (collapsed):", *(make_stub(library, child) for child in closed)] if closed else []
    if open_ids:
        lines.append(f"Subsections given above already: {name_sections(library, node.id, open_ids)}")
    return lines


def _is_own_given(library: Library, section_id: str, given: Delivered) -> bool:
    span = library.own_span(section_id)
    return not subtract_bounds(span.start, span.end, given.get(span.doc, ()))


def _is_given(library: Library, section_id: str, given: Delivered) -> bool:
    """Return whether the model has the whole text of a section's subtree."""
    span = library.shown_span(section_id)
    below = (i for i in library.walk(section_id) if i != section_id)
    if library.grafts and any(library.own_span(i).doc != span.doc for i in below):
        return False
    return not subtract_bounds(span.start, span.end, given.get(span.doc, ()))


def name_sections(library: Library, parent_id: str, section_ids: Sequence[str]) -> str:
    """Return ids and titles on one line; past the limit, the ids that list the rest of the parent's children."""
    named = [f"[{i}] {name_node(library.heading(i), length_max=60)}" for i in section_ids[:_NAMED_MAX]]
    if len(section_ids) > _NAMED_MAX:
        parts = name_parts(parent_id, (0, len(list_below(library, parent_id))))
        named.append(f"+{len(section_ids) - _NAMED_MAX} more, listed by {' '.join(f'[{part}]' for part in parts)}")
    return "; ".join(named)


def make_stub(library: Library, section_id: str) -> str:
    """Return one line for a collapsed section: id, title, size, scent."""
    node = library.node(section_id)
    size = "empty" if is_blank(library, section_id) else describe_size_briefly(node)
    scent = make_scent(library, node, length_max=_STUB_SCENT_LENGTH)
    return f"- [{section_id}] {name_shown(library, node)} ({size})" + (f": {scent}" if scent else "")
