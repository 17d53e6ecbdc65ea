"""`LazyView`: a scroll view over `LazyLines`. What is in view stays there while guesses above it are corrected."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from roamtui.tui.reader.line_strips import Marking, Overlay, ReaderPalette, make_strip
from roamtui.tui.reader.styles import STYLE_NAMES, STYLES, read_palette
from roamtui.tui.scrollbar_picture import move_scrollbar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual import events
    from textual.selection import Selection

    from roamtui.tui.reader.lazy_lines import LazyLines, Place
    from roamtui.tui.reader.line import Line

_MARGIN = 3
"""Lines kept above a place that was jumped to, so that it is read in its context."""


class LazyView(ScrollView):
    """Shows `lines`. A subclass sets them by `show_lines` and says in `markings_at` what is marked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = STYLE_NAMES
    DEFAULT_CSS = STYLES

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: LazyLines | None = None
        self._palette: ReaderPalette | None = None

    def markings_at(self, place: Place) -> list[tuple[int, int, Overlay]]:
        """Return what is marked in a line: its first character, the one after its last, and how."""
        raise NotImplementedError

    def view_settled(self) -> None:
        """Note that other lines may be in view."""

    @property
    def view_size(self) -> Size:
        """The cells for text."""
        return self.scrollable_content_region.size

    @property
    def top_y(self) -> int:
        """The number of the first line in view."""
        return self.scroll_offset.y

    @property
    def sideways(self) -> str:
        """Signs of where lines go on: ``◂``, ``▸`` or both; empty where all is in view."""
        left = "◂" if self.scroll_offset.x > 0 else ""
        return left + ("▸" if self.scroll_offset.x + self.view_size.width < self.virtual_size.width else "")

    def show_lines(self, lines: LazyLines | None, offset: int | None) -> None:
        """Show other lines, from the top or, with its margin, from the block of a character of the document."""
        self.lines = lines
        if self.is_attached:
            self.scroll_to(x=0, y=0, animate=False, force=True)
        if lines is not None and offset is not None:
            self.jump_to(lines.find_offset(offset), margin=0)
        self._settle(is_upward=False)
        self.refresh()

    def jump_to(self, y: int, *, margin: int = _MARGIN) -> None:
        """Bring a line to the top of the view, with some lines above it."""
        if self.lines is None:
            return
        self.lines.measure(y, self.view_size.height)
        self._fit_size()
        top = self._keep_below(max(0, y - margin))
        self.scroll_to(y=top, animate=False, force=True)
        self._settle(is_upward=True)

    def show_y(self, y: int) -> None:
        """Scroll to a line unless it is in view."""
        if not self.top_y <= y < self.top_y + self.view_size.height:
            self.jump_to(y)

    def scroll_columns(self, columns: int) -> None:
        """Scroll to the right by a number of cells, to the left by a negative one."""
        self.scroll_to(x=self.scroll_offset.x + columns, animate=False, force=True)

    def scroll_lines(self, lines: int) -> None:
        """Scroll down by a number of lines, up by a negative one."""
        self.scroll_to(y=self.top_y + lines, animate=False, force=True)

    def page(self, pages: int) -> None:
        """Scroll down by screens, up by a negative number; two lines stay in view."""
        self.scroll_lines(pages * max(1, self.view_size.height - 2))

    def go_top(self) -> None:
        """Scroll to the first line."""
        self.scroll_to(y=0, animate=False, force=True)

    def go_bottom(self) -> None:
        """Scroll to the last line."""
        if self.lines is None:
            return
        chunk, filled = len(self.lines.chunks) - 1, 0
        while chunk >= 0 and filled < self.view_size.height:
            filled += len(self.lines.read(chunk).lines)
            chunk -= 1
        self._fit_size()
        self.scroll_to(y=len(self.lines), animate=False, force=True)

    @contextmanager
    def keep_view(self) -> Iterator[None]:
        """Keep what is in view where it is while chunks above it are laid out."""
        lines = self.lines
        place = lines.locate(self.top_y) if lines and lines.chunks else None
        yield
        if lines and place and lines is self.lines:
            self._fit_size()
            y = lines.top(place.chunk) + place.line
            if y != self.top_y:
                self.scroll_to(y=y, animate=False, force=True)

    @override
    def render_line(self, y: int) -> Strip:
        line_y = y + self.top_y
        width = self.view_size.width
        palette = self.palette
        found = self.lines.line_at(line_y) if self.lines else None
        if found is None:
            return Strip.blank(width, palette.base).apply_offsets(0, line_y)
        place, line = found
        markings = [Marking(start, end, palette.overlays[kind]) for start, end, kind in self.markings_at(place)]
        selection = self.text_selection
        span = selection.get_span(line_y) if selection else None
        if span is not None:
            end = span[1] if span[1] >= 0 else len(line.text)
            markings.append(Marking(span[0], end, palette.selection))
        left = self.scroll_offset.x
        strip = make_strip(line, left + width, palette, markings)
        return strip.crop_extend(left, left + width, palette.base).apply_offsets(left, line_y)

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        if self.lines is None:
            return None
        # A selection that goes on in another pane has no end here: it ends with what is in view.
        start = selection.start or Offset(0, self.top_y)
        end = selection.end or Offset(self.virtual_size.width, self.top_y + self.view_size.height - 1)
        texts = []
        for y in range(start.y, min(end.y + 1, len(self.lines))):
            found = self.lines.line_at(y)
            text = found[1].text if found else ""
            texts.append(text[start.x if y == start.y else 0 : end.x if y == end.y else len(text)].rstrip())
        return "\n".join(texts), "\n"

    def line_in_view(self) -> Line | None:
        """Return the first line in view that has text."""
        if self.lines is None:
            return None
        found = (self.lines.line_at(y) for y in range(self.top_y, self.top_y + max(1, self.view_size.height)))
        lines = [pair[1] for pair in found if pair]
        return next((line for line in lines if line.text.strip()), lines[0] if lines else None)

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        move_scrollbar(self, new_value)
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)
            self._settle(is_upward=new_value < old_value)

    @override
    def notify_style_update(self) -> None:
        self._palette = None
        super().notify_style_update()

    @property
    def palette(self) -> ReaderPalette:
        """The styles of the theme in use."""
        if self._palette is None:
            self._palette = read_palette(self)
        return self._palette

    def _settle(self, *, is_upward: bool) -> None:
        """Lay out what is in view; the line at its top stays, by the end of its chunk when scrolled to from below."""
        lines, height = self.lines, self.view_size.height
        if lines is None or not lines.chunks or not height:
            self._fit_size()
            return
        y = self._keep_below(self.top_y) if is_upward else self._keep_above(self.top_y)
        lines.measure(y, height)
        self._fit_size()
        if y != self.top_y:
            self.scroll_to(y=y, animate=False, force=True)
        self.view_settled()

    def _keep_below(self, y: int) -> int:
        """Lay out the chunk of line `y`; return the number of the line that is as far from the chunk's end."""
        assert self.lines is not None
        place = self.lines.locate(y)
        guessed = self.lines.height(place.chunk)
        self.lines.read(place.chunk)
        height = self.lines.height(place.chunk)
        return self.lines.top(place.chunk) + max(0, height - (guessed - place.line))

    def _keep_above(self, y: int) -> int:
        """Lay out the chunk of line `y`; return the number of the line that is as far into the chunk."""
        assert self.lines is not None
        place = self.lines.locate(y)
        guessed = self.lines.height(place.chunk)
        self.lines.read(place.chunk)
        height = self.lines.height(place.chunk)
        return self.lines.top(place.chunk) + place.line * height // max(1, guessed)

    def _fit_size(self) -> None:
        lines = self.lines
        size = Size(0, 0) if lines is None else Size(max(self.view_size.width, lines.width), len(lines))
        if size != self.virtual_size:
            self.virtual_size = size

    def _on_resize(self, event: events.Resize) -> None:
        del event
        self.width_changed()

    def width_changed(self) -> None:
        """Note that there may be another number of cells for text."""
        self._settle(is_upward=False)
