"""`Reader`: the text of one section, rendered as it is scrolled through, with search, links and a marked quote.

What is in view stays there while guesses about the height of what is above it are corrected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from textual import events, on
from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.tui.markdown.line import Line
from roamtui.tui.node_names import name_place
from roamtui.tui.reader import messages
from roamtui.tui.reader.chunk_lines import ChunkReader
from roamtui.tui.reader.highlights import Highlights
from roamtui.tui.reader.lazy_lines import LazyLines, LinkPlace, Place, find_link, find_link_at, find_link_line
from roamtui.tui.reader.section_view import SectionView, find_section_view, name_library
from roamtui.tui.reader.strips import STYLE_NAMES, STYLES, Highlight, Overlay, ReaderPalette, make_strip, read_palette
from roamtui.tui.reader.text_search import TextSearch

_MARGIN = 3
"""Lines kept above a place that was jumped to, so that it is read in its context."""


class Reader(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows sections of a library, one at a time."""

    COMPONENT_CLASSES: ClassVar[set[str]] = STYLE_NAMES
    DEFAULT_CSS = STYLES
    LinkClicked = messages.LinkClicked
    PlaceChanged = messages.PlaceChanged
    SidewaysChanged = messages.SidewaysChanged

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.lines: LazyLines | None = None
        self._palette: ReaderPalette | None = None
        self._library: Library | None = None
        self._section_id: str | None = None
        self._section: SectionView | None = None
        self._search: TextSearch | None = None
        self._highlights = Highlights()
        self._link: LinkPlace | None = None
        self._seen: messages.PlaceChanged | None = None
        self._start: int | None = None
        self._is_raw = False
        self._is_wrapped = True
        self._laid_out_width = 0
        self._sideways = ""

    @property
    def section_id(self) -> str | None:
        """The section that was asked for, None for none."""
        return self._section_id

    @property
    def is_raw(self) -> bool:
        """Whether the text is shown as it stands in the source."""
        return self._is_raw

    @property
    def is_wrapped(self) -> bool:
        """Whether long lines of prose are broken to the width of the view."""
        return self._is_wrapped

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

    def show_section(
        self, library: Library, section_id: str, *, highlight: Span | None = None, start: int | None = None
    ) -> None:
        """Show a section from its beginning, or from a stretch of its text, which is then marked.

        Args:
            library: With the section.
            section_id: Of the section; `root_id` for the whole of a single document.
            highlight: What to mark.
            start: Offset in its document to show it from.

        Raises:
            UnknownSectionError: The library has no such section.
        """
        section = find_section_view(library, section_id)
        self._library, self._section_id, self._section = library, section_id, section
        self._search = TextSearch(section.document.text, section.start, section.end)
        is_here = highlight is not None and highlight.doc == section.document.key
        self._highlights = Highlights(quote=highlight if is_here else None)
        self._seen = messages.PlaceChanged(section_id)
        self._start = start
        self._lay_out(start)
        if self._highlights.quote is not None:
            self._jump_to_offset(self._highlights.quote.start, Overlay.QUOTE)

    def show_again(self, library: Library) -> bool:
        """Show the same section of the library as it is now, at the same place; return whether it is still there."""
        before, section_id = self._library, self._section_id
        if before is None or section_id is None or (section_id not in library and section_id != library.root_id):
            self.clear()
            return False
        seen_id, offset = self.section_in_view() or section_id, self._offset_in_view()
        into = None if offset is None or seen_id not in library else offset - before.span(seen_id).start
        self.show_section(library, section_id)
        if into is not None:
            span = library.span(seen_id)
            self._lay_out(min(span.start + max(0, into), span.end))
        return True

    def clear(self) -> None:
        """Show nothing."""
        self._library = self._section_id = self._section = self._search = self._seen = None
        self._highlights = Highlights()
        self._lay_out(None)

    def toggle_raw(self) -> None:
        """Show the text as it stands in the source, or rendered again."""
        self._is_raw = not self._is_raw
        self._lay_out(self._offset_in_view())

    def toggle_wrap(self) -> None:
        """Break long lines of prose to the width of the view, or let them run on."""
        self._is_wrapped = not self._is_wrapped
        self._lay_out(self._offset_in_view())

    def search_text(self, pattern: str) -> int:
        """Mark where a pattern stands, go to the first place from the view on, and return how many there are.

        While a pattern is being typed, the view is where it was before the first letter.
        """
        line = self.line_in_view()
        self._highlights.set_pattern(pattern, self._search.find(pattern) if self._search else ())
        if self._highlights.choose_from(line.start if line else 0):
            self._jump_to_match()
        self.refresh()
        return len(self._highlights.matches)

    def next_match(self, direction: int) -> bool:
        """Go to the next place of the pattern (1), or to the one before (-1), round the end; return whether one is."""
        if not self._highlights.choose_next(direction):
            return False
        self._jump_to_match()
        self.refresh()
        return True

    @property
    def match_number(self) -> int:
        """Number of the chosen match in the section, 0 where none is chosen."""
        return self._highlights.current_number

    def current_link(self) -> str | None:
        """Return the address of the chosen link, None where none is chosen."""
        if self._link is None or self.lines is None:
            return None
        return self.lines.read(self._link.chunk).links[self._link.number]

    def next_link(self, direction: int, *, only_in_view: bool = False) -> bool:
        """Choose the next link (1) or the one before (-1), from the view on; return whether there is one."""
        if self.lines is None:
            return False
        view = range(self.top_y, self.top_y + self.view_size.height)
        with self._keep_view():
            found = find_link(self.lines, self._link, direction, view)
        if found is None or (only_in_view and find_link_line(self.lines, found) not in view):
            return False
        self._link = found
        self.show_y(find_link_line(self.lines, found))
        self.refresh()
        return True

    def section_in_view(self) -> str | None:
        """Return the id of the section at the top of the view, None where nothing is shown."""
        line = self.line_in_view()
        if self._library is None or self._section is None or self._section.is_made or line is None:
            return self._section_id
        found = self._library.section_at(self._section.document.key, max(line.start, self._section.start))
        return found or self._section_id

    @property
    def shows_all(self) -> bool:
        """Whether the whole of a single document is shown, to read it by its pages."""
        return self._library is not None and self._section_id == self._library.root_id

    def page_in_view(self) -> int | None:
        """Return the page at the top of the view, None in a document without pages."""
        line = self.line_in_view()
        return self._section.document.page_at(line.start) if self._section and line else None

    def selected_or_section_text(self) -> str:
        """Return what is selected, else the section's text exactly as in the source; its page below, if it has one."""
        if self._section is None or self._library is None:
            return ""
        selection = self.text_selection
        selected = self.get_selection(selection) if selection else None
        document, seen_id = self._section.document, self.section_in_view()
        if selected and selected[0]:
            found = self.lines.line_at(selection.start.y) if selection and selection.start and self.lines else None
            text, page = selected[0], document.page_at(found[1].start) if found else self.page_in_view()
        elif self.shows_all and document.page_starts and seen_id is not None and seen_id in self._library:
            span = self._library.span(seen_id)
            text, page = self._library.text_at(span), document.page_at(span.start)
        else:
            text, page = self._section.text, document.page_at(self._section.start)
        return text if page is None else f"{text.rstrip()}\n\n({name_library(self._library)}, p. {page})\n"

    def breadcrumb(self) -> str:
        """Return the titles down to the section in view, on one line; the document's own title only for itself."""
        section_id = self.section_in_view()
        if self._library is None or section_id is None or section_id not in self._library:
            return name_library(self._library) if self._library else ""
        path = (*self._library.ancestors(section_id), section_id)
        return name_place(self._library, path) or name_library(self._library)

    def _offset_in_view(self) -> int | None:
        line = self.line_in_view() if self.top_y else None
        return line.start if line else None

    def _jump_to_match(self) -> None:
        offset = self._highlights.current_offset
        if offset is not None:
            self._jump_to_offset(offset, Overlay.CURRENT_MATCH)

    def _jump_to_offset(self, offset: int, overlay: Overlay) -> None:
        """Scroll to the line with an overlay near a character of the document."""
        if self.lines is None or not self.lines.chunks or self._section is None:
            return
        lines = self.lines
        y = lines.find_offset(offset)
        first = lines.locate(y)
        read = lines.read(first.chunk).lines
        for number in range(first.line, len(read)):
            marks = self._highlights.highlight_line(Place(first.chunk, number), read, self._section.document.text)
            if any(kind is overlay for _, _, kind in marks):
                y += number - first.line
                break
        if overlay is Overlay.QUOTE:
            self.jump_to(y)
        else:
            self.show_y(y)

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

    def _lay_out(self, offset: int | None) -> None:
        """Lay the text out anew, and show it from a character of the document, or from its beginning."""
        self._link = None
        self._highlights.forget_lines()
        self._laid_out_width = self.view_size.width
        self.lines = None
        if self._section is not None and self._laid_out_width:
            reader = ChunkReader(
                document=self._section.document,
                width=self._laid_out_width,
                is_raw=self._is_raw,
                is_wrapped=self._is_wrapped,
            )
            self.lines = LazyLines(self._section.cut(is_raw=self._is_raw), reader)
        if self.is_attached:
            self.scroll_to(x=0, y=0, animate=False, force=True)
        if self.lines is not None and offset is not None:
            self.jump_to(self.lines.find_start(offset), margin=0)
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

    @contextmanager
    def _keep_view(self) -> Iterator[None]:
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
        highlights = [Highlight(start, end, palette.overlays[kind]) for start, end, kind in self.highlights_at(place)]
        selection = self.text_selection
        span = selection.get_span(line_y) if selection else None
        if span is not None:
            end = span[1] if span[1] >= 0 else len(line.text)
            highlights.append(Highlight(span[0], end, palette.selection))
        left = self.scroll_offset.x
        strip = make_strip(line, left + width, palette, highlights)
        return strip.crop_extend(left, left + width, palette.base).apply_offsets(left, line_y)

    def highlights_at(self, place: Place) -> list[tuple[int, int, Overlay]]:
        """Return what is highlighted in a line: its first character, the one after its last, and how."""
        assert self.lines is not None
        assert self._section is not None
        lines = self.lines.read(place.chunk).lines
        highlights = self._highlights.highlight_line(place, lines, self._section.document.text)
        if self._link is not None and self._link.chunk == place.chunk:
            position = 0
            for run in lines[place.line].runs:
                if run.look.link == self._link.number:
                    highlights = [*highlights, (position, position + len(run.text), Overlay.CURRENT_LINK)]
                position += len(run.text)
        return highlights

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
            if found and found[1].is_page_mark:
                continue
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
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._settle(is_upward=new_value < old_value)

    @override
    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_x(old_value, new_value)
        self._note_sideways()

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
        seen_id = self.section_in_view()
        seen = messages.PlaceChanged(seen_id, self.page_in_view()) if seen_id is not None else None
        if seen is not None and seen != self._seen:
            self._seen = seen
            self.post_message(seen)
        self._note_sideways()

    def _note_sideways(self) -> None:
        if self.sideways != self._sideways:
            self._sideways = self.sideways
            self.post_message(self.SidewaysChanged())

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

    def on_resize(self) -> None:
        """Lay out what is in view for the new width."""
        if self.view_size.width != self._laid_out_width:
            is_first = not self._laid_out_width
            self._lay_out(self._start if is_first else self._offset_in_view())
            if is_first and self._highlights.quote is not None:
                self._jump_to_offset(self._highlights.quote.start, Overlay.QUOTE)
        self._settle(is_upward=False)

    @on(events.Click)
    def _follow_clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        found = self.lines.line_at(offset.y + self.top_y) if offset and self.lines else None
        if offset is None or found is None or self.lines is None:
            return
        number = find_link_at(found[1], offset.x + self.scroll_offset.x)
        if number is not None:
            self.post_message(self.LinkClicked(self.lines.read(found[0].chunk).links[number]))
