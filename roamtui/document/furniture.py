"""Find page furniture: page numbers and running heads.

It is part of the source, but not of its sentences. In text that is shown or quoted, spaces replace it, so that all
offsets stay the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_NAMED_FOOTER = (
    r"(?:[Pp]age|PAGE)[ \t]+-?\d{1,4}-?(?:[ \t]+(?:of|OF)[ \t]+\d{1,4})?"
    r"|[-–—][ \t]*(?:\d{1,4}|[ivxlc]{1,6})[ \t]*[-–—]"
    r"|Source:[^\n]{2,100},[ \t]\d{1,2}/\d{1,2}/\d{4}"
)
_NUMBER_FOOTER = r"(?:(?P<before>\d{1,3})[ \t]+)?(?P<number>\d{1,3})(?:[ \t]*[-–—])?"
_LINE_END = r"(?=\r?\n|\Z)"
_FOOTER_LINE = re.compile(
    rf"\n(?P<line>[ \t]*(?=[Pp\-–—S\d])(?:(?P<named>{_NAMED_FOOTER})|{_NUMBER_FOOTER})[ \t]*){_LINE_END}"
)
_PAGE_OF_PAGES = tuple(re.compile(rf"{page}[ \t]+\d{{1,4}}[ \t]+(?:of|OF)[ \t]+\d") for page in ("age", "AGE"))
"""Two patterns that begin with letters are found much faster than one with a choice of letters."""
_TITLED_FOOTER_LINE = re.compile(
    rf"\n(?P<line>[ \t]*(?:(?P<named>{_NAMED_FOOTER}"
    r"|[^\s#|>][^\n]{0,120}[ \t](?:[Pp]age|PAGE)[ \t]+\d{1,4}[ \t]+(?:of|OF)[ \t]+\d{1,4})"
    rf"|{_NUMBER_FOOTER})[ \t]*){_LINE_END}"
)
"""As `_FOOTER_LINE`, but also matches words before "Page 3 of 29", which takes ten times as long."""
_BLANK_BEFORE = re.compile(r"(?:\A|\n)[ \t\r]*\n\Z")
_BLANK_AFTER = re.compile(r"\r?\n?[ \t]*(?:\r?\n|\Z)")
_CONTEXT_LENGTH = 12_000
"""Characters before and after a text that are searched for the footers of other pages."""
_PAGE_LENGTH_MIN = 1_500
"""Minimum number of characters between two page numbers. Other numbers are closer together."""
_PARAGRAPH_LINE = re.compile(r"(?:(?<=\n\n)|\A)[^\s#|>`~*-][^\n]{2,299}(?=\n[ \t]*\n|\n?\Z)")
_RUNNING_MIN = 3
"""A line is a running head only if it occurs next to at least this many page footers. Numbers in it may differ."""
_RUNNING_SHARE_MIN = 0.6
"""Minimum share of all occurrences of a running head that are next to a page footer."""
_GAP_LENGTH_MAX = 20
"""Maximum number of white-space characters between a footer and a running head."""
_DIGITS = re.compile(r"\d+")


def blank_footers(text: str, start: int, end: int) -> str:
    """Return the text from `start` to `end` (exclusive), with page footers and running heads replaced by spaces.

    A line with only a number n is a footer if the page before ends with n - 1, or the page after with n + 1. A running
    head is a line that repeats next to several footers.
    """
    window_start = max(0, start - _CONTEXT_LENGTH)
    window = text[window_start : end + _CONTEXT_LENGTH]
    has_page_of_pages = any(pattern.search(window) for pattern in _PAGE_OF_PAGES)
    pattern = _TITLED_FOOTER_LINE if has_page_of_pages else _FOOTER_LINE
    lines = []
    for line in pattern.finditer(window):
        first, last = line.span("line")
        before = _BLANK_BEFORE.search(window, max(0, first - 100), first)
        if before and _BLANK_AFTER.match(window, last):
            lines.append(line)
    numbers = [(line.start("line"), int(line["number"])) for line in lines if line["number"]]
    footers = [line.span("line") for line in lines if line["named"] or _is_page_number(line, numbers)]
    piece = text[start:end]
    for footer_start, footer_end in (*footers, *_find_running_heads(window, footers)):
        first, last = footer_start + window_start - start, footer_end + window_start - start
        if first >= 0 and last <= len(piece):
            piece = f"{piece[:first]}{' ' * (last - first)}{piece[last:]}"
    return piece


def _is_page_number(line: re.Match[str], numbers: list[tuple[int, int]]) -> bool:
    offset, number = line.start("line"), int(line["number"])
    if line["before"] and int(line["before"]) != number - 1:
        return False
    index = numbers.index((offset, number))
    pairs = [pair for pair in (numbers[index - 1 : index + 1], numbers[index : index + 2]) if len(pair) > 1]
    return any(after - before == 1 and end - start >= _PAGE_LENGTH_MIN for (start, before), (end, after) in pairs)


def _find_running_heads(window: str, footers: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(footers) < _RUNNING_MIN:
        return []
    starts, ends = {start for start, _ in footers}, {end for _, end in footers}
    by_words: dict[str, list[tuple[int, int]]] = defaultdict(list)
    near: Counter[str] = Counter()
    for line in _PARAGRAPH_LINE.finditer(window):
        if line.start() in starts:
            continue
        words = _DIGITS.sub("0", line[0].strip())
        by_words[words].append(line.span())
        above = window[max(0, line.start() - _GAP_LENGTH_MAX) : line.start()]
        below = window[line.end() : line.end() + _GAP_LENGTH_MAX]
        is_below_footer = line.start() - len(above) + len(above.rstrip()) in ends
        near[words] += is_below_footer or line.end() + len(below) - len(below.lstrip()) in starts
    return [
        span
        for words, spans in by_words.items()
        if near[words] >= max(_RUNNING_MIN, _RUNNING_SHARE_MIN * len(spans))
        for span in spans
    ]
