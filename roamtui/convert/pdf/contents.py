"""Detects contents pages, and reads their entries."""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from roamtui.convert.list_numbers import format_list_number
from roamtui.convert.pdf.pdfium import TocEntry
from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.running_heads import PrintedNumbers, find_page_by_label
from roamtui.convert.pdf.tables import PageText
from roamtui.convert.pdf.titles import has_number, strip_number

_LINKED_MIN = 4
"""Minimum number of rows with links on a contents page."""
_LABELLED_MIN = 5
"""Minimum number of rows with page numbers on a contents page without links."""
EARLY_PAGES = 12
"""Number of pages at the start of a file where a table of contents needs no heading such as "Contents"."""
_HEAD_ROWS = 6
"""Number of rows at the top of a page that are searched for a heading such as "Contents"."""
CONTENTS_TITLE = re.compile(
    r"\W*(?:table of contents|contents|index(?: to .{0,80})?|inhalt(?:sverzeichnis)?|sommaire"
    r"|table des matières|índice|indice|目次|目录"
    r"|차례|목차|فهرست(?: مطالب)?|المحتويات|جدول المحتويات|list of .{3,40})\W*",
    re.IGNORECASE,
)
_LEADERS = " .…_·"
"""Characters between a listed title and its page number."""
_LABEL = re.compile(r"(?:[A-Z]{1,2}-)?\d{1,4}|[ivxl]{1,6}")
"""A printed page number."""
_TRAILING_LABEL = re.compile(rf"(.*?\D)(?:\s|\.\s?|…)({_LABEL.pattern})$")
_SECTION_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*(?=[.\s])")
_RISING_SHARE = 0.8
"""Minimum share of entries whose page is not before that of the entry above. An index has fewer."""
_INDENT_TOLERANCE = 5.0
"""Maximum difference between the left edges of titles with the same indent, in points."""
_TITLE_LENGTH_MAX = 300


class _ContentsLine(Struct):
    title: str
    label: str
    page: int | None
    x0: float
    is_linked: bool


def detect_contents(pages: Sequence[PageText], printed: PrintedNumbers) -> list[TocEntry]:
    """Return the entries of all contents pages, and mark the rows that belong to them.

    All rows on the pages of the first table of contents belong to it. On the pages of later ones, only rows
    with a page number do, because other rows there, such as a section's title, may be text.
    """
    entries: list[TocEntry] = []
    lines: list[_ContentsLine] = []
    for number, page in enumerate([*pages, PageText([], [])]):
        page_lines = _read_contents_page(page, number, printed, continues=bool(lines))
        for row, line in zip(page.rows, page_lines, strict=False):
            row.is_listed = not entries or line.page is not None
        if lines and not page_lines:
            above = next((entry.level for entry in reversed(entries) if entry.page < number), 0)
            joined = _join_wrapped(lines, is_first=not entries)
            for index in _find_parts(joined):
                if joined[index].page is None:
                    joined[index].page = next((line.page for line in joined[index + 1 :]), None)
            joined = [line for line in joined if line.page is not None]
            entries += [
                TocEntry(
                    title=line.title, level=above + level, page=_correct_page(line.page, line.label, printed)
                )
                for line, level in zip(joined, _assign_levels(joined), strict=True)
                if line.page is not None and line.page < len(pages)
            ]
            lines = []
        lines += page_lines
    return entries


def _read_contents_page(
    page: PageText, number: int, printed: PrintedNumbers, *, continues: bool
) -> list[_ContentsLine]:
    """Return the rows of a contents page, or an empty list for any other page.

    `continues` says whether the page before is a contents page.
    """
    is_headed = any(CONTENTS_TITLE.fullmatch(row.text) for row in page.rows[:_HEAD_ROWS])
    is_early = number < EARLY_PAGES or continues
    forward_links = [link for link in page.links if link.page > number]
    if len(forward_links) < _LINKED_MIN and not is_early and not is_headed:
        return []
    lines = []
    for row in page.rows:
        middle = (row.top + row.bottom) / 2
        linked_pages = [link.page for link in forward_links if link.top <= middle <= link.bottom]
        title, label = _split_label(row)
        title = title[:_TITLE_LENGTH_MAX].strip(_LEADERS)
        target = linked_pages[0] if linked_pages else find_page_by_label(printed, label, number)
        lines.append(_ContentsLine(title, label, target, row.x0, bool(linked_pages)))
    linked = sum(line.is_linked for line in lines)
    labelled = sum(line.page is not None and bool(line.label) for line in lines)
    is_linked_list = linked >= _LINKED_MIN and (labelled >= _LINKED_MIN or linked * 2 >= len(lines))
    is_labelled_list = labelled >= _LABELLED_MIN and (is_headed or (is_early and labelled * 2 >= len(lines)))
    targets = [line.page for line in lines if line.page is not None]
    rising = sum(first <= second for first, second in pairwise(targets))
    is_rising = rising >= _RISING_SHARE * (len(targets) - 1)
    return lines if is_rising and (is_linked_list or is_labelled_list) else []


def _correct_page(page: int, label: str, printed: PrintedNumbers) -> int:
    """Return the page after `page` if that has the printed number. Links often lead to a page too early."""
    following = find_page_by_label(printed, label, page)
    return page + 1 if following == page + 1 else page


def _split_label(row: PageRow) -> tuple[str, str]:
    """Split a row into a title and a page number. The number may be a cell of its own."""
    *cells, last = [cell.text for cell in row.cells]
    if cells and _LABEL.fullmatch(last):
        return " ".join(cells), last
    match = _TRAILING_LABEL.fullmatch(row.text)
    return (match[1], match[2]) if match else (row.text, "")


def _join_wrapped(lines: Sequence[_ContentsLine], *, is_first: bool) -> list[_ContentsLine]:
    """Join the lines of each title. `is_first` says whether they belong to the first table of contents."""
    joined: list[_ContentsLine] = []
    for line in lines:
        is_title = any(map(str.isalpha, line.title)) and not CONTENTS_TITLE.fullmatch(line.title)
        is_entry = line.page is not None or (is_first and _has_numeral(line.title, 1))
        if not is_title or not (joined or is_entry):
            continue
        if joined and _is_continued(joined[-1], line):
            joined[-1].title += f" {line.title}"
            joined[-1].label = joined[-1].label or line.label
            joined[-1].page = line.page if joined[-1].page is None else joined[-1].page
        else:
            joined.append(line)
    return joined


def _is_continued(line: _ContentsLine, after: _ContentsLine) -> bool:
    if after.label and line.label:
        return False
    is_lower = after.title[:1].islower()
    if line.is_linked and after.is_linked:
        return line.page == after.page and (is_lower or not has_number(after.title))
    if line.page is None:
        is_numbered_title = strip_number(line.title) != line.title
        return is_lower or (is_numbered_title and not has_number(after.title))
    return after.page is None and is_lower


def _assign_levels(lines: Sequence[_ContentsLine]) -> list[int]:
    """Return the level of each title: from the section numbers, or else from the indents."""
    indents: list[float] = []
    for x0 in sorted(line.x0 for line in lines):
        if not indents or x0 > indents[-1] + _INDENT_TOLERANCE:
            indents.append(x0)
    levels = [sum(line.x0 >= x0 for x0 in indents) for line in lines]
    numbers = [_SECTION_NUMBER.match(line.title) for line in lines]
    depths = [number[0].count(".") + 1 if number and number[0][-1].isdigit() else 0 for number in numbers]
    numbered = sum(depth > 0 for depth in depths)
    if max(depths, default=0) > 1 and numbered * 2 >= len(lines):
        return [depth or 1 for depth in depths]
    parts = _find_parts(lines)
    if parts:
        inside = set(range(parts[0], len(lines))).difference(parts)
        shift = any(levels[index] == 1 for index in inside)
        for index in inside:
            levels[index] += shift
        for index in parts:
            levels[index] = 1
    return levels


def _find_parts(lines: Sequence[_ContentsLine]) -> list[int]:
    """Return the indexes of the titles numbered I, II, III and so on, if no other number is before them.

    Each contains the titles up to the next one, even without an indent. It may be listed without a page.
    """
    parts: list[int] = []
    for index, line in enumerate(lines):
        if _has_numeral(line.title, len(parts) + 1):
            parts.append(index)
        elif not parts and has_number(line.title):
            break
    return parts if len(parts) > 1 else []


def _has_numeral(title: str, number: int) -> bool:
    return re.match(rf"(?:\w+\s+)?{format_list_number(number, 'I')}(?=\W|$)", title) is not None
