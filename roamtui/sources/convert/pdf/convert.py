"""`convert_pdf`: a PDF into Markdown, step by step."""

from __future__ import annotations

import re
import shlex
import time

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, PageReport
from roamtui.sources.convert.pdf.contents import TitleAnchorer, detect_contents
from roamtui.sources.convert.pdf.markdown import MarkdownWriter, WordRepairer
from roamtui.sources.convert.pdf.outline import DetectedHeading, PageText, read_item
from roamtui.sources.convert.pdf.pdfium import HYPHEN, PdfFile, TocEntry
from roamtui.sources.convert.pdf.rows import read_rows
from roamtui.sources.convert.pdf.running_heads import PrintedNumbers, strip_running_heads
from roamtui.sources.convert.pdf.tables import detect_tables
from roamtui.sources.convert.pdf.typographic_headings import TypographicHeadings, detect_slide_titles
from roamtui.sources.convert.pdf.worded_headings import (
    detect_exhibits,
    detect_items,
    detect_notes,
    detect_numbered_headings,
    detect_statements,
    lift_statements,
    merge_headings,
    nest_notes,
)

_PAGES_MAX = 5_000
_SECONDS_MAX = 200
"""Reading ends after the page in which this is over."""
_BOOKMARKS_MIN = 5
_BOOKMARKS_DENSE = 4
"""Pages for each of fewer bookmarks that are an outline all the same."""
_FIRST_WORDS = 60
_RANGES_MAX = 12
_SAMPLE_ROWS = 3
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff]")
_UNREADABLE_MAX = 0.3
_ADVICE = "Run text recognition over it first, by ocrmypdf for one: `ocrmypdf --skip-text {} OUT.pdf`."
_FIGURES = re.compile(r"\d+")
_PROGRAM = re.compile(r"^Microsoft \w+ - |\.(?:docx?|pdf|indd|tex|qxd|dvi)$", re.IGNORECASE)
"""What programs put into a title."""


def convert_pdf(
    data: bytes, name: str, *, uses_bookmarks: bool = True, report: PageReport | None = None
) -> ConvertedText:
    """Return a PDF as Markdown.

    Args:
        data: The file.
        name: What to call it in an error.
        uses_bookmarks: Whether its own outline counts; without it, what the other steps find can be measured.
        report: Told how many pages were read.

    Raises:
        SourceError: It is damaged, protected, or holds no text.
    """
    file = PdfFile(data, name)
    pages, notes = _read_pages(file, report)
    rows = [page.rows for page in pages]
    if not any(rows):
        if not any(page.is_read for page in pages):
            raise SourceError(f"{name} is a damaged PDF: it has no page. Open it in its own program and save it anew.")
        raise SourceError(f"{name} holds no text: it was scanned, perhaps. {_ADVICE.format(shlex.quote(name))}")
    mender = WordRepairer(rows)
    for own in rows:
        mender.mend(own)
    rows, has_running_heads, printed = strip_running_heads(rows)
    if has_running_heads:
        notes.append("Lines that repeat at the edges of its pages were left out.")
    for page, own in zip(pages, rows, strict=True):
        page.rows, page.tables = own, detect_tables(own)
    bookmarks = list(file.read_bookmarks()) if uses_bookmarks else []
    by_page: dict[int, list[DetectedHeading]] = {}
    for heading in _detect_outline(pages, bookmarks, printed):
        by_page.setdefault(heading.page, []).append(heading)
    writer = MarkdownWriter(mender)
    for number, page in enumerate(pages):
        writer.write_page(page, by_page.get(number, ()))
    title = file.read_title()
    return ConvertedText(
        text="".join(writer.pieces),
        title="" if _PROGRAM.search(title) else title[:300],
        page_starts=tuple(writer.page_starts),
        notes=tuple(notes),
    )


def _read_pages(file: PdfFile, report: PageReport | None) -> tuple[list[PageText], list[str]]:
    """Return the pages, and a sentence for each kind of text that is not there."""
    pages: list[PageText] = []
    pictures: list[int] = []
    started = time.monotonic()
    for number in range(min(file.page_count, _PAGES_MAX)):
        if time.monotonic() - started > _SECONDS_MAX:
            break
        with file.open_page(number) as page:
            rows = read_rows(page) if page is not None else []
            links = page.read_links() if page is not None and rows else []
            pages.append(PageText(rows, links, is_wide=page is not None and page.is_wide, is_read=page is not None))
            if page is not None and not rows and not page.is_blank():
                pictures.append(number + 1)
        if report is not None:
            text = "\n".join(row.text for row in rows).replace(HYPHEN, "-")
            report(number + 1, file.page_count, f"· {number + 1} ·\n\n{text}\n\n")
    notes = []
    damaged = [number for number, page in enumerate(pages, start=1) if not page.is_read]
    if damaged:
        notes.append(f"{_name_pages(damaged)} damaged, left out.")
    if pictures:
        notes.append(f"{_name_pages(pictures)} without text: scanned, perhaps. {_ADVICE.format('IN.pdf')}")
    if len(pages) < file.page_count:
        notes.append(f"Only the first {len(pages):,} of its {file.page_count:,} pages were read.")
    sample = "".join(row.text for page in pages for row in page.rows[:_SAMPLE_ROWS])
    if len(_UNREADABLE.findall(sample)) > _UNREADABLE_MAX * len(sample):
        notes.append(f"Its fonts do not say what many of its letters are. {_ADVICE.format('IN.pdf')}")
    return pages, notes


def _name_pages(numbers: list[int]) -> str:
    """Return numbers as ``Pages 3-5, 9 are``."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    named = [str(low) if low == high else f"{low}-{high}" for low, high in ranges[:_RANGES_MAX]]
    more = ", …" if len(ranges) > _RANGES_MAX else ""
    return f"Page{'s' if len(numbers) > 1 else ''} {', '.join(named)}{more} {'are' if len(numbers) > 1 else 'is'}"


def _detect_outline(pages: list[PageText], bookmarks: list[TocEntry], printed: PrintedNumbers) -> list[DetectedHeading]:
    """Return all headings of a file in order: its own outline, what words give away, then letters; else pages."""
    listed, contents_pages = detect_contents(pages, printed)
    entries = listed
    marked_pages = len({mark.page for mark in bookmarks})
    names = {_FIGURES.sub("#", mark.title) for mark in bookmarks}
    is_dense = marked_pages * _BOOKMARKS_DENSE >= len(pages) or (len(bookmarks) >= _BOOKMARKS_MIN and marked_pages > 2)
    if is_dense and not (len(names) == 1 and "#" in names.pop()):
        entries = [mark for mark in bookmarks if mark.page is not None and mark.page < len(pages)]
    placed = TitleAnchorer(pages, contents_pages).place(entries)
    slides = detect_slide_titles(pages)
    if slides:
        return merge_headings(placed, slides)
    has_skeleton = bool(placed)
    doubtful = [heading for heading in placed if not heading.count and read_item(heading.title)]
    headings = merge_headings([heading for heading in placed if heading not in doubtful], ())
    items = detect_items(pages, contents_pages, headings)
    found = {read_item(heading.title) for heading in items}
    items += [heading for heading in doubtful if read_item(heading.title) not in found]
    if headings and not any(read_item(heading.title) for heading in headings):
        above = [heading for heading in items if heading.place < headings[0].place]
        level = max(above, key=lambda one: one.place).level if above else 0
        for heading in headings:
            heading.level += level
    headings = merge_headings(headings, items)
    last_item = max((heading.page for heading in headings if read_item(heading.title)), default=None)
    if last_item is not None:
        headings = merge_headings(headings, list(detect_exhibits(pages, contents_pages, last_item)))
    headings = merge_headings(headings, list(detect_statements(pages, contents_pages)))
    for notes in detect_notes(pages, contents_pages):
        headings = merge_headings(headings, notes)
    lift_statements(headings)
    nest_notes(headings)
    letters = TypographicHeadings(pages, contents_pages)
    if not headings:
        headings = detect_numbered_headings(pages, contents_pages, letters.looks_like_title)
    headings = merge_headings(headings, letters.detect(headings, has_skeleton=has_skeleton or bool(items)))
    return headings or [
        DetectedHeading(page=number, row=0, count=0, level=1, title=_name_page(number, page))
        for number, page in enumerate(pages)
        if page.rows
    ]


def _name_page(number: int, page: PageText) -> str:
    """Return a title for a page that has none: its first words."""
    words = " ".join(row.text for row in page.rows[:2])[: _FIRST_WORDS + 1]
    if len(words) > _FIRST_WORDS:
        words = words[: words.rfind(" ") if " " in words else _FIRST_WORDS] + " …"
    return f"Page {number + 1}: {words}"
