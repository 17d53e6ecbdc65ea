"""The facts that rules check: passages, tables, images and links of a library, read in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from roamtui.document.document import Document
from roamtui.document.front_matter import measure_front_matter
from roamtui.document.library import Library
from roamtui.document.markdown.blocks import Block, Details, Heading, Inline, Link, List, Paragraph, Quote, Table
from roamtui.document.markdown.parser import Definitions, parse_link_definitions, read_markdown
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten, strip_anchor
from roamtui.evaluation.question_set import SearchedQuestion

_KINDS_WITH_TEXT = (NodeKind.SECTION, NodeKind.PREAMBLE, NodeKind.LINK)
_FILE_NAME = re.compile(r"(?!\S*\s)\S*\.(?:png|jpe?g|gif|svg|webp|avif|bmp)(?:[?#]\S*)?", re.IGNORECASE)
"""The text of an image without a description: only the name or URL of its file."""
_EMPTY_ALT = re.compile(r"""<img\b[^>]*\balt=(?:""|'')""", re.IGNORECASE)
"""An image whose empty description marks it as decoration."""
_TAG_DISTANCE_MAX = 1_000
"""Number of characters after the start of a block that are searched for the tag of a decorative image."""
_UNNAMED_COLUMNS_MAX = 2
"""A table with at most this many columns needs no column names: it may be a list of labels and values."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A node of a document, given by its row, and an offset in the text of the document."""

    document: Document
    row: int
    offset: int

    @property
    def section_id(self) -> str:
        """Id of the node."""
        return self.document.ids[self.row]

    @property
    def title(self) -> str:
        """Title of the node."""
        return self.document.columns.titles[self.row]

    @property
    def quoted_title(self) -> str:
        """Title of the node, quoted for messages."""
        return f"“{shorten(strip_anchor(sanitise_line(self.title)), 60)}”" if self.title else "the beginning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding: where a document is hard to navigate, and why."""

    location: SourceLocation
    message: str
    """The problem in words. Quoted text of the document is sanitised."""
    count: int = 1
    """Number of places that the finding covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph, possibly in a list or quotation."""

    location: SourceLocation
    text: str
    is_first: bool
    """Whether it is the first text of its section."""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What the rules need to know about a library."""

    library: Library
    sections: list[SourceLocation] = field(default_factory=list)
    """Where each section starts."""
    passages: list[Passage] = field(default_factory=list)
    tables: list[tuple[SourceLocation, bool]] = field(default_factory=list)
    """Each with a flag: true if its columns have names."""
    images: list[tuple[SourceLocation, bool]] = field(default_factory=list)
    """Each with a flag: true if it has a description or is marked as decoration."""
    links: list[tuple[SourceLocation, str]] = field(default_factory=list)
    """Each with its target as written."""
    listed_links: list[SourceLocation] = field(default_factory=list)
    """Links of an llms.txt or another list of links, also those on linked pages."""
    questions: Sequence[tuple[SourceLocation, SearchedQuestion]] = ()
    """Each with the first of its gold sections."""


def read_facts(library: Library) -> DocumentFacts:
    """Collect the facts. Pages behind links are skipped, because the source does not contain their text."""
    facts = DocumentFacts(library)
    for document in library.documents:
        kinds, starts = document.columns.kinds, document.columns.starts
        facts.listed_links.extend(
            SourceLocation(document, row, starts[row]) for row, kind in enumerate(kinds) if kind is NodeKind.LINK
        )
        if document.columns.has_files or (document.url and document is not library.root):
            continue
        definitions = parse_link_definitions(str(document.text))
        for row, kind in enumerate(kinds):
            if kind is NodeKind.SECTION:
                facts.sections.append(SourceLocation(document, row, starts[row]))
            if kind in _KINDS_WITH_TEXT:
                _collect_row(facts, document, row, definitions)
    return facts


def _collect_row(facts: DocumentFacts, document: Document, row: int, definitions: Definitions) -> None:
    start, end = document.columns.starts[row : row + 2]
    text = document.text[start:end]
    front_matter_length = measure_front_matter(text) if start == 0 else 0
    markdown = read_markdown(text[front_matter_length:], start=start + front_matter_length, definitions=definitions)
    is_first = True
    for block in _iter_nested(markdown.blocks):
        match block:
            case Heading():
                _collect_words(facts, SourceLocation(document, row, block.start), block.words, markdown.links)
            case Paragraph(words=words):
                location = SourceLocation(document, row, block.start)
                if visible := " ".join("".join(word.text for word in words if not word.is_image).split()):
                    facts.passages.append(Passage(location=location, text=visible, is_first=is_first))
                _collect_words(facts, location, words, markdown.links)
            case Table(rows=rows):
                first = rows[0] if rows and not document.page_starts else None
                if first is not None and len(first.cells) > _UNNAMED_COLUMNS_MAX:
                    has_names = first.is_head and any(word.text.strip() for cell in first.cells for word in cell)
                    facts.tables.append((SourceLocation(document, row, first.start), has_names))
                for table_row in rows:
                    for cell in table_row.cells:
                        _collect_words(facts, SourceLocation(document, row, table_row.start), cell, markdown.links)
            case _:
                pass
        is_first = is_first and isinstance(block, Heading)


def _iter_nested(blocks: Sequence[Block]) -> Iterator[Block]:
    # Nested blocks come before the block that contains them.
    for block in blocks:
        match block:
            case List():
                for item in block.items:
                    yield from _iter_nested(item.blocks)
            case Quote() | Details():
                yield from _iter_nested(block.blocks)
            case _:
                pass
        yield block


def _collect_words(facts: DocumentFacts, location: SourceLocation, words: Inline, links: Sequence[Link]) -> None:
    for word in words:
        if word.is_image:
            following = location.document.text[location.offset : location.offset + _TAG_DISTANCE_MAX]
            is_described = _FILE_NAME.fullmatch(word.text.strip()) is None
            facts.images.append((location, is_described or _EMPTY_ALT.search(following) is not None))
    for number in dict.fromkeys(word.link for word in words if word.link is not None):
        link = links[number]
        if not link.is_reference_mark and not link.href.startswith("[["):  # a wiki link may name a file of any folder
            facts.links.append((location, link.href))
