"""Numbers of lists and headings, as word processors and presentations write them."""

import re
from collections.abc import Mapping

from msgspec import Struct, field

_ROMANS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_ROMAN_MAX = 5_000
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_MAX = 780
_ORDINAL_ENDS = {1: "st", 2: "nd", 3: "rd"}
_HAN_DIGITS = ("", *"一二三四五六七八九")
_HAN_MAX = 99
PLAIN_NUMBER = re.compile(r"(\d+)\.")
"""A number that Markdown can write as that of an item in a list, such as `3.`."""


def format_number(number: int, kind: str) -> str:
    """Format a number of a list. `kind` is a name of Word, or the first number of a list of OpenDocument."""
    text = str(number)
    if kind in ("none", ""):
        text = ""
    elif kind == "decimalZero":
        text = f"{number:02}"
    elif kind == "ordinal":
        is_teen = number % 100 // 10 == 1
        text += "th" if is_teen else _ORDINAL_ENDS.get(number % 10, "th")
    elif kind in ("a", "A", "lowerLetter", "upperLetter") and 0 < number <= _LETTERS_MAX:
        text = _LETTERS[(number - 1) % 26] * ((number - 1) // 26 + 1)
    elif kind in ("i", "I", "lowerRoman", "upperRoman") and 0 < number <= _ROMAN_MAX:
        text = _format_roman(number)
    elif ("Counting" in kind or kind == "一") and 0 < number <= _HAN_MAX:
        tens, units = divmod(number, 10)
        leading = _HAN_DIGITS[tens] if tens > 1 else ""
        text = leading + ("十" if tens else "") + _HAN_DIGITS[units]
    is_upper = kind in ("A", "I") or kind.startswith("upper")
    return text.upper() if is_upper else text


def _format_roman(number: int) -> str:
    parts: list[str] = []
    for value, letters in _ROMANS:
        count, number = divmod(number, value)
        parts.append(letters * count)
    return "".join(parts)


class ListLevel(Struct, frozen=True, kw_only=True):
    """How a level of a list is numbered."""

    kind: str = "decimal"
    """See `format_number`; `bullet` for a list without numbers."""
    pattern: str = ""
    """The number as a person sees it, with `%1` for the number of the first level, and so on."""
    start: int = 1
    is_legal: bool = False
    """Whether the numbers of all levels are written as decimals."""


class ListCounter(Struct):
    """Counts the items of a list on its levels."""

    _numbers: dict[int, int] = field(default_factory=dict)

    def restart(self, level: int, start: int) -> None:
        """Let the next item of a level have the number `start`."""
        self._numbers[level] = start - 1

    def count_item(self, level: int, levels: Mapping[int, ListLevel]) -> str:
        """Count an item, and return its number as a person sees it: empty if the level has none."""
        shape = levels.get(level, ListLevel())
        self._numbers[level] = self._numbers.get(level, shape.start - 1) + 1
        for deeper in [each for each in self._numbers if each > level]:
            del self._numbers[deeper]

        def format_level(match: re.Match[str]) -> str:
            above = levels.get(int(match[1]) - 1, ListLevel())
            number = self._numbers.setdefault(int(match[1]) - 1, above.start)
            return format_number(number, "decimal" if shape.is_legal else above.kind)

        return re.sub("%([1-9])", format_level, shape.pattern)
