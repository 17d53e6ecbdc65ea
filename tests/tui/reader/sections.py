"""Documents and their laid out lines, for tests of the reader."""

import re

from roamtui.document.parse import parse_document
from roamtui.markdown.lines import Line
from roamtui.tui.reader.document_view import DocumentView, TextChunk
from roamtui.tui.reader.lazy_lines import ChunkLines, LazyLines

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def make_view(text: str) -> DocumentView:
    return DocumentView(document=parse_document(text))


def make_lines(text: str, *, width: int = 40) -> LazyLines:
    return LazyLines(make_view(text), width)


def read_chunks(text: str, *, width: int = 40) -> list[ChunkLines]:
    lines = make_lines(text, width=width)
    return [lines.get_chunk_lines(chunk) for chunk in range(len(lines.chunks))]


def read_lines(text: str, *, width: int = 40) -> list[Line]:
    """Return the lines of Markdown laid out as one chunk."""
    lines = make_lines(text, width=width)
    lines.chunks[:] = [TextChunk(start=0, end=len(text))]
    return list(lines.get_chunk_lines(0).lines)


def show(text: str, *, width: int = 40) -> list[str]:
    """Return what stands on the lines of Markdown, without the gap after it."""
    return [line.text.rstrip() for line in read_lines(text, width=width)][:-1]
