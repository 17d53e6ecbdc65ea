"""`Reader`: shows a document from any section on, reports the section in view, and copies text."""

from collections.abc import Sequence
from typing import NamedTuple

from textual import events, on
from textual.content import Content
from textual.geometry import Offset
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.parse import strip_log_indent
from roamtui.markdown.blocks import Link
from roamtui.outline.labels import PATH_STEP
from roamtui.quotes.words import widen_to_words
from roamtui.sanitiser import sanitise_line
from roamtui.text import Span, format_page
from roamtui.tui.actions import Scope, make_bindings
from roamtui.tui.clipboard import copy
from roamtui.tui.messages import LINK_META, ReadingPositionChanged
from roamtui.tui.reader.document_view import make_document_view
from roamtui.tui.reader.lazy_lines import (
    Highlights,
    SelectedText,
    ShownLink,
    compute_selection_span,
    list_selected_lines,
)
from roamtui.tui.reader.lines_view import EMPTY_VIEW, LinesView
from roamtui.tui.screen_words import format_full_path

_HINT_STYLE = "$block-cursor-foreground on $block-cursor-background"


class ReadingPosition(NamedTuple):
    """The position at the top of the reader."""

    section_id: str
    offset: int
    """Characters from the section's start to the top of the view. Negative if it starts below the top."""


class Reader(LinesView, inherit_bindings=False):
    """A document, opened at a section. The current section has the current match or is at the top."""

    BINDINGS = make_bindings(Scope.READER, Scope.SECTION, Scope.MOVE)

    match_label: reactive[str] = reactive("", repaint=False)
    """The number of the current match, and the total. Empty after the reader has moved away."""

    def __init__(self) -> None:
        super().__init__()
        self._library: Library | None = None
        self.section_id: str | None = None
        """The current section, or None if the reader is empty."""
        self._hints: Sequence[ShownLink] = ()
        """The links that have numbers on the screen."""
        self._typed = ""
        """The digits of a number that were typed."""
        self._posted_id: str | None = None
        """The section that was posted last. It is not posted twice in a row."""

    def show_section(
        self,
        library: Library,
        section_id: str,
        *,
        highlight: Span | None = None,
        is_nearest: bool = False,
        offset: int = 0,
    ) -> None:
        """Show a section from `offset` on, or the span `highlight`, unless that is in another document.

        With `is_nearest`, the highlight has another colour than a quote.
        """
        view = make_document_view(library, section_id)
        self._library = library
        # the caller knows this section, so do not post it back
        self.section_id = self._posted_id = section_id
        quote = highlight if highlight is not None and highlight.doc == view.document.key else None
        quoted_id = library.find_node_at(quote.doc, quote.start) if quote is not None else None
        quote_start = library.node(quoted_id).content_span.start if quoted_id is not None else 0
        highlights = Highlights(quote, self.highlights.words, is_nearest=is_nearest)
        self._set_hints(())
        self.show_document(view, view.start + offset, highlights, quote_start)

    def refresh_library(self, library: Library) -> None:
        """Show the same position in a changed library, or nothing if its section is gone."""
        position = self.position
        if position is not None and position.section_id in library:
            if library.node(position.section_id).document is self.document_view.document:
                self._library = library
            else:
                self.show_section(library, position.section_id, offset=position.offset)
            return
        self._library = self.section_id = self._posted_id = None
        self._set_hints(())
        self.show_document(EMPTY_VIEW)

    def highlight_words(self, words: tuple[str, ...], match: int | None = None, label: str = "") -> None:
        """Highlight all matches of words, and show the one at the offset `match`, whose number is `label`."""
        shown = self.highlights
        self.highlight(Highlights(shown.quote, words, match, is_nearest=shown.is_nearest))
        self.match_label = label
        self.handle_view_change()

    @override
    def handle_view_change(self) -> None:
        """Set the current section: that of the current match if it is in view, or else that at the top."""
        self._set_hints(())
        match = self.highlights.current_match
        offset = self.offset_in_view
        if match is not None and self.lines.chunks and self.lines.get_y(match) in self.view_range:
            offset = match
        self.section_id = self._get_section_at(offset)
        if self.section_id is not None and self.section_id != self._posted_id:
            self._posted_id = self.section_id
            self.post_message(ReadingPositionChanged(self.section_id))

    def action_follow(self) -> None:
        """Number the links in view. The number that the person types next follows one."""
        self._set_hints(self.lines.list_links(self.view_range))
        self.notify("Type the number of a link" if self._hints else "No link in view", markup=False)

    def _set_hints(self, links: Sequence[ShownLink], typed: str = "") -> None:
        if self._hints or links:
            self._hints = links
            self._typed = typed
            self.refresh()

    def on_key(self, event: events.Key) -> None:
        """While links have numbers, take the digits of one. Another key removes them, and acts as usual."""
        if not self._hints:
            return
        hints = self._hints
        typed = self._typed + (event.character or "")
        is_digit = event.character is not None and event.character.isdecimal()
        if is_digit:
            event.stop()
            event.prevent_default()
        is_complete = len(typed) == len(str(len(hints)))
        self._set_hints(hints if is_digit and not is_complete else (), typed)
        if is_digit and is_complete and 0 < int(typed) <= len(hints):
            self.follow(hints[int(typed) - 1].link)
        elif is_digit and is_complete:
            self.notify(f"No link {int(typed)} in view", markup=False)

    @on(events.Blur)
    def end_hints(self) -> bool:
        """Remove the numbers of links. Return whether there were any."""
        has_hints = bool(self._hints)
        self._set_hints(())
        return has_hints

    @override
    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        for number, hint in enumerate(self._hints, start=1):
            label = f"{number:0{len(str(len(self._hints)))}}"
            column = hint.x - self.scroll_offset.x
            if hint.y == y + self.top_y and label.startswith(self._typed) and column >= 0:
                drawn = Strip(Content.styled(label, _HINT_STYLE).render_segments(self.visual_style))
                width = strip.cell_length
                strip = Strip.join([strip.crop(0, column), drawn, strip.crop(column + len(label))])
                strip = strip.crop(0, width)
        return strip

    def follow(self, link: Link) -> None:
        """Follow a link, in a subclass. A preview stays where it is."""

    def end_selection(self) -> bool:
        """Select nothing. Return whether anything was selected."""
        has_selection = self.text_selection is not None
        self.screen.clear_selection()
        return has_selection

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return "\n".join(part.text.rstrip() for part in self._list_selected(selection)), "\n"

    @on(events.Click)
    def _select_at(self, event: events.Click) -> None:
        """Select the word at a double click, and the line at a third one, where Textual selects all text."""
        if event.chain < 2:
            return
        event.prevent_default()
        event.stop()
        _, place = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        located = self.lines.get_line(place.y) if place is not None else None
        if place is None or located is None:
            return
        text = located.line.text
        start, end = widen_to_words(text, place.x, place.x + 1) if event.chain == 2 else (0, len(text))
        if text[start:end].strip():
            self.screen.selections = {self: Selection(Offset(start, place.y), Offset(end, place.y))}

    def _list_selected(self, selection: Selection | None) -> list[SelectedText]:
        if selection is None:
            return []
        # A selection that continues in another pane has no end here, so it ends with the view.
        start = selection.start or Offset(0, self.top_y)
        end = selection.end or Offset(self.virtual_size.width, self.top_y + self.view_size.height - 1)
        return list_selected_lines(self.lines, start, end)

    def _get_section_at(self, offset: int) -> str | None:
        """Return the section at an offset, or the current one if both start at one place, as a file may."""
        current_id = self.section_id
        document = self.document_view.document
        if self._library is None or current_id is None or self.document_view.is_generated:
            return current_id
        section_id = self._library.find_node_at(document.key, offset)
        start = self._library.node(section_id or current_id).content_span.start
        current = self._library.node(current_id).content_span
        return current_id if (current.doc, current.start) == (document.key, start) else section_id

    @property
    def position(self) -> ReadingPosition | None:
        """The current reading position, or None if the reader is empty."""
        if self._library is None or self.section_id is None:
            return None
        start = self._library.node(self.section_id).content_span.start
        is_generated = self.document_view.is_generated
        return ReadingPosition(self.section_id, self.offset_in_view - (0 if is_generated else start))

    def format_page(self, offset: int) -> str:
        """Format the page at an offset, or return an empty string if the document has no pages."""
        document = self.document_view.document
        page = document.page_at(offset)
        return format_page(page, document.get_page_label(page))

    def action_copy(self) -> None:
        if self.section_id is not None:
            selected = self.text_selection is not None
            description = f"the {'selection' if selected else 'text'} with its source"
            copy(self, self.get_text_to_copy(), description)

    def get_text_to_copy(self) -> str:
        """Return the selected text, or else the section's exact source text, with its place."""
        if self._library is None or self.section_id is None:
            return ""
        section_id: str | None = self.section_id
        selected = self._list_selected(self.text_selection)
        text = "\n".join(part.text.rstrip() for part in selected)
        if text.strip():
            start = next(part.line.block_start for part in selected if part.text.strip())
            section_id = self._get_section_at(start)
        elif self.document_view.is_generated:
            return self.document_view.document.text
        else:
            span = self._library.node(self.section_id).content_span
            start = span.start
            text = strip_log_indent(self._library.text_at(span)).rstrip()
        title = sanitise_line(self._library.title)
        path = format_full_path(self._library, section_id) if section_id is not None else title
        source = title if path == title else f"{title}{PATH_STEP}{path}"
        place = ", ".join(filter(None, [source, self.format_page(start)]))
        return f"{text}\n\n({place})\n"

    def get_selection_span(self) -> Span | None:
        """Return the span of the selected words, or of the highlighted quote if it is in view, or None."""
        if self.document_view.is_generated:
            return None
        span = compute_selection_span(self._list_selected(self.text_selection), self.document_view.document)
        quote = self.highlights.quote
        if span is not None or quote is None:
            return span
        for line in self.list_lines_in_view():
            if line.block_start < quote.end and quote.start < line.block_end:
                return quote
        return None

    @on(events.Click)
    def _follow_clicked(self, event: events.Click) -> None:
        clicked = event.get_content_offset(self)
        located = self.lines.get_line(clicked.y + self.top_y) if clicked else None
        if located is None:
            return
        number = event.style.meta.get(LINK_META)
        if number is not None:
            self.follow(self.lines.get_chunk_lines(located.chunk).links[number])
