"""`LinesView`: scrolls through lines that are laid out when they are needed, and selects words in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from typing_extensions import override

from roamtui.markdown.lines import Line, measure_runs
from roamtui.tui.reader.highlights import SelectedText, list_selected_lines
from roamtui.tui.reader.lazy_lines import LazyLines

JUMP_MARGIN = 3
"""Number of lines kept above the target of a jump, to show its context."""


class LinesView(ScrollView):
    """A view of lines whose number is partly estimated."""

    def __init__(self, lines: LazyLines, id: str | None) -> None:  # noqa: A002 (Textual's own name)
        super().__init__(id=id)
        self.lines = lines
        """The lines of the document, empty until the width is known."""
        self._blank_lines = 0
        """Blank lines after the last line, so that any section can be scrolled to the top."""

    @property
    def view_size(self) -> Size:
        """The size of the text area in cells."""
        return self.scrollable_content_region.size

    @property
    def top_y(self) -> int:
        """The number of the first line in view."""
        return self.scroll_offset.y

    @property
    def overflow_signs(self) -> str:
        """The sides on which lines continue out of view: ``◂``, ``▸``, both or none."""
        start, end = self.scroll_offset.x, self.scroll_offset.x + self.view_size.width
        has_more = any(measure_runs(line.runs) > end for line in self._iter_lines_in_view())
        return ("◂" if start > 0 else "") + ("▸" if has_more else "")

    def end_selection(self) -> bool:
        """Select nothing. Return whether anything was selected."""
        has_selection = self.text_selection is not None
        if has_selection:
            self.screen.clear_selection()
        return has_selection

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return "\n".join(part.text.rstrip() for part in self._list_selected(selection)), "\n"

    def _list_selected(self, selection: Selection | None) -> list[SelectedText]:
        if selection is None:
            return []
        # A selection that continues in another pane has no end here, so it ends with the view.
        start = selection.start or Offset(0, self.top_y)
        end = selection.end or Offset(self.virtual_size.width, self.top_y + self.view_size.height - 1)
        return list_selected_lines(self.lines, start, end)

    def _iter_lines_in_view(self, *, height_min: int = 0) -> Iterator[Line]:
        for y in range(self.top_y, self.top_y + max(height_min, self.view_size.height)):
            if found := self.lines.get_line(y):
                yield found.line

    @property
    def first_line_in_view(self) -> Line | None:
        """The first line in view that has text or a picture, or else the first line. None if no line is in view."""
        lines = list(self._iter_lines_in_view(height_min=1))
        return next((line for line in lines if line.has_content), lines[0] if lines else None)

    @property
    def _sticky_head(self) -> tuple[Line, ...]:
        """The head to draw over the first lines in view if a table that starts above continues there, else empty."""
        top = self.lines.get_line(self.top_y)
        head = top.line.head if top else ()
        if not 0 < len(head) <= JUMP_MARGIN:  # a higher head would cover the target of a jump
            return ()
        below = self.lines.get_line(self.top_y + len(head))
        return head if below and below.line.head else ()

    def _measure_chunk_at(self, y: int, *, is_from_end: bool) -> int:
        """Lay out the chunk of line `y`, and return the new number of the line.

        With `is_from_end`, the line keeps its distance from the chunk's end, otherwise its relative position.
        """
        chunk, line = self.lines.locate(y)
        estimated_height = self.lines.heights[chunk]
        self.lines.get_chunk_lines(chunk)  # corrects the height
        height = self.lines.heights[chunk]
        line = max(0, height - estimated_height + line) if is_from_end else line * height // max(1, estimated_height)
        return self.lines.get_top(chunk) + line

    def _update_virtual_size(self) -> None:
        """Set the scrollable size to the lines laid out so far and the estimated ones."""
        width = max(self.view_size.width, self.lines.text_width) if self.lines.chunks else 0
        size = Size(width, len(self.lines) + self._blank_lines if self.lines.chunks else 0)
        if size != self.virtual_size:
            self.virtual_size = size

    @contextmanager
    def _keep_view(self) -> Iterator[None]:
        """Keep the text in view at its place while chunks above it are laid out."""
        lines = self.lines
        position = lines.locate(self.top_y) if lines.chunks else None
        yield
        if position and lines is self.lines:
            self._update_virtual_size()
            y = lines.get_top(position.chunk) + position.line
            if y != self.top_y:
                self.scroll_to(y=y, animate=False, force=True)

    def scroll_to_end(self) -> None:
        """Scroll to the last lines of the document."""
        # Measure the chunks that the last screen shows, because the estimated number of lines may be wrong.
        chunk, height = len(self.lines.chunks) - 1, 0
        while chunk >= 0 and height < self.view_size.height:
            height += len(self.lines.get_chunk_lines(chunk).lines)
            chunk -= 1
        self._blank_lines = 0
        self._update_virtual_size()
        self.scroll_to(y=len(self.lines), animate=False, force=True)
