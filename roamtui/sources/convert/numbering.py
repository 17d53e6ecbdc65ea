"""Numbers of lists and headings, as word processors and presentations write them."""

from __future__ import annotations

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
_HAN_DIGITS = "〇一二三四五六七八九"
_HAN_MAX = 99
_CIRCLED_MAX = 20
_ORDINAL_ENDS = {1: "st", 2: "nd", 3: "rd"}
_HAN_KINDS = ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCountingThousand", "一")


def format_number(number: int, kind: str) -> str:  # noqa: PLR0911 - one for each kind
    """Format a number of a list. `kind` is a name of Word, or the first number of a list of OpenDocument."""
    match kind:
        case "lowerLetter" | "a" | "upperLetter" | "A" if 0 < number <= _LETTERS_MAX:
            letters = _LETTERS[(number - 1) % 26] * ((number - 1) // 26 + 1)
            return letters.upper() if kind in ("upperLetter", "A") else letters
        case "lowerRoman" | "i" | "upperRoman" | "I" if 0 < number <= _ROMAN_MAX:
            roman = _format_roman(number)
            return roman.upper() if kind in ("upperRoman", "I") else roman
        case "decimalZero":
            return f"{number:02}"
        case "ordinal":
            is_teen = number % 100 // 10 == 1
            return f"{number}{_ORDINAL_ENDS.get(number % 10, 'th') if not is_teen else 'th'}"
        case "decimalEnclosedCircle" if 0 < number <= _CIRCLED_MAX:
            return chr(ord("①") + number - 1)
        case _ if kind in _HAN_KINDS and 0 < number <= _HAN_MAX:
            tens, units = divmod(number, 10)
            before = (_HAN_DIGITS[tens] if tens > 1 else "") + "十" if tens else ""
            return before + (_HAN_DIGITS[units] if units else "")
        case "none" | "":
            return ""
        case _:
            return str(number)


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
