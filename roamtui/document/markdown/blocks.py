"""What a piece of Markdown holds, as values: blocks in the order of the text, each with its place in the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto


class Emphasis(Flag):
    """What inline marks add to words."""

    NONE = 0
    STRONG = auto()
    ITALIC = auto()
    STRUCK = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Words:
    """Text of one kind, without a line end."""

    text: str
    emphasis: Emphasis = Emphasis.NONE
    link: int | None = None
    """Number of the link that it is part of."""
    is_image: bool = False
    """Whether it stands for an image, of which it is the description or else the address."""


LINE_BREAK = Words("\n")
"""Stands among words where a line must end."""
Inline = tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Where words lead."""

    href: str
    is_mark: bool = False
    """Whether it is a mark within the text, of a footnote or a citation, rather than a link."""
    is_image: bool = False
    """Whether it leads to the image that stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Words that belong together."""

    words: Inline
    start: int
    """Offset of its source; the same in all blocks."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A title."""

    level: int
    words: Inline
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines of code."""

    text: str
    r"""With ``\n`` as line ends, none at its own end."""
    info: str
    """What stands beside its fence, the language first."""
    offsets: tuple[int, ...]
    """Where each of its lines begins, and where the last one ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThematicBreak:
    """A line between two parts."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of a table."""

    cells: tuple[Inline, ...]
    is_head: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells."""

    rows: tuple[TableRow, ...]
    alignments: tuple[str, ...]
    """``left``, ``right``, ``center`` or empty, for each column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of a list."""

    blocks: tuple[Block, ...]
    is_done: bool | None
    """Of a task; None for any other item."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """Items with bullets or numbers."""

    items: tuple[Item, ...]
    number: int | None
    """Of its first item, None for bullets."""
    delimiter: str
    """Stands after a number."""
    is_tight: bool
    """Whether its paragraphs are written without blank lines between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Quoted blocks, or an alert."""

    blocks: tuple[Block, ...]
    alert: str
    """Its kind in small letters, as in ``[!NOTE]``; empty for a quotation."""
    title: Inline
    """What stands beside the kind of an alert."""
    start: int
    """Offset of the line that says the kind."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Blocks that a page folds away below a summary."""

    summary: Inline
    is_open: bool
    """Whether a page shows the blocks at first."""
    blocks: tuple[Block, ...]
    start: int
    """Offset of the summary."""
    end: int


Block = Paragraph | Heading | Code | ThematicBreak | Table | List | Quote | Details


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """The blocks of a text."""

    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    """In order; words know theirs by its number."""


def get_block_end(block: Block) -> int:
    """Return the offset after a block and all in it."""
    match block:
        case Code():
            return block.offsets[-1]
        case Table():
            return block.rows[-1].end
        case List():
            return block.items[-1].end
        case Details() | Quote():
            return max(block.end, *(get_block_end(one) for one in block.blocks), 0)
        case Paragraph() | Heading() | ThematicBreak():
            return block.end


def flatten_blocks(blocks: Sequence[Block]) -> Inline:
    """Return all words of blocks as those of one cell of a table: a line for each paragraph, item and row."""
    lines = [line for block in blocks for line in _list_lines(block)]
    return tuple(words for line in lines for words in (LINE_BREAK, *line))[1:]


def _list_lines(block: Block) -> Iterator[Inline]:
    match block:
        case Paragraph() | Heading():
            yield block.words
        case Code():
            yield from ((Words(line, Emphasis.CODE),) for line in block.text.split("\n"))
        case Table():
            for row in block.rows:
                yield tuple(words for cell in row.cells for words in (*cell, Words(" ")))
        case List():
            for number, item in enumerate(block.items, block.number or 0):
                mark = "• " if block.number is None else f"{number}{block.delimiter} "
                yield (Words(mark), *flatten_blocks(item.blocks))
        case Quote() | Details():
            title = block.title if isinstance(block, Quote) else block.summary
            if title:
                yield tuple(replace(words, emphasis=words.emphasis | Emphasis.STRONG) for words in title)
            yield flatten_blocks(block.blocks)
        case ThematicBreak():
            pass
