"""`Reader`: the text of one section, rendered as it is scrolled through, with search, links and a marked quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from typing_extensions import override

from roamtui.tui.node_names import name_place
from roamtui.tui.reader import messages
from roamtui.tui.reader.chunk_lines import ChunkReader
from roamtui.tui.reader.lazy_lines import LazyLines, Place
from roamtui.tui.reader.lazy_view import LazyView
from roamtui.tui.reader.line_strips import Overlay
from roamtui.tui.reader.link_walk import LinkPlace, find_link, find_link_at, find_link_line
from roamtui.tui.reader.markings import ChunkMarkings
from roamtui.tui.reader.stretch import Stretch, find_stretch, name_library
from roamtui.tui.reader.text_search import TextSearch

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.document.node import Span


class Reader(LazyView, can_focus=True, inherit_bindings=False):
    """Shows sections of a library, one at a time."""

    LinkClicked = messages.LinkClicked
    SectionChanged = messages.SectionChanged
    SidewaysChanged = messages.SidewaysChanged

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._library: Library | None = None
        self._section_id: str | None = None
        self._stretch: Stretch | None = None
        self._search: TextSearch | None = None
        self._markings = ChunkMarkings()
        self._link: LinkPlace | None = None
        self._seen_id: str | None = None
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

    def show_section(self, library: Library, section_id: str, *, highlight: Span | None = None) -> None:
        """Show a section from its beginning, or from a stretch of its text, which is then marked.

        Raises:
            UnknownSectionError: The library has no such section.
        """
        stretch = find_stretch(library, section_id)
        self._library, self._section_id, self._stretch = library, section_id, stretch
        self._search = TextSearch(stretch.document.text, stretch.start, stretch.end)
        is_here = highlight is not None and highlight.doc == stretch.document.key
        self._markings = ChunkMarkings(highlight=highlight if is_here else None)
        self._seen_id = section_id
        self._lay_out(None)
        if self._markings.highlight is not None:
            self._jump_to_offset(self._markings.highlight.start, Overlay.QUOTE)

    def show_again(self, library: Library) -> bool:
        """Show the same section of the library as it is now, at the same place; return whether it is still there."""
        before, section_id = self._library, self._section_id
        if before is None or section_id is None or section_id not in library:
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
        self._library = self._section_id = self._stretch = self._search = self._seen_id = None
        self._markings = ChunkMarkings()
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
        self._markings.set_pattern(pattern, self._search.find(pattern) if self._search else ())
        if self._markings.choose_from(line.start if line else 0):
            self._jump_to_match()
        self.refresh()
        return len(self._markings.matches)

    def next_match(self, direction: int) -> bool:
        """Go to the next place of the pattern (1), or to the one before (-1), round the end; return whether one is."""
        if not self._markings.choose_next(direction):
            return False
        self._jump_to_match()
        self.refresh()
        return True

    @property
    def match_number(self) -> int:
        """Number of the chosen match in the section, 0 where none is chosen."""
        return self._markings.current_number

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
        with self.keep_view():
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
        if self._library is None or self._stretch is None or self._stretch.is_made or line is None:
            return self._section_id
        found = self._library.section_at(self._stretch.document.key, max(line.start, self._stretch.start))
        return found or self._section_id

    def selected_or_section_text(self) -> str:
        """Return what is selected, else the section's text exactly as in the source."""
        selection = self.text_selection
        selected = self.get_selection(selection) if selection else None
        if selected and selected[0]:
            return selected[0]
        return self._stretch.text if self._stretch else ""

    def breadcrumb(self) -> str:
        """Return the titles down to the section in view, on one line; the document's own title only for itself."""
        section_id = self.section_in_view()
        if self._library is None or section_id is None or section_id not in self._library:
            return name_library(self._library) if self._library else ""
        path = (*self._library.ancestors(section_id), section_id)
        return name_place(self._library, path) or name_library(self._library)

    @override
    def markings_at(self, place: Place) -> list[tuple[int, int, Overlay]]:
        assert self.lines is not None
        assert self._stretch is not None
        lines = self.lines.read(place.chunk).lines
        markings = self._markings.mark_line(place, lines, self._stretch.document.text)
        if self._link is not None and self._link.chunk == place.chunk:
            position = 0
            for run in lines[place.line].runs:
                if run.look.link == self._link.number:
                    markings = [*markings, (position, position + len(run.text), Overlay.CURRENT_LINK)]
                position += len(run.text)
        return markings

    @override
    def view_settled(self) -> None:
        seen_id = self.section_in_view()
        if seen_id is not None and seen_id != self._seen_id:
            self._seen_id = seen_id
            self.post_message(self.SectionChanged(seen_id))
        self._note_sideways()

    def _note_sideways(self) -> None:
        if self.sideways != self._sideways:
            self._sideways = self.sideways
            self.post_message(self.SidewaysChanged())

    @override
    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_x(old_value, new_value)
        self._note_sideways()

    @override
    def width_changed(self) -> None:
        if self.view_size.width != self._laid_out_width:
            is_first = not self._laid_out_width
            self._lay_out(None if is_first or not self.top_y else self._offset_in_view())
            if is_first and self._markings.highlight is not None:
                self._jump_to_offset(self._markings.highlight.start, Overlay.QUOTE)
        super().width_changed()

    def _lay_out(self, offset: int | None) -> None:
        """Lay the text out anew, and show it from a character of the document, or from its beginning."""
        self._link = None
        self._markings.forget_lines()
        self._laid_out_width = self.view_size.width
        if self._stretch is None or not self._laid_out_width:
            self.show_lines(None, None)
            return
        reader = ChunkReader(
            document=self._stretch.document,
            width=self._laid_out_width,
            is_raw=self._is_raw,
            is_wrapped=self._is_wrapped,
        )
        self.show_lines(LazyLines(self._stretch.cut(is_raw=self._is_raw), reader), offset)

    def _offset_in_view(self) -> int | None:
        line = self.line_in_view() if self.top_y else None
        return line.start if line else None

    def _jump_to_match(self) -> None:
        offset = self._markings.current_offset
        if offset is not None:
            self._jump_to_offset(offset, Overlay.CURRENT_MATCH)

    def _jump_to_offset(self, offset: int, overlay: Overlay) -> None:
        """Scroll to the line with an overlay near a character of the document."""
        if self.lines is None or not self.lines.chunks or self._stretch is None:
            return
        lines = self.lines
        y = lines.find_offset(offset)
        first = lines.locate(y)
        read = lines.read(first.chunk).lines
        for number in range(first.line, len(read)):
            marks = self._markings.mark_line(Place(first.chunk, number), read, self._stretch.document.text)
            if any(kind is overlay for _, _, kind in marks):
                y += number - first.line
                break
        if overlay is Overlay.QUOTE:
            self.jump_to(y)
        else:
            self.show_y(y)

    @on(events.Click)
    def _follow_clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        found = self.lines.line_at(offset.y + self.top_y) if offset and self.lines else None
        if offset is None or found is None or self.lines is None:
            return
        number = find_link_at(found[1], offset.x + self.scroll_offset.x)
        if number is not None:
            self.post_message(self.LinkClicked(self.lines.read(found[0].chunk).links[number]))
