"""`ReaderPane`: the reader with its title line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.tui.actions import Keymap
from roamtui.tui.image_mode import ImageMode
from roamtui.tui.labels import format_minutes_left
from roamtui.tui.messages import ReadingPositionChanged
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.status_line import format_key_hint

if TYPE_CHECKING:
    from roamtui.tui.reader.reader import Reader


class ReaderPane(Vertical):
    """The pane with the reader and its title line."""

    def __init__(self, keys: Keymap, image_mode: ImageMode = ImageMode.OFF) -> None:
        super().__init__(id="reader-pane")
        self._image_mode = image_mode
        self.title_line = PaneTitle(Pane.READER)
        """Shows the path and page in view, the progress and the number of the match."""
        self._library: Library | None = None
        self._search_words: tuple[str, ...] = ()
        self._match_label = ""
        hint = format_key_hint(keys.format_first_key("tree.read"), "on a line of the outline to read it here")
        self._empty = Static(hint, id="reader-empty")

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self._empty

    @cached_property
    def reader(self) -> Reader:
        """The reader widget, created after the first screen is shown or when first needed."""
        from roamtui.tui.pictures import PictureStore, choose_image_mode  # noqa: PLC0415
        from roamtui.tui.reader.reader import Reader  # noqa: PLC0415 - not for the first screen

        mode = choose_image_mode(self._image_mode, self.app)
        reader = Reader(id="reader", pictures=None if mode is ImageMode.OFF else PictureStore(mode))
        reader.display = False
        self.mount(reader, after=self.title_line)
        for attribute in ("scroll_y", "virtual_size"):
            self.watch(reader, attribute, lambda: self.call_next(self._update_title), init=False)
        return reader

    @property
    def section_id(self) -> str | None:
        """The current section."""
        return self.reader.section_id if "reader" in vars(self) else None

    def show_section(
        self,
        library: Library,
        section_id: str,
        *,
        highlight: Sequence[Span] = (),
        offset: int = 0,
        can_go_back: bool = True,
    ) -> None:
        """Show a section, and remember the previous position if `can_go_back`. See `Reader.show_section`."""
        self._library = library
        self._empty.display = False
        self.reader.display = True
        with self.reader.remembering_jump() if can_go_back else nullcontext():
            self.reader.show_section(library, section_id, highlight=highlight, offset=offset)
        self._match_label = ""  # the reader moves away from the last match
        self._update_title()

    def refresh_library(self, library: Library) -> None:
        """Show the same position in a changed library, or nothing if its section is gone."""
        if self.section_id is not None:
            self._library = library
            self.reader.refresh_library(library)
            self._update_title()

    def highlight_matches(self, words: tuple[str, ...], match: int | None, match_label: str) -> None:
        """Highlight search words in everything shown until the search ends, and jump to offset `match` of the document.

        The title line shows `match_label`: the number of the match, and the total.
        """
        self._search_words, self._match_label = words, match_label
        self.reader.highlight_words(words, match)
        self._update_title()

    def end_search(self) -> bool:
        """Remove the search highlights. Return whether there were any."""
        if not self._search_words:
            return False
        self.highlight_matches((), None, "")
        return True

    def end_selection(self) -> bool:
        """Stop selecting text. Return whether any was selected."""
        return "reader" in vars(self) and self.reader.end_selection()

    @on(ReadingPositionChanged)
    def _update_title(self) -> None:
        parts = [self.reader.breadcrumb]
        if (page := self.reader.page_in_view) is not None:
            parts.append(f"p. {page}")
        notes = [parts]
        if (progress := self.reader.progress) is not None:
            shorter = [*parts, f"{progress.percent} %"]
            notes = [[*shorter, format_minutes_left(progress.minutes)], shorter] if progress.minutes else [shorter]
        label, signs = self._match_label, self.reader.overflow_signs
        lines = [f"{' · '.join([label, *note] if label else note)} {signs}".rstrip() for note in notes]
        self.title_line.show_note(*lines, *([label] if label else []))

    def go_back(self) -> bool:
        """Go back to the previous position. Return whether there was one."""
        while (position := self.reader.pop_jump()) is not None:
            if self._library is not None and position.section_id in self._library:
                self.show_section(self._library, position.section_id, offset=position.offset, can_go_back=False)
                return True
        return False

    @property
    def selection(self) -> tuple[str | None, Span | None]:
        """The section and the span of the selection or the highlight, otherwise the current section and None."""
        span = self.reader.get_selection_span()
        if span is None or self._library is None:
            return self.section_id, None
        return self._library.section_at(span.doc, span.start) or self.section_id, span
