"""`QuestionArea`: the question box with the lines above it, and the question that was sent and not asked yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace
from textual import events, on
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea
from textual.worker import Worker
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.state import AskOptions
from roamtui.plain import sanitise_line, sanitise_text, shorten
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.labels import format_full_path
from roamtui.tui.messages import StatusMessage

_PASTE_LENGTH_MAX = 50_000
"""In characters. A longer text is hardly a question, and laying it out would delay each key."""
_WAITING_SECONDS = 0.3
"""A question that waits longer than this is shown above the box."""
_ABOUT_EACH = re.compile(r"(which of|compare|((for|in) )?(each|every|all))\b", re.IGNORECASE)
"""Matches the start of a question that is asked of each document."""
_SELECTION_LENGTH_MAX = 500
"""Maximum number of selected characters in a question. The model receives the whole section with the question."""


class QuestionBox(TextArea):
    """A text field of several lines with a history."""

    BINDINGS = make_bindings(Scope.INPUT)

    @dataclass
    class Submitted(Message):
        """A person sent a question."""

        question: str

    def __init__(self, history: Iterable[str] = ()) -> None:
        """Make an empty box. `history` has earlier questions, oldest first."""
        placeholder = Content("Ask this document…")
        super().__init__(id="question-box", compact=True, highlight_cursor_line=False, placeholder=placeholder)
        self.cursor_blink = False  # each change takes 4 ms, because Textual draws much of the screen again
        self._history = list(history)
        self._history_index = len(self._history)
        self._draft = ""

    def remember(self, question: str) -> None:
        """Add a question to the history."""
        if question not in self._history[-1:]:
            self._history.append(question)
        self._history_index = len(self._history)

    def fill(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.load_text(sanitise_text(text))
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        if question := self.text.strip():
            self.post_message(self.Submitted(question))

    def action_insert_line(self) -> None:
        self.insert("\n")

    @override
    def action_cursor_up(self, select: bool = False) -> None:
        """Move up, or from the first line to an earlier question."""
        if not self.cursor_at_first_line or self._history_index == 0:
            super().action_cursor_up(select)
        else:
            if self._history_index == len(self._history):
                self._draft = self.text
            self._recall(self._history_index - 1)

    @override
    def action_cursor_down(self, select: bool = False) -> None:
        """Move down, or from the last line to a later question."""
        if not self.cursor_at_last_line or self._history_index >= len(self._history):
            super().action_cursor_down(select)
        else:
            self._recall(self._history_index + 1)

    def _recall(self, index: int) -> None:
        self._history_index = index
        self.fill(self._draft if index == len(self._history) else self._history[index])

    async def on_key(self, event: events.Key) -> None:
        """List the commands for a slash in an empty box."""
        if event.character == "/" and not self.text:
            event.stop()
            event.prevent_default()
            await self.run_action("app.help")

    def on_paste(self, event: events.Paste) -> None:
        if len(event.text) > _PASTE_LENGTH_MAX:
            event.prevent_default()
            problem = f"That paste is too long for a question. It may have {_PASTE_LENGTH_MAX:,} characters."
            self.notify(problem, severity="warning", markup=False)


class _SentQuestion(Struct, frozen=True, kw_only=True):
    question: str
    options: AskOptions
    worker: Worker[None]


class QuestionArea(Container):
    """Asks one question at a time; one more can wait. A label on the box says how the next one will be asked."""

    def __init__(
        self, box: QuestionBox, conversation: Conversation, keys: Keymap, ask: Callable[[str, AskOptions], Worker[None]]
    ) -> None:
        """Ask the questions that are typed into `box`."""
        self._sent_line = Static(id="queued")
        self._sent_line.display = False
        self._frame = Horizontal(Static(Content("❯"), id="prompt"), box, id="ask-frame")
        super().__init__(self._sent_line, self._frame, id="ask")
        self.box = box
        self._conversation = conversation
        self._keys = keys
        self._ask = ask
        self._options = AskOptions()
        self._worker: Worker[None] | None = None
        """Answers the question that became part of the conversation last."""
        self._sent: _SentQuestion | None = None
        """The question that was sent and is not part of the conversation yet, for example while another is answered."""
        self.table_question = ""
        """The last question, if a table would answer it for each document."""

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for its answer."""
        return self._sent is not None or (self._worker is not None and not self._worker.is_finished)

    def _set_options(self, options: AskOptions) -> AskOptions:
        """Say on the border of the box how the next question will be asked. Return the previous options."""
        previous, self._options = self._options, options
        section = "" if options.within is None else format_full_path(self._conversation.state.library, options.within)
        label = f"in {section} · esc for the whole document" if section else ""
        if options.replaces is not None:
            label = f"Editing last question{' in ' * bool(section)}{section} · esc to cancel"
        self._frame.border_title = Content(label)
        return previous

    def ask_about_section(self, section_id: str | None, selected: str = "") -> None:
        """Limit the next question to one section. If text is selected there, begin the question with it as a quote."""
        self._set_options(AskOptions(within=section_id))
        if selected:
            self.box.fill(f"“{shorten(sanitise_line(selected), _SELECTION_LENGTH_MAX)}”\n{self.box.text}")

    def reset_options(self) -> bool:
        """Make the next question a new one about the whole document. Return whether that changes anything."""
        options = self.end_options()
        if options.replaces is not None:
            self.box.clear()
        return options != AskOptions()

    def end_options(self) -> AskOptions:
        """Make the next question a new one about the whole document, and keep what is typed. Return the old options."""
        return self._set_options(AskOptions())

    def note_asked(self, question: str) -> None:
        """Note that a question has become part of the conversation."""
        if self._sent is not None:
            self._worker, self._sent = self._sent.worker, None
            self._show_sent()
        library = self._conversation.state.library
        has_several = library.root.columns.has_files or len(library.sources) > 1
        self.table_question = question if has_several and _ABOUT_EACH.match(question) else ""
        if self.table_question:
            key = self._keys.first_keys["global.table"]
            self.post_message(StatusMessage(f"{key} asks each document, as a table"))

    def start_conversation(self) -> None:
        """Follow another conversation: its questions are part of the history."""
        self.reset_options()
        for exchange in self._conversation.state.exchanges:
            self.box.remember(exchange.question)

    @on(QuestionBox.Submitted)
    def _submit(self, event: QuestionBox.Submitted) -> None:
        """Ask a question from the box, or queue it while another question is being answered."""
        if self._sent is not None:
            problem = "A question is already queued. Wait for its turn, or take it back."
            self.notify(problem, severity="warning", markup=False)
            return
        self.box.clear()
        self.box.remember(event.question)
        options = self.end_options()
        self._send(event.question, replace(options, needs_previous_answer=self.is_asking))

    def _send(self, question: str, options: AskOptions) -> None:
        self._sent = _SentQuestion(question=question, options=options, worker=self._ask(question, options))
        back_key = self._keys.first_keys["global.back"]
        self._sent_line.update(Content(f"Next ({back_key} takes it back): {sanitise_line(question)}"))
        self.set_timer(_WAITING_SECONDS, self._show_sent)

    def _show_sent(self) -> None:
        self._sent_line.display = self._sent is not None

    def take_back(self) -> bool:
        """Put the waiting question back into the box, before any text typed meanwhile. Return whether there was one."""
        sent, self._sent, typed = self._sent, None, self.box.text
        if sent is None:
            return False
        self._show_sent()
        sent.worker.cancel()
        self.box.fill(f"{sent.question}\n{typed}" if typed else sent.question)
        if not typed:
            within = sent.options.within
            self.ask_about_section(within if within in self._conversation.state.library else None)
        return True

    def ask_again(self, number: int, open_first: tuple[str, ...] = (), *, is_edited: bool = False) -> None:
        """Ask question `number` again, after opening the sections `open_first` or after the person has edited it.

        If it was the last question, the new answer replaces the old one. Otherwise, it becomes a new question.
        """
        exchanges, library = self._conversation.state.exchanges, self._conversation.state.library
        exchange = exchanges[number - 1]
        options = AskOptions(
            replaces=exchange if number == len(exchanges) else None,
            within=exchange.within if exchange.within in library else None,
            open_first=open_first,
        )
        if is_edited:
            self._set_options(options)
            self.box.fill(exchange.question)
        else:
            self._send(exchange.question, options)

    def stop(self) -> bool:
        """Stop the current answer. A waiting question returns to the box. Return whether there was anything to stop."""
        was_asking = self.is_asking
        if self._worker is not None:
            self._worker.cancel()
        self.take_back()
        return was_asking

    def restore_unasked(self, worker: Worker[object]) -> None:
        """Put a question back into the box if its worker ended before the question became part of the conversation."""
        if self._sent is not None and worker is self._sent.worker and worker.is_finished:
            self.take_back()
