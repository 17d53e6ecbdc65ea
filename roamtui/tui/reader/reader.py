"""`Reader`: the text of a document, opened at any section, and laid out while a person scrolls.

The text in view does not move when estimated heights above it are corrected.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from textual import events, on
from textual.content import Content
from textual.css.styles import StylesBase
from textual.geometry import Offset, Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.parse import parse_document, strip_log_indent
from roamtui.markdown.blocks import Link
from roamtui.markdown.lines import Line, measure_runs
from roamtui.outline.labels import PATH_STEP
from roamtui.plain import sanitise_line
from roamtui.text import Span, format_page
from roamtui.tui.actions import Scope, make_bindings
from roamtui.tui.clipboard import copy
from roamtui.tui.messages import TARGET_META, ReadingPositionChanged, StatusMessage
from roamtui.tui.reader.document_view import DocumentView, make_document_view
from roamtui.tui.reader.lazy_lines import (
    QUOTE_KINDS,
    HighlightKind,
    Highlights,
    LazyLines,
    SelectedText,
    ShownLink,
    compute_selection_span,
    list_selected_lines,
)
from roamtui.tui.run_styles import render_line
from roamtui.tui.screen_words import format_full_path

_JUMP_MARGIN = 3
"""Number of lines kept above the target of a jump, to show its context."""
_MARGIN_RIGHT = 1
"""Cells between text and scrollbar."""
_SIDEWAYS_COLUMNS = 8
"""Number of cells that a key scrolls sideways."""
_CONTINUED = "›"
"""Mark at the right edge of a line that is wider than the reader: the right arrow key scrolls to its end."""
_CONTINUED_STYLE = "bold $accent"
_QUOTE_BAR = "▌"
_QUOTE_BAR_STYLE = "$text-success"
_NEAREST_BAR_STYLE = "$text-secondary"
_QUOTED_CODE = Style(bold=True)
"""The bar marks it too, so that code keeps its colours."""
_HINT_STYLE = "$block-cursor-foreground on $block-cursor-background"
_EMPTY_VIEW = DocumentView(document=parse_document(""), is_generated=True)


class ReadingPosition(NamedTuple):
    """The position at the top of the reader."""

    section_id: str
    offset: int
    """Characters from the section's start to the top of the view. Negative if it starts below the top."""


class Reader(ScrollView, can_focus=True, inherit_bindings=False):
    """A document, opened at one of its sections. The section at the top is the current one."""

    BINDINGS = make_bindings(Scope.READER, Scope.SECTION, Scope.MOVE)
    COMPONENT_CLASSES: ClassVar[set[str]] = {*HighlightKind}

    match_label: reactive[str] = reactive("", repaint=False)
    """Number of the match that was jumped to, and the total. Empty after the reader has moved away."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = LazyLines(_EMPTY_VIEW, 0)
        """The lines of the document, empty until the width is known."""
        self._laid_out_width = 0
        """Width for which the text is laid out, or 0 before the first layout."""
        self._blank_lines = 0
        """Blank lines after the last line, so that any section can be scrolled to the top."""
        self._height = 0
        """Height of the view when the blank lines were counted."""
        self._library: Library | None = None
        self.section_id: str | None = None
        """The current section, or None if the reader is empty."""
        self._document_view = _EMPTY_VIEW
        self._highlights = Highlights()
        self._hints: Sequence[ShownLink] = ()
        """The links that have numbers on the screen."""
        self._typed = ""
        """The digits of a number that were typed."""
        self._jump_offset = 0
        """Offset of the last jump, which is scrolled to again if the width becomes known only later."""
        self._is_jumping = False
        """Whether a jump is under way. The positions that it scrolls through are not posted."""
        self._posted_id: str | None = None
        """The section that was posted last, so that none is posted twice."""

    def show_section(
        self,
        library: Library,
        section_id: str,
        *,
        highlight: Span | None = None,
        is_nearest: bool = False,
        offset: int = 0,
    ) -> None:
        """Show a section from an offset on, or a span to highlight. It may be in another document.

        With `is_nearest`, the highlight has another colour than a quote.

        Raises:
            UnknownSectionError: The library has no such section.
        """
        view = make_document_view(library, section_id)
        previous_view = self._document_view
        self._library = library
        self._document_view = view
        # the caller knows this section, so do not post it back
        self.section_id = self._posted_id = section_id
        self._jump_offset = min(view.start + offset, len(view.document.text))
        quote = highlight if highlight is not None and highlight.doc == view.document.key else None
        self._highlights = Highlights(quote, self._highlights.words, is_nearest=is_nearest)
        self._set_hints(())
        if not self.lines.chunks or previous_view.document is not view.document or not self.view_size.height:
            self._rebuild_lines(self._jump_offset)
        else:
            self.lines.highlight(self._highlights)
            self.scroll_to(x=0, force=True)
            self._jump_to(self.lines.get_y(self._jump_offset))
            self.refresh()
        self._show_quote()

    def refresh_library(self, library: Library) -> None:
        """Show the same position in a changed library, or nothing if its section is gone."""
        position = self.position
        if position is not None and position.section_id in library:
            self.show_section(library, position.section_id, offset=position.offset)
            return
        self._library = self.section_id = self._posted_id = None
        self._document_view = _EMPTY_VIEW
        self._highlights = Highlights()
        self._rebuild_lines(0)

    def highlight_words(self, words: tuple[str, ...], match: int | None = None, label: str = "") -> None:
        """Highlight all matches of words, and show the one at the offset `match`, whose number is `label`."""
        shown = self._highlights
        self._highlights = Highlights(shown.quote, words, match, is_nearest=shown.is_nearest)
        self.lines.highlight(self._highlights)
        self._show_match()
        self.match_label = label
        self.refresh()

    def _show_quote(self) -> None:
        """Scroll to the highlighted quote, if any, with its heading if both fit, but not above it."""
        library = self._library
        quote = self._highlights.quote
        if library is not None and quote is not None and self.lines.chunks:
            y = self.lines.get_y(quote.start)
            section_id = library.section_at(quote.doc, quote.start)
            start = library.node(section_id).content_span.start if section_id is not None else 0
            heading_y = self.lines.get_y(start)
            bottom = heading_y + self.view_size.height
            fits = y < bottom and not self.lines.is_quoted(bottom)
            self._jump_to(heading_y if fits else max(y - _JUMP_MARGIN, heading_y))

    def _show_match(self) -> None:
        if self._highlights.current_match is not None and self.lines.chunks:
            y = self.lines.get_y(self._highlights.current_match)
            if y not in self._view_range:
                self._jump_to(max(0, y - _JUMP_MARGIN))

    def action_move_sideways(self, direction: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + _SIDEWAYS_COLUMNS * direction, force=True)

    def action_follow(self) -> None:
        """Number the links in view. The number that the person types next follows one."""
        self._set_hints(self.lines.list_links(self._view_range))
        self.post_message(StatusMessage("Type the number of a link" if self._hints else "No link in view"))

    def _set_hints(self, links: Sequence[ShownLink], typed: str = "") -> None:
        if self._hints or links:
            self._hints = links
            self._typed = typed
            self.refresh()

    def on_key(self, event: events.Key) -> None:
        """While links have numbers, take the digits of one. Any other key removes them, and acts as usual."""
        if not self._hints:
            return
        hints = self._hints
        typed = self._typed + (event.character or "")
        is_digit = event.character is not None and event.character.isdecimal()
        if is_digit or event.key == "escape":
            event.stop()
            event.prevent_default()
        is_complete = len(typed) == len(str(len(hints)))
        self._set_hints(hints if is_digit and not is_complete else (), typed)
        if is_digit and is_complete and 0 < int(typed) <= len(hints):
            self.follow(hints[int(typed) - 1].link)
        elif is_digit and is_complete:
            self.post_message(StatusMessage(f"No link {int(typed)} in view"))

    @on(events.Blur)
    def _end_hints(self) -> None:
        self._set_hints(())

    def follow(self, link: Link) -> None:
        """Go where a link leads. A preview stays where it is."""

    @property
    def _view_range(self) -> range:
        return range(self.top_y, self.top_y + self.view_size.height)

    @property
    def view_size(self) -> Size:
        """The size of the text area in cells."""
        return self.scrollable_content_region.size

    @property
    def top_y(self) -> int:
        """The number of the first line in view."""
        return self.scroll_offset.y

    def end_selection(self) -> bool:
        """Select nothing. Return whether anything was selected."""
        has_selection = self.text_selection is not None
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

    def _list_lines_in_view(self) -> list[Line]:
        located = map(self.lines.get_line, self._view_range or range(self.top_y, self.top_y + 1))
        return [place.line for place in located if place is not None]

    def _measure_chunk_at(self, y: int, *, is_from_end: bool) -> int:
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

    def _update_virtual_size(self) -> None:
        width = max(self.view_size.width, self.lines.text_width) if self.lines.chunks else 0
        self.virtual_size = Size(width, len(self.lines) + self._blank_lines if self.lines.chunks else 0)

    def _get_section_at(self, offset: int) -> str | None:
        """Return the section at an offset, or the current one if it starts there too, as a file does."""
        current_id = self.section_id
        document = self._document_view.document
        if self._library is None or current_id is None or self._document_view.is_generated:
            return current_id
        section_id = self._library.section_at(document.key, offset)
        start = self._library.node(section_id or current_id).content_span.start
        current = self._library.node(current_id).content_span
        return current_id if (current.doc, current.start) == (document.key, start) else section_id

    @property
    def position(self) -> ReadingPosition | None:
        """The current reading position, or None if the reader is empty."""
        if self._library is None or self.section_id is None:
            return None
        start = self._library.node(self.section_id).content_span.start
        is_generated = self._document_view.is_generated
        return ReadingPosition(self.section_id, self._offset_in_view - (0 if is_generated else start))

    @property
    def _offset_in_view(self) -> int:
        lines = self._list_lines_in_view()
        first = next((line for line in lines if line.has_content), lines[0] if lines else None)
        return first.block_start if first is not None else self._jump_offset

    @property
    def page_in_view(self) -> int | None:
        """The page at the top of the view, or None if the document has no pages."""
        return self._document_view.document.page_at(self._offset_in_view)

    @property
    def page_place(self) -> str:
        """The page at the top of the view as text; empty if the document has no pages."""
        return self._format_page(self._offset_in_view)

    def _format_page(self, offset: int) -> str:
        document = self._document_view.document
        page = document.page_at(offset)
        return format_page(page, document.get_page_label(page))

    def action_copy(self) -> None:
        if self.section_id is not None:
            description = "the selection with its source" if self.text_selection is not None else "the text"
            copy(self, self.get_selected_or_section_text(), description)
            self.end_selection()

    def get_selected_or_section_text(self) -> str:
        """Return the selected text and its place, or else the section's exact source text, with its page."""
        if self._library is None or self.section_id is None:
            return ""
        document = self._document_view.document
        title = sanitise_line(self._library.title)
        selected = self._list_selected(self.text_selection)
        text = "\n".join(part.text.rstrip() for part in selected)
        if text.strip():
            start = next(part.line.block_start for part in selected if part.text.strip())
            section_id = self._get_section_at(start)
            path = format_full_path(self._library, section_id) if section_id is not None else title
            source = title if path == title else f"{title}{PATH_STEP}{path}"
            place = ", ".join(filter(None, [source, self._format_page(start)]))
            return f"{text}\n\n({place})\n"
        if self._document_view.is_generated:
            return document.text
        span = self._library.node(self.section_id).content_span
        text = strip_log_indent(self._library.text_at(span))
        page = self._format_page(span.start)
        return f"{text.rstrip()}\n\n({title}, {page})\n" if page else text

    def get_selection_span(self) -> Span | None:
        """Return the span of the selected words, or of the highlighted quote if it is in view, or None."""
        if self._document_view.is_generated:
            return None
        span = compute_selection_span(self._list_selected(self.text_selection), self._document_view.document)
        quote = self._highlights.quote
        if span is not None or quote is None:
            return span
        for line in self._list_lines_in_view():
            if line.block_start < quote.end and quote.start < line.block_end:
                return quote
        return None

    @property
    def breadcrumb(self) -> str:
        """The path of the section. It includes the document's title only if it would be empty otherwise."""
        section_id = self.section_id
        if self._library is None or section_id is None:
            return sanitise_line(self._library.title) if self._library else ""
        return format_full_path(self._library, section_id)

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
        self._blank_lines = 0
        self._update_virtual_size()
        self.scroll_to(y=len(self.lines), force=True)

    def _rebuild_lines(self, offset: int) -> None:
        """Lay out the text again, and show it from an offset of the document on."""
        self._hints = ()
        self._laid_out_width = self.view_size.width if self.view_size.height else 0
        view = self._document_view if self._laid_out_width else _EMPTY_VIEW
        self.lines = LazyLines(view, self._laid_out_width - _MARGIN_RIGHT)
        self.lines.highlight(self._highlights)
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
            lines.measure_from(y, height)
            top = self._measure_chunk_at(y, is_from_end=True)
            self._blank_lines = max(0, top + height - len(lines))
            self._height = height
            self._update_virtual_size()
            self._is_jumping = True
            self.scroll_to(y=top, force=True)
            self._update_view(is_upward=True)
            self._is_jumping = False
            self._post_position()

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw a bar left of the lines of the quote, in the padding, which does not scroll sideways."""
        strips = super().render_lines(crop)
        column = self.gutter.left - 1 - crop.x
        if self._highlights.quote is None or column < 0:
            return strips
        style = _NEAREST_BAR_STYLE if self._highlights.is_nearest else _QUOTE_BAR_STYLE
        bar = Strip(Content.styled(_QUOTE_BAR, style).render_segments(self.visual_style))
        for line_filter in self.get_line_filters():
            bar = bar.apply_filter(line_filter, self.background_colors[1])
        first_y = self.top_y + crop.y - self.gutter.top
        return [
            Strip.join([strip.crop(0, column), bar, strip.crop(column + 1)])
            if y in self._view_range and self.lines.is_quoted(y)
            else strip
            for y, strip in enumerate(strips, start=first_y)
        ]

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
            is_quoted_code = line.is_code and kind in QUOTE_KINDS
            style = _QUOTED_CODE if is_quoted_code else _make_style(self.get_component_styles(kind))
            content = content.stylize(style, start, end)
        span = self.text_selection.get_span(line_y) if self.text_selection else None
        if span is not None:
            selected = _make_style(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(selected, span[0], span[1] if span[1] >= 0 else len(line.text))
        strip = Strip(content.render_segments(self.visual_style) if content else [])
        for number, hint in enumerate(self._hints, start=1):
            label = f"{number:0{len(str(len(self._hints)))}}"
            if hint.y == line_y and label.startswith(self._typed):
                drawn = Content.styled(label, _HINT_STYLE).render_segments(self.visual_style)
                strip = Strip.join([strip.crop(0, hint.x), Strip(drawn), strip.crop(hint.x + len(label))])
        shown = strip.crop_extend(left, left + width, self.visual_style.rich_style)
        right = left + width
        if self.lines.text_width > right and measure_runs(line.runs) > right:  # code goes on
            mark = Content.styled(_CONTINUED, _CONTINUED_STYLE).render_segments(self.visual_style)
            shown = Strip.join([shown.crop(0, width - 1), Strip(mark)])
        return shown.apply_offsets(left, line_y)

    @override
    def scroll_to(self, *args: Any, **options: Any) -> None:
        """Scroll at once: keeping the place ends an animation, and Textual fails if that is its last step."""
        super().scroll_to(*args, **{**options, "animate": False})

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.view_size.height > self._height:  # Textual scrolls up to fill a view that grew
            self._jump_to(round(old_value))
        elif round(old_value) != round(new_value):
            self._set_hints(())
            self._update_view(is_upward=new_value < old_value)

    def watch_show_vertical_scrollbar(self, is_shown: bool) -> None:  # noqa: FBT001 - as Textual calls it
        """Place the thumb, which Textual moves only while the scrollbar is shown."""
        if is_shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _update_view(self, *, is_upward: bool) -> None:
        """Lay out the lines in view, which corrects their number. Then post the position.

        The top line keeps its place in its chunk, counted from the end of the chunk if the person scrolls up.
        """
        lines = self.lines
        height = self.view_size.height
        if not lines.chunks or not height:
            self._update_virtual_size()
            return
        y = self._measure_chunk_at(self.top_y, is_from_end=is_upward)
        lines.measure_from(y, height)
        self._update_virtual_size()
        if y != self.top_y:
            self.scroll_to(y=y, force=True)
        self._post_position()

    def _post_position(self) -> None:
        """Make the section at the top the current one, and post it."""
        if self._is_jumping:
            return
        self.section_id = self._get_section_at(self._offset_in_view)
        if self.section_id is not None and self.section_id != self._posted_id:
            self._posted_id = self.section_id
            self.post_message(ReadingPositionChanged(self.section_id))

    def on_resize(self) -> None:
        """Lay the text out in the new width, and keep the place in view."""
        if self.view_size.width != self._laid_out_width:
            is_first = not self._laid_out_width
            self._rebuild_lines(self._jump_offset if is_first else self._offset_in_view)
            if is_first:
                self._show_quote()
                self._show_match()
        self._height = self.view_size.height
        self._blank_lines = max(0, min(self._blank_lines, self.top_y + self._height - len(self.lines)))
        self._update_view(is_upward=False)

    @on(events.Click)
    def _follow_clicked(self, event: events.Click) -> None:
        clicked = event.get_content_offset(self)
        located = self.lines.get_line(clicked.y + self.top_y) if clicked else None
        if located is None:
            return
        number = event.style.meta.get(TARGET_META)
        if number is not None:
            self.follow(self.lines.get_chunk_lines(located.chunk).links[number])


def _make_style(styles: StylesBase) -> Style:
    """Make a style of what a rule sets. Without a colour for selections, Textual would take white."""
    style = Style.from_styles(styles)
    return style if styles.has_rule("color") else replace(style, foreground=None)
