"""Merges headings from several sources, and detects headings by their numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.titles import CONTINUED, LENGTH_MAX, ROWS_MAX, Join, count_similar_rows, join_rows
from roamtui.text import normalise_letters

_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=\S*[^\W\d_])")
_COUNT_MIN = 3
"""Minimum number of numbered titles. Fewer are probably mentions in the text."""
_CHARACTERS_PER_TITLE_MIN = 200
"""Minimum characters of text for each numbered title. Lines of a form are numbered more densely."""


_NumberedRow = tuple[tuple[int, ...], int]
"""The number of a row that may be a heading, and the index of the row."""


class DetectedHeading(Struct, kw_only=True):
    """A heading that was found in the rows of a PDF."""

    row: int
    """The heading is inserted before the row with this index among the rows of all pages."""
    count: int = 1
    """Number of rows of the heading; 0 if its title is not in the text."""
    level: int
    title: str
    style: tuple[float, ...] = ()
    """How strongly a heading detected by typography stands out. A greater tuple means a higher level."""

    @property
    def end(self) -> int:
        """Index of the row after the heading."""
        return self.row + self.count


def merge_headings(kept: Sequence[DetectedHeading], more: Iterable[DetectedHeading]) -> list[DetectedHeading]:
    """Merge the headings `more` into the headings `kept`, except for those whose rows are taken."""
    taken = {row for heading in kept for row in range(heading.row, heading.end)}
    inserted = {heading.row: normalise_letters(heading.title) for heading in kept if not heading.count}
    free = [
        heading
        for heading in more
        if taken.isdisjoint(range(heading.row, max(heading.row + 1, heading.end)))
        and normalise_letters(heading.title) not in inserted.get(heading.row, "")
    ]
    return sorted([*kept, *free], key=lambda heading: heading.row)


def detect_numbered_headings(
    rows: Sequence[PageRow], stands_out: Callable[[int], bool], join: Join
) -> list[DetectedHeading]:
    """Return the longest series of numbered titles ("3.2 Types") that ascends, among rows that stand out."""
    candidates = []
    for index, row in enumerate(rows):
        if len(row.text) > LENGTH_MAX or row.is_listed or CONTINUED.search(row.text):
            continue
        if (match := _NUMBERED_TITLE.match(row.text)) and stands_out(index):
            candidates.append((tuple(map(int, match[1].split("."))), index))
    titles = _select_rising(candidates)
    is_list = len(titles) * _CHARACTERS_PER_TITLE_MIN > sum(len(row.text) for row in rows)
    if len(titles) < _COUNT_MIN or is_list:
        return []
    headings = []
    for number, index in titles:
        count = count_similar_rows(rows, index, index + ROWS_MAX)
        title = join_rows(rows[index : index + count], join)
        headings.append(DetectedHeading(row=index, count=count, level=len(number), title=title))
    return headings


def _select_rising(candidates: Sequence[_NumberedRow]) -> list[_NumberedRow]:
    ends: list[int] = []
    """For each length: the index of the candidate with the lowest number that ends such a series."""
    before: list[int] = []
    """For each candidate: the index of the one before it in its series, or -1."""
    for index, (number, _) in enumerate(candidates):
        length = bisect_left(ends, number, key=lambda end: candidates[end][0])
        before.append(ends[length - 1] if length else -1)
        ends[length : length + 1] = [index]
    selected: list[_NumberedRow] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        selected.append(candidates[index])
        index = before[index]
    return selected[::-1]
