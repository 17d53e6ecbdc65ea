"""Divide a Markdown text into units that can be quoted, such as paragraphs, list items and table rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from roamtui.document.headings import parse_blocks
from roamtui.document.text import compute_line_starts, measure_front_matter, normalise_line_ends


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
    block: int = 0
    """Number of the list, table, piece of code, heading or paragraph that the unit belongs to."""


CACHED_TEXTS_MAX = 1_000
"""Maximum number of texts whose units are cached, because ranking, excerpts and display read the same sections."""
_KINDS = {
    "heading_open": UnitKind.HEADING,
    "thead_open": UnitKind.TABLE_HEAD,
    "tbody_open": UnitKind.ROW,
    "list_item_open": UnitKind.ITEM,
    **dict.fromkeys(("heading_close", "table_close", "list_item_close"), UnitKind.PROSE),
}
"""Kind of the content after each of these tokens. In a list item, only its first paragraph has this kind."""
_LISTS = ("bullet_list_open", "ordered_list_open", "bullet_list_close", "ordered_list_close")
_BLOCKS = ("heading_open", "paragraph_open", "table_open", "fence", "code_block", "html_block")
_QUOTE_MARKS = re.compile(r"[ \t]*(?:>[ \t]?)*")
_TASK_BOX = re.compile(r"\[[ xX]\][ \t]+")
_MARKUP_LINE = re.compile(
    r"(?:</?[A-Za-z][^>]*>[ \t]*)+$"  # only tags
    r"|\[[^\]]+\]:[ \t]*\S+"  # a link definition
    r"|(?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?[ \t]*)+$"  # only images
    r"|:{3,}|\{[%:].*\}$"  # directives
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\n]")
_LETTER = re.compile(r"[^\W_]")


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def find_units(text: str) -> tuple[Unit, ...]:
    """Return the units of a Markdown text in order, without markers, rules, comments and other markup."""
    return tuple(_UnitReader(text).read())


def blank_front_matter(text: str) -> str:
    """Prepare a text for the Markdown parser: normalise line ends, replace NUL, and blank out the front matter.

    Line numbers do not change.
    """
    normal = normalise_line_ends(text)
    front = normal[: measure_front_matter(normal)]
    return _NOT_LINE_END.sub("", front) + normal[len(front) :].replace("\0", "\N{REPLACEMENT CHARACTER}")


class _UnitReader:
    """Finds the exact spans of the text that belong to the tokens of the Markdown parser."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [*compute_line_starts(text), len(text)]
        self._source = blank_front_matter(text)
        self._lines = self._source.split("\n")
        self._block = 0

    def read(self) -> Iterator[Unit]:
        kind = UnitKind.PROSE
        lists = 0  # number of lists around the token; a list and everything in it is one block
        for token in parse_blocks(self._source, {}):
            first = token.map[0] if token.map else 0
            if not lists and token.type in (*_LISTS, *_BLOCKS):
                self._block += 1
            if token.type in _LISTS:
                lists += token.nesting
            if token.type in _KINDS:
                kind = _KINDS[token.type]
            elif token.type == "tr_open":
                yield from self._join([(first, _QUOTE_MARKS.sub("", self._lines[first], count=1))], kind)
            elif token.type in ("fence", "code_block"):
                for line in enumerate(token.content.split("\n"), first + (token.type == "fence")):
                    yield from self._join([line], UnitKind.CODE)
            elif token.type == "html_block":
                source = _COMMENT.sub(lambda comment: _NOT_LINE_END.sub("", comment[0]), token.content)
                yield from self._read_paragraph(first, source, UnitKind.PROSE)
            elif token.type == "inline" and kind is UnitKind.HEADING:
                yield from self._join(enumerate(token.content.split("\n"), first), kind)
            elif token.type == "inline" and kind in (UnitKind.PROSE, UnitKind.ITEM):
                yield from self._read_paragraph(first, token.content, kind)
                kind = UnitKind.PROSE

    def _read_paragraph(self, first: int, content: str, kind: UnitKind) -> Iterator[Unit]:
        """Divide a paragraph into units at lines that are only tags, images, link definitions or directives.

        If it is a table without delimiter row, each line is a unit. `first` is the number of its first line.
        """
        box = _TASK_BOX.match(content) if kind is UnitKind.ITEM else None
        lines = content[box.end() if box else 0 :].split("\n")
        run: list[tuple[int, str]] = []
        for number, line in enumerate([*lines, ""], first):
            if line.strip() and not _MARKUP_LINE.match(line.strip()):
                run.append((number, line))
                continue
            if run and run[0][1].startswith("|"):
                for row in run:
                    yield from self._join([row], UnitKind.ROW)
            else:
                yield from self._join(run, kind)
            run = []

    def _join(self, lines: Iterable[tuple[int, str]], kind: UnitKind) -> Iterator[Unit]:
        """Yield one unit for numbered lines, unless they have no letter or digit."""
        spans = []
        for number, line in lines:
            if not line.strip():
                continue
            # The parser cuts off the marks of containers, so the content of a line is at the end of the source line.
            source_line, content = self._lines[number], line.strip()
            if content not in source_line:  # a container took part of a tab
                content = source_line.strip()
            start = self._starts[number] + source_line.rfind(content)
            spans.append((start, start + len(content)))
        if spans and _LETTER.search(self._text, spans[0][0], spans[-1][1]):
            yield Unit(spans[0][0], spans[-1][1], kind, self._block)
