"""Parse an answer into Markdown blocks, and find its quotes and marks among the words by their offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from roamtui.document.plain import sanitise_text
from roamtui.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Markdown,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.markdown.parser import read_markdown
from roamtui.outline.spans import Bounds
from roamtui.quotes.verdicts import AnswerProof

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_REACH = 40
"""Maximum number of characters of markup before a word that the parser has changed, as by an escape or an entity."""


def read_answer_markdown(
    answer: str,
    proof: AnswerProof,
    *,
    close_markup: Callable[[str], str] | None = None,
) -> Markdown:
    """Parse an answer.

    Args:
        answer: The text, as the model wrote it.
        proof: The answer's quotes and marks.
        close_markup: Closes unfinished markup at the end of an answer that is still streaming in.

    Returns:
        The blocks and links of the answer. `Words.group` is the index of a quote. The labels of marks are links after
        all others, with `is_reference_mark`. Their URL is the index of the mark.
    """
    text = sanitise_text(answer)

    def convert(start: int, end: int) -> Bounds:
        """Return offsets in the text that is parsed."""
        return len(sanitise_text(answer[:start])), len(sanitise_text(answer[:end]))

    markdown = read_markdown(text if close_markup is None else close_markup(text), has_footnotes=False)
    quotes = [convert(quote.start, quote.end) for quote in proof.quotes]
    marks = [convert(mark.start, mark.end) for mark in proof.marks]
    placer = _WordPlacer(text, quotes, marks, [mark.label for mark in proof.marks], markdown.links)
    blocks = tuple(map(placer.place_block, markdown.blocks))
    return Markdown(blocks=blocks, links=tuple(placer.links))


class _WordPlacer:
    """Follows the words of blocks through the text that they were parsed from, and splits them at quotes and marks."""

    def __init__(
        self, text: str, quotes: Sequence[Bounds], marks: Sequence[Bounds], labels: Sequence[str], links: Sequence[Link]
    ) -> None:
        self.links = [*links]
        self._text = text
        self._quotes = quotes
        self._marks = marks
        self._labels = labels
        self._marks_at: dict[int, list[int]] = defaultdict(list)
        for index, (start, _) in enumerate(marks):
            self._marks_at[start].append(index)
        self._edges = sorted({edge for bounds in (*quotes, *marks) for edge in bounds})
        self._position = 0
        """Offset after the last word that was found."""
        self._mark_end = 0
        """Offset after the last mark whose label is among the words."""

    def place_block(self, block: Block) -> Block:
        match block:
            case Paragraph() | Heading():
                return replace(block, words=self._place_words(block.words, block.start, block.end))
            case Table():
                rows = []
                for row in block.rows:
                    cells = tuple(self._place_words(cell, row.start, row.end) for cell in row.cells)
                    rows.append(replace(row, cells=cells))
                return replace(block, rows=tuple(rows))
            case List():
                items = (replace(item, blocks=tuple(map(self.place_block, item.blocks))) for item in block.items)
                return replace(block, items=tuple(items))
            case Quote():
                title = self._place_words(block.title, block.start, len(self._text))
                return replace(block, title=title, blocks=tuple(map(self.place_block, block.blocks)))
            case Code() | ThematicBreak():
                return block

    def _place_words(self, inline: Inline, start: int, end: int) -> Inline:
        self._position = max(self._position, start)
        placed: list[Words] = []
        for words in inline:
            if words is LINE_BREAK:
                placed.append(words)
                continue
            for text, offset in self._find_pieces(words.text, end):
                placed += self._split(replace(words, text=text), offset)
        return tuple(placed)

    def _find_pieces(self, words: str, end: int) -> Iterator[tuple[str, int]]:
        """Yield words with their offset or, if the parser has changed them, parts of them.

        A part that is not in the text has the offset after the part before it.
        """
        is_whole = not words.isspace() and self._text.find(words, self._position, end) >= 0
        for piece in [words] if is_whole else _TOKEN.findall(words):
            reach = 0 if piece.isspace() else _REACH
            piece_end = end if is_whole else min(end, self._position + len(piece) + reach)
            found = self._text.find(piece, self._position, piece_end)
            if found >= 0:
                self._position = found + len(piece)
            yield piece, found if found >= 0 else self._position

    def _split(self, words: Words, offset: int) -> Iterator[Words]:
        """Yield words by quote, and labels in place of marks."""
        end = offset + len(words.text)
        inside = self._edges[bisect_right(self._edges, offset) : bisect_left(self._edges, end)]
        for start, stop in pairwise((offset, *inside, end)):
            group = bisect_right(self._quotes, start, key=lambda bounds: bounds[0]) - 1
            is_quoted = group >= 0 and start < self._quotes[group][1]
            piece = replace(words, text=words.text[start - offset : stop - offset], group=group if is_quoted else None)
            if start >= self._mark_end and Emphasis.CODE not in words.emphasis:
                yield from self._make_labels(piece, start)
            if start >= self._mark_end:
                yield piece

    def _make_labels(self, words: Words, offset: int) -> Iterator[Words]:
        """Yield the labels of the marks that start at an offset, as links."""
        for index in self._marks_at.get(offset, ()):
            self._mark_end = self._marks[index][1]
            link = words.link
            if link is None:
                link = len(self.links)
                self.links.append(Link(str(index), is_reference_mark=True))
            yield replace(words, text=self._labels[index], link=link)
