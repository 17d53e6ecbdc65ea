"""Page footers in the text of a paged document: numbers alone in a paragraph, lines that name the file.

They stand wherever a page ended, often within a sentence. They are part of the source; whoever reads for its sense
reads past them.
"""

from __future__ import annotations

import re

from roamtui.document.text import LongText

_LINE = re.compile(
    r"(?<=\n)[ \t]*(?:"
    r"(?P<named>(?:[Pp]age|PAGE)[ \t]+-?\d{1,4}-?(?:[ \t]+(?:of|OF)[ \t]+\d{1,4})?"
    r"|[-–—][ \t]*\d{1,4}[ \t]*[-–—]"
    r"|Source:[^\n]{2,100},[ \t]\d{1,2}/\d{1,2}/\d{4})"
    r"|(?:(?P<before>\d{1,3})[ \t]+)?(?P<number>\d{1,3})(?:[ \t]*[-–—])?"
    r")[ \t]*(?=\r?\n|\Z)"
)
_BLANK_BEFORE = re.compile(r"(?:\A|\n)[ \t\r]*\n\Z")
_BLANK_AFTER = re.compile(r"\r?\n?[ \t]*(?:\r?\n|\Z)")
_AROUND = 12_000
"""Characters around a text in which the numbers of other pages are looked for."""
_PAGE_LENGTH_MIN = 1_500
"""Characters from the number of one page to the next one's; numbers that count something stand closer."""


def blank_footers(text: str | LongText, start: int, end: int) -> str:
    """Return the characters `start` to `end` (excluded) of a text, as many as they are, with spaces for page footers.

    A bare number is one where the number of the page before or after it stands a page away.
    """
    low = max(0, start - _AROUND)
    window = text[low : end + _AROUND]
    lines = [one for one in _LINE.finditer(window) if _is_alone(window, *one.span())]
    numbers = [(one.start(), int(one["number"])) for one in lines if one["number"]]
    piece = text[start:end]
    for one in lines:
        first, last = one.start() + low - start, one.end() + low - start
        if first >= 0 and last <= len(piece) and (one["named"] or _is_page_number(one, numbers)):
            piece = f"{piece[:first]}{' ' * (last - first)}{piece[last:]}"
    return piece


def _is_alone(text: str, start: int, end: int) -> bool:
    return bool(_BLANK_BEFORE.search(text, max(0, start - 100), start) and _BLANK_AFTER.match(text, end))


def _is_page_number(line: re.Match[str], numbers: list[tuple[int, int]]) -> bool:
    """Return whether a number follows that of the page before it, or is followed by that of the page after it."""
    at, number = line.start(), int(line["number"])
    if line["before"] and int(line["before"]) != number - 1:
        return False
    place = numbers.index((at, number))
    pairs = [pair for pair in (numbers[place - 1 : place + 1], numbers[place : place + 2]) if len(pair) > 1]
    return any(after - before == 1 and end - start >= _PAGE_LENGTH_MIN for (start, before), (end, after) in pairs)
