"""Headings of any PDF: merged from several sources, or detected by their numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.titles import (
    CONTINUED,
    count_similar_rows,
    is_marked,
    join_rows,
)
from roamtui.text import fold_letters

_LENGTH_MAX = 150
"""Maximum length of a title, in characters."""
_HEADING_ROWS_MAX = 3
_LEADING_MAX = 1.6
"""Maximum distance between two rows of a title with a number, in letter heights."""
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])")
_COUNT_MIN = 3
"""Minimum number of numbered titles. Fewer are taken for mentions in the text."""
_CHARACTERS_PER_TITLE_MIN = 200
"""Minimum characters of text for each numbered title. Lines of a form are numbered more densely."""


class DetectedHeading(Struct, kw_only=True):
    """A heading."""

    row: int
    """Index, among the rows of all pages, of the row before which the heading is inserted."""
    count: int = 1
    """Number of rows of the heading; 0 if its title is not in the text."""
    level: int
    title: str
    style: tuple[float, ...] = ()
    """Strength of a heading that was detected by typography. A greater tuple means a higher level."""

    @property
    def end(self) -> int:
        """Index of the row after the heading."""
        return self.row + self.count


def merge_headings(kept: Sequence[DetectedHeading], more: Iterable[DetectedHeading]) -> list[DetectedHeading]:
    """Merge the headings `more` into the headings `kept`, except for those whose rows are taken."""
    taken = {row for heading in kept for row in range(heading.row, heading.end)}
    inserted = {heading.row: fold_letters(heading.title) for heading in kept if not heading.count}
    free = [
        heading
        for heading in more
        if taken.isdisjoint(range(heading.row, max(heading.row + 1, heading.end)))
        and fold_letters(heading.title) not in inserted.get(heading.row, "")
    ]
    return sorted([*kept, *free], key=lambda heading: heading.row)


def make_heading(rows: Sequence[PageRow], row: int, level: int, *, is_title: bool = False) -> DetectedHeading:
    """Make a heading of a `row` and up to two more rows that continue its title.

    Only the title of a marked row continues, unless `is_title` is true.
    """
    end = row + (_HEADING_ROWS_MAX if is_title or is_marked(rows[row]) else 1)
    count = count_similar_rows(rows, row, end, leading_max=_LEADING_MAX)
    return DetectedHeading(row=row, count=count, level=level, title=join_rows(rows[row : row + count]))


class NumberedRow(NamedTuple):
    """A row with a number, which may be a heading."""

    row: int
    number: tuple[int | str, ...]
    weight: float = 1.0
    """How likely it is a heading."""


class _Sequence(Struct, frozen=True, eq=False):
    """The heaviest rising sequence that ends in a row."""

    last: NumberedRow
    weight: float
    before: _Sequence | None


def select_rising_sequence(candidates: Iterable[NumberedRow]) -> list[NumberedRow]:
    """Return the candidates with ascending numbers that have the greatest total weight."""
    best: list[_Sequence] = []
    """The best sequence for each last number. Both numbers and weights ascend."""
    for candidate in candidates:
        index = end = bisect_left(best, candidate.number, key=lambda sequence: sequence.last.number)
        before = best[index - 1] if index else None
        sequence = _Sequence(candidate, candidate.weight + (before.weight if before else 0), before)
        while end < len(best) and best[end].weight <= sequence.weight:
            end += 1
        if end > index or end == len(best) or best[end].last.number != candidate.number:
            best[index:end] = [sequence]
    selected: list[NumberedRow] = []
    current = best[-1] if best else None
    while current is not None:
        selected.append(current.last)
        current = current.before
    return selected[::-1]


def detect_numbered_headings(rows: Sequence[PageRow], rate: Callable[[int], float]) -> list[DetectedHeading]:
    """Return numbered titles ("3.2 Types and values") in ascending order.

    `rate` judges a row by its looks: 0 if it cannot be a title, at least 1 if it must be one.
    """
    candidates = []
    for index, row in enumerate(rows):
        if len(row.text) > _LENGTH_MAX or row.is_listed or CONTINUED.search(row.text):
            continue
        if (match := _NUMBERED_TITLE.match(row.text)) and (score := rate(index)):
            candidates.append(NumberedRow(index, tuple(map(int, match[1].split("."))), score))
    titles = select_rising_sequence(candidates)
    is_list = len(titles) * _CHARACTERS_PER_TITLE_MIN > sum(len(row.text) for row in rows)
    if len(titles) < _COUNT_MIN or is_list:
        return []
    return [make_heading(rows, title.row, len(title.number), is_title=title.weight >= 1) for title in titles]
