"""Detect headings by their words and by their looks.

By their words: numbered titles, and the parts of company reports, which consist of numbered Items; below them
are financial statements, the notes to these, and exhibits. By their looks: rows that are larger, bold, in
capitals or set apart.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import median

from msgspec import Struct

from roamtui.sources.convert.pdf.outline import (
    CONTINUED,
    NON_LETTERS,
    DetectedHeading,
    count_similar_rows,
    is_capitals,
    is_marked,
    join_rows,
    make_comparison_key,
    parse_item,
    parse_part,
)
from roamtui.sources.convert.pdf.pdfium import RAISED_AT_END
from roamtui.sources.convert.pdf.rows import PageRow

_ITEM_LENGTH_MAX = 220
_COUNT_MIN = 3
"""Minimum number of Items, notes or numbered titles. Fewer are taken for mentions in the text."""
_LISTED_MIN, _LISTED_DISTANCE_MAX = 5, 2
"""Minimum number of Items on a contents page, and the maximum number of rows from one to the next."""
_PART_ROW = re.compile(
    r"part\s+[iv]{1,3}\W*(?:other information|financial information(?: and exhibits)?)?\W*", re.IGNORECASE
)
_MARKED_WEIGHT = 3
"""Weight of an Item in bold type or capitals; others have 1."""
_TITLE_TOP_ROWS = 7
"""Number of rows at the top of a page in which statements, signatures and exhibits have their titles."""
_STATEMENT = re.compile(
    r"(?:[\w&.,'’ -]{0,60}?\b)?(?:(?:condensed|consolidated|combined|unaudited|interim|supplemental)\s+)*"
    r"(?:balance sheets?|statements? of "
    r"(?:(?:consolidated|condensed|comprehensive|net|changes in|total|other)\s+)*"
    r"(?:income|operations|earnings|loss|cash flows?|equity|financial (?:position|condition)|capital"
    r"|stockholders|shareholders|shareowners|profit|comprehensive)\b.{0,70}"
    r"|reconciliations? of .{3,60}|supplement(?:al|ary) .{3,40}(?:data|information)"
    r"|(?:(?:comprehensive )?income|cash flows?|(?:stock|share)holders[’']? equity) statements?)"
    r"\s?(?:\(.{2,40}\))?",
    re.IGNORECASE,
)
_HOLDS_STATEMENTS = re.compile(r"items?\s*(?:8|1[56])\b|financial statements|exhibits", re.IGNORECASE)
"""Items that contain financial statements."""
_NOTE_TITLE = re.compile(r"note\s*(\d{1,2})\s*(?:[.:)\u2014\u2013-]|\s[A-Z]|$)", re.IGNORECASE)
_NUMBERED_NOTE = re.compile(r"\(?(\d{1,2})[.)\u2014\u2013-]?\s+(?=[A-Z])(?!\d)")
_NOTES_TITLE = re.compile(
    r"(?:.{0,40}\b)?notes to (?:the )?(?:\w+ ){0,3}(?:financial )?statements\b.{0,40}", re.IGNORECASE
)
_EXHIBIT = re.compile(
    r"(exhibit\s+\(?\d{1,3}(?:[.)-]\S{0,12})?\s*\)?)|signatures?|exhibits? index|index (?:to|of) exhibits",
    re.I,
)
"""A title of what comes after the last Item of a report; group 1 is a single exhibit."""
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])(?![a-z]\w*\s)")
_CHARACTERS_PER_TITLE_MIN = 200
"""Minimum characters of text for each numbered title. Lines of a form are numbered more densely."""
_HEADING_ROWS_MAX = 3
_LONG_WITH_OUTLINE, _LONG_WITHOUT_OUTLINE = 8_000, 1_500
"""Minimum characters of a section that is divided: in a file with its own outline, and in others."""
_SHORT_FILE_LENGTH = 120_000
"""Length of a file, in characters, up to which its sections are divided as without an outline: bookmarks of a
press release name fewer titles than a reader sees."""
_LONG_SHARE = 0.1
"""Without an outline, a section with at least this share of the file's characters is also divided, so that
short files are divided more finely."""
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
"""Maximum length of a title that is only set apart, in characters."""
_FULL_ROW_LENGTH = 60
"""Length, in characters, above which a row is text, so that its distance to the next row is the usual one."""
_CAPTION = re.compile(
    r"(table|tabelle)\b|fig(?:ure|\.)|chart|source|note:|abbildung|(?:box|example)\s\d", re.IGNORECASE
)
_NOT_A_TITLE = re.compile(
    r"[□■○◆](?!\s*[\u1100-\ud7ff])|\((?:in |[A-Za-z]{4})"
    r"|[a-z|=<>;,.:)\]}+*/•·▪●◦‣⁃➢✓–—-]|\d+\s+\d+\s|.*https?:|www\.|(?=\S*$)\S*\w[(._]\w"
)
"""Start of a text that cannot be a title."""
_BULLETS = frozenset("•▪●◦‣⁃➢✓·")
_CAPTION_STYLE: tuple[float, ...] = (0.0,)
"""Style of captions, lower than every style that `_compute_style` returns."""
_CAPTION_TOP_ROWS = 3
"""A caption is a title only if it starts within this many rows of a page."""
_TABLE_DISTANCE_MAX = 20
"""The table of a caption starts within this many rows. Many header rows may come first."""


class _Chain(Struct, frozen=True, eq=False):
    """A row with a number that may be a heading, and the heaviest rising sequence of others before it."""

    row: int
    key: tuple[int | str, ...]
    weight: float
    """Of the whole sequence."""
    before: _Chain | None


def _select_rising_sequence(candidates: Sequence[tuple[int, tuple[int | str, ...], float]]) -> list[_Chain]:
    """Return the candidates (row, key and weight) with ascending keys that have the greatest total weight."""
    chains: list[_Chain] = []
    """The best sequence for each last key. Both keys and weights ascend."""
    for row, key, weight in candidates:
        index = end = bisect_left(chains, key, key=lambda chain: chain.key)
        before = chains[index - 1] if index else None
        chain = _Chain(row, key, weight + (before.weight if before else 0), before)
        while end < len(chains) and chains[end].weight <= chain.weight:
            end += 1
        if end > index or end == len(chains) or chains[end].key != key:
            chains[index:end] = [chain]
    selected: list[_Chain] = []
    last = chains[-1] if chains else None
    while last is not None:
        selected.append(last)
        last = last.before
    return selected[::-1]


def detect_items(rows: Sequence[PageRow], known: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Return the headings of the Parts and Items in ascending order, except for `known` headings.

    The Items of a quarterly report start again in its Part II.
    """
    parts = [(heading.row, number) for heading in known if (number := parse_part(heading.title))]
    candidates = []
    for index, row in _iter_short_rows(rows, _ITEM_LENGTH_MAX):
        if _PART_ROW.fullmatch(row.text) and (number := parse_part(row.text)) and is_marked(row):
            parts.append((index, number))
        item = parse_item(row.text)
        if item:
            candidates.append((index, item))
    parts.sort()
    candidates = _drop_listed_items(rows, candidates)

    def find_part(row: int) -> tuple[int, int]:
        """Return the row and the number of the Part around a row."""
        return parts[index - 1] if (index := bisect_right(parts, (row, 99))) else (-1, 0)

    known_items = {
        (find_part(heading.row)[1], item) for heading in known if (item := parse_item(heading.title))
    }
    weighted = [
        # "@" sorts before letters, as Item 7 comes before Item 7A.
        (index, (part, item[0], item[1] or "@"), _MARKED_WEIGHT if is_marked(rows[index]) else 1)
        for index, item in candidates
        if ((part := parse_part(rows[index].text) or find_part(index)[1]), item) not in known_items
        and (len(known_items) < _COUNT_MIN or is_marked(rows[index]))
    ]
    chain = _select_rising_sequence(weighted)
    is_report = all(str(link.key[2])[0] == "." and is_marked(rows[link.row]) for link in chain)
    if not is_report and max(len(known_items), len(chain)) < _COUNT_MIN:
        return []
    items = [_make_heading(rows, link.row, 2) for link in chain]
    # The row of a Part directly above its first Item is a heading too.
    starts = [
        *(heading.row for heading in items),
        *(heading.row for heading in known if parse_item(heading.title)),
    ]
    above = {find_part(row)[0] for row in starts} - {heading.row for heading in known} - {-1}
    return items + [DetectedHeading(row=row, level=1, title=rows[row].text) for row in above]


def _drop_listed_items(
    rows: Sequence[PageRow], candidates: Sequence[tuple[int, tuple[int, str]]]
) -> list[tuple[int, tuple[int, str]]]:
    """Return the Items (row and number) without those of a contents page, which come again later.

    Mark the rows of the others as listed.
    """
    groups: list[list[tuple[int, tuple[int, str]]]] = []
    for candidate in candidates:
        row = candidate[0]
        last = groups[-1][-1][0] if groups else None
        if last is not None and row - last <= _LISTED_DISTANCE_MAX and rows[row].page == rows[last].page:
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    numbers = {item for group in groups if len(group) < _LISTED_MIN for _, item in group}
    for group in groups:
        for index, item in group:
            rows[index].is_listed = len(group) >= _LISTED_MIN and item in numbers
    return [candidate for candidate in candidates if not rows[candidate[0]].is_listed]


def detect_statements(
    rows: Sequence[PageRow], known: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]
) -> Iterator[DetectedHeading]:
    """Yield titles of statements at the top of pages with tables, with level 0 (see `merge_headings`).

    Titles of other tables look the same. Those in the `notes` and in Items that have other contents do not
    count.
    """
    containers = [heading for heading in known if _is_container(heading)]
    starts = [heading.row for heading in containers]
    pages_with_tables = {row.page for row in rows if row.is_in_table}
    for index, row in _iter_short_rows(rows, _LENGTH_MAX):
        if row.number >= _TITLE_TOP_ROWS or row.page not in pages_with_tables or CONTINUED.search(row.text):
            continue
        if row.text[0].isupper() and row.text[-1] not in ".,;:" and _STATEMENT.fullmatch(row.text):
            container = bisect_right(starts, index) - 1
            name = containers[container].title if container >= 0 else ""
            end = starts[container + 1] if container + 1 < len(starts) else len(rows)
            is_in_notes = notes[1:] and notes[1].row < index and notes[-1].row < end
            if not is_in_notes and (not parse_item(name) or _HOLDS_STATEMENTS.search(name)):
                yield DetectedHeading(row=index, level=0, title=row.text)


def _is_container(heading: DetectedHeading) -> bool:
    """Check whether a heading is an Item, signatures or an exhibit, which end statements and notes."""
    return parse_item(heading.title) is not None or _EXHIBIT.fullmatch(heading.title) is not None


def detect_notes(rows: Sequence[PageRow], known: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Return the notes to statements in order, and the heading above them all (if any), with level 0.

    Some companies write "Note 1. Revenue" above a note, others "1. Revenue". The latter counts only below a
    heading such as "Notes to Financial Statements", up to the next of the `known` Items.
    """
    short = [
        (index, row) for index, row in _iter_short_rows(rows, _LENGTH_MAX) if not CONTINUED.search(row.text)
    ]
    titles = [
        index for index, row in short if row.number < _TITLE_TOP_ROWS and _NOTES_TITLE.fullmatch(row.text)
    ]
    titles += [heading.row for heading in known if _NOTES_TITLE.fullmatch(heading.title)]
    marked = [(index, row) for index, row in short if is_marked(row)]
    chain = _select_numbered(_NOTE_TITLE, marked)
    if len(chain) < _COUNT_MIN and titles:
        start = min(titles)
        items = (heading.row for heading in known if heading.row > start and parse_item(heading.title))
        end = min(items, default=len(rows))
        chain = _select_numbered(
            _NUMBERED_NOTE, [(index, row) for index, row in marked if start < index < end]
        )
    if len(chain) < _COUNT_MIN:
        return []
    notes = [_make_heading(rows, link.row, 0) for link in chain]
    title = max((title for title in titles if title < notes[0].row), default=None)
    if title is not None and rows[title].page >= rows[notes[0].row].page - 1:
        notes.insert(0, DetectedHeading(row=title, level=0, title=rows[title].text))
    return notes


def _select_numbered(pattern: re.Pattern[str], rows: Sequence[tuple[int, PageRow]]) -> list[_Chain]:
    matches = ((index, pattern.match(row.text)) for index, row in rows)
    return _select_rising_sequence([(index, (int(match[1]),), 1) for index, match in matches if match])


def nest_headings(headings: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]) -> None:
    """Change the levels of headings so that the parts of a report are nested as a person would nest them.

    Parts are on the top level. The statements of an Item and the heading of its notes have the same level.
    The notes are below that heading or, without one, on the level of the statements. Headings move with the
    one above them, and no level is left out. `notes` are those that `detect_notes` returned.
    """
    note_rows = {note.row for note in notes}
    path: list[tuple[int, int]] = []  # the level before and now of each heading around the current one
    has_parts = False
    base = notes_level = 0  # levels of statements, and of the heading of the notes
    for heading in headings:
        level = heading.level
        title = heading.title
        new = 0
        if _is_container(heading):
            new = 2 if has_parts and parse_item(title) else 0
            notes_level = 0
        elif parse_part(title):
            new = 1
            base = 0
            has_parts = True
        elif base and _NOTES_TITLE.fullmatch(title):
            new = notes_level = base
        elif base and heading.row in note_rows:
            new = notes_level + 1 if notes_level else base
        elif base and _STATEMENT.fullmatch(title):
            new = base
        while path and (path[-1][1] >= new if new else path[-1][0] >= level):
            path.pop()
        heading.level = new or (path[-1][1] + 1 if path else level)
        path.append((level, heading.level))
        if _is_container(heading):
            is_exhibit = (match := _EXHIBIT.fullmatch(title)) is not None and match[1] is not None
            base = heading.level + (is_exhibit or parse_item(title) is not None)


def detect_exhibits(rows: Sequence[PageRow], after: int) -> Iterator[DetectedHeading]:
    """Yield the headings of signatures and exhibits from row `after`, where the last Item of a report is."""
    for index, row in _iter_short_rows(rows, _LENGTH_MAX):
        if index >= after and row.number < _TITLE_TOP_ROWS and (match := _EXHIBIT.fullmatch(row.text)):
            yield DetectedHeading(row=index, level=3 if match[1] else 2, title=row.text)


def detect_numbered_headings(
    rows: Sequence[PageRow], score_title: Callable[[int], float]
) -> list[DetectedHeading]:
    """Return numbered titles ("3.2 Types and values") in ascending order.

    `score_title` rates a row by its looks: 0 if it cannot be a title, at least 1 if it must be one.
    """
    candidates = []
    for index, row in _iter_short_rows(rows, _LENGTH_MAX):
        match = _NUMBERED_TITLE.match(row.text)
        score = score_title(index) if match and row.text[-1] not in ",;" else 0.0
        if match and score:
            candidates.append((index, tuple(map(int, match[1].split("."))), score))
    scores = {index: score for index, _, score in candidates}
    chain = _select_rising_sequence(candidates)
    length = sum(len(row.text) for row in rows)
    is_list = len(chain) * _CHARACTERS_PER_TITLE_MIN > length
    if len(chain) < _COUNT_MIN or is_list:
        return []
    return [_make_heading(rows, link.row, len(link.key), is_title=scores[link.row] >= 1) for link in chain]


def _iter_short_rows(rows: Sequence[PageRow], length_max: int) -> Iterator[tuple[int, PageRow]]:
    return (
        (index, row) for index, row in enumerate(rows) if len(row.text) <= length_max and not row.is_listed
    )


def _make_heading(
    rows: Sequence[PageRow], start: int, level: int, *, is_title: bool = False
) -> DetectedHeading:
    """Make a heading of row `start` and up to two more rows that continue its title.

    Only the title of a marked row continues, unless `is_title` is true.
    """
    end = min(len(rows), start + _HEADING_ROWS_MAX) if is_marked(rows[start]) or is_title else start + 1
    others = (
        row for row in range(start + 1, end) if parse_item(rows[row].text) or parse_part(rows[row].text)
    )
    count = count_similar_rows(rows, start, next(others, end), leading_max=1.6)
    return DetectedHeading(row=start, count=count, level=level, title=join_rows(rows[start : start + count]))


def merge_headings(kept: Sequence[DetectedHeading], more: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Merge the headings `more` into the headings `kept`, except for those whose rows are taken.

    A heading of level 0 gets a level: one below the heading before it.
    """
    taken = {row for heading in kept for row in range(heading.row, heading.end)}
    inserted = {heading.row: make_comparison_key(heading.title) for heading in kept if not heading.count}
    free = [
        heading
        for heading in more
        if taken.isdisjoint(range(heading.row, max(heading.row + 1, heading.end)))
        and make_comparison_key(heading.title) not in inserted.get(heading.row, "")
    ]
    merged = sorted([*kept, *free], key=lambda heading: heading.row)
    above = 0
    for heading in merged:
        above = heading.level or above
        heading.level = heading.level or above + 1
    return merged


class TypographicHeadings:
    """Detects headings by comparing rows with the usual letter size and row distance of the file."""

    def __init__(self, rows: Sequence[PageRow]) -> None:
        """Measure the usual letter size and row distance."""
        self._rows = rows
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

    def detect(self, headings: Sequence[DetectedHeading], *, has_outline: bool) -> list[DetectedHeading]:
        """Return more headings, in the long sections of the known `headings`, which are in order.

        If `has_outline` is true, the known headings are the file's own outline. The text before them is then
        a cover, which is not divided.
        """
        titles = list(self._iter_titles({heading.row: heading.end for heading in headings if heading.count}))
        more = [] if has_outline else self._detect_siblings(headings, titles)
        headings = sorted([*headings, *more], key=lambda heading: heading.row)
        starts = [0, *(heading.end for heading in headings)]
        ends = [*(heading.row for heading in headings), len(self._rows)]
        levels = [0, *(heading.level for heading in headings)]
        if not has_outline or self._offsets[-1] < _SHORT_FILE_LENGTH:
            self._long_min = min(_LONG_WITHOUT_OUTLINE, _LONG_SHARE * self._offsets[-1])
        for number, (start, end, level) in enumerate(zip(starts, ends, levels, strict=True)):
            inside = _select(titles, start, end)
            # The text before the first known heading is divided even if it is short, unless it is a cover.
            if self._is_long(start, end) if number else not has_outline:
                more += self._divide(inside, start, end, level)
        return more

    def _detect_siblings(
        self, headings: Sequence[DetectedHeading], titles: Sequence[DetectedHeading]
    ) -> list[DetectedHeading]:
        """Return more titles in the style of known top-level headings, such as "Abstract"."""
        tops = [
            head
            for head in headings
            if head.level == 1 and head.count and not _STATEMENT.fullmatch(head.title)
        ]
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
        return 0.3 * self._is_apart(index)

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
                # The rows of the table below a caption do not belong to it.
                below = range(index + 1, min(index + _TABLE_DISTANCE_MAX, len(rows)))
                table = [after for after in below if rows[after].is_in_table and rows[after].page == row.page]
                end = next((after for after in table if len(rows[after].cells) > 1), len(rows))
                count = count_similar_rows(rows, index, end)
                style = _CAPTION_STYLE
                is_title = bool(caption[1] and table) and row.number < _CAPTION_TOP_ROWS
            else:
                count = self._count_title_rows(index, known)
                style = self._compute_style(index)
                is_title = any(len(after.cells) == 1 for after in rows[index : index + 2])
            title = join_rows(rows[index : index + count])
            if title and is_title and not CONTINUED.search(title):
                yield DetectedHeading(row=index, count=count, level=0, title=title, style=style)
            index += max(1, count)
            if row.text[0] in _BULLETS:
                while index < len(rows) and self._continues_item(rows[index - 1], rows[index], row):
                    index += 1

    def _count_title_rows(self, index: int, known: Mapping[int, int]) -> int:
        """Return the number of rows of the title that starts at a row, or 0 if no title starts there."""
        rows = self._rows
        row = rows[index]
        text = row.text
        if row.is_in_table or row.is_listed or len(row.cells) > 2 or row.size < _SIZE_MIN * self._size:
            return 0
        if not self._is_large_or_bold(row):
            # A title in italics or capitals is set apart from the rows around it, or comes after a sentence.
            is_below = any(
                row.page == after.page and _is_italic_or_capitals(after)
                for after in rows[index + 1 : index + 2]
            )
            is_apart = self._is_apart(index) or _get_last_sign(rows[index - 1].text) in ".!?"
            if is_below or not is_apart or not _is_italic_or_capitals(row):
                return 0
        letters = NON_LETTERS.sub("", text)
        letters_min = 2 if letters[:1] > "\u02ff" else 3  # a Chinese title may have two letters
        if len(letters) < letters_min or len(letters) * 2 <= len(text):
            return 0
        end = next(
            (after for after in range(index + 1, index + _TITLE_ROWS_MAX) if after in known), len(rows)
        )
        count = count_similar_rows(rows, index, end)
        if rows[index + count - 1].is_in_table or count > _TITLE_ROWS_MAX:
            return 0
        text = join_rows(rows[index : index + count])
        length_max, ends = (
            (_SENTENCE_LENGTH_MAX, ",;-–—\x02") if row.font.is_bold else (_LENGTH_MAX, ",;-–—\x02.:")
        )
        is_title = (
            len(text) <= length_max and _get_last_sign(text) not in ends and not _NOT_A_TITLE.match(text)
        )
        return count if is_title else 0

    def _continues_item(self, above: PageRow, row: PageRow, first: PageRow) -> bool:
        """Check whether a row belongs to the listed item of a `first` row: indented, near the one above."""
        distance = row.top - above.top
        return row.x0 > first.x0 + 1 and 0 < distance < _APART_RATIO * self._leading * row.size

    def _is_large_or_bold(self, row: PageRow) -> bool:
        return row.size > _LARGE_RATIO * self._size or row.font.is_bold

    def _is_apart(self, index: int) -> bool:
        """Check whether a short row starts a page or column, or is farther below the one above than usual."""
        row = self._rows[index]
        above = self._rows[index - 1]
        if _get_last_sign(row.text) in ".:;," or len(row.text) > _APART_LENGTH_MAX:
            return False
        return (
            not row.number
            or row.top < above.top
            or row.top - above.top > _APART_RATIO * self._leading * row.size
        )

    def _compute_style(self, index: int) -> tuple[float, ...]:
        """Return the style of a title. A greater tuple means a higher level."""
        row = self._rows[index]
        size = round(row.size / self._size, 1) if row.size > _LARGE_RATIO * self._size else 1.0
        return size, row.font.is_bold, is_capitals(row.text), not row.font.is_italic


def _select(titles: Sequence[DetectedHeading], start: int, end: int) -> Sequence[DetectedHeading]:
    """Return the titles from row `start` up to `end`."""
    low, high = (bisect_left(titles, row, key=lambda title: title.row) for row in (start, end))
    return titles[low:high]


def _get_last_sign(text: str) -> str:
    """Return the last character of a text, before a raised mark such as that of a note."""
    return RAISED_AT_END.sub("", text)[-1:]


def _is_italic_or_capitals(row: PageRow) -> bool:
    return row.font.is_italic or is_capitals(row.text)
