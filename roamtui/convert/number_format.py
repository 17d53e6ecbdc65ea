"""Write numbers as the format of their cell shows them, but with all their digits, and dates as ISO."""

import math
import operator
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from msgspec import Struct

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[(?P<bracket>[^\]]*)\]|(?P<end>;)|(?P<general>General)'
    r"|(?P<plain>E[+-]|(?<=[0#?])\s*/)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
"""A part of a format. What follows `_` gives the width of a space, and what follows `*` fills the cell."""
_CONDITION = re.compile(r"(<=|>=|<>|[<>=])\s*(-?\d+(?:\.\d+)?)")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_PLACES = "0#?"
_DATE_LETTERS = "ymdhs"
_GROUP_END = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_WHOLE_MAX = 1e21
"""A whole number from here on is written with an exponent."""
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - the dates of spreadsheets have no zone
_FALSE_LEAP_DAY = 60
"""Excel counts 29 February 1900, which never was."""
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


class _Section(Struct):
    """A part of a format, which shows some of the numbers."""

    items: list[str | None]
    """Literal text before the decimal point, and None for the place of each digit or of a text."""
    after: str = ""
    """Literal text after the decimal point."""
    condition: tuple[str, float] | None = None
    digits_min: int = 0
    decimals_min: int = 0
    scale: float = 1.0
    is_grouped: bool = False
    is_plain: bool = False
    """Whether it shows a fraction or an exponent. The number is written as it is."""
    has_text: bool = False
    is_date: bool = False
    is_duration: bool = False

    def join_literals(self) -> str:
        return "".join(filter(None, self.items)) + self.after

    def fits(self, value: float) -> bool:
        return self.condition is None or _COMPARISONS[self.condition[0]](value, self.condition[1])

    def shows(self, value: float) -> bool:
        """Return whether it shows a digit of a number or, in place of the number, a word."""
        if self.is_date or self.is_duration:
            return True
        if None not in self.items:
            return any(map(str.isalnum, self.join_literals()))
        return value != 0 or self.digits_min + self.decimals_min > 0

    def write(self, value: float) -> str:
        """Write a number without its sign, with zeros in the places for which it has no digits."""
        if None not in self.items:
            return self.join_literals().strip()
        number = write_plain(value * self.scale)
        whole, _, decimals = number.partition(".")
        if self.is_plain or "e" in number:
            whole = number
            decimals = ""
        else:
            whole = whole.zfill(self.digits_min)
            decimals = decimals.ljust(self.decimals_min, "0")
        if self.is_grouped:
            whole = _GROUP_END.sub(",", whole)
        places = [index for index, item in enumerate(self.items) if item is None]
        start = places[0]
        end = places[-1] + 1
        if not self.is_plain and any(self.items[start:end]):
            whole = _fill_places(self.items[start:end], whole)
        point = "." if decimals else ""
        before, behind = ("".join(filter(None, part)) for part in (self.items[:start], self.items[end:]))
        return f"{before}{whole}{point}{decimals}{behind}{self.after}".strip()


class NumberFormat:
    """The format of cells."""

    def __init__(self, code: str) -> None:
        """Parse the code of a format, such as `#,##0.00;[Red]-0.00`."""
        parts: list[list[re.Match[str]]] = [[]]
        for token in _TOKEN.finditer(code):
            if token["end"]:
                parts.append([])
            else:
                parts[-1].append(token)
        sections = [*map(_parse_section, parts)]
        self._text = next((each for each in sections if each.has_text), None)
        self._sections = [each for each in sections if not each.has_text]

    def format_text(self, text: str) -> str:
        """Return a text with the words that the format puts around it."""
        if self._text is None or not any(map(str.isalnum, self._text.join_literals())):
            return text
        return "".join(text if item is None else item for item in self._text.items).strip()

    def format_number(self, value: float, epoch_days: int = 0) -> str:
        """Return a number as the format shows it.

        `epoch_days` are added to a date, for a workbook whose days count from 1904.
        """
        section = self._choose(value) if math.isfinite(value) and self._sections else None
        if section is None:
            return write_plain(value)
        if section.is_duration:
            return ("-" if value < 0 else "") + write_duration(abs(value) * 86_400)
        if section.is_date:
            return _write_date(value, epoch_days)
        is_signed = value < 0 and not self._is_for_negatives(section)
        return ("-" if is_signed else "") + section.write(abs(value))

    def _choose(self, value: float) -> _Section | None:
        """Return the section that shows a number, or None if it would be invisible."""
        first, *others = self._sections
        chosen: _Section | None = first
        if others and any(each.condition for each in self._sections):
            chosen = next(filter(lambda each: each.fits(value), self._sections), None)
        elif others and value <= 0:
            number = 1 if value < 0 else 2
            chosen = self._sections[number] if number <= len(others) else first
        if chosen and chosen.shows(value):
            return chosen
        return first if None in first.items and first.shows(value) else None

    def _is_for_negatives(self, section: _Section) -> bool:
        """Return whether a section itself marks the numbers below 0, by more than a colour."""
        first = self._sections[0]
        if section is first or section.join_literals() == first.join_literals():
            return False
        comparison, limit = section.condition or ("<", 0.0)
        return comparison in ("<", "<=") and limit <= 0


def write_plain(value: float) -> str:
    """Return a number without a format, with all digits that Excel shows, and none that the file lacks."""
    is_whole = value.is_integer() and abs(value) < _WHOLE_MAX
    return str(int(Decimal(repr(value)))) if is_whole else f"{value:.15g}"


def write_duration(seconds: float) -> str:
    """Return a length of time as hours, minutes and seconds, such as `26:03:00`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _parse_section(tokens: Iterable[re.Match[str]]) -> _Section:  # noqa: PLR0912 - one for each kind of token
    section = _Section([])
    has_point = False
    commas = 0
    for token in tokens:
        literal = token["quoted"] or token["escaped"] or ""
        other = token["other"] or ""
        if token["bracket"]:
            literal = _parse_bracket(section, token["bracket"])
        elif token["plain"]:
            section.is_plain = True
        elif section.is_plain and other and other in "0123456789#?":
            pass  # a denominator or an exponent
        elif token["general"] or other == "@":
            section.items.append(None)
            section.digits_min = 1
            section.has_text = section.has_text or other == "@"
        elif other and other in _PLACES:
            section.is_grouped = section.is_grouped or commas > 0
            commas = 0
            if has_point:
                section.decimals_min += other == "0"
            else:
                section.items.append(None)
                section.digits_min += other == "0" or section.digits_min > 0
        elif other == "," and None in section.items:
            commas += 1
        elif other == "." and not has_point:
            has_point = True
            if None not in section.items:
                section.items.append(None)
        elif other:
            literal = other
            section.scale *= 100.0 if other == "%" else 1.0
            section.is_date = section.is_date or other.lower() in _DATE_LETTERS
        if has_point:
            section.after += literal
        elif literal:
            section.items.append(literal)
    section.scale /= 1000.0**commas
    return section


def _parse_bracket(section: _Section, words: str) -> str:
    """Parse a condition or hours that continue after 24, and return a currency. Colours have no meaning."""
    if words.startswith("$"):
        return words[1:].partition("-")[0]
    if condition := _CONDITION.match(words):
        section.condition = condition[1], float(condition[2])
    section.is_duration = section.is_duration or words.lower() in ("h", "hh", "m", "mm", "s", "ss")
    return ""


def _fill_places(items: Iterable[str | None], digits: str) -> str:
    """Put digits into their places between literals, from the last place on. The first takes all the rest."""
    filled = ""
    for item in reversed([*items][1:]):
        if item is None:
            filled = digits[-1:] + filled
            digits = digits[:-1]
        else:
            filled = item + filled
    return digits + filled


def drop_midnight(text: str) -> str:
    """Return a date without its time if that is midnight, which programs save with each date."""
    return text.removesuffix(" 00:00:00")


def _write_date(value: float, epoch_days: int) -> str:
    days = value + epoch_days
    if value < 0 or days >= _DAYS_MAX:
        return write_plain(value)
    moment = _EPOCH + timedelta(days=days < _FALSE_LEAP_DAY, milliseconds=round(days * 86_400_000))
    text = str(moment.time() if value < 1 else moment)
    return text.rstrip("0") if moment.microsecond else drop_midnight(text)
