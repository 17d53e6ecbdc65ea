"""Find the words between quotation marks of any language, and those in backticks."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_CLOSING_MARKS = {
    '"': '"”', "“": '”"', "„": '“”"', "«": '»"', "»": "«»", "”": "”“", "‟": "”", "❝": "❞", "＂": "＂",
    "‚": "‘’", "‹": "›", "›": "‹", "‘": "’", "'": "'", "「": "」", "『": "』", "〝": "〞〟",
}  # fmt: skip
"""The marks that may close a quotation, the usual one first, by the mark that opens it."""
_ONLY_OPEN = "„«‟「『〝❝‚‹"
_OPEN_AT_SPACE = "”»›'"
"""Marks that open a quotation only after a space or bracket. Elsewhere they close one, or are other signs."""
_IN_PARAGRAPH = "\"'＂”»›"
"""Opening marks of quotations that end with their paragraph, because other signs look alike."""
_ALL = "".join({*_CLOSING_MARKS, *"".join(_CLOSING_MARKS.values())})
_CODE_OR_MARK = re.compile(
    r"(?<!`)(?P<fence>`{3,})[^`\n]*\n(?:(?:.*?\n)?[ \t]*(?P=fence)`*(?=[ \t]*(?:\n|\Z))|.*\Z)"
    rf"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)|[{_ALL}]|\n[ \t]*\n",
    re.DOTALL,
)
_UNSPACED = 0x0E00
"""First character of the scripts without spaces. In these, a quotation mark may be between letters."""
_PLURAL = re.compile(r"(?<=s)['’] [a-z]")
"""The apostrophe of a plural, as in "the tenants' fee", or the end of a quotation."""
_NESTED_MAX = 8
"""Maximum number of open quotation marks. If there are more, the first was never closed."""


class Quoted(NamedTuple):
    """The bounds of a quotation or code span, with its quotation marks or backticks."""

    start: int
    end: int
    is_code: bool


def list_quoted(text: str) -> list[Quoted]:
    """Return all quotations and code spans, outer ones first. Quotation marks in code do not count."""
    found: list[Quoted] = []
    opened: list[int] = []
    for match in _CODE_OR_MARK.finditer(text):
        at = match.start()
        if match["fence"] or match["ticks"]:
            found.append(Quoted(*match.span(), is_code=True))
        elif match[0].startswith("\n"):
            opened = [start for start in opened if text[start] not in _IN_PARAGRAPH]
        elif (index := _find_opening(text, opened, at)) is not None:
            start = opened[index]
            words = text[start + 1 : at]
            # a word between straight single marks is a name or an omission
            if text[start] != "'" or (" " in words.strip() and "\n" not in words):
                found.append(Quoted(start, at + 1, is_code=False))
            is_inch = text[at] == '"' and text[at - 1].isdigit()
            is_doubtful = text[start] != text[at] and (is_inch or _PLURAL.match(text, at) is not None)
            del opened[index + is_doubtful :]  # a later mark may end a doubtful quotation too
        elif _may_open(text, at):
            opened.append(at)
            del opened[:-_NESTED_MAX]
    return sorted(found, key=lambda quoted: (quoted.start, -quoted.end))


def _find_opening(text: str, opened: Sequence[int], at: int) -> int | None:
    """Return the index of the open mark that the mark at `at` closes. Usual pairs come before others."""
    if not opened:
        return None
    mark = text[at]
    ends_word = _ends_word(text, at)
    if mark in "'’":
        may_close = ends_word and (mark == "’" or not _PLURAL.match(text, at))
    else:
        may_close = mark not in _CLOSING_MARKS or ends_word or not _starts_word(text, at)
    other: int | None = None
    for index in range(len(opened) - 1 if may_close else -1, -1, -1):
        closing = _CLOSING_MARKS[text[opened[index]]]
        if mark == closing[0]:
            return index
        if other is None and ends_word and mark in closing:
            other = index
    return other


def _may_open(text: str, at: int) -> bool:
    mark = text[at]
    if mark not in _CLOSING_MARKS or mark in _ONLY_OPEN:
        return mark in _CLOSING_MARKS
    if mark == "‘":
        return _starts_word(text, at)
    if mark in _OPEN_AT_SPACE:
        before = text[at - 1 : at].strip()
        return before in ("", "(", "[") and _starts_word(text, at) and (mark != "'" or text[at + 1].isalpha())
    return _starts_word(text, at) or not _ends_word(text, at)


def _starts_word(text: str, at: int) -> bool:
    return bool(text[at + 1 : at + 2].strip()) and not _is_letter(text[max(0, at - 1) : at])


def _ends_word(text: str, at: int) -> bool:
    return bool(text[max(0, at - 1) : at].strip()) and not _is_letter(text[at + 1 : at + 2])


def _is_letter(character: str) -> bool:
    """Return whether a character is part of a word that continues after a quotation mark next to it."""
    return character.isalnum() and ord(character) < _UNSPACED
