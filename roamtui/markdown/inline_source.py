"""Locates words in the source of a text, because markdown-it-py locates only blocks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType
from msgspec import Struct
from typing_extensions import override

from roamtui.text import Bounds, compute_line_starts

LabelledMark = tuple[int, int, str]
"""Start and end of a mark in the source, and its label. A mark with several labels is several entries."""
_WORD = re.compile(r"\w+")


class SourceMap(Struct, frozen=True, gc=False):
    """Maps the positions in one inline text to offsets in the source."""

    positions: tuple[int, ...]
    """Position in the inline text of each stretch that is contiguous in the source."""
    offsets: tuple[int, ...]
    """Offset of each stretch in the source."""

    def locate(self, position: int) -> int:
        """Return the offset in the source of a position in the inline text."""
        index = bisect_right(self.positions, position) - 1
        return self.offsets[index] + position - self.positions[index]

    def skip(self, length: int) -> SourceMap:
        """Return the map of the inline text after its first `length` characters."""
        return SourceMap(tuple(position - length for position in self.positions), self.offsets)

    def split(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the contiguous parts of a range of the inline text."""
        first = bisect_right(self.positions, start)
        last = bisect_left(self.positions, end)
        yield from pairwise((start, *self.positions[first:last], end))


class InlineSource(Struct, dict=True):
    """Markdown that is being parsed, and the shift from its offsets to those of the document."""

    text: str
    shift: int
    """The number to add to an offset in `text`."""
    groups: Sequence[Bounds] = ()
    """Bounds of words to keep apart, in order."""
    marks: Sequence[LabelledMark] = ()
    """The marks of an answer, in order."""

    @cached_property
    def starts(self) -> Sequence[int]:
        """Offset of each line in `text`."""
        return compute_line_starts(self.text)

    def locate(self, content: str, line: int, *, is_title: bool = False) -> SourceMap:
        """Locate an inline text. Its block starts at `line`.

        In the source, each line begins with its indent and the marks of quotes and lists, and ends with its
        content. More marks may follow only a title. Of a title that is written from several parts of a line,
        each word is located.
        """
        positions: list[int] = []
        offsets: list[int] = []
        position = 0
        for number, content_line in enumerate(content.split("\n"), line):
            words = content_line.lstrip(" \t")
            start, end = self.get_line(number)
            source_line = self.text[start:end].rstrip(" \t\r\n")
            indent = len(content_line) - len(words)
            words = words.rstrip(" \t")
            if source_line.endswith(words):
                column = len(source_line) - len(words)
            else:
                column = source_line.rfind(words) if is_title else source_line.find(words)
            parts = _WORD.finditer(words) if column < 0 and is_title else ()
            column = max(0, column)
            positions.append(position)
            offsets.append(self.shift + start + max(0, column - indent))
            if column < indent:  # a tab is written as several spaces in the inline text
                positions.append(position + indent)
                offsets.append(self.shift + start + column)
            for part in parts:
                column = max(column, source_line.find(part[0], column))
                positions.append(position + indent + part.start())
                offsets.append(self.shift + start + column)
            position += len(content_line) + 1
        return SourceMap(tuple(positions), tuple(offsets))

    def get_line(self, number: int) -> Bounds:
        """Return the bounds of a line in `text`."""
        starts = self.starts
        start = starts[min(number, len(starts) - 1)]
        return start, starts[number + 1] if number + 1 < len(starts) else len(self.text)

    def locate_cell(self, content: str, start: int, end: int) -> tuple[SourceMap, int]:
        """Locate a cell in its row from `start` on. Also return where the search for the next cell begins.

        In the source, each pipe of the cell has a backslash.
        """
        positions: list[int] = []
        offsets: list[int] = []
        position = 0
        offset = start
        for number, part in enumerate(content.split("|")):
            offset = max(offset, self.text.find(part, offset, end))
            pipe_length = 1 if number else 0
            positions.append(position - pipe_length)
            offsets.append(self.shift + offset - pipe_length)
            offset += len(part) + (1 if part else 0)
            position += len(part) + 1
        return SourceMap(tuple(positions), tuple(offsets)), offset


class _LocatedState(StateInline):
    """Inline text that is being parsed; each of its tokens knows where it starts."""

    def __init__(self, content: str, md: MarkdownIt, env: EnvType) -> None:
        super().__init__(content, md, env, [])
        self._pending_start = 0

    @override
    def append_pending(self, text: str) -> None:
        if not self._pending and not self._pending_buffer:
            self._pending_start = self.pos
        super().append_pending(text)

    @override
    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta["start"] = self._pending_start
        return token

    @override
    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        previous = self.tokens[-2] if len(self.tokens) > 1 else None
        token.meta["start"] = self.pos
        # each character of a run of emphasis marks is a token, and all are pushed at its start
        if ttype == "text" and previous is not None and previous.type == "text":
            token.meta["start"] = max(self.pos, previous.meta["start"] + len(previous.content))
        return token


def parse_inline(content: str, source_map: SourceMap, parser: MarkdownIt, env: EnvType) -> list[Token]:
    """Parse an inline text as markdown-it-py does. The `pieces` of a token are its texts, with bounds."""
    state = _LocatedState(content, parser, env)
    parser.inline.tokenize(state)
    for rule in parser.inline.ruler2.getRules(""):
        rule(state)
    _locate_tokens(state.tokens, content, source_map)
    return state.tokens


def join_fragments(state: StateInline) -> None:
    """Join neighbouring texts, as markdown-it-py does, if their source is contiguous.

    Tokens of an image's alternative text have no place, and are always joined.
    """
    joined: list[Token] = []
    for token in state.tokens:
        last = joined[-1] if joined else None
        if token.type != "text":
            joined.append(token)
        elif not token.content:
            pass  # a mark that is part of another one
        elif last is not None and last.type == "text" and _is_contiguous(last, token):
            last.content += token.content
        else:
            joined.append(token)
    state.tokens[:] = joined


def _is_contiguous(first: Token, second: Token) -> bool:
    start = second.meta.get("start")
    return start is None or bool(first.meta["start"] + len(first.content) == start)


def _locate_tokens(tokens: Sequence[Token], content: str, source_map: SourceMap) -> None:
    locate = source_map.locate
    for token in tokens:
        if not token.content:
            continue
        start: int = token.meta["start"]
        length = len(token.content)
        end: int = token.meta.get("end", start + max(length, len(token.markup)))
        inner = _find_inner(token, content, start)
        if inner is None:
            bounds = locate(start), locate(end - 1) + 1
            token.meta["pieces"] = [(token.content, *bounds)]
        else:
            token.meta["pieces"] = [
                (token.content[first - inner : last - inner], locate(first), locate(last - 1) + 1)
                for first, last in source_map.split(inner, inner + length)
            ]


def _find_inner(token: Token, content: str, start: int) -> int | None:
    """Return the position of a token's text in its inline text, or None if it is written otherwise there."""
    match token.type:
        case "text_special" | "mark":
            return None
        case "code_inline":
            opening = len(token.markup)
        case "image":
            opening = len("![")
        case _:
            opening = 0
    length = len(token.content)
    for first in (start + opening, start + opening + 1):
        if content[first : first + length].replace("\n", " ") == token.content.replace("\n", " "):
            return first
    return None
