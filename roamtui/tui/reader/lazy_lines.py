"""`LazyLines`: a long text as numbered lines, of which only what was looked at has been laid out. Knows no screen.

Until a chunk is looked at, its number of lines is a guess. Looking at it corrects the guess, and moves what follows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from roamtui.tui.reader.line import Line, measure_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.tui.reader.chunk_lines import ChunkLines, ChunkReader
    from roamtui.tui.reader.chunks import Chunk

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

    def _find_tops(self) -> list[int]:
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0))
        return self._tops
