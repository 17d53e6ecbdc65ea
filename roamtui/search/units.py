"""Divide a Markdown text into blocks, units and sentences, as exact spans.

A block is a paragraph, list, table or the like with its marks. A unit is a part of it that can be quoted,
such as a list item or a table row. Only the units of prose have several sentences.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from roamtui.commonmark import parse_blocks
from roamtui.sentences import iter_sentence_ends
from roamtui.text import compute_line_starts, measure_front_matter, normalise_line_ends


class UnitKind(StrEnum):
    """Kind of Markdown element."""

    PROSE = "prose"
    ITEM = "item"
    """A list item, without its marker."""
    ROW = "row"
    """A row of a table body."""
    CODE = "code"
    """A line of code."""
    HEADING = "heading"
    """A heading's text, without marks."""
    TABLE_HEAD = "table_head"


class Unit(Struct, frozen=True):
    """A range of a text: the characters from `start` up to `end` (exclusive)."""

    start: int
    end: int
    kind: UnitKind


class Block(Struct, frozen=True):
    """An outermost block of a text, with its marks: the characters from `start` up to `end` (exclusive)."""

    start: int
    end: int
    kind: str
    """The parser's name of the token that opens it."""
    units: tuple[Unit, ...]
    """Without markers, rules and comments."""


CACHED_TEXTS_MAX = 1_000
"""Maximum number of texts whose blocks are cached, because ranking, excerpts and display share them."""
INDENTED_BLOCKS = frozenset({"bullet_list_open", "ordered_list_open", "table_open", "fence", "code_block"})
"""Kinds of blocks whose first line is indented on purpose. They belong to the paragraph above them."""
_KINDS = {
    "heading_open": UnitKind.HEADING,
    "thead_open": UnitKind.TABLE_HEAD,
    "tbody_open": UnitKind.ROW,
    "list_item_open": UnitKind.ITEM,
    **dict.fromkeys(("heading_close", "table_close", "list_item_close"), UnitKind.PROSE),
}
"""Kind of the content after each of these tokens. In a list item, only its first paragraph has this kind."""
_QUOTE_MARKS = re.compile(r"[ \t]*(?:>[ \t]?)*")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\n]")
_LETTER = re.compile(r"[^\W_]")


_CODE_SPAN = re.compile(r"(?<!`)(`++)[^`]++\1")
_WORD = re.compile(r"\w+")
_SENTENCE_KINDS = (UnitKind.PROSE, UnitKind.ITEM)


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def read_blocks(text: str) -> tuple[Block, ...]:
    """Return the outermost blocks of a Markdown text in order, without comments."""
    reader = _UnitReader(text)
    starts = [*compute_line_starts(text), len(text)]
    firsts = [index for index, token in enumerate(reader.tokens) if token.level == 0 and token.nesting >= 0]
    blocks = []
    for first, last in pairwise((*firsts, len(reader.tokens))):
        kind = reader.tokens[first].type
        line, line_after = reader.tokens[first].map or (0, 0)
        start, end = starts[line], starts[min(line_after, len(starts) - 1)]
        body = text[start:end]
        end -= len(body) - len(body.rstrip())
        start += 0 if kind in INDENTED_BLOCKS else len(body) - len(body.lstrip())
        units = tuple(reader.read(first, last))
        if start < end and (units or kind != "html_block"):
            blocks.append(Block(start, end, kind, units))
    return tuple(blocks)


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def find_units(text: str) -> tuple[Unit, ...]:
    """Return the units of a Markdown text in order."""
    return tuple(unit for block in read_blocks(text) for unit in block.units)


def split_sentences(text: str) -> list[Unit]:
    """Return a Markdown text's sentences in order. Rows, headings and lines of code are sentences too."""
    return [sentence for unit in find_units(text) for sentence in split_unit(text, unit)]


def find_block(text: str, offset: int) -> Block | None:
    """Return the block at an offset, or None between blocks."""
    blocks = read_blocks(text)
    index = bisect_right(blocks, offset, key=lambda block: block.start) - 1
    return blocks[index] if index >= 0 and offset < blocks[index].end else None


class _UnitReader:
    """Finds the exact spans of the text that belong to the tokens of the Markdown parser."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = compute_line_starts(text)
        normal = normalise_line_ends(text)
        front = normal[: measure_front_matter(normal)]
        # Blank lines replace the front matter, so that line numbers do not change.
        rest = normal[len(front) :].replace("\0", "\N{REPLACEMENT CHARACTER}")
        source = _NOT_LINE_END.sub("", front) + rest
        self._lines = source.split("\n")
        self.tokens = parse_blocks(source, {})

    def read(self, first_token: int, stop: int) -> Iterator[Unit]:
        """Yield the units of a range of tokens."""
        kind = UnitKind.PROSE
        for token in self.tokens[first_token:stop]:
            first = token.map[0] if token.map else 0
            if token.type in _KINDS:
                kind = _KINDS[token.type]
            elif token.type == "tr_open":
                yield from self._join([(first, _QUOTE_MARKS.sub("", self._lines[first], count=1))], kind)
            elif token.type in ("fence", "code_block"):
                first_code = first + 1 if token.type == "fence" else first
                for line in enumerate(token.content.split("\n"), first_code):
                    yield from self._join([line], UnitKind.CODE)
            elif token.type == "html_block":
                source = _COMMENT.sub(lambda comment: _NOT_LINE_END.sub("", comment[0]), token.content)
                yield from self._join(enumerate(source.split("\n"), first), UnitKind.PROSE)
            elif token.type == "inline" and kind in (UnitKind.PROSE, UnitKind.ITEM, UnitKind.HEADING):
                yield from self._join(enumerate(token.content.split("\n"), first), kind)
                kind = UnitKind.PROSE

    def _join(self, lines: Iterable[tuple[int, str]], kind: UnitKind) -> Iterator[Unit]:
        """Yield one unit for numbered lines, unless they have no letter or digit."""
        spans = []
        for number, line in lines:
            if not line.strip():
                continue
            # The parser cuts off the marks of containers, so the content of a line is at the end of the
            # source line.
            source_line = self._lines[number]
            content = line.strip()
            if content not in source_line:  # a container took part of a tab
                content = source_line.strip()
            start = self._starts[number] + source_line.rfind(content)
            spans.append((start, start + len(content)))
        if spans and _LETTER.search(self._text, spans[0][0], spans[-1][1]):
            yield Unit(spans[0][0], spans[-1][1], kind)


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def split_unit(text: str, unit: Unit) -> tuple[Unit, ...]:
    """Return the sentences of a unit. Each has a word. A row, heading or line of code is one sentence."""
    if unit.kind not in _SENTENCE_KINDS:
        return (unit,)
    piece = text[unit.start : unit.end]
    if "`" in piece:
        # code must not end a sentence, and offsets must stay
        piece = _CODE_SPAN.sub(lambda match: "X" * len(match.group()), piece)
    sentences = []
    start = unit.start
    for end in [*(unit.start + end for end in iter_sentence_ends(piece)), unit.end]:
        while start < end and text[start] in " \t\r\n>":
            start += 1
        if _WORD.search(text, start, end):
            sentences.append(Unit(start, end, unit.kind))
            start = end
    return tuple(sentences)
