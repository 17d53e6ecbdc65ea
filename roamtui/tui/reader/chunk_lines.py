"""Turns one chunk of a document into lines, as Markdown or as it stands. Knows no screen."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from roamtui.document.document import Document
from roamtui.document.lines import find_line_starts, normalise_line_ends
from roamtui.document.markdown.blocks import Details
from roamtui.document.markdown.reading import Definitions, find_definitions, read_markdown
from roamtui.document.plain import plain_text
from roamtui.tui.markdown.code_runs import colour_code
from roamtui.tui.markdown.layout import PROSE_WIDTH_MAX, MarkdownLayout, is_unfolded
from roamtui.tui.markdown.line import TAB_WIDTH, Line, Look, Role, Run, fold_runs
from roamtui.tui.reader.document_view import Chunk

_REFERENCE = re.compile(r"\](?!\()")
"""May refer to a link that is defined elsewhere; looking through the whole document for that is often not needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkLines:
    """What a chunk shows."""

    lines: tuple[Line, ...]
    links: tuple[str | int, ...] = ()
    """Addresses of its links, in order, and offsets of the summaries of details, which fold."""
    folded: tuple[Details, ...] = ()
    """Those that are folded."""


@dataclass(frozen=True, kw_only=True)
class ChunkReader:
    """Lays out chunks of `document` for a width in cells."""

    document: Document
    width: int
    is_raw: bool = False
    is_wrapped: bool = True
    turned: set[int] | None = None
    """Offsets of the details that a person folded or unfolded; None where all are shown."""

    def read(self, chunk: Chunk) -> ChunkLines:
        """Return the lines of a chunk."""
        if self.is_raw:
            return ChunkLines(lines=self._read_raw(chunk))
        if chunk.is_front_matter:
            return ChunkLines(lines=(*self._read_front_matter(chunk), _blank(chunk.end)))
        read = self._read_markdown(chunk)
        return replace(read, lines=(*self._mark_page(chunk), *read.lines))

    def estimate_lines(self, chunk: Chunk) -> int:
        """Return about how many lines a chunk shows."""
        ends = self.document.text.count("\n", chunk.start, chunk.end)
        width = self.width if self.is_raw else min(self.width, PROSE_WIDTH_MAX)
        return max(1, ends + (chunk.end - chunk.start) // max(1, width) if self.is_wrapped else ends)

    def _mark_page(self, chunk: Chunk) -> Iterator[Line]:
        """Yield the line that says which page begins with a chunk, if one does."""
        starts = self.document.page_starts
        number = bisect_right(starts, chunk.start)
        if number and starts[number - 1] == chunk.start:
            words = f" p. {number}"
            stroke = "─" * max(0, min(self.width, PROSE_WIDTH_MAX) - len(words))
            runs = (Run(stroke, Look(Role.RULE)), Run(words, Look(Role.ASIDE)))
            length = len(stroke) + len(words)
            yield Line(runs=runs, start=chunk.start, end=chunk.start, block=-1, prefix_length=length, is_page_mark=True)

    @cached_property
    def _definitions(self) -> Definitions:
        return find_definitions(str(self.document.text))

    def _read_markdown(self, chunk: Chunk) -> ChunkLines:
        text = self.document.text[chunk.start : chunk.end]
        definitions = self._definitions if _REFERENCE.search(text) else {}
        markdown = read_markdown(text, prefix=chunk.prefix, start=chunk.start, definitions=definitions)
        layout = MarkdownLayout(width=self.width if self.is_wrapped else None, turned=self.turned)
        layout.add_blocks(markdown.blocks)
        if layout.lines and not chunk.is_continued:
            layout.lines.append(_blank(chunk.end, layout.lines[-1].block + 1))
        links: dict[int | None, str | int] = {number: link.href for number, link in enumerate(markdown.links)}
        if not layout.folds:
            return ChunkLines(lines=tuple(layout.lines), links=tuple(links.values()))
        links |= {-1 - number: fold.start for number, fold in enumerate(layout.folds)}
        shown = dict.fromkeys(run.look.link for line in layout.lines for run in line.runs if run.look.link is not None)
        numbers: dict[int | None, int | None] = {None: None} | {link: number for number, link in enumerate(shown)}
        lines = [
            replace(line, runs=tuple(Run(r.text, replace(r.look, link=numbers[r.look.link])) for r in line.runs))
            for line in layout.lines
        ]
        folded = tuple(fold for fold in layout.folds if not is_unfolded(fold, self.turned))
        return ChunkLines(lines=tuple(lines), links=tuple(links[link] for link in shown), folded=folded)

    def _read_front_matter(self, chunk: Chunk) -> list[Line]:
        text = self.document.text[chunk.start : chunk.end]
        starts = [*find_line_starts(text), len(text)]
        return [
            Line(
                runs=(Run(" ", Look(Role.CODE)), *runs),
                start=chunk.start + starts[number],
                end=chunk.start + starts[number + 1],
                block=number,
                prefix_length=1,
                is_code=True,
            )
            for number, runs in enumerate(colour_code(normalise_line_ends(text), "yaml"))
        ]

    def _read_raw(self, chunk: Chunk) -> tuple[Line, ...]:
        """Return the source lines of a chunk behind their numbers."""
        starts = self.document.line_starts
        gutter = len(str(len(starts))) + 1
        width = max(1, self.width - gutter) if self.is_wrapped else None
        number = max(1, bisect_right(starts, chunk.start))
        lines: list[Line] = []
        start = chunk.start
        while start < chunk.end:
            end = min(starts[number] if number < len(starts) else chunk.end, chunk.end)
            source = plain_text(self.document.text[start:end]).rstrip("\n").replace("\n", " ").expandtabs(TAB_WIDTH)
            label = f"{number:>{gutter - 1}} " if starts[number - 1] == start else " " * gutter
            for runs in fold_runs([Run(source)], width):
                note = Run(label, Look(Role.ASIDE))
                line = Line(runs=(note, *runs), start=start, end=end, block=number, prefix_length=gutter)
                lines.append(line)
                label = " " * gutter
            start = end
            number += 1
        return tuple(lines)


def _blank(offset: int, block: int = -1) -> Line:
    return Line(start=offset, end=offset, block=block)
