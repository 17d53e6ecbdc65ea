"""`QuestionBox`: a text field of several lines with a history, which refuses huge pastes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import TextArea
from typing_extensions import override

from roamtui.document.plain import sanitise_text
from roamtui.tui.actions import Scope, make_bindings

_PASTE_LENGTH_MAX = 50_000
"""In characters. A longer text is hardly a question, and laying it out would delay each key."""


class QuestionBox(TextArea):
    """A text field for questions."""

    BINDINGS = make_bindings(Scope.INPUT)

    @dataclass
    class Submitted(Message):
        """A person sent a question."""

        question: str

    @dataclass
    class ScrollRequested(Message):
        """A person wants to scroll the pane above the box."""

        direction: int
        """1 for down, -1 for up."""

    def __init__(self, history: Iterable[str] = ()) -> None:
        """Make an empty box. `history` has earlier questions, oldest first."""
        super().__init__(
            id="question-box", compact=True, highlight_cursor_line=False, placeholder=Content("Ask this document…")
        )
        self.cursor_blink = False  # each change takes 4 ms, because Textual draws much of the screen again
        self._history = list(history)
        self._history_index = len(self._history)
        self._draft = ""

    def remember(self, question: str) -> None:
        """Add a question to the history."""
        if not self._history or self._history[-1] != question:
            self._history.append(question)
        self._history_index = len(self._history)

    def fill(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.load_text(sanitise_text(text))
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        """Send the question, if there is one, once the box has handled all earlier keys.

        A priority key overtakes keys that still wait for the box, for example in a burst of typing.
        """
        self.call_later(self._send)

    def _send(self) -> None:
        if question := self.text.strip():
            self.post_message(self.Submitted(question))

    def action_insert_line(self) -> None:
        self.call_later(self.insert, "\n")

    @override
    def action_cursor_up(self, select: bool = False) -> None:
        """Move up, or from the first line to an earlier question."""
        if not self.cursor_at_first_line or self._history_index == 0:
            super().action_cursor_up(select)
            return
        if self._history_index == len(self._history):
            self._draft = self.text
        self._history_index -= 1
        self.fill(self._history[self._history_index])

    @override
    def action_cursor_down(self, select: bool = False) -> None:
        """Move down, or from the last line to a later question."""
        if not self.cursor_at_last_line or self._history_index >= len(self._history):
            super().action_cursor_down(select)
            return
        self._history_index += 1
        self.fill(self._draft if self._history_index == len(self._history) else self._history[self._history_index])

    @override
    def action_cursor_page_up(self) -> None:
        """Scroll the pane above, or a question that is longer than the box."""
        if self.max_scroll_y > 0:
            super().action_cursor_page_up()
        else:
            self.post_message(self.ScrollRequested(-1))

    @override
    def action_cursor_page_down(self) -> None:
        """Scroll the pane above, or a question that is longer than the box."""
        if self.max_scroll_y > 0:
            super().action_cursor_page_down()
        else:
            self.post_message(self.ScrollRequested(1))

    async def on_key(self, event: events.Key) -> None:
        """Open the palette for a slash in an empty box."""
        if event.character == "/" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("app.show_commands")

    def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if len(event.text) > _PASTE_LENGTH_MAX:
            problem = f"That paste is too long for a question. It may have {_PASTE_LENGTH_MAX:,} characters."
            self.notify(problem, severity="warning", markup=False)
            return
        self.replace(event.text, *self.selection)
        self.scroll_cursor_visible()
