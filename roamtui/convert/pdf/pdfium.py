"""`PdfFile`: reads words with their boxes and fonts, links and bookmarks, with pdfium.

Only this module calls pdfium. `pypdfium2_raw` is the part of pypdfium2 that imports in 0.02 s instead of
0.05 s. Coordinates are those of the page as it is read: x grows to the right and y downwards, even if the
text is rotated.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2_raw as pdfium
from msgspec import Struct

from roamtui.convert.decode import replace_surrogates
from roamtui.convert.pdf.right_to_left import (
    PlacedLetter,
    has_right_to_left,
    is_right_to_left,
    join_letters,
    sort_letters,
    split_into_lines,
    split_into_words,
)
from roamtui.convert.pdf.words import (
    HYPHEN,
    SMALL_RATIO,
    SUBSCRIPT_DIGITS,
    SUPERSCRIPT_END,
    SUPERSCRIPT_START,
    PageWord,
    is_subscript,
    is_superscript,
)
from roamtui.errors import SourceError

_WORD = re.compile(
    "(?:[^\\s\\x00-\\x1f\\x7f\\ufffe]|[\\x0b\\x0c\\x0e\\x0f\\x1b-\\x1f]|\\r(?!\\n))+[\\x02\\ufffe]?"
)
_LINE = re.compile(r"(?:[^\r\n]|\r(?!\n))+")
_LIGATURES = str.maketrans(
    {"\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl", "\ufb00": "ff", "\ufb01": "fi"}
    | {"\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
    | {"\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl"}
    | {"\xad": HYPHEN, "\ufffe": HYPHEN, "\uf0b7": "\u2022", "\uf0a7": "\u25aa"}
)
"""Ligatures (the control characters are those of TeX fonts), soft hyphens, and bullets of the font Symbol."""
_BITMAP_LIGATURES = re.compile("[\x0b-\x0f\x1b-\x1f]")
"""Control characters that are ligatures only in the bitmap fonts of TeX, which have no name."""
_ACCENTS = dict(
    zip(
        "\u00b4`\u00a8\u02c6\u02dc\u02c7\u02da\u00b8\u02dd\u02d8\u00af\u02d9\u02db",
        "\u0301\u0300\u0308\u0302\u0303\u030c\u030a\u0327\u030b\u0306\u0304\u0307\u0328",
        strict=True,
    )
)
"""Accents that a font may have as characters of their own, with their combining forms."""
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_BOOKMARKS_MAX = 20_000
_BOOKMARK_LENGTH_MAX = 500
_PAGE_LABEL = re.compile(r"[\w.:/–-][\w .:/–-]{0,19}")
"""A printed page number such as "iv" or "A-3". It cannot be read as Markdown."""
_LINKS_MAX = 400
"""Maximum number of links per page. Contents pages have fewer."""
_FONT_NAME_BYTES = 128
_ITALIC_FLAG = 1 << 6
_BOLD_NAME = re.compile(r"bold|black|heavy|semibd|demi(?!s)|cmbx|[-,]bd\b|medi\b")
_ITALIC_NAME = re.compile(r"ital|obli|cmti|[-,]it\b")
_MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
"""Letters next to figures. The figures may be raised or lowered inside a word: "10³kg"."""
_PUNCTUATION = ".,;:)/"
"""Signs that may follow a raised figure, such as the comma after the mark of a note."""
_SPACED_LETTERS_MIN = 3
"""Minimum number of spaced letters in a word, as in "T I T L E". Variables and initials have fewer."""
_SPACED_LETTERS_SHARE = 0.75
_LETTER_GAP_MAX = 1.5
"""Maximum gap between such letters, in letter heights."""
_WORD_GAP_MIN = 0.1
"""Minimum difference, in letter heights, between a gap of two words and a gap inside a spaced word."""
_TESSERACT_FONT = "GlyphLessFont"
_LINE_WIDTH_MAX = 3.0
"""Maximum width of a line between two cells, in points."""
_LINES_MAX = 2_000
"""A page with more vertical lines is a drawing, such as a map."""
_PASSWORD_ERRORS = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)


class Font(Struct, frozen=True):
    """The font of a character."""

    name: str
    is_bold: bool
    is_italic: bool


UNKNOWN_FONT = Font("", is_bold=False, is_italic=False)


class PageLink(Struct, frozen=True, kw_only=True):
    """A link to another page of the file."""

    top: float
    bottom: float
    page: int
    """0-based."""


class VerticalLine(NamedTuple):
    """A vertical line that is drawn on a page, such as one between two cells of a table."""

    x: float
    top: float
    bottom: float


class TocEntry(Struct, frozen=True, kw_only=True):
    """A title in the bookmarks or on a contents page."""

    title: str
    level: int
    """From 1."""
    page: int
    """0-based."""


class PdfFile:
    """An open PDF."""

    def __init__(self, data: bytes, name: str) -> None:
        """Open a file. Its `name` appears in messages.

        Raises:
            SourceError: The file is damaged or protected.
        """
        pdfium.FPDF_InitLibrary()
        self._data = data  # pdfium reads from it as long as the file is open
        self._handle = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
        if not self._handle:
            if pdfium.FPDF_GetLastError() in _PASSWORD_ERRORS:
                raise SourceError(f"{name} is password-protected. Save it again without a password.")
            raise SourceError(
                f"{name} is a damaged PDF. Save it again with a PDF program, or get another copy."
            )
        self.page_count: int = pdfium.FPDF_GetPageCount(self._handle)
        self.title = _read_utf16(partial(pdfium.FPDF_GetMetaText, self._handle, b"Title"))
        self._fonts: dict[tuple[bytes, int], Font] = {}

    def close(self) -> None:
        """Free the memory of the file."""
        pdfium.FPDF_CloseDocument(self._handle)

    @contextmanager
    def open_page(self, number: int) -> Iterator[PdfPage | None]:
        """Yield a page by its 0-based number, or None if it cannot be read."""
        page = pdfium.FPDF_LoadPage(self._handle, number)
        links = _read_links(self._handle, page) if page else []  # flattening removes them
        has_annotations = page and pdfium.FPDFPage_GetAnnotCount(page) > len(links)
        if has_annotations and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY):
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(self._handle, number)
        text = pdfium.FPDFText_LoadPage(page) if page else None
        try:
            yield PdfPage(page, text, self._fonts, links) if text else None
        finally:
            if text:
                pdfium.FPDFText_ClosePage(text)
            if page:
                pdfium.FPDF_ClosePage(page)

    def read_page_labels(self) -> Iterator[str]:
        """Yield the printed number of each page, or "" if it equals the counted one or is not plain."""
        for number in range(self.page_count):
            label = _read_utf16(partial(pdfium.FPDF_GetPageLabel, self._handle, number))
            yield label if _PAGE_LABEL.fullmatch(label) and label != str(number + 1) else ""

    def read_bookmarks(self) -> Iterator[TocEntry]:
        """Yield the bookmarks in order, except for those without a title or a page."""
        pending = [(pdfium.FPDFBookmark_GetFirstChild(self._handle, None), 1)]
        seen: set[int] = set()
        while pending and len(seen) < _BOOKMARKS_MAX:
            mark, level = pending.pop()
            address = ctypes.cast(mark, ctypes.c_void_p).value
            if address is None or address in seen:
                continue
            seen.add(address)
            pending.append((pdfium.FPDFBookmark_GetNextSibling(self._handle, mark), level))
            pending.append((pdfium.FPDFBookmark_GetFirstChild(self._handle, mark), level + 1))
            title = _read_utf16(partial(pdfium.FPDFBookmark_GetTitle, mark))
            dest = pdfium.FPDFBookmark_GetDest(self._handle, mark)
            page = pdfium.FPDFDest_GetDestPageIndex(self._handle, dest) if dest else -1
            if title and 0 <= page < self.page_count:
                yield TocEntry(title=title[:_BOOKMARK_LENGTH_MAX], level=level, page=page)


def _read_links(document: object, page: object) -> list[PageLink]:
    links: list[PageLink] = []
    position = ctypes.c_int(0)
    link = pdfium.FPDF_LINK()
    rect = pdfium.FS_RECTF()
    while len(links) < _LINKS_MAX and pdfium.FPDFLink_Enumerate(page, position, link):
        dest = pdfium.FPDFLink_GetDest(document, link)
        number = pdfium.FPDFDest_GetDestPageIndex(document, dest) if dest else -1
        if number >= 0 and pdfium.FPDFLink_GetAnnotRect(link, rect):
            low, high = sorted((-rect.top, -rect.bottom))
            links.append(PageLink(top=low, bottom=high, page=number))
    return links


class _Box(NamedTuple):
    """The edges of characters in points, from the top left of the page as it is read."""

    x0: float
    x1: float
    top: float
    bottom: float
    is_uneven: bool
    """Whether the first and the last character differ in height."""


class PdfPage:
    """An open page."""

    def __init__(
        self, page: object, text: object, fonts: dict[tuple[bytes, int], Font], links: list[PageLink]
    ) -> None:
        self.links = links
        self._page = page
        self._text = text
        self._fonts = fonts
        self._buffer = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self._flags = ctypes.c_int()
        self._box = pdfium.FS_RECTF()
        # The text may be rotated by quarter turns. Seven characters decide.
        count = max(0, pdfium.FPDFText_CountChars(text))
        rotations = [self._read_turn(count * part // 8, 4) for part in range(1, 8)]
        self._rotation = max(range(4), key=rotations.count)

    def is_blank(self) -> bool:
        """Return whether nothing is drawn on the page, not even an image."""
        return bool(pdfium.FPDFPage_CountObjects(self._page) <= 0)

    def measure(self) -> tuple[float, float]:
        """Return the width and height of the page in points, as it is shown."""
        return pdfium.FPDF_GetPageWidthF(self._page), pdfium.FPDF_GetPageHeightF(self._page)

    def draw(self, width: int, height: int) -> bytearray:
        """Draw the page. Return three bytes for each of the `width` x `height` pixels.

        Raises:
            MemoryError: There is no memory for the pixels.
        """
        pixels = bytearray(width * height * 3)
        buffer = (ctypes.c_char * len(pixels)).from_buffer(pixels)
        bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_BGR, buffer, width * 3)
        if not bitmap:
            raise MemoryError
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, self._page, 0, 0, width, height, 0, flags)
        pdfium.FPDFBitmap_Destroy(bitmap)
        return pixels

    def read_vertical_lines(self) -> list[VerticalLine]:
        """Return the vertical lines on the page, or none if there are too many for a table."""
        lines: list[VerticalLine] = []
        left, low, right, high = (ctypes.c_float() for _ in range(4))
        for number in range(pdfium.FPDFPage_CountObjects(self._page)):
            drawn = pdfium.FPDFPage_GetObject(self._page, number)
            if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH:
                pdfium.FPDFPageObj_GetBounds(drawn, left, low, right, high)
                bounds = left.value, right.value, low.value, high.value
                x0, x1, top, bottom = _rotate_box(*bounds, self._rotation)
                if x1 - x0 < min(_LINE_WIDTH_MAX, bottom - top):
                    lines.append(VerticalLine((x0 + x1) / 2, top, bottom))
        return lines if len(lines) <= _LINES_MAX else []

    def read_words(self) -> list[PageWord]:
        """Return the words in drawing order."""
        count = max(0, pdfium.FPDFText_CountChars(self._text))
        buffer = (ctypes.c_ushort * (count * 2 + 2))()
        used = pdfium.FPDFText_GetText(self._text, 0, count, buffer) if count else 0
        text = bytes(buffer)[: max(0, used - 1) * 2].decode("utf-16-le", "replace")
        if len(text) != count:
            codes = (pdfium.FPDFText_GetUnicode(self._text, index) for index in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
        rotation = self._rotation
        left, right, top, bottom = -math.inf, math.inf, -math.inf, math.inf
        box = self._box
        pdfium.FPDF_GetPageBoundingBox(self._page, box)
        if box.right > box.left and box.top > box.bottom:
            left, right, top, bottom = _rotate_box(box.left, box.right, box.bottom, box.top, rotation)
        words: list[PageWord] = []
        uneven: list[PageWord] = []
        right_to_left: list[PlacedLetter] = []
        # Tesseract stretches each word and the space after it, together, over the width of the word in the
        # picture.
        past_end = 0 if self.read_font(len(text) // 2).name == _TESSERACT_FONT else 1
        page_box = _Box(left, right, top, bottom, is_uneven=False)
        for line in _LINE.finditer(text):
            if is_right_to_left(line[0]):
                right_to_left += self._place_letters(line[0], line.start(), rotation)
                continue
            for match in _WORD.finditer(text, *line.span()):
                first, end = match.span()
                bounds = self._read_box(first, end - past_end, rotation)
                if bounds is None or not _overlap(bounds, page_box):
                    continue
                letters = self._read_letters(match[0], first, rotation)
                if not letters:
                    continue
                compared: _Box | None = bounds
                last = first + len(letters.rstrip(_PUNCTUATION)) - 1
                if letters[-1] in _PUNCTUATION and letters[-2:-1].isdigit():
                    compared = self._read_box(first, last, rotation)
                word = PageWord(letters, bounds.x0, bounds.x1, bounds.top, bounds.bottom, first, end - 1)
                word.is_rotated = self._read_turn(first, 8) != 2 * rotation
                words.append(word)
                is_mixed = not letters.isalpha() and (
                    _MIXED.search(letters) is not None or self._measure_rise(last, rotation) > 0
                )
                if not word.is_rotated and (is_mixed or (compared and compared.is_uneven)):
                    uneven.append(word)
        for placed in split_into_lines(right_to_left):
            line_words = self._read_right_to_left_line(placed, rotation)
            words += (word for word in line_words if _overlap(word, page_box))
        if not is_right_to_left(text):
            for word in uneven:
                self._mark_scripts(word, rotation)
        return self._join_letters(words)

    def _read_turn(self, index: int, parts: int) -> int:
        """Return how far a character is rotated, in `parts` of a full turn."""
        angle: float = pdfium.FPDFText_GetCharAngle(self._text, index)
        return round(angle * parts / math.tau) % parts

    def _read_letters(self, letters: str, first: int, rotation: int) -> str:
        """Return the letters of a word as drawn, from left to right even in right-to-left scripts."""
        if not (letters.isascii() and letters.isprintable()) or "`" in letters:
            if not _ACCENTS.keys().isdisjoint(letters):
                letters = self._join_accents(letters, first, rotation)
            if self.read_font(first).name:
                letters = _BITMAP_LIGATURES.sub("", letters)
            if has_right_to_left(letters):
                letters = "".join(
                    letter.text for letter in sort_letters(self._place_letters(letters, first, rotation))
                )
            letters = letters.translate(_LIGATURES)
        return letters

    def _join_accents(self, letters: str, first: int, rotation: int) -> str:
        """Join each accent with the letter that it is drawn above or below, as in "prot\u00e9g\u00e9"."""
        joined = [*letters]
        for number, accent in enumerate(letters):
            box = self._read_box(first + number, first + number, rotation) if accent in _ACCENTS else None
            for neighbour in (number - 1, number + 1):
                if box is None or not 0 <= neighbour < len(letters):
                    continue
                base = self._read_box(first + neighbour, first + neighbour, rotation)
                letter = _DOTLESS.get(joined[neighbour], joined[neighbour])
                whole = unicodedata.normalize("NFC", letter + _ACCENTS[accent])
                if letter and base and base.x0 < (box.x0 + box.x1) / 2 < base.x1 and len(whole) == 1:
                    joined[neighbour] = whole
                    joined[number] = ""
                    break
        return "".join(joined)

    def _join_letters(self, words: list[PageWord]) -> list[PageWord]:
        """Join spaced letters, as in "T I T L E", unless the file has a space between them.

        The gaps between the letters of a word are equal, and the gap after the word is wider.
        """
        joined: list[PageWord] = []
        run: list[PageWord] = []
        for word in [*words, None]:
            if word is not None and run and self._is_set_apart(run[-1], word):
                run.append(word)
                continue
            joined += _join_run(run)
            run = [word] if word is not None else []
        return joined

    def _is_set_apart(self, before: PageWord, word: PageWord) -> bool:
        """Return whether one of two words is a letter, and pdfium added the space between them for a gap."""
        return (
            (len(before.text) == 1 or len(word.text) == 1)
            and word.first == before.last + 2
            and word.top < before.bottom
            and word.bottom > before.top
            and 0 < word.x0 - before.x1 < _LETTER_GAP_MAX * (word.bottom - word.top)
            and pdfium.FPDFText_IsGenerated(self._text, before.last + 1) == 1
        )

    def _mark_scripts(self, word: PageWord, rotation: int) -> None:
        """Mark the letters of a word that are raised or lowered, such as the mark of a note after "50"."""
        if len(word.text) != word.last - word.first + 1:  # a ligature is one glyph for several letters
            return
        parts: list[PageWord] = []
        for index, letter in enumerate(word.text, start=word.first):
            box = self._read_line_box(index, rotation)
            if box is None:
                return
            height = box.bottom - box.top
            usual = parts[-1].bottom - parts[-1].top if parts else 0.0
            if SMALL_RATIO * usual < height < usual / SMALL_RATIO:
                parts[-1].text += letter
            else:
                parts.append(PageWord(letter, box.x0, box.x1, box.top, box.bottom, index, index))
        for base, part in pairwise(parts):
            if is_superscript(part, base):
                part.text = f"{SUPERSCRIPT_START}{part.text}{SUPERSCRIPT_END}"
            elif base.text[0].isdigit() and is_superscript(base, part):
                base.text = f"{SUPERSCRIPT_START}{base.text}{SUPERSCRIPT_END}"
            elif is_subscript(part, base) and base.text[-1].isdigit():
                part.text = part.text.translate(SUBSCRIPT_DIGITS)
            elif is_subscript(base, part) and part.text[0].isdigit():
                base.text = base.text.translate(SUBSCRIPT_DIGITS)
        word.text = "".join(part.text for part in parts)
        if is_subscript(parts[-1], parts[0]):  # what follows, as in H2O, is not raised
            word.bottom = parts[0].bottom

    def _read_right_to_left_line(self, line: Sequence[PlacedLetter], rotation: int) -> Iterator[PageWord]:
        """Yield the words of a line that is read from right to left, ordered from left to right."""
        for letters in split_into_words(line):
            word = join_letters(letters).translate(_LIGATURES)
            indices = [letter.number for letter in letters]
            boxes = [box for index in indices if (box := self._read_box(index, index, rotation))]
            top = min(box.top for box in boxes)
            bottom = max(box.bottom for box in boxes)
            x1 = max(box.x1 for box in boxes)
            yield PageWord(word, boxes[0].x0, x1, top, bottom, min(indices), max(indices))

    def _place_letters(self, text: str, start: int, rotation: int) -> list[PlacedLetter]:
        """Return the letters of a text, with their places. `start` is its index. Spaces are left out."""
        placed: list[PlacedLetter] = []
        for index in (index for word in _WORD.finditer(text) for index in range(*word.span())):
            number = start + index
            if box := self._read_box(number, number, rotation):
                size = self._measure_letter(number) or box.bottom - box.top
                middle = (box.top + box.bottom) / 2
                placed.append(PlacedLetter(text[index], number, box.x0, box.x1, size, middle))
        return placed

    def _read_box(self, first: int, last: int, rotation: int) -> _Box | None:
        """Return the box of characters, or None if the first has none. `rotation` is in quarter turns."""
        box = self._box
        if not pdfium.FPDFText_GetLooseCharBox(self._text, first, box):
            return None
        x0 = box.left
        x1 = box.right
        low = box.bottom
        high = box.top
        is_uneven = False
        if last > first and pdfium.FPDFText_GetLooseCharBox(self._text, last, box):
            if low != box.bottom or high != box.top:
                heights = (high - low, box.top - box.bottom)
                sizes = (x1 - x0, box.right - box.left) if rotation % 2 else heights
                is_uneven = min(sizes) < SMALL_RATIO * max(sizes)
            x0 = min(x0, box.left)
            x1 = max(x1, box.right)
            low = min(low, box.bottom)
            high = max(high, box.top)
        return _Box(*_rotate_box(x0, x1, low, high, rotation), is_uneven)

    def _read_line_box(self, index: int, rotation: int) -> _Box | None:
        """Return the box of a character. If the font has no name, measure it from the baseline up.

        Fonts without names are bitmaps, whose boxes may be only as high as each letter.
        """
        box = self._read_box(index, index, rotation)
        if box is None:
            return None
        if self.read_font(index).name:
            return box._replace(bottom=box.bottom - self._measure_rise(index, rotation))
        baseline = self._read_baseline(index, rotation)
        return box._replace(top=baseline - self._measure_letter(index), bottom=baseline)

    def _read_baseline(self, index: int, rotation: int) -> float:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self._text, index, x, y)
        return _rotate_box(x.value, x.value, y.value, y.value, rotation)[3]

    def _measure_rise(self, index: int, rotation: int) -> float:
        """Return how far a figure is drawn above the baseline, as the raised figures of a font are."""
        if not chr(pdfium.FPDFText_GetUnicode(self._text, index)).isdecimal():
            return 0.0
        x0, x1, low, high = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(self._text, index, x0, x1, low, high)
        bottom = _rotate_box(x0.value, x1.value, low.value, high.value, rotation)[3]
        return max(0.0, self._read_baseline(index, rotation) - bottom)

    def _measure_letter(self, index: int) -> float:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._text, index, matrix)
        size: float = pdfium.FPDFText_GetFontSize(self._text, index)
        return size * math.hypot(matrix.c, matrix.d)

    def read_font(self, index: int) -> Font:
        """Return the font of a character."""
        used = pdfium.FPDFText_GetFontInfo(self._text, index, self._buffer, _FONT_NAME_BYTES, self._flags)
        raw = self._buffer.raw[: used - 1] if 0 < used <= _FONT_NAME_BYTES else b""
        key = raw, self._flags.value
        font = self._fonts.get(key)
        if font is None:
            name = raw.decode("utf-8", "replace").partition("+")[2] or raw.decode("utf-8", "replace")
            lower = name.lower()
            is_bold = _BOLD_NAME.search(lower) is not None
            is_italic = bool(key[1] & _ITALIC_FLAG) or _ITALIC_NAME.search(lower) is not None
            font = self._fonts[key] = Font(name, is_bold, is_italic)
        return font


def _join_run(run: list[PageWord]) -> list[PageWord]:
    """Join the letters of a run of words, unless it is too short or has few lone letters."""
    letters = [word for word in run if len(word.text) == 1 and word.text.isalpha()]
    if len(letters) < _SPACED_LETTERS_MIN or len(letters) < _SPACED_LETTERS_SHARE * len(run):
        return run
    gaps = [word.x0 - before.x1 for before, word in pairwise(run)]
    gap_max = min(gaps) + _WORD_GAP_MIN * (run[0].bottom - run[0].top)
    joined = [run[0]]
    for word, gap in zip(run[1:], gaps, strict=True):
        last = joined[-1]
        if gap > gap_max:
            joined.append(word)
            continue
        last.text += word.text
        last.x1 = word.x1
        last.top = min(last.top, word.top)
        last.bottom = max(last.bottom, word.bottom)
        last.last = word.last
    return joined


def _overlap(first: PageWord | _Box, second: PageWord | _Box) -> bool:
    return (
        first.x1 > second.x0
        and first.x0 < second.x1
        and first.bottom > second.top
        and first.top < second.bottom
    )


def _rotate_box(
    x0: float, x1: float, low: float, high: float, rotation: int
) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of a box after rotating the page by quarter turns."""
    for _ in range(rotation):
        x0, x1, low, high = -high, -low, x0, x1
    return x0, x1, -high, -low


def _read_utf16(fill: Callable[[Any, int], int]) -> str:
    """Return the UTF-16 text that `fill`, a pdfium function, writes. `fill` returns the size it needs."""
    size = fill(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(buffer, size)
    text = replace_surrogates(buffer.raw[: size - 2].decode("utf-16-le", "replace"))
    return " ".join(text.replace("\0", " ").split())
