"""`QuestionBox`: a text field of several lines with a history, which refuses huge pastes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea
from typing_extensions import override

from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.tui.actions import Scope, make_bindings

_PASTE_LENGTH_MAX = 50_000
"""In characters. A longer text is hardly a question, and laying it out would delay each key."""


class QuestionBox(TextArea):
    """A text field for questions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.INPUT),
        Binding("ctrl+f", "screen.find", "Find", show=False),  # in a text area, it would delete a word
        Binding("up", "history_previous", "Earlier question", priority=True),
        Binding("down", "history_next", "Later question", priority=True),
        Binding("pageup", "page(-1)", "Scroll the pane above up", priority=True),
        Binding("pagedown", "page(1)", "Scroll the pane above down", priority=True),
    ]

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

    def set_border_label(self, label: str) -> None:
        """Show a label on the border that says how the next question will be asked. An empty string removes it."""
        if isinstance(self.parent, Widget):
            self.parent.border_title = Content(label)

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

    def action_history_previous(self) -> None:
        if not self.cursor_at_first_line or self._history_index == 0:
            raise SkipAction
        if self._history_index == len(self._history):
            self._draft = self.text
        self._history_index -= 1
        self.fill(self._history[self._history_index])

    def action_history_next(self) -> None:
        if not self.cursor_at_last_line or self._history_index >= len(self._history):
            raise SkipAction
        self._history_index += 1
        self.fill(self._draft if self._history_index == len(self._history) else self._history[self._history_index])

    def action_page(self, pages: int) -> None:
        if self.max_scroll_y > 0:
            raise SkipAction  # the box scrolls a question that is longer than itself
        self.post_message(self.ScrollRequested(pages))

    async def on_key(self, event: events.Key) -> None:
        """Open the palette for a slash in an empty box. Move the cursor for a key that no action has handled."""
        if event.character == "/" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("app.show_commands")
        elif move := _MOVES.get(event.key):
            event.stop()
            move(self)

    def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if len(event.text) > _PASTE_LENGTH_MAX:
            problem = (
                f"That paste has {len(event.text):,} characters; a question may have {_PASTE_LENGTH_MAX:,}. Nothing was"
                " pasted. Save it as a file and open that instead."
            )
            self.notify(problem, severity="warning", markup=False)
            return
        self.replace(event.text, *self.selection)
        self.scroll_cursor_visible()


_MOVES: Mapping[str, Callable[[QuestionBox], None]] = {
    "up": QuestionBox.action_cursor_up,
    "down": QuestionBox.action_cursor_down,
    "pageup": QuestionBox.action_cursor_page_up,
    "pagedown": QuestionBox.action_cursor_page_down,
}


class QueuedLine(Widget):
    """The question that waits until the current answer has ended."""

    def __init__(self, question: str, back_key: str) -> None:
        super().__init__()  # without an id, because the previous line may not be removed yet
        self._question = sanitise_line(question)
        self._back_key = back_key

    @override
    def render(self) -> Content:
        hint = Content(f" · {self._back_key} takes it back")
        room = max(4, self.size.width - hint.cell_length)
        return Content(f"Next: {self._question}").truncate(room, ellipsis=True) + hint
