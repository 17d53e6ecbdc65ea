"""`QuestionBox`: a text field of several lines with a history, which refuses huge pastes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from textual import events
from textual.actions import SkipAction
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from roamtui.document.plain import sanitise_text
from roamtui.tui.actions import Scope, make_bindings

_PASTE_LENGTH_MAX = 50_000
"""Characters; a longer text is no question, and laying it out would delay each key."""


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
        """Make an empty box.

        Args:
            history: Earlier questions, oldest first.
        """
        super().__init__(
            id="question-box",
            compact=True,
            highlight_cursor_line=False,
            placeholder=Content("Ask this document…"),
        )
        self._history = list(history)
        self._index = len(self._history)
        self._draft = ""

    def set_border_label(self, tag: str) -> None:
        """Show in the frame how the next question will be asked; an empty tag hides this."""
        if isinstance(self.parent, Widget):
            self.parent.border_title = Content(tag)

    def prepend_history(self, questions: Iterable[str]) -> None:
        """Add proposed questions to the start of the history."""
        proposed = list(questions)
        self._history[:0] = proposed
        self._index += len(proposed)

    def remember(self, question: str) -> None:
        """Add a question to the history."""
        if not self._history or self._history[-1] != question:
            self._history.append(question)
        self._index = len(self._history)

    def fill(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.load_text(sanitise_text(text))
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        """Send the question, if there is one, once the box has taken all keys before this one.

        Priority keys overtake those that still wait for the box, as in a burst of typing.
        """
        self.call_later(self._send)

    def _send(self) -> None:
        question = self.text.strip()
        if question:
            self.post_message(self.Submitted(question))

    def action_insert_line(self) -> None:
        self.call_later(self.insert, "\n")

    def action_history_previous(self) -> None:
        if not self.cursor_at_first_line or self._index == 0:
            raise SkipAction
        if self._index == len(self._history):
            self._draft = self.text
        self._index -= 1
        self.fill(self._history[self._index])

    def action_history_next(self) -> None:
        if not self.cursor_at_last_line or self._index >= len(self._history):
            raise SkipAction
        self._index += 1
        self.fill(self._draft if self._index == len(self._history) else self._history[self._index])

    def action_page(self, pages: int) -> None:
        """Scroll the pane above the box down by pages."""
        if self.max_scroll_y > 0:
            raise SkipAction  # a question longer than the box is scrolled itself
        self.post_message(self.ScrollRequested(pages))

    def on_key(self, event: events.Key) -> None:
        """Move the cursor by the keys of the history when they do not apply."""
        if move := _MOVES.get(event.key):
            event.stop()
            move(self)

    def on_paste(self, event: events.Paste) -> None:
        """Insert a paste, unless it is too long for a question."""
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
