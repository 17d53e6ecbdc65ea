"""`DocumentView`: the document that the reader shows for a node, in chunks. Does not use Textual.

Each chunk can be parsed by itself, with the same result as in the whole document. Chunks start at pages and
headings, or after a blank line outside code fences if the next line is not indented. A longer stretch without
such a position is split at any line end. The next chunk then gets a prefix that restores the parser's state.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain, pairwise

from msgspec import Struct

from roamtui.document.document import Document, NodeKind
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.markdown.fences import FENCE, update_fence
from roamtui.markdown.table_header import find_header_above
from roamtui.outline.labels import format_node_title
from roamtui.text import compute_body_start, split_at_length

_FRONT_MATTER_LENGTH_MAX = 50_000
"""In characters. The end of front matter is not looked for beyond this length."""
CHUNK_LENGTH = 3_000
"""In characters. A chunk ends at the first suitable position after this length."""
CHUNK_LENGTH_MAX = 12_000
"""In characters. A longer chunk without a suitable position is split at any line ends, or within a line."""
_FENCE_OR_BLANK = re.compile(
    rf"^(?P<fence> {{0,3}}{FENCE})|^[ \t]*(?:\r\n?|\n)(?=(?P<next>\S))", re.MULTILINE
)
"""The first or last line of a fence, or a blank line before a line that is not indented."""
_BLANK_LINE = re.compile(r"(?:^|\n|\r)[ \t]*(?:\r\n?|\n)")


class DocumentView(Struct, frozen=True, kw_only=True):
    """A document, opened at `start`."""

    document: Document
    start: int = 0
    is_generated: bool = False
    """Whether the text is generated because the node has none of its own, such as a folder."""

    def cut(self) -> list[TextChunk]:
        """Split the text between blocks into chunks, which are laid out one by one."""
        text = self.document.text
        columns = self.document.columns
        first = compute_body_start(text[:_FRONT_MATTER_LENGTH_MAX])
        end = len(text)
        front = [TextChunk(start=0, end=first, is_front_matter=True)] if first else []
        rows = range(bisect_left(columns.starts, first, 0, len(columns)), len(columns))
        headings = [columns.starts[row] for row in rows if columns.kinds[row] is NodeKind.SECTION]
        pages = [page for page in sorted(set(self.document.page_starts)) if first < page < end]
        chunks = (split_chunks(text, *bounds, headings) for bounds in pairwise([first, *pages, end]))
        return [*front, *chain(*chunks)]


def make_document_view(library: Library, section_id: str) -> DocumentView:
    """Return the document of a node, opened at the node. A loaded file or link has its own document.

    Raises:
        UnknownSectionError: No loaded node has this id.
    """
    node = library.node(section_id)
    document = library.documents_by_key[node.content_span.doc]
    generated = node.problem
    if node.is_loaded and not document.text.strip():
        generated = "This document is empty."
    if node.kind is NodeKind.FOLDER:
        children = map(library.node, library.children(section_id))
        generated = "\n".join(map(format_node_title, children))
    if generated:
        return DocumentView(document=parse_document(f"{generated}\n"), is_generated=True)
    return DocumentView(document=document, start=node.content_span.start)


class TextChunk(Struct, frozen=True, kw_only=True):
    """A span of a document's text."""

    start: int
    end: int
    prefix: str = ""
    """Whole lines that are parsed before the text but not shown."""
    is_front_matter: bool = False
    is_continued: bool = False
    """Whether its last block continues in the next chunk."""


def split_chunks(text: str, start: int, end: int, headings: Sequence[int]) -> list[TextChunk]:
    """Split `text[start:end]` into chunks without gaps. `headings` has the sorted starts of headings."""
    chunks: list[TextChunk] = []
    position = start
    while position < end:
        after = bisect_left(headings, position + CHUNK_LENGTH)
        cut = min(headings[after], end) if after < len(headings) else end
        if cut - position > CHUNK_LENGTH_MAX and after and headings[after - 1] > position:
            cut = min(headings[after - 1], end)
        if cut - position > CHUNK_LENGTH_MAX:
            chunks.extend(_split_at_blank_lines(text, position, cut))
        else:
            chunks.append(TextChunk(start=position, end=cut))
        position = cut
    return chunks


def _split_at_blank_lines(text: str, start: int, end: int) -> Iterator[TextChunk]:
    fence = ""
    chunk_start = start
    for match in _FENCE_OR_BLANK.finditer(text[start:end]):
        blank_end = start + match.end()
        fence = update_fence(fence, match["fence"] or match["next"])
        if match["next"] and not fence and blank_end - chunk_start >= CHUNK_LENGTH:
            yield from _split_long(text, chunk_start, blank_end)
            chunk_start = blank_end
    if chunk_start < end:
        yield from _split_long(text, chunk_start, end)


def _split_long(text: str, start: int, end: int) -> Iterator[TextChunk]:
    """Yield one chunk, or several if the span is too long for one."""
    prefix = ""
    for first, last in split_at_length(text[start:end], CHUNK_LENGTH_MAX - len("\n")):
        bounds = start + first, start + last
        yield TextChunk(start=bounds[0], end=bounds[1], prefix=prefix, is_continued=bounds[1] < end)
        prefix = make_parser_context(text, *bounds, prefix) if text[bounds[1] - 1] in "\r\n" else ""


def make_parser_context(text: str, start: int, cut: int, prefix: str) -> str:
    """Return the lines that reopen the block split at `cut`: a code fence, a table's header, or nothing."""
    before = prefix + text[start:cut]
    lines = (match["fence"] or match["next"] for match in _FENCE_OR_BLANK.finditer(before))
    fence = reduce(update_fence, lines, "")
    if fence:
        return fence + "\n"
    if prefix and not _BLANK_LINE.search(before):
        return prefix  # the same table continues, and its header may be far above
    heads = find_header_above(text, cut)
    return text[slice(*heads)] if heads else ""
