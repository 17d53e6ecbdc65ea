"""Read contents pages, and find listed titles and bookmarks on the pages of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from rapidfuzz import fuzz

from roamtui.sources.convert.pdf.outline import (
    DetectedHeading,
    PageText,
    join_rows,
    make_comparison_key,
    parse_item,
    parse_part,
    split_number,
)
from roamtui.sources.convert.pdf.pdfium import TocEntry
from roamtui.sources.convert.pdf.running_heads import PrintedNumbers, find_page_by_label, parse_label

_LINKED_MIN = 4
_NUMBERED_MIN = 5
_EARLY_PAGES = 12
_HEAD_ROWS = 6
_CONTENTS_TITLE = re.compile(
    r"\W*(?:table of contents|contents|index(?: to .{0,80})?|inhalt(?:sverzeichnis)?|sommaire|table des matières"
    r"|índice|indice|目次|目录|차례|목차|فهرست(?: مطالب)?|المحتويات|جدول المحتويات|list of .{3,40})\W*",
    re.IGNORECASE,
)
_LEADER = " .…_·"
_TRAILING = re.compile(r"(.*?\D)(?:\s|\.\s?|…)((?:[A-Z]{1,2}-)?\d{1,4}|[ivxl]{1,6})$")
_SECTION_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*(?=[.\s])")
_RISING_SHARE = 0.8
"""Share of listed pages that must not be before the page listed above: contents are in order, an index is not."""
_INDENT_NEAR = 5.0
_TITLE_MAX = 300
_TITLE_ROWS_MAX = 4
_RATIO_MIN = 91
_LONGER_MAX = 1.6
"""Longest candidate rows, relative to the title."""
_NEAR_PAGES = (0, 1, -1)
"""Pages to search, relative to the listed one: links often lead to the end of the page before."""
_GROUP_PAGES_MAX = 40
_WITHOUT_NUMBER, _SIMILAR, _BOLD, _FAR = 90.0, 80.0, 6.0, 7.0
"""Scores of a match without the title's number and of a similar one, bonus for bold type, penalty for another page."""
_TAIL = re.compile(
    r"(?<!\s)(?:\s+for (?:the )?(?:[\w-]+ ){0,4}(?:years?|months?|quarters?|periods?)\b|\s+(?:at|as of) [A-Za-z]+ \d"
    r"|\s*\().*",
    re.IGNORECASE,
)
"""End of a statement's listed title that its page may lack: years, dates, units."""
_HEAD_LENGTH_MIN = 10


@dataclass(slots=True)
class _ContentsLine:
    title: str
    label: str
    page: int | None
    x0: float
    is_bold: bool
    is_linked: bool


def detect_contents(pages: Sequence[PageText], printed: PrintedNumbers) -> tuple[list[TocEntry], set[tuple[int, int]]]:
    """Return the entries of all contents pages, and the page and row numbers of the rows that belong to them.

    All rows of the first list belong to it; of a later list, only the rows that name a page, because the list may be
    on the same page as the title of its section.
    """
    entries: list[TocEntry] = []
    contents_rows: set[tuple[int, int]] = set()
    lines_by_page = [(number, _read_page(pages, number, printed)) for number in range(len(pages))]
    for has_lines, group in groupby(lines_by_page, lambda page: page[1] is not None):
        if not has_lines:
            continue
        lines: list[_ContentsLine] = []
        for number, page_lines in group:
            contents_rows.update(
                (number, row) for row, line in enumerate(page_lines or ()) if not entries or line.page is not None
            )
            lines += page_lines or ()
        above = next((entry.level for entry in reversed(entries) if entry.page is not None and entry.page <= number), 0)
        joined = list(_join_wrapped(lines))
        entries += [
            TocEntry(title=line.title, level=above + level, page=line.page)
            for line, level in zip(joined, _assign_levels(joined), strict=True)
            if line.page is None or line.page < len(pages)
        ]
    return entries, contents_rows


def _read_page(pages: Sequence[PageText], number: int, printed: PrintedNumbers) -> list[_ContentsLine] | None:
    """Return the rows of a contents page, or None if the page is not one."""
    page = pages[number]
    is_headed = any(_CONTENTS_TITLE.fullmatch(row.text) for row in page.rows[:_HEAD_ROWS])
    is_early = number < _EARLY_PAGES
    forward_links = [link for link in page.links if link.page > number]
    if len(forward_links) < _LINKED_MIN and not is_early and not is_headed:
        return None
    lines = []
    for row in page.rows:
        middle = (row.top + row.bottom) / 2
        linked_pages = [link.page for link in forward_links if link.top <= middle <= link.bottom]
        title, label = row.text[:_TITLE_MAX], ""
        if len(row.cells) > 1 and parse_label(row.cells[-1].text):
            label = row.cells[-1].text
            title = " ".join(cell.text for cell in row.cells[:-1])
        else:
            match = _TRAILING.fullmatch(title)
            if match and (linked_pages or match[2][-1].isdigit()):
                title, label = match[1], match[2]
        target = linked_pages[0] if linked_pages else find_page_by_label(printed, label, number) if label else None
        title = title[:_TITLE_MAX].strip(_LEADER)
        lines.append(_ContentsLine(title, label, target, row.x0, row.font.is_bold, bool(linked_pages)))
    linked = sum(line.is_linked for line in lines)
    labelled = sum(line.page is not None and bool(line.label) for line in lines)
    if linked >= _LINKED_MIN and (labelled >= _LINKED_MIN or linked * 2 >= len(lines)):
        pass
    elif labelled < _NUMBERED_MIN or not (is_headed or (is_early and labelled * 2 >= len(lines))):
        return None
    targets = [line.page for line in lines if line.page is not None]
    rising = sum(first <= second for first, second in pairwise(targets))
    if rising < _RISING_SHARE * (len(targets) - 1) or len(set(targets)) < 3:
        return None
    return lines


def _join_wrapped(lines: Sequence[_ContentsLine]) -> Iterator[_ContentsLine]:
    """Yield lines with wrapped titles joined, including groups without a page."""
    pending: _ContentsLine | None = None
    has_started = False
    for line in lines:
        if not any(map(str.isalpha, line.title)) or _CONTENTS_TITLE.fullmatch(line.title):
            continue
        has_started = has_started or line.page is not None or parse_part(line.title) is not None
        if not has_started:
            continue
        if pending is not None and _is_continued(pending, line):
            pending.title = f"{pending.title} {line.title}"
            pending.label = pending.label or line.label
            pending.page = line.page if pending.page is None else pending.page
            continue
        if pending is not None:
            yield pending
        pending = line
    if pending is not None and (pending.page is not None or parse_part(pending.title)):
        yield pending


def _is_continued(line: _ContentsLine, after: _ContentsLine) -> bool:
    """Check whether the title of a line continues on the next one."""
    if parse_item(after.title) or parse_part(after.title) or (parse_part(line.title) and not parse_item(line.title)):
        return False
    if after.label and line.label:
        return False
    is_open = after.title[:1].islower()
    if line.is_linked and after.is_linked:
        return line.page == after.page and (is_open or not split_number(after.title)[0])
    if line.page is None:
        has_number = parse_item(line.title) is not None or split_number(line.title)[0] != ""
        return is_open or (has_number and not split_number(after.title)[0])
    return after.page is None and is_open


def _assign_levels(lines: Sequence[_ContentsLine]) -> list[int]:
    """Return the level of each title.

    Levels come from the Parts and Items of a company's annual report, else from section numbers, else from indents and
    bold type.
    """
    items = [line.x0 for line in lines if parse_item(line.title)]
    if len(items) >= 3:
        indent = min(items)
        return [
            1
            if parse_part(line.title) and not parse_item(line.title)
            else 2
            if parse_item(line.title) or line.x0 <= indent + _INDENT_NEAR
            else 3
            for line in lines
        ]
    indents: list[float] = []
    for x0 in sorted(line.x0 for line in lines):
        if not indents or x0 > indents[-1] + _INDENT_NEAR:
            indents.append(x0)
    keys = [(sum(line.x0 > x0 + _INDENT_NEAR for x0 in indents), not line.is_bold) for line in lines]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)), start=1)}
    numbers = [_SECTION_NUMBER.match(line.title) for line in lines]
    depths = [number[0].count(".") + 1 if number and number[0][-1].isdigit() else 0 for number in numbers]
    numbered = sum(depth > 0 for depth in depths)
    if max(depths, default=0) > 1 and numbered * 2 >= len(lines):
        return [depth or 1 for depth in depths]
    return [ranks[key] for key in keys]


class TitleAnchorer:
    """Finds listed titles on the pages, in order."""

    def __init__(self, pages: Sequence[PageText], skipped: set[tuple[int, int]]) -> None:
        """Set up a search in all pages, except in `skipped`: page and row numbers of contents lists."""
        self._pages = pages
        self._taken = set(skipped)
        self._keys_by_page: dict[int, list[tuple[str, str, str]]] = {}
        """Three keys for each row: all of it, without its number, and its first cell without number and tail."""

    def anchor(self, entries: Sequence[TocEntry]) -> list[DetectedHeading]:
        """Return a heading for each entry, except for entries that have no page and are not found."""
        found: list[DetectedHeading] = []
        for index, entry in enumerate(entries):
            if entry.page is None:
                before = found[-1].page if found else 0
                after = next((other.page for other in entries[index + 1 :] if other.page is not None), -1)
                near = range(after, max(before, after - _GROUP_PAGES_MAX) - 1, -1)
                matches = [match for page in near for match in self._match(entry, page) if match[0] >= _WITHOUT_NUMBER]
            else:
                matches = [
                    (score - _FAR * abs(away), page, row, count)
                    for away in _NEAR_PAGES
                    for score, page, row, count in self._match(entry, entry.page + away)
                ]
                matches.sort(key=lambda match: -match[0])
            if matches:
                _, page, row, count = matches[0]
                text = join_rows(self._pages[page].rows[row : row + count])
                # The title as written on the page, unless the list says more.
                head = _TAIL.sub("", entry.title)
                if entry.page is None or (parse_item(entry.title) and not parse_item(text)):
                    text = entry.title
                elif text.startswith(head) and make_comparison_key(text) != make_comparison_key(entry.title):
                    text = head
                found.append(DetectedHeading(page=page, row=row, count=count, level=entry.level, title=text))
                self._taken.update((page, row + number) for number in range(count))
            elif entry.page is not None:
                rows = self._pages[entry.page].rows
                # The title is not on the page, for example in a picture: the heading goes before the entry's position.
                row = next((index for index, row in enumerate(rows) if entry.y is None or row.bottom >= entry.y), 0)
                found.append(DetectedHeading(page=entry.page, row=row, count=0, level=entry.level, title=entry.title))
        return found

    def _match(self, entry: TocEntry, page: int) -> list[tuple[float, int, int, int]]:
        """Return score, page, row and number of rows of each match for a title on a page, best first."""
        if not 0 <= page < len(self._pages):
            return []
        if page not in self._keys_by_page:
            self._keys_by_page[page] = [
                (
                    make_comparison_key(row.text),
                    make_comparison_key(split_number(row.text)[1]),
                    make_comparison_key(_TAIL.sub("", split_number(row.cells[0].text)[1])),
                )
                for row in self._pages[page].rows
            ]
        keys = self._keys_by_page[page]
        rest = split_number(entry.title)[1]
        whole, bare, head = map(make_comparison_key, (entry.title, rest, _TAIL.sub("", rest)))
        starts = {whole[:2], bare[:2], bare[:2].replace("ff", "f")}
        found = []
        for row, (row_whole, row_bare, row_head) in enumerate(keys):
            # Comparing the first two letters first makes this fast enough for long files.
            if (page, row) in self._taken or not row_whole or not {row_whole[:2], row_bare[:2]} & starts:
                continue
            best, best_count = (_SIMILAR, 1) if row_head == head and len(head) >= _HEAD_LENGTH_MIN else (0.0, 0)
            for count in range(1, min(_TITLE_ROWS_MAX, len(keys) - row) + 1):
                joined = row_whole + "".join(key for key, _, _ in keys[row + 1 : row + count])
                if count > 1 and len(joined) > len(whole) * _LONGER_MAX + 12:
                    break
                if joined == whole:
                    score = 100.0
                elif bare in (joined, row_bare + joined[len(row_whole) :]):
                    score = _WITHOUT_NUMBER
                else:
                    score = _SIMILAR if fuzz.ratio(joined, whole, score_cutoff=_RATIO_MIN) else 0.0
                if score > best:
                    best, best_count = score, count
            if best:
                is_bold = self._pages[page].rows[row].font.is_bold
                found.append((best + _BOLD * is_bold - 0.02 * row, page, row, best_count))
        return sorted(found, key=lambda match: -match[0])
