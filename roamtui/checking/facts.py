"""The facts that rules check: passages, tables, images and links of a library, read in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from roamtui.document.document import Document
from roamtui.document.front_matter import measure_front_matter
from roamtui.document.library import Library
from roamtui.document.markdown.blocks import (
    Block,
    Details,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Table,
)
from roamtui.document.markdown.parser import Definitions, parse_link_definitions, read_markdown
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten, strip_anchor
from roamtui.evaluation.question_set import SearchedQuestion

_READ = (NodeKind.SECTION, NodeKind.PREAMBLE, NodeKind.LINK)
_FILE_NAME = re.compile(r"(?!\S*\s)\S*\.(?:png|jpe?g|gif|svg|webp|avif|bmp)(?:[?#]\S*)?", re.IGNORECASE)
"""An image without a description: the text is its address."""
_DECORATION = re.compile(r"""<img\b[^>]*\balt=(?:""|'')""", re.IGNORECASE)
_NEAR = 1_000
_LABELLED_COLUMNS = 2
"""A table of two columns may be a list of labels and values."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A row of a document and an offset in its text."""

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
    def quoted_title(self) -> str:
        """Title of the row, quoted for messages."""
        return f"“{shorten(strip_anchor(sanitise_line(self.title)), 60)}”" if self.title else "the beginning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding: where a document is hard to navigate, and why."""

    place: SourceLocation
    message: str
    """Quoted text of the document is sanitised."""
    count: int = 1
    """Number of places that the finding covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph, possibly in a list or quotation."""

    place: SourceLocation
    text: str
    is_first: bool
    """Whether it is the first text of its section."""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """The content of a library that rules check."""

    library: Library
    sections: list[SourceLocation] = field(default_factory=list)
    """Headings."""
    passages: list[Passage] = field(default_factory=list)
    tables: list[tuple[SourceLocation, bool]] = field(default_factory=list)
    """Each with whether its columns have names."""
    images: list[tuple[SourceLocation, bool]] = field(default_factory=list)
    """Each with whether it has a description."""
    links: list[tuple[SourceLocation, str]] = field(default_factory=list)
    """Each with its target as written."""
    items: list[SourceLocation] = field(default_factory=list)
    """Links in lists of links, including pages within pages."""
    questions: Sequence[tuple[SourceLocation, SearchedQuestion]] = ()
    """Each with the first of its gold sections."""


def read_facts(library: Library) -> DocumentFacts:
    """Collect the facts; pages behind links are skipped, because their text is not the source's own."""
    facts = DocumentFacts(library)
    for document in library.documents:
        kinds, starts = document.columns.kinds, document.columns.starts
        facts.items.extend(
            SourceLocation(document, row, starts[row]) for row, kind in enumerate(kinds) if kind is NodeKind.LINK
        )
        if document.columns.has_files or (document.url and document is not library.root):
            continue
        definitions = parse_link_definitions(str(document.text))
        for row, kind in enumerate(kinds):
            if kind is NodeKind.SECTION:
                facts.sections.append(SourceLocation(document, row, starts[row]))
            if kind in _READ:
                _read_row(facts, document, row, definitions)
    return facts


def _read_row(facts: DocumentFacts, document: Document, row: int, definitions: Definitions) -> None:
    start, end = document.columns.starts[row : row + 2]
    text = document.text[start:end]
    front = measure_front_matter(text) if start == 0 else 0
    markdown = read_markdown(text[front:], start=start + front, definitions=definitions)
    is_first = True
    for block in _walk(markdown.blocks):
        if isinstance(block, Paragraph):
            words = " ".join("".join(word.text for word in block.words if not word.is_image).split())
            if words:
                facts.passages.append(
                    Passage(place=SourceLocation(document, row, block.start), text=words, is_first=is_first)
                )
        if isinstance(block, Table) and block.rows and not document.page_starts:
            first = block.rows[0]
            has_names = first.is_head and any(word.text.strip() for cell in first.cells for word in cell)
            if len(first.cells) > _LABELLED_COLUMNS:
                facts.tables.append((SourceLocation(document, row, first.start), has_names))
        match block:
            case Heading() | Paragraph():
                _read_words(facts, SourceLocation(document, row, block.start), block.words, markdown.links)
            case Table():
                for table_row in block.rows:
                    for cell in table_row.cells:
                        _read_words(facts, SourceLocation(document, row, table_row.start), cell, markdown.links)
            case _:
                pass
        is_first = is_first and isinstance(block, Heading)


def _walk(blocks: Sequence[Block]) -> Iterator[Block]:
    # Nested blocks come before the block that contains them.
    for block in blocks:
        match block:
            case List():
                for item in block.items:
                    yield from _walk(item.blocks)
            case Quote() | Details():
                yield from _walk(block.blocks)
            case _:
                pass
        yield block


def _read_words(facts: DocumentFacts, place: SourceLocation, words: Inline, links: Sequence[Link]) -> None:
    for word in words:
        if word.is_image:
            near = place.document.text[place.offset : place.offset + _NEAR]
            is_described = _FILE_NAME.fullmatch(word.text.strip()) is None
            facts.images.append((place, is_described or _DECORATION.search(near) is not None))
    for number in dict.fromkeys(word.link for word in words if word.link is not None):
        if not links[number].is_mark:
            facts.links.append((place, links[number].href))
