"""What a person sees of a Markdown text: paragraphs, items, rows and lines of code, with their offsets."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from msgspec import Struct

from roamtui.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Emphasis,
    Heading,
    Inline,
    List,
    Located,
    Markdown,
    Paragraph,
    Quote,
    Table,
    Words,
)
from roamtui.markdown.heads import TableHeads
from roamtui.markdown.inline import CELL_BORDER
from roamtui.plain import sanitise_line
from roamtui.sentences import LINE_END, iter_sentence_ends
from roamtui.text import Bounds

_CUT_TAG = re.compile(r"</?[A-Za-z][^<>]*\Z")
"""A tag whose end is not part of the piece."""
_SPACE = re.compile(r"\s+")
_BAR = re.compile(r"\s*[|│]\s*")
_ROWS_MIN = 2
_ITEM_NUMBER = re.compile(r"\s*(\d+)[.)]")
_ALERT_KIND = re.compile(r"[^\w\n]*([A-Za-z]+)")


class Piece(NamedTuple):
    """Visible text with its bounds in the source. If both are equally long, they have the same characters."""

    text: str
    start: int = 0
    end: int = 0
    """Equal to `start` if the text is not in the source."""
    emphasis: Emphasis = Emphasis.NONE
    is_image: bool = False
    """Whether it is the description of an image."""
    is_mark: bool = False
    """Whether it is the mark of a footnote, which is shown in another form than in the source."""


class VisibleText(Struct, frozen=True, dict=True):
    """Pieces of visible text, in the order of the source."""

    pieces: tuple[Piece, ...]

    @cached_property
    def text(self) -> str:
        """The visible text."""
        return "".join([piece.text for piece in self.pieces])

    @cached_property
    def sentence_ends(self) -> array[int]:
        """The offset after each sentence but the last."""
        return array("Q", iter_sentence_ends(self.text))

    @cached_property
    def _spaces(self) -> array[int]:
        return array("Q", [match.start() for match in _SPACE.finditer(self.text)])

    def count_words(self, start: int, end: int) -> int:
        """Count the words of a part of the text that begins and ends with a word."""
        return bisect_left(self._spaces, end) - bisect_left(self._spaces, start) + 1

    @cached_property
    def offsets(self) -> array[int]:
        """The offset of each piece, and the end of the last."""
        return array("Q", accumulate([len(piece.text) for piece in self.pieces], initial=0))

    @cached_property
    def _source_ends(self) -> array[int]:
        return array("Q", accumulate([piece.end for piece in self.pieces], max))

    def locate(self, start: int, end: int) -> Bounds | None:
        """Return the bounds in the visible text of a part of the source, or None if nothing is visible."""
        first = bisect_right(self._source_ends, start)
        last = bisect_left(self._source_ends, end)
        inside = [
            index
            for index in range(first, min(last + 1, len(self.pieces)))
            if self.pieces[index].start < min(end, self.pieces[index].end)
        ]
        if not inside:
            return None
        low, high = self.pieces[inside[0]], self.pieces[inside[-1]]
        skipped = max(0, start - low.start) if low.end - low.start == len(low.text) else 0
        left = max(0, high.end - end) if high.end - high.start == len(high.text) else 0
        return self.offsets[inside[0]] + skipped, self.offsets[inside[-1] + 1] - left

    def iter_pieces(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of a part of the visible text, cut to it."""
        index = max(0, bisect_right(self.offsets, start) - 1)
        while index < len(self.pieces) and self.offsets[index] < end:
            piece = self.pieces[index]
            low = max(0, start - self.offsets[index])
            high = min(len(piece.text), end - self.offsets[index])
            if piece.end - piece.start == len(piece.text):
                piece = piece._replace(start=piece.start + low, end=piece.start + high)
            yield piece._replace(text=piece.text[low:high])
            index += 1


class UnitKind(StrEnum):
    """Kind of a unit."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    """The first paragraph of a list item, with its number."""
    LABEL = "label"
    """The kind of an alert without a title, or the number of an item that begins with no paragraph."""
    HEADING = "heading"
    ROW = "row"
    CODE = "code"
    """A line of a block of code."""


class VisibleUnit(Struct, frozen=True, kw_only=True, dict=True):
    """A paragraph, heading, row of a table or line of code as a person sees it."""

    kind: UnitKind
    start: int
    """Bounds in the source."""
    end: int
    cells: tuple[VisibleText, ...]
    """The cells of a row; everything else has one."""
    leads: tuple[int, ...] = ()
    """Indices of the units that lead its list in, outermost first."""
    heads: TableHeads | None = None
    """The column heads of its table, or None for the row of a table that is written as plain lines."""
    row: int = 0
    """Index in its table."""

    @cached_property
    def whole(self) -> VisibleText:
        """All of its text."""
        return self.cells[0] if len(self.cells) == 1 else VisibleText(tuple(_join_cells(self.cells)))

    @property
    def is_bold(self) -> bool:
        """Whether all of its words are bold."""
        words = [piece for piece in self.cells[0].pieces if piece.text.strip()]
        return bool(words) and all(Emphasis.STRONG in piece.emphasis for piece in words)


def list_units(text: str, markdown: Markdown) -> tuple[VisibleUnit, ...]:
    """List the units of a parsed text, in order."""
    lister = _UnitLister(text, markdown)
    lister.add_blocks(markdown.blocks, ())
    return tuple(lister.units)


class _UnitLister:
    """Lists the units of one text."""

    def __init__(self, text: str, markdown: Markdown) -> None:
        self._text = text
        self._links = markdown.links
        self.units: list[VisibleUnit] = []

    def add_blocks(
        self, blocks: Iterable[Block], leads: tuple[int, ...], number: Piece | None = None
    ) -> None:
        """Add blocks that some units lead in. `number` is that of the item whose first block this is."""
        lead: int | None = None
        for block in blocks:
            before, lead = lead, None
            match block:
                case Paragraph(words=words):
                    lead = len(self.units)
                    kind = UnitKind.PARAGRAPH if number is None else UnitKind.ITEM
                    text = self._read_text(words, number)
                    rows = _split_rows(text)
                    for cells in rows:
                        self._add(UnitKind.ROW, block, cells, leads)
                    if not rows:
                        self._add(kind, block, (text,), leads)
                case Heading(words=words):
                    self._add(UnitKind.HEADING, block, (self._read_text(words),), leads)
                case Table():
                    self._add_table(block, leads)
                case Code():
                    self._add_code(block, leads)
                case List():
                    self._add_list(block, leads if before is None else (*leads, before))
                case Quote(title=title, blocks=inner, start=start, end=end):
                    if title:
                        self.add_blocks([Paragraph(words=title, start=start, end=end)], leads)
                    elif block.alert and (match := _ALERT_KIND.match(self._text, start, end)):
                        self._add_label(block, Piece(match[1], *match.span(1)), leads)
                    self.add_blocks(inner, leads)
                case _:
                    lead = before
            number = None

    def _add_table(self, table: Table, leads: tuple[int, ...]) -> None:
        heads = TableHeads(table)
        for index, row in enumerate(table.rows):
            self.units.append(
                VisibleUnit(
                    kind=UnitKind.ROW,
                    start=row.start,
                    end=row.end,
                    cells=tuple(map(self._read_text, row.cells)),
                    leads=leads,
                    heads=heads,
                    row=index,
                )
            )

    def _add_list(self, block: List, leads: tuple[int, ...]) -> None:
        for index, item in enumerate(block.items, block.number or 0):
            number = Piece("")
            if block.number is not None and (match := _ITEM_NUMBER.match(self._text, item.start)):
                shown = match[1] if int(match[1]) == index else str(index)
                number = Piece(f"{shown}{block.delimiter} ", match.start(1), match.end())
            if number.text and not (item.blocks and isinstance(item.blocks[0], Paragraph)):
                self._add_label(item, number, leads)
            own = leads
            if item.term is not None:
                own = (*leads, len(self.units))
                self.add_blocks([item.term], leads)
            self.add_blocks(item.blocks, own, number)

    def _add(
        self, kind: UnitKind, block: Located, cells: tuple[VisibleText, ...], leads: tuple[int, ...]
    ) -> None:
        self.units.append(VisibleUnit(kind=kind, start=block.start, end=block.end, cells=cells, leads=leads))

    def _add_label(self, block: Located, label: Piece, leads: tuple[int, ...]) -> None:
        self._add(UnitKind.LABEL, block, (VisibleText((label,)),), leads)

    def _read_text(self, inline: Inline, number: Piece | None = None) -> VisibleText:
        pieces = map(self._read_words, inline)
        return VisibleText((*([number] if number is not None else []), *pieces))

    def _read_words(self, words: Words) -> Piece:
        """Return the visible text of words: a space for the address of an image without a description."""
        if words is LINE_BREAK:
            return Piece(LINE_END)
        link = None if words.link is None else self._links[words.link]
        if words.is_image and link is not None and words.text == link.href:
            return Piece(" ")
        is_mark = link is not None and link.is_reference_mark
        return Piece(words.text, words.start, words.end, words.emphasis, words.is_image, is_mark)

    def _add_code(self, code: Code, leads: tuple[int, ...]) -> None:
        bounds_of_lines = pairwise((*code.offsets, len(self._text)))
        for line, (start, end) in zip(code.text.split("\n"), bounds_of_lines, strict=False):
            offset = self._text.find(line, start, end)
            bounds = (offset, offset + len(line)) if offset >= 0 else (start, end)
            visible = VisibleText((Piece(line, *bounds, Emphasis.CODE),))
            self._add(UnitKind.CODE, Located(start=start, end=end), (visible,), leads)


def _split_rows(text: VisibleText) -> list[tuple[VisibleText, ...]]:
    """Return the rows of a paragraph that is a table written as plain lines, or none if it is prose."""
    if "|" not in text.text and "│" not in text.text:
        return []
    rows: list[list[list[Piece]]] = [[[]]]
    for piece in text.pieces:
        if piece.start == piece.end and not piece.text.strip():  # the end of a line
            rows.append([[]])
            continue
        position = 0
        for match in (*_BAR.finditer(piece.text), None):
            end = len(piece.text) if match is None else match.start()
            rows[-1][-1] += VisibleText((piece,)).iter_pieces(position, end)
            if match is not None:
                rows[-1].append([])
                position = match.end()
    if sum(len(cells) > 1 for cells in rows) < max(_ROWS_MIN, len(rows) / 2):
        return []
    return [tuple(VisibleText(tuple(pieces)) for pieces in cells) for cells in rows]


def _join_cells(cells: Iterable[VisibleText]) -> Iterator[Piece]:
    """Yield the pieces of cells, with spaces between them."""
    for number, cell in enumerate(cells):
        if number:
            yield Piece(" ")
        yield from cell.pieces


def read_visible_line(text: str) -> str:
    """Return the words of a piece of Markdown on one line, without pictures. Words in code stay as they are.

    The piece may be cut from a text: a row of a table without its head, or words with half a tag.
    """
    from roamtui.markdown.parser import read_markdown  # noqa: PLC0415 - the first screen does not need it

    piece = _CUT_TAG.sub("", text.strip())
    if piece.startswith("|"):
        piece = CELL_BORDER.sub(" ", piece).strip()
    units = list_units(piece, read_markdown(piece))
    words = [
        [part.text for part in unit.whole.pieces if not part.is_image]
        for unit in units
        if unit.kind is not UnitKind.LABEL
    ]
    return sanitise_line(" ".join(map("".join, words)))
