"""`ChunkMarkings`: which characters of shown lines are a quote, or a match of what is searched for. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from roamtui.tui.reader.line_strips import Overlay
from roamtui.tui.reader.marked_words import Marked, find_pattern, mark_span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.node import Span
    from roamtui.document.text import DocumentText
    from roamtui.tui.reader.lazy_lines import Place
    from roamtui.tui.reader.line import Line

_Mark = tuple[int, int, Overlay]


@dataclass(slots=True, kw_only=True)
class ChunkMarkings:
    """A quote and a search, and where they show; worked out chunk by chunk."""

    highlight: Span | None = None
    pattern: str = ""
    matches: Sequence[int] = ()
    """Offsets in the document where the pattern stands."""
    _current: int | None = None
    _origin: int | None = None
    """Where the search for the pattern began, while it is typed letter by letter."""
    _by_chunk: dict[int, dict[int, list[_Mark]]] = field(default_factory=dict)

    @property
    def current_offset(self) -> int | None:
        """Where the chosen match stands, None where none is chosen."""
        return None if self._current is None else self.matches[self._current]

    @property
    def current_number(self) -> int:
        """Number of the chosen match, 0 where none is chosen."""
        return 0 if self._current is None else self._current + 1

    def set_pattern(self, pattern: str, matches: Sequence[int]) -> None:
        """Search for another pattern, of which the matches are known."""
        if not self.pattern or not (pattern.startswith(self.pattern) or self.pattern.startswith(pattern)):
            self._origin = None
        self.pattern, self.matches, self._current = pattern, matches, None
        self._by_chunk.clear()

    def choose_from(self, offset: int) -> bool:
        """Choose the first match from an offset on, else the first of all; return whether there is one.

        While a pattern is typed the first offset counts, so that no letter leads past what the next one means.
        """
        if self._origin is None:
            self._origin = offset
        if not self.matches:
            return False
        self._choose(bisect_left(self.matches, self._origin))
        return True

    def choose_next(self, direction: int) -> bool:
        """Choose the match after (1) or before (-1) the chosen one, round the end; return whether there is one."""
        if not self.matches:
            return False
        self._choose((-1 if self._current is None else self._current) + direction)
        return True

    def forget_lines(self) -> None:
        """Forget where things show, since lines have changed."""
        self._by_chunk.clear()

    def mark_line(self, place: Place, lines: Sequence[Line], text: DocumentText) -> list[_Mark]:
        """Return what is marked in a line.

        Args:
            place: The line.
            lines: All lines of its chunk.
            text: The document's text.
        """
        if self.highlight is None and not self.pattern:
            return []
        by_line = self._by_chunk.get(place.chunk)
        if by_line is None:
            by_line = self._by_chunk[place.chunk] = self._mark_chunk(lines, text)
        return by_line.get(place.line, [])

    def _choose(self, number: int) -> None:
        self._current = number % len(self.matches)
        self._by_chunk.clear()

    def _mark_chunk(self, lines: Sequence[Line], text: DocumentText) -> dict[int, list[_Mark]]:
        by_line: dict[int, list[_Mark]] = {}

        def add(marked: list[Marked], overlay: Overlay) -> None:
            for mark in marked:
                by_line.setdefault(mark.line, []).append((mark.start, mark.end, overlay))

        if self.highlight is not None:
            add(mark_span(lines, text, self.highlight.start, self.highlight.end), Overlay.QUOTE)
        if self.pattern:
            found = find_pattern(lines, self.pattern)
            for marked in found:
                add(marked, Overlay.MATCH)
            add(self._pick_current(lines, found), Overlay.CURRENT_MATCH)
        return by_line

    def _pick_current(self, lines: Sequence[Line], found: list[list[Marked]]) -> list[Marked]:
        """Return the chosen match of those found in a chunk: the same one of its block as it is in the source."""
        offset = self.current_offset
        if offset is None or self._current is None:
            return []
        in_block = [
            marked for marked in found if marked and lines[marked[0].line].start <= offset < lines[marked[0].line].end
        ]
        if not in_block:
            return []
        ordinal = self._current - bisect_left(self.matches, lines[in_block[0][0].line].start)
        return in_block[min(ordinal, len(in_block) - 1)]
