"""Writes numbers as the format of their cell shows them, but with all their digits, and dates as ISO 8601."""

import math
import re
from datetime import datetime, timedelta
from decimal import Decimal

_LITERAL = re.compile(r'"([^"]*)"?|\\(.)|\[\$([^\]-]*)[^\]]*\]|[_*].', re.DOTALL)
"""Words in a format. What follows `_` gives the width of a space, and what follows `*` fills the cell."""
_PLAIN = re.compile(r"\[[<=>]|E[+-]|[0#?]\s*/", re.IGNORECASE)
"""A condition, an exponent or a fraction. With one of these, the number is written without its format."""
_IN_BRACKETS = re.compile(r"\[[^\]]*\]")
"""A colour, a condition or a duration."""
_DURATION = re.compile(r"\[[hms]+\]", re.IGNORECASE)
_DATE = re.compile("[ymdhs]", re.IGNORECASE)
_DIGITS = re.compile(r"[0#?](?:.*[0#?])?\.?", re.DOTALL)
"""From the first place of a digit to the last."""
_HIDDEN = 0xF0000
"""Added to the code of each character of words, so that none looks like a part of the format."""
_GROUP_END = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_WHOLE_MAX = 1e21
"""A whole number is written with an exponent from this size on."""
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - the dates of spreadsheets have no zone
_LEAP_DAY = 60
"""Number of 29 February 1900. There was no such day, but spreadsheets count it."""
_DAYS_MAX = 2_958_466
"""Number of the day after 31 December 9999."""
BUILT_IN_FORMATS = {
    1: "0",
    2: "0.00",
    **dict.fromkeys((3, 5, 6, 37, 38, 41, 42), "#,##0"),
    **dict.fromkeys((4, 7, 8, 39, 40, 43, 44), "#,##0.00"),
    9: "0%",
    10: "0.00%",
    **dict.fromkeys((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)), "yyyy-mm-dd"),
    46: "[h]:mm:ss",
}
"""The formats that a file need not contain, by id. Currencies are left out: each computer shows its own."""


class NumberFormat:
    """The format of cells. For numbers, only its first part is read: it is for those above 0, or for all."""

    def __init__(self, code: str) -> None:
        """Parse the code of a format, such as `#,##0.00;[Red]-0.00`."""
        shape = _LITERAL.sub(lambda literal: _hide(literal[1] or literal[2] or literal[3] or ""), code)
        for_text = next((part for part in shape.split(";") if "@" in part), "@")
        before_text, _, after_text = (_show(part) for part in _IN_BRACKETS.sub("", for_text).partition("@"))
        self.words_around_text = (before_text, after_text)
        """Words that are shown before and after the text of a cell."""
        shape = re.sub("General|@", "0", shape.partition(";")[0], flags=re.IGNORECASE)
        self._is_plain = _PLAIN.search(shape) is not None
        self._is_duration = _DURATION.search(shape) is not None
        shape = _IN_BRACKETS.sub("", shape)
        date = _DATE.search(shape)
        self._is_date = date is not None
        self._before_date = _show(shape[: date.start()]) if date else ""
        digits = _DIGITS.search(shape)
        self._has_digits = digits is not None
        start, end = digits.span() if digits else (len(shape), len(shape))
        after = shape[end:].lstrip(",")
        self._before = _show(shape[:start])
        self._after = _show(after)
        thousands = len(shape) - end - len(after)
        self._scale = 100.0 ** shape.count("%") / 1000.0**thousands
        whole, _, decimals = shape[start:end].partition(".")
        self._is_grouped = re.search("[0#?],+[0#?]", whole) is not None
        self._inner = [*map(_show, re.split("[0#?]", whole.replace(",", ""))[1:-1])]
        """Literal text before each further digit."""
        places = re.sub("[^0#?]", "", whole)
        self._digits_min = len(places.lstrip("#?"))
        self._decimals_min = decimals.count("0")

    def format_number(self, value: float, epoch_days: int = 0) -> str:
        """Return a number as the format shows it, with a minus sign if it is below 0.

        `epoch_days` are added to a date. They are not 0 in a workbook that counts days from 1904.
        """
        if self._is_plain or not math.isfinite(value):
            return format_plain_number(value)
        sign = "-" if value < 0 else ""
        if self._is_duration:
            return sign + format_duration(abs(value) * 86_400)
        if self._is_date:
            return (self._before_date + _format_date(value, epoch_days)).strip()
        if not self._has_digits:
            words = self._before.strip()
            return words if value > 0 and any(map(str.isalnum, words)) else format_plain_number(value)
        number = format_plain_number(abs(value) * self._scale)
        if "e+" not in number:
            whole, _, decimals = f"{Decimal(number):f}".partition(".")
            decimals = decimals.ljust(self._decimals_min, "0")
            whole = whole.zfill(self._digits_min)
            if self._is_grouped:
                whole = _GROUP_END.sub(",", whole)
            elif any(self._inner):
                whole = _fill(self._inner, whole)
            number = f"{whole}.{decimals}" if decimals else whole
        before = self._before.replace("+", "") if sign else self._before
        return sign + f"{before}{number}{self._after}".strip()


def _hide(words: str) -> str:
    return "".join(chr(ord(letter) + _HIDDEN) for letter in words if ord(letter) < 0x110000 - _HIDDEN)


def _show(shape: str) -> str:
    return "".join(chr(ord(letter) - _HIDDEN) if ord(letter) >= _HIDDEN else letter for letter in shape)


def _fill(literals: list[str], digits: str) -> str:
    """Put one literal before each of the last digits. The other digits stay together at the start."""
    filled = ""
    for literal in reversed(literals):
        filled = literal + digits[-1:] + filled
        digits = digits[:-1]
    return digits + filled


def format_plain_number(value: float) -> str:
    """Return a number without a format, with up to 15 significant digits, as many as Excel shows."""
    is_whole = value.is_integer() and abs(value) < _WHOLE_MAX
    return str(int(Decimal(repr(value)))) if is_whole else f"{value:.15g}"


def format_duration(seconds: float) -> str:
    """Return a length of time as hours, minutes and seconds, such as `26:03:00`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def drop_midnight(text: str) -> str:
    """Return a date without its time if that is midnight, because programs save midnight with each date."""
    return text.removesuffix(" 00:00:00")


def _format_date(value: float, epoch_days: int) -> str:
    is_before_leap_day = not epoch_days and value < _LEAP_DAY
    days = value + epoch_days + is_before_leap_day
    if value < 0 or days >= _DAYS_MAX:
        return format_plain_number(value)
    moment = _EPOCH + timedelta(milliseconds=round(days * 86_400_000))
    text = str(moment.time() if value < 1 else moment)
    return text.rstrip("0") if moment.microsecond else drop_midnight(text)
