"""The conversation below its title line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical
from typing_extensions import override

from roamtui.tui.layout import Pane
from roamtui.tui.panes.pane_title import PaneTitle

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from roamtui.tui.chat.chat_log import ChatLog


class ChatPane(Vertical):
    """Shows the conversation."""

    DEFAULT_CSS = """
    ChatPane { background: $background; }
    """

    def __init__(self, log: ChatLog) -> None:
        super().__init__(id="chat-pane")
        self.title_line = PaneTitle(Pane.CHAT)
        """Its first line."""
        self.log_view = log

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.log_view

    def show_note(self, note: str) -> None:
        """Show a few words at the right of the title."""
        self.title_line.show_note(note)

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_focus(self) -> None:
        self.title_line.refresh()
