"""`Caret`: selects words by keyboard, by word, line and paragraph."""

from __future__ import annotations

import re
from typing import NamedTuple

from textual.geometry import Offset
from textual.selection import Selection

from roamtui.document.markdown.line_parts import WIDE_CHARACTERS
from roamtui.tui.reader.lazy_lines import LazyLines, LinePosition

_WORD = re.compile(rf"[{WIDE_CHARACTERS}]|(?:(?![\u2500-\u257f])[^\s{WIDE_CHARACTERS}])+")
"""A word, or a character of a script without spaces. The lines between the cells of a table are not words."""
_WORDLESS_LINES_MAX = 1_000
"""The search for the next line with words ends after this many lines without one."""
_MARGIN = 3
"""Lines kept between the caret and the edge of the view when it scrolls."""


class WordPosition(NamedTuple):
    """A word in a line. Its position does not change when the number of lines above is corrected."""

    line: LinePosition
    start: int
    end: int


class Caret:
    """A word that moves through the lines. Once a start is set, all words from there to the caret are selected."""

    def __init__(self, lines: LazyLines, word: WordPosition) -> None:
        self._lines = lines
        self._word = word
        self._start: WordPosition | None = None

    @property
    def selection(self) -> Selection:
        """The selected words."""
        start = self._start or self._word
        first, last = min(start, self._word), max(start, self._word)
        return Selection(Offset(first.start, self._get_y(first)), Offset(last.end, self._get_y(last)))

    def fit_view(self, top: int, bottom: int) -> int | None:
        """Return the line to scroll to the top so that the caret is in view, or None if it is in view already.

        The lines from `top` up to `bottom` (exclusive) are in view.
        """
        y, margin = self._get_y(self._word), min(_MARGIN, (bottom - top) // 2)
        if top <= y < bottom:
            return None
        return y - margin if y < top else y + 1 + margin - (bottom - top)

    def _get_y(self, word: WordPosition) -> int:
        return self._lines.get_top(word.line.chunk) + word.line.line

    def toggle_start(self) -> bool:
        """Set the start of the selection at the caret, or unset it. Return whether it is set now."""
        self._start = self._word if self._start is None else None
        return self._start is not None

    def move_words(self, direction: int) -> None:
        """Move to the next (1) or previous (-1) word."""
        self._word = self._get_adjacent(self._word, direction) or self._word

    def move_lines(self, count: int) -> None:
        """Move down by `count` lines that have words, or up if negative."""
        column = self._word.start
        words: list[WordPosition] = []
        for _ in range(abs(count)):
            line = words[0].line if words else self._word.line
            words = _find_words(self._lines, line, 1 if count > 0 else -1) or words
        if words:
            self._word = next((word for word in words if word.end > column), words[-1])

    def move_paragraphs(self, direction: int) -> None:
        """Move to the start of the next paragraph (1), or to the start of this one or else the previous one (-1).

        If the start of the selection is set, 1 moves to the end of this paragraph, or else of the next one.
        """
        if direction > 0 and self._start is None:
            first = self._word
            while (word := self._get_adjacent(self._word, 1)) is not None:
                self._word = word
                if not self._is_in_same_block(word, first):
                    return
            self._word = first
        else:
            self.move_words(direction)
            while (word := self._get_adjacent(self._word, direction)) and self._is_in_same_block(word, self._word):
                self._word = word

    def _get_adjacent(self, word: WordPosition, direction: int) -> WordPosition | None:
        words = _list_words(self._lines, word.line)
        index = words.index(word) + direction
        if not 0 <= index < len(words):
            words, index = _find_words(self._lines, word.line, direction), 0 if direction > 0 else -1
        return words[index] if words else None

    def _is_in_same_block(self, word: WordPosition, other: WordPosition) -> bool:
        lines = self._lines.get_chunk_lines(word.line.chunk).lines
        is_same_chunk = word.line.chunk == other.line.chunk
        return is_same_chunk and lines[word.line.line].block_number == lines[other.line.line].block_number


def make_caret(lines: LazyLines, y: int) -> Caret | None:
    """Return a caret on the first word from line `y` on, or None if there is none nearby."""
    if not lines.chunks:
        return None
    position = lines.locate(y)
    words = _list_words(lines, position) or _find_words(lines, position, 1)
    return Caret(lines, words[0]) if words else None


def _list_words(lines: LazyLines, position: LinePosition) -> list[WordPosition]:
    """List the words of a line that are from the document."""
    chunk_lines = lines.get_chunk_lines(position.chunk).lines
    if position.line >= len(chunk_lines):
        return []
    line = chunk_lines[position.line]
    return [WordPosition(position, *found.span()) for found in _WORD.finditer(line.text, line.prefix_length)]


def _find_words(lines: LazyLines, position: LinePosition, direction: int) -> list[WordPosition]:
    """List the words of the nearest line below (1) or above (-1) that has words. Empty if there is none nearby."""
    chunk, line = position
    for _ in range(_WORDLESS_LINES_MAX):
        line += direction
        if not 0 <= line < len(lines.get_chunk_lines(chunk).lines):
            chunk += direction
            if not 0 <= chunk < len(lines.chunks):
                break
            line = 0 if direction > 0 else len(lines.get_chunk_lines(chunk).lines) - 1
        if words := _list_words(lines, LinePosition(chunk, line)):
            return words
    return []
