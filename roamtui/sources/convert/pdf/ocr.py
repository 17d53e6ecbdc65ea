"""Read scanned pages with the program tesseract, if it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from statistics import median

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import TESSERACT
from roamtui.sources.convert.pdf.pdfium import PdfFile, PdfPage
from roamtui.sources.convert.pdf.rows import PageRow, read_rows

_SECONDS_MAX = 60
"""Time limit for one page."""
_DOTS_PER_POINT = 300 / 72
"""Resolution of the drawn page, for which tesseract was trained."""
_PIXELS_MAX = 40_000_000
_SAME_SIZE_RATIO = 1.15
"""Rows within this ratio of the usual letter height get that height, because measured heights vary by a tenth."""
_LANGUAGE = re.compile(r"[A-Za-z]\w{1,30}(?:/\w{1,30})?")


def recognise_rows(page: PdfPage, languages: Sequence[str]) -> list[PageRow] | None:
    """Run OCR on a page, and return its rows; None if tesseract fails or takes too long.

    Tesseract writes a PDF of invisible words in their places, which is read like any other. No file is written.

    Raises:
        SourceError: A language is not installed.
    """
    width, height = page.measure()
    scale = min(_DOTS_PER_POINT, (_PIXELS_MAX / max(1.0, width * height)) ** 0.5)
    columns, lines = max(1, round(width * scale)), max(1, round(height * scale))
    picture = b"P6 %d %d 255\n" % (columns, lines) + page.draw(columns, lines, (0.0, 0.0, 1.0, 1.0))
    program = shutil.which(TESSERACT)
    names = "+".join(filter(_LANGUAGE.fullmatch, languages)) or "eng"
    assert program is not None
    command = [program, "stdin", "stdout", "-l", names, "--dpi", str(round(scale * 72)), "-c", "textonly_pdf=1", "pdf"]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no text of the document
            command,
            input=picture,
            capture_output=True,
            timeout=_SECONDS_MAX,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # several threads use more CPU time and save little
        )
    except subprocess.TimeoutExpired:
        return None
    if b"Failed loading language" in done.stderr:
        raise SourceError(f"tesseract lacks data for {names}. Install them, or change `languages` below `[ocr]`.")
    if done.returncode:
        return None
    with PdfFile(done.stdout, "the scan").open_page(0) as recognised:
        rows = read_rows(recognised) if recognised is not None else []
    usual = median([row.size for row in rows]) if rows else 0.0
    for row in rows:
        if 1 / _SAME_SIZE_RATIO < row.size / usual < _SAME_SIZE_RATIO:
            row.size = usual
    return rows
