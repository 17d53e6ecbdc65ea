"""Detect headings by their looks: rows that are larger, bold, in capitals or set apart."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from statistics import median

from roamtui.convert.pdf.contents import EARLY_PAGES
from roamtui.convert.pdf.headings import DetectedHeading
from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.titles import (
    CONTINUED,
    LARGE_RATIO,
    LENGTH_MAX,
    NON_LETTERS,
    ROWS_MAX,
    Join,
    count_similar_rows,
    is_capitals,
    join_rows,
)
from roamtui.convert.pdf.words import HYPHEN, SUPERSCRIPT_AT_END

_LONG_WITH_OUTLINE, _LONG_WITHOUT_OUTLINE = 8_000, 1_500
"""A section is divided from this number of characters on: in a file with its own outline, and in others."""
_LONG_SHARE = 0.1
"""Without an outline, a section with at least this share of the file's characters is also divided, so that
short files are divided more finely."""
_SENTENCE_LENGTH_MAX = 400
"""Maximum length of a bold title, in characters. It may be a whole sentence, such as a risk factor."""
_ENDS_OF_TEXT = f",;-–—{HYPHEN}"
"""A row that ends in one of these signs is not a title."""
_SIZE_MIN = 0.85
"""Minimum size of the letters of a title, relative to the text."""
_APART_RATIO = 1.25
"""Minimum distance above a row that is set apart, relative to the usual distance between rows."""
_APART_LENGTH_MAX = 90
"""Maximum length of a title that is only set apart, in characters."""
_FULL_ROW_LENGTH = 60
"""A row with more characters than this is text, so its distance to the next row is the usual one."""
_NOT_A_TITLE = re.compile(
    r"[□■○◆](?!\s*[\u1100-\ud7ff])"
    r"|[a-z|=<>;,.:)\]}+*/•·▪●◦‣⁃➢✓–—-]|.*https?:|www\.|(?=\S*$)\S*\w[(._]\w"
)
"""Start of a text that cannot be a title."""


class TypographicHeadings:
    """Detects headings by comparing rows with the usual letter size and row distance of the file."""

    def __init__(self, rows: Sequence[PageRow], join: Join) -> None:
        """Measure the usual letter size and row distance."""
        self._rows = rows
        self._join = join
        sizes: Counter[float] = Counter()
        for row in rows:
            sizes[round(row.size * 4) / 4] += len(row.text)
        leadings = [
            (after.top - row.top) / row.size
            for row, after in pairwise(rows)
            if len(row.text) > _FULL_ROW_LENGTH and 0 < after.top - row.top < 3 * row.size
        ]
        self._size = max(1.0, sizes.most_common(1)[0][0]) if sizes else 10.0
        """Usual size of letters, rounded to quarters of a point."""
        self._leading = median(leadings) if leadings else 1.2
        """Usual distance between rows, as a multiple of the letter size."""
        self._offsets = [*accumulate((len(row.text) for row in rows), initial=0)]
        """Number of characters of the file before each row."""
        self._long_min: float = _LONG_WITH_OUTLINE
        """Minimum length of a section that is divided, in characters."""

    def divide(self, headings: Sequence[DetectedHeading], *, has_outline: bool) -> list[DetectedHeading]:
        """Return more headings, for the long sections below the known `headings`, which are in order.

        With `has_outline`, the known headings are the file's own outline. If it starts on an early page, the
        text before it is a cover, and is not divided.
        """
        titles = list(self._iter_titles(headings))
        starts = [0, *(heading.end for heading in headings)]
        ends = [*(heading.row for heading in headings), len(self._rows)]
        levels = [0, *(heading.level for heading in headings)]
        if not has_outline:
            self._long_min = min(_LONG_WITHOUT_OUTLINE, _LONG_SHARE * self._offsets[-1])
        has_cover = has_outline and bool(headings) and self._rows[headings[0].row].page < EARLY_PAGES
        more: list[DetectedHeading] = []
        for number, (start, end, level) in enumerate(zip(starts, ends, levels, strict=True)):
            inside = _select(titles, start, end)
            is_before_first = number == 0  # this text is divided even if it is short, unless it is a cover
            is_divided = not has_cover if is_before_first else self._is_long(start, end)
            if is_divided:
                more += self._divide(inside, start, end, level)
        return more

    def stands_out(self, index: int) -> bool:
        """Return whether a row is large or bold, and may be a title."""
        row = self._rows[index]
        return self._is_large_or_bold(row) and _NOT_A_TITLE.match(row.text) is None

    def _is_long(self, start: int, end: int) -> bool:
        return self._offsets[end] - self._offsets[start] >= self._long_min

    def _divide(
        self, titles: Sequence[DetectedHeading], start: int, end: int, level: int
    ) -> Iterator[DetectedHeading]:
        """Yield a section's titles with the strongest style, and divide long parts between them further."""
        best = max((title.style for title in titles), default=None)
        chosen = [title for title in titles if title.style == best]
        weaker = [title for title in titles if title.style != best]
        lows = [start, *(title.end for title in chosen)]
        highs = [*(title.row for title in chosen), end]
        for heading, low, high in zip([None, *chosen], lows, highs, strict=True):
            if heading is not None:
                heading.level = level + 1
                yield heading
            inside = _select(weaker, low, high)
            if inside and self._is_long(low, high):
                yield from self._divide(inside, low, high, level + (heading is not None))

    def _iter_titles(self, known: Sequence[DetectedHeading]) -> Iterator[DetectedHeading]:
        """Yield all rows that look like titles, except for the `known` headings."""
        ends = {heading.row: heading.end for heading in known if heading.count}
        rows = self._rows
        index = 0
        while index < len(rows):
            if index in ends:
                index = ends[index]
                continue
            count = self._count_title_rows(index)
            is_title = count > 0 and any(len(after.cells) == 1 for after in rows[index : index + 2])
            title = join_rows(rows[index : index + count], self._join)
            if is_title and not CONTINUED.search(title):
                style = self._compute_style(index)
                yield DetectedHeading(row=index, count=count, level=0, title=title, style=style)
            index += max(1, count)

    def _count_title_rows(self, index: int) -> int:
        rows = self._rows
        row = rows[index]
        text = row.text
        if row.is_no_heading or row.is_listed or len(row.cells) > 2 or row.size < _SIZE_MIN * self._size:
            return 0
        if self._continues_sentence(index):
            return 0
        # A title in italics or capitals is set apart from the rows around it.
        is_lighter_title = (row.font.is_italic or is_capitals(text)) and self._is_apart(index)
        if not self._is_large_or_bold(row) and not is_lighter_title:
            return 0
        letters = NON_LETTERS.sub("", text)
        letters_min = 2 if letters[:1] > "\u02ff" else 3  # a Chinese title may have two letters
        if len(letters) < letters_min or len(letters) * 2 <= len(text):
            return 0
        count = count_similar_rows(rows, index, len(rows))
        if rows[index + count - 1].is_no_heading or count > ROWS_MAX:
            return 0
        text = join_rows(rows[index : index + count], self._join)
        if row.font.is_bold:
            is_short = len(text) <= _SENTENCE_LENGTH_MAX
        else:
            is_short = len(text) <= LENGTH_MAX and _get_last_sign(text) not in ".:"
        is_title = is_short and _get_last_sign(text) not in _ENDS_OF_TEXT and not _NOT_A_TITLE.match(text)
        return count if is_title else 0

    def _is_large_or_bold(self, row: PageRow) -> bool:
        return row.size > LARGE_RATIO * self._size or row.font.is_bold

    def _is_apart(self, index: int) -> bool:
        """Return whether a short row starts a page or column, or has more room above it than usual."""
        row = self._rows[index]
        if _get_last_sign(row.text) in ".:;," or len(row.text) > _APART_LENGTH_MAX:
            return False
        if not index:
            return True
        above = self._rows[index - 1]
        return row.top < above.top or row.top - above.top > _APART_RATIO * self._leading * row.size

    def _continues_sentence(self, index: int) -> bool:
        """Return whether the row above is full and ends inside a sentence. A sentence may have bold words."""
        row = self._rows[index]
        above = self._rows[index - 1] if index else row
        is_next = 0 < row.top - above.top <= _APART_RATIO * self._leading * row.size
        is_open = above.text[-1].isalnum() or above.text[-1] == ","
        is_full = len(above.cells) == 1 and len(above.text) > _FULL_ROW_LENGTH
        return is_next and is_open and is_full and row.size <= LARGE_RATIO * above.size

    def _compute_style(self, index: int) -> tuple[float, ...]:
        row = self._rows[index]
        size = round(row.size / self._size, 1) if row.size > LARGE_RATIO * self._size else 1.0
        return size, row.font.is_bold, is_capitals(row.text), not row.font.is_italic


def _select(titles: Sequence[DetectedHeading], start: int, end: int) -> Sequence[DetectedHeading]:
    low, high = (bisect_left(titles, row, key=lambda title: title.row) for row in (start, end))
    return titles[low:high]


def _get_last_sign(text: str) -> str:
    """Return the last character of a text, before a raised mark such as that of a note."""
    return SUPERSCRIPT_AT_END.sub("", text)[-1:]
