"""Goes from link to link through lazily laid out lines. Knows no screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

if TYPE_CHECKING:
    from roamtui.tui.reader.lazy_lines import LazyLines
    from roamtui.tui.reader.line import Line

_CHUNKS_MAX = 200
"""Chunks without a link that are looked through; a longer gap ends the walk."""


class LinkPlace(NamedTuple):
    """A link by its chunk and its number there."""

    chunk: int
    number: int


def find_link(lines: LazyLines, current: LinkPlace | None, direction: int, view: range) -> LinkPlace | None:
    """Return the link after (1) or before (-1) the current one; None where there is none near.

    Where the current one is out of view, the walk begins at the edge of the view.
    """
    if not lines.chunks:
        return None
    if current is not None and find_link_line(lines, current) in view:
        start = current
    elif direction > 0:
        start = _find_edge(lines, view.start, direction)
    else:
        start = _find_edge(lines, view.stop - 1, direction)
    chunk = start.chunk
    for _ in range(_CHUNKS_MAX):
        if not 0 <= chunk < len(lines.chunks):
            return None
        numbers = [n for n in _list_links(lines, chunk) if chunk != start.chunk or (n - start.number) * direction > 0]
        if numbers:
            return LinkPlace(chunk, min(numbers) if direction > 0 else max(numbers))
        chunk += direction
    return None


def find_link_line(lines: LazyLines, place: LinkPlace) -> int:
    """Return the number of the line where a link begins."""
    for number, line in enumerate(lines.read(place.chunk).lines):
        if any(run.look.link == place.number for run in line.runs):
            return lines.top(place.chunk) + number
    return lines.top(place.chunk)


def find_link_at(line: Line, cell: int) -> int | None:
    """Return the number of the link under a cell of a line, None where there is none."""
    position = 0
    for run in line.runs:
        position += cell_len(run.text)
        if cell < position:
            return run.look.link
    return None


def _find_edge(lines: LazyLines, y: int, direction: int) -> LinkPlace:
    """Return a place just before (1) or after (-1) the links of line `y`."""
    place = lines.locate(y)
    before = [
        run.look.link
        for line in lines.read(place.chunk).lines[: place.line + (direction < 0)]
        for run in line.runs
        if run.look.link is not None
    ]
    last = max(before, default=-1)
    return LinkPlace(place.chunk, last if direction > 0 else last + 1)


def _list_links(lines: LazyLines, chunk: int) -> set[int]:
    text, span = lines.reader.document.text, lines.chunks[chunk]
    if text.find("[", span.start, span.end) < 0 and text.find("<", span.start, span.end) < 0:
        return set()
    return {run.look.link for line in lines.read(chunk).lines for run in line.runs if run.look.link is not None}
