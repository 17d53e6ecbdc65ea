"""`Row`: the words that stand side by side on a page, as cells that wide gaps divide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from roamtui.sources.convert.pdf.pdfium import Font, Word

_OVERLAP = 0.5
"""Of the lower of two words that are in one row."""
_CELL_GAP = 0.62
"""Of a word's height: a wider gap divides cells."""
_TOUCHING = 0.07
"""A narrower one is none, where the page was not told to leave a blank."""
_TALL = 1.8
"""Of the median height: letters so much larger that they begin a paragraph over several rows."""
_PREFIX = re.compile(r"(?:[$€£¥(]|US\$|C\$|A\$|R\$)+")
_SUFFIX = re.compile(r"[)%\]]+|pts?|bps|x")
_ENUMERATOR = re.compile(
    r"(?:item|note|part|chapter|section|article|exhibit|appendix)\s*[\divxlc]+[a-c]?\s?[.:\u2014\u2013-]?|[•▪●◦‣⁃■□➢✓–·]"
    r"|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:\d{1,2}|[A-Za-z]|[IVX]{1,4})\.|\d{1,2}(?:\.\d{1,2}){1,4}\.?",
    re.IGNORECASE,
)
_FIGURE_START = re.compile(r"[\d$€£¥(\u2014–-]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile(r"[A-Za-z0-9]")
_UNKNOWN = Font("", is_bold=False, is_italic=False)


@dataclass(slots=True)
class Cell:
    """Words of a row without a wide gap between them."""

    text: str
    x0: float
    x1: float


@dataclass(slots=True)
class Row:
    """A line of a page."""

    cells: list[Cell]
    top: float
    bottom: float
    size: float
    """Height of its letters."""
    first: int
    """Index of its first character, in the order in which the page draws."""
    last: int
    font: Font = _UNKNOWN
    """Of its first and last character; unknown where these differ."""
    text: str = field(init=False)
    x0: float = field(init=False)
    x1: float = field(init=False)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Make what follows from the cells anew."""
        cells = self.cells
        self.text = cells[0].text if len(cells) == 1 else " ".join([cell.text for cell in cells])
        self.x0 = min(cells[0].x0, cells[-1].x0)
        self.x1 = max(cells[0].x1, cells[-1].x1)


def group_words(words: Iterable[Word]) -> list[list[Word]]:
    """Return the words of each row from left to right, the rows from top to bottom."""
    rows: list[list[Word]] = []
    row: list[Word] = []
    top = bottom = 0.0
    for word in sorted(words, key=_middle):
        height = word.bottom - word.top
        own = bottom - top
        overlap = min(bottom, word.bottom) - max(top, word.top)
        if row and overlap >= _OVERLAP * min(height, own):
            row.append(word)
            if height > own:
                top, bottom = word.top, word.bottom
        else:
            row = [word]
            rows.append(row)
            top, bottom = word.top, word.bottom
    for row in rows:
        row.sort(key=_left)
    return rows


def _middle(word: Word) -> float:
    return word.top + word.bottom


def _left(word: Word) -> float:
    return word.x0


def make_row(words: Sequence[Word]) -> Row:
    """Return words from left to right as a row."""
    heights = [word.bottom - word.top for word in words]
    size = heights[0] if len(heights) == 1 else sorted(heights)[len(heights) // 2]
    gap_max = _CELL_GAP * size
    touching = _TOUCHING * size
    cells: list[Cell] = []
    cell: Cell | None = None
    before = words[0]
    for word in words:
        gap = word.x0 - before.x1
        if cell is None or gap > gap_max:
            cell = Cell(word.text, word.x0, word.x1)
            cells.append(cell)
        else:
            is_one = gap < touching and word.first != before.last + 2 and cell.x0 != word.x0
            cell.text += word.text if is_one else f" {word.text}"
            cell.x1 = max(word.x1, cell.x1)
        before = word
    if len(cells) > 1:
        cells = _join_marks(cells)
    return _enclose(cells, words, size)


def _enclose(cells: list[Cell], words: Sequence[Word], size: float) -> Row:
    return Row(
        cells,
        min([word.top for word in words]),
        max([word.bottom for word in words]),
        size,
        min([word.first for word in words]),
        max([word.last for word in words]),
    )


def _join_marks(cells: list[Cell]) -> list[Cell]:
    """Return cells in which "$", ")", "%" and enumerators stand with what they belong to."""
    joined = [cells[0]]
    for cell in cells[1:]:
        before = joined[-1]
        is_prefixed = _PREFIX.fullmatch(before.text) is not None and cell.text[0] not in ")%"
        is_suffix = _SUFFIX.fullmatch(cell.text) is not None and (before.text[-1].isdigit() or cell.text[0] == "%")
        is_numbered = len(joined) == 1 and _ENUMERATOR.fullmatch(before.text) and not _FIGURE_START.match(cell.text)
        if is_prefixed or is_suffix or is_numbered:
            before.text += f" {cell.text}" if is_numbered else cell.text
            before.x1 = cell.x1
        else:
            joined.append(cell)
    return joined


def make_right_to_left_row(words: Sequence[Word]) -> Row | None:
    """Return words from left to right as a row that is read from the right, None if most of them are not read so."""
    right = sum(1 for word in words if _RIGHT_TO_LEFT.search(word.text))
    left = sum(1 for word in words if _LEFT_TO_RIGHT.search(word.text))
    if right <= left:
        return None
    size = median([word.bottom - word.top for word in words])
    cells = [[words[-1]]]
    for after, word in zip(words[::-1], words[-2::-1], strict=False):
        if after.x0 - word.x1 > _CELL_GAP * size:
            cells.append([])
        cells[-1].append(word)
    return _enclose([Cell(_order(cell), cell[-1].x0, cell[0].x1) for cell in cells], words, size)


def _order(words: Iterable[Word]) -> str:
    """Return the text of words from right to left; those that are read from the left keep their order."""
    ordered: list[str] = []
    run: list[str] = []
    for word in words:
        if _LEFT_TO_RIGHT.search(word.text) and not _RIGHT_TO_LEFT.search(word.text):
            run.append(word.text)
        else:
            ordered += [*reversed(run), word.text]
            run = []
    return " ".join([*ordered, *reversed(run)])


def make_upright_row(words: Iterable[Word]) -> Row:
    """Return words that stand upright, as a row of one cell."""
    drawn = sorted(words, key=lambda word: word.first)
    cell = Cell(" ".join(word.text for word in drawn), min(map(_left, drawn)), max(word.x1 for word in drawn))
    return _enclose([cell], drawn, median([word.bottom - word.top for word in drawn]))


def has_right_to_left(words: Iterable[Word]) -> bool:
    """Return whether any word is of an alphabet that is read from the right."""
    return any(_RIGHT_TO_LEFT.search(word.text) for word in words)


def _continues(initial: Word, word: Word) -> bool:
    """Return whether a large letter is the first of a word."""
    is_next = word.first <= initial.last + 3 and word.x0 >= initial.x0
    return is_next and word.text[:1].isalpha() and (word.text[:1].islower() or word.text.isupper())


def set_apart_odd(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """Return the words that stand in rows, large first letters joined to theirs, and those that stand upright beside.

    A stamp along the edge of a page would be in all its rows at once.
    """
    if not words:
        return [], []
    usual = median([word.bottom - word.top for word in words])
    limit = usual * _TALL
    kept: list[Word] = []
    upright: list[Word] = []
    initial: Word | None = None
    for word in words:
        if initial is not None and _continues(initial, word):
            word.text = initial.text + word.text
            word.x0 = initial.x0
        elif initial is not None:
            kept.append(initial)
        initial = None
        height = word.bottom - word.top
        if height > limit:
            if len(word.text) > 2 and height > 1.5 * (word.x1 - word.x0):
                upright.append(word)
                continue
            if len(word.text) == 1 and word.text.isupper() and height > 2 * usual:
                initial = word
                continue
        kept.append(word)
    if initial is not None:
        kept.append(initial)
    return kept, upright
