"""`LinesView`: a document's lines, laid out while a person scrolls.

The text in view does not move when estimated heights above it are corrected.
"""

from dataclasses import replace
from typing import Any, ClassVar

from textual.content import Content
from textual.css.styles import StylesBase
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from typing_extensions import override

from roamtui.document.parse import parse_document
from roamtui.markdown.lines import Line, measure_runs
from roamtui.tui.reader.document_view import DocumentView
from roamtui.tui.reader.lazy_lines import HighlightKind, Highlights, LazyLines
from roamtui.tui.run_styles import render_line

_JUMP_MARGIN = 3
"""Number of lines kept above the target of a jump, to show its context."""
_MARGIN_RIGHT = 1
"""Cells between text and scrollbar."""
_SIDEWAYS_COLUMNS = 8
"""Number of cells that a key scrolls sideways."""
_CONTINUED = "›"
"""Marks, at the right edge, a line that is wider than the reader. The right arrow key scrolls to its end."""
_CONTINUED_STYLE = "bold $accent"
EMPTY_VIEW = DocumentView(document=parse_document(""), is_generated=True)


class LinesView(ScrollView, can_focus=True, inherit_bindings=False):
    """The lines of a document. Some of them are highlighted."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*HighlightKind}

    def __init__(self) -> None:
        super().__init__()
        self.lines = LazyLines(EMPTY_VIEW, 0)
        """The lines of the document, empty until the width is known."""
        self.document_view = EMPTY_VIEW
        self.highlights = Highlights()
        self._laid_out_width = 0
        """Width for which the text is laid out, or 0 before the first layout."""
        self._height = 0
        """Height of the view at the last jump or change of its size."""
        self._jump_offset = 0
        """Offset of the last jump. If the width was not known then, the first layout repeats the jump."""
        self._quote_start = 0
        """Where the section with the highlighted quote starts."""
        self._is_jumping = False
        """Whether a jump is under way. It may scroll several times, and only its end counts as a position."""

    def handle_view_change(self) -> None:
        """React to other lines in view, in a subclass. Called once after each layout, scroll or jump."""

    def show_document(
        self, view: DocumentView, offset: int = 0, highlights: Highlights | None = None, quote_start: int = 0
    ) -> None:
        """Show a document from `offset` on, or its quote, if any, whose section begins at `quote_start`."""
        previous_view = self.document_view
        self.document_view = view
        self.highlights = highlights or Highlights()
        self._jump_offset = min(offset, len(view.document.text))
        self._quote_start = quote_start
        if not self.lines.chunks or previous_view.document is not view.document or not self.view_size.height:
            self._rebuild_lines(self._jump_offset)
        else:
            self.lines.highlight(self.highlights)
            self.scroll_to(x=0, force=True)
            self._jump_to(self.lines.get_y(self._jump_offset))
            self.refresh()
        self._show_quote()

    def highlight(self, highlights: Highlights) -> None:
        """Change what is highlighted, and show the current match."""
        self.highlights = highlights
        self.lines.highlight(highlights)
        self._show_match()
        self.refresh()

    def _show_quote(self) -> None:
        """Scroll to the highlighted quote, if any, with its heading if both fit."""
        quote = self.highlights.quote
        if quote is not None and self.lines.chunks:
            y = self.lines.get_y(quote.start)
            heading_y = self.lines.get_y(self._quote_start)
            bottom = heading_y + self.view_size.height - _JUMP_MARGIN
            self._jump_to(heading_y if y < bottom else max(y - _JUMP_MARGIN, heading_y))

    def _show_match(self) -> None:
        if self.highlights.current_match is not None and self.lines.chunks:
            y = self.lines.get_y(self.highlights.current_match)
            if y not in self.view_range:
                self._jump_to(max(0, y - _JUMP_MARGIN))

    @property
    def view_range(self) -> range:
        """The numbers of the lines in view."""
        return range(self.top_y, self.top_y + self.view_size.height)

    @property
    def view_size(self) -> Size:
        """The size of the text area in cells."""
        return self.scrollable_content_region.size

    @property
    def top_y(self) -> int:
        """The number of the first line in view."""
        return self.scroll_offset.y

    def list_lines_in_view(self) -> list[Line]:
        """List the lines in view."""
        located = map(self.lines.get_line, self.view_range or range(self.top_y, self.top_y + 1))
        return [place.line for place in located if place is not None]

    def _lay_out_chunk_at(self, y: int, *, is_from_end: bool) -> int:
        """Lay out the chunk of line `y`, and return the new number of the line.

        With `is_from_end`, the line keeps its distance from the chunk's end, otherwise its relative position.
        """
        chunk, line = self.lines.locate(y)
        estimated_height = self.lines.heights[chunk]
        self.lines.get_chunk_lines(chunk)  # corrects the height
        height = self.lines.heights[chunk]
        if is_from_end:
            line = max(0, height - estimated_height + line)
        else:
            line = line * height // max(1, estimated_height)
        return self.lines.get_top(chunk) + line

    def _update_virtual_size(self, top: int) -> None:
        """Make room for all lines, and for the blank ones that let line `top` be at the top."""
        size = Size(0, 0)
        if self.lines.chunks:
            width = max(self.view_size.width, self.lines.text_width)
            size = Size(width, max(len(self.lines), top + self.view_size.height))
        self.virtual_size = size

    @property
    def offset_in_view(self) -> int:
        """The offset of the first block in view."""
        lines = self.list_lines_in_view()
        first = next((line for line in lines if line.has_content), lines[0] if lines else None)
        return first.block_start if first is not None else self._jump_offset

    def action_move_sideways(self, direction: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + _SIDEWAYS_COLUMNS * direction, force=True)

    def action_move(self, lines: int) -> None:
        self.scroll_to(y=self.top_y + lines, force=True)

    def action_page(self, pages: int) -> None:
        """Scroll down by `pages` screens, or up if negative. At least two lines stay in view."""
        self.action_move(pages * max(1, self.view_size.height - 2))

    def action_first(self) -> None:
        self.scroll_to(y=0, force=True)

    def action_last(self) -> None:
        # Measure the chunks that the last screen shows, because the estimated number of lines may be wrong.
        chunk = len(self.lines.chunks) - 1
        height = 0
        while chunk >= 0 and height < self.view_size.height:
            height += len(self.lines.get_chunk_lines(chunk).lines)
            chunk -= 1
        self._update_virtual_size(self.top_y)
        self.scroll_to(y=max(0, len(self.lines) - self.view_size.height), force=True)

    def _rebuild_lines(self, offset: int) -> None:
        """Lay out the text again, and show it from an offset of the document on."""
        self._laid_out_width = self.view_size.width if self.view_size.height else 0
        view = self.document_view if self._laid_out_width else EMPTY_VIEW
        self.lines = LazyLines(view, self._laid_out_width - _MARGIN_RIGHT)
        self.lines.highlight(self.highlights)
        if self.is_attached:
            self._is_jumping = True
            self.scroll_to(x=0, y=0, force=True)
            self._is_jumping = False
        self._jump_to(self.lines.get_y(offset))
        self._update_view(is_upward=False)
        self.refresh()

    def _jump_to(self, y: int) -> None:
        lines = self.lines
        height = self.view_size.height
        if lines.chunks:
            lines.lay_out_from(y, height)
            top = self._lay_out_chunk_at(y, is_from_end=True)
            self._height = height
            self._update_virtual_size(top)
            self._is_jumping = True
            self.scroll_to(y=top, force=True)
            self._update_view(is_upward=True)
            self._is_jumping = False
            self.handle_view_change()

    @override
    def render_line(self, y: int) -> Strip:
        line_y = y + self.top_y
        left = self.scroll_offset.x
        width = self.view_size.width
        located = self.lines.get_line(line_y)
        if located is None:
            return Strip.blank(width, self.visual_style.rich_style).apply_offsets(0, line_y)
        line = located.line
        content = render_line(line, left + width)
        for start, end, kind in self.lines.iter_highlights(located):
            content = content.stylize(_make_style(self.get_component_styles(kind)), start, end)
        span = self.text_selection.get_span(line_y) if self.text_selection else None
        if span is not None:
            selected = _make_style(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(selected, span[0], span[1] if span[1] >= 0 else len(line.text))
        strip = Strip(content.render_segments(self.visual_style) if content else [])
        shown = strip.crop_extend(left, left + width, self.visual_style.rich_style)
        right = left + width
        if self.lines.text_width > right and measure_runs(line.runs) > right:  # the line continues
            mark = Content.styled(_CONTINUED, _CONTINUED_STYLE).render_segments(self.visual_style)
            shown = Strip.join([shown.crop(0, width - 1), Strip(mark)])
        return shown.apply_offsets(left, line_y)

    @override
    def scroll_to(self, *args: Any, **options: Any) -> None:
        """Scroll without animation: keeping the place could end it in its last step, where Textual fails."""
        super().scroll_to(*args, **{**options, "animate": False})

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.view_size.height > self._height:  # Textual scrolls up to fill a view that grew
            self._jump_to(round(old_value))
        elif round(old_value) != round(new_value):
            self._update_view(is_upward=new_value < old_value)

    def watch_show_vertical_scrollbar(self, is_shown: bool) -> None:  # noqa: FBT001 - as Textual calls it
        """Place the thumb, which Textual moves only while the scrollbar is shown."""
        if is_shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _update_view(self, *, is_upward: bool) -> None:
        """Lay out the lines in view, which corrects the estimated heights, and report the new position.

        The top line keeps its place in its chunk, counted from the end of the chunk if the person scrolls up.
        """
        lines = self.lines
        height = self.view_size.height
        if not lines.chunks or not height:
            self._update_virtual_size(0)
            return
        y = self._lay_out_chunk_at(self.top_y, is_from_end=is_upward)
        lines.lay_out_from(y, height)
        self._update_virtual_size(y)
        if y != self.top_y:
            self.scroll_to(y=y, force=True)
        if not self._is_jumping:
            self.handle_view_change()

    @override
    def on_mount(self) -> None:
        """Follow each layout of the screen."""
        self.screen.screen_layout_refresh_signal.subscribe(self, self._fit_width)

    def _fit_width(self, _screen: Screen[Any]) -> None:
        """Lay the text out if no `Resize` told of its width.

        Textual sends none to a widget whose region is asked for after a scroll and before its first layout.
        """
        if self.view_size.height and self.view_size.width != self._laid_out_width:
            self.call_next(self.on_resize)

    def on_resize(self) -> None:
        """Lay the text out in the new width, and keep the place in view."""
        if self.view_size.width != self._laid_out_width:
            is_first = not self._laid_out_width
            self._rebuild_lines(self._jump_offset if is_first else self.offset_in_view)
            if is_first:
                self._show_quote()
                self._show_match()
        self._height = self.view_size.height
        self._update_view(is_upward=False)


def _make_style(styles: StylesBase) -> Style:
    """Make a style from a rule. If that sets no text colour, keep the text's own: Textual would use white."""
    style = Style.from_styles(styles)
    return style if styles.has_rule("color") else replace(style, foreground=None)
