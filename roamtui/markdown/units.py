"""Divides a Markdown text into blocks, units and sentences, each with its bounds in the source.

A block is an outermost block, such as a paragraph, list or table. A unit is a part of a block that can be
quoted: a paragraph, a heading, a row of a table or a line of code. The visible text of a unit is made when it
is asked for. A sentence is a part of the source of a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import chain, pairwise

from msgspec import Struct

from roamtui.markdown.blocks import (
    HARD_BREAK_WORDS,
    Block,
    BlockQuote,
    Code,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Markdown,
    Paragraph,
    Table,
    Words,
)
from roamtui.markdown.table_header import TableHeader
from roamtui.markdown.visible import VisiblePiece, VisibleText
from roamtui.sanitiser import sanitise_line
from roamtui.sentences import HARD_BREAK, continues_sentence, iter_sentence_ends
from roamtui.text import DASHES, Bounds, compute_body_start

_CUT_TAG = re.compile(r"</?[A-Za-z][^<>]*\Z")
"""The start of a tag whose end is cut off."""
_NO_HEADS = " [no column heads found]"
_ITEM_NUMBER = re.compile(r"(\d+)[.)](?!\S)")
_ALERT_KIND = re.compile(r"[^\w\n]*([A-Za-z]+)")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_LETTER = re.compile(r"[^\W_]")
_CODE_SPAN = re.compile(r"(?<!`)(`++)[^`]++\1")
_WORD = re.compile(r"\w+")
_CACHED_TEXTS_MAX = 1_000
"""Number of texts whose units are cached: ranking, excerpts and display all use them."""


class UnitKind(StrEnum):
    """Kind of a unit."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    """The first paragraph of a list item, with its number."""
    LABEL = "label"
    """The kind of an alert without a title, or the number of an item that does not begin with a paragraph."""
    HEADING = "heading"
    ROW = "row"
    TABLE_HEADER = "table_header"
    """A header row."""
    CODE = "code"
    """A line of a block of code."""

    @property
    def has_sentences(self) -> bool:
        """Whether it may have several sentences."""
        return self in (UnitKind.PARAGRAPH, UnitKind.ITEM)

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table, also of its header."""
        return self in (UnitKind.ROW, UnitKind.TABLE_HEADER)


class Sentence(Struct, frozen=True):
    """The bounds of a sentence in the source."""

    start: int
    end: int
    kind: UnitKind
    """The kind of the unit that has the sentence."""


class Unit(Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """A paragraph, heading, row of a table or line of code."""

    kind: UnitKind
    start: int
    """Bounds in the source, without the marks of lists and quotes."""
    end: int
    inlines: Sequence[Inline]
    """The words of each cell."""
    links: Sequence[Link]
    """The links of the text."""
    number: VisiblePiece | None = None
    """The number of its list item."""
    leads: tuple[int, ...] = ()
    """Indices of the units that introduce the lists around it, outermost first."""
    list_end: int = 0
    """The end of the list below an item; 0 without one."""
    header: TableHeader | None = None
    """The header of its table. None outside tables, and in a table without a header row."""
    row: int = 0
    """Index of the row in its table."""

    def continues(self, upper: Unit) -> bool:
        """Return whether it is a paragraph that continues the sentence of the unit above it."""
        is_prose = upper.kind.has_sentences and self.kind is UnitKind.PARAGRAPH
        return is_prose and continues_sentence(upper.whole.text, self.whole.text)

    @cached_property
    def cells(self) -> tuple[VisibleText, ...]:
        """The cells of a row. Any other unit is one cell."""
        cells = [[_read_words(words, self.links) for words in inline] for inline in self.inlines]
        if self.number is not None:
            cells[0].insert(0, self.number)
        return tuple(VisibleText(tuple(pieces)) for pieces in cells)

    @cached_property
    def whole(self) -> VisibleText:
        """The visible text of all cells."""
        if len(self.cells) == 1:
            return self.cells[0]
        spaced = ((VisiblePiece(" "), *cell.pieces) for cell in self.cells)
        return VisibleText(tuple(chain.from_iterable(spaced))[1:])

    @property
    def words(self) -> str:
        """The visible text without pictures, with tildes around struck-out words."""
        return self.whole.words

    @property
    def line(self) -> str:
        """Its words, with bars between the cells of a row."""
        return " | ".join(filter(None, (cell.words.strip() for cell in self.cells)))

    @cached_property
    def columns(self) -> tuple[tuple[str, VisibleText], ...]:
        """The head and the text of each cell of a row that has text.

        A currency sign in its own cell joins its figure.
        """
        columns: list[tuple[str, list[VisiblePiece]]] = []
        last = ""
        for cell, head in zip(self.cells, self._column_headers or [""] * len(self.cells), strict=True):
            if not cell.text.strip():
                continue
            if columns and columns[-1][0] == head and (_is_sign(last) or _is_sign(cell.text)):
                columns[-1][1].extend((VisiblePiece(" "), *cell.pieces))
            else:
                columns.append((head, [*cell.pieces]))
            last = cell.text
        return tuple((head, VisibleText(tuple(pieces))) for head, pieces in columns)

    @cached_property
    def as_row(self) -> VisibleText:
        """A row with its column heads: ``Fees | 2022 — | 2021 5``. Empty cells are left out."""
        pieces: list[VisiblePiece] = []
        for head, cell in self.columns:
            pieces += [VisiblePiece(" | ")] if pieces else []
            pieces += [VisiblePiece(f"{head} ")] if head else []
            pieces += cell.pieces
        if self._column_headers is None and len(self.cells) > 1:
            pieces.append(VisiblePiece(_NO_HEADS))
        return VisibleText(tuple(pieces))

    @cached_property
    def header_words(self) -> str:
        """The known heads of the columns in which a row has text. Empty for any other unit."""
        pairs = zip(self._column_headers or (), self.cells, strict=False)
        return " ".join(head for head, cell in pairs if head and cell.text.strip())

    @cached_property
    def _column_headers(self) -> tuple[str, ...] | None:
        return None if self.header is None else self.header.find(self.row)


class TextUnits(Struct, frozen=True):
    """The outermost blocks of a text, and its units that have letters or digits, in order."""

    blocks: tuple[Block, ...]
    units: tuple[Unit, ...]


@lru_cache(maxsize=_CACHED_TEXTS_MAX)
def read_units(text: str) -> TextUnits:
    """Read the blocks and units of a Markdown text, without its front matter."""
    from roamtui.markdown.parser import parse_markdown  # noqa: PLC0415

    body_start = compute_body_start(text)
    # blank lines replace the front matter, so that offsets do not change
    source = _NOT_LINE_END.sub(" ", text[:body_start]) + text[body_start:]
    markdown = parse_markdown(source)
    units = tuple(
        unit
        for unit in list_units(source, markdown)
        if unit.kind is not UnitKind.LABEL and _LETTER.search(text, unit.start, unit.end)
    )
    return TextUnits(markdown.blocks, units)


def get_unit(text: str, offset: int) -> Unit:
    """Return the unit at the offset of a sentence of a Markdown text. Each sentence is in a unit."""
    return next(unit for unit in read_units(text).units if offset < unit.end)


def split_sentences(text: str) -> list[Sentence]:
    """Return a Markdown text's sentences in order. Rows, headings and lines of code are sentences too."""
    return [sentence for unit in read_units(text).units for sentence in split_unit(text, unit)]


@lru_cache(maxsize=_CACHED_TEXTS_MAX)
def split_unit(text: str, unit: Unit) -> tuple[Sentence, ...]:
    """Return the sentences of a unit. Each has a word. A row, heading or line of code is one sentence."""
    if not unit.kind.has_sentences:
        return (Sentence(unit.start, unit.end, unit.kind),)
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
            sentences.append(Sentence(start, end, unit.kind))
            start = end
    return tuple(sentences)


def list_units(text: str, markdown: Markdown) -> tuple[Unit, ...]:
    """List the units of a parsed text, in order."""
    lister = _UnitLister(text, markdown)
    lister.add_blocks(markdown.blocks, ())
    return tuple(lister.units)


class _UnitLister:
    def __init__(self, text: str, markdown: Markdown) -> None:
        self._text = text
        self._links = markdown.links
        self.units: list[Unit] = []

    def add_blocks(
        self, blocks: Iterable[Block], leads: tuple[int, ...], number: VisiblePiece | None = None
    ) -> None:
        """Add blocks. The units `leads` introduce them. `number` is the item's, if these are its blocks."""
        lead: int | None = None
        for block, following in pairwise((*blocks, None)):
            before, lead = lead, None
            match block:
                case Paragraph():
                    lead = len(self.units)
                    kind = UnitKind.PARAGRAPH if number is None else UnitKind.ITEM
                    list_end = following.end if number is not None and isinstance(following, List) else 0
                    self._add(kind, block.inner, leads, (block.words,), number, list_end)
                case Heading(words=words, inner=inner):
                    self._add(UnitKind.HEADING, inner, leads, (words,))
                case Table():
                    self._add_table(block, leads)
                case Code():
                    self._add_code(block, leads)
                case List():
                    self._add_list(block, leads if before is None else (*leads, before))
                case BlockQuote(title=title, blocks=inner_blocks, start=start, label_end=end):
                    if title:
                        bounds = title[0].start, title[-1].end
                        self._add(UnitKind.PARAGRAPH, bounds, leads, (title,))
                    elif block.alert and (match := _ALERT_KIND.match(self._text, start, end)):
                        self._add_label(match[1], match.span(1), leads)
                    self.add_blocks(inner_blocks, leads)
                case _:
                    lead = before
            number = None

    def _add(
        self,
        kind: UnitKind,
        bounds: Bounds,
        leads: tuple[int, ...],
        inlines: Sequence[Inline],
        number: VisiblePiece | None = None,
        list_end: int = 0,
    ) -> None:
        start, end = bounds
        self.units.append(
            Unit(
                kind=kind,
                start=start,
                end=end,
                inlines=inlines,
                links=self._links,
                number=number,
                leads=leads,
                list_end=list_end,
            )
        )

    def _add_label(self, text: str, bounds: Bounds, leads: tuple[int, ...]) -> None:
        start, end = bounds
        self._add(UnitKind.LABEL, bounds, leads, [[Words(text, start=start, end=end)]])

    def _add_table(self, table: Table, leads: tuple[int, ...]) -> None:
        header = TableHeader(table) if table.rows[0].is_header else None
        for index, row in enumerate(table.rows):
            source = self._text[row.start : row.end]
            self.units.append(
                Unit(
                    kind=UnitKind.TABLE_HEADER if row.is_header else UnitKind.ROW,
                    start=row.start + len(source) - len(source.lstrip("> \t")),
                    end=row.start + len(source.rstrip()),
                    inlines=row.cells,
                    links=self._links,
                    leads=leads,
                    header=header,
                    row=index,
                )
            )

    def _add_list(self, block: List, leads: tuple[int, ...]) -> None:
        for item in block.items:
            number = VisiblePiece("")
            first = item.blocks[0] if item.blocks else None
            if item.number:
                shown = f"{item.number}{block.delimiter} "
                if isinstance(first, Paragraph):
                    # of several items that begin on this line, the last one has the paragraph
                    for match in _ITEM_NUMBER.finditer(self._text, item.start, first.inner[0]):
                        number = VisiblePiece(shown, *match.span())
                elif label := _ITEM_NUMBER.search(self._text, item.start):
                    self._add_label(shown, label.span(), leads)
            own = leads
            if item.term is not None:
                own = (*leads, len(self.units))
                self.add_blocks([item.term], leads)
            self.add_blocks(item.blocks, own, number)

    def _add_code(self, code: Code, leads: tuple[int, ...]) -> None:
        bounds_of_lines = pairwise((*code.offsets, len(self._text)))
        for line, (start, end) in zip(code.text.split("\n"), bounds_of_lines, strict=False):
            offset = self._text.find(line, start, end)
            bounds = (offset, offset + len(line)) if offset >= 0 else (start, end)
            words = Words(line, Emphasis.CODE, start=bounds[0], end=bounds[1])
            self._add(UnitKind.CODE, bounds, leads, [[words]])


def _read_words(words: Words, links: Sequence[Link]) -> VisiblePiece:
    """Return the visible text of words. For an image without a description, this is a space."""
    if words is HARD_BREAK_WORDS:
        return VisiblePiece(HARD_BREAK)
    link = None if words.link_number is None else links[words.link_number]
    if words.is_image and link is not None and words.text == link.href:
        return VisiblePiece(" ")
    is_reference = link is not None and link.is_reference_mark
    return VisiblePiece(words.text, words.start, words.end, words.emphasis, words.is_image, is_reference)


def _is_sign(text: str) -> bool:
    return not any(map(str.isalnum, text)) and text.strip() not in DASHES


def read_visible_line(text: str) -> str:
    """Return the words of a piece of Markdown on one line, without pictures. Words in code stay as they are.

    Bars divide cells. A slash divides rows or items if the first ends without punctuation. Struck-out words
    are between tildes. The piece may be cut from a text: a table row without its header, or half a tag.
    """
    from roamtui.markdown.parser import parse_markdown  # noqa: PLC0415

    piece = _CUT_TAG.sub("", text.strip())
    line = ""
    for unit in list_units(piece, parse_markdown(piece)):
        if unit.kind is not UnitKind.LABEL and (words := unit.line):
            is_divided = line[-1:].isalnum() and (unit.kind.is_row or unit.kind is UnitKind.ITEM)
            line = f"{line} / {words}" if is_divided else f"{line} {words}"
    line = sanitise_line(line)
    return line.strip("| ") if piece.startswith("|") else line
