"""Sentences as a reader sees them: those around a quote, whole or cut, and those that answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from roamtui.text import WIDE, Bounds, format_count, merge_bounds, subtract_bounds

_GAP = re.compile(r"\[… ([\d,]+) words?\]")
_WORD_LENGTH_MAX = 40
"""A longer word is divided."""
# Not compiled here: the first screen does not need them.
_WORD = rf"[{WIDE}]|[^\s{WIDE}]+"
_WORD_END = rf"[{WIDE}]\s*|\s+|[^\s{WIDE}]{{{_WORD_LENGTH_MAX}}}"


class KeySentence(NamedTuple):
    """The sentences or the row of a passage that answer a question, as a reader sees them."""

    words: str = ""
    row: str = ""
    """The row with its column heads. Empty for a sentence, and for a row whose heads are unknown."""
    beside: str = ""
    """A row of another table that explains this one, such as ``Class C | Covers Chainsaws``."""

    @property
    def shown(self) -> str:
        """What a person reads."""
        return self.row or self.words


class SentencePart(Struct, frozen=True):
    """Some words of a sentence, or a gap between them."""

    text: str
    is_quoted: bool = False
    """Whether the quote has them."""
    is_struck: bool = False
    """Whether the document strikes them out."""
    is_left_out: bool = False
    """Whether the quote leaves them out between two of its words."""


class QuotedSentence(Struct, frozen=True, kw_only=True):
    """The sentence of the document that a quote is from, as a person sees it, on one line."""

    sentence: str
    """The whole sentence, row or item, with its heads and the lines that introduce it."""
    quoted: tuple[Bounds, ...]
    """The bounds of the quote's words. There are several if the quote leaves words out."""
    struck: tuple[Bounds, ...] = ()
    """The bounds of words that the document strikes out."""

    @property
    def text(self) -> str:
        """The sentence as plain text, with tildes around struck-out words."""
        parts = (f"~~{part.text}~~" if part.is_struck else part.text for part in self.list_parts())
        return "".join(parts)

    @property
    def unquoted(self) -> list[str]:
        """What the sentence has before, between and after the quote's words."""
        outside = subtract_bounds(0, len(self.sentence), self.quoted)
        return [self.sentence[start:end] for start, end in outside]

    def list_parts(self) -> list[SentencePart]:
        """List the parts of the whole sentence."""
        return [*self._divide(0, len(self.sentence))]

    def cut(self, width: int) -> list[SentencePart]:
        """List parts of at most `width` cells: the words nearest to the ends of the quote, and gaps."""
        from roamtui.markdown.lines import measure  # noqa: PLC0415

        if measure(self.sentence) <= width:
            return self.list_parts()
        edges = [edge for bounds in self.quoted for edge in bounds] or [0]
        parts = [SentencePart(format_gap(self.sentence))]
        low = 0
        high = width
        while low < high:  # the furthest reach that fits
            middle = (low + high + 1) // 2
            longer = [*self._cut(list_near_bounds(self.sentence, (0, len(self.sentence)), edges, middle))]
            if sum(measure(part.text) for part in longer) <= width:
                parts = longer
                low = middle
            else:
                high = middle - 1
        return parts

    def _cut(self, shown: Iterable[Bounds]) -> Iterator[SentencePart]:
        position = 0
        for start, end in (*shown, (len(self.sentence), len(self.sentence))):
            if position < start:
                yield SentencePart(f"{format_gap(self.sentence[position:start])} ")
            yield from self._divide(start, end)
            position = end

    def _divide(self, start: int, end: int) -> Iterator[SentencePart]:
        """Yield a part of the sentence, divided where the quote or struck-out words begin and end."""
        if start == end:
            return
        edges = {edge for bounds in (*self.quoted, *self.struck) for edge in bounds if start < edge < end}
        for low, high in pairwise((start, *sorted(edges), end)):
            is_quoted, is_struck = (
                any(first <= low < last for first, last in bounds) for bounds in (self.quoted, self.struck)
            )
            is_between = bool(self.quoted) and self.quoted[0][0] <= low < self.quoted[-1][1]
            is_left_out = is_between and not is_quoted
            yield SentencePart(self.sentence[low:high], is_quoted, is_struck, is_left_out)


def format_gap(text: str) -> str:
    """Return the mark for words that are left out. It says how many words, and counts earlier marks."""
    hidden = sum(int(count.replace(",", "")) for count in _GAP.findall(text))
    words = re.findall(_WORD, _GAP.sub("", text))
    return f"[… {format_count(hidden + len(words), 'word')}]"


def list_near_bounds(text: str, bounds: Bounds, edges: Iterable[int], reach: int) -> list[Bounds]:
    """List the parts of `text[bounds]` that are at most `reach` characters from one of the `edges`.

    They begin and end with whole words, or characters of scripts without spaces. Parts are joined if the mark
    for the gap between them would be as long as the gap.
    """
    word_end = re.compile(_WORD_END)
    low, high = bounds
    near = [(low, low)]
    windows = merge_bounds((max(low, edge - reach), min(high, edge + reach)) for edge in edges)
    for start, end in (*windows, (high, high)):
        cuts = [match.end() for match in word_end.finditer(text, start, end)]
        if start == low:
            cuts.insert(0, low)
        if end == high:
            cuts.append(high)
        if not cuts:
            continue
        if cuts[0] - near[-1][1] > len(format_gap(text[near[-1][1] : cuts[0]])) + 1:
            near.append((cuts[0], cuts[-1]))
        else:
            near[-1] = (near[-1][0], cuts[-1])
    return [(start, end) for start, end in near if start < end]
