"""Numbers of lists and headings, as word processors and presentations write them."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

_ROMANS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_ROMAN_MAX = 5_000
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_REPEATS_MAX = 30
"""A letter is repeated at most this often. Higher numbers are written in figures."""
_ORDINAL_NAMES = """
First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth Eleventh Twelfth Thirteenth Fourteenth
Fifteenth Sixteenth Seventeenth Eighteenth Nineteenth Twentieth
"""
_ORDINALS = dict(enumerate(_ORDINAL_NAMES.split(), start=1))
PLAIN_NUMBER = re.compile(r"(\d+)\.")
"""A number with which a list item of Markdown can begin, such as `3.`."""


def format_list_number(number: int, kind: str) -> str:
    """Format a number of a list. `kind` is a name of Word, or the first number of such a list.

    A number that its kind does not have, or whose kind is unknown, is written as a decimal.
    """
    if kind.isdecimal():
        return str(number).zfill(len(kind))
    return _FORMATTERS.get(kind, str)(number)


def is_known_kind(kind: str) -> bool:
    """Return whether this module writes numbers of a kind as Word does."""
    return kind.isdecimal() or kind in _FORMATTERS


def _repeat_letter(letters: str) -> Callable[[int], str]:
    """Return a function that writes numbers as the letters of an alphabet, then as each letter twice."""

    def format_letter(number: int) -> str:
        count, index = divmod(number - 1, len(letters))
        return letters[index] * (count + 1) if 0 <= count < _REPEATS_MAX else str(number)

    return format_letter


def _format_roman(number: int) -> str:
    if not 0 < number <= _ROMAN_MAX:
        return str(number)
    parts: list[str] = []
    for value, sign in _ROMANS:
        count, number = divmod(number, value)
        parts.append(sign * count)
    return "".join(parts)


_FORMATTERS: dict[str, Callable[[int], str]] = {
    **dict.fromkeys(("none", "bullet", ""), lambda _: ""),
    "decimal": str,
    "decimalZero": "{:02}".format,
    "ordinalText": lambda number: _ORDINALS.get(number, str(number)),
    **dict.fromkeys(("a", "lowerLetter"), _repeat_letter(_LATIN)),
    **dict.fromkeys(("A", "upperLetter"), _repeat_letter(_LATIN.upper())),
    **dict.fromkeys(("i", "lowerRoman"), _format_roman),
    **dict.fromkeys(("I", "upperRoman"), lambda number: _format_roman(number).upper()),
}
"""How numbers are written, by the name of Word or the first number of a list of OpenDocument."""


class ListLevel(Struct, frozen=True, kw_only=True):
    """How a level of a list is numbered."""

    kind: str = "decimal"
    """See `format_list_number`; `bullet` for a list without numbers."""
    pattern: str = ""
    """The number as a person sees it, with `%1` for the number of the first level, and so on."""
    start: int = 1
    restart_level: int = 9
    """The level restarts after an item of the levels above it, up to this many of them."""
    is_legal: bool = False
    """Whether the numbers of all levels are written in figures."""


class ListCounter(Struct):
    """Counts the items of a list on its levels."""

    _numbers: dict[int, int] = field(default_factory=dict)

    def restart(self, level: int, start: int) -> None:
        """Let the next item of a level have the number `start`."""
        self._numbers[level] = start - 1

    def count_item(self, level: int, levels: Mapping[int, ListLevel]) -> str:
        """Count an item, and return its number as a person sees it: empty if the level has none."""
        shape = levels.get(level, ListLevel())
        for higher in range(level):  # one without an item counts as if it had one
            self._numbers.setdefault(higher, levels.get(higher, ListLevel()).start)
        self._numbers[level] = self._numbers.get(level, shape.start - 1) + 1
        for deeper in [each for each in self._numbers if each > level]:
            if level < levels.get(deeper, shape).restart_level:
                del self._numbers[deeper]

        def format_level(match: re.Match[str]) -> str:
            index = int(match[1]) - 1
            above = levels.get(index, ListLevel())
            number = self._numbers.setdefault(index, above.start)
            is_decimal = shape.is_legal and above.kind not in ("none", "bullet", "decimalZero")
            return format_list_number(number, "decimal" if is_decimal else above.kind)

        return re.sub("%([1-9])", format_level, shape.pattern)
