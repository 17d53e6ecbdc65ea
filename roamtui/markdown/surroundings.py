"""What the document says around a quote, whole or cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from roamtui.plain import format_count
from roamtui.text import Bounds, subtract_bounds

_WORD_LENGTH_MAX = 40
"""A longer word is divided."""
_CELLS_PER_END = 40
"""For each so many cells of a line, one word at each end of a quote comes before the words around it."""


class Part(Struct, frozen=True):
    """Some words of a sentence, or a gap between them."""

    text: str
    is_quoted: bool = False
    """Whether the quote has them."""
    is_struck: bool = False
    """Whether the document strikes them out."""


class Surroundings(Struct, frozen=True, kw_only=True):
    """What the document says around a quote, as a person sees it, on one line."""

    sentence: str
    """The whole sentence, row or item, with the heads and the lines that lead it in."""
    quoted: tuple[Bounds, ...]
    """The bounds of the quote's words; several if the quote leaves words out."""
    struck: tuple[Bounds, ...] = ()
    """The bounds of words that the document strikes out."""

    @property
    def text(self) -> str:
        """The sentence as plain text, in which struck-out words stand between tildes."""
        parts = (f"~~{part.text}~~" if part.is_struck else part.text for part in self.list_parts())
        return "".join(parts)

    @property
    def quoted_words(self) -> str:
        """The words of the quote."""
        return " ".join(self.sentence[start:end] for start, end in self.quoted)

    @property
    def is_bare(self) -> bool:
        """Whether the quote is the whole sentence."""
        outside = subtract_bounds(0, len(self.sentence), self.quoted)
        return not any(any(map(str.isalnum, self.sentence[start:end])) for start, end in outside)

    def list_parts(self) -> list[Part]:
        """List the parts of the whole sentence."""
        return [*self._divide(0, len(self.sentence))]

    def cut(self, width: int) -> list[Part]:
        """List parts of at most `width` cells in all: the ends of the quote and the words beside them.

        Each gap says how many words it hides. If there is little room, the quote has a gap too.
        """
        tokens = _read_tokens(self)
        if sum(token.width for token in tokens) <= width:
            return self.list_parts()
        order = _rank(tokens, max(1, width // _CELLS_PER_END))
        low = 1
        high = len(order)
        while low < high:  # the most words that fit
            middle = (low + high + 1) // 2
            runs = _list_runs(tokens, order[:middle])
            if sum(run.width for run in runs) <= width:
                low = middle
            else:
                high = middle - 1
        parts: list[Part] = []
        start = end = 0
        for run in _list_runs(tokens, order[:low]):
            if run.gap:
                parts += [*self._divide(start, end), Part(run.gap)]
                start = run.end
            end = run.end
        return [*parts, *self._divide(start, end)]

    def _divide(self, start: int, end: int) -> Iterator[Part]:
        """Yield a part of the sentence, divided where the quote or struck-out words begin and end."""
        if start == end:
            return
        edges = {edge for bounds in (*self.quoted, *self.struck) for edge in bounds if start < edge < end}
        for low, high in pairwise((start, *sorted(edges), end)):
            is_quoted, is_struck = (
                any(first <= low < last for first, last in bounds) for bounds in (self.quoted, self.struck)
            )
            yield Part(self.sentence[low:high], is_quoted, is_struck)


class _Run(Struct, frozen=True):
    """A part of a sentence, or a gap in its place."""

    start: int
    end: int
    width: int
    words: int
    is_quoted: bool = False
    gap: str = ""


def _read_tokens(surroundings: Surroundings) -> list[_Run]:
    """Divide a sentence into gaps, words, and characters of scripts without spaces, with the space after."""
    from roamtui.markdown.lines import WIDE, measure  # noqa: PLC0415 - the first screen does not need it

    tokens: list[_Run] = []
    pattern = rf"\[… (?P<hidden>[\d,]+) words?\]\s*|[{WIDE}]\s*|[^\s{WIDE}]{{1,{_WORD_LENGTH_MAX}}}\s*"
    for match in re.finditer(pattern, surroundings.sentence):
        start, end = match.span()
        words = int(match["hidden"].replace(",", "")) if match["hidden"] else 1
        is_quoted = any(first < end and start < last for first, last in surroundings.quoted)
        tokens.append(_Run(start, end, measure(match[0]), words, is_quoted))
    return tokens


def _rank(tokens: Sequence[_Run], end_words: int) -> list[int]:
    """Order the tokens: the ends of the quote, then what stands nearest around it, then what is inside."""
    quoted = [index for index, token in enumerate(tokens) if token.is_quoted]
    firsts = [index for index in quoted if not index or not tokens[index - 1].is_quoted]
    lasts = [index for index in quoted if index + 1 == len(tokens) or not tokens[index + 1].is_quoted]
    ends = [*firsts, *lasts]

    def get_rank(index: int) -> tuple[int, int]:
        distance = min((abs(index - end) for end in ends), default=index)
        if not tokens[index].is_quoted:
            return 1, distance
        return (0 if distance < end_words else 2), distance

    return sorted(range(len(tokens)), key=get_rank)


def _list_runs(tokens: Sequence[_Run], shown: Sequence[int]) -> Iterator[_Run]:
    """Yield the shown tokens and the gaps between them. There is no gap that would save nothing."""
    position = 0
    for index in (*sorted(shown), len(tokens)):
        hidden = tokens[position:index]
        gap = f"[… {format_count(sum(token.words for token in hidden), 'word')}] "
        width = sum(token.width for token in hidden)
        if width > len(gap):
            yield _Run(hidden[0].start, hidden[-1].end, len(gap), 0, gap=gap)
        else:
            yield from hidden
        yield from tokens[index : index + 1]
        position = index + 1
