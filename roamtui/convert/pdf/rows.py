"""Group the words of a page into rows in reading order, with cells separated by wide gaps."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, pairwise
from statistics import median

from msgspec import Struct

from roamtui.convert.pdf.pdfium import UNKNOWN_FONT, Font, PdfPage, VerticalLine
from roamtui.convert.pdf.reading_order import CELL_GAP, sort_into_reading_order
from roamtui.convert.pdf.right_to_left import has_right_to_left, is_right_to_left, to_logical_order
from roamtui.convert.pdf.words import (
    SUBSCRIPT_DIGITS,
    SUPERSCRIPT_END,
    SUPERSCRIPT_START,
    PageWord,
    compute_letter_height,
    is_subscript,
    is_superscript,
)
from roamtui.markdown.figures import is_figure
from roamtui.text import DASHES, Bounds

_SPACE_GAP = 0.07
"""Minimum gap, in letter heights, that is a space. A narrower gap is a space only if the PDF has a space
character there."""
_INITIAL_LINES_MIN = 2
"""Minimum height of the first letter of a chapter, in lines. The rest of its word is in the first one."""
_RAISED_GAP = 0.15
"""Maximum gap, in letter heights, between letters and a raised mark that belongs to them."""
_CELL_LINES_MAX = 20
"""A line that is higher than this many letters is beside a column of a page or a box, not beside cells."""
_LINE_OVERLAP = 1.0
"""How far the box of a letter may reach over a line beside it, in points."""
_WIDE_GAP = 1.5
"""Minimum wide gap between cells, in letter heights."""
_FIGURE_PREFIX = re.compile(r"(?:[$€£¥(]|US\$|C\$|A\$|R\$)+")
"""A cell, such as a currency sign, that belongs to the figure after it."""
_FIGURE_SUFFIX = re.compile(r"[)%\]]+|pts?|bps|x")
"""A cell, such as a percent sign, that belongs to the figure before it."""
ENUMERATOR = re.compile(
    r"(?:item|note|part|chapter|section|article|exhibit|appendix)\s*[\divxlc]+[a-c]?\s?[.:\u2014\u2013-]?|[•▪●◦‣⁃■□➢✓–·]"
    r"|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:\d{1,2}|[A-Za-z]|[IVX]{1,4})\.|\d{1,2}(?:\.\d{1,2}){1,4}\.?",
    re.IGNORECASE,
)
_WHOLE_FIGURE = re.compile(r"\(?[$€£¥]?\(?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\)?%?\)?|#{3,}")
"""A figure of one word, or the signs that a spreadsheet shows if its column is too narrow for the figure."""
_FIGURE_SIGNS = re.compile(r"\d[,.]\d|[$€£¥%(]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_FOOTNOTE_MARK = re.compile(r"\((?:\d|[a-z])\)|[*†‡]{1,3}")
_MARK_GAP_MAX = 0.9
"""Maximum distance between a figure and its unit in letters or its footnote mark, in letter heights."""
_FIGURE_ENDS = "0123456789)%#"
_CURRENCIES = "$€£¥"
_FIGURE_START = re.compile(r"[\d$€£¥(\u2014–-]")
_DIVIDED_AT_F = re.compile(r"\b([^\W\d_]*f) ([^\W\d_]+)")
_OWN_WORD = re.compile(r"(?<!f )\b[^\W\d_]+")
"""A word that does not follow an f."""


class PageCell(Struct):
    """Words of a row, without a wide gap between them."""

    text: str
    x0: float
    x1: float


class PageRow(Struct):
    """A line of a page."""

    cells: list[PageCell]
    top: float
    bottom: float
    size: float
    """Letter height."""
    first: int
    """Index of its first character in drawing order; `last` is the index of its last one."""
    last: int
    font: Font = UNKNOWN_FONT
    """Font of its first and last character; `UNKNOWN_FONT` if they differ."""
    page: int = 0
    """0-based number of its page."""
    is_no_heading: bool = False
    """Whether it belongs to a table, or has words in another direction than most of the page."""
    is_listed: bool = False
    """Whether it belongs to a contents page."""
    is_ruled: bool = False
    """Whether it has several cells, and vertical lines on both sides of each."""
    frame: Bounds | None = None
    """Top and bottom of the shortest line beside its cells. Lines of the same cells have the same frame."""
    text: str = ""
    x0: float = 0.0
    x1: float = 0.0

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Recompute text and bounds from the cells."""
        cells = self.cells
        self.text = cells[0].text if len(cells) == 1 else " ".join([cell.text for cell in cells])
        self.x0 = min(cells[0].x0, cells[-1].x0)
        self.x1 = max(cells[0].x1, cells[-1].x1)


def is_wide_gap(before: PageCell, cell: PageCell, row: PageRow) -> bool:
    """Return whether the gap between two cells is ruled, or too wide for words of a justified line."""
    return row.is_ruled or cell.x0 - before.x1 > _WIDE_GAP * row.size


def has_wide_gap(row: PageRow) -> bool:
    """Return whether a row has a wide gap between two cells."""
    return any(is_wide_gap(before, cell, row) for before, cell in pairwise(row.cells))


def make_row(words: Sequence[PageWord], lines: Sequence[VerticalLine] = ()) -> PageRow:
    """Make a row from words that are sorted from left to right.

    Vertical `lines` divide its cells if there is one on both sides of each cell.
    """
    size = compute_letter_height(words)
    top, bottom = words[0].top + _LINE_OVERLAP, words[0].bottom - _LINE_OVERLAP
    height_max = _CELL_LINES_MAX * size
    crossing = [
        line
        for line in lines
        if line.top < top and bottom < line.bottom and line.bottom - line.top < height_max
    ]
    gap_max = CELL_GAP * size
    touching = _SPACE_GAP * size
    cells: list[PageCell] = []
    cell: PageCell | None = None
    before = base = words[0]
    for index, word in enumerate(words):
        gap = word.x0 - before.x1
        if cell is not None and gap < _RAISED_GAP * size and is_superscript(word, base):
            cell.text += f"{SUPERSCRIPT_START}{word.text}{SUPERSCRIPT_END}"
            cell.x1 = max(word.x1, cell.x1)
            before = word
            continue
        is_divided = index > 0 and any(
            before.x1 - _LINE_OVERLAP < line.x < word.x0 + _LINE_OVERLAP for line in crossing
        )
        if (
            cell is None
            or is_divided
            or gap > gap_max
            or (gap > touching and _starts_column(cells, base.text, words, index))
        ):
            cell = PageCell(word.text, word.x0, word.x1)
            cells.append(cell)
        else:
            touches = gap < touching and word.first != before.last + 2 and cell.x0 != word.x0
            if touches and base is before and base.text[0].isdigit() and is_superscript(base, word):
                cell.text = (
                    f"{cell.text.removesuffix(base.text)}{SUPERSCRIPT_START}{base.text}{SUPERSCRIPT_END}"
                )
            text = word.text
            if touches and cell.text[-1].isdigit() and is_subscript(word, base):
                text = text.translate(SUBSCRIPT_DIGITS)
            cell.text += text if touches else f" {text}"
            cell.x1 = max(word.x1, cell.x1)
        before = base = word
    if len(cells) > 1:
        cells = _join_marks(cells, size)
    row = _build_row(cells, words, size)
    if not crossing:
        return row
    edges = sorted(line.x for line in crossing)
    places = [bisect_right(edges, (cell.x0 + cell.x1) / 2) for cell in cells]
    is_each_between_two = len({0, len(edges), *places}) == len(cells) + 2
    if len(edges) <= 2 or not is_each_between_two:
        return make_row(words)
    shortest = min(crossing, key=lambda line: line.bottom - line.top)
    row.frame = round(shortest.top), round(shortest.bottom)
    if len(cells) > 1:
        row.is_ruled = True
        for cell, place in zip(cells, places, strict=True):
            cell.x0 = edges[place - 1]
            cell.x1 = edges[place]
        row.refresh()
    return row


def _starts_column(cells: Sequence[PageCell], last: str, words: Sequence[PageWord], index: int) -> bool:
    """Return whether the word at an index is a figure of the next column, as in "9,035 $488".

    The last one of the `cells` has the text before it, and `last` is its last word. In "2022 $ million", no
    word is. After a figure in a cell of its own, "1004 1005" are two figures, but "10 000" is one.
    """
    text = cells[-1].text
    last = last.partition(SUPERSCRIPT_START)[0] or last
    if text[0].isalpha() or not (last[-1] in _FIGURE_ENDS or text in DASHES):
        return False
    after = words[index].text
    if after in _CURRENCIES and index + 1 < len(words):
        after += words[index + 1].text
    are_whole = _WHOLE_FIGURE.fullmatch(last) and _WHOLE_FIGURE.fullmatch(after)
    is_sum = after[0] in _CURRENCIES and after[-1] in f"{_FIGURE_ENDS}{DASHES}"
    is_next = len(cells) > 1 and is_figure(cells[-2].text) and not is_figure(f"{text} {after}")
    return is_sum or bool(are_whole and (is_next or _FIGURE_SIGNS.search(last + after)))


def _build_row(cells: list[PageCell], words: Sequence[PageWord], size: float) -> PageRow:
    top = min([word.top for word in words])
    bottom = max([word.bottom for word in words])
    first = min([word.first for word in words])
    return PageRow(cells, top, bottom, size, first, max([word.last for word in words]))


def _join_marks(cells: list[PageCell], size: float) -> list[PageCell]:
    """Join signs such as "$", ")" and "%", and the number of a title, with the cells that they belong to."""
    joined = [cells[0]]
    for cell in cells[1:]:
        before = joined[-1]
        is_prefixed = _FIGURE_PREFIX.fullmatch(before.text) is not None and cell.text[0] not in ")%"
        is_near = cell.x0 - before.x1 < _MARK_GAP_MAX * size
        is_suffix = (
            _FIGURE_SUFFIX.fullmatch(cell.text) is not None
            and (is_near or not cell.text.isalpha())
            and (before.text[-1].isdigit() or (cell.text[0] == "%" and before.text[-1] in f")%{DASHES}"))
            and not _YEAR.fullmatch(before.text)
        )
        is_enumerator = len(joined) == 1 and ENUMERATOR.fullmatch(before.text)
        is_numbered = is_enumerator and not _FIGURE_START.match(cell.text)
        is_mark = (
            before.text[-1] in _FIGURE_ENDS and _FOOTNOTE_MARK.fullmatch(cell.text) is not None and is_near
        )
        if is_prefixed or is_suffix or is_numbered or is_mark:
            before.text += f" {cell.text}" if is_numbered or is_mark else cell.text
            before.x1 = cell.x1
        else:
            joined.append(cell)
    return joined


def _make_whole_row(words: Sequence[PageWord]) -> PageRow:
    """Make a row of one cell from words in reading order."""
    cell = PageCell(
        " ".join(word.text for word in words), min(word.x0 for word in words), max(word.x1 for word in words)
    )
    return _build_row([cell], words, compute_letter_height(words))


def _make_mirrored_row(words: Sequence[PageWord]) -> PageRow:
    """Make a row of a page that is read from right to left: its cells begin at the right, as in a mirror."""
    size = compute_letter_height(words)
    cells: list[PageCell] = []
    for before, word in pairwise([words[0], *words]):
        # narrower gaps are in justified lines, whose words in Latin letters must not change places
        if cells and word.x0 - before.x1 <= _WIDE_GAP * size:
            cells[-1].text += f" {word.text}"
            cells[-1].x0 = -word.x1
        else:
            cells.append(PageCell(word.text, -word.x1, -word.x0))
    for cell in cells:
        cell.text = to_logical_order(cell.text) if has_right_to_left(cell.text) else cell.text
    return _build_row(cells[::-1], words, size)


def restore_double_f(pages: Sequence[Sequence[PageRow]]) -> None:
    """Restore the second f of words such as "dif er", which the file has elsewhere as one word.

    If letters overlap, pdfium takes two for one, and adds a space. What also follows a word without f, such
    as "ice", is a word.
    """
    rows = list(chain.from_iterable(pages))
    own = {word for row in rows for word in _OWN_WORD.findall(row.text)}
    known = {word.lower() for word in own}

    def restore(match: re.Match[str]) -> str:
        whole = f"{match[1]}f{match[2]}"
        return whole if match[2] not in own and whole.lower() in known else match[0]

    for row in rows:
        if _DIVIDED_AT_F.search(row.text):
            for cell in row.cells:
                cell.text = _DIVIDED_AT_F.sub(restore, cell.text)
            row.refresh()


def _join_initials(words: Sequence[PageWord]) -> list[PageWord]:
    """Join the first letter of a chapter, which is several lines high, with the rest of its word."""
    height = compute_letter_height(words) if words else 0.0
    joined = list(words)
    for letter in words:
        if not letter.text.isupper() or letter.bottom - letter.top < _INITIAL_LINES_MIN * height:
            continue
        for rest in words if len(letter.text) == 1 else ():
            is_in_first_line = letter.top < rest.bottom < letter.top + _INITIAL_LINES_MIN * height
            if is_in_first_line and rest.text[0].islower() and 0 <= rest.x0 - letter.x1 < CELL_GAP * height:
                rest.text = letter.text + rest.text
                rest.x0 = letter.x0
                joined.remove(letter)
                break
    return joined


def read_rows(page: PdfPage) -> list[PageRow]:
    """Return the rows of a page in reading order."""
    words = page.read_words()
    lines = page.read_vertical_lines()
    rotated = [word for word in words if word.is_rotated]
    words = _join_initials([word for word in words if not word.is_rotated])
    rows: list[PageRow] = []
    is_mirrored = is_right_to_left(" ".join([word.text for word in words]))
    for group in sort_into_reading_order(words, 0):
        if is_mirrored:
            row = _make_mirrored_row(group)
        elif is_right_to_left(" ".join([word.text for word in group])):
            row = _make_whole_row(group)
            row.cells[0].text = row.text = to_logical_order(row.text)
        else:
            for word in group:
                word.text = to_logical_order(word.text) if has_right_to_left(word.text) else word.text
            row = make_row(group, lines)
        rows.append(row)
    if rotated:
        rows.append(_make_whole_row(rotated))
        rows[-1].is_no_heading = True
        rows[-1].size = median(min(word.x1 - word.x0, word.bottom - word.top) for word in rotated)
    for row in rows:
        font = page.read_font(row.first)
        if row.last == row.first or font is page.read_font(row.last):
            row.font = font
    return rows
