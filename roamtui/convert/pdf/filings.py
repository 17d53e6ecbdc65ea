"""Detect the headings of company reports to the SEC, which have the same parts in the same order.

A report has up to four Parts, with numbered Items. Below these are financial statements and the notes to
them. Signatures and exhibits are at its end.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from roamtui.convert.pdf.headings import (
    DetectedHeading,
    NumberedRow,
    iter_short_rows,
    make_heading,
    merge_headings,
    select_rising_sequence,
)
from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.titles import is_marked

_ITEM = re.compile(
    r"(?:part\s+[iv]+\s*[,.:;\u2013\u2014-]*\s*)?items?\s*(\d{1,2})(?:(\.\d\d)\b|\s?\(?([abc])\)?(?![a-z])|(?!\d))"
    r"(?=$|[\W_]|[A-Z])",
    re.IGNORECASE,
)
_PART = re.compile(r"part\s*([ivx]{1,4})(?=$|[\W_])", re.IGNORECASE)
_PART_ROW = re.compile(
    r"part\s+[iv]{1,3}\W*(?:other information|financial information(?: and exhibits)?)?\W*", re.IGNORECASE
)
_ITEM_LENGTH_MAX = 220
_COUNT_MIN = 3
"""Minimum number of Items or notes. Fewer are taken for mentions in the text."""
_TITLE_TOP_ROWS = 7
"""Number of rows at the top of a page in which statements, signatures and exhibits have their titles."""
_STATEMENT = re.compile(
    r"(?:[\w&.,'’ -]{0,60}?\b)?(?:(?:condensed|consolidated|combined|unaudited|interim|supplemental)\s+)*"
    r"(?:balance sheets?|statements? of "
    r"(?:(?:consolidated|condensed|comprehensive|net|changes in|total|other)\s+)*"
    r"(?:income|operations|earnings|loss|cash flows?|equity|financial (?:position|condition)|capital"
    r"|stockholders|shareholders|shareowners|profit|comprehensive)\b.{0,70}"
    r"|reconciliations? of .{3,60}|supplement(?:al|ary) .{3,40}(?:data|information)"
    r"|(?:(?:comprehensive )?income|cash flows?|(?:stock|share)holders[’']? equity) statements?)",
    re.IGNORECASE,
)
_HOLDS_STATEMENTS = re.compile(r"items?\s*(?:8|1[56])\b|financial statements|exhibits", re.IGNORECASE)
"""Items that contain financial statements."""
_NOTE_TITLE = re.compile(r"note\s*(\d{1,2})\s*(?:[.:)\u2014\u2013-]|\s[A-Z]|$)", re.IGNORECASE)
_NUMBERED_NOTE = re.compile(r"\(?(\d{1,2})[.)\u2014\u2013-]?\s+(?=[A-Z])(?!\d)")
_NOTES_TITLE = re.compile(
    r"(?:.{0,40}\b)?notes to (?:the )?(?:\w+ ){0,3}(?:financial )?statements\b.{0,40}", re.IGNORECASE
)
_EXHIBIT = re.compile(r"exhibit\s+\(?\d{1,3}(?:[.)-]\S{0,12})?\s*\)?", re.IGNORECASE)
_END_MATTER = re.compile(r"signatures?|exhibits? index|index (?:to|of) exhibits", re.IGNORECASE)
"""A title after the last Item, other than that of a single exhibit."""


def parse_item(title: str) -> tuple[int, str] | None:
    """Parse an Item's number: `(7, "a")` for "Item 7A", `(5, ".02")` for "Item 5.02"."""
    match = _ITEM.match(title)
    return (int(match[1]), (match[2] or match[3] or "").lower()) if match else None


def parse_part(title: str) -> int | None:
    """Parse the number of a Part: 2 for "Part II". Return None if the title has none."""
    match = _PART.match(title)
    return {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}.get(match[1].lower()) if match else None


def add_filing_headings(rows: Sequence[PageRow], known: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Add the parts of a report to the `known` headings of its own outline, and nest them all.

    In other files, there is nothing to add.
    """
    # If an Item's title is not on its page, the outline may be wrong, so a title that is detected by its
    # words is better.
    doubtful = [heading for heading in known if not heading.count and parse_item(heading.title)]
    headings = merge_headings([heading for heading in known if heading not in doubtful], ())
    items = _detect_items(rows, headings)
    numbers = {parse_item(heading.title) for heading in items}
    items += [heading for heading in doubtful if parse_item(heading.title) not in numbers]
    if headings and not any(parse_item(heading.title) for heading in headings):
        # The outline covers only a part, such as the financial statements inside an Item.
        above = [heading for heading in items if heading.row < headings[0].row]
        level = max(above, key=lambda item: item.row).level if above else 0
        for heading in headings:
            heading.level += level
    headings = merge_headings(headings, items)
    last_item = max((heading.row for heading in headings if parse_item(heading.title)), default=None)
    if last_item is not None:
        headings = merge_headings(headings, _detect_end_matter(rows, last_item - rows[last_item].number))
    notes = _detect_notes(rows, headings)
    headings = merge_headings(headings, _detect_statements(rows, headings, notes))
    headings = merge_headings(headings, notes)
    _nest(headings, notes)
    return headings


def _detect_items(rows: Sequence[PageRow], known: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Return the headings of Items in ascending order, and of the Parts above them, except for `known` ones.

    The Items of a quarterly report start again in its Part II.
    """
    parts = [(heading.row, number) for heading in known if (number := parse_part(heading.title))]
    found = []
    for index, row in iter_short_rows(rows, _ITEM_LENGTH_MAX):
        if _PART_ROW.fullmatch(row.text) and (number := parse_part(row.text)):
            parts.append((index, number))
        if item := parse_item(row.text):
            found.append((index, item))
    parts.sort()

    def find_part(row: int) -> tuple[int, int]:
        """Return the row and the number of the Part around a row."""
        index = bisect_right(parts, row, key=lambda part: part[0])
        return parts[index - 1] if index else (-1, 0)

    known_items = {
        heading.row: (find_part(heading.row)[1], item)
        for heading in known
        if (item := parse_item(heading.title))
    }
    candidates = [
        NumberedRow(index, (find_part(index)[1], *item))
        for index, item in found
        if (find_part(index)[1], item) not in known_items.values()
        and (len(known_items) < _COUNT_MIN or is_marked(rows[index]))
    ]
    chain = select_rising_sequence(candidates)
    are_marked = all(is_marked(rows[item.row]) for item in chain)
    if not are_marked and max(len(known_items), len(chain)) < _COUNT_MIN:
        return []
    items = [make_heading(rows, item.row, 2) for item in chain]
    # The row of a Part directly above its first Item is a heading too.
    above = {find_part(row)[0] for row in [*known_items, *(item.row for item in items)]}
    above -= {-1, *(heading.row for heading in known)}
    return items + [DetectedHeading(row=row, level=1, title=rows[row].text) for row in above]


def _detect_end_matter(rows: Sequence[PageRow], after: int) -> Iterator[DetectedHeading]:
    """Yield the headings of signatures and exhibits from row `after`, where the last Item is."""
    for index, row in iter_short_rows(rows):
        if index >= after and row.number < _TITLE_TOP_ROWS and _ends_items(row.text):
            level = 3 if _EXHIBIT.fullmatch(row.text) else 2
            yield DetectedHeading(row=index, level=level, title=row.text)


def _ends_items(title: str) -> bool:
    return _EXHIBIT.fullmatch(title) is not None or _END_MATTER.fullmatch(title) is not None


def _detect_notes(rows: Sequence[PageRow], known: Sequence[DetectedHeading]) -> list[DetectedHeading]:
    """Return the notes to statements in order, and the heading above them all (if any), with level 0.

    Some companies write "Note 1. Revenue" above a note, others "1. Revenue". The latter counts only below a
    heading such as "Notes to Financial Statements", up to the next of the `known` Items.
    """
    short = list(iter_short_rows(rows))
    at_top = ((index, row) for index, row in short if row.number < _TITLE_TOP_ROWS)
    titles = [index for index, row in at_top if _NOTES_TITLE.fullmatch(row.text)]
    marked = [(index, row) for index, row in short if is_marked(row)]
    chain = _select_notes(_NOTE_TITLE, marked)
    if len(chain) < _COUNT_MIN and titles:
        start = titles[0]
        items = (heading.row for heading in known if heading.row > start and parse_item(heading.title))
        end = min(items, default=len(rows))
        chain = _select_notes(_NUMBERED_NOTE, [(index, row) for index, row in marked if start < index < end])
    if len(chain) < _COUNT_MIN:
        return []
    notes = [make_heading(rows, note.row, 0) for note in chain]
    above = [DetectedHeading(row=row, level=0, title=rows[row].text) for row in titles if row < notes[0].row]
    return above[-1:] + notes


def _select_notes(pattern: re.Pattern[str], rows: Sequence[tuple[int, PageRow]]) -> list[NumberedRow]:
    matches = ((index, pattern.match(row.text)) for index, row in rows)
    return select_rising_sequence([NumberedRow(index, (int(match[1]),)) for index, match in matches if match])


def _detect_statements(
    rows: Sequence[PageRow], known: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]
) -> Iterator[DetectedHeading]:
    """Yield titles of statements at the top of pages with tables, with level 0 (see `merge_headings`).

    Titles of other tables look the same. Those in the `notes` and in Items that have other contents do not
    count.
    """
    containers = [heading for heading in known if parse_item(heading.title) or _ends_items(heading.title)]
    starts = [heading.row for heading in containers]
    pages_with_tables = {row.page for row in rows if row.is_in_table}
    for index, row in iter_short_rows(rows):
        is_at_top = row.number < _TITLE_TOP_ROWS and row.page in pages_with_tables
        if is_at_top and _STATEMENT.fullmatch(row.text):
            container = bisect_right(starts, index) - 1
            name = containers[container].title if container >= 0 else ""
            end = starts[container + 1] if container + 1 < len(starts) else len(rows)
            is_in_notes = len(notes) > 1 and notes[1].row < index and notes[-1].row < end
            if not is_in_notes and (not parse_item(name) or _HOLDS_STATEMENTS.search(name)):
                yield DetectedHeading(row=index, level=0, title=row.text)


def _nest(headings: Sequence[DetectedHeading], notes: Sequence[DetectedHeading]) -> None:
    """Change the levels of headings so that the parts of a report are nested as a person would nest them.

    Parts are on the top level. The statements of an Item and the heading of its notes have the same level,
    and the notes are below. Other headings move with the one above them, and no level is left out.
    """
    note_rows = {note.row for note in notes}
    path: list[tuple[int, int]] = []  # the level before and now of each heading around the current one
    has_parts = False
    base = 0  # level of statements
    for heading in headings:
        level = heading.level
        title = heading.title
        is_item = parse_item(title) is not None
        is_container = is_item or _ends_items(title)
        new = 0
        if is_container:
            new = 2 if has_parts and is_item else 0
        elif parse_part(title):
            new = 1
            base = 0
            has_parts = True
        elif base and _NOTES_TITLE.fullmatch(title):
            new = base
        elif base and heading.row in note_rows:
            new = base + 1
        elif base and _STATEMENT.fullmatch(title):
            new = base
        while path and (path[-1][1] >= new if new else path[-1][0] >= level):
            path.pop()
        heading.level = new or (path[-1][1] + 1 if path else level)
        path.append((level, heading.level))
        if is_container:
            base = heading.level if _END_MATTER.fullmatch(title) else heading.level + 1
