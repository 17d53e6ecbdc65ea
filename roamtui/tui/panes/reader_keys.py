"""What a person's keys do to the text of the reader: scrolling, links, and how it is shown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual.containers import Vertical
from typing_extensions import override

from roamtui.tui.commands import NothingDone
from roamtui.tui.reader.messages import LinkClicked

if TYPE_CHECKING:
    from roamtui.tui.panes.keyless_reader import KeylessReader

_COLUMNS_STEP = 8


class ReaderKeys(Vertical):
    """Holds the reader; keys move over its text."""

    @cached_property
    def reader(self) -> KeylessReader:
        """The text. Made when the first screen stands, or when it is needed."""
        return self.make_reader()

    def make_reader(self) -> KeylessReader:
        """Return the reader, in its place."""
        raise NotImplementedError

    @override
    def action_scroll_down(self) -> None:
        """Scroll down."""
        self.reader.scroll_lines(1)

    @override
    def action_scroll_up(self) -> None:
        """Scroll up."""
        self.reader.scroll_lines(-1)

    @override
    def action_scroll_right(self) -> None:
        """Scroll to the right."""
        self.reader.scroll_columns(_COLUMNS_STEP)

    @override
    def action_scroll_left(self) -> None:
        """Scroll to the left."""
        self.reader.scroll_columns(-_COLUMNS_STEP)

    @override
    def action_page_down(self) -> None:
        """Scroll down by a page."""
        self.reader.page(1)

    @override
    def action_page_up(self) -> None:
        """Scroll up by a page."""
        self.reader.page(-1)

    def action_top(self) -> None:
        """Go to the beginning."""
        self.reader.go_top()

    def action_bottom(self) -> None:
        """Go to the end."""
        self.reader.go_bottom()

    def action_next_link(self) -> None:
        """Select the next link."""
        self._step_link(1)

    def action_previous_link(self) -> None:
        """Select the previous link."""
        self._step_link(-1)

    def _step_link(self, direction: int) -> None:
        if not self.reader.next_link(direction):
            self.post_message(NothingDone("no further link here"))

    def action_follow(self) -> None:
        """Follow the selected link; select the first one in view where none is."""
        href = self.reader.current_link()
        if href is None:
            if not self.reader.next_link(1, only_in_view=True):
                self.post_message(NothingDone("no link in view"))
        else:
            self.reader.post_message(LinkClicked(href))

    def action_raw(self) -> None:
        """Show the text as it stands, or formatted."""
        self.reader.toggle_raw()

    def action_wrap(self) -> None:
        """Wrap long lines, or let them run."""
        self.reader.toggle_wrap()
