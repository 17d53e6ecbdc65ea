"""Where characters of the source stand on shown lines, to mark quotes and matches, and where selected ones stand in it.

Marks of Markdown are gone from shown lines, so quotes are looked up there as they are in an answer. Knows no screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from roamtui.agent.numbers import widen_to_numbers
from roamtui.agent.quotes import find_quoted_words
from roamtui.document.document import Document
from roamtui.document.node import Span
from roamtui.document.text import DocumentText
from roamtui.tui.markdown.line import Line
from roamtui.tui.reader.lazy_lines import LazyLines, LinePosition
from roamtui.tui.reader.line_styles import HighlightKind
from roamtui.tui.text_search import match_ranges


class LineSpan(NamedTuple):
    """Characters `start` to `end` of line number `line` of a chunk."""

    line: int
    start: int
    end: int


@dataclass(slots=True)
class Highlights:
    """A quote and a search, and where they show; worked out chunk by chunk."""

    quote: Span | None = None
    words: tuple[str, ...] = ()
    """What was searched for, each marked wherever it stands."""
    current_match: int | None = None
    """Offset in the document of the match that was gone to."""
    _by_chunk: dict[int, list[tuple[LineSpan, HighlightKind]]] = field(default_factory=dict)

    def forget_lines(self) -> None:
        """Forget where things show, since lines have changed."""
        self._by_chunk.clear()

    def highlight_line(self, lines: LazyLines, place: LinePosition) -> list[tuple[LineSpan, HighlightKind]]:
        """Return what is marked in a line, and how."""
        if self.quote is None and not self.words:
            return []
        if place.chunk not in self._by_chunk:
            self._by_chunk[place.chunk] = list(
                self._highlight(lines.get_chunk_lines(place.chunk).lines, lines.document.text)
            )
        return [(stretch, overlay) for stretch, overlay in self._by_chunk[place.chunk] if stretch.line == place.line]

    def _highlight(self, lines: Sequence[Line], text: DocumentText) -> Iterator[tuple[LineSpan, HighlightKind]]:
        """Yield what is marked in the lines of a chunk."""
        if self.quote is not None:
            for stretch in highlight_span(lines, text, self.quote.start, self.quote.end):
                yield stretch, HighlightKind.QUOTE
        found = locate_words(lines, self.words)
        for match in found:
            for stretch in match:
                yield stretch, HighlightKind.MATCH
        offset = -1 if self.current_match is None else self.current_match
        in_block = [match for match in found if lines[match[0].line].start <= offset < lines[match[0].line].end]
        if in_block:  # the same one of its block as it is in the source
            ordinal = len(match_ranges(text[lines[in_block[0][0].line].start : offset], self.words))
            for stretch in in_block[min(ordinal, len(in_block) - 1)]:
                yield stretch, HighlightKind.CURRENT_MATCH


class _Block(NamedTuple):
    """The text of a block on one line, and for each character its line and place there, None for what joins lines."""

    source: Line
    text: str
    places: list[tuple[int, int] | None]

    def to_line_spans(self, start: int, end: int) -> list[LineSpan]:
        """Return where characters of the text stand."""
        places = [place for place in self.places[start:end] if place]
        return [
            LineSpan(line, columns[0], columns[-1] + 1)
            for line, group in groupby(places, key=lambda place: place[0])
            for columns in [[column for _, column in group]]
        ]


def _join_blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    for _, group in groupby(enumerate(lines), key=lambda pair: pair[1].block):
        numbered = list(group)
        places: list[tuple[int, int] | None] = []
        for number, line in numbered:
            if places:
                places.append(None)
            end = len(line.text.rstrip())
            places.extend((number, column) for column in range(line.prefix_length, end))
        text = " ".join(line.text[line.prefix_length :].rstrip() for _, line in numbered)
        yield _Block(numbered[0][1], text, places)


def highlight_span(lines: Sequence[Line], text: DocumentText, start: int, end: int) -> list[LineSpan]:
    """Return what to mark in the lines of a chunk for `text[start:end]`.

    Args:
        lines: All lines of the chunk.
        text: The document's text, that offsets of lines are of.
        start: Offset where the stretch begins.
        end: Offset after it.
    """
    marked: list[LineSpan] = []
    for block in _join_blocks(lines):
        low, high = max(start, block.source.start), min(end, block.source.end)
        quote = text[low:high]
        if any(character.isalnum() for character in quote):
            marked += block.to_line_spans(*_locate_quote(block.text, text[block.source.start : low], quote))
    return marked


def _locate_quote(shown: str, before: str, quote: str) -> tuple[int, int]:
    """Return where the words of a quote stand in the shown text of a block: after what comes before; all if unknown."""
    shown = shown.replace("│", " ")
    whole, head = find_quoted_words(before + quote, shown), find_quoted_words(before, shown)
    if whole is None or (head is None and before.strip()):
        whole, head = find_quoted_words(quote, shown), None
    if whole is None:
        return 0, len(shown)
    start, end = head.end if head else whole.start, whole.end
    while start < end and not shown[start].isalnum():
        start += 1
    while start < end and not shown[end - 1].isalnum():
        end -= 1
    return start, end


def locate_words(lines: Sequence[Line], words: Sequence[str]) -> list[list[LineSpan]]:
    """Return where `words` stand in the lines of a chunk, whatever their case.

    Each place is a list, since a place may go on from one line of a block to the next.
    """
    blocks = _join_blocks(lines) if words else ()
    return [block.to_line_spans(start, end) for block in blocks for start, end in match_ranges(block.text, words)]


class SelectedText(NamedTuple):
    """What is selected of a line."""

    line: Line
    start: int
    end: int
    """Character after the last one."""

    @property
    def text(self) -> str:
        """What it shows."""
        return self.line.text[self.start : self.end]


def list_selected_lines(lines: LazyLines, start: tuple[int, int], end: tuple[int, int]) -> list[SelectedText]:
    """Return what is selected of each line, from and to a column and a line, without marks of pages."""
    selected: list[SelectedText] = []
    for y in range(start[1], min(end[1] + 1, len(lines))):
        found = lines.line_at(y)
        if found and not found[1].is_page_mark:
            line = found[1]
            selected.append(
                SelectedText(line, start[0] if y == start[1] else 0, end[0] if y == end[1] else len(line.text))
            )
    return selected


def compute_selection_span(selected: Sequence[SelectedText], document: Document) -> Span | None:
    """Return where selected text stands, words and numbers at its ends whole; None where no text is.

    Of what is shown otherwise than it is written, such as a table, these are whole rows or paragraphs.
    """
    selected = [one for one in selected if one.text.strip()]
    if not selected:
        return None
    first, last = selected[0].line, selected[-1].line
    block = document.text[first.start : last.end]
    cuts = [[max(one.start, one.line.prefix_length), min(one.end, len(one.line.text))] for one in selected]
    while cuts[0][0] > first.prefix_length and first.text[cuts[0][0] - 1 : cuts[0][0] + 1].isalnum():
        cuts[0][0] -= 1
    while cuts[-1][1] < len(last.text) and last.text[cuts[-1][1] - 1 : cuts[-1][1] + 1].isalnum():
        cuts[-1][1] += 1
    cuts[0][0] = max(first.prefix_length, widen_to_numbers(first.text, *cuts[0])[0])
    cuts[-1][1] = widen_to_numbers(last.text, *cuts[-1])[1]
    words = " ".join(one.line.text[slice(*cut)] for one, cut in zip(selected, cuts, strict=True))
    match = find_quoted_words(words, block)
    if match is not None:
        return Span(doc=document.key, start=first.start + match.start, end=first.start + match.end)
    return Span(doc=document.key, start=last.end - len(block.lstrip()), end=first.start + len(block.rstrip()))
