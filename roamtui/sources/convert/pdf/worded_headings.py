"""Headings that their words give away: Items, statements, notes, exhibits and numbered titles."""

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
    read_item,
    read_part,
)
from roamtui.sources.convert.pdf.rows import PageRow

_ITEM_LENGTH_MAX = 220
_ITEM_ROW = re.compile(
    r"(?:part\s+[iv]+\s*[,.:;\u2013\u2014-]*\s*)?items?\s*\d{1,2}(?:\.\d\d|\s?\(?[ABCabc]\)?(?![a-z]))?\s*"
    r"(?:$|[.:;\u2014\u2013-]|\s[A-Z\[(*]|\|)|ITEMS?\s*\d",
    re.IGNORECASE,
)
_FEW = 3
"""Fewer Items, notes or numbered titles than these are only mentioned."""
_ITEMS_MAX = 16
_STATEMENT_ROWS = 7
_STATEMENT_LENGTH_MAX = 130
_STATEMENT = re.compile(
    r"(?:[\w&.,'’ -]{0,60}?\b)?(?:(?:condensed|consolidated|combined|unaudited|interim|supplemental)\s+)*"
    r"(?:balance sheets?|statements? of (?:(?:consolidated|condensed|comprehensive|net|changes in|total|other)\s+)*"
    r"(?:income|operations|earnings|loss|cash flows?|equity|financial (?:position|condition)|capital"
    r"|stockholders|shareholders|shareowners|profit|comprehensive)\b.{0,70}|(?:income|cash flow) statements?)"
    r"\s*(?:\(.{2,40}\))?",
    re.IGNORECASE,
)
_NOTE = re.compile(r"note\s*(\d{1,2})\s*(?:[.:)\u2014\u2013-]|\s[A-Z]|$)", re.IGNORECASE)
_NOTE_LENGTH_MAX = 140
_NOTES = re.compile(r"(?:.{0,40}\b)?notes to (?:the )?(?:\w+ ){0,3}(?:financial )?statements\b.{0,40}", re.IGNORECASE)
_EXHIBIT = re.compile(r"exhibit\s+\(?\d{1,3}(?:[.)-]\S{0,12})?\s*\)?", re.IGNORECASE)
_SIGNATURES = re.compile(r"signatures?", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])(?![a-z]\w*\s)")
_CHAPTER = re.compile(r"[제第]\s?(\d{1,2})\s?[장편부章部](?=\s|$)")
_NUMBERED_LENGTH_MAX = 110
_NUMBERED_EACH_MIN = 200
"""Characters for each; lines of a form are numbered more closely."""
_TITLE_ROWS_MAX = 3
_LEADING_MAX = 1.6


@dataclass(frozen=True, slots=True)
class _HeadingCandidate:
    page: int
    row: int
    key: tuple[int | str, ...]
    weight: float


def detect_items(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], known: Sequence[DetectedHeading]
) -> list[DetectedHeading]:
    """Return the Items in their order, but for those that are known."""
    places = {read_item(heading.title) for heading in known} - {None}
    found = [
        _HeadingCandidate(page, row, (item[0], item[1] or "@"), 3 if _is_marked(each) else 1)
        for page, row, each in _walk(pages, skipped, _ITEM_LENGTH_MAX)
        if (item := read_item(each.text))
        and item not in places
        and item[0] <= _ITEMS_MAX
        and _ITEM_ROW.match(each.text)
    ]
    if len(places) >= _FEW:
        found = [each for each in found if each.weight == 3]
    chain = _select_rising_sequence(found)
    is_report = all(str(each.key[1])[0] == "." and each.weight == 3 for each in chain)
    return _make(pages, chain, 2) if len(places) >= _FEW or len(chain) >= _FEW or is_report else []


def detect_statements(pages: Sequence[PageText], skipped: set[tuple[int, int]]) -> Iterator[DetectedHeading]:
    """Yield the titles of statements at the top of pages with tables; their level is 0, to be set by where they are."""
    for number, page in enumerate(pages):
        if not page.tables:
            continue
        for index, row in enumerate(page.rows[:_STATEMENT_ROWS]):
            text = row.text
            if len(text) > _STATEMENT_LENGTH_MAX or CONTINUED.search(text) or text[-1] in ".,;:":
                continue
            if (number, index) not in skipped and _STATEMENT.fullmatch(text) and text[0].isupper():
                yield DetectedHeading(page=number, row=index, count=1, level=0, title=text)
                break


def detect_notes(
    pages: Sequence[PageText], skipped: set[tuple[int, int]]
) -> tuple[list[DetectedHeading], list[DetectedHeading]]:
    """Return what all notes to financial statements stand below, and those in rising order; their level is 0."""
    found = [
        _HeadingCandidate(page, row, (int(match[1]),), 1)
        for page, row, each in _walk(pages, skipped, _NOTE_LENGTH_MAX)
        if (match := _NOTE.match(each.text)) and _is_marked(each) and not CONTINUED.search(each.text)
    ]
    chain = _select_rising_sequence(found)
    if len(chain) < _FEW:
        return [], []
    above = [
        DetectedHeading(page=page, row=row, count=1, level=0, title=each.text)
        for first in found
        if first.key == (1,)
        for page in range(max(0, first.page - 1), first.page + 1)
        for row, each in enumerate(pages[page].rows[: first.row if page == first.page else _STATEMENT_ROWS])
        if _NOTES.fullmatch(each.text) and not CONTINUED.search(each.text)
    ]
    return above[-1:], _make(pages, chain, 0, rows_max=1)


def lift_statements(headings: Sequence[DetectedHeading]) -> None:
    """Set statements, with what is below them, right below the Item that holds them, up to its notes."""
    item = own = shift = 0
    for heading in headings:
        if heading.level <= own:
            own = shift = 0
        if read_item(heading.title):
            item = heading.level
        elif heading.level <= item or _NOTE.match(heading.title):
            item = 0
        elif item and not shift and _is_statement(heading.title):
            own, shift = heading.level, heading.level - item - 1
            item *= not _NOTES.fullmatch(heading.title)
        heading.level -= shift


def nest_notes(headings: Sequence[DetectedHeading]) -> None:
    """Set headings below those of all notes that stand beside them, up to the first that is none."""
    above = 0
    moves = False
    for heading, after in zip_longest(headings, headings[1:]):
        is_note = _NOTE.match(heading.title) is not None
        if _NOTES.fullmatch(heading.title):
            if after is not None and _NOTE.match(after.title):
                heading.level = min(heading.level, after.level)
            above, moves = heading.level, False
        elif above and (heading.level > above or (heading.level == above and is_note)):
            moves = moves or heading.level == above
            heading.level = heading.level + moves
        else:
            above = 0


def detect_exhibits(pages: Sequence[PageText], skipped: set[tuple[int, int]], after: int) -> Iterator[DetectedHeading]:
    """Yield signatures and exhibits that follow the last Item of a filing."""
    seen = set()
    for number in range(after, len(pages)):
        for index, row in enumerate(pages[number].rows[:_STATEMENT_ROWS]):
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
    """Return titles that are numbered ("3.2 Types and values"), each the next of one before it.

    Args:
        pages: All of the file.
        skipped: Pages and rows where none is looked for.
        score_title: Tells how much a row of a page looks like a title: from 1 on for sure, 0 not at all.
    """
    found = []
    for page, row, each in _walk(pages, skipped, _NUMBERED_LENGTH_MAX):
        match = _NUMBERED.match(each.text) or _CHAPTER.match(each.text)
        looks = score_title(pages[page], row) if match and each.text[-1] not in ",;" else 0.0
        if match and looks:
            found.append(_HeadingCandidate(page, row, tuple(map(int, match[1].split("."))), looks))
    chain: list[_HeadingCandidate] = []
    for one in _select_rising_sequence(found):
        if one.weight >= 1 or _is_next(chain[-1].key if chain else (), one.key):
            chain.append(one)
    length = sum(len(row.text) for page in pages for row in page.rows)
    is_list = len(chain) * _NUMBERED_EACH_MIN > length or all(len(one.key) > 1 for one in chain)
    return [] if len(chain) < _FEW or is_list else _make(pages, chain)


def _is_next(last: tuple[int | str, ...], key: tuple[int | str, ...]) -> bool:
    """Return whether a number may follow another: its first child, or the next of it or of one above it."""
    if not last:
        return key in ((1,), (0,))
    if len(key) > len(last):
        return key[: len(last)] == last and all(number == 1 for number in key[len(last) :])
    same = len(key) - 1
    return key[:same] == last[:same] and 1 <= int(key[same]) - int(last[same]) <= 2


def _walk(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], length_max: int
) -> Iterator[tuple[int, int, PageRow]]:
    for number, page in enumerate(pages):
        for index, row in enumerate(page.rows):
            if len(row.text) <= length_max and (number, index) not in skipped:
                yield number, index, row


def _is_marked(row: PageRow) -> bool:
    return row.font.is_bold or row.text.isupper()


def _select_rising_sequence(found: Sequence[_HeadingCandidate]) -> list[_HeadingCandidate]:
    """Return those of what was found in rising order that weigh most together."""
    ranks = {key: rank for rank, key in enumerate(sorted({each.key for each in found}), start=1)}
    tree = [(0.0, -1)] * (len(ranks) + 1)
    """A Fenwick tree: the heaviest chain that ends with a key up to a rank, and its last index."""
    before: list[int] = []
    for index, each in enumerate(found):
        weight, last = 0.0, -1
        rank = ranks[each.key] - 1
        while rank:
            weight, last = max((weight, last), tree[rank])
            rank &= rank - 1
        before.append(last)
        rank = ranks[each.key]
        while rank < len(tree):
            tree[rank] = max(tree[rank], (weight + each.weight, index))
            rank += rank & -rank
    index = max(tree)[1]
    chain: list[_HeadingCandidate] = []
    while index >= 0:
        chain.append(found[index])
        index = before[index]
    return chain[::-1]


def _make(
    pages: Sequence[PageText], chain: Sequence[_HeadingCandidate], level: int = -1, *, rows_max: int = _TITLE_ROWS_MAX
) -> list[DetectedHeading]:
    """Return what was found as headings, with further rows that are theirs, of their own level where none is given."""
    headings = []
    for each in chain:
        rows = pages[each.page].rows
        count, first = 1, rows[each.row]
        while count < rows_max and each.row + count < len(rows) and (_is_marked(first) or each.weight >= 1):
            row = rows[each.row + count]
            is_other = read_item(row.text) or read_part(row.text) or row.x0 < first.x0 - 2
            if is_other or not continues_title(rows[each.row + count - 1], row, leading_max=_LEADING_MAX):
                break
            count += 1
        title = join_rows(rows[each.row : each.row + count])
        own = len(each.key) if level < 0 else level
        headings.append(DetectedHeading(page=each.page, row=each.row, count=count, level=own, title=title))
    return headings


def _is_statement(title: str) -> bool:
    """Return whether a title is that of a statement, or of all notes to them."""
    return _STATEMENT.fullmatch(title) is not None or _NOTES.fullmatch(title) is not None


def merge_headings(kept: Sequence[DetectedHeading], more: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Return headings with others among them, those left out that stand where one is; level 0 becomes that below."""
    taken = {(heading.page, heading.row + number) for heading in kept for number in range(max(1, heading.count))}
    ordered = sorted(kept, key=lambda heading: heading.place)
    places = [heading.place for heading in ordered]
    merged = list(ordered)
    for heading in more:
        if any((heading.page, heading.row + number) in taken for number in range(max(1, heading.count))):
            continue
        if not heading.level:
            index = bisect_right(places, heading.place)
            above = ordered[index - 1] if index else None
            is_beside = above and _is_statement(above.title) and _is_statement(heading.title)
            heading.level = above.level + (not is_beside) if above else 1
        merged.append(heading)
    merged.sort(key=lambda heading: heading.place)
    return merged
