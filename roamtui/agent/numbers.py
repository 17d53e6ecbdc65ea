"""Numbers of a text, so that nobody takes a part of one for the whole: "5 %" is not in "0.5 %", nor "200" in "1,200".

All of it reads the text as it is written. Once white space and Markdown marks are made alike, a thin space inside a
number looks like the space between two words.
"""

from __future__ import annotations

import re

from roamtui.document.text import DocumentText
from roamtui.outline.spans import Bounds

_NO_BREAK_SPACE = "\u00a0\u2005-\u200a\u202f"
"""Spaces that group digits: no-break, thin and those about as wide."""
_SEPARATOR = rf"(?:[,.'’{_NO_BREAK_SPACE}]|&(?:nbsp|thinsp|#160|#8201|#8239);)"
_UNSEEN = (
    r"(?:[*_`~\\\u00ad\u200b-\u200d\u2060\ufeff]|</?(?:b|code|em|i|mark|small|span|strong|u)\b[^<>\n]*>"
    r"|<!--[^<>\n]*-->)*+"
)
"""Marks that a reader does not see, as in ``0.**5**``."""
_DIGITS = "[\\d¼-¾⁰¹²³⁴-⁹⅐-⅞]++"
_MINUS = r"\-‐-–−﹣－"
_POWER = rf"(?:\^[{{(]?[+{_MINUS}]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+|<sup>[+{_MINUS}]?\d+)"
_NUMBER = re.compile(
    rf"(?![a-z \n|])(?P<sign>[+±{_MINUS}]{_UNSEEN})?"  # none begins with one of these: half of the time
    rf"(?:(?P<currency>[A-Z]{{0,3}}[$¢-¥֏؋৲৳৻૱௹฿៛₠-⃀﷼﹩＄￠￡￥￦]){_UNSEEN}[ \t{_NO_BREAK_SPACE}]?+{_UNSEEN})?"
    rf"(?P<bare>(?:(?<!\w)[+{_MINUS}]{_UNSEEN})?"
    rf"(?:(?<![^\s(\[|$¢-¥₠-⃀+{_MINUS}*_~<>=/])[.,])?"  # ".5", but not the full stop of a sentence before
    rf"{_DIGITS}(?:{_UNSEEN}{_SEPARATOR}?{_DIGITS}|{_SEPARATOR}{_UNSEEN}{_DIGITS})*+"
    rf"(?:[eE][+{_MINUS}]?\d+|\^[{{(]?[+{_MINUS}]?\d+|\s?[×·x*]\s?10{_POWER})?"
    rf"(?:{_UNSEEN}[%‰％]|{_UNSEEN}\s{{1,2}}{_UNSEEN}[%‰％](?!\w))?)"
)
_OPERAND = re.compile(rf"(?:[^\W_]|[%‰％°)\]]|\d[$¢-¥₠-⃀]){_UNSEEN}\Z")
"""What stands before a hyphen: what follows it is no negative number."""
_DIGIT = re.compile(r"\d")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[,.]?\d|(?<=\d[,.])\d")
"""The usual inside of a number: one look tells, where a text has it at thousands of places."""
_REACH = 48
"""Characters on each side of a place that are looked at."""
_NEAR = 12
"""Characters within which a number has a digit beside a place that divides it."""


def find_divided_number(text: DocumentText, position: int) -> Bounds | None:
    """Return the bounds of the number that words would cut which begin or end at an offset, None where they cut none.

    Sign, separators, decimals, exponent and percent sign are parts of a number. The sign of a currency before it is one
    as a whole, so that it may be left out but not changed. The full stop or comma of a sentence belongs to none.
    """
    low = max(0, position - _REACH)
    around, place = text[low : position + _REACH], position - low
    if not _DIGIT.search(around, max(0, place - _NEAR), place + _NEAR):
        return None
    for match in _NUMBER.finditer(around):
        if match.end() <= place:
            continue
        start = match.start()
        if match["sign"] and _OPERAND.search(around, 0, start):
            start = match.end("sign")
        is_signed = start < match.end("sign")
        is_bare = match["currency"] and not is_signed and match.end("currency") <= place <= match.start("bare")
        return None if start >= place or is_bare else (low + start, low + match.end())
    return None


def divides_number(text: DocumentText, start: int, end: int) -> bool:
    """Return whether words from `start` to `end` (excluded) begin or end inside a number."""
    places = (start, end)
    if any(_BETWEEN_DIGITS.match(text[max(0, place - 2) : place + 2], min(place, 2)) for place in places):
        return True
    return any(find_divided_number(text, place) for place in places)


def widen_to_numbers(text: DocumentText, start: int, end: int) -> Bounds:
    """Return the bounds of words, moved outwards where they begin or end inside a number."""
    first, last = find_divided_number(text, start), find_divided_number(text, end)
    return first[0] if first else start, last[1] if last else end
