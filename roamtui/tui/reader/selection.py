"""Maps selected lines of the reader back to the source. Independent of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from roamtui.document.document import Document
from roamtui.document.node import Span
from roamtui.markdown.lines import Line
from roamtui.quotes.find import find_quote, widen_to_numbers
from roamtui.tui.reader.lazy_lines import LazyLines


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
