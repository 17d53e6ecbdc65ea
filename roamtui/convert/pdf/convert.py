"""Convert a PDF to Markdown: read rows, detect tables and headings, write Markdown."""

import os
import re
import shutil
import subprocess
import textwrap
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby, islice

from roamtui.convert.converted import TESSERACT, ConvertedText, ProgressCallback, has_tesseract
from roamtui.convert.pdf.line_numbers import strip_line_numbers
from roamtui.convert.pdf.markdown import LineJoiner, MarkdownWriter
from roamtui.convert.pdf.outline import detect_outline, make_page_headings
from roamtui.convert.pdf.pdfium import PdfFile, PdfPage
from roamtui.convert.pdf.rows import PageRow, read_rows, restore_double_f
from roamtui.convert.pdf.running_heads import strip_running_heads
from roamtui.convert.pdf.tables import PageText, detect_tables
from roamtui.convert.pdf.titles import NO_TITLE
from roamtui.errors import SourceError

_RULE = re.compile(r"[\s|]*(?:_[\s_]{3,}|={4,}|-{4,}|[‗─━—]{4,})[\s|]*")
"""A row of characters that looks like a ruled line."""
_PAGES_MAX = 5_000
_SECONDS_MAX = 200
"""Time limit for reading the pages. No page is started after it."""
_SCANS_SECONDS_MAX = 3_000
"""The same with OCR. The rest of the conversion must fit into the time that `ConversionJob` allows."""
_PAGES_LENGTH_MAX = 60
_SCAN_ADVICE = "To read scans, install tesseract and add `--ocr`."
_OCR_ADVICE = "OCR has found none. Check ocr.languages in config.toml."
_OCR_SECONDS_MAX = 60
"""Time limit for one page."""
_DOTS_PER_POINT = 300 / 72
"""Resolution of the drawn page: 300 dots per inch, for which tesseract was trained."""
_PIXELS_MAX = 40_000_000
_LANGUAGE = re.compile(r"[A-Za-z]\w{1,30}(?:/\w{1,30})?")
_TITLE_LENGTH_MAX = 300


def convert_pdf(
    data: bytes, name: str, *, on_progress: ProgressCallback | None = None, ocr_languages: Sequence[str] = ()
) -> ConvertedText:
    """Convert a PDF to Markdown.

    If `ocr_languages` are given, tesseract reads the scanned pages.

    Raises:
        SourceError: The file is damaged or protected, or contains no text.
    """
    file = PdfFile(data, name)
    languages = ocr_languages if has_tesseract() else ()
    pages, notes, left_out = _read_pages(file, on_progress, languages)
    rows = strip_line_numbers([page.rows for page in pages])
    if not pages:
        raise SourceError(f"{name} is damaged: it has no pages. Get another copy.")
    if not any(rows):
        advice = _OCR_ADVICE if languages else _SCAN_ADVICE
        raise SourceError(f"{name} contains no text. {advice}")
    restore_double_f(rows)
    joiner = LineJoiner(rows)
    stripped, printed = strip_running_heads(rows)
    file_rows: list[PageRow] = []
    for page_number, (page, page_rows) in enumerate(zip(pages, stripped, strict=True)):
        page.rows = [row for row in page_rows if not _RULE.fullmatch(row.text)]
        page.start = len(file_rows)
        for row in page.rows:
            row.page = page_number
        page.tables = detect_tables(page.rows)
        for table in page.tables:
            for row in page.rows[table.start : table.end]:
                row.is_no_heading = True
        file_rows += page.rows
    bookmarks = list(file.read_bookmarks())
    detected = detect_outline(pages, file_rows, bookmarks, printed, joiner.join)
    headings = detected or make_page_headings(pages)
    groups = groupby(headings, lambda heading: file_rows[heading.row].page)
    by_page = {number: list(group) for number, group in groups}
    writer = MarkdownWriter(joiner)
    for number, page in enumerate(pages):
        writer.write_page(page, by_page.get(number, ()))
    labels = tuple(islice(file.read_page_labels(), len(pages)))
    has_title = not NO_TITLE.fullmatch(file.title)
    return ConvertedText(
        text="".join(writer.pieces),
        title=file.title[:_TITLE_LENGTH_MAX] if has_title else "",
        page_starts=tuple(writer.page_starts),
        page_labels=labels if any(labels) else (),
        has_page_titles=not detected,
        notes=tuple(notes),
        left_out=tuple(left_out),
    )


def _read_pages(
    file: PdfFile, on_progress: ProgressCallback | None, ocr_languages: Sequence[str]
) -> tuple[list[PageText], list[str], list[str]]:
    """Read all pages, within limits. Also return notes on missing text, and its kinds in a few words."""
    pages: list[PageText] = []
    without_text: list[int] = []
    deadline = time.monotonic() + (_SCANS_SECONDS_MAX if ocr_languages else _SECONDS_MAX)
    for number in range(min(file.page_count, _PAGES_MAX)):
        if time.monotonic() > deadline:
            break
        with file.open_page(number) as page:
            rows = read_rows(page) if page is not None else []
            links = page.links if page is not None and rows else []
            if page is not None and not rows and not page.is_blank() and ocr_languages:
                rows = recognise_rows(page, ocr_languages)
            if not rows and (page is None or not page.is_blank()):
                without_text.append(number + 1)
            pages.append(PageText(rows, links))
        if on_progress is not None:
            on_progress(number + 1, file.page_count)
    notes = []
    left_out = []
    if without_text:
        shown = textwrap.shorten(", ".join(map(str, without_text)), _PAGES_LENGTH_MAX, placeholder=" …")
        notes.append(f"pages without text: {shown}. {_OCR_ADVICE if ocr_languages else _SCAN_ADVICE}")
        left_out.append(f"pages without text ({shown}{'' if ocr_languages else '; try `--ocr`'})")
    if len(pages) < file.page_count:
        notes.append(f"only the first {len(pages):,} of {file.page_count:,} pages were read.")
        left_out.append(f"all pages after the first {len(pages):,}")
    return pages, notes, left_out


def recognise_rows(page: PdfPage, languages: Sequence[str]) -> list[PageRow]:
    """Run OCR on a page, and return its rows. Return no rows if tesseract fails or takes too long.

    Tesseract returns a PDF with invisible words at their places. It is read like any PDF, without a file.

    Raises:
        SourceError: A language is not installed.
    """
    width, height = page.measure()
    scale = min(_DOTS_PER_POINT, (_PIXELS_MAX / max(1.0, width * height)) ** 0.5)
    columns = max(1, round(width * scale))
    lines = max(1, round(height * scale))
    picture = b"P6 %d %d 255\n" % (columns, lines) + page.draw(columns, lines)
    names = "+".join(filter(_LANGUAGE.fullmatch, languages)) or "eng"
    program = shutil.which(TESSERACT) or TESSERACT
    dpi = str(round(scale * 72))
    command = [program, "stdin", "stdout", "-l", names, "--dpi", dpi, "-c", "textonly_pdf=1", "pdf"]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no text of the document
            command,
            input=picture,
            capture_output=True,
            timeout=_OCR_SECONDS_MAX,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # several threads use more CPU time and save little
        )
    except subprocess.TimeoutExpired:
        return []
    if b"Failed loading language" in done.stderr:
        raise SourceError(
            f"tesseract has no data for {names}. Install the data, or change ocr.languages in config.toml."
        )
    if done.returncode:
        return []
    with closing(PdfFile(done.stdout, "the scan")) as file, file.open_page(0) as recognised:
        return read_rows(recognised) if recognised is not None else []
