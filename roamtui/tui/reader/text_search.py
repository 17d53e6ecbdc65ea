"""Finds a pattern in the text of a document, whatever its case. Knows no screen."""

from __future__ import annotations

import re
from array import array

from roamtui.document.text import DocumentText

_LONG_WHEN_SMALL = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"
"""The one letter whose small form has two characters, which would move all that follows."""
_SPACES = "\n\r\t"


class TextSearch:
    """Searches `text`; that without difference of case is kept for the next pattern."""

    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._folded: str | None = None

    def find(self, pattern: str) -> array[int]:
        """Return the offsets where `pattern` stands, in order, without overlaps; runs of spaces in it are one space."""
        needle = fold_case(" ".join(pattern.split()))
        if not needle:
            return array("Q")
        if self._folded is None:
            self._folded = fold_case(self._text[:])
        return array("Q", (match.start() for match in re.finditer(re.escape(needle), self._folded)))


def fold_case(text: str) -> str:
    """Return `text` of the same length in small letters, its line ends and tabs as spaces."""
    folded = text.replace(_LONG_WHEN_SMALL, "i").lower()
    for space in _SPACES:
        folded = folded.replace(space, " ")
    return folded
