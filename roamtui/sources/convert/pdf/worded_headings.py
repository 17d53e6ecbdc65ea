"""Detect headings by their words: numbered titles, and the parts of company reports.

Such a report consists of numbered Items; below them are financial statements, the notes to these, and exhibits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

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
_EXHIBIT_INDEX = re.compile(r"(?:exhibits? index|index (?:to|of) exhibits)", re.IGNORECASE)
_EXHIBIT = re.compile(r"exhibit\s+\(?\d{1,3}(?:[.)-]\S{0,12})?\s*\)?", re.IGNORECASE)
_SIGNATURES = re.compile(r"signatures?", re.IGNORECASE)
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])(?![a-z]\w*\s)")
_CHAPTER_TITLE = re.compile(r"[제第]\s?(\d{1,2})\s?[장편부章部](?=\s|$)")
_NUMBERED_LENGTH_MAX = 110
_CHARACTERS_PER_TITLE_MIN = 200
"""Minimum length of the text, in characters, for each numbered title. The lines of a form are numbered more densely."""
_LEADING_MAX = 1.6
_HEADING_ROWS_MAX = 3
_FULL_SHARE = 0.75
"""Minimum right end of a row that may be wrapped, relative to the rightmost one on the page."""


class _HeadingCandidate(Struct, frozen=True):
    """A row that may be a heading. Those with ascending keys and the greatest total weight are chosen."""

    page: int
    row: int
    key: tuple[int | str, ...]
    weight: float


def detect_items(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], known: Sequence[DetectedHeading]
) -> list[DetectedHeading]:
    """Return the headings of the Parts and Items in ascending order, except for `known` headings.

    The Items of a quarterly report start again in its Part II.
    """
    parts = sorted(
        [(heading.position, number) for heading in known if (number := parse_part(heading.title))]
        + [
            ((page, index), number)
            for page, index, row in _iter_short_rows(pages, skipped, _ITEM_LENGTH_MAX)
            if _PART_ROW.fullmatch(row.text) and (number := parse_part(row.text)) and _is_marked(row)
        ]
    )
    positions = [position for position, _ in parts]

    def get_part(position: tuple[int, int]) -> int:
        index = bisect_right(positions, position)
        return parts[index - 1][1] if index else 0

    known_items = {(get_part(heading.position), item) for heading in known if (item := parse_item(heading.title))}
    # "@" sorts before letters, as Item 7 comes before Item 7A.
    candidates = [
        _HeadingCandidate(page, index, (part, item[0], item[1] or "@"), _MARKED_WEIGHT if _is_marked(row) else 1)
        for page, index, row in _iter_short_rows(pages, skipped, _ITEM_LENGTH_MAX)
        if (item := parse_item(row.text))
        and item[0] <= _ITEM_NUMBER_MAX
        and _ITEM_ROW.match(row.text)
        and ((part := parse_part(row.text) or get_part((page, index))), item) not in known_items
    ]
    if len(known_items) >= _COUNT_MIN:
        candidates = [candidate for candidate in candidates if candidate.weight == _MARKED_WEIGHT]
    chain = _select_rising_sequence(candidates)
    is_report = all(str(candidate.key[2])[0] == "." and candidate.weight == _MARKED_WEIGHT for candidate in chain)
    is_list = is_report or max(len(known_items), len(chain)) >= _COUNT_MIN
    if not is_list:
        return []
    items = _make_headings(pages, chain, 2)
    # The row of a Part directly above its first Item is a heading too.
    above = {positions[index - 1] for heading in items if (index := bisect_right(positions, heading.position))}
    return items + [
        DetectedHeading(page=page, row=row, count=1, level=1, title=pages[page].rows[row].text)
        for page, row in above - {heading.position for heading in known}
    ]


def detect_statements(
    pages: Sequence[PageText],
    skipped: set[tuple[int, int]],
    known: Sequence[DetectedHeading],
    notes: Sequence[DetectedHeading],
) -> Iterator[DetectedHeading]:
    """Yield the titles of financial statements at the top of pages with tables, with level 0 (see `merge_headings`).

    Titles of other tables look the same. Inside the `notes`, a title must therefore be a marked row of one cell. In an
    Item that has other contents, it must be one of a whole set of statements.
    """
    containers = [heading for heading in known if _is_container(heading)]
    starts = [heading.position for heading in containers]
    by_container: dict[int, list[DetectedHeading]] = {}
    for number, page in enumerate(pages):
        if not page.tables:
            continue
        for index, row in enumerate(page.rows[:_TOP_ROWS]):
            text = row.text
            if len(text) > _STATEMENT_LENGTH_MAX or CONTINUED.search(text) or text[-1] in ".,;:":
                continue
            if (number, index) not in skipped and _STATEMENT.fullmatch(text) and text[0].isupper():
                container = bisect_right(starts, (number, index)) - 1
                end = starts[container + 1] if container + 1 < len(starts) else (len(pages), 0)
                is_in_note = any(note.position < (number, index) for note in notes[1:]) and notes[-1].position < end
                if not is_in_note or (len(row.cells) == 1 and _is_marked(row)):
                    heading = DetectedHeading(page=number, row=index, count=1, level=0, title=text)
                    by_container.setdefault(container, []).append(heading)
                break
    for container, statements in by_container.items():
        name = containers[container].title if container >= 0 else ""
        is_set = all(any(kind.search(heading.title) for heading in statements) for kind in _STATEMENT_KINDS)
        is_last = container + 1 == len(containers)
        if is_set or is_last or not parse_item(name) or _HOLDS_STATEMENTS.search(name):
            yield from statements


def _is_container(heading: DetectedHeading) -> bool:
    """Check whether a heading is an Item, the signatures or an exhibit: it ends the statements and notes before it."""
    return parse_item(heading.title) is not None or any(
        pattern.fullmatch(heading.title) for pattern in (_SIGNATURES, _EXHIBIT_INDEX, _EXHIBIT)
    )


def detect_notes(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], known: Sequence[DetectedHeading]
) -> list[DetectedHeading]:
    """Return the notes to financial statements in order, and the heading above them all (if any), with level 0.

    Some companies write "Note 1. Revenue" above a note, others "1. Revenue". The latter counts only below a heading
    such as "Notes to Financial Statements", up to the next of the `known` Items.
    """
    rows = list(_iter_short_rows(pages, skipped, _NOTE_LENGTH_MAX))
    titles = [
        (page, index)
        for page, index, row in rows
        if index < _TOP_ROWS and _NOTES_TITLE.fullmatch(row.text) and not CONTINUED.search(row.text)
    ]
    rows = [entry for entry in rows if _is_marked(entry[2]) and not CONTINUED.search(entry[2].text)]
    titles += [heading.position for heading in known if _NOTES_TITLE.fullmatch(heading.title)]
    chain = _select_rising_sequence(
        [
            _HeadingCandidate(page, index, (int(match[1]),), 1)
            for page, index, row in rows
            if (match := _NOTE_TITLE.match(row.text))
        ]
    )
    if len(chain) < _COUNT_MIN and titles:
        start = min(titles)
        ends = (heading.position for heading in known if heading.position > start and parse_item(heading.title))
        end = min(ends, default=(len(pages), 0))
        chain = _select_rising_sequence(
            [
                _HeadingCandidate(page, index, (int(match[1]),), 1)
                for page, index, row in rows
                if start < (page, index) < end and (match := _NUMBERED_NOTE.match(row.text))
            ]
        )
        if not chain or chain[0].key != (1,) or len(chain) < _FOUND_NUMBERS_SHARE_MIN * int(chain[-1].key[0]):
            return []
    if len(chain) < _COUNT_MIN:
        return []
    notes = _make_headings(pages, chain, 0, wraps_early=False)
    above = [title for title in titles if notes[0].page - 1 <= title[0] and title < notes[0].position]
    if above and max(above) not in {heading.position for heading in known}:
        page, row = max(above)
        title = pages[page].rows[row].text
        notes.insert(0, DetectedHeading(page=page, row=row, count=1, level=0, title=title))
    return notes


def nest_headings(headings: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]) -> None:
    """Change the levels of headings so that the parts of a report are nested as a person would nest them.

    Parts are on the top level. The statements of an Item and the heading of its notes have the same level. The notes
    are below that heading or, without one, on the level of the statements. A statement inside a note is below it.
    Headings move with the one above them, and no level is left out. `notes` are those that `detect_notes` returned.
    """
    positions = {note.position for note in notes}
    path: list[tuple[int, int]] = []  # the level before and now of each heading around the current one
    has_parts = False
    base = notes_level = note_level = 0  # levels of statements, of the heading of the notes, and of notes
    for heading, after in zip_longest(headings, headings[1:]):
        level = heading.level
        title = heading.title
        is_note = heading.position in positions or _NOTE_TITLE.match(title) is not None
        new = 0
        if _is_container(heading):
            item = parse_item(title)
            is_closed = item == _SUMMARY_ITEM or not (item or _EXHIBIT.fullmatch(title))
            base, notes_level, note_level = -1 if is_closed else 1, 0, 0
            new = 2 if has_parts and item else 0
        elif parse_part(title) and after is not None and parse_item(after.title):
            new, base, has_parts = 1, 0, True
        elif not base:
            pass
        elif _NOTES_TITLE.fullmatch(title):
            new = notes_level = base
            note_level = 0
        elif is_note:
            new = note_level = notes_level + 1 if notes_level else base
        elif _STATEMENT.fullmatch(title):
            new = note_level + 1 if note_level else base
        while path and (path[-1][1] >= new if new else path[-1][0] >= level):
            path.pop()
        heading.level = new or (path[-1][1] + 1 if path else level)
        path.append((level, heading.level))
        if _is_container(heading):
            base = heading.level + (base > 0)
        elif heading.level <= notes_level and not new:
            note_level = 0


def detect_exhibits(pages: Sequence[PageText], skipped: set[tuple[int, int]], after: int) -> Iterator[DetectedHeading]:
    """Yield the headings of signatures and exhibits from page `after`, where the last Item of a report is."""
    seen = set()
    for number in range(after, len(pages)):
        for index, row in enumerate(pages[number].rows[:_TOP_ROWS]):
            is_top = any(pattern.fullmatch(row.text) for pattern in (_SIGNATURES, _EXHIBIT_INDEX))
            if (number, index) in skipped or not (is_top or (_EXHIBIT.fullmatch(row.text) and index < 4)):
                continue
            name = row.text.casefold()
            if name not in seen:
                seen.add(name)
                yield DetectedHeading(page=number, row=index, count=1, level=2 if is_top else 3, title=row.text)


def detect_numbered_headings(
    pages: Sequence[PageText], skipped: set[tuple[int, int]], score_title: Callable[[PageText, int], float]
) -> list[DetectedHeading]:
    """Return numbered titles ("3.2 Types and values") in ascending order.

    `score_title` rates a row of a page by its looks: 0 if it cannot be a title, at least 1 if it must be one.
    """
    candidates = []
    for page, index, row in _iter_short_rows(pages, skipped, _NUMBERED_LENGTH_MAX):
        match = _NUMBERED_TITLE.match(row.text) or _CHAPTER_TITLE.match(row.text)
        score = score_title(pages[page], index) if match and row.text[-1] not in ",;" else 0.0
        if match and score:
            candidates.append(_HeadingCandidate(page, index, tuple(map(int, match[1].split("."))), score))
    chain: list[_HeadingCandidate] = []
    for candidate in _select_rising_sequence(candidates):
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


def _select_rising_sequence(candidates: Sequence[_HeadingCandidate]) -> list[_HeadingCandidate]:
    """Return the subsequence of candidates with ascending keys that has the greatest total weight."""
    ranks = {key: rank for rank, key in enumerate(sorted({candidate.key for candidate in candidates}), start=1)}
    tree = [(0.0, -1)] * (len(ranks) + 1)
    """Fenwick tree over ranks: weight and last index of the heaviest sequence that ends at most at the rank."""
    before: list[int] = []
    for index, candidate in enumerate(candidates):
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
        chain.append(candidates[index])
        index = before[index]
    return chain[::-1]


def _make_headings(
    pages: Sequence[PageText],
    candidates: Sequence[_HeadingCandidate],
    level: int | None = None,
    *,
    wraps_early: bool = True,
) -> list[DetectedHeading]:
    """Turn candidates into headings. A heading takes up to three rows if the next rows continue its title.

    Without `level`, the level of a heading is the depth of its number. If `wraps_early` is false, a title continues
    only after a row that nearly reaches the right edge, because a subtitle in the same type may follow a shorter row.
    """
    headings = []
    for candidate in candidates:
        page_rows = pages[candidate.page].rows
        rows = page_rows[candidate.row : candidate.row + _HEADING_ROWS_MAX]
        right = 0.0 if wraps_early else _FULL_SHARE * max(row.x1 for row in page_rows)
        count = 1
        while count < len(rows) and (_is_marked(rows[0]) or candidate.weight >= 1):
            row = rows[count]
            is_other = parse_item(row.text) or parse_part(row.text) or row.x0 < rows[0].x0 - 2
            is_other = is_other or rows[count - 1].x1 < right
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
