"""The blocks of a Markdown text, in order, each with its offsets in the source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto


class Emphasis(Flag):
    """Emphasis of words; values can be combined."""

    NONE = 0
    STRONG = auto()
    ITALIC = auto()
    STRUCK = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Words:
    """Text with the same emphasis and link, without a line end."""

    text: str
    emphasis: Emphasis = Emphasis.NONE
    link: int | None = None
    """Index in `Markdown.links`; None if the words are not a link."""
    is_image: bool = False
    """Whether the text replaces an image. It is then the description of the image, or its URL if there is none."""
    group: int | None = None
    """Number of the quote that the words belong to; None except in answers of a model."""


LINE_BREAK = Words("\n")
"""A forced line end between words."""
Inline = tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Where some words lead: a link, the mark of a footnote or citation, or an image that the words replace."""

    href: str
    is_reference_mark: bool = False
    """Whether the words are the mark of a footnote or a citation, not a link."""
    is_image: bool = False
    """Whether it leads to the image that the words replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A part of a text with its offsets in the source."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph(Located):
    """A paragraph."""

    words: Inline


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading(Located):
    """A heading."""

    level: int
    words: Inline


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A fenced or indented block of code."""

    text: str
    r"""With ``\n`` as line ends, and none at the end."""
    info: str
    """Text after the opening fence; its first word is the language."""
    offsets: tuple[int, ...]
    """Offset of each line, and the end of the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThematicBreak(Located):
    """A horizontal rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow(Located):
    """A row of a table."""

    cells: tuple[Inline, ...]
    is_head: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table."""

    rows: tuple[TableRow, ...]
    alignments: tuple[str, ...]
    """For each column, ``left``, ``right``, ``center``, or an empty string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Located):
    """An item of a list."""

    blocks: tuple[Block, ...]
    is_done: bool | None
    """Whether the task is ticked; None if the item is not a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """A bulleted or numbered list."""

    items: tuple[Item, ...]
    number: int | None
    """Number of the first item, or None for bullets."""
    delimiter: str
    """Character after each number."""
    is_tight: bool
    """Whether no blank lines separate its paragraphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Located):
    """A quotation, or an alert: a quotation whose first line names its kind, such as ``[!NOTE]``."""

    blocks: tuple[Block, ...]
    alert: str
    """Kind of alert in lower case, such as ``note``; empty for a quotation."""
    title: Inline
    """Title of an alert: the text after its kind."""


Block = Paragraph | Heading | Code | ThematicBreak | Table | List | Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """The blocks and links of a text."""

    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    """In the order of the text."""
