"""Contents pages: the titles that they list, by their links first and by printed numbers second."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from roamtui.sources.convert.pdf.outline import Entry, PageText, read_item, read_part, split_number, squeeze
from roamtui.sources.convert.pdf.pdfium import Link
from roamtui.sources.convert.pdf.rows import Row
from roamtui.sources.convert.pdf.running_heads import PrintedNumbers, read_label

_LINKED_MIN = 4
_NUMBERED_MIN = 5
_EARLY_PAGES = 12
_HEAD_ROWS = 6
_HEADED = re.compile(
    r"\W*(?:table of contents|contents|index(?: to .{0,80})?|inhalt(?:sverzeichnis)?|sommaire|table des matières"
    r"|índice|indice|目次|目录|차례|목차|فهرست(?: مطالب)?|المحتويات|جدول المحتويات|list of .{3,40})\W*",
    re.IGNORECASE,
)
_LEADER = re.compile(r"[\s.…_·]*(?:\.\s?){2,}[\s.…_·]*|[\s…_·]{2,}$|\s+$")
_TRAILING = re.compile(r"(.*?\D)(?:\s|\.\s?|…)((?:[A-Z]{1,2}-)?\d{1,4}|[ivxl]{1,6})$")
_RISING_SHARE = 0.8
_INDENT_NEAR = 5.0
_LEVEL_MAX = 6
_OPEN_END = re.compile(r"(?:,|\b(?:and|of|the|for|to|in|on|with|or|a|by))$", re.IGNORECASE)
_TITLE_MAX = 300


@dataclass(slots=True)
class _Line:
    """A row of a contents page."""

    title: str
    label: str
    page: int | None
    x0: float
    is_bold: bool
    is_linked: bool


def find_contents(pages: Sequence[PageText], printed: PrintedNumbers) -> tuple[list[Entry], set[tuple[int, int]]]:
    """Return what the contents pages of a file list, and the pages and rows on which they do.

    All rows of the first list; of a later one those with a page, because the title of what it is in may stand there.
    """
    entries: list[Entry] = []
    own: set[tuple[int, int]] = set()
    group: list[_Line] = []
    group_start = -1
    for number in range(len(pages) + 1):
        lines = _read_page(pages, number, printed) if number < len(pages) else None
        if lines is None:
            if group:
                _add_group(entries, group, group_start)
            group = []
            continue
        if not group:
            group_start = number
        own.update((number, row) for row, line in enumerate(lines) if not entries or line.page is not None)
        group += lines
    return entries, own


def _read_page(pages: Sequence[PageText], number: int, printed: PrintedNumbers) -> list[_Line] | None:
    """Return the rows of a page if it lists contents."""
    page = pages[number]
    is_headed = any(_HEADED.fullmatch(row.text) for row in page.rows[:_HEAD_ROWS])
    is_early = number < max(_EARLY_PAGES, len(pages) // 25)
    onwards = [link for link in page.links if link.page > number]
    if len(onwards) < _LINKED_MIN and not is_early and not is_headed:
        return None
    lines = [_read_line(row, onwards, partial(printed.find, after=number)) for row in page.rows]
    linked = sum(line.is_linked for line in lines)
    labelled = sum(line.page is not None and bool(line.label) for line in lines)
    if linked >= _LINKED_MIN and (labelled >= _LINKED_MIN or linked * 2 >= len(lines)):
        pass
    elif labelled < _NUMBERED_MIN or not (is_headed or (is_early and labelled * 2 >= len(lines))):
        return None
    targets = [line.page for line in lines if line.page is not None]
    rising = sum(one <= two for one, two in pairwise(targets))
    if rising < _RISING_SHARE * (len(targets) - 1) or len(set(targets)) < 3:
        return None
    return lines


def _read_line(row: Row, links: Sequence[Link], find: Callable[[str], int | None]) -> _Line:
    middle = (row.top + row.bottom) / 2
    own = [link.page for link in links if link.top <= middle <= link.bottom]
    title, label = row.text[:_TITLE_MAX], ""
    if len(row.cells) > 1 and read_label(row.cells[-1].text):
        label = row.cells[-1].text
        title = " ".join(cell.text for cell in row.cells[:-1])
    else:
        match = _TRAILING.fullmatch(title)
        if match and (own or match[2][-1].isdigit()):
            title, label = match[1], match[2]
    page = own[0] if own else find(label) if label else None
    return _Line(_LEADER.sub(" ", title[:_TITLE_MAX]).strip(), label, page, row.x0, row.font.is_bold, bool(own))


def _add_group(entries: list[Entry], lines: Sequence[_Line], page: int) -> None:
    """Add what contents pages that follow each other list; a later list hangs below what holds it."""
    above = next((entry.level for entry in reversed(entries) if entry.page is not None and entry.page <= page), 0)
    known = {(squeeze(entry.title), entry.page) for entry in entries}
    joined = list(_join_wrapped(lines))
    for line, level in zip(joined, _find_levels(joined), strict=True):
        if (squeeze(line.title), line.page) not in known:
            entries.append(Entry(title=line.title, level=min(_LEVEL_MAX, above + level), page=line.page))


def _join_wrapped(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Yield whole titles; groups without a page of their own too."""
    pending: _Line | None = None
    has_begun = False
    for line in lines:
        if not any(map(str.isalpha, line.title)) or _HEADED.fullmatch(line.title):
            continue
        has_begun = has_begun or line.page is not None or read_part(line.title) is not None
        if not has_begun:
            continue
        if pending is not None and _goes_on(pending, line):
            pending.title = f"{pending.title} {line.title}"
            pending.label = pending.label or line.label
            pending.page = line.page if pending.page is None else pending.page
            continue
        if pending is not None:
            yield pending
        pending = line
    if pending is not None and (pending.page is not None or read_part(pending.title)):
        yield pending


def _goes_on(line: _Line, after: _Line) -> bool:
    """Return whether the title of a row goes on in the next."""
    if read_item(after.title) or read_part(after.title) or (read_part(line.title) and not read_item(line.title)):
        return False
    if after.label and line.label:
        return False
    is_open = _OPEN_END.search(line.title) is not None or after.title[:1].islower()
    if line.is_linked and after.is_linked:
        return line.page == after.page and (is_open or not split_number(after.title)[0])
    if line.page is None:
        has_number = read_item(line.title) is not None or split_number(line.title)[0] != ""
        return is_open or (has_number and not split_number(after.title)[0])
    return after.page is None and is_open


def _find_levels(lines: Sequence[_Line]) -> list[int]:
    """Return the level of each title: Parts and Items by what they are, others by their numbers, else by indent."""
    items = [line.x0 for line in lines if read_item(line.title)]
    if len(items) >= 3:
        indent = min(items)
        return [
            1
            if read_part(line.title) and not read_item(line.title)
            else 2
            if read_item(line.title) or line.x0 <= indent + _INDENT_NEAR
            else 3
            for line in lines
        ]
    indents: list[float] = []
    for x0 in sorted(line.x0 for line in lines):
        if not indents or x0 > indents[-1] + _INDENT_NEAR:
            indents.append(x0)
    keys = [(sum(line.x0 > x0 + _INDENT_NEAR for x0 in indents), not line.is_bold) for line in lines]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)), start=1)}
    depths = [_find_depth(line.title) for line in lines]
    numbered = sum(depth > 0 for depth in depths)
    if max(depths, default=0) > 1 and numbered * 2 >= len(lines):
        return [depth or 1 for depth in depths]
    return [min(_LEVEL_MAX, ranks[key]) for key in keys]


def _find_depth(title: str) -> int:
    match = re.match(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*(?=[.\s])", title)
    return match[0].count(".") + 1 if match and match[0][-1].isdigit() else 0
