"""Where the sections of a PDF begin: as its bookmarks say, else as the size of its letters shows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from roamtui.sources.convert.pdf_lines import Line

_LEVEL_MAX = 6
_TITLE_LINES_MAX = 3
_TITLE_LENGTH_MAX = 200
_LARGER = 1.12
"""How much larger than the text a heading's letters are."""
_SAME_SIZE = 1.04
"""Sizes that differ by no more are one."""
_SHARE_MAX = 0.3
"""Share of the text above which large or bold letters mark no headings."""
_BOLD_LENGTH_MAX = 100
_HEADINGS_MIN = 2
_LEADING_MAX = 2.2
"""Lines of one heading are no further apart than this, in heights of its letters."""
_NOT_LETTERS = re.compile(r"[\W_]+")
_PREFIX_LENGTH_MAX = 16
"""Letters of a number such as `Chapter 12` that a title may have on the page alone, or in the bookmark."""
_NUMBER = re.compile(
    r"(?:chapter|section|part|appendix|kapitel|abschnitt|anhang|teil|chapitre|annexe)?(?:\d{1,8}[a-z]?|[ivxlc]{1,6}|[a-z])"
)
_SIMILAR_LENGTH_MIN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """An entry of a PDF's outline."""

    level: int
    """From 1 on."""
    title: str
    page: int
    """0-based."""
    top: float | None = None
    """Height on the page that it leads to, in points; None for the whole page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHeading:
    """A heading on a page."""

    level: int
    title: str
    line: int
    """Index of the line that it stands before."""
    lines: int = 0
    """How many lines are the heading itself."""


def place_bookmarks(lines: Sequence[Line], bookmarks: Sequence[Bookmark]) -> list[PageHeading]:
    """Return the headings of a page by the bookmarks that lead to it, in place of the lines that read like them."""
    found = []
    start = 0
    for bookmark in bookmarks:
        place = _find_title(lines, bookmark.title, start)
        if place is None:
            line = max(start, _find_height(lines, bookmark.top))
            found.append(PageHeading(level=bookmark.level, title=bookmark.title, line=line))
            start = line
            continue
        line, count = place
        title = " ".join(lines[index].text for index in range(line, line + count))
        found.append(PageHeading(level=bookmark.level, title=title, line=line, lines=count))
        start = line + count
    return found


def find_headings(pages: Sequence[Sequence[Line]]) -> list[list[PageHeading]] | None:
    """Return the headings of all pages by the size and weight of their letters, None where these show none."""
    sizes: Counter[float] = Counter()
    bold = 0
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
            bold += len(line.text) * line.is_bold
    total = sum(sizes.values())
    if not total:
        return None
    body = sizes.most_common(1)[0][0]
    levels = _rank_sizes([size for size in sizes if size > body * _LARGER])
    if sum(sizes[size] for size in levels) > _SHARE_MAX * total:
        return None
    bold_level = min(_LEVEL_MAX, max(levels.values(), default=0) + 1) if bold <= _SHARE_MAX / 2 * total else 0
    found = [list(_find_on_page(lines, levels, body, bold_level)) for lines in pages]
    return found if sum(map(len, found)) >= _HEADINGS_MIN else None


def _rank_sizes(sizes: list[float]) -> dict[float, int]:
    """Return a level for each size: the largest is 1, and sizes that hardly differ share one."""
    levels: dict[float, int] = {}
    level, largest = 0, 0.0
    for size in sorted(sizes, reverse=True):
        if not level or size * _SAME_SIZE < largest:
            level, largest = level + 1, size
        levels[size] = min(level, _LEVEL_MAX)
    return levels


def _find_on_page(
    lines: Sequence[Line], levels: dict[float, int], body: float, bold_level: int
) -> Iterator[PageHeading]:
    index = 0
    while index < len(lines):
        line = lines[index]
        level = levels.get(line.size, 0)
        if not level and bold_level and _is_bold_title(lines, index, body):
            level = bold_level
        count = 1
        while level and count < _TITLE_LINES_MAX and _continues(lines, index + count):
            count += 1
        title = " ".join(lines[number].text for number in range(index, index + count))
        if level and len(title) <= _TITLE_LENGTH_MAX and any(letter.isalpha() for letter in title):
            yield PageHeading(level=level, title=title, line=index, lines=count)
        index += count


def _continues(lines: Sequence[Line], index: int) -> bool:
    """Return whether a line goes on with the heading before it."""
    if index >= len(lines):
        return False
    line, before = lines[index], lines[index - 1]
    is_alike = line.size == before.size and line.is_bold == before.is_bold
    return is_alike and 0 < before.top - line.top <= line.size * _LEADING_MAX


def _is_bold_title(lines: Sequence[Line], index: int, body: float) -> bool:
    line = lines[index]
    if not line.is_bold or line.size < body * 0.95 or len(line.text) > _BOLD_LENGTH_MAX or line.text[-1] in ".,;:":
        return False
    return index + 1 < len(lines) and not lines[index + 1].is_bold


def _find_title(lines: Sequence[Line], title: str, start: int) -> tuple[int, int] | None:
    """Return where a title begins on a page and how many lines it takes."""
    wanted = _NOT_LETTERS.sub("", title).casefold()
    if not wanted:
        return None
    numbered = None
    for index in range(start, len(lines)):
        joined = first = ""
        for count in range(1, _TITLE_LINES_MAX + 1):
            if index + count > len(lines) or len(joined) > len(wanted) + _PREFIX_LENGTH_MAX:
                break
            joined += _NOT_LETTERS.sub("", lines[index + count - 1].text).casefold()
            first = first or joined
            if joined == wanted:
                return index, count
            if numbered is None and _is_same_but_number(joined, wanted, len(first)):
                numbered = index, count
    return numbered


def _is_same_but_number(joined: str, wanted: str, first_length: int) -> bool:
    """Return whether two titles are the same, but for a number that one of them begins with.

    Args:
        joined: Letters and digits of lines.
        wanted: Those of a bookmark.
        first_length: How many are on the first line; the number does not stand on a line of its own.
    """
    short, long = sorted((joined, wanted), key=len)
    prefix = long.removesuffix(short)
    is_long_enough = len(short) >= _SIMILAR_LENGTH_MIN and len(prefix) < first_length
    return is_long_enough and prefix != long and _NUMBER.fullmatch(prefix) is not None


def _find_height(lines: Sequence[Line], top: float | None) -> int:
    """Return the first line that does not stand above a height."""
    if top is None:
        return 0
    return next((index for index, line in enumerate(lines) if line.top <= top), 0)
