"""A PDF into Markdown: its text page by page, with the sections that its bookmarks or its letters show."""

from __future__ import annotations

import io
import re
import time
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import Converted
from roamtui.sources.convert.escaping import escape_line_starts, replace_surrogates, write_heading
from roamtui.sources.convert.pdf_headings import Bookmark, PageHeading, find_headings, place_bookmarks
from roamtui.sources.convert.pdf_lines import Line, leave_out_repeated, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypdf import PdfReader

_PAGES_MAX = 5_000
_SECONDS_MAX = 200
"""Reading ends after the page in which this is over."""
_BOOKMARKS_MAX = 20_000
_BOOKMARK_LENGTH_MAX = 500
_LEVEL_MAX = 6
_GAP = 1.35
"""How much further apart than most lines the lines of two paragraphs are."""
_BULLET = re.compile(r"^[•▪●◦‣⁃■]\s*(?=\S)")
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
_PROGRAM = re.compile(r"^Microsoft \w+ - |\.(?:docx?|pdf|indd|tex|qxd|dvi)$", re.IGNORECASE)
"""What programs put into a title."""
_SENTENCE_ENDS = frozenset('.!?:;"”»)')


def convert_pdf(data: bytes, name: str) -> Converted:
    """Return a PDF as Markdown.

    Args:
        data: The file.
        name: What to call it in an error.

    Raises:
        SourceError: It is damaged, protected, or holds no text.
        ImportError: The converters are not installed.
    """
    from pypdf.errors import PyPdfError  # noqa: PLC0415 - an extra

    try:
        reader = _open(data, name)
        pages, notes = _read_pages(reader)
        bookmarks = list(_read_bookmarks(reader, len(pages)))
        title = _read_title(reader)
    except (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError):
        raise SourceError(f"{name} is a damaged PDF. Open it in its own program and save it anew.") from None
    empty = sum(not lines for lines in pages)
    if empty == len(pages):
        raise SourceError(f"{name} holds no text: it was scanned, perhaps. Run text recognition over it first.")
    if empty:
        notes.append(f"{empty} of its {len(pages)} pages hold no text; they may be pictures.")
    pages, repeated = leave_out_repeated(pages)
    if repeated:
        notes.append("Lines that repeat at the edges of its pages were left out.")
    writer = _PageWriter()
    for number, (lines, headings) in enumerate(zip(pages, _find_sections(pages, bookmarks), strict=True)):
        writer.write_page(lines, headings, number)
    return Converted(text=writer.text, title=title, page_starts=tuple(writer.page_starts), notes=tuple(notes))


def _open(data: bytes, name: str) -> PdfReader:
    from pypdf import PdfReader  # noqa: PLC0415 - an extra
    from pypdf.errors import DependencyError  # noqa: PLC0415

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted:
        try:
            is_open = bool(reader.decrypt(""))
        except (DependencyError, NotImplementedError):
            is_open = False
        if not is_open:
            raise SourceError(f"{name} is protected by a password. Save it anew without one.")
    return reader


def _read_pages(reader: PdfReader) -> tuple[list[list[Line]], list[str]]:
    """Return the lines of each page, and notes on what could not be read."""
    count = len(reader.pages)
    pages: list[list[Line]] = []
    broken = 0
    started = time.monotonic()
    while len(pages) < min(count, _PAGES_MAX) and time.monotonic() - started < _SECONDS_MAX:
        try:
            pages.append(read_lines(reader.pages[len(pages)]))
        except (MemoryError, RecursionError):
            raise
        except Exception:  # noqa: BLE001 - one broken page must not take the others with it
            broken += 1
            pages.append([])
    notes = [f"{broken} of its pages are damaged and were left out."] if broken else []
    if len(pages) < count:
        notes.append(f"Only the first {len(pages):,} of its {count:,} pages were read.")
    return pages, notes


def _read_bookmarks(reader: PdfReader, pages: int) -> Iterator[Bookmark]:
    """Yield the bookmarks in order, those that lead to no page left out."""
    from pypdf.errors import PyPdfError  # noqa: PLC0415 - an extra
    from pypdf.generic import Destination  # noqa: PLC0415

    try:
        pending: list[tuple[Any, int]] = [(item, 1) for item in reversed(reader.outline)]
    except (PyPdfError, RecursionError, ValueError, KeyError, TypeError, AttributeError):
        return
    seen = 0
    while pending and seen < _BOOKMARKS_MAX:
        item, level = pending.pop()
        if isinstance(item, list):
            pending.extend((inner, level + 1) for inner in reversed(item))
        elif isinstance(item, Destination):
            seen += 1
            page = reader.get_destination_page_number(item)
            title = " ".join(replace_surrogates(str(item.title or "")).split())[:_BOOKMARK_LENGTH_MAX]
            if page is not None and 0 <= page < pages and title:
                top = float(item.top) if isinstance(item.top, int | float) else None
                yield Bookmark(level=min(level, _LEVEL_MAX), title=title, page=page, top=top)


def _find_sections(pages: Sequence[list[Line]], bookmarks: Sequence[Bookmark]) -> list[list[PageHeading]]:
    """Return the headings of each page: by bookmarks, else by letters, else one for each page."""
    if bookmarks:
        by_page: dict[int, list[Bookmark]] = {}
        for bookmark in bookmarks:
            by_page.setdefault(bookmark.page, []).append(bookmark)
        return [place_bookmarks(lines, by_page.get(number, ())) for number, lines in enumerate(pages)]
    found = find_headings(pages)
    if found is not None:
        return found
    return [[PageHeading(level=1, title=f"Page {number}", line=0)] for number in range(1, len(pages) + 1)]


def _read_title(reader: PdfReader) -> str:
    try:
        title = str((reader.metadata and reader.metadata.title) or "")
    except Exception:  # noqa: BLE001 - a title is not worth a document
        return ""
    return "" if _PROGRAM.search(title) else " ".join(replace_surrogates(title).split())[:300]


@dataclass(slots=True)
class _PageWriter:
    """Collects the text of the pages, and where each begins."""

    page_starts: list[int] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0
    _is_open: bool = False
    """Whether the last paragraph seems to go on."""

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self._pieces)

    def write_page(self, lines: Sequence[Line], headings: Sequence[PageHeading], number: int) -> None:
        """Write the lines of a page.

        Args:
            lines: In order.
            headings: In order too.
            number: Of the page, 0-based.
        """
        paragraphs = list(_list_paragraphs(lines, headings))
        first = paragraphs[0] if paragraphs else ""
        if number and self._length:
            self._write("\n" if self._is_open and first[:1].islower() else "\n\n")
        self.page_starts.append(self._length)
        self._write("\n\n".join(paragraphs))
        if paragraphs:
            last = paragraphs[-1]
            self._is_open = last[0] != "#" and last[-1] not in _SENTENCE_ENDS

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _list_paragraphs(lines: Sequence[Line], headings: Sequence[PageHeading]) -> Iterator[str]:
    """Yield the headings and paragraphs of a page as Markdown."""
    gap = _measure_gap(lines)
    start = 0
    for heading in headings:
        yield from _split_paragraphs(lines[start : heading.line], gap)
        yield write_heading(heading.level, _TAG_LIKE.sub(r"\\\g<0>", replace_surrogates(heading.title)))
        start = heading.line + heading.lines
    yield from _split_paragraphs(lines[start:], gap)


def _measure_gap(lines: Sequence[Line]) -> float:
    """Return how far apart most lines of a page are, in points."""
    gaps = [before.top - line.top for before, line in pairwise(lines) if before.top > line.top]
    return median(gaps) if gaps else 0.0


def _split_paragraphs(lines: Sequence[Line], gap: float) -> Iterator[str]:
    paragraph: list[str] = []
    before: Line | None = None
    for line in lines:
        is_apart = before is not None and (before.top - line.top > gap * _GAP or abs(before.size - line.size) > 1)
        is_item = _BULLET.match(line.text) is not None
        if paragraph and (is_apart or is_item):
            yield _write_paragraph(paragraph)
            paragraph = []
        paragraph.append(line.text)
        before = line
    if paragraph:
        yield _write_paragraph(paragraph)


def _write_paragraph(lines: list[str]) -> str:
    """Return lines as a paragraph; words that were divided at their ends are whole again."""
    joined: list[str] = []
    for line in lines:
        is_divided = bool(joined) and joined[-1][-1] in "-\N{SOFT HYPHEN}" and joined[-1][-2:-1].isalpha()
        if is_divided and line[0].islower():
            joined[-1] = joined[-1][:-1] + line
        else:
            joined.append(line)
    text = replace_surrogates("\n".join(joined))
    bullet = _BULLET.match(text)
    text = _TAG_LIKE.sub(r"\\\g<0>", text[bullet.end() :] if bullet else text)
    return ("- " if bullet else "") + escape_line_starts(text)
