"""Read contents pages, and find the titles of contents and bookmarks on the pages of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from msgspec import Struct
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
"""Minimum number of rows with links on a contents page."""
_LABELLED_MIN = 5
"""Minimum number of rows with page numbers on a contents page without links."""
_EARLY_PAGES = 12
"""Number of pages at the start of a file where a table of contents needs no heading such as "Contents"."""
_HEAD_ROWS = 6
"""Number of rows at the top of a page that are searched for a heading such as "Contents"."""
_CONTENTS_TITLE = re.compile(
    r"\W*(?:table of contents|contents|index(?: to .{0,80})?|inhalt(?:sverzeichnis)?|sommaire|table des matières"
    r"|índice|indice|目次|目录|차례|목차|فهرست(?: مطالب)?|المحتويات|جدول المحتويات|list of .{3,40})\W*",
    re.IGNORECASE,
)
_LEADERS = " .…_·"
"""Characters between a listed title and its page number."""
_TRAILING_LABEL = re.compile(r"(.*?\D)(?:\s|\.\s?|…)((?:[A-Z]{1,2}-)?\d{1,4}|[ivxl]{1,6})$")
_SECTION_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*(?=[.\s])")
_RISING_SHARE = 0.8
"""Minimum share of entries that do not go back to an earlier page: contents are in order, an index is not."""
_INDENT_TOLERANCE = 5.0
"""Maximum difference between the left edges of titles with the same indent, in points."""
_TITLE_LENGTH_MAX = 300
_TITLE_ROWS_MAX = 4
_SIMILARITY_MIN = 91
"""Minimum similarity of a listed title and rows of a page, in percent."""
_LENGTH_RATIO_MAX, _LENGTH_SLACK = 1.6, 12
"""Joined rows are compared with a title up to this many times its length, plus this number of characters."""
_PAGE_OFFSETS = (0, 1, -1)
"""Pages to search, relative to the listed one: links often lead to the end of the page before."""
_GROUP_PAGES_MAX = 40
"""Maximum number of pages before the next entry that are searched for the title of a group, if it names no page."""
_SCORE_WITHOUT_NUMBER, _SCORE_SIMILAR = 90.0, 80.0
"""Scores of rows that equal a title except for its number, and of rows that are only similar; equal rows have 100."""
_BOLD_BONUS, _OFFSET_PENALTY, _ROW_PENALTY = 6.0, 7.0, 0.02
"""Changes of a score: for bold type, for each page away from the listed one, and for each row from the top."""
_TITLE_TAIL = re.compile(
    r"(?<!\s)(?:\s+for (?:the )?(?:[\w-]+ ){0,4}(?:years?|months?|quarters?|periods?)\b|\s+(?:at|as of) [A-Za-z]+ \d"
    r"|\s*\().*",
    re.IGNORECASE,
)
"""End of a financial statement's title (years, dates, units), which may be missing on its page."""
_HEAD_LENGTH_MIN = 10
"""A title without its tail is compared with rows only if it has at least this many characters."""


class _ContentsLine(Struct):
    title: str
    label: str
    page: int | None
    x0: float
    is_bold: bool
    is_linked: bool


def detect_contents(pages: Sequence[PageText], printed: PrintedNumbers) -> tuple[list[TocEntry], set[tuple[int, int]]]:
    """Return the entries of all tables of contents, and the page and row numbers of the rows that belong to them.

    All rows on the pages of the first table of contents belong to it. On the pages of later ones, only rows with a page
    number do, because other rows there, such as a section's title, may be text.
    """
    entries: list[TocEntry] = []
    contents_rows: set[tuple[int, int]] = set()
    lines_by_page: list[tuple[int, list[_ContentsLine] | None]] = []
    for number in range(len(pages)):
        continues = bool(lines_by_page) and lines_by_page[-1][1] is not None
        lines_by_page.append((number, _read_contents_page(pages, number, printed, continues=continues)))
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


def _read_contents_page(
    pages: Sequence[PageText], number: int, printed: PrintedNumbers, *, continues: bool
) -> list[_ContentsLine] | None:
    """Return the rows of a contents page, or None for any other page.

    `continues` says whether the page before is a contents page.
    """
    page = pages[number]
    is_headed = any(_CONTENTS_TITLE.fullmatch(row.text) for row in page.rows[:_HEAD_ROWS])
    is_early = number < _EARLY_PAGES or continues
    forward_links = [link for link in page.links if link.page > number]
    if len(forward_links) < _LINKED_MIN and not is_early and not is_headed:
        return None
    lines = []
    for row in page.rows:
        middle = (row.top + row.bottom) / 2
        linked_pages = [link.page for link in forward_links if link.top <= middle <= link.bottom]
        title, label = row.text[:_TITLE_LENGTH_MAX], ""
        if len(row.cells) > 1 and parse_label(row.cells[-1].text):
            label = row.cells[-1].text
            title = " ".join(cell.text for cell in row.cells[:-1])
        else:
            match = _TRAILING_LABEL.fullmatch(title)
            if match and (linked_pages or match[2][-1].isdigit()):
                title, label = match[1], match[2]
        target = linked_pages[0] if linked_pages else find_page_by_label(printed, label, number) if label else None
        title = title[:_TITLE_LENGTH_MAX].strip(_LEADERS)
        lines.append(_ContentsLine(title, label, target, row.x0, row.font.is_bold, bool(linked_pages)))
    linked = sum(line.is_linked for line in lines)
    labelled = sum(line.page is not None and bool(line.label) for line in lines)
    is_linked_list = linked >= _LINKED_MIN and (labelled >= _LINKED_MIN or linked * 2 >= len(lines))
    is_labelled_list = labelled >= _LABELLED_MIN and (is_headed or (is_early and labelled * 2 >= len(lines)))
    if not (is_linked_list or is_labelled_list):
        return None
    targets = [line.page for line in lines if line.page is not None]
    rising = sum(first <= second for first, second in pairwise(targets))
    if rising < _RISING_SHARE * (len(targets) - 1) or len(set(targets)) < 3:
        return None
    return lines


def _join_wrapped(lines: Sequence[_ContentsLine]) -> Iterator[_ContentsLine]:
    """Yield the lines with wrapped titles joined, including the titles of groups, which have no page."""
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
    is_lower = after.title[:1].islower()
    if line.is_linked and after.is_linked:
        return line.page == after.page and (is_lower or not split_number(after.title)[0])
    if line.page is None:
        has_number = parse_item(line.title) is not None or split_number(line.title)[0] != ""
        return is_lower or (has_number and not split_number(after.title)[0])
    return after.page is None and is_lower


def _assign_levels(lines: Sequence[_ContentsLine]) -> list[int]:
    """Return the level of each title.

    The levels come from the Parts and Items of a company's annual report, or else from section numbers, or else from
    indents and bold type.
    """
    item_indents = [line.x0 for line in lines if parse_item(line.title)]
    if len(item_indents) >= 3:
        levels = []
        for line in lines:
            if parse_item(line.title):
                levels.append(2)
            elif parse_part(line.title):
                levels.append(1)
            else:
                levels.append(2 if line.x0 <= min(item_indents) + _INDENT_TOLERANCE else 3)
        return levels
    indents: list[float] = []
    for x0 in sorted(line.x0 for line in lines):
        if not indents or x0 > indents[-1] + _INDENT_TOLERANCE:
            indents.append(x0)
    keys = [(sum(line.x0 > x0 + _INDENT_TOLERANCE for x0 in indents), not line.is_bold) for line in lines]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)), start=1)}
    numbers = [_SECTION_NUMBER.match(line.title) for line in lines]
    depths = [number[0].count(".") + 1 if number and number[0][-1].isdigit() else 0 for number in numbers]
    numbered = sum(depth > 0 for depth in depths)
    if max(depths, default=0) > 1 and numbered * 2 >= len(lines):
        return [depth or 1 for depth in depths]
    return [ranks[key] for key in keys]


class TitleAnchorer:
    """Finds the titles of contents and bookmarks on the pages, in order."""

    def __init__(self, pages: Sequence[PageText], skipped: set[tuple[int, int]]) -> None:
        """Prepare to search all rows except for `skipped`, which has (page, row) of each row of the contents."""
        self._pages = pages
        self._skipped = skipped
        self._taken = set(skipped)
        self._keys_by_page: dict[int, list[tuple[str, str, str]]] = {}
        """Keys for comparing each row: whole, without its number, and only its first cell without number and tail."""

    def anchor(self, entries: Sequence[TocEntry]) -> list[DetectedHeading]:
        """Return a heading for each entry. Entries that have no page and are not found are left out."""
        headings: list[DetectedHeading] = []
        for index, entry in enumerate(entries):
            if entry.page is None:
                before = headings[-1].page if headings else 0
                after = next((other.page for other in entries[index + 1 :] if other.page is not None), -1)
                near = range(after, max(before, after - _GROUP_PAGES_MAX) - 1, -1)
                found_near = (match for page in near for match in self._match(entry, page))
                matches = [match for match in found_near if match[0] >= _SCORE_WITHOUT_NUMBER]
            else:
                matches = [
                    (score - _OFFSET_PENALTY * abs(offset), page, row, count)
                    for offset in _PAGE_OFFSETS
                    for score, page, row, count in self._match(entry, entry.page + offset)
                ]
                matches.sort(key=lambda match: -match[0])
            if matches:
                _, page, row, count = matches[0]
                text = join_rows(self._pages[page].rows[row : row + count])
                # The heading gets the title as written on the page, unless the list says more.
                head = _TITLE_TAIL.sub("", entry.title)
                if entry.page is None or (parse_item(entry.title) and not parse_item(text)):
                    text = entry.title
                elif text.startswith(head) and make_comparison_key(text) != make_comparison_key(entry.title):
                    text = head
                headings.append(DetectedHeading(page=page, row=row, count=count, level=entry.level, title=text))
                self._taken.update((page, row + number) for number in range(count))
            elif entry.page is not None and not self._is_contents_page(entry):
                rows = self._pages[entry.page].rows
                # The title may be part of a picture, so the heading is inserted at the position that the entry names.
                row = next((index for index, row in enumerate(rows) if entry.y is None or row.bottom >= entry.y), 0)
                headings.append(
                    DetectedHeading(page=entry.page, row=row, count=0, level=entry.level, title=entry.title)
                )
        return headings

    def _is_contents_page(self, entry: TocEntry) -> bool:
        """Check whether an entry wrongly leads to a page of contents, as some links of contents do."""
        assert entry.page is not None
        count = len(self._pages[entry.page].rows)
        is_listed = 2 * sum((entry.page, row) in self._skipped for row in range(count)) > count
        return is_listed and not (_CONTENTS_TITLE.fullmatch(entry.title) or parse_part(entry.title))

    def _match(self, entry: TocEntry, page: int) -> list[tuple[float, int, int, int]]:
        """Return score, page, row and number of rows of each match for a title on a page, best first."""
        if not 0 <= page < len(self._pages):
            return []
        if page not in self._keys_by_page:
            self._keys_by_page[page] = [
                (
                    make_comparison_key(row.text),
                    make_comparison_key(split_number(row.text)[1]),
                    make_comparison_key(_TITLE_TAIL.sub("", split_number(row.cells[0].text)[1])),
                )
                for row in self._pages[page].rows
            ]
        keys = self._keys_by_page[page]
        rest = split_number(entry.title)[1]
        whole, bare, head = map(make_comparison_key, (entry.title, rest, _TITLE_TAIL.sub("", rest)))
        starts = {whole[:2], bare[:2], bare[:2].replace("ff", "f")}
        matches = []
        for row, (row_whole, row_bare, row_head) in enumerate(keys):
            # Comparing the first two letters first makes this fast enough for long files.
            if (page, row) in self._taken or not row_whole or not {row_whole[:2], row_bare[:2]} & starts:
                continue
            best, best_count = (_SCORE_SIMILAR, 1) if row_head == head and len(head) >= _HEAD_LENGTH_MIN else (0.0, 0)
            for count in range(1, min(_TITLE_ROWS_MAX, len(keys) - row) + 1):
                joined = row_whole + "".join(key for key, _, _ in keys[row + 1 : row + count])
                if count > 1 and len(joined) > len(whole) * _LENGTH_RATIO_MAX + _LENGTH_SLACK:
                    break
                if joined == whole:
                    score = 100.0
                elif bare in (joined, row_bare + joined[len(row_whole) :]):
                    score = _SCORE_WITHOUT_NUMBER
                else:
                    score = _SCORE_SIMILAR if fuzz.ratio(joined, whole, score_cutoff=_SIMILARITY_MIN) else 0.0
                if score > best:
                    best, best_count = score, count
            if best:
                is_bold = self._pages[page].rows[row].font.is_bold
                matches.append((best + _BOLD_BONUS * is_bold - _ROW_PENALTY * row, page, row, best_count))
        return sorted(matches, key=lambda match: -match[0])
