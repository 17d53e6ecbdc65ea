"""The text that a person sees, with its places in the source."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from roamtui.markdown.blocks import Emphasis
from roamtui.sentences import iter_sentence_ends
from roamtui.text import Bounds


class VisiblePiece(NamedTuple):
    """Visible text with its bounds in the source. If both are equally long, their characters correspond."""

    text: str
    start: int = 0
    end: int = 0
    """Equal to `start` if the text is not in the source."""
    emphasis: Emphasis = Emphasis.NONE
    is_image: bool = False
    """Whether it is the description of an image."""
    is_reference: bool = False
    """Whether it is the mark of a footnote or citation, which is shown in another form than in the source."""

    @property
    def marked(self) -> str:
        """The text, with tildes around it if it is struck out."""
        return f"~~{self.text}~~" if Emphasis.STRUCK in self.emphasis else self.text


class VisibleText(Struct, frozen=True, dict=True):
    """Pieces of visible text, in the order of the source."""

    pieces: tuple[VisiblePiece, ...]

    @cached_property
    def text(self) -> str:
        """The visible text."""
        return "".join([piece.text for piece in self.pieces])

    @property
    def words(self) -> str:
        """The visible text without pictures, with tildes around struck-out words."""
        return "".join(piece.marked for piece in self.pieces if not piece.is_image)

    @cached_property
    def sentence_ends(self) -> array[int]:
        """The offset after each sentence but the last."""
        return array("Q", iter_sentence_ends(self.text))

    @cached_property
    def offsets(self) -> array[int]:
        """The offset of each piece, and the end of the last."""
        return array("Q", accumulate([len(piece.text) for piece in self.pieces], initial=0))

    @cached_property
    def _source_ends(self) -> array[int]:
        return array("Q", accumulate([piece.end for piece in self.pieces], max))

    def locate(self, start: int, end: int) -> Bounds | None:
        """Return the bounds of a part of the source in the visible text, or None if it is not visible."""
        first = bisect_right(self._source_ends, start)
        last = bisect_left(self._source_ends, end)
        inside = [
            index
            for index in range(first, min(last + 1, len(self.pieces)))
            if self.pieces[index].start < min(end, self.pieces[index].end)
        ]
        if not inside:
            return None
        low, high = self.pieces[inside[0]], self.pieces[inside[-1]]
        skipped = max(0, start - low.start) if low.end - low.start == len(low.text) else 0
        left = max(0, high.end - end) if high.end - high.start == len(high.text) else 0
        return self.offsets[inside[0]] + skipped, self.offsets[inside[-1] + 1] - left

    def iter_pieces(self, start: int, end: int) -> Iterator[VisiblePiece]:
        """Yield the pieces from `start` to `end` of the visible text. Cut the first and the last."""
        index = max(0, bisect_right(self.offsets, start) - 1)
        while index < len(self.pieces) and self.offsets[index] < end:
            piece = self.pieces[index]
            low = max(0, start - self.offsets[index])
            high = min(len(piece.text), end - self.offsets[index])
            if piece.end - piece.start == len(piece.text):
                piece = piece._replace(start=piece.start + low, end=piece.start + high)
            yield piece._replace(text=piece.text[low:high])
            index += 1
