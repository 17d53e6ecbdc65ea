"""Finds words in the texts of a whole library, ignoring case. Independent of the screen."""

from __future__ import annotations

import asyncio
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple, TypeVar, cast

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.numbering import NodeNumbering

Result = TypeVar("Result")
SlicedWork = Generator[None, None, Result]
"""A generator that yields after each slice of work, so that its caller can do other work or stop. Returns a result."""
_TURN_SECONDS = 0.004
"""Slices run at most this long before waiting keys are handled."""
_DOTTED_I = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"
"""The only letter whose lower case has two characters, which would shift all later offsets."""
_SPACES = "\n\r\t"
"""Characters that match a space of the query."""
_WINDOW_LENGTH = 1 << 16
"""Number of characters searched in one slice: a millisecond of work."""


class TextPosition(NamedTuple):
    """The position of a character in a library."""

    doc: str
    """Key of its document."""
    offset: int


@dataclass(frozen=True, slots=True)
class TextMatches:
    """The matches of a phrase."""

    words: tuple[str, ...] = ()
    """Words to highlight in a text."""
    documents: tuple[tuple[Document, array[int]], ...] = ()
    """Documents with matches, in the order of the library, each with the offsets of its matches."""
    library: Library | None = None
    """The library that was searched, to see whether it has changed since."""

    @property
    def count(self) -> int:
        """The number of matches."""
        return sum(len(offsets) for _, offsets in self.documents)

    def get_number(self, position: TextPosition) -> int:
        """Return the 1-based number of a match among all matches."""
        count_before = 0  # in the documents before this one
        for document, offsets in self.documents:
            if document.key == position.doc:
                return count_before + bisect_right(offsets, position.offset)
            count_before += len(offsets)
        return count_before

    def get_first_in(self, span: Span) -> int | None:
        """Return the offset of the first match within a span, or None."""
        offsets = self._get_offsets(span.doc)
        index = bisect_left(offsets, span.start)
        return offsets[index] if index < len(offsets) and offsets[index] < span.end else None

    def get_adjacent(self, position: TextPosition, direction: int) -> TextPosition | None:
        """Return the match after (1) or before (-1) a position, wrapping around, or None if there is no match."""
        doc, offset = position
        offsets = self._get_offsets(doc)
        index = bisect_right(offsets, offset) if direction > 0 else bisect_left(offsets, offset) - 1
        if 0 <= index < len(offsets):
            return TextPosition(doc, offsets[index])
        if not self.documents:
            return None
        keys = [document.key for document, _ in self.documents]
        # From a document without matches, the search continues at the first or last document with matches.
        current = keys.index(doc) if doc in keys else (-1 if direction > 0 else 0)
        document, offsets = self.documents[(current + direction) % len(keys)]
        return TextPosition(document.key, offsets[0 if direction > 0 else -1])

    def list_sections(self, limit: int) -> Iterator[str]:
        """Yield the ids of the first sections with matches, in reading order."""
        for document, offsets in self.documents:
            index, starts = 0, document.columns.starts
            while index < len(offsets) and limit > 0:
                row = max(0, bisect_right(starts, offsets[index], 0, len(document.columns)) - 1)
                yield document.ids[row]
                limit -= 1
                index = bisect_left(offsets, starts[row + 1])

    def _get_offsets(self, doc: str) -> Sequence[int]:
        return next((offsets for document, offsets in self.documents if document.key == doc), ())


def find_text(library: Library, query: str) -> SlicedWork[TextMatches]:
    """Find a query as a phrase."""
    phrase = " ".join(query.split())
    if not phrase:
        return TextMatches(library=library)
    numbering = NodeNumbering(library)
    # A run is a part of a document, and runs are in reading order. Each document has one run that starts at row 0.
    documents = [document for document, row, _ in numbering.iter_runs(range(len(numbering))) if row == 0]
    matches: list[tuple[Document, array[int]]] = []
    for document in documents:
        if offsets := (yield from find_all(document.text, phrase)):
            matches.append((document, offsets))
    return TextMatches(words=(phrase,), documents=tuple(matches), library=library)


def find_all(text: str, phrase: str) -> SlicedWork[array[int]]:
    """Return the offsets of a phrase in order, without overlaps."""
    needle = fold_case(phrase)
    all_offsets, start = array("Q"), 0
    find = re.compile(re.escape(needle)).finditer
    while start < len(text):
        # The window is longer by all but one character of the phrase, so that a match may cross into the next one.
        window = fold_case(text[start : start + _WINDOW_LENGTH + len(needle) - 1])
        offsets = [start + match.start() for match in find(window)]
        all_offsets.extend(offsets)
        start = max(start + _WINDOW_LENGTH, offsets[-1] + len(needle) if offsets else 0)
        yield
    return all_offsets


def fold_case(text: str) -> str:
    """Return `text` in lower case, of the same length, with line ends and tabs as spaces."""
    folded = text.replace(_DOTTED_I, "i").lower()
    for space in _SPACES:
        folded = folded.replace(space, " ")
    return folded


def match_ranges(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the start and end offsets of words in a text, in order."""
    folded = fold_case(text)
    return sorted(match.span() for word in words for match in re.finditer(re.escape(fold_case(word)), folded))


async def run_sliced(work: SlicedWork[Result]) -> Result:
    """Run work in slices, letting the app take keys between them, and return its result."""
    deadline = monotonic() + _TURN_SECONDS
    while True:
        try:
            next(work)
        except StopIteration as end:
            return cast("Result", end.value)
        if monotonic() > deadline:
            await asyncio.sleep(0)
            deadline = monotonic() + _TURN_SECONDS
