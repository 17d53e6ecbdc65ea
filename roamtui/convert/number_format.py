"""Write numbers as the format of their cell shows them, but with all their digits, and dates as ISO."""

import math
import re
from datetime import datetime, timedelta
from decimal import Decimal

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[(?P<bracket>[^\]]*)\]|(?P<end>;)|(?P<general>General)'
    r"|(?P<plain>E[+-]|(?<=[0#?])\s*/)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
"""A part of a format. What follows `_` gives the width of a space, and what follows `*` fills the cell."""
_DATE_LETTERS = "ymdhs"
_GROUP_END = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_WHOLE_MAX = 1e21
"""A whole number from here on is written with an exponent."""
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - the dates of spreadsheets have no zone
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
"""The formats that a file need not contain. The computer chooses their currency, if they have one."""


class NumberFormat:
    """The format of cells. Only its first part is read, which is for numbers above 0, or for all numbers."""

    def __init__(self, code: str) -> None:
        """Parse the code of a format, such as `#,##0.00;[Red]-0.00`."""
        self._before = ""
        """Literal text before the digits. `_after` has the literal text after them."""
        self._after = ""
        self._inner: list[str] = []
        """Literal text before each further digit."""
        self._has_digits = False
        self._digits_min = 0
        self._decimals_min = 0
        self._scale = 1.0
        self._is_grouped = False
        self._is_plain = False
        """Whether it has a condition, a fraction or an exponent. Then the number is written as it is."""
        self._is_date = False
        self._is_duration = False
        self._parse(code)

    def _parse(self, code: str) -> None:  # noqa: PLR0912 - one for each kind of token
        has_point = False
        commas = 0
        for token in _TOKEN.finditer(code):
            literal = token["quoted"] or token["escaped"] or ""
            other = token["other"] or ""
            if token["end"]:
                break
            if token["bracket"]:
                literal = self._parse_bracket(token["bracket"])
            elif token["plain"]:
                self._is_plain = True
            elif token["general"]:
                self._has_digits = True
                self._digits_min = 1
            elif other and other in "0#?":
                if self._has_digits and not has_point:
                    self._inner.append(self._after)
                self._has_digits = True
                self._after = ""
                self._is_grouped = self._is_grouped or commas > 0
                commas = 0
                if has_point:
                    self._decimals_min += other == "0"
                else:
                    self._digits_min += other == "0" or self._digits_min > 0
            elif other == "," and self._has_digits:
                commas += 1
            elif other == "." and not has_point:
                has_point = True
            elif other:
                literal = other
                self._scale *= 100.0 if other == "%" else 1.0
                self._is_date = self._is_date or other.lower() in _DATE_LETTERS
            if self._has_digits:
                self._after += literal
            else:
                self._before += literal
        self._scale /= 1000.0**commas

    def _parse_bracket(self, words: str) -> str:
        if words.startswith("$"):
            return words[1:].partition("-")[0]
        self._is_plain = self._is_plain or words[0] in "<=>"
        self._is_duration = self._is_duration or words.lower() in ("h", "hh", "m", "mm", "s", "ss")
        return ""

    def format_number(self, value: float, epoch_days: int = 0) -> str:
        """Return a number as the format shows it, with a minus if it is below 0.

        `epoch_days` are added to a date, for a workbook whose days count from 1904.
        """
        if self._is_plain or not math.isfinite(value):
            return write_plain(value)
        sign = "-" if value < 0 else ""
        if self._is_duration:
            return sign + write_duration(abs(value) * 86_400)
        if self._is_date:
            return _write_date(value, epoch_days)
        if not self._has_digits:
            words = self._before.strip()
            return words if value > 0 and any(map(str.isalnum, words)) else write_plain(value)
        number = write_plain(abs(value) * self._scale)
        if "e" not in number:
            whole, _, decimals = number.partition(".")
            decimals = decimals.ljust(self._decimals_min, "0")
            whole = whole.zfill(self._digits_min)
            if self._is_grouped:
                whole = _GROUP_END.sub(",", whole)
            elif any(self._inner):
                whole = _fill(self._inner, whole)
            number = f"{whole}.{decimals}" if decimals else whole
        before = self._before.replace("+", "") if sign else self._before
        return sign + f"{before}{number}{self._after}".strip()


def _fill(literals: list[str], digits: str) -> str:
    """Put each literal before one of the last digits. All other digits stay together at the start."""
    filled = ""
    for literal in reversed(literals):
        filled = literal + digits[-1:] + filled
        digits = digits[:-1]
    return digits + filled


def write_plain(value: float) -> str:
    """Return a number without a format, with all digits that Excel shows, and none that the file lacks."""
    is_whole = value.is_integer() and abs(value) < _WHOLE_MAX
    return str(int(Decimal(repr(value)))) if is_whole else f"{value:.15g}"


def write_duration(seconds: float) -> str:
    """Return a length of time as hours, minutes and seconds, such as `26:03:00`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def drop_midnight(text: str) -> str:
    """Return a date without its time if that is midnight, which programs save with each date."""
    return text.removesuffix(" 00:00:00")


def _write_date(value: float, epoch_days: int) -> str:
    days = value + epoch_days
    if value < 0 or days >= _DAYS_MAX:
        return write_plain(value)
    moment = _EPOCH + timedelta(milliseconds=round(days * 86_400_000))
    text = str(moment.time() if value < 1 else moment)
    return text.rstrip("0") if moment.microsecond else drop_midnight(text)
