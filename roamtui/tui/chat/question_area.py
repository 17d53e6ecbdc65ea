"""`QuestionArea`: the question box and the questions that were sent and wait for their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from textual import events, on
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea
from textual.worker import Worker, WorkerCancelled, WorkerFailed
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    ConversationEvent,
    ConversationStarted,
    DocumentReloaded,
    QuestionAsked,
    QuestionReceived,
)
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.update import AskOptions
from roamtui.outline.labels import format_node_title
from roamtui.plain import format_count, sanitise_line, sanitise_text, shorten
from roamtui.program import QUIT_WORDS
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.messages import StatusMessage

if TYPE_CHECKING:
    from roamtui.conversation.drafts import DraftFile

_QUESTION_LENGTH_MAX = 50_000
"""In characters. A longer text is hardly a question, and laying it out would delay each key."""
_TITLE_LENGTH = 30
"""Maximum length of a section's title in the border of the question box."""
_WAITING_SECONDS = 0.3
"""A question that waits longer than this is shown below the box."""
_WAITING_LINES_MAX = 4
_DRAFT_SECONDS = 0.5
"""What is typed is saved after a pause of this length."""
_SELECTION_LENGTH_MAX = 500
"""Maximum selected characters in a question. The model receives the whole section with it."""


class QuestionBox(TextArea):
    """A text field of several lines with a history."""

    BINDINGS = make_bindings(Scope.INPUT)

    @dataclass
    class Submitted(Message):
        """A person sent a question."""

        question: str

    def __init__(self, history: Iterable[str]) -> None:
        """Make an empty box. `history` has earlier questions, oldest first."""
        placeholder = Content("Ask this document…")
        super().__init__(
            id="question-box", compact=True, highlight_cursor_line=False, placeholder=placeholder
        )
        self.cursor_blink = False  # each change takes 4 ms, because Textual draws much of the screen again
        self._texts = [*history, ""]
        """The history, oldest first, and then the typed text."""
        self._index = len(self._texts) - 1
        """The index of the text that the box shows. A changed text stays in its place."""
        self.settled = set(self._texts)
        """Text that is no draft, because it was asked, suggested or cleared."""

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # Textual binds them to f6, which lists notes, and f7
        return action not in ("select_line", "select_all")

    @property
    def drafts(self) -> list[str]:
        """What was typed and not asked, oldest first, with the questions that wait."""
        texts = dict.fromkeys((*self._texts[: self._index], self.text, *self._texts[self._index + 1 :]))
        return [text for text in texts if text.strip() and text not in self.settled]

    def replace_drafts(self, drafts: Sequence[str]) -> None:
        """Show the last draft in place of the typed text, and put the earlier drafts into the history."""
        *earlier, last = drafts or ("",)
        asked = [text for text in self._texts[:-1] if text in self.settled]
        self._texts = [*asked, *earlier, last]
        self._index = len(self._texts) - 1
        self.settled.difference_update(drafts)
        self.fill(last)

    def remember(self, question: str) -> None:
        """Add a question that is sent to the history."""
        is_last = self._index == len(self._texts) - 1
        if question not in self._texts[-2:-1]:
            self._texts.insert(-1, question)
            self._index += is_last
        self.settled.discard(question)

    def return_question(self, question: str) -> None:
        """Show a sent question in its place in the history. What is typed is one step further down."""
        self._keep_typed()
        if question not in self._texts[:-1]:
            self._texts.insert(-1, question)
        self._index = len(self._texts) - 2 - self._texts[-2::-1].index(question)
        self.fill(question)

    def _keep_typed(self) -> None:
        """Keep the typed text in its place, unless a question of the history was cleared there."""
        if self.text.strip() or self._index == len(self._texts) - 1:
            self._texts[self._index] = self.text
        else:
            self.settled.add(self._texts[self._index])

    def fill(self, text: str) -> None:
        """Replace the text, with the cursor at its end."""
        self.load_text(sanitise_text(text))
        self.move_cursor(self.document.end)

    @override
    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, unless an undo has just removed its line and moves it next."""
        is_in_text = self.clamp_visitable(self.cursor_location) == self.cursor_location
        return super().scroll_cursor_visible(center, animate) if is_in_text else Offset()

    def discard(self) -> bool:
        """Clear the text, so that "undo" brings it back. Return whether there was any."""
        has_text = bool(self.text)
        if has_text:
            self.clear()
            self.post_message(StatusMessage("Cleared the box · ctrl+z brings the text back"))
        return has_text

    def action_send(self) -> None:
        question = self.text.strip()
        if len(question) > _QUESTION_LENGTH_MAX:
            self._refuse("This question is too long")
        elif question:
            self.post_message(self.Submitted(question))

    def _refuse(self, problem: str) -> None:
        words = f"{problem}: a question can have at most {_QUESTION_LENGTH_MAX:,} characters."
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
        """Show what was typed instead of an earlier question, unless that was changed. Return if so."""
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
            await self.run_action("app.commands('/')")

    @override
    def action_delete_word_left(self) -> None:
        """Delete a word. In an empty box, say where the same key closes the document."""
        if self.text:
            super().action_delete_word_left()
        else:
            self.post_message(StatusMessage("Nothing to delete. Press esc first to close the document."))

    def on_paste(self, event: events.Paste) -> None:
        """Refuse a paste that makes the question longer than it may be."""
        if len(self.text) - len(self.selected_text) + len(event.text) > _QUESTION_LENGTH_MAX:
            event.prevent_default()
            self._refuse("That paste is too long")


class DraftKeeper:
    """Keeps what is typed into a question box, and not asked, in the file of its conversation."""

    def __init__(self, box: QuestionBox, conversation: Conversation) -> None:
        self._box = box
        self._conversation = conversation
        self._file: DraftFile | None = None

    def find(self, *, is_first: bool = False) -> list[str]:
        """Open the file of the conversation's drafts, and return them.

        At the start, a new conversation takes over the drafts of an earlier run. A conversation whose
        document has moved keeps its drafts.
        """
        from roamtui.conversation.drafts import DraftFile  # noqa: PLC0415

        state = self._conversation.state
        store = self._conversation.store
        found: list[str] = []
        if store is not None:
            self._file = DraftFile(store, get_source_key(state.library), state.id)
            with suppress(OSError):
                if is_first or state.exchanges:
                    self._file.adopt_newest(is_new=not state.exchanges)
                found = self._file.find()
        return found

    def write(self) -> None:
        """Write the typed text and the waiting questions. If that fails, they are only on the screen."""
        if self._file is not None:
            with suppress(OSError):
                self._file.write(self._box.drafts)

    def release(self, *, is_kept: bool = True) -> None:
        """Leave the drafts to the next program, or remove them."""
        self.write()
        if self._file is not None:
            self._file.close(is_kept=is_kept)
            self._file = None


class _SentQuestion(NamedTuple):
    question: str
    options: AskOptions


async def _await_cancelled(worker: Worker[None]) -> None:
    """Wait for a cancelled worker: one that had not begun reports its end only if someone waits for it."""
    with suppress(WorkerCancelled, WorkerFailed):
        await worker.wait()


class QuestionArea(Container):
    """Asks one question at a time; others wait below the box. Its label says how the next is asked."""

    def __init__(
        self,
        box: QuestionBox,
        conversation: Conversation,
        keys: Keymap,
        ask: Callable[[str, AskOptions], Worker[None]],
    ) -> None:
        """Ask the questions that are typed into `box`."""
        self._waiting_lines = Static(id="queued")
        self._waiting_lines.display = False
        self._frame = Horizontal(Static(Content("❯"), id="prompt"), box, id="ask-frame")
        super().__init__(self._frame, self._waiting_lines, id="ask")
        self.box = box
        self._conversation = conversation
        self._keys = keys
        self._ask = ask
        self._options = AskOptions()
        self._asks_again = False
        """Whether the box has a question that was asked already, to be asked again."""
        self.drafts = DraftKeeper(box, conversation)
        self._draft_timer: Timer | None = None
        self._is_unasked = not conversation.state.exchanges
        """Whether the conversation has no question yet, so that no list shows it."""
        self._worker: Worker[None] | None = None
        """Answers the question whose turn it is."""
        self._current: _SentQuestion | None = None
        """The question whose turn it is, until it is part of the conversation."""
        self._is_shown = False
        """Whether the conversation shows this question."""
        self._waiting: list[_SentQuestion] = []
        """The questions after the current one, oldest first."""
        self._quit_word = ""
        """The last text that looked like a command to quit, if nothing was sent since."""

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for its answer."""
        return self._worker is not None

    def open_draft(self) -> None:
        """At the start, put the drafts of an earlier run into the box."""
        if found := self.drafts.find(is_first=True):  # else typing ahead can be undone
            self._show_drafts([*found, *self.box.drafts], found=True)

    def _show_drafts(self, drafts: list[str], *, found: bool) -> None:
        """Put drafts into the box, and say whether some were `found` in the file."""
        with self.box.prevent(TextArea.Changed):
            self.box.replace_drafts(drafts)
        self.drafts.write()
        more = " · ↑ shows more" if len(drafts) > 1 else ""
        self._frame.border_subtitle = f"Kept from last time{more}" if found else ""

    @on(TextArea.Changed)
    def _keep_draft_soon(self) -> None:
        self._frame.border_subtitle = ""
        if self._draft_timer is not None:
            self._draft_timer.stop()
        self._draft_timer = self.set_timer(_DRAFT_SECONDS, self.drafts.write)

    def _set_options(self, options: AskOptions, *, asks_again: bool = False) -> AskOptions:
        """Set how the next question will be asked, and show this on the border. Return the previous options.

        Sections that the document has lost are left out.
        """
        previous = self._options
        library = self._conversation.state.library
        within = options.within if options.within in library else None
        open_first = tuple(section_id for section_id in options.open_first if section_id in library)
        self._options = replace(options, within=within, open_first=open_first)
        self._asks_again = asks_again or options.replaces is not None or bool(open_first)
        label = ""
        end = "for all"
        if self._asks_again:
            label = "Asks again"
            end = "to cancel"
            if open_first:
                label += f" with {format_count(len(open_first), 'more section')}"
        if within is not None:
            title = format_node_title(library.node(within), length_max=_TITLE_LENGTH)
            label = f"{label}, only in {title}" if label else f"Only in {title}"
        back_key = self._keys.first_keys["global.back"]
        self._frame.border_title = Content(f"{label} · {back_key} {end}" if label else "")
        return previous

    def ask_about_section(self, section_id: str | None, selected: str = "") -> None:
        """Limit the next question to one section. Text that is selected there begins it as a quote."""
        self._set_options(AskOptions(within=section_id))
        if selected:
            self.box.fill(f"“{shorten(sanitise_line(selected), _SELECTION_LENGTH_MAX)}”\n{self.box.text}")

    def cancel_options(self) -> bool:
        """Ask the next question of the whole document, as a new one, and show what was typed before.

        Return whether that changes anything.
        """
        is_replaced = self._asks_again or self.box.hides_draft
        options = self.take_options()
        return (is_replaced and self.box.return_draft()) or options != AskOptions()

    def discard(self) -> bool:
        """Clear the box, and ask the next question as a new one. Return whether there was any text."""
        self.take_options()
        return self.box.discard()

    def take_options(self) -> AskOptions:
        """Return the options of the next question. The question after it has none."""
        return self._set_options(AskOptions())

    def follow_event(self, event: ConversationEvent) -> None:
        """Follow the question whose turn it is into the conversation, or follow another conversation."""
        match event:
            case QuestionReceived():
                self._is_shown = True
                self._show_waiting()
            case QuestionAsked():
                if self._current is not None:
                    self.box.settled.add(self._current.question)
                self._current = None
                self._is_unasked = False
                self._keep_draft_soon()
            case DocumentReloaded():
                self.take_options()
            case ConversationStarted():
                self._start_conversation()
            case _:
                pass

    def _start_conversation(self) -> None:
        """Follow another conversation, with its questions and draft.

        The typed text goes along to a new conversation, and leaves a conversation without a question.
        """
        self.cancel_options()
        exchanges = self._conversation.state.exchanges
        goes_along = self._is_unasked or not exchanges
        typed = self.box.drafts if goes_along else []
        self.drafts.release(is_kept=not goes_along)
        for exchange in exchanges:
            self.box.remember(exchange.question)
            self.box.settled.add(exchange.question)
        found = self.drafts.find()
        self._show_drafts([*typed, *found], found=bool(found))
        self._is_unasked = not exchanges

    @on(QuestionBox.Submitted)
    def _submit(self, event: QuestionBox.Submitted) -> None:
        """Ask a question from the box once all earlier ones have been answered.

        If it looks like a command to quit, first say how to quit.
        """
        if event.question in QUIT_WORDS and event.question != self._quit_word:
            self._quit_word = event.question
            quit_key, send_key = (self._keys.first_keys[name] for name in ("global.quit", "input.send"))
            self.notify(f"{quit_key} quits · {send_key} asks “{event.question}” as a question", markup=False)
            return
        self._quit_word = ""
        if self.box.text.strip() == event.question:  # else the person has typed something else since
            self.box.fill("")  # unlike `clear`, so that "undo" does not bring the question back
            self.box.return_draft()
        self.box.remember(event.question)
        self._waiting.append(_SentQuestion(event.question, self.take_options()))
        self._ask_next()
        self.drafts.write()
        self.set_timer(_WAITING_SECONDS, self._show_waiting)

    def _ask_next(self) -> None:
        if self._worker is None and self._waiting:
            self._current = self._waiting.pop(0)
            self._is_shown = False
            self._worker = self._ask(*self._current)

    def follow_worker(self, worker: Worker[object]) -> None:
        """When the worker of a question has ended, ask the next one.

        A question that did not become part of the conversation is in the box again. It is only in its
        history if the box is not empty, or if another question waits, because the person continues typing.
        """
        if worker is not self._worker or not worker.is_finished:
            return
        unasked = self._current
        self._worker = None
        self._current = None
        if unasked is not None and (self._waiting or self.box.text.strip()):
            place = "" if self.box.has_focus else " in the question box"
            self.post_message(StatusMessage(f"Not asked · ↑{place} brings it back"))
        elif unasked is not None:
            self._return_to_box(unasked)
        self._ask_next()
        self._keep_draft_soon()
        self._show_waiting()

    def _show_waiting(self) -> None:
        current = [] if self._is_shown or self._current is None else [self._current]
        waiting = [*current, *self._waiting]
        lines = [f"{number}. {sanitise_line(each.question)}" for number, each in enumerate(waiting, 1)]
        if len(lines) > _WAITING_LINES_MAX:
            more = len(lines) - _WAITING_LINES_MAX + 1
            lines = [*lines[: _WAITING_LINES_MAX - 1], f"and {more} more"]
        heading = f"Asked next ({self._keys.first_keys['global.back']} takes back the last):"
        self._waiting_lines.update(Content("\n".join((heading, *lines))))
        self._waiting_lines.display = bool(lines)

    def unsend_last(self) -> bool:
        """Put the last sent question back into the box, unless it was asked. Return whether there was one."""
        sent = self._waiting.pop() if self._waiting else self._current
        if sent is None:
            return False
        if sent is self._current:
            self._current = None
            self._cancel()
        self._return_to_box(sent)
        self._keep_draft_soon()
        self._show_waiting()
        if self.box.hides_draft:
            back_key = self._keys.first_keys["global.back"]
            self.post_message(StatusMessage(f"{back_key} shows your draft"))
        return True

    def _return_to_box(self, sent: _SentQuestion, *, asks_again: bool = False) -> None:
        self.box.return_question(sent.question)
        self._set_options(sent.options, asks_again=asks_again)

    def propose_again(self, number: int, open_first: tuple[str, ...]) -> None:
        """Put a question into the box, to be asked again after opening sections.

        If it is the last one, its answers become earlier answers to what is asked in its place.
        """
        exchanges = self._conversation.state.exchanges
        exchange = exchanges[number - 1]
        replaced = exchange if number == len(exchanges) else None
        options = AskOptions(replaces=replaced, within=exchange.within, open_first=open_first)
        self._return_to_box(_SentQuestion(exchange.question, options), asks_again=True)

    def stop(self) -> bool:
        """Stop the answer, or what comes before it. Return whether there was any. Waiting questions stay."""
        was_asking = self.is_asking
        self._cancel()
        return was_asking

    def _cancel(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            self.run_worker(_await_cancelled(self._worker), group="stopping", exit_on_error=False)
