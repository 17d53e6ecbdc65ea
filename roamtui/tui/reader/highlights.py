"""Maps source positions to shown lines, to highlight quotes and matches, and maps a selection back to the source.

Shown lines have no Markdown syntax, so a quote is found in them by its words, as in the check of an answer. Independent
of the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct, field

from roamtui.document.document import Document
from roamtui.document.node import Span
from roamtui.markdown.lines import Line
from roamtui.quotes.find import find_quote, widen_to_numbers
from roamtui.tui.finder import match_ranges
from roamtui.tui.reader.lazy_lines import LazyLines, LinePosition
from roamtui.tui.reader.line_styles import HighlightKind


class LineSpan(NamedTuple):
    """The characters from `start` to `end` on line `line` of a chunk."""

    line: int
    start: int
    end: int


class Highlights(Struct):
    """The words of a quote and the search matches to highlight. Their positions are computed chunk by chunk."""

    quote: tuple[Span, ...] = ()
    """Spans of the quote, in order. There are several if only parts of it are in the text."""
    words: tuple[str, ...] = ()
    """Search words. All their matches are highlighted."""
    current_match: int | None = None
    """Offset in the document of the current match."""
    _by_chunk: dict[int, list[tuple[LineSpan, HighlightKind]]] = field(default_factory=dict)

    def forget_lines(self) -> None:
        """Clear the computed positions after lines have changed."""
        self._by_chunk.clear()

    def get_line_highlights(self, lines: LazyLines, position: LinePosition) -> list[tuple[LineSpan, HighlightKind]]:
        """Return the highlighted spans of a line and their kinds."""
        if not (self.quote or self.words):
            return []
        chunk = position.chunk
        if chunk not in self._by_chunk:
            self._by_chunk[chunk] = list(self._highlight(lines.get_chunk_lines(chunk).lines, lines.document.text))
        return [(span, kind) for span, kind in self._by_chunk[chunk] if span.line == position.line]

    def _highlight(self, lines: Sequence[Line], text: str) -> Iterator[tuple[LineSpan, HighlightKind]]:
        for quoted in self.quote:
            for span in locate_span(lines, text, quoted.start, quoted.end):
                yield span, HighlightKind.QUOTE
        matches = locate_words(lines, self.words)
        for match in matches:
            for span in match:
                yield span, HighlightKind.MATCH
        offset = -1 if self.current_match is None else self.current_match
        in_block = [
            match for match in matches if lines[match[0].line].block_start <= offset < lines[match[0].line].block_end
        ]
        if in_block:  # the n-th match of a block in the source is the n-th one shown
            ordinal = len(match_ranges(text[lines[in_block[0][0].line].block_start : offset], self.words))
            for span in in_block[min(ordinal, len(in_block) - 1)]:
                yield span, HighlightKind.CURRENT_MATCH


class _Block(NamedTuple):
    """A block's text joined to one line. `origins` has the line and column of each character, None for added spaces."""

    source: Line
    text: str
    origins: list[tuple[int, int] | None]

    def to_line_spans(self, start: int, end: int) -> list[LineSpan]:
        """Return the line spans of some characters of the joined text."""
        spans = []
        for line, group in groupby(filter(None, self.origins[start:end]), key=lambda origin: origin[0]):
            columns = [column for _, column in group]
            spans.append(LineSpan(line, columns[0], columns[-1] + 1))
        return spans


def _join_blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    for _, group in groupby(enumerate(lines), key=lambda pair: pair[1].block_number):
        numbered = list(group)
        origins: list[tuple[int, int] | None] = []
        for number, line in numbered:
            if origins:
                origins.append(None)
            origins.extend((number, column) for column in range(line.prefix_length, len(line.text.rstrip())))
        text = " ".join(line.text[line.prefix_length :].rstrip() for _, line in numbered)
        yield _Block(numbered[0][1], text, origins)


def locate_span(lines: Sequence[Line], text: str, start: int, end: int) -> list[LineSpan]:
    """Return the spans that show `text[start:end]` in `lines`, which are all lines of a chunk."""
    spans: list[LineSpan] = []
    for block in _join_blocks(lines):
        low, high = max(start, block.source.block_start), min(end, block.source.block_end)
        quote = text[low:high]
        if any(character.isalnum() for character in quote):
            spans += block.to_line_spans(*_locate_quote(block.text, text[block.source.block_start : low], quote))
    return spans


def _locate_quote(shown: str, before: str, quote: str) -> tuple[int, int]:
    """Return the range of a quote in the shown text of a block. If the quote is not found, return the whole block.

    `before` is the source text of the block before the quote.
    """
    shown = shown.replace("│", " ")
    whole, head = find_quote(before + quote, shown), find_quote(before, shown)
    if whole is None or (head is None and before.strip()):
        whole, head = find_quote(quote, shown), None
    if whole is None:
        return 0, len(shown)
    start, end = head[1] if head else whole[0], whole[1]
    while start < end and not shown[start].isalnum():
        start += 1
    while start < end and not shown[end - 1].isalnum():
        end -= 1
    return start, end


def locate_words(lines: Sequence[Line], words: Sequence[str]) -> list[list[LineSpan]]:
    """Find `words` in the lines of a chunk, ignoring case.

    Each match is a list of spans, because it may continue on the next line of its block.
    """
    blocks = _join_blocks(lines) if words else ()
    return [block.to_line_spans(start, end) for block in blocks for start, end in match_ranges(block.text, words)]


class SelectedText(NamedTuple):
    """The selected part of a line."""

    line: Line
    start: int
    end: int
    """Column after the last selected character."""

    @property
    def text(self) -> str:
        """The selected characters."""
        return self.line.text[self.start : self.end]


def list_selected_lines(lines: LazyLines, start: tuple[int, int], end: tuple[int, int]) -> list[SelectedText]:
    """List the selected part of each line between two (column, line) positions, without page marks and pictures."""
    selected: list[SelectedText] = []
    for y in range(start[1], min(end[1] + 1, len(lines))):
        found = lines.get_line(y)
        if found and not found.line.is_page_mark and found.line.picture is None:
            line = found.line
            first = start[0] if y == start[1] else 0
            last = end[0] if y == end[1] else len(line.text)
            selected.append(SelectedText(line, first, last))
    return selected


def compute_selection_span(selected: Sequence[SelectedText], document: Document) -> Span | None:
    """Return the source span of selected text, extended to whole words and numbers, or None if no text is selected.

    If the shown text differs from the source, as in a table, the span covers whole rows or paragraphs.
    """
    selected = [part for part in selected if part.text.strip()]
    if not selected:
        return None
    first, last = selected[0].line, selected[-1].line
    block = document.text[first.block_start : last.block_end]
    cuts = [[max(part.start, part.line.prefix_length), min(part.end, len(part.line.text))] for part in selected]
    while cuts[0][0] > first.prefix_length and first.text[cuts[0][0] - 1 : cuts[0][0] + 1].isalnum():
        cuts[0][0] -= 1
    while cuts[-1][1] < len(last.text) and last.text[cuts[-1][1] - 1 : cuts[-1][1] + 1].isalnum():
        cuts[-1][1] += 1
    cuts[0][0] = max(first.prefix_length, widen_to_numbers(first.text, *cuts[0])[0])
    cuts[-1][1] = widen_to_numbers(last.text, *cuts[-1])[1]
    words = " ".join(part.line.text[slice(*cut)] for part, cut in zip(selected, cuts, strict=True))
    match = find_quote(words, block)
    if match is not None:
        return Span(doc=document.key, start=first.block_start + match[0], end=first.block_start + match[1])
    return Span(
        doc=document.key, start=last.block_end - len(block.lstrip()), end=first.block_start + len(block.rstrip())
    )
