"""Formats the numbers of lists and headings as word processors and presentations do."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from roamtui.text import format_roman

_ROMAN_MAX = 5_000
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_REPEATS_MAX = 30
"""A letter is repeated at most this often. Higher numbers are decimals."""
_ORDINAL_NAMES = """
First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth Eleventh Twelfth Thirteenth Fourteenth
Fifteenth Sixteenth Seventeenth Eighteenth Nineteenth Twentieth
"""
_ORDINALS = dict(enumerate(_ORDINAL_NAMES.split(), start=1))
PLAIN_NUMBER = re.compile(r"(\d+)\.")
"""A number that can begin a list item in Markdown, such as `3.`."""


def format_list_number(number: int, kind: str) -> str:
    """Format a list number. `kind` is Word's name, such as `upperRoman`, or the first number, such as `I`.

    If the kind is unknown, or does not have this number, the number is a decimal.
    """
    if kind.isdecimal():
        return str(number).zfill(len(kind))
    return _FORMATTERS.get(kind, str)(number)


def is_known_kind(kind: str) -> bool:
    """Return whether this module writes numbers of a kind as Word does."""
    return kind.isdecimal() or kind in _FORMATTERS


def _repeat_letter(letters: str) -> Callable[[int], str]:
    """Return a function that writes numbers as letters: from a to z, then from aa to zz, then from aaa on."""

    def format_letter(number: int) -> str:
        count, index = divmod(number - 1, len(letters))
        return letters[index] * (count + 1) if 0 <= count < _REPEATS_MAX else str(number)

    return format_letter


def _format_roman(number: int) -> str:
    return format_roman(number) if 0 < number <= _ROMAN_MAX else str(number)


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
"""By Word's name of a kind, or by the first number of an OpenDocument list: the function for its numbers."""


class ListLevel(Struct, frozen=True, kw_only=True):
    """How a level of a list is numbered."""

    kind: str = "decimal"
    """A kind as in `format_list_number`, or `bullet` for a level without numbers."""
    pattern: str = ""
    """The number as a person sees it, with `%1` for the number of the first level, and so on."""
    start: int = 1
    restart_level: int = 9
    """The level restarts after an item of one of the first `restart_level` levels."""
    is_legal: bool = False
    """Whether the numbers of all levels are decimals."""


class ListCounter(Struct):
    """Counts the items of a list on its levels."""

    _numbers: dict[int, int] = field(default_factory=dict)

    def restart(self, level: int, start: int) -> None:
        """Give the next item of a level the number `start`."""
        self._numbers[level] = start - 1

    def count_item(self, level: int, levels: Mapping[int, ListLevel]) -> str:
        """Count an item. Return its number as a person sees it, or "" if the level has no numbers."""
        shape = levels.get(level, ListLevel())
        for higher in range(level):  # a level without an item counts as if it had one
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
