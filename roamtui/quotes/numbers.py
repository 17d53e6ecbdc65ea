"""Find whole numbers in a text, so that no quote matches a part of one: "5 %" in "0.5 %", or "200" in "1,200".

Everything here reads the original text. In a normalised text, a thin space inside a number looks like a space between
words.
"""

from __future__ import annotations

import re

from roamtui.outline.spans import Bounds

_NO_BREAK_SPACE = "\u00a0\u2005-\u200a\u202f"
"""Spaces that group digits: no-break and thin spaces."""
_SEPARATOR = rf"(?:[,.'’{_NO_BREAK_SPACE}]|&(?:nbsp|thinsp|#160|#8201|#8239);)"
_UNSEEN = (
    r"(?:[*_`~\\\u00ad\u200b-\u200d\u2060\ufeff]|</?(?:b|code|em|i|mark|small|span|strong|u)\b[^<>\n]*>"
    r"|<!--[^<>\n]*-->)*+"
)
"""Markup that a reader does not see, as in ``0.**5**``."""
_DIGITS = "[\\d¼-¾⁰¹²³⁴-⁹⅐-⅞]++"
_MINUS = r"\-‐-–−﹣－"
_POWER = rf"(?:\^[{{(]?[+{_MINUS}]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+|<sup>[+{_MINUS}]?\d+)"
_NUMBER = (
    rf"(?![a-z \n|])(?P<sign>[+±{_MINUS}]{_UNSEEN})?"  # no number starts with these: saves half of the time
    rf"(?:(?P<currency>[A-Z]{{0,3}}[$¢-¥֏؋৲৳৻૱௹฿៛₠-⃀﷼﹩＄￠￡￥￦]){_UNSEEN}[ \t{_NO_BREAK_SPACE}]?+{_UNSEEN})?"
    rf"(?P<bare>(?:(?<!\w)[+{_MINUS}]{_UNSEEN})?"
    rf"(?:(?<![^\s(\[|$¢-¥₠-⃀+{_MINUS}*_~<>=/])[.,])?"  # ".5", but not the full stop of a sentence before
    rf"{_DIGITS}(?:{_UNSEEN}{_SEPARATOR}?{_DIGITS}|{_SEPARATOR}{_UNSEEN}{_DIGITS})*+"
    rf"(?:[eE][+{_MINUS}]?\d+|\^[{{(]?[+{_MINUS}]?\d+|\s?[×·x*]\s?10{_POWER})?"
    rf"(?:{_UNSEEN}[%‰％]|{_UNSEEN}\s{{1,2}}{_UNSEEN}[%‰％](?!\w))?)"
)
"""Compiled when it is needed, because that takes 3 ms."""
_OPERAND = re.compile(rf"(?:[^\W_]|[%‰％°)\]]|\d[$¢-¥₠-⃀]){_UNSEEN}\Z")
"""Text directly before a hyphen that is not a minus sign."""
_DIGIT = re.compile(r"\d")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[,.]?\d|(?<=\d[,.])\d")
"""A position between two digits, the usual case. This quick test matters in texts with thousands of matches."""
_REACH = 48
"""Number of characters to read on each side of a position."""
_NEAR = 12
"""Number of characters around a position to check. If no digit is among them, the position is not inside a number."""


def find_divided_number(text: str, position: int) -> Bounds | None:
    """Return the bounds of the number that contains `position`, or None if the position is not inside a number.

    Sign, separators, decimals, exponent and percent sign belong to the number; the full stop or comma of a sentence
    does not. A quote may omit a currency sign before the number, but not part of that sign.
    """
    low = max(0, position - _REACH)
    around, at = text[low : position + _REACH], position - low
    if not _DIGIT.search(around, max(0, at - _NEAR), at + _NEAR):
        return None
    for match in re.finditer(_NUMBER, around):
        if match.end() <= at:
            continue
        start = match.start()
        if match["sign"] and _OPERAND.search(around, 0, start):
            start = match.end("sign")
        is_signed = start < match.end("sign")
        is_bare = match["currency"] and not is_signed and match.end("currency") <= at <= match.start("bare")
        return None if start >= at or is_bare else (low + start, low + match.end())
    return None


def divides_number(text: str, start: int, end: int) -> bool:
    """Return whether `start` or `end` is inside a number."""
    edges = (start, end)
    if any(_BETWEEN_DIGITS.match(text[max(0, edge - 2) : edge + 2], min(edge, 2)) for edge in edges):
        return True
    return any(find_divided_number(text, edge) for edge in edges)


def widen_to_numbers(text: str, start: int, end: int) -> Bounds:
    """Move each bound that is inside a number outwards, so that the whole number is included."""
    first, last = find_divided_number(text, start), find_divided_number(text, end)
    return first[0] if first else start, last[1] if last else end
