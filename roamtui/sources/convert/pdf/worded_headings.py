"""Detect the parts of company reports, and numbered titles, by their words.

A report consists of numbered Items; below them are financial statements, the notes to these, and exhibits.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile, zip_longest

from msgspec import Struct

from roamtui.sources.convert.pdf.outline import (
    CONTINUED,
    DetectedHeading,
    continues_title,
    is_marked,
    join_rows,
    parse_item,
    parse_part,
)
from roamtui.sources.convert.pdf.rows import PageRow

_ITEM_LENGTH_MAX = 220
_ITEM_ROW = re.compile(
    r"(?:part\s+[iv]+\s*[,.:;\u2013\u2014-]*\s*)?items?\s*\d{1,2}(?:\.\d\d|\s?\(?[ABCabc]\)?(?![a-z]))?\s*"
    r"(?:$|[.:;\u2014\u2013-]|\s[A-Z\[(*]|\|)|ITEMS?\s*\d",
    re.IGNORECASE,
)
_COUNT_MIN = 3
"""Minimum number of Items, notes or numbered titles. Fewer are taken for mentions in the text."""
_ITEM_NUMBER_MAX = 16
_SUMMARY_ITEM = (16, "")
"""The last Item of a yearly report. Statements after it do not belong to it."""
_PART_ROW = re.compile(
    r"part\s+[iv]{1,3}\W*(?:other information|financial information(?: and exhibits)?)?\W*", re.IGNORECASE
)
_MARKED_WEIGHT = 3
"""Weight of an Item in bold type or capitals; others have 1."""
_TOP_ROWS = 7
"""Number of rows at the top of a page in which statements, signatures and exhibits have their titles."""
_STATEMENT_LENGTH_MAX = 130
_STATEMENT = re.compile(
    r"(?:[\w&.,'’ -]{0,60}?\b)?(?:(?:condensed|consolidated|combined|unaudited|interim|supplemental)\s+)*"
    r"(?:balance sheets?|statements? of (?:(?:consolidated|condensed|comprehensive|net|changes in|total|other)\s+)*"
    r"(?:income|operations|earnings|loss|cash flows?|equity|financial (?:position|condition)|capital"
    r"|stockholders|shareholders|shareowners|profit|comprehensive)\b.{0,70}"
    r"|(?:(?:comprehensive )?income|cash flows?|(?:stock|share)holders[’']? equity) statements?)"
    r"\s?(?:\(.{2,40}\))?",
    re.IGNORECASE,
)
_STATEMENT_KINDS = tuple(
    re.compile(kind, re.IGNORECASE) for kind in ("balance sheet|financial (?:position|condition)", "cash flow")
)
"""Kinds of statements that every set of financial statements has."""
_HOLDS_STATEMENTS = re.compile(r"items?\s*(?:8|1[56])\b|financial statements|exhibits", re.IGNORECASE)
"""Items that contain financial statements."""
_NOTE_TITLE = re.compile(r"note\s*(\d{1,2})\s*(?:[.:)\u2014\u2013-]|\s[A-Z]|$)", re.IGNORECASE)
_NUMBERED_NOTE = re.compile(r"\(?(\d{1,2})[.)\u2014\u2013-]?\s+(?=[A-Z])(?!\d)")
_FOUND_NUMBERS_SHARE_MIN = 0.6
"""Articles, and notes without the word "Note", are accepted as headings only if at least this share of the numbers from
1 to the highest one was found."""
_NOTE_LENGTH_MAX = 140
_NOTES_TITLE = re.compile(
    r"(?:.{0,40}\b)?notes to (?:the )?(?:\w+ ){0,3}(?:financial )?statements\b.{0,40}", re.IGNORECASE
)
_EXHIBIT = re.compile(
    r"(exhibit\s+\(?\d{1,3}(?:[.)-]\S{0,12})?\s*\)?)|signatures?|exhibits? index|index (?:to|of) exhibits", re.I
)
"""A title of what comes after the last Item of a report; group 1 is a single exhibit."""
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])(?![a-z]\w*\s)")
_CHAPTER_TITLE = re.compile(r"[제第]\s?(\d{1,2})\s?[장편부章部](?=\s|$)")
_NUMBERED_LENGTH_MAX = 110
_CHARACTERS_PER_TITLE_MIN = 200
"""Minimum length of the text, in characters, for each numbered title. The lines of a form are numbered more densely."""
_LEADING_MAX = 1.6
_HEADING_ROWS_MAX = 3
_FULL_SHARE = 0.75
"""Minimum right end of a row that may be wrapped, relative to the rightmost one on the page."""


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
        if item and item[0] <= _ITEM_NUMBER_MAX and _ITEM_ROW.match(row.text):
            candidates.append((index, item))
    parts.sort()

    def find_part(row: int) -> tuple[int, int]:
        """Return the row and the number of the Part around a row."""
        return parts[index - 1] if (index := bisect_right(parts, (row, 99))) else (-1, 0)

    known_items = {(find_part(heading.row)[1], item) for heading in known if (item := parse_item(heading.title))}
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
    starts = [*(heading.row for heading in items), *(heading.row for heading in known if parse_item(heading.title))]
    above = {find_part(row)[0] for row in starts} - {heading.row for heading in known} - {-1}
    return items + [DetectedHeading(row=row, level=1, title=rows[row].text) for row in above]


def detect_statements(
    rows: Sequence[PageRow], known: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]
) -> Iterator[DetectedHeading]:
    """Yield the titles of financial statements at the top of pages with tables, with level 0 (see `merge_headings`).

    Titles of other tables look the same. Those in the `notes` do not count; those in an Item that has other contents
    only count if they are a whole set of statements.
    """
    containers = [heading for heading in known if _is_container(heading)]
    starts = [heading.row for heading in containers]
    pages_with_tables = {row.page for row in rows if row.is_in_table}
    by_container: dict[int, list[DetectedHeading]] = {}
    last_page = -1
    for index, row in _iter_short_rows(rows, _STATEMENT_LENGTH_MAX):
        if row.number >= _TOP_ROWS or row.page == last_page or row.page not in pages_with_tables:
            continue
        is_title = row.text[0].isupper() and row.text[-1] not in ".,;:" and not CONTINUED.search(row.text)
        if is_title and _STATEMENT.fullmatch(row.text):
            last_page = row.page
            container = bisect_right(starts, index) - 1
            end = starts[container + 1] if container + 1 < len(starts) else len(rows)
            if not (notes[1:] and notes[1].row < index and notes[-1].row < end):
                heading = DetectedHeading(row=index, level=0, title=row.text)
                by_container.setdefault(container, []).append(heading)
    for container, statements in by_container.items():
        name = containers[container].title if container >= 0 else ""
        is_set = all(any(kind.search(heading.title) for heading in statements) for kind in _STATEMENT_KINDS)
        is_last = container + 1 == len(containers)
        if is_set or is_last or not parse_item(name) or _HOLDS_STATEMENTS.search(name):
            yield from statements


def _is_container(heading: DetectedHeading) -> bool:
    """Check whether a heading is an Item, the signatures or an exhibit: it ends the statements and notes before it."""
    return parse_item(heading.title) is not None or _EXHIBIT.fullmatch(heading.title) is not None


def detect_notes(rows: Sequence[PageRow], known: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Return the notes to financial statements in order, and the heading above them all (if any), with level 0.

    Some companies write "Note 1. Revenue" above a note, others "1. Revenue". The latter counts only below a heading
    such as "Notes to Financial Statements", up to the next of the `known` Items.
    """
    short = [(index, row) for index, row in _iter_short_rows(rows, _NOTE_LENGTH_MAX) if not CONTINUED.search(row.text)]
    titles = [index for index, row in short if row.number < _TOP_ROWS and _NOTES_TITLE.fullmatch(row.text)]
    titles += [heading.row for heading in known if _NOTES_TITLE.fullmatch(heading.title)]
    marked = [(index, row) for index, row in short if is_marked(row)]
    chain = _select_rising_sequence(
        [(index, (int(match[1]),), 1) for index, row in marked if (match := _NOTE_TITLE.match(row.text))]
    )
    if len(chain) < _COUNT_MIN and titles:
        start = min(titles)
        items = (heading.row for heading in known if heading.row > start and parse_item(heading.title))
        end = min(items, default=len(rows))
        chain = _select_rising_sequence(
            [
                (index, (int(match[1]),), 1)
                for index, row in marked
                if start < index < end and (match := _NUMBERED_NOTE.match(row.text))
            ]
        )
        if not chain or chain[0].key != (1,) or len(chain) < _FOUND_NUMBERS_SHARE_MIN * int(chain[-1].key[0]):
            return []
    if len(chain) < _COUNT_MIN:
        return []
    notes = [_make_heading(rows, link.row, 0, wraps_early=False) for link in chain]
    title = max((title for title in titles if title < notes[0].row), default=None)
    if title is not None and rows[title].page >= rows[notes[0].row].page - 1:
        notes.insert(0, DetectedHeading(row=title, level=0, title=rows[title].text))
    return notes


def nest_headings(headings: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]) -> None:
    """Change the levels of headings so that the parts of a report are nested as a person would nest them.

    Parts are on the top level. The statements of an Item and the heading of its notes have the same level. The notes
    are below that heading or, without one, on the level of the statements. Headings move with the one above them, and
    no level is left out. `notes` are those that `detect_notes` returned.
    """
    note_rows = {note.row for note in notes}
    path: list[tuple[int, int]] = []  # the level before and now of each heading around the current one
    has_parts = False
    base = notes_level = 0  # levels of statements, and of the heading of the notes
    for heading, after in zip_longest(headings, headings[1:]):
        level, title, new = heading.level, heading.title, 0
        if _is_container(heading):
            new = 2 if has_parts and parse_item(title) else 0
            notes_level = 0
        elif parse_part(title) and after is not None and parse_item(after.title):
            new, base, has_parts = 1, 0, True
        elif base and _NOTES_TITLE.fullmatch(title):
            new = notes_level = base
        elif base and (heading.row in note_rows or _NOTE_TITLE.match(title)):
            new = notes_level + 1 if notes_level else base
        elif base and _STATEMENT.fullmatch(title):
            new = base
        while path and (path[-1][1] >= new if new else path[-1][0] >= level):
            path.pop()
        heading.level = new or (path[-1][1] + 1 if path else level)
        path.append((level, heading.level))
        if _is_container(heading):
            is_exhibit = (match := _EXHIBIT.fullmatch(title)) is not None and match[1] is not None
            base = heading.level + (is_exhibit or parse_item(title) not in {None, _SUMMARY_ITEM})


def detect_exhibits(rows: Sequence[PageRow], after: int) -> Iterator[DetectedHeading]:
    """Yield the headings of signatures and exhibits from row `after`, where the last Item of a report is."""
    seen = set()
    for index in range(after, len(rows)):
        row = rows[index]
        match = _EXHIBIT.fullmatch(row.text) if row.number < _TOP_ROWS and not row.is_listed else None
        if match and row.text.casefold() not in seen:
            seen.add(row.text.casefold())
            yield DetectedHeading(row=index, level=3 if match[1] else 2, title=row.text)


def detect_numbered_headings(rows: Sequence[PageRow], score_title: Callable[[int], float]) -> list[DetectedHeading]:
    """Return numbered titles ("3.2 Types and values") in ascending order.

    `score_title` rates a row by its looks: 0 if it cannot be a title, at least 1 if it must be one.
    """
    candidates = []
    for index, row in _iter_short_rows(rows, _NUMBERED_LENGTH_MAX):
        match = _NUMBERED_TITLE.match(row.text) or _CHAPTER_TITLE.match(row.text)
        score = score_title(index) if match and row.text[-1] not in ",;" else 0.0
        if match and score:
            candidates.append((index, tuple(map(int, match[1].split("."))), score))
    scores = {index: score for index, _, score in candidates}
    chain: list[_Chain] = []
    for link in _select_rising_sequence(candidates):
        if scores[link.row] >= 1 or _may_follow(chain[-1].key if chain else (), link.key):
            chain.append(link)
    length = sum(len(row.text) for row in rows)
    is_list = len(chain) * _CHARACTERS_PER_TITLE_MIN > length or all(len(link.key) > 1 for link in chain)
    if len(chain) < _COUNT_MIN or is_list:
        return []
    return [_make_heading(rows, link.row, len(link.key), is_title=scores[link.row] >= 1) for link in chain]


def _may_follow(last: tuple[int | str, ...], key: tuple[int | str, ...]) -> bool:
    """Check whether section number `key` may follow `last`, as 1.2.1, 1.3, 1.4, 2 and 3 may follow 1.2."""
    if not last:
        return key in ((1,), (0,))
    if len(key) > len(last):
        return key[: len(last)] == last and all(number == 1 for number in key[len(last) :])
    same = len(key) - 1
    return key[:same] == last[:same] and 1 <= int(key[same]) - int(last[same]) <= 2


def _iter_short_rows(rows: Sequence[PageRow], length_max: int) -> Iterator[tuple[int, PageRow]]:
    return ((index, row) for index, row in enumerate(rows) if len(row.text) <= length_max and not row.is_listed)


def _make_heading(
    rows: Sequence[PageRow], start: int, level: int, *, is_title: bool = False, wraps_early: bool = True
) -> DetectedHeading:
    """Make a heading of row `start` and up to two more rows that continue its title.

    Only the title of a marked row continues, unless `is_title` is true. If `wraps_early` is false, it continues only
    after a row that nearly reaches the right edge, because a subtitle in the same type may follow a shorter row.
    """
    first = rows[start]
    right = 0.0
    if not wraps_early:
        page_start = start - first.number
        page_rows = takewhile(lambda row: row.page == first.page, islice(rows, page_start, None))
        right = _FULL_SHARE * max(row.x1 for row in page_rows)
    count = 1
    while count < _HEADING_ROWS_MAX and start + count < len(rows) and (is_marked(first) or is_title):
        above, row = rows[start + count - 1], rows[start + count]
        is_other = parse_item(row.text) or parse_part(row.text) or row.x0 < first.x0 - 2 or above.x1 < right
        if is_other or not continues_title(above, row, leading_max=_LEADING_MAX):
            break
        count += 1
    return DetectedHeading(row=start, count=count, level=level, title=join_rows(rows[start : start + count]))


def merge_headings(kept: Sequence[DetectedHeading], more: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Merge the headings `more` into the headings `kept`, except for those whose rows are taken.

    A heading of level 0 gets a level: one below the heading before it, or the same if both are statements.
    """
    taken = {row for heading in kept for row in range(heading.row, max(heading.row + 1, heading.end))}
    free = [heading for heading in more if taken.isdisjoint(range(heading.row, max(heading.row + 1, heading.end)))]
    merged = sorted([*kept, *free], key=lambda heading: heading.row)
    above: DetectedHeading | None = None
    for heading in merged:
        if heading.level:
            above = heading
        else:
            is_sibling = above and _is_statement(above.title) and _is_statement(heading.title)
            heading.level = above.level + (not is_sibling) if above else 1
    return merged


def _is_statement(title: str) -> bool:
    """Check whether a title names a financial statement, or the notes to financial statements."""
    return _STATEMENT.fullmatch(title) is not None or _NOTES_TITLE.fullmatch(title) is not None
