"""What the rules look at: the passages, tables, images and links of a library, read once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.markdown.blocks import (
    Block,
    Code,
    Details,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Rule,
    Table,
)
from roamtui.document.markdown.reading import Definitions, find_definitions, read_markdown
from roamtui.document.node import NodeKind
from roamtui.document.parse import measure_front_matter
from roamtui.document.plain import plain_line, shorten, strip_anchor

_READ = (NodeKind.SECTION, NodeKind.PREAMBLE, NodeKind.LINK)
_FILE_NAME = re.compile(r"(?:https?://|data:|\S*/)?\S*\.(?:png|jpe?g|gif|svg|webp|avif|bmp)(?:[?#]\S*)?", re.IGNORECASE)
"""What stands for an image without a description: its address."""


_DECORATION = re.compile(r"""<img\b[^>]*\balt=(?:""|'')""", re.IGNORECASE)
_NEAR = 1_000
_LABELLED_COLUMNS = 2
"""A table of two columns may be a list of labels, each with what it says."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a document, and where in the text something stands."""

    document: Document
    row: int
    offset: int

    @property
    def section_id(self) -> str:
        """Id of the row."""
        return self.document.ids[self.row]

    @property
    def title(self) -> str:
        """Title of the row."""
        return self.document.columns.titles[self.row]

    @property
    def quoted(self) -> str:
        """Title of the row as messages have it."""
        return f"“{shorten(strip_anchor(plain_line(self.title)), 60)}”" if self.title else "the beginning"


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a document is hard to roam, and why."""

    place: Place
    message: str
    """Words of the document in it are sanitised."""
    count: int = 1
    """How many places it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph, also of a list or a quotation."""

    place: Place
    text: str
    is_first: bool
    """Whether its section begins with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question whose sections are known, and what search finds for it."""

    question: str
    golds: frozenset[str]
    place: Place
    """Of its first section."""
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a library holds that rules look at."""

    library: Library
    sections: list[Place] = field(default_factory=list)
    """Headings."""
    passages: list[Passage] = field(default_factory=list)
    tables: list[tuple[Place, bool]] = field(default_factory=list)
    """Each with whether its columns have names."""
    images: list[tuple[Place, bool]] = field(default_factory=list)
    """Each with whether it is described."""
    links: list[tuple[Place, str]] = field(default_factory=list)
    """Each with its address as it stands there."""
    questions: tuple[AskedQuestion, ...] = ()


def read_facts(library: Library, questions: Iterable[AskedQuestion] = ()) -> Facts:
    """Return what rules look at; of pages behind links nothing, whose text is not the source's own."""
    facts = Facts(library, questions=tuple(questions))
    for document in library.documents:
        kinds, starts = document.columns.kinds, document.columns.starts
        if document.columns.has_files or (document.url and document is not library.root):
            continue
        definitions = find_definitions(str(document.text))
        for row, kind in enumerate(kinds):
            if kind is NodeKind.SECTION:
                facts.sections.append(Place(document, row, starts[row]))
            if kind in _READ:
                _RowReader(facts, document, row).read(definitions)
    return facts


@dataclass(slots=True)
class _RowReader:
    """Reads the own text of one row."""

    facts: Facts
    document: Document
    row: int
    links: Sequence[Link] = ()
    is_begun: bool = False

    def read(self, definitions: Definitions) -> None:
        starts = self.document.columns.starts
        start = starts[self.row]
        text = self.document.text[start : starts[self.row + 1]]
        front = measure_front_matter(text) if start == 0 else 0
        markdown = read_markdown(text[front:], start=start + front, definitions=definitions)
        self.links = markdown.links
        self._read_blocks(markdown.blocks)

    def _read_blocks(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            match block:
                case Heading():
                    self._read_words(block.words, block.start)
                    continue
                case Paragraph():
                    self._read_words(block.words, block.start)
                    self._add_passage(block.words, block.start)
                case Table():
                    self._read_table(block)
                case List():
                    for item in block.items:
                        self._read_blocks(item.blocks)
                case Quote() | Details():
                    self._read_blocks(block.blocks)
                case Code() | Rule():
                    pass
            self.is_begun = True

    def _add_passage(self, words: Inline, start: int) -> None:
        text = " ".join("".join(one.text for one in words if not one.is_image).split())
        if text:
            place = Place(self.document, self.row, start)
            self.facts.passages.append(Passage(place=place, text=text, is_first=not self.is_begun))

    def _read_table(self, table: Table) -> None:
        if not table.rows:
            return
        place = Place(self.document, self.row, table.rows[0].start)
        first = table.rows[0]
        has_names = first.is_head and any(word.text.strip() for cell in first.cells for word in cell)
        if len(first.cells) > _LABELLED_COLUMNS and not self.document.page_starts:
            self.facts.tables.append((place, has_names))
        for row in table.rows:
            for cell in row.cells:
                self._read_words(cell, row.start)

    def _read_words(self, words: Inline, start: int) -> None:
        place = Place(self.document, self.row, start)
        for word in words:
            if word.is_image:
                is_described = _FILE_NAME.fullmatch(word.text.strip()) is None
                is_decoration = _DECORATION.search(self.document.text[start : start + _NEAR]) is not None
                self.facts.images.append((place, is_described or is_decoration))
        numbers = dict.fromkeys(word.link for word in words if word.link is not None)
        for link in (self.links[number] for number in numbers):
            if not link.is_mark:
                self.facts.links.append((place, link.href))
