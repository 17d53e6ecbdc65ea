"""Convert a PDF to Markdown: read rows, detect tables and headings, write Markdown."""

from __future__ import annotations

import re
import shlex
import time

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, PageReport
from roamtui.sources.convert.pdf.contents import TitleAnchorer, detect_contents
from roamtui.sources.convert.pdf.markdown import MarkdownWriter, WordRepairer
from roamtui.sources.convert.pdf.outline import DetectedHeading, PageText, parse_item
from roamtui.sources.convert.pdf.pdfium import HYPHEN, PdfFile, TocEntry
from roamtui.sources.convert.pdf.rows import read_rows
from roamtui.sources.convert.pdf.running_heads import PrintedNumbers, strip_running_heads
from roamtui.sources.convert.pdf.source_title import compute_source_title
from roamtui.sources.convert.pdf.tables import detect_tables
from roamtui.sources.convert.pdf.typographic_headings import TypographicHeadings, detect_slide_titles
from roamtui.sources.convert.pdf.worded_headings import (
    detect_exhibits,
    detect_items,
    detect_notes,
    detect_numbered_headings,
    detect_statements,
    merge_headings,
    nest_headings,
)

_PAGES_MAX = 5_000
_SECONDS_MAX = 200
"""Reading stops with the first page that takes longer, counted from the start of the file."""
_BOOKMARKS_MIN = 5
_PAGES_PER_BOOKMARK_MAX = 4
"""Fewer than five bookmarks are an outline only if the file has at most this many pages for each page with one."""
_FIRST_WORDS_LENGTH = 60
_SHOWN_RANGES_MAX = 12
_SAMPLE_ROWS = 3
"""Number of rows of each page in which unreadable characters are counted."""
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff]")
_UNREADABLE_SHARE_MAX = 0.3
_OCR_ADVICE = "Run text recognition first, for example `ocrmypdf --skip-text {} OUT.pdf`."
_DIGITS = re.compile(r"\d+")


def convert_pdf(
    data: bytes, name: str, *, uses_bookmarks: bool = True, report: PageReport | None = None
) -> ConvertedText:
    """Convert a PDF to Markdown.

    `uses_bookmarks` is off in tests that measure the other ways to detect headings.

    Raises:
        SourceError: The file is damaged or protected, or contains no text.
    """
    file = PdfFile(data, name)
    pages, notes = _read_pages(file, report)
    rows = [page.rows for page in pages]
    if not any(rows):
        if not any(page.is_readable for page in pages):
            raise SourceError(f"{name} is damaged: it has no page. Open it in its own program and save it again.")
        raise SourceError(f"{name} contains no text; it may be a scan. {_OCR_ADVICE.format(shlex.quote(name))}")
    repairer = WordRepairer(rows)
    for page_rows in rows:
        repairer.repair(page_rows)
    stripped = strip_running_heads(rows)
    if stripped.has_running_heads:
        notes.append("Running headers and footers were removed.")
    for page, page_rows in zip(pages, stripped.pages, strict=True):
        page.rows, page.tables = page_rows, detect_tables(page_rows)
    bookmarks = list(file.read_bookmarks()) if uses_bookmarks else []
    by_page: dict[int, list[DetectedHeading]] = {}
    headings = _detect_outline(pages, bookmarks, stripped.printed)
    for heading in headings:
        by_page.setdefault(heading.page, []).append(heading)
    writer = MarkdownWriter(repairer)
    for number, page in enumerate(pages):
        writer.write_page(page, by_page.get(number, ()))
    return ConvertedText(
        text="".join(writer.pieces),
        title=compute_source_title(pages, file.title, [heading.title for heading in headings if heading.level == 1]),
        page_starts=tuple(writer.page_starts),
        notes=tuple(notes),
    )


def _read_pages(file: PdfFile, report: PageReport | None) -> tuple[list[PageText], list[str]]:
    """Return the pages, and one sentence for each kind of missing text."""
    pages: list[PageText] = []
    without_text: list[int] = []
    started = time.monotonic()
    for number in range(min(file.page_count, _PAGES_MAX)):
        if time.monotonic() - started > _SECONDS_MAX:
            break
        with file.open_page(number) as page:
            rows = read_rows(page) if page is not None else []
            links = page.read_links() if page is not None and rows else []
            pages.append(PageText(rows, links, is_wide=page is not None and page.is_wide, is_readable=page is not None))
            if page is not None and not rows and not page.is_blank():
                without_text.append(number + 1)
        if report is not None:
            text = "\n".join(row.text for row in rows).replace(HYPHEN, "-")
            report(number + 1, file.page_count, f"· {number + 1} ·\n\n{text}\n\n")
    notes = []
    damaged = [number for number, page in enumerate(pages, start=1) if not page.is_readable]
    if damaged:
        notes.append(f"{_format_pages(damaged)} damaged and were skipped.")
    if without_text:
        notes.append(f"{_format_pages(without_text)} without text, perhaps scanned. {_OCR_ADVICE.format('IN.pdf')}")
    if len(pages) < file.page_count:
        notes.append(f"Only the first {len(pages):,} of its {file.page_count:,} pages were read.")
    sample = "".join(row.text for page in pages for row in page.rows[:_SAMPLE_ROWS])
    if len(_UNREADABLE.findall(sample)) > _UNREADABLE_SHARE_MAX * len(sample):
        notes.append(
            f"Its fonts lack character mappings, so much of the text is unreadable. {_OCR_ADVICE.format('IN.pdf')}"
        )
    return pages, notes


def _format_pages(numbers: list[int]) -> str:
    """Format page numbers as the start of a sentence, such as `Pages 3-5, 9 are`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in ranges[:_SHOWN_RANGES_MAX]]
    more = ", …" if len(ranges) > _SHOWN_RANGES_MAX else ""
    return f"Page{'s' if len(numbers) > 1 else ''} {', '.join(shown)}{more} {'are' if len(numbers) > 1 else 'is'}"


def _detect_outline(pages: list[PageText], bookmarks: list[TocEntry], printed: PrintedNumbers) -> list[DetectedHeading]:
    """Return all headings in order, by bookmarks or contents, words and typography, or else one for each page."""
    entries, contents_rows = detect_contents(pages, printed)
    marked_pages = len({mark.page for mark in bookmarks})
    names = {_DIGITS.sub("#", mark.title) for mark in bookmarks}
    is_dense = marked_pages * _PAGES_PER_BOOKMARK_MAX >= len(pages) or (
        len(bookmarks) >= _BOOKMARKS_MIN and marked_pages > 2
    )
    # Bookmarks that differ only in a number, such as "Page 7", are not an outline.
    if is_dense and not (len(names) == 1 and "#" in names.pop()):
        entries = [mark for mark in bookmarks if mark.page is not None and mark.page < len(pages)]
    anchored = TitleAnchorer(pages, contents_rows).anchor(entries)
    slides = detect_slide_titles(pages)
    if slides:
        return merge_headings(anchored, slides)
    has_outline = bool(anchored)
    # If an Item's title is not on its page, the list may be wrong, so a title that is detected by its words is better.
    doubtful = [heading for heading in anchored if not heading.count and parse_item(heading.title)]
    headings = merge_headings([heading for heading in anchored if heading not in doubtful], ())
    items = detect_items(pages, contents_rows, headings)
    found = {parse_item(heading.title) for heading in items}
    items += [heading for heading in doubtful if parse_item(heading.title) not in found]
    if headings and not any(parse_item(heading.title) for heading in headings):
        # The file's outline covers only a part, such as the financial statements inside an Item.
        above = [heading for heading in items if heading.position < headings[0].position]
        level = max(above, key=lambda item: item.position).level if above else 0
        for heading in headings:
            heading.level += level
    headings = merge_headings(headings, items)
    last_item = max((heading.page for heading in headings if parse_item(heading.title)), default=None)
    if last_item is not None:
        headings = merge_headings(headings, list(detect_exhibits(pages, contents_rows, last_item)))
    notes = detect_notes(pages, contents_rows, headings)
    headings = merge_headings(headings, list(detect_statements(pages, contents_rows, headings, notes)))
    headings = merge_headings(headings, notes)
    nest_headings(headings, notes)
    typographic = TypographicHeadings(pages, contents_rows)
    if not headings:
        headings = detect_numbered_headings(pages, contents_rows, typographic.score_title)
    headings = merge_headings(headings, typographic.detect(headings, has_outline=has_outline or bool(items)))
    if headings:
        return headings
    for number, page in enumerate(pages):
        if page.rows:
            words = " ".join(row.text for row in page.rows[:2])[: _FIRST_WORDS_LENGTH + 1]
            if len(words) > _FIRST_WORDS_LENGTH:
                words = words[: words.rfind(" ") if " " in words else _FIRST_WORDS_LENGTH] + " …"
            title = f"Page {number + 1}: {words}"
            headings.append(DetectedHeading(page=number, row=0, count=0, level=1, title=title))
    return headings
