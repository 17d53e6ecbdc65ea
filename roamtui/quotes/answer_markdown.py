"""Parse an answer into Markdown blocks, and find its quotes and marks among the words by their offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from roamtui.document.plain import sanitise_text, strip_blank_lines
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
from roamtui.quotes.verdicts import AnswerProof, JudgedMark

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
    safe = sanitise_text(answer)
    text = strip_blank_lines(safe)
    lead = safe.find(text)

    def convert_offset(offset: int) -> int:
        return (offset if safe is answer else len(sanitise_text(answer[:offset]))) - lead

    markdown = read_markdown(
        text if close_markup is None else close_markup(text), split_marks=lambda words, _: ((words, None),)
    )
    placer = _WordPlacer(text, answer, proof, convert_offset, markdown.links)
    blocks = tuple(map(placer.place_block, markdown.blocks))
    return Markdown(blocks=blocks, links=tuple(placer.links))


def is_link_text(answer: str, mark: JudgedMark) -> bool:
    """Check whether the brackets of a mark belong to a Markdown link, or to the definition of one."""
    line_start = answer.rfind("\n", 0, mark.start) + 1
    is_definition = answer.startswith(":", mark.end) and not answer[line_start : mark.start].strip()
    return is_definition or answer.startswith("(", mark.end)


class _WordPlacer:
    """Follows the words of blocks through the text that they were parsed from, and splits them at quotes and marks."""

    def __init__(
        self,
        text: str,
        answer: str,
        proof: AnswerProof,
        convert_offset: Callable[[int], int],
        links: Sequence[Link],
    ) -> None:
        self.links = [*links]
        self._text = text
        self._proof = proof
        self._quotes = [(convert_offset(quote.start), convert_offset(quote.end)) for quote in proof.quotes]
        self._marks: dict[int, list[int]] = {}
        """Indexes of the marks in each pair of brackets, by the offset of the first bracket."""
        self._mark_ends: dict[int, int] = {}
        for index, mark in enumerate(proof.marks):
            if not is_link_text(answer, mark):
                start = convert_offset(mark.start)
                self._marks.setdefault(start, []).append(index)
                self._mark_ends[start] = convert_offset(mark.end)
        self._quote_starts = [start for start, _ in self._quotes]
        self._mark_starts = [*self._marks]
        self._edges = sorted({edge for bounds in (*self._quotes, *self._mark_ends.items()) for edge in bounds})
        self._shown: set[int] = set()
        """Offsets of the marks whose labels are among the words."""
        self._position = 0
        """Offset after the last word that was found."""

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
                if offset is not None:
                    placed += self._split(replace(words, text=text), offset)
                elif not self._is_replaced(self._position):
                    placed.append(replace(words, text=text, group=self._get_quote(self._position)))
        return tuple(placed)

    def _find_pieces(self, words: str, end: int) -> Iterator[tuple[str, int | None]]:
        """Yield words, or parts of them, with their offsets. An offset is None if the parser has changed the part."""
        found = -1 if words.isspace() else self._text.find(words, self._position, end)
        if found >= 0:
            self._position = found + len(words)
            yield words, found
            return
        for token in _TOKEN.findall(words):
            reach = 0 if token.isspace() else _REACH
            found = self._text.find(token, self._position, min(end, self._position + len(token) + reach))
            if found >= 0:
                self._position = found + len(token)
            yield token, found if found >= 0 else None

    def _split(self, words: Words, offset: int) -> Iterator[Words]:
        """Yield words by quote, and labels in place of marks."""
        end = offset + len(words.text)
        inside = self._edges[bisect_right(self._edges, offset) : bisect_left(self._edges, end)]
        for start, stop in pairwise((offset, *inside, end)):
            group = self._get_quote(start)
            if start in self._marks and Emphasis.CODE not in words.emphasis:
                self._shown.add(start)
                yield from self._make_labels(replace(words, group=group), self._marks[start])
            if not self._is_replaced(start):
                yield replace(words, text=words.text[start - offset : stop - offset], group=group)

    def _make_labels(self, words: Words, indexes: Sequence[int]) -> Iterator[Words]:
        for index in indexes:
            link = words.link
            if link is None:
                link = len(self.links)
                self.links.append(Link(str(index), is_reference_mark=True))
            yield replace(words, text=self._proof.marks[index].label, link=link)

    def _is_replaced(self, offset: int) -> bool:
        """Check whether a label stands in place of the text at an offset."""
        index = bisect_right(self._mark_starts, offset) - 1
        mark = self._mark_starts[index] if index >= 0 else -1
        return mark in self._shown and offset < self._mark_ends[mark]

    def _get_quote(self, offset: int) -> int | None:
        """Return the index of the quote at an offset."""
        index = bisect_right(self._quote_starts, offset) - 1
        return index if index >= 0 and offset < self._quotes[index][1] else None
