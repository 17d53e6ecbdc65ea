"""`LazyLines`: a document as numbered lines, laid out when they are needed. Does not use Textual.

The number of lines of a chunk is an estimate until the chunk is laid out. Correcting it moves the lines
below.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, chain
from typing import NamedTuple

from msgspec import Struct

from roamtui.document.document import Document
from roamtui.markdown.blocks import Link
from roamtui.markdown.layout import PROSE_WIDTH_MAX, MarkdownLayout
from roamtui.markdown.lines import Line, Run, RunStyle, TextRole, measure_runs
from roamtui.markdown.parser import parse_front_matter, parse_markdown
from roamtui.quotes.find import find_quote
from roamtui.quotes.words import widen_to_words
from roamtui.search.phrases import match_ranges
from roamtui.text import Span, format_page, subtract_bounds
from roamtui.tui.reader.document_view import DocumentView, TextChunk

_CACHED_CHUNKS_MAX = 64
"""Maximum number of chunks whose lines are cached. If there are more, the cache is cleared."""
_REFERENCE = re.compile(r"\](?!\()")
"""The end of a reference link. If a chunk has no match, the document is not searched for link definitions."""


class LocatedLine(NamedTuple):
    """A line and the number of its chunk."""

    chunk: int
    line: Line


class HighlightKind(StrEnum):
    """A kind of highlight. Its value is the name of the component class that styles it."""

    QUOTE = "reader--highlight"
    NEAREST = "reader--nearest"
    MATCH = "reader--match"
    CURRENT_MATCH = "reader--current-match"


class Highlight(NamedTuple):
    """A highlighted part of a document."""

    start: int
    end: int
    kind: HighlightKind


class Highlights(Struct, frozen=True):
    """A quote and the search words to highlight."""

    quote: Span | None = None
    words: tuple[str, ...] = ()
    """Search words. All their matches are highlighted."""
    current_match: int | None = None
    """The offset of the current match in the document."""
    is_nearest: bool = False
    """Whether `quote` is only the passage nearest to a quote that is not in the text."""

    def locate(self, text: str, start: int, end: int) -> list[Highlight]:
        """Return the highlights of `text[start:end]`, sorted and disjoint. A match interrupts the quote."""
        highlights: list[Highlight] = []
        for first, last in match_ranges(text[start:end], self.words):
            if not highlights or start + first >= highlights[-1].end:
                is_current = start + first == self.current_match
                kind = HighlightKind.CURRENT_MATCH if is_current else HighlightKind.MATCH
                highlights.append(Highlight(start + first, start + last, kind))
        matches = [match[:2] for match in highlights]
        if self.quote is not None:
            parts = subtract_bounds(max(self.quote.start, start), min(self.quote.end, end), matches)
            kind = HighlightKind.NEAREST if self.is_nearest else HighlightKind.QUOTE
            highlights += [Highlight(*part, kind) for part in parts]
        return sorted(highlights)


class ShownLink(NamedTuple):
    """A link, and the line and the cell where it starts."""

    link: Link
    y: int
    x: int


class ChunkLines(Struct, frozen=True, kw_only=True):
    """A chunk, laid out for a width."""

    lines: tuple[Line, ...]
    links: Sequence[Link] = ()
    """The links of the chunk, by number."""
    highlights: Sequence[Highlight] = ()
    """The highlights of the chunk. A run's `group` is an index into them."""


class LazyLines:
    """The lines of a document, laid out for a width in cells."""

    def __init__(self, view: DocumentView, width: int) -> None:
        """Estimate the heights. Lines are laid out when they are needed."""
        self.document = view.document
        self.chunks = view.cut()
        self.text_width = 0
        """Width in cells of the longest line laid out so far."""
        self._width = width
        self._highlights = Highlights()
        self.heights = [self._estimate_height(chunk) for chunk in self.chunks]
        """The number of lines of each chunk, estimated until it is laid out."""
        self._tops: list[int] | None = None
        self.cached: dict[int, ChunkLines] = {}
        """The chunks that are laid out, by number."""

    def __len__(self) -> int:
        """Return the number of lines, partly estimated."""
        return self._compute_tops()[-1]

    def get_chunk_lines(self, chunk: int) -> ChunkLines:
        """Return the lines of a chunk. Laying it out corrects its estimated height."""
        if chunk not in self.cached:
            if len(self.cached) >= _CACHED_CHUNKS_MAX:
                self.cached.clear()
            laid_out = self.cached[chunk] = self._lay_out(self.chunks[chunk])
            if len(laid_out.lines) != self.heights[chunk]:
                self.heights[chunk] = len(laid_out.lines)
                self._tops = None
            self.text_width = max(self.text_width, *(measure_runs(line.runs) for line in laid_out.lines), 0)
        return self.cached[chunk]

    def highlight(self, highlights: Highlights) -> None:
        """Change what is highlighted. The lines stay the same."""
        self._highlights = highlights
        self.cached.clear()

    def iter_highlights(self, located: LocatedLine) -> Iterator[Highlight]:
        """Yield the highlights of a line, with columns in place of offsets."""
        line = located.line
        highlights = self.get_chunk_lines(located.chunk).highlights
        column = 0
        for run in line.runs if highlights else ():
            if run.style.group is not None:
                yield Highlight(column, column + len(run.text), highlights[run.style.group].kind)
            column += len(run.text)
        if line.is_code and highlights:  # code is shown as it is, so columns are offsets
            source = self.document.text[line.block_start : line.block_end]
            shown = line.text[line.prefix_length :]
            shift = line.prefix_length - line.block_start - max(0, source.find(shown.rstrip()))
            for start, end, kind in highlights:
                first = max(line.prefix_length, start + shift)
                last = min(len(line.text), end + shift)
                if first < last and start < line.block_end and line.block_start < end:
                    yield Highlight(first, last, kind)

    def get_top(self, chunk: int) -> int:
        """Return the number of the first line of a chunk."""
        return self._compute_tops()[chunk]

    def locate(self, y: int) -> tuple[int, int]:
        """Return the chunk of line `y`, or of the nearest line, and the number of the line within it."""
        tops = self._compute_tops()
        y = max(0, min(y, tops[-1] - 1))
        chunk = max(0, min(bisect_right(tops, y) - 1, len(self.chunks) - 1))
        return chunk, y - tops[chunk]

    def get_line(self, y: int) -> LocatedLine | None:
        """Return line `y` and its chunk, or None if there is no such line."""
        if not 0 <= y < len(self):
            return None
        chunk, number = self.locate(y)
        lines = self.get_chunk_lines(chunk).lines
        return LocatedLine(chunk, lines[number]) if number < len(lines) else None

    def lay_out_from(self, y: int, height: int) -> None:
        """Lay out the chunks of the `height` lines from line `y` on. Line `y` itself does not move."""
        chunk, _ = self.locate(y)
        while chunk < len(self.chunks) and self.get_top(chunk) < y + height:
            self.get_chunk_lines(chunk)
            chunk += 1

    def get_y(self, offset: int) -> int:
        """Return the line to show for an offset: its page mark, its highlight, or its block's first line."""
        chunk = max(0, bisect_right(self.chunks, offset, key=lambda chunk: chunk.start) - 1)
        if not self.chunks or (chunk and self.chunks[chunk].start == offset):
            return self.get_top(chunk)
        laid_out = self.get_chunk_lines(chunk)
        lines = laid_out.lines
        highlights = laid_out.highlights
        at_offset = (n for n, mark in enumerate(highlights) if mark.start <= offset < mark.end)
        number = next(at_offset, -1)
        marked = (y for y, line in enumerate(lines) if any(run.style.group == number for run in line.runs))
        later = (y for y, line in enumerate(lines) if line.block_end > offset and line.has_content)
        return self.get_top(chunk) + next(chain(marked, later), len(lines))

    def list_links(self, view: range) -> list[ShownLink]:
        """List the links that start in view, in order."""
        shown: dict[tuple[int, int], ShownLink] = {}
        # a link that starts above the view may continue in it
        first = self.get_top(self.locate(view.start)[0])
        for y in range(first, view.stop):
            if (located := self.get_line(y)) is None:
                break
            chunk, line = located
            for index, run in enumerate(line.runs):
                number = run.style.link_number
                if number is not None:
                    link = self.get_chunk_lines(chunk).links[number]
                    shown.setdefault((chunk, number), ShownLink(link, y, measure_runs(line.runs[:index])))
        return [link for link in shown.values() if link.y in view]

    def _compute_tops(self) -> list[int]:
        if self._tops is None:
            self._tops = list(accumulate(self.heights, initial=0))
        return self._tops

    def _estimate_height(self, chunk: TextChunk) -> int:
        line_ends = self.document.text.count("\n", chunk.start, chunk.end)
        width = max(1, min(self._width, PROSE_WIDTH_MAX))
        return max(1, line_ends + (chunk.end - chunk.start) // width)

    def _lay_out(self, chunk: TextChunk) -> ChunkLines:
        text = self.document.text[chunk.start : chunk.end]
        definitions = self.document.link_definitions if _REFERENCE.search(text) else {}
        highlights = self._highlights.locate(self.document.text, chunk.start, chunk.end)
        groups = [(highlight.start, highlight.end) for highlight in highlights]
        if chunk.is_front_matter:
            markdown = parse_front_matter(text, chunk.start, groups)
        else:
            markdown = parse_markdown(
                text, prefix=chunk.prefix, start=chunk.start, definitions=definitions, groups=groups
            )
        lines = MarkdownLayout(width=self._width).lay_out(markdown.blocks)
        if lines and not chunk.is_continued:
            number = lines[-1].block_number + 1
            lines.append(Line(block_start=chunk.end, block_end=chunk.end, block_number=number))
        page_starts = self.document.page_starts
        page = bisect_right(page_starts, chunk.start)
        if page and page_starts[page - 1] == chunk.start:
            label = f" {format_page(page, self.document.get_page_label(page))}"
            stroke = "─" * (min(self._width, PROSE_WIDTH_MAX) - len(label))
            page_mark = Line(
                runs=(Run(stroke, RunStyle(TextRole.RULE)), Run(label, RunStyle(TextRole.ASIDE))),
                block_start=chunk.start,
                block_end=chunk.start,
                block_number=-1,
                prefix_length=len(stroke) + len(label),
                is_page_mark=True,
            )
            lines.insert(0, page_mark)
        return ChunkLines(lines=tuple(lines), links=markdown.links, highlights=highlights)


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
    """List the selected parts of lines from `start` to `end` (x, y), without page marks and code margins."""
    selected: list[SelectedText] = []
    for y in range(start[1], min(end[1] + 1, len(lines))):
        located = lines.get_line(y)
        if located and not located.line.is_page_mark:
            line = located.line
            first = start[0] if y == start[1] else 0
            first = max(first, line.prefix_length) if line.is_code else first
            last = end[0] if y == end[1] else len(line.text)
            selected.append(SelectedText(line, first, last))
    return selected


def compute_selection_span(selected: Sequence[SelectedText], document: Document) -> Span | None:
    """Return the source span of selected text, extended to whole words, or None if none is selected.

    If the shown text differs from the source, as in a table, the span covers whole rows or paragraphs.
    """
    selected = [part for part in selected if part.text.strip()]
    if not selected:
        return None
    first, last = selected[0].line, selected[-1].line
    block = document.text[first.block_start : last.block_end]
    cuts = [
        [max(part.start, part.line.prefix_length), min(part.end, len(part.line.text))] for part in selected
    ]
    cuts[0][0] = max(first.prefix_length, widen_to_words(first.text, *cuts[0])[0])
    cuts[-1][1] = widen_to_words(last.text, *cuts[-1])[1]
    words = " ".join(part.line.text[slice(*cut)] for part, cut in zip(selected, cuts, strict=True))
    match = find_quote(words, block)
    if match is not None:
        return Span(
            doc=document.key, start=first.block_start + match.start, end=first.block_start + match.end
        )
    return Span(
        doc=document.key,
        start=last.block_end - len(block.lstrip()),
        end=first.block_start + len(block.rstrip()),
    )
