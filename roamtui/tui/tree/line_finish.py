"""`LineFinish`: makes the strip of a line of the tree one of the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.color import Color
    from textual.filter import LineFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFinish:
    """What makes the strip of a line one of the screen."""

    left: int
    """Cells before the line."""
    content_width: int
    """Cells of the line itself."""
    base: Style
    background: Color
    filters: tuple[LineFilter, ...]

    @property
    def right(self) -> int:
        """The column after the line."""
        return self.left + self.content_width

    def apply(self, strip: Strip) -> Strip:
        """Return a strip from the left edge of the widget to the end of the line."""
        before = (Segment(" " * self.left, self._blank_style),) if self.left else ()
        return Strip(self._filter([*before, *strip]), self.right)

    def fit(self, strip: Strip, left: int, right: int) -> Strip:
        """Return the columns from `left` to `right` of the widget of a strip that was made by `apply`."""
        if right > self.right:
            [blank] = self._filter([Segment(" ", self._blank_style)])
            strip = strip.adjust_cell_length(right, blank.style)
        return strip.crop(left, right)

    @property
    def _blank_style(self) -> Style:
        return Style(bgcolor=self.base.bgcolor)

    def _filter(self, segments: list[Segment]) -> list[Segment]:
        for line_filter in self.filters:
            segments = line_filter.apply(segments, self.background)
        return segments
