"""`LazyLines`: a long text as numbered lines, of which only what was looked at has been laid out. Knows no screen.

Until a chunk is looked at, its number of lines is a guess. Looking at it corrects the guess, and moves what follows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from rich.cells import cell_len

from roamtui.tui.markdown.line import Line, measure_runs
from roamtui.tui.reader.chunk_lines import ChunkLines, ChunkReader
from roamtui.tui.reader.document_view import Chunk

_KEPT_MAX = 64
"""Chunks whose lines are kept; others are laid out again when they come back into view."""


class Place(NamedTuple):
    """A line by its chunk."""

    chunk: int
    line: int


class LazyLines:
    """The lines of `chunks` as `reader` lays them out."""

    def __init__(self, chunks: Sequence[Chunk], reader: ChunkReader) -> None:
        self.chunks = chunks
        self.reader = reader
        self.width = 0
        """Cells of the longest line looked at so far."""
        self._heights = [reader.estimate_lines(chunk) for chunk in chunks]
        self._measured: set[int] = set()
        self._tops: list[int] | None = None
        self._kept: OrderedDict[int, ChunkLines] = OrderedDict()

    def __len__(self) -> int:
        """Return how many lines there are, as far as is known."""
        return self._find_tops()[-1]

    @property
    def measured_count(self) -> int:
        """How many chunks have been laid out at least once."""
        return len(self._measured)

    def read(self, chunk: int) -> ChunkLines:
        """Return the lines of a chunk; laying it out corrects its number of lines."""
        kept = self._kept.get(chunk)
        if kept is None:
            kept = self._kept[chunk] = self.reader.read(self.chunks[chunk])
            if chunk not in self._measured:
                self._measured.add(chunk)
                self._heights[chunk] = len(kept.lines)
                self._tops = None
                self.width = max(self.width, *(measure_runs(line.runs) for line in kept.lines), 0)
            if len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)
        self._kept.move_to_end(chunk)
        return kept

    def forget(self, chunk: int) -> None:
        """Lay a chunk out anew: what it shows has changed."""
        self._kept.pop(chunk, None)
        self._measured.discard(chunk)
        self.read(chunk)

    def is_measured(self, chunk: int) -> bool:
        """Return whether the number of lines of a chunk is known."""
        return chunk in self._measured

    def height(self, chunk: int) -> int:
        """Return the number of lines of a chunk, guessed or known."""
        return self._heights[chunk]

    def top(self, chunk: int) -> int:
        """Return the number of the first line of a chunk."""
        return self._find_tops()[chunk]

    def locate(self, y: int) -> Place:
        """Return which line of which chunk line `y` is; the nearest one where there is none."""
        tops = self._find_tops()
        y = max(0, min(y, tops[-1] - 1))
        chunk = max(0, min(bisect_right(tops, y) - 1, len(self.chunks) - 1))
        return Place(chunk, y - tops[chunk])

    def line_at(self, y: int) -> tuple[Place, Line] | None:
        """Return the line `y` and its place, None where there is none."""
        if not 0 <= y < len(self):
            return None
        place = self.locate(y)
        lines = self.read(place.chunk).lines
        return (place, lines[place.line]) if place.line < len(lines) else None

    def measure(self, y: int, height: int) -> None:
        """Lay out what is needed to show `height` lines from line `y`; that line itself stays where it is."""
        chunk = self.locate(y).chunk
        while chunk < len(self.chunks) and self.top(chunk) < y + height:
            if not self.is_measured(chunk):
                self.read(chunk)
            chunk += 1

    def find_chunk(self, offset: int) -> int:
        """Return the chunk that holds a character of the document; the nearest one where none does."""
        return max(0, bisect_right(self.chunks, offset, key=lambda chunk: chunk.start) - 1)

    def find_offset(self, offset: int) -> int:
        """Return the number of the line where the block of a character of the document begins."""
        if not self.chunks:
            return 0
        chunk = self.find_chunk(offset)
        lines = self.read(chunk).lines
        found = len(lines)
        for number, line in enumerate(lines):
            if line.end > offset and line.text.strip():
                found = number
                break
        return self.top(chunk) + found

    def find_start(self, offset: int) -> int:
        """Return the number of the line where a character of the document begins, or its page with it."""
        chunk = self.find_chunk(offset) if self.chunks else 0
        return self.top(chunk) if chunk and self.chunks[chunk].start == offset else self.find_offset(offset)

    def _find_tops(self) -> list[int]:
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0))
        return self._tops


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
    return find_link_start(lines, place)[0]


def find_link_start(lines: LazyLines, place: LinkPlace) -> tuple[int, int]:
    """Return the number of the line where a link begins, and its first cell there."""
    top = lines.top(place.chunk)
    for number, line in enumerate(lines.read(place.chunk).lines):
        for index, run in enumerate(line.runs):
            if run.look.link == place.number:
                return top + number, measure_runs(line.runs[:index])
    return top, 0


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
