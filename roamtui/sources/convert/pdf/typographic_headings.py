"""Detect headings by typography: larger, bold, in capitals, centred or set apart."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice, takewhile, zip_longest
from statistics import median

from roamtui.sources.convert.pdf.outline import (
    CONTINUED,
    NON_LETTERS,
    SIZE_TOLERANCE,
    DetectedHeading,
    PageText,
    continues_title,
    count_similar_rows,
    is_capitals,
    join_rows,
)
from roamtui.sources.convert.pdf.rows import PageRow

_LONG_WITH_OUTLINE, _LONG_WITHOUT_OUTLINE = 8_000, 1_500
"""Minimum length, in characters, of a section that is divided: in a file with an outline of its own, and in others."""
_LONG_SHARE = 0.1
"""Without an outline, a section with at least this share of the file's characters is also divided, so that short files
are divided more finely."""
_REPEATS_MAX = 4
"""Text that is repeated more often in one section is a label, not a title."""
_LARGE_RATIO = 1.12
"""A row is large if its letters are more than this many times as high as those of the text."""
_LENGTH_MAX = 150
"""Maximum length of a title, in characters."""
_SENTENCE_LENGTH_MAX = 400
"""Maximum length of a bold title, which may be a whole sentence, such as a risk factor."""
_SIZE_MIN = 0.85
"""Minimum size of the letters of a title, relative to the text."""
_TITLE_ROWS_MAX = 4
_APART_RATIO = 1.25
"""Minimum distance above a row that is set apart, relative to the usual distance between rows."""
_APART_LENGTH_MAX = 90
"""Maximum length of a title that is only italic or in capitals, in characters."""
_SHORT_ROW_LENGTH = 80
"""Length, in characters, below which a row that is set apart looks a little like a title."""
_FULL_ROW_LENGTH = 60
"""Length, in characters, above which a row is text, so that its distance to the next row is the usual one."""
_CENTRE_SHIFT_MAX = 0.03
"""Maximum distance of a centred row from the centre, as a share of the width of the text."""
_CENTRE_INDENT_MIN = 0.1
"""Minimum indent of a centred row, as a share of the width of the text."""
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    r"\W*(?:(?:as of|for the|at|in|three|six|nine|twelve|fiscal|quarters?|years?|months?|weeks?|periods?|ended|ending"
    rf"|and|the)\s+)*(?:{_MONTH}|\d{{4}}|\d{{1,2}}/\d{{1,2}})(?:[\s,/()\d–-]|(?:and|to|through)\b|{_MONTH})*",
    re.IGNORECASE,
)
"""A date is the head of a table, not a title."""
_CAPTION = re.compile(
    r"(table|tabelle)\b|fig(?:ure|\.)|chart|source|note:|abbildung|(?:box|example)\s\d", re.IGNORECASE
)
_MONOSPACED = re.compile(r"cour|mono|consol|typewriter|cmtt|code|menlo|fixed", re.IGNORECASE)
_NOT_A_TITLE = re.compile(
    r"[□■○◆](?!\s*[\u1100-\ud7ff])|\((?:in |[A-Za-z]{4})"
    r"|[a-z|=<>;,.:)\]}+*/•▪●◦‣⁃➢✓–—-]|\d+\s+\d+\s|.*https?:|www\.|(?=\S*$)\S*\w[(._]\w"
)
"""Start of a text that cannot be a title."""
_CAPTION_STYLE: tuple[float, ...] = (0.0,)
"""Style of captions, lower than every style that `_compute_style` returns."""
_TOP_ROWS = 3
"""A caption is a title only if it starts within this many rows of a page."""
_TABLE_DISTANCE_MAX = 20
"""The table of a caption starts within this many rows. Many header rows may come first."""
_SLIDES_MIN = 3
_SLIDES_SHARE = 0.8
"""Minimum share of wide pages in a file of slides."""
_SLIDE_LENGTH_MAX = 1_000
"""Maximum length of a typical slide, in characters."""
_SLIDE_ROWS = 3
"""The title of a slide starts in one of its first rows."""


class TypographicHeadings:
    """Detects headings by comparing rows with the usual letter size and row distance of the file."""

    def __init__(self, rows: Sequence[PageRow]) -> None:
        """Measure the usual letter size and row distance."""
        self._rows = rows
        sizes: Counter[float] = Counter()
        leadings: list[float] = []
        self._edges: dict[int, tuple[float, float]] = {}
        """Left and right edge of the text of each page."""
        for row, after in zip_longest(rows, rows[1:]):
            sizes[round(row.size * 4) / 4] += len(row.text)
            left, right = self._edges.get(row.page, (row.x0, row.x1))
            self._edges[row.page] = min(left, row.x0), max(right, row.x1)
            if after is not None and len(row.text) > _FULL_ROW_LENGTH and 0 < after.top - row.top < 3 * row.size:
                leadings.append((after.top - row.top) / row.size)
        self._size = max(1.0, sizes.most_common(1)[0][0]) if sizes else 10.0
        """Usual size of letters, rounded to quarters of a point."""
        self._leading = median(leadings) if leadings else 1.2
        """Usual distance between rows, as a multiple of the letter size."""
        self._offsets = [*accumulate((len(row.text) for row in rows), initial=0)]
        """Number of characters of the file before each row."""
        self._long_min: float = _LONG_WITH_OUTLINE
        """Minimum length of a section that is divided, in characters."""

    def detect(self, headings: Sequence[DetectedHeading], *, has_outline: bool) -> list[DetectedHeading]:
        """Return more headings, in the long sections of the known `headings`, which are in order.

        If `has_outline` is true, the known headings are the file's own outline. The text before them is then a cover,
        which is not divided.
        """
        titles = list(self._iter_titles({heading.row: heading.end for heading in headings}))
        more = [] if has_outline else self._detect_siblings(headings, titles)
        headings = sorted([*headings, *more], key=lambda heading: heading.row)
        starts = [0, *(heading.end for heading in headings)]
        ends = [*(heading.row for heading in headings), len(self._rows)]
        levels = [0, *(heading.level for heading in headings)]
        self._long_min = (
            _LONG_WITH_OUTLINE if has_outline else min(_LONG_WITHOUT_OUTLINE, _LONG_SHARE * self._offsets[-1])
        )
        for start, end, level in zip(starts, ends, levels, strict=True):
            inside = _select(titles, start, end)
            counts = Counter(title.title for title in inside)
            inside = [title for title in inside if counts[title.title] <= _REPEATS_MAX]
            # The text before the first known heading is divided even if it is short, unless it is a cover.
            if (start == 0 and not has_outline) or (start > 0 and self._is_long(start, end)):
                more += self._divide(inside, start, end, level)
        return more

    def _detect_siblings(
        self, headings: Sequence[DetectedHeading], titles: Sequence[DetectedHeading]
    ) -> list[DetectedHeading]:
        """Return more titles in the style of the known top-level headings, such as "Abstract" or "References"."""
        tops = [heading for heading in headings if heading.level == 1 and heading.count]
        styles = Counter(self._compute_style(heading.row) for heading in tops)
        style = styles.most_common(1)[0][0] if styles else None
        siblings = [title for title in titles if title.style == style]
        for heading in siblings:
            heading.level = 1
        return siblings if len(siblings) <= len(tops) else []

    def score_title(self, index: int) -> float:
        """Return 2 for a large or bold row, 0.3 for a short row that is set apart, else 0."""
        row = self._rows[index]
        if _NOT_A_TITLE.match(row.text):
            return 0.0
        if self._is_large_or_bold(row):
            return 2.0
        return 0.3 * (self._is_apart(index) and len(row.text) < _SHORT_ROW_LENGTH and row.text[-1] not in ".:;,")

    def _is_long(self, start: int, end: int) -> bool:
        return self._offsets[end] - self._offsets[start] >= self._long_min

    def _divide(self, titles: Sequence[DetectedHeading], start: int, end: int, level: int) -> Iterator[DetectedHeading]:
        """Yield the titles of a section that have the strongest style, and divide long parts between them further."""
        best = max((title.style for title in titles), default=None)
        chosen = [title for title in titles if title.style == best]
        weaker = [title for title in titles if title.style != best]
        lows, highs = [start, *(title.end for title in chosen)], [*(title.row for title in chosen), end]
        for heading, low, high in zip([None, *chosen], lows, highs, strict=True):
            if heading is not None:
                heading.level = level + 1
                yield heading
            inside = _select(weaker, low, high)
            if inside and self._is_long(low, high):
                yield from self._divide(inside, low, high, level + (heading is not None))
            elif inside and low == 0:
                inside[0].level = level + 1
                yield inside[0]

    def _iter_titles(self, known: Mapping[int, int]) -> Iterator[DetectedHeading]:
        """Yield all rows that look like titles, except for the `known` headings (row to end)."""
        rows = self._rows
        index = 0
        while index < len(rows):
            row = rows[index]
            if index in known:
                index = max(index + 1, known[index])
                continue
            if caption := _CAPTION.match(row.text):
                count, style = 1, _CAPTION_STYLE
                while index + count < len(rows) and continues_title(rows[index + count - 1], rows[index + count]):
                    if rows[index + count].is_in_table and len(rows[index + count].cells) > 1:
                        break  # the rows of the table below do not belong to the caption
                    count += 1
                # A caption is a title only if it is at the top of a page and a table starts near it.
                is_title = (
                    bool(caption[1])
                    and row.number < _TOP_ROWS
                    and count <= _TITLE_ROWS_MAX
                    and any(
                        below.is_in_table and below.page == row.page
                        for below in rows[index : index + _TABLE_DISTANCE_MAX]
                    )
                    and not any(CONTINUED.search(below.text) for below in rows[index : index + count + 1])
                )
            else:
                count, style = self._count_title_rows(index, known), self._compute_style(index)
                is_title = any(len(below.cells) == 1 for below in rows[index : index + 2])
            if count and is_title:
                title = join_rows(rows[index : index + count])
                yield DetectedHeading(row=index, count=count, level=0, title=title, style=style)
            index += max(1, count)

    def _count_title_rows(self, index: int, known: Mapping[int, int]) -> int:
        """Return the number of rows of the title that starts at a row, or 0 if no title starts there."""
        rows = self._rows
        row = rows[index]
        text = row.text
        is_free = not (row.is_in_table or row.is_listed or row.size < _SIZE_MIN * self._size)
        if not is_free or not (self._is_large_or_bold(row) or self._is_set_apart(index)):
            return 0
        if len(row.cells) > 2 or len(text) > _SENTENCE_LENGTH_MAX or _MONOSPACED.search(row.font.name):
            return 0
        letters = NON_LETTERS.sub("", text)
        needed = 2 if letters[:1] > "\u02ff" else 3  # a Chinese title may have two letters
        if len(letters) < needed or len(letters) * 2 <= len(text) or text.count("(") != text.count(")"):
            return 0
        end = next((after for after in range(index + 1, index + _TITLE_ROWS_MAX) if after in known), len(rows))
        count = count_similar_rows(rows, index, end)
        heads_table = len(row.cells) > 1 and any(below.is_in_table for below in rows[index + count : index + count + 1])
        if rows[index + count - 1].is_in_table or heads_table or count > _TITLE_ROWS_MAX:
            return 0
        text = join_rows(rows[index : index + count])
        length_max, ends = (_SENTENCE_LENGTH_MAX, ",;-–—\x02") if row.font.is_bold else (_LENGTH_MAX, ",;-–—\x02.:")
        if len(text) > length_max or text[-1] in ends:
            return 0
        return 0 if _NOT_A_TITLE.match(text) or _DATE.fullmatch(text) or CONTINUED.search(text) else count

    def _is_large_or_bold(self, row: PageRow) -> bool:
        return row.size > _LARGE_RATIO * self._size or row.font.is_bold

    def _is_set_apart(self, index: int) -> bool:
        """Check whether a row is in italics or capitals, and set apart from the rows around it."""
        row = self._rows[index]
        if not _is_italic_or_capitals(row) or row.text[-1] in ".:;," or len(row.text) > _APART_LENGTH_MAX:
            return False
        is_apart = self._is_apart(index) or self._rows[index - 1].text[-1] in ".!?"
        below = self._rows[index + 1 : index + 2]
        return is_apart and not any(row.page == after.page and _is_italic_or_capitals(after) for after in below)

    def _is_apart(self, index: int) -> bool:
        """Check whether a row is the first of its page or column, or farther below the one above than usual."""
        row, above = self._rows[index], self._rows[index - 1]
        return not row.number or row.top < above.top or row.top - above.top > _APART_RATIO * self._leading * row.size

    def _compute_style(self, index: int) -> tuple[float, ...]:
        """Return the style of a title. A greater tuple means a higher level."""
        row = self._rows[index]
        left, right = self._edges[row.page]
        width, shift = right - left, abs(row.x0 + row.x1 - left - right)
        is_centred = row.x0 - left > _CENTRE_INDENT_MIN * width and shift < 2 * _CENTRE_SHIFT_MAX * width
        size = round(row.size / self._size, 1) if row.size > _LARGE_RATIO * self._size else 1.0
        return size, row.font.is_bold, is_capitals(row.text), is_centred, not row.font.is_italic


def _select(titles: Sequence[DetectedHeading], start: int, end: int) -> Sequence[DetectedHeading]:
    """Return the titles from row `start` up to `end`."""
    low, high = (bisect_left(titles, row, key=lambda title: title.row) for row in (start, end))
    return titles[low:high]


def _is_italic_or_capitals(row: PageRow) -> bool:
    return row.font.is_italic or is_capitals(row.text)


def detect_slide_titles(pages: Sequence[PageText]) -> list[DetectedHeading]:
    """Return the titles of slides, which are wide pages with few words. They have level 0 (see `merge_headings`)."""
    shown = [page for page in pages if page.rows]
    lengths = [sum(len(row.text) for row in page.rows) for page in shown]
    wide = sum(page.is_wide for page in shown)
    if len(shown) < _SLIDES_MIN or wide < _SLIDES_SHARE * len(shown) or median(lengths) > _SLIDE_LENGTH_MAX:
        return []
    headings: list[DetectedHeading] = []
    for page in shown:
        rows = page.rows
        worded = [row for row in range(min(_SLIDE_ROWS, len(rows))) if any(map(str.isalpha, rows[row].text))]
        first = max(worded, key=lambda row: round(rows[row].size), default=0)
        smallest = min(row.size for row in rows)
        large = (
            row.size > _LARGE_RATIO * smallest and abs(row.size / rows[first].size - 1) < SIZE_TOLERANCE
            for row in rows[first + 1 :]
        )
        count = 1 + len(list(takewhile(bool, islice(large, _TITLE_ROWS_MAX - 1))))
        title = join_rows(rows[first : first + count])
        before = headings[-1].title if headings else ""
        if len(title) <= _LENGTH_MAX and title != before and not CONTINUED.search(title):
            headings.append(DetectedHeading(row=page.start + first, count=count, level=0, title=title))
    return headings
