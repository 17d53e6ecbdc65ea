"""`ReaderPane`: the reader with its title line."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static
from typing_extensions import override

from roamtui.conversation.events import ConversationEvent, ConversationStarted, DocumentReloaded, NodesLoaded
from roamtui.conversation.state import ConversationState
from roamtui.tui.actions import Keymap
from roamtui.tui.image_mode import ImageMode
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.status_line import format_key_hint

if TYPE_CHECKING:
    from roamtui.tui.reader.document_reader import DocumentReader


class ReaderPane(Vertical):
    """The pane with the reader and its title line."""

    def __init__(self, state: ConversationState, keys: Keymap, image_mode: ImageMode = ImageMode.OFF) -> None:
        super().__init__(id="reader-pane")
        self._state = state
        self._image_mode = image_mode
        self.title_line = PaneTitle(Pane.READER)
        """Shows the path and page in view, the progress and the number of the match."""
        hint = format_key_hint(keys.format_first_key("tree.read"), "on a line of the outline to read it here")
        self._empty = Static(hint, id="reader-empty")

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self._empty

    @cached_property
    def reader(self) -> DocumentReader:
        """The reader widget, created after the first screen is shown or when first needed."""
        from roamtui.tui.pictures import PictureStore, choose_image_mode  # noqa: PLC0415
        from roamtui.tui.reader.document_reader import DocumentReader  # noqa: PLC0415 - not for the first screen

        mode = choose_image_mode(self._image_mode, self.app)
        reader = DocumentReader(self._state, None if mode is ImageMode.OFF else PictureStore(mode))
        self.mount(reader, after=self.title_line)
        for attribute in ("scroll_y", "virtual_size", "match_label"):
            self.watch(reader, attribute, lambda: self.call_next(self._update_title), init=False)
        return reader

    @property
    def _is_used(self) -> bool:
        return "reader" in vars(self)  # the cache of `cached_property`; asking the property would make it

    @property
    def section_id(self) -> str | None:
        """The current section."""
        return self.reader.section_id if self._is_used else None

    def show(self, state: ConversationState) -> None:
        """Follow another state of the conversation."""
        self._state = state
        if self._is_used:
            self.reader.state = state

    def show_event(self, event: ConversationEvent) -> None:
        """Show what was loaded, or the section that was last read in another conversation."""
        match event:
            case NodesLoaded(section_ids=ids) if self._is_used:
                self.reader.show_loaded(ids)
            case ConversationStarted():
                self.reader.show_last_read()
            case DocumentReloaded() if self.section_id is not None:
                self.reader.refresh_library(self._state.library)
                self._update_title()
            case _:
                pass

    def end_search(self) -> bool:
        """Remove the search highlights. Return whether there were any."""
        return self._is_used and self.reader.end_search()

    def end_selection(self) -> bool:
        """Stop selecting text. Return whether any was selected."""
        return self._is_used and self.reader.end_selection()

    def on_document_reader_opened(self) -> None:
        """Show the reader instead of the hint."""
        self._empty.display = False
        self._update_title()

    def on_reading_position_changed(self) -> None:
        self._update_title()

    def _update_title(self) -> None:
        reader = self.reader
        parts = [reader.breadcrumb]
        if (page := reader.page_in_view) is not None:
            parts.append(f"p. {page}")
        if (percent := reader.percent_above) is not None:
            parts.append(f"{percent} %")
        self.title_line.note = " · ".join(filter(None, [*parts, reader.match_label]))
