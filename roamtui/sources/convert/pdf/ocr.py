"""Read scanned pages with the program tesseract, if it is installed.

A page is drawn in memory and sent through a pipe, so nothing is written to disk. Its words come back with their boxes,
and are then treated like those of other pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from statistics import fmean, median
from typing import Any

from msgspec import Struct, field

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import TESSERACT
from roamtui.sources.convert.pdf.pdfium import UNKNOWN_FONT, Font, PdfPage, Word

_SECONDS_MAX = 60
"""Time limit for one page."""
_DOTS_PER_INCH = 300
"""Resolution of the drawn page, for which tesseract was trained."""
_PIXELS_MAX = 40_000_000
_POINTS_PER_INCH = 72
_CLEAR_CONFIDENCE = 60
"""A page with a lower mean confidence, in percent, is reported as hard to read."""
_NOISE_CONFIDENCE = 40
"""A word without letters and digits is noise below this confidence."""
_SAME_SIZE_RATIO = 1.15
"""Lines within this ratio of the usual letter height get that height, because measured heights vary by a tenth."""
_DESCENDER_SHARE = 0.22
_BASELINE_DISTANCE_MAX = 0.4
"""Maximum distance between the baselines of words in one row of a table, in letter heights."""
_PROPERTIES = {"bbox": 4, "baseline": 2, "x_size": 1, "x_wconf": 1}
"""Properties of lines and words in hOCR, with their number of values."""
_LANGUAGE = re.compile(r"[A-Za-z]\w{1,30}(?:/\w{1,30})?")


class _Line(Struct):
    """A line as tesseract read it."""

    baseline: float
    """The y of its baseline, in pixels."""
    size: float
    """Height of its letters, in pixels."""
    words: list[Word] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)

    @property
    def has_mostly_figures(self) -> bool:
        """Whether most of the words are figures or dashes."""
        count = sum(not any(map(str.isalpha, word.text)) for word in self.words)
        return count > len(self.words) / 2


class ScannedPage:
    """The words that tesseract read on a page."""

    is_right_to_left = False
    """Always false, because tesseract returns right-to-left words in reading order."""

    def __init__(self, words: list[Word], confidence: float) -> None:
        self._words = words
        self.confidence = confidence
        self.is_clear = confidence >= _CLEAR_CONFIDENCE

    def read_words(self) -> list[Word]:
        """Return the words in reading order."""
        return self._words

    def read_font(self, index: int) -> Font:  # noqa: ARG002 - as in `PdfPage`
        """Return an unknown font."""
        return UNKNOWN_FONT


def recognise_page(page: PdfPage, languages: Sequence[str]) -> ScannedPage | None:
    """Run OCR on a page. Return None if tesseract fails or takes too long.

    Raises:
        SourceError: A language is not installed.
    """
    width, height = page.measure()
    scale = _DOTS_PER_INCH / _POINTS_PER_INCH
    scale *= min(1.0, (_PIXELS_MAX / max(1.0, width * height * scale * scale)) ** 0.5)
    columns, rows = max(1, round(width * scale)), max(1, round(height * scale))
    picture = b"P6 %d %d 255\n" % (columns, rows) + page.draw(columns, rows, (0.0, 0.0, 1.0, 1.0))
    program = shutil.which(TESSERACT)
    names = "+".join(filter(_LANGUAGE.fullmatch, languages)) or "eng"
    assert program is not None
    command = [program, "stdin", "stdout", "-l", names, "--dpi", str(round(scale * _POINTS_PER_INCH))]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no text of the document
            [*command, "-c", "tessedit_create_hocr=1"],
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
    from lxml import etree  # noqa: PLC0415 - only scans need it

    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(done.stdout, parser)
    lines = [] if root is None else _join_figures(_read_lines(root))
    confidence = fmean(value for line in lines for value in line.confidences) if lines else 100.0
    words = [word for line in lines for word in line.words]
    for index, word in enumerate(words):
        word.first = word.last = index
        # As in `PdfPage`, y is 0 at the bottom edge of the page and negative above it.
        word.x0, word.x1 = word.x0 / scale, word.x1 / scale
        word.top, word.bottom = word.top / scale - height, word.bottom / scale - height
    return ScannedPage(words, confidence)


def _read_lines(root: Any) -> list[_Line]:  # noqa: ANN401 - lxml has no types
    """Return the lines in the order of tesseract. Each word gets the letter height of its line."""
    lines: list[_Line] = []
    for element in root.iter("{*}span"):
        properties = _parse_properties(element)
        if not {"x_size", "bbox"} <= properties.keys():
            continue
        slope, offset = properties.get("baseline", [0.0, 0.0])
        left, _, _, bottom = properties["bbox"]
        line = _Line(bottom + offset, properties["x_size"][0])
        for child in element.iter("{*}span"):
            text = "".join("".join(child.itertext()).split())
            values = _parse_properties(child)
            if not text or not {"x_wconf", "bbox"} <= values.keys():
                continue
            if values["x_wconf"][0] < _NOISE_CONFIDENCE and not any(map(str.isalnum, text)):
                continue
            x0, _, x1, _ = values["bbox"]
            line.words.append(Word(text, x0, x1, 0.0, line.baseline + slope * (x0 - left), 0, 0))
            line.confidences.append(values["x_wconf"][0])
        if line.words:
            lines.append(line)
    usual = median(line.size for line in lines for _ in line.words) if lines else 0.0
    for line in lines:
        if 1 / _SAME_SIZE_RATIO < line.size / usual < _SAME_SIZE_RATIO:
            line.size = usual
        for word in line.words:
            word.bottom += _DESCENDER_SHARE * line.size
            word.top = word.bottom - line.size
    return lines


def _join_figures(lines: Sequence[_Line]) -> list[_Line]:
    """Put figures after the words to their left. Tesseract often reads the columns of a table one after the other."""
    ordered: list[_Line] = []
    for line in lines:
        if line.has_mostly_figures:
            left = [
                other
                for other in ordered
                if abs(other.baseline - line.baseline) < _BASELINE_DISTANCE_MAX * line.size
                and other.words[-1].x1 <= line.words[0].x0
            ]
            if left:
                nearest = max(left, key=lambda other: other.words[-1].x1)
                nearest.words += line.words
                nearest.confidences += line.confidences
                continue
        ordered.append(line)
    return ordered


def _parse_properties(element: Any) -> dict[str, list[float]]:  # noqa: ANN401 - lxml has no types
    """Parse the properties of an hOCR element, such as ``bbox 1 2 30 40; x_wconf 96``."""
    properties: dict[str, list[float]] = {}
    for part in element.get("title", "").split(";"):
        name, *values = part.split() or [""]
        with suppress(ValueError):
            numbers = [float(value) for value in values]
            if len(numbers) == _PROPERTIES.get(name):
                properties[name] = numbers
    return properties
