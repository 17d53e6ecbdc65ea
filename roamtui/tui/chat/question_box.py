"""`QuestionBox`: the field where a person types questions, and its history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from typing_extensions import override

from roamtui.sanitiser import sanitise_text
from roamtui.tui.actions import Keymap, Scope, make_bindings

_QUESTION_LENGTH_MAX = 50_000
"""In characters. A longer text is hardly a question, and laying it out would delay each key."""


class QuestionBox(TextArea):
    """A text field of several lines with a history."""

    BINDINGS = make_bindings(Scope.INPUT)

    @dataclass
    class Submitted(Message):
        """A person sent a question."""

        question: str

    def __init__(self, history: Iterable[str], keys: Keymap) -> None:
        """Make an empty box. `history` has earlier questions, oldest first."""
        placeholder = Content("Ask a question…")
        super().__init__(
            id="question-box", compact=True, highlight_cursor_line=False, placeholder=placeholder
        )
        self.cursor_blink = False  # each change takes 4 ms, because Textual draws much of the screen again
        self._open_key = keys.first_keys["global.open_document"]
        self._texts = [*history, ""]
        """The history, oldest first, and then the typed text."""
        self._index = len(self._texts) - 1
        """The index of the text that the box shows. An edited text stays at its index."""
        self.settled = set(self._texts)
        """Texts that are not drafts, because they were asked or suggested."""
        self._cleared = set[str]()
        """Texts of the history that the person has cleared. They are no drafts either."""

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # Textual binds them to f6, which lists notes, and f7
        return action not in ("select_line", "select_all")

    @property
    def drafts(self) -> list[str]:
        """What was typed and not asked, oldest first, with the questions that wait."""
        dropped = self.settled | (self._cleared - {self.text})
        texts = dict.fromkeys((*self._texts[: self._index], self.text, *self._texts[self._index + 1 :]))
        return [text for text in texts if text.strip() and text not in dropped]

    def replace_drafts(self, drafts: Sequence[str]) -> None:
        """Show the last draft in place of the typed text, and put the earlier drafts into the history."""
        *earlier, last = drafts or ("",)
        asked = [text for text in self._texts[:-1] if text in self.settled]
        self._texts = [*asked, *earlier, last]
        self._index = len(self._texts) - 1
        self.settled.difference_update(drafts)
        if last != self.text:  # else "undo" still covers what was typed ahead
            self.load_text(sanitise_text(last))
            self.move_cursor(self.document.end)

    def remember(self, question: str) -> None:
        """Add a sent question to the history."""
        is_last = self._index == len(self._texts) - 1
        if question not in self._texts[-2:-1]:
            self._texts.insert(-1, question)
            self._index += is_last
        self.settled.discard(question)
        self._cleared.discard(question)

    def return_question(self, question: str) -> None:
        """Show a sent question in its place in the history. The typed text stays at the history's end."""
        self._keep_typed()
        if question not in self._texts[:-1]:
            self._texts.insert(-1, question)
        self._index = len(self._texts) - 2 - self._texts[-2::-1].index(question)
        self.fill(question)

    def _keep_typed(self) -> None:
        """Keep the typed text in its place, unless a question of the history was cleared there."""
        if self.text.strip() or self._index == len(self._texts) - 1:
            self._texts[self._index] = self.text
            self._cleared.discard(self.text)
        else:
            self._cleared.add(self._texts[self._index])

    def fill(self, text: str) -> None:
        """Replace the text, with the cursor at its end. "Undo" brings back what it replaces."""
        self.history.checkpoint()
        self.replace(sanitise_text(text), (0, 0), self.document.end, maintain_selection_offset=False)
        self.history.checkpoint()

    def empty(self) -> None:
        """Empty the box for the next question. Typed text that it hides joins the history."""
        self.fill("")
        self._keep_typed()
        if self._texts[-1].strip():
            self._texts.append("")
        self._index = len(self._texts) - 1

    @override
    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, unless an undo has just removed its line and moves it next."""
        is_in_text = self.clamp_visitable(self.cursor_location) == self.cursor_location
        return super().scroll_cursor_visible(center, animate) if is_in_text else Offset()

    def discard(self) -> bool:
        """Clear the text, so that "undo" brings it back. Return whether there was any."""
        has_text = bool(self.text)
        if has_text:
            self.empty()
            self.notify("Cleared the box · ctrl+z brings the text back", markup=False)
        return has_text

    @override
    def undo(self) -> None:
        """Undo the last edits. The next edit starts a new step, or another "undo" would take both back."""
        super().undo()
        self._follow_text()

    @override
    def redo(self) -> None:
        super().redo()
        self._follow_text()

    def _follow_text(self) -> None:
        """After an "undo", continue at the text's place in the history, if it has one."""
        self.history.checkpoint()
        if self.text in self._texts:
            self._index = len(self._texts) - 1 - self._texts[::-1].index(self.text)

    def action_send(self) -> None:
        question = self.text.strip()
        if len(question) > _QUESTION_LENGTH_MAX:
            self._refuse("This question is too long")
        elif question:
            self.post_message(self.Submitted(question))

    def _refuse(self, problem: str) -> None:
        limit = f"a question can have at most {_QUESTION_LENGTH_MAX:,} characters"
        words = f"{problem}: {limit}. Save a longer text to a file, and open that ({self._open_key})."
        self.notify(words, severity="warning", markup=False)

    def action_insert_line(self) -> None:
        self.insert("\n")

    @override
    def action_cursor_up(self, select: bool = False) -> None:
        """Move up, or from the first line to an earlier question: from an empty box, to the last one."""
        index = self._index if self.text.strip() else len(self._texts) - 1
        if not self.cursor_at_first_line or index == 0:
            super().action_cursor_up(select)
        else:
            self._recall(index - 1)

    @override
    def action_cursor_down(self, select: bool = False) -> None:
        """Move down, or from the last line to a later question."""
        if not self.cursor_at_last_line or self._index == len(self._texts) - 1:
            super().action_cursor_down(select)
        else:
            self._recall(self._index + 1)

    @property
    def hides_draft(self) -> bool:
        """Whether the box shows an earlier question instead of text that was typed."""
        return self._index < len(self._texts) - 1 and bool(self._texts[-1].strip())

    def return_draft(self) -> bool:
        """Show the typed text again instead of an unchanged earlier question. Return whether it is shown."""
        is_unchanged = self.text in ("", self._texts[self._index])
        if is_unchanged:
            self._recall(len(self._texts) - 1)
        return is_unchanged

    def _recall(self, index: int) -> None:
        self._keep_typed()
        self._index = index
        self.fill(self._texts[index])

    async def on_key(self, event: events.Key) -> None:
        """List the commands for a slash in an empty box."""
        if event.character == "/" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("app.help('/')")

    @override
    def action_delete_word_left(self) -> None:
        """Delete a word. In an empty box, say where the same key closes the document."""
        if self.text:
            super().action_delete_word_left()
        else:
            self.notify("Nothing to delete · leave the box first to close the document", markup=False)

    def on_paste(self, event: events.Paste) -> None:
        """Refuse a paste that would make the question too long."""
        if len(self.text) - len(self.selected_text) + len(event.text) > _QUESTION_LENGTH_MAX:
            event.prevent_default()
            self._refuse("That paste is too long")
