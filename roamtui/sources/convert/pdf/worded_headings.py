"""Detect headings by their words: numbered titles, and the parts of company reports.

Such a report consists of numbered Items; below them are financial statements, the notes to these, and exhibits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from roamtui.sources.convert.pdf.outline import (
    CONTINUED,
    DetectedHeading,
    PageText,
    continues_title,
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
"""Minimum number of Items, notes or numbered titles. Fewer are only mentioned in the text."""
_ITEM_NUMBER_MAX = 16
_MARKED_WEIGHT = 3
"""Weight of an Item in bold type or capitals; others have 1."""
_TOP_ROWS = 7
"""Number of rows at the top of a page in which statements, signatures and exhibits have their titles."""
_STATEMENT_LENGTH_MAX = 130
_STATEMENT = re.compile(
    r"(?:[\w&.,'’ -]{0,60}?\b)?(?:(?:condensed|consolidated|combined|unaudited|interim|supplemental)\s+)*"
    r"(?:balance sheets?|statements? of (?:(?:consolidated|condensed|comprehensive|net|changes in|total|other)\s+)*"
    r"(?:income|operations|earnings|loss|cash flows?|equity|financial (?:position|condition)|capital"
    r"|stockholders|shareholders|shareowners|profit|comprehensive)\b.{0,70}|(?:income|cash flow) statements?)"
    r"\s?(?:\(.{2,40}\))?",
    re.IGNORECASE,
)
_NOTE_TITLE = re.compile(r"note\s*(\d{1,2})\s*(?:[.:)\u2014\u2013-]|\s[A-Z]|$)", re.IGNORECASE)
_NOTE_LENGTH_MAX = 140
_NOTES_TITLE = re.compile(
    r"(?:.{0,40}\b)?notes to (?:the )?(?:\w+ ){0,3}(?:financial )?statements\b.{0,40}", re.IGNORECASE
)
_EXHIBIT = re.compile(r"exhibit\s+\(?\d{1,3}(?:[.)-]\S{0,12})?\s*\)?", re.IGNORECASE)
_SIGNATURES = re.compile(r"signatures?", re.IGNORECASE)
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])(?![a-z]\w*\s)")
_CHAPTER_TITLE = re.compile(r"[제第]\s?(\d{1,2})\s?[장편부章部](?=\s|$)")
_NUMBERED_LENGTH_MAX = 110
_CHARACTERS_PER_TITLE_MIN = 200
"""Minimum length of the text, in characters, for each numbered title. The lines of a form are numbered more densely."""
_LEADING_MAX = 1.6


@dataclass(frozen=True, slots=True)
class _HeadingCandidate:
    """A row that may be a heading. Those with ascending keys and the greatest total weight are chosen."""

    page: int
    row: int
    key: tuple[int | str, ...]
    weight: float


def detect_items(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], known: Sequence[DetectedHeading]
) -> list[DetectedHeading]:
    """Return the headings of the Items in ascending order, except for `known` headings."""
    known_items = {parse_item(heading.title) for heading in known} - {None}
    # "@" sorts before letters, as Item 7 comes before Item 7A.
    found = [
        _HeadingCandidate(page, index, (item[0], item[1] or "@"), _MARKED_WEIGHT if _is_marked(row) else 1)
        for page, index, row in _iter_short_rows(pages, skipped, _ITEM_LENGTH_MAX)
        if (item := parse_item(row.text))
        and item not in known_items
        and item[0] <= _ITEM_NUMBER_MAX
        and _ITEM_ROW.match(row.text)
    ]
    if len(known_items) >= _COUNT_MIN:
        found = [candidate for candidate in found if candidate.weight == _MARKED_WEIGHT]
    chain = _select_rising_sequence(found)
    is_report = all(str(candidate.key[1])[0] == "." and candidate.weight == _MARKED_WEIGHT for candidate in chain)
    is_list = is_report or max(len(known_items), len(chain)) >= _COUNT_MIN
    return _make_headings(pages, chain, 2) if is_list else []


def detect_statements(pages: Sequence[PageText], skipped: set[tuple[int, int]]) -> Iterator[DetectedHeading]:
    """Yield the titles of financial statements at the top of pages with tables, with level 0 (see `merge_headings`)."""
    for number, page in enumerate(pages):
        if not page.tables:
            continue
        for index, row in enumerate(page.rows[:_TOP_ROWS]):
            text = row.text
            if len(text) > _STATEMENT_LENGTH_MAX or CONTINUED.search(text) or text[-1] in ".,;:":
                continue
            if (number, index) not in skipped and _STATEMENT.fullmatch(text) and text[0].isupper():
                yield DetectedHeading(page=number, row=index, count=1, level=0, title=text)
                break


def detect_notes(
    pages: Sequence[PageText], skipped: set[tuple[int, int]]
) -> tuple[list[DetectedHeading], list[DetectedHeading]]:
    """Return the heading above all notes to financial statements (if any) and the notes in order, all with level 0."""
    found = [
        _HeadingCandidate(page, index, (int(match[1]),), 1)
        for page, index, row in _iter_short_rows(pages, skipped, _NOTE_LENGTH_MAX)
        if (match := _NOTE_TITLE.match(row.text)) and _is_marked(row) and not CONTINUED.search(row.text)
    ]
    chain = _select_rising_sequence(found)
    if len(chain) < _COUNT_MIN:
        return [], []
    above = [
        DetectedHeading(page=page, row=index, count=1, level=0, title=row.text)
        for first in found
        if first.key == (1,)
        for page in range(max(0, first.page - 1), first.page + 1)
        for index, row in enumerate(pages[page].rows[: first.row if page == first.page else _TOP_ROWS])
        if _NOTES_TITLE.fullmatch(row.text) and not CONTINUED.search(row.text)
    ]
    return above[-1:], _make_headings(pages, chain, 0, rows_max=1)


def lift_statements(headings: Sequence[DetectedHeading]) -> None:
    """Move each statement directly below its Item, with the headings below it. Stop at the notes of the Item."""
    item = statement = shift = 0  # levels of the last Item and statement, and the number of levels to move up
    for heading in headings:
        if heading.level <= statement:
            statement = shift = 0
        if parse_item(heading.title):
            item = heading.level
        elif heading.level <= item or _NOTE_TITLE.match(heading.title):
            item = 0
        elif item and not shift and _is_statement(heading.title):
            statement, shift = heading.level, heading.level - item - 1
            if _NOTES_TITLE.fullmatch(heading.title):
                item = 0
        heading.level -= shift


def nest_notes(headings: Sequence[DetectedHeading]) -> None:
    """Move notes to financial statements below their common heading, such as "Notes to Financial Statements".

    Notes move if they are on the same level as that heading. The headings below them move too, up to the next other
    heading on that level or a higher one.
    """
    above = 0
    moves = False
    for heading, after in zip_longest(headings, headings[1:]):
        is_note = _NOTE_TITLE.match(heading.title) is not None
        if _NOTES_TITLE.fullmatch(heading.title):
            if after is not None and _NOTE_TITLE.match(after.title):
                heading.level = min(heading.level, after.level)
            above, moves = heading.level, False
        elif above and (heading.level > above or (heading.level == above and is_note)):
            moves = moves or heading.level == above
            heading.level = heading.level + moves
        else:
            above = 0


def detect_exhibits(pages: Sequence[PageText], skipped: set[tuple[int, int]], after: int) -> Iterator[DetectedHeading]:
    """Yield the headings of signatures and exhibits from page `after`, where the last Item of a report is."""
    seen = set()
    for number in range(after, len(pages)):
        for index, row in enumerate(pages[number].rows[:_TOP_ROWS]):
            is_signatures = _SIGNATURES.fullmatch(row.text) is not None
            if (number, index) in skipped or not (is_signatures or (_EXHIBIT.fullmatch(row.text) and index < 4)):
                continue
            name = row.text.casefold()
            if name not in seen:
                seen.add(name)
                yield DetectedHeading(page=number, row=index, count=1, level=2 if is_signatures else 3, title=row.text)


def detect_numbered_headings(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], score_title: Callable[[PageText, int], float]
) -> list[DetectedHeading]:
    """Return numbered titles ("3.2 Types and values") in ascending order.

    `score_title` rates a row of a page by its looks: 0 if it cannot be a title, at least 1 if it must be one.
    """
    found = []
    for page, index, row in _iter_short_rows(pages, skipped, _NUMBERED_LENGTH_MAX):
        match = _NUMBERED_TITLE.match(row.text) or _CHAPTER_TITLE.match(row.text)
        score = score_title(pages[page], index) if match and row.text[-1] not in ",;" else 0.0
        if match and score:
            found.append(_HeadingCandidate(page, index, tuple(map(int, match[1].split("."))), score))
    chain: list[_HeadingCandidate] = []
    for candidate in _select_rising_sequence(found):
        if candidate.weight >= 1 or _may_follow(chain[-1].key if chain else (), candidate.key):
            chain.append(candidate)
    length = sum(len(row.text) for page in pages for row in page.rows)
    is_list = len(chain) * _CHARACTERS_PER_TITLE_MIN > length or all(len(candidate.key) > 1 for candidate in chain)
    return [] if len(chain) < _COUNT_MIN or is_list else _make_headings(pages, chain)


def _may_follow(last: tuple[int | str, ...], key: tuple[int | str, ...]) -> bool:
    """Check whether section number `key` may follow `last`, as 1.2.1, 1.3, 1.4, 2 and 3 may follow 1.2."""
    if not last:
        return key in ((1,), (0,))
    if len(key) > len(last):
        return key[: len(last)] == last and all(number == 1 for number in key[len(last) :])
    same = len(key) - 1
    return key[:same] == last[:same] and 1 <= int(key[same]) - int(last[same]) <= 2


def _iter_short_rows(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], length_max: int
) -> Iterator[tuple[int, int, PageRow]]:
    for number, page in enumerate(pages):
        for index, row in enumerate(page.rows):
            if len(row.text) <= length_max and (number, index) not in skipped:
                yield number, index, row


def _is_marked(row: PageRow) -> bool:
    return row.font.is_bold or row.text.isupper()


def _select_rising_sequence(found: Sequence[_HeadingCandidate]) -> list[_HeadingCandidate]:
    """Return the subsequence of candidates with ascending keys that has the greatest total weight."""
    ranks = {key: rank for rank, key in enumerate(sorted({candidate.key for candidate in found}), start=1)}
    tree = [(0.0, -1)] * (len(ranks) + 1)
    """Fenwick tree: weight and last index of the heaviest sequence whose last key has at most a rank."""
    before: list[int] = []
    for index, candidate in enumerate(found):
        weight, last = 0.0, -1
        rank = ranks[candidate.key] - 1
        while rank:
            weight, last = max((weight, last), tree[rank])
            rank &= rank - 1
        before.append(last)
        rank = ranks[candidate.key]
        while rank < len(tree):
            tree[rank] = max(tree[rank], (weight + candidate.weight, index))
            rank += rank & -rank
    index = max(tree)[1]
    chain: list[_HeadingCandidate] = []
    while index >= 0:
        chain.append(found[index])
        index = before[index]
    return chain[::-1]


def _make_headings(
    pages: Sequence[PageText], candidates: Sequence[_HeadingCandidate], level: int | None = None, *, rows_max: int = 3
) -> list[DetectedHeading]:
    """Turn candidates into headings. A heading takes up to `rows_max` rows if the next rows continue its title.

    Without `level`, the level of a heading is the depth of its number.
    """
    headings = []
    for candidate in candidates:
        rows = pages[candidate.page].rows[candidate.row : candidate.row + rows_max]
        count = 1
        while count < len(rows) and (_is_marked(rows[0]) or candidate.weight >= 1):
            row = rows[count]
            is_other = parse_item(row.text) or parse_part(row.text) or row.x0 < rows[0].x0 - 2
            if is_other or not continues_title(rows[count - 1], row, leading_max=_LEADING_MAX):
                break
            count += 1
        heading_level = len(candidate.key) if level is None else level
        title = join_rows(rows[:count])
        headings.append(
            DetectedHeading(page=candidate.page, row=candidate.row, count=count, level=heading_level, title=title)
        )
    return headings


def _is_statement(title: str) -> bool:
    """Check whether a title names a financial statement, or the notes to financial statements."""
    return _STATEMENT.fullmatch(title) is not None or _NOTES_TITLE.fullmatch(title) is not None


def merge_headings(kept: Sequence[DetectedHeading], more: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Merge the headings `more` into the headings `kept`, except for those whose rows are taken.

    A heading of level 0 gets a level: one below the heading before it, or the same if both are statements.
    """
    taken = {(heading.page, heading.row + number) for heading in kept for number in range(max(1, heading.count))}
    ordered = sorted(kept, key=lambda heading: heading.position)
    positions = [heading.position for heading in ordered]
    merged = list(ordered)
    for heading in more:
        if any((heading.page, heading.row + number) in taken for number in range(max(1, heading.count))):
            continue
        if not heading.level:
            index = bisect_right(positions, heading.position)
            above = ordered[index - 1] if index else None
            is_sibling = above and _is_statement(above.title) and _is_statement(heading.title)
            heading.level = above.level + (not is_sibling) if above else 1
        merged.append(heading)
    merged.sort(key=lambda heading: heading.position)
    return merged
