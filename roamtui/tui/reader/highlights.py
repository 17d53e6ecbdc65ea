"""`Highlights`: which characters of shown lines are a quote, or a match of what is searched for. Knows no screen.

Marks of Markdown are gone from shown lines, so words are compared, not characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby

from roamtui.document.node import Span
from roamtui.document.text import DocumentText
from roamtui.tui.markdown.line import Line
from roamtui.tui.reader.lazy_lines import Place
from roamtui.tui.reader.strips import Overlay
from roamtui.tui.text_search import find_marks, fold_case

_Shown = tuple[int, int, Overlay]


@dataclass(slots=True)
class Highlights:
    """A quote and a search, and where they show; worked out chunk by chunk."""

    quote: Span | None = None
    words: tuple[str, ...] = ()
    """What was searched for, each marked wherever it stands."""
    current: int | None = None
    """Offset in the document of the match that was gone to."""
    _by_chunk: dict[int, dict[int, list[_Shown]]] = field(default_factory=dict)

    def forget_lines(self) -> None:
        """Forget where things show, since lines have changed."""
        self._by_chunk.clear()

    def highlight_line(self, place: Place, lines: Sequence[Line], text: DocumentText) -> list[_Shown]:
        """Return what is marked in a line.

        Args:
            place: The line.
            lines: All lines of its chunk.
            text: The document's text.
        """
        if self.quote is None and not self.words:
            return []
        by_line = self._by_chunk.get(place.chunk)
        if by_line is None:
            by_line = self._by_chunk[place.chunk] = self._highlight_chunk(lines, text)
        return by_line.get(place.line, [])

    def _highlight_chunk(self, lines: Sequence[Line], text: DocumentText) -> dict[int, list[_Shown]]:
        by_line: dict[int, list[_Shown]] = {}

        def add(marked: list[Highlighted], overlay: Overlay) -> None:
            for mark in marked:
                by_line.setdefault(mark.line, []).append((mark.start, mark.end, overlay))

        if self.quote is not None:
            add(highlight_span(lines, text, self.quote.start, self.quote.end), Overlay.QUOTE)
        found = find_words(lines, self.words)
        for marked in found:
            add(marked, Overlay.MATCH)
        add(self._pick_current(lines, found, text), Overlay.CURRENT_MATCH)
        return by_line

    def _pick_current(
        self, lines: Sequence[Line], found: list[list[Highlighted]], text: DocumentText
    ) -> list[Highlighted]:
        """Return the chosen match of those found in a chunk: the same one of its block as it is in the source."""
        offset = self.current
        if offset is None:
            return []
        in_block = [
            marked for marked in found if marked and lines[marked[0].line].start <= offset < lines[marked[0].line].end
        ]
        if not in_block:
            return []
        before = text[lines[in_block[0][0].line].start : offset]
        ordinal = len(find_marks(before, self.words))
        return in_block[min(ordinal, len(in_block) - 1)]


_WORD = re.compile(r"[^\W_]+")
_HIDDEN = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|&#?\w+;|<[^<>\n]*>")
"""Addresses of links, entities and tags: source that is not shown as its own words."""
_SHARED_MIN = 0.6
"""Share of a quote's words that must be found for marking words rather than the whole block."""
_WORDS_MAX = 2_000
"""Comparing more words than these out of order would be felt."""


@dataclass(frozen=True, slots=True)
class Highlighted:
    """Characters `start` to `end` of line number `line` of a chunk."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: int
    start: int
    end: int


def highlight_span(lines: Sequence[Line], text: DocumentText, start: int, end: int) -> list[Highlighted]:
    """Return what to mark in the lines of a chunk for `text[start:end]`.

    Args:
        lines: All lines of the chunk.
        text: The document's text, that offsets of lines are of.
        start: Offset where the stretch begins.
        end: Offset after it.
    """
    marked: list[Highlighted] = []
    for _, numbered in groupby(enumerate(lines), key=lambda pair: pair[1].block):
        block = list(numbered)
        first = block[0][1]
        low, high = max(start, first.start), min(end, first.end)
        if low < high:
            marked.extend(_highlight_block(block, text[first.start : low], text[low:high]))
    return marked


def find_words(lines: Sequence[Line], words: Sequence[str]) -> list[list[Highlighted]]:
    """Return where `words` stand in the lines of a chunk, whatever their case.

    Each place is a list, since a place may go on from one line of a block to the next.
    """
    if not words:
        return []
    found: list[list[Highlighted]] = []
    for _, numbered in groupby(enumerate(lines), key=lambda pair: pair[1].block):
        joined, places = _join_block(list(numbered))
        found += [_join_places(places[start:end]) for start, end in find_marks(joined, words)]
    return found


def _highlight_block(block: list[tuple[int, Line]], source_before: str, source: str) -> list[Highlighted]:
    shown = _split_words(block)
    wanted = _source_words(source)
    if not wanted:
        return []
    ordinal = _count(_source_words(source_before), wanted)
    found = _find_words(shown, wanted, ordinal)
    return (
        _highlight_between(block, *found)
        if found
        else [_highlight_whole(number, line) for number, line in block if line.runs]
    )


def _split_words(block: list[tuple[int, Line]]) -> list[_Word]:
    return [
        _Word(word[0].casefold(), number, word.start(), word.end())
        for number, line in block
        for word in _WORD.finditer(line.text, line.prefix_length)
    ]


def _source_words(source: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_HIDDEN.sub(" ", source))]


def _count(words: list[str], wanted: list[str]) -> int:
    """Return how often `wanted` stands in `words`."""
    length = len(wanted)
    return sum(words[place : place + length] == wanted for place in range(len(words) - length + 1))


def _find_words(shown: list[_Word], wanted: list[str], ordinal: int) -> tuple[_Word, _Word] | None:
    """Return the first and last of the words that `wanted` stands for, at its `ordinal`-th place (0-based)."""
    texts = [word.text for word in shown]
    length = len(wanted)
    places = [place for place in range(len(texts) - length + 1) if texts[place : place + length] == wanted]
    if places:
        place = places[min(ordinal, len(places) - 1)]
        return shown[place], shown[place + length - 1]
    if len(texts) > _WORDS_MAX or length > _WORDS_MAX:
        return None
    matches = SequenceMatcher(None, texts, wanted, autojunk=False).get_matching_blocks()[:-1]
    if sum(match.size for match in matches) < _SHARED_MIN * length:
        return None
    return shown[matches[0].a], shown[matches[-1].a + matches[-1].size - 1]


def _highlight_between(block: list[tuple[int, Line]], first: _Word, last: _Word) -> list[Highlighted]:
    marked: list[Highlighted] = []
    for number, line in block:
        if first.line <= number <= last.line and line.runs:
            whole = _highlight_whole(number, line)
            start = first.start if number == first.line else whole.start
            end = last.end if number == last.line else whole.end
            marked.append(Highlighted(number, start, end))
    return marked


def _highlight_whole(number: int, line: Line) -> Highlighted:
    return Highlighted(number, line.prefix_length, len(line.text.rstrip()))


def _join_block(block: list[tuple[int, Line]]) -> tuple[str, list[tuple[int, int] | None]]:
    """Return the text of a block in small letters on one line, and for each character its line and place there."""
    joined: list[str] = []
    places: list[tuple[int, int] | None] = []
    for number, line in block:
        if joined:
            joined.append(" ")
            places.append(None)
        shown = line.text[line.prefix_length :].rstrip()
        joined.append(fold_case(shown))
        places.extend((number, place) for place in range(line.prefix_length, line.prefix_length + len(shown)))
    return "".join(joined), places


def _join_places(places: list[tuple[int, int] | None]) -> list[Highlighted]:
    marked: list[Highlighted] = []
    for number, group in groupby((place for place in places if place), key=lambda place: place[0]):
        columns = [column for _, column in group]
        marked.append(Highlighted(number, min(columns), max(columns) + 1))
    return marked
