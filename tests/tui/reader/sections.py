"""Documents, their laid out lines, and an app that has only a reader, for tests of the reader."""

import re

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from typing_extensions import override

from roamtui.document.parse import parse_document
from roamtui.markdown.lines import Line
from roamtui.tui.messages import ReadingPositionChanged
from roamtui.tui.reader.document_view import DocumentView, TextChunk
from roamtui.tui.reader.lazy_lines import ChunkLines, HighlightKind, LazyLines
from roamtui.tui.reader.reader import Reader
from tests.real_documents import PROJECT_DIR

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


class ReaderApp(App[None]):
    CSS_PATH = PROJECT_DIR / "roamtui/tui/reader/reader.tcss"

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader
        self.heard: list[Message] = []

    @override
    def compose(self) -> ComposeResult:
        yield self.reader

    @on(ReadingPositionChanged)
    def note_message(self, message: Message) -> None:
        self.heard.append(message)

    def list_told(self) -> list[str]:
        return [notification.message for notification in self._notifications]


def list_lines(reader: Reader) -> list[str]:
    """Return what stands on the lines of a reader that are in view."""
    return [reader.render_line(y).text.rstrip() for y in range(reader.view_size.height)]


def list_marked(reader: Reader, kind: HighlightKind) -> list[str]:
    """Return what is marked in some way on the lines of a reader that are in view."""
    found = filter(None, map(reader.lines.get_line, range(reader.top_y, reader.top_y + reader.view_size.height)))
    marks = [(line.line.text, mark) for line in found for mark in reader.lines.iter_highlights(line)]
    return [text[mark.start : mark.end] for text, mark in marks if mark.kind is kind]


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
