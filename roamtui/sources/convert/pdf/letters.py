"""Headings that their letters give away: larger, bold, in capitals, in the middle or set apart."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median

from roamtui.sources.convert.pdf.outline import (
    CONTINUED,
    LEVEL_MAX,
    MARKS,
    Heading,
    PageText,
    continues,
    is_capitals,
    join_rows,
)
from roamtui.sources.convert.pdf.rows import Row

_LONG, _LONG_UNLISTED = 8_000, 1_500
"""Characters: shorter sections need no headings inside; in a file that lists its sections, and in another."""
_LONG_SHARE = 0.1
"""Of a file that lists none: a short one is divided more finely."""
_REPEATS_MAX = 4
"""What stands in one section more often is a label."""
_LARGER = 1.12
_LENGTH_MAX = 150
_SENTENCE_LENGTH_MAX = 400
"""Of a title in bold letters, such as that of a risk."""
_SMALLEST = 0.85
"""Of the text's size."""
_ROWS_MAX = 4
_APART = 1.25
"""Of the usual distance of rows: a title that only its slope marks stands so far from what is before."""
_APART_LENGTH_MAX = 90
_CENTRED = 0.03
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    r"\W*(?:(?:as of|for the|at|in|three|six|nine|twelve|fiscal|quarters?|years?|months?|weeks?|periods?|ended|ending"
    rf"|and|the)\s+)*(?:{_MONTH}|\d{{4}}|\d{{1,2}}/\d{{1,2}})(?:[\s,/()\d–-]|(?:and|to|through)\b|{_MONTH})*",
    re.IGNORECASE,
)
_UNITS = re.compile(
    r"\W*(?:(?:dollars?|amounts) )?(?:in (?:millions|thousands|billions)|unaudited)\b.{0,80}|\(.*\)", re.I
)
_CAPTION = re.compile(
    r"(table|tabelle)\b|fig(?:ure|\.)|chart|source|note:|abbildung|(?:box|example)\s\d", re.IGNORECASE
)
_MONOSPACED = re.compile(r"cour|mono|consol|typewriter|cmtt|code|menlo|fixed", re.IGNORECASE)
_NO_START = re.compile(
    r"[□■○◆](?!\s*[\u1100-\ud7ff])|\([A-Za-z]{4}|[a-z|=<>;,.:)\]}+*/•▪●◦‣⁃➢✓–—-]|\d+\s+\d+\s|.*https?:|www\.|\S*\w[(._]\w\S*$"
)
"""How no title begins."""
_CAPTION_STYLE = (0.0,)
"""Weaker than all others."""
_TOP_ROWS = 3
_TABLE_NEAR = 20
"""Rows: the heads of a table may be many."""
_SLIDES_MIN = 3
_SLIDES_SHARE = 0.8
_SLIDE_LENGTH_MAX = 1_000
_SLIDE_ROWS = 3


@dataclass(frozen=True, slots=True)
class Body:
    """What most letters of a file look like."""

    size: float
    font: str
    """Name of it, empty where bold letters have names that say so."""
    leading: float
    """Usual distance of rows, in heights of their letters."""


def measure_body(pages: Sequence[PageText]) -> Body:
    """Return what most letters of a file look like."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    leadings: list[float] = []
    has_bold = False
    for page in pages:
        for row in page.rows:
            length = len(row.text)
            sizes[round(row.size * 4) / 4] += length
            if row.font.name:
                fonts[row.font.name] += length
                has_bold = has_bold or row.font.is_bold
        leadings += [
            (row.top - above.top) / above.size
            for above, row in pairwise(page.rows)
            if len(above.text) > 60 and 0 < row.top - above.top < 3 * above.size
        ]
    return Body(
        size=max(1.0, sizes.most_common(1)[0][0]) if sizes else 10.0,
        font="" if has_bold or not fonts else fonts.most_common(1)[0][0],
        leading=median(leadings) if leadings else 1.2,
    )


@dataclass(frozen=True, slots=True)
class _Title:
    """What may be a heading."""

    heading: Heading
    style: tuple[float, ...]
    """The more it is, the higher the heading stands."""


class LetterHeadings:
    """Finds headings by their letters."""

    def __init__(self, pages: Sequence[PageText], skipped: set[tuple[int, int]]) -> None:
        """Measure a file.

        Args:
            pages: All of it.
            skipped: Pages and rows where no heading is looked for.
        """
        self._pages = pages
        self._skipped = skipped
        self._body = measure_body(pages)
        self._tables = [{index for table in page.tables for index in range(table.start, table.end)} for page in pages]
        self._offsets: list[list[int]] = []
        self._length = 0
        self._long: float = _LONG
        for page in pages:
            self._offsets.append([*accumulate((len(row.text) for row in page.rows), initial=self._length)])
            self._length = self._offsets[-1][-1]

    def find(self, headings: Sequence[Heading], *, has_skeleton: bool) -> list[Heading]:
        """Return the headings inside sections that are long.

        Args:
            headings: Known so far, in order.
            has_skeleton: Whether these are the file's own outline, so that what is before it is a cover.
        """
        more = [] if has_skeleton else self._find_siblings(headings)
        headings = sorted([*headings, *more], key=lambda heading: heading.place)
        starts = [(0, 0), *((heading.page, heading.row + heading.count) for heading in headings)]
        ends = [*(heading.place for heading in headings), (len(self._pages), 0)]
        levels = [0, *(heading.level for heading in headings)]
        self._long = _LONG if has_skeleton else min(_LONG_UNLISTED, _LONG_SHARE * self._length)
        for number, (start, end, level) in enumerate(zip(starts, ends, levels, strict=True)):
            if has_skeleton if not number else self._measure(start, end) < self._long:
                continue
            titles = list(self._find_titles(start, end))
            counts = Counter(title.heading.title for title in titles)
            titles = [title for title in titles if counts[title.heading.title] <= _REPEATS_MAX]
            more += self._divide(titles, start, end, level)
        return more

    def _find_siblings(self, headings: Sequence[Heading]) -> list[Heading]:
        """Return titles without a number that are set like those with one: an abstract, references, an appendix."""
        tops = [heading for heading in headings if heading.level == 1 and heading.count]
        styles = Counter(self._style(heading.page, self._pages[heading.page].rows[heading.row]) for heading in tops)
        if not styles:
            return []
        known = {heading.place for heading in headings}
        style = styles.most_common(1)[0][0]
        found = [
            title.heading
            for title in self._find_titles((0, 0), (len(self._pages), 0))
            if title.style == style and title.heading.place not in known
        ]
        if len(found) > len(tops):
            return []
        for heading in found:
            heading.level = 1
        return found

    def looks_like_title(self, page: PageText, index: int) -> float:
        """Return how much a row of a page is set like a title: by its letters, or by the blank around it."""
        row = page.rows[index]
        if _NO_START.match(row.text):
            return 0.0
        if self._is_strong(row):
            return 2.0
        above = page.rows[index - 1] if index else None
        is_apart = above is None or self._is_far(above, row)
        return 0.3 * (is_apart and len(row.text) < 80 and row.text[-1] not in ".:;,")

    def _measure(self, start: tuple[int, int], end: tuple[int, int]) -> int:
        """Return how many characters stand between two places."""
        return self._find_offset(end) - self._find_offset(start)

    def _find_offset(self, place: tuple[int, int]) -> int:
        page, row = place
        return self._offsets[page][row] if page < len(self._pages) else self._length

    def _divide(
        self, titles: Sequence[_Title], start: tuple[int, int], end: tuple[int, int], level: int
    ) -> Iterator[Heading]:
        """Yield the titles that divide a part: those of the strongest style, then others where that left long parts."""
        best = max((title.style for title in titles), default=None)
        if best is None:
            return
        chosen = [title for title in titles if title.style == best]
        weaker = [title for title in titles if title.style < best]
        starts = [start, *((title.heading.page, title.heading.row + title.heading.count) for title in chosen)]
        ends = [*(title.heading.place for title in chosen), end]
        places = [title.heading.place for title in weaker]
        for number, (low, high) in enumerate(zip(starts, ends, strict=True)):
            if number:
                heading = chosen[number - 1].heading
                heading.level = min(LEVEL_MAX, level + 1)
                yield heading
            inside = weaker[bisect_left(places, low) : bisect_left(places, high)]
            if low == (0, 0) and inside and chosen and self._measure(low, high) < self._long:
                inside[0].heading.level = level + 1
                yield inside[0].heading
            elif inside and self._measure(low, high) >= self._long:
                yield from self._divide(inside, low, high, level + (number > 0))

    def _find_titles(self, start: tuple[int, int], end: tuple[int, int]) -> Iterator[_Title]:
        for page in range(start[0], min(end[0] + 1, len(self._pages))):
            low = start[1] if page == start[0] else 0
            high = end[1] if page == end[0] else len(self._pages[page].rows)
            yield from self._find_on_page(page, low, high)

    def _find_on_page(self, page: int, low: int, high: int) -> Iterator[_Title]:
        rows = self._pages[page].rows
        index = low
        while index < high:
            caption = _CAPTION.match(rows[index].text)
            count = self._count_caption(page, index, high) if caption else self._count_title(page, index, high)
            if count and (not caption or (caption[1] and self._heads_table(page, index, count))):
                title = join_rows(rows[index : index + count])
                heading = Heading(page=page, row=index, count=count, level=0, title=title)
                if caption or any(len(row.cells) == 1 for row in rows[index : index + 2]):
                    yield _Title(heading, _CAPTION_STYLE if caption else self._style(page, rows[index]))
            index += max(1, count)

    def _count_caption(self, page: int, index: int, high: int) -> int:
        """Return how many rows from one on are a caption, those of its table left out."""
        rows, table = self._pages[page].rows, self._tables[page]
        cells = (row for row in range(index + 1, high) if row in table and len(rows[row].cells) > 1)
        return self._count_alike(rows, index, next(cells, high))

    def _heads_table(self, page: int, index: int, count: int) -> bool:
        """Return whether a caption at the top of a page names a table that begins there."""
        rows = self._pages[page].rows[index : index + count + 1]
        is_near = not self._tables[page].isdisjoint(range(index, index + _TABLE_NEAR))
        is_continued = any(CONTINUED.search(row.text) for row in rows)
        return index < _TOP_ROWS and is_near and count <= _ROWS_MAX and not is_continued

    def _count_alike(self, rows: Sequence[Row], index: int, high: int) -> int:
        """Return how many rows from one on look the same and stand close."""
        count = 1
        while index + count < high and continues(rows[index + count - 1], rows[index + count]):
            count += 1
        return count

    def _count_title(self, page: int, index: int, high: int) -> int:
        """Return how many rows from one on are a title, 0 where it is none."""
        rows, in_table = self._pages[page].rows, self._tables[page]
        row = rows[index]
        is_small = row.size < _SMALLEST * self._body.size
        if is_small or index in in_table or (page, index) in self._skipped or not self._may_be_title(row):
            return 0
        is_strong = self._is_strong(row)
        if not is_strong and not self._is_set_apart(rows, index):
            return 0
        count = self._count_alike(rows, index, high)
        if count > _ROWS_MAX:
            return 0
        heads_table = index + count - 1 in in_table or (len(row.cells) > 1 and index + count in in_table)
        return 0 if heads_table or not self._reads_like_title(rows[index : index + count]) else count

    def _reads_like_title(self, rows: Sequence[Row]) -> bool:
        """Return whether the words of rows that look like a title may be one."""
        text = join_rows(rows)
        is_bold = self._is_bold(rows[0])
        if len(text) > (_SENTENCE_LENGTH_MAX if is_bold else _LENGTH_MAX) or text[-1] in ",;-\u2013\u2014\x02":
            return False
        if text[-1] in ".:" and not is_bold:
            return False
        no_titles = _NO_START.match(text) or _DATE.fullmatch(text) or _UNITS.fullmatch(text) or CONTINUED.search(text)
        return no_titles is None

    def _may_be_title(self, row: Row) -> bool:
        text = row.text
        if (
            len(row.cells) > 2
            or len(text) > _SENTENCE_LENGTH_MAX
            or _NO_START.match(text)
            or _MONOSPACED.search(row.font.name)
        ):
            return False
        letters = MARKS.sub("", text)
        needed = 2 if letters[:1] > "\u02ff" else 3
        return len(letters) >= needed and len(letters) * 2 > len(text) and text.count("(") == text.count(")")

    def _is_bold(self, row: Row) -> bool:
        font = row.font
        return font.is_bold or (self._body.font != "" and font.name not in ("", self._body.font) and not font.is_italic)

    def _is_strong(self, row: Row) -> bool:
        return row.size > _LARGER * self._body.size or self._is_bold(row)

    def _is_set_apart(self, rows: Sequence[Row], index: int) -> bool:
        """Return whether a row in italics or capitals stands alone."""
        row = rows[index]
        if (
            not (row.font.is_italic or is_capitals(row.text))
            or row.text[-1] in ".:;,"
            or len(row.text) > _APART_LENGTH_MAX
        ):
            return False
        above = rows[index - 1] if index else None
        after = rows[index + 1] if index + 1 < len(rows) else None
        is_apart = above is None or self._is_far(above, row) or above.text[-1] in ".!?"
        return is_apart and (after is None or not (after.font.is_italic or is_capitals(after.text)))

    def _is_far(self, above: Row, row: Row) -> bool:
        """Return whether more than the usual blank is between two rows."""
        return row.top < above.top or row.top - above.top > _APART * self._body.leading * row.size

    def _style(self, page: int, row: Row) -> tuple[float, ...]:
        """Return what orders titles: the more it is, the higher they stand."""
        rows = self._pages[page].rows
        left, right = min(each.x0 for each in rows), max(each.x1 for each in rows)
        is_centred = row.x0 - left > 0.1 * (right - left) and abs(row.x0 + row.x1 - left - right) < 2 * _CENTRED * (
            right - left
        )
        size = round(row.size / self._body.size, 1) if row.size > _LARGER * self._body.size else 1.0
        return size, self._is_bold(row), is_capitals(row.text), is_centred, not row.font.is_italic


def find_slides(pages: Sequence[PageText]) -> list[Heading]:
    """Return the titles of slides, of level 0; none where a file is no slides: wide pages with few words."""
    shown = [(number, page) for number, page in enumerate(pages) if page.rows]
    lengths = [sum(len(row.text) for row in page.rows) for _, page in shown]
    wide = sum(page.is_wide for _, page in shown)
    if len(shown) < _SLIDES_MIN or wide < _SLIDES_SHARE * len(shown) or median(lengths) > _SLIDE_LENGTH_MAX:
        return []
    found: list[Heading] = []
    for number, page in shown:
        rows = page.rows
        tops = [row for row in range(min(_SLIDE_ROWS, len(rows))) if any(map(str.isalpha, rows[row].text))]
        first = max(tops, key=lambda row: round(rows[row].size), default=0)
        count = 1
        while (
            first + count < len(rows)
            and count < _ROWS_MAX
            and rows[first + count].size > _LARGER * min(row.size for row in rows)
            and abs(rows[first + count].size - rows[first].size) < 0.06 * rows[first].size
        ):
            count += 1
        title = join_rows(rows[first : first + count])
        before = found[-1].title if found else ""
        if len(title) <= _LENGTH_MAX and title != before and not CONTINUED.search(title):
            found.append(Heading(page=number, row=first, count=count, level=0, title=title))
    return found
