"""Finds a pattern in the text of a section, whatever its case. Knows no screen."""

from __future__ import annotations

from array import array

from roamtui.document.text import DocumentText

_LONG_WHEN_SMALL = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"
"""The one letter whose small form has two characters, which would move all that follows."""
_SPACES = "\n\r\t"


class TextSearch:
    """Searches `text[start:end]`; its text without difference of case is kept for the next pattern."""

    def __init__(self, text: DocumentText, start: int, end: int) -> None:
        self._text = text
        self._start = start
        self._end = end
        self._folded: str | None = None

    def find(self, pattern: str) -> array[int]:
        """Return the offsets where `pattern` stands, in order, without overlaps; runs of spaces in it are one space."""
        needle = fold_case(" ".join(pattern.split()))
        offsets = array("Q")
        if not needle:
            return offsets
        if self._folded is None:
            self._folded = fold_case(self._text[self._start : self._end])
        position = self._folded.find(needle)
        while position >= 0:
            offsets.append(self._start + position)
            position = self._folded.find(needle, position + len(needle))
        return offsets


def fold_case(text: str) -> str:
    """Return `text` of the same length in small letters, its line ends and tabs as spaces."""
    folded = text.replace(_LONG_WHEN_SMALL, "i").lower()
    for space in _SPACES:
        folded = folded.replace(space, " ")
    return folded
