"""The blocks of a Markdown text, in order, each with its offsets in the source."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Flag, auto

from msgspec import Struct

from roamtui.text import Bounds


class Emphasis(Flag):
    """Emphasis of words. Values can be combined."""

    NONE = 0
    STRONG = auto()
    ITALIC = auto()
    STRUCK = auto()
    CODE = auto()


class Words(Struct, frozen=True, gc=False):
    """Text with the same emphasis and link, without a line end."""

    text: str
    emphasis: Emphasis = Emphasis.NONE
    link_number: int | None = None
    """Index in `Markdown.links`, or None if the words are not a link."""
    is_image: bool = False
    """Whether the text stands for an image. It is the image's description or, without one, its URL."""
    group: int | None = None
    """Index of the words' group in `groups` of `parse_markdown`: a quote of an answer, or a highlight."""
    start: int = 0
    """Offset in the source. If text and source are equally long, their characters correspond."""
    end: int = 0
    """Equal to `start` if the words are a sign that is not in the source."""


HARD_BREAK_WORDS = Words("\n")
"""A forced line end between words."""
Inline = Sequence[Words]
"""The words of a block or cell, in order."""


class Link(Struct, frozen=True, gc=False):
    """The target of words: of a link, the mark of a footnote or citation, or words in place of an image."""

    href: str
    is_reference_mark: bool = False
    """Whether the words are the mark of a footnote or a citation, not a link."""
    is_image: bool = False
    """Whether the target is the image that the words stand for."""


class Located(Struct, frozen=True, gc=False, kw_only=True):
    """A part of a text with its offsets in the source."""

    start: int
    end: int


class Paragraph(Located, frozen=True, gc=False, kw_only=True):
    """A paragraph."""

    words: Inline
    inner: Bounds = (0, 0)
    """Bounds of the words with their markup, but without the marks of lists and quotes around them."""


class Heading(Located, frozen=True, gc=False, kw_only=True):
    """A heading."""

    level: int
    words: Inline
    inner: Bounds = (0, 0)
    """Bounds of the words with their markup, as in a paragraph."""


class Code(Located, frozen=True, gc=False, kw_only=True):
    """A fenced or indented block of code."""

    text: str
    r"""The code, with ``\n`` as line end, but not at its end."""
    info: str
    """Text after the opening fence; its first word is the language."""
    offsets: tuple[int, ...]
    """Offset of each line, and the end of the last one."""


class ThematicBreak(Located, frozen=True, gc=False, kw_only=True):
    """A horizontal rule."""


class TableRow(Located, frozen=True, gc=False, kw_only=True):
    """A row of a table."""

    cells: tuple[Inline, ...]
    is_header: bool


class Table(Located, frozen=True, gc=False, kw_only=True):
    """A table."""

    rows: tuple[TableRow, ...]
    alignments: tuple[str, ...]
    """For each column, ``left``, ``right``, ``center``, or an empty string."""


class Item(Located, frozen=True, gc=False, kw_only=True):
    """An item of a list."""

    blocks: tuple[Block, ...]
    is_done: bool | None
    """Whether the task is ticked; None if the item is not a task."""
    number: str = ""
    """The number that a reader sees; empty for a bullet."""
    term: Paragraph | None = None
    """In a list of definitions, the term that the blocks define."""


class List(Located, frozen=True, gc=False, kw_only=True):
    """A bulleted or numbered list."""

    items: tuple[Item, ...]
    delimiter: str
    """Character after each number."""
    is_tight: bool
    """Whether no blank lines separate its paragraphs."""


class BlockQuote(Located, frozen=True, gc=False, kw_only=True):
    """A quotation, or an alert: a quotation whose first line names its kind, such as ``[!NOTE]``."""

    blocks: tuple[Block, ...]
    alert: str
    """Kind of alert in lower case, such as ``note``; empty for a quotation."""
    title: Inline
    """Title of an alert: the text after its kind."""
    label_end: int
    """Offset after the line that names the kind of an alert."""


Block = Paragraph | Heading | Code | ThematicBreak | Table | List | BlockQuote


class Markdown(Struct, frozen=True, kw_only=True):
    """The blocks and links of a text."""

    blocks: tuple[Block, ...]
    links: Sequence[Link]
    """The links in the order of the text."""
