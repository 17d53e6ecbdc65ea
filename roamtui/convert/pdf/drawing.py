"""Draw a part of a page, with some words marked."""

import re
from difflib import SequenceMatcher

from roamtui.convert.drawing import Drawing, DrawingRequest, compute_viewport
from roamtui.convert.pdf.pdfium import PdfFile
from roamtui.convert.pdf.words import Word
from roamtui.errors import SourceError
from roamtui.text import fold_letters

_MARK = bytes(value * 2 // 5 for value in range(256))
"""Dims the blue of a pixel, which makes white yellow and leaves black letters as they are."""
_RAISED_TAG = re.compile("</?sup>")
_PART_LENGTH_MIN = 8
"""If a page lacks the quote in one piece, parts with at least this many letters are marked."""


def draw_page(data: bytes, name: str, request: DrawingRequest) -> Drawing:
    """Draw a part of a page.

    Raises:
        SourceError: The file is damaged or protected, or has no such page.
    """
    file = PdfFile(data, name)
    if not 0 <= request.page < file.page_count:
        raise SourceError(f"{name} has no page {request.page + 1}.")
    with file.open_page(request.page) as page:
        if page is None:
            raise SourceError(f"Page {request.page + 1} of {name} is damaged.")
        full_width, full_height = page.measure()
        ranges = _find_quote(page.read_words(), request.quote) if request.quote else []
        marks = tuple(mark for first, last in ranges for mark in page.locate_characters(first, last))
        viewport = compute_viewport(request, full_width, full_height, marks)
        width = viewport.width
        height = viewport.height
        left, top, right, bottom = viewport.box
        pixels = page.draw(width, height, viewport.box)
    for x0, y0, x1, y1 in marks:
        columns = [max(0, min(width, round((x - left) / (right - left) * width))) for x in (x0, x1)]
        first, last = (max(0, min(height, round((y - top) / (bottom - top) * height))) for y in (y0, y1))
        for row in range(first, min(height, max(first + 1, last))):  # mark at least one row of pixels
            part = slice((row * width + columns[0]) * 3 + 2, (row * width + columns[1]) * 3, 3)
            pixels[part] = pixels[part].translate(_MARK)
    return Drawing(data=bytes(pixels), viewport=viewport, marks=marks)


def _find_quote(words: list[Word], quote: str) -> list[tuple[int, int]]:
    """Find a quote or parts of it, without its Markdown syntax. Return first and last character of each."""
    on_page = [(text, word) for word in words if (text := fold_letters(word.text))]
    words_of_quote = _RAISED_TAG.sub("", quote.replace("|", " ")).split()
    parts = [*filter(None, map(fold_letters, words_of_quote))]
    matcher = SequenceMatcher(None, [text for text, _ in on_page], parts, autojunk=False)
    length_min = min(_PART_LENGTH_MIN, sum(map(len, parts)))
    return [
        (on_page[block.a][1].first, on_page[block.a + block.size - 1][1].last)
        for block in matcher.get_matching_blocks()
        if block.size and sum(map(len, parts[block.b : block.b + block.size])) >= length_min
    ]
