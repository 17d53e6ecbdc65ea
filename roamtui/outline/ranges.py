"""Ids of parts: pages of a long section (``07f3277d:2``) and ranges of many children (``07f3277d:c2``, ``:c2.5``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.document.tokens import format_tokens
from roamtui.outline.labels import name_node
from roamtui.outline.tops import list_below

if TYPE_CHECKING:
    from roamtui.document.library import Library

LISTED_MAX = 60
"""Children that are listed one by one; more are grouped into ranges."""
_RANGES_MAX = 40
_REFERENCE = re.compile(r"([0-9a-f]{8})(?::(?:(\d{1,6})|c(\d{1,6}(?:\.\d{1,6})*)))?\Z", re.ASCII)
_AROUND = " \t\r\n[]`\"'§"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What an id in a tool call names."""

    section_id: str
    page: int | None = None
    """1-based page of its own text."""
    steps: tuple[int, ...] = ()
    """1-based range of its children, and ranges within that."""


def parse_reference(text: str) -> Reference | None:
    """Return what `text` names, None where it has not the form of an id."""
    match = _REFERENCE.match(text.strip(_AROUND).lower())
    if match is None:
        return None
    section_id, page, steps = match.groups()
    return Reference(
        section_id=section_id,
        page=int(page) if page else None,
        steps=tuple(int(step) for step in steps.split(".")) if steps else (),
    )


def split_range(start: int, end: int) -> list[tuple[int, int]]:
    """Return equal parts of `start` to `end` (excluded), in order; a single one where all can be listed."""
    count = end - start
    if count <= LISTED_MAX:
        return [(start, end)]
    size = -(-count // min(_RANGES_MAX, -(-count // LISTED_MAX)))
    return [(low, min(end, low + size)) for low in range(start, end, size)]


def find_range(count: int, steps: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the first and the last index (excluded) of a range among `count` children, None where there is none."""
    start, end = 0, count
    for step in steps:
        parts = split_range(start, end)
        if not 1 <= step <= len(parts):
            return None
        start, end = parts[step - 1]
    return start, end


def name_parts(section_id: str, bounds: tuple[int, int], steps: tuple[int, ...] = ()) -> list[str]:
    """Return the id of each part of a range of children, in order."""
    return [
        f"{section_id}:c{'.'.join(map(str, (*steps, number)))}" for number in range(1, len(split_range(*bounds)) + 1)
    ]


def list_ranges(
    library: Library,
    section_id: str,
    steps: tuple[int, ...] = (),
    *,
    title_length_max: int = 50,
    children: tuple[str, ...] | None = None,
) -> list[str]:
    """Return a line for each part of a range of children: id, first and last title, number, size.

    Args:
        library: Holds the section.
        section_id: The section whose children are listed.
        steps: The range of them.
        title_length_max: Characters of each of the two titles; 0 leaves them out.
        children: Those of the section, where they are at hand.
    """
    children = list_below(library, section_id) if children is None else children
    bounds = find_range(len(children), steps)
    if bounds is None:
        return []
    lines = []
    parts = zip(name_parts(section_id, bounds, steps), split_range(*bounds), strict=True)
    for reference, (start, end) in parts:
        first, last = (library.heading(children[index]) for index in (start, end - 1))
        size = f"({end - start} sections, ~{format_tokens(_count_tokens(library, children[start:end]))} tok)"
        names = [name_node(node, length_max=title_length_max) for node in (first, last)] if title_length_max else []
        lines.append(" ".join((f"- [{reference}]", *([" … ".join(names)] if names else []), size)))
    return lines


def _count_tokens(library: Library, section_ids: tuple[str, ...]) -> int:
    """Return the tokens of neighbours and all below them."""
    if library.grafts:
        return sum(library.node(section_id).tokens for section_id in section_ids)
    document, first_row = library.locate(section_ids[0])
    _, last_row = library.locate(section_ids[-1])
    sums = document.tokens_before
    return sums[document.columns.ends[last_row]] - sums[first_row]
