"""Where words that were selected on the screen stand in the document. Knows no screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from roamtui.agent.quotes import find_quote
from roamtui.document.document import Document
from roamtui.document.node import Span
from roamtui.tui.markdown.line import Line
from roamtui.tui.reader.lazy_lines import LazyLines


class Selected(NamedTuple):
    """What is selected of a line."""

    line: Line
    start: int
    end: int
    """Character after the last one."""

    @property
    def text(self) -> str:
        """What it shows."""
        return self.line.text[self.start : self.end]


def list_selected(lines: LazyLines, start: tuple[int, int], end: tuple[int, int]) -> list[Selected]:
    """Return what is selected of each line, from and to a column and a line, without marks of pages."""
    selected: list[Selected] = []
    for y in range(start[1], min(end[1] + 1, len(lines))):
        found = lines.line_at(y)
        if found and not found[1].is_page_mark:
            line = found[1]
            selected.append(Selected(line, start[0] if y == start[1] else 0, end[0] if y == end[1] else len(line.text)))
    return selected


def find_passage(selected: Sequence[Selected], document: Document) -> Span | None:
    """Return where selected text stands, words at its ends whole; None where no text is.

    Of what is shown otherwise than it is written, such as a table, these are whole rows or paragraphs.
    """
    selected = [one for one in selected if one.text.strip()]
    if not selected:
        return None
    first, last = selected[0], selected[-1]
    start, end = first.line.start, last.line.end
    block = document.text[start:end]
    cuts = [[max(one.start, one.line.prefix_length), min(one.end, len(one.line.text))] for one in selected]
    while cuts[0][0] > first.line.prefix_length and _is_word(first.line.text, cuts[0][0]):
        cuts[0][0] -= 1
    while cuts[-1][1] < len(last.line.text) and _is_word(last.line.text, cuts[-1][1]):
        cuts[-1][1] += 1
    words = " ".join(one.line.text[slice(*cut)] for one, cut in zip(selected, cuts, strict=True))
    match = find_quote(words, block)
    if match is not None:
        return Span(doc=document.key, start=start + match.start, end=start + match.end)
    return Span(doc=document.key, start=end - len(block.lstrip()), end=start + len(block.rstrip()))


def _is_word(text: str, place: int) -> bool:
    """Return whether a cut before a character of a text divides a word."""
    return text[place - 1].isalnum() and text[place].isalnum()
