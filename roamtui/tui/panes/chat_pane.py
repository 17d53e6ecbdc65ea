"""The conversation below its title line."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.panes.pane import Pane, PaneTitle

_MORE_BELOW = "more below · pgdn"


class ChatPane(Vertical):
    """Shows the conversation, and says where it goes on below what is in view."""

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

    def on_mount(self) -> None:
        """Follow what is in view."""
        self.watch(self.log_view, "scroll_y", self._look_below, init=False)
        self.watch(self.log_view, "virtual_size", self._look_below, init=False)

    def _look_below(self) -> None:
        self.call_next(self._show_below)

    def _show_below(self) -> None:
        is_more = self.log_view.has_messages and self.log_view.scroll_y < self.log_view.max_scroll_y
        self.title_line.show_note(_MORE_BELOW if is_more else "")
