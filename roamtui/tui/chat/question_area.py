"""`QuestionArea`: the question box, and the questions that wait. They are asked one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static, TextArea
from textual.worker import Worker, WorkerCancelled, WorkerFailed

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
from roamtui.markdown.units import read_visible_line
from roamtui.outline.labels import format_node_title
from roamtui.paths import expand_user
from roamtui.program import QUIT_WORDS
from roamtui.sanitiser import sanitise_line
from roamtui.text import format_count, shorten
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.question_box import QuestionBox

if TYPE_CHECKING:
    from roamtui.conversation.drafts import DraftFile

_TITLE_LENGTH = 30
"""Maximum length of a section's title in the border of the question box."""
_WAITING_SECONDS = 0.3
"""A question that waits longer than this is shown below the box."""
_WAITING_LINES_MAX = 4
_EXPLAINED_LENGTH_MAX = 60
_DRAFT_SECONDS = 0.5
"""What is typed is saved after a pause of this length."""
_SELECTION_LENGTH_MAX = 500
"""Maximum selected characters in a question. The model receives the whole section with it."""


def _find_other_key(text: str) -> tuple[str, str] | None:
    """Return the action that the person may have meant by a text, and what its key does, or None."""
    if text in QUIT_WORDS:
        return "global.quit", "quits"
    with suppress(OSError, ValueError):  # the text is too long for a path, or not valid as one
        if Path(expand_user(text.strip("\"'"))).is_file():
            return "global.open_document", "opens a file"
    return None


async def _await_cancelled(worker: Worker[None]) -> None:
    """Wait for a cancelled worker: one that had not begun reports its end only if someone waits for it."""
    with suppress(WorkerCancelled, WorkerFailed):
        await worker.wait()


@dataclass
class _SentQuestion:
    """A question that was sent. Its worker waits for its turn, and then for the answer."""

    question: str
    options: AskOptions
    worker: Worker[None]
    is_shown: bool = False
    """Whether its turn has come, so that the conversation shows it."""
    is_asked: bool = False
    """Whether it is part of the conversation."""
    is_taken_back: bool = False


class QuestionArea(Container):
    """Asks questions. Those that wait for their turn are below the box. Its label says how the next is asked.

    The conversation answers one question at a time, in the order in which they were sent.
    """

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
        self._drafts: DraftFile | None = None
        self._draft_timer: Timer | None = None
        self._is_unasked = not conversation.state.exchanges
        """Whether the conversation has no question yet, so that no list shows it."""
        self._sent: list[_SentQuestion] = []
        """The questions whose workers have not ended, oldest first."""
        self._explained = ""
        """The last text that looked like no question. If it is sent again at once, it is asked."""

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for its answer."""
        return bool(self._sent)

    def open_draft(self) -> None:
        """At the start, put the drafts of an earlier run into the box."""
        found, is_elsewhere = self._load_drafts(is_start=True)
        # Without drafts, leave the box alone, so that undo still covers text typed ahead.
        if found:
            self._show_drafts([*found, *self.box.drafts], found)
        elif is_elsewhere:
            self.notify("Another window has a draft", markup=False)

    def _load_drafts(self, *, is_start: bool = False) -> tuple[list[str], bool]:
        """Return the drafts of the conversation, and whether another window has one of its document."""
        from roamtui.conversation.drafts import DraftFile  # noqa: PLC0415

        state = self._conversation.state
        is_elsewhere = False
        if self._conversation.store is None:
            return [], is_elsewhere
        self._drafts = DraftFile(self._conversation.store, get_source_key(state.library), state.id)
        with suppress(OSError):
            is_elsewhere = self._drafts.adopt(is_start=is_start, is_new=not state.exchanges)
        return self._drafts.load(), is_elsewhere

    def _write_drafts(self) -> None:
        if self._drafts is not None:
            self._drafts.write(self.box.drafts)

    def release_drafts(self, *, is_kept: bool = True) -> None:
        """Leave the typed text and the waiting questions to the next program, or remove them."""
        self._write_drafts()
        if self._drafts is not None:
            self._drafts.close(is_kept=is_kept)
            self._drafts = None

    def _show_drafts(self, drafts: Sequence[str], found: Sequence[str]) -> None:
        """Put drafts into the box, and say if some were `found` in the file."""
        self.box.replace_drafts(drafts)
        self._write_drafts()
        if found:
            more = " · ↑ more" if len(drafts) > 1 else ""
            self.notify(f"Kept from last time{more}", markup=False)

    @on(TextArea.Changed)
    def _keep_draft_soon(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
        self._draft_timer = self.set_timer(_DRAFT_SECONDS, self._write_drafts)

    def _set_options(self, options: AskOptions, *, is_retry: bool = False) -> AskOptions:
        """Set how the next question will be asked, and show this on the border. Return the previous options.

        Sections that the document has lost are left out.
        """
        previous = self._options
        library = self._conversation.state.library
        within = options.within if options.within in library else None
        open_first = tuple(section_id for section_id in options.open_first if section_id in library)
        self._options = replace(options, within=within, open_first=open_first)
        self._asks_again = is_retry or options.replaces is not None or bool(open_first)
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
        """Limit the next question to one section, and put the `selected` text, as a quote, at its start."""
        self._set_options(AskOptions(within=section_id))
        if selected:
            self.box.fill(f"“{shorten(read_visible_line(selected), _SELECTION_LENGTH_MAX)}”\n{self.box.text}")

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

    def handle_event(self, event: ConversationEvent) -> None:
        """Note that the current question is in the conversation, or switch to another conversation."""
        match event:
            case QuestionReceived(question=question):
                if (sent := self._find_unasked(question, is_shown=False)) is not None:
                    sent.is_shown = True
                self._show_waiting()
            case QuestionAsked(question=question):
                if (sent := self._find_unasked(question, is_shown=True)) is not None:
                    sent.is_asked = True
                    self.box.settled.add(question)
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

        The typed text moves along if the old or the new conversation has no question yet.
        """
        self.cancel_options()
        exchanges = self._conversation.state.exchanges
        goes_along = self._is_unasked or not exchanges
        typed = self.box.drafts if goes_along else []
        self.release_drafts(is_kept=not goes_along)
        for exchange in exchanges:
            self.box.remember(exchange.question)
            self.box.settled.add(exchange.question)
        found, _ = self._load_drafts()
        if not (found or self.box.text):  # what was taken back stays in the history
            typed.append("")
        self._show_drafts([*typed, *found], found)
        self._is_unasked = not exchanges

    @on(QuestionBox.Submitted)
    def _submit(self, event: QuestionBox.Submitted) -> None:
        """Ask a question from the box once all earlier ones have been answered.

        If it looks like a command to quit, or is the path of a file, first say how to do that.
        """
        other_key = _find_other_key(event.question)
        if other_key is not None and event.question != self._explained:
            self._explained = event.question
            action_id, does = other_key
            key, send_key = (self._keys.first_keys[name] for name in (action_id, "input.send"))
            asked = shorten(sanitise_line(event.question), _EXPLAINED_LENGTH_MAX)
            self.notify(f"{key} {does} · {send_key} asks “{asked}” as a question", markup=False)
            return
        self._explained = ""
        if self.box.hides_draft:
            self.notify("What you had typed is in the history (↑)", markup=False)
        if self.box.text.strip() == event.question:  # else the person has typed something else since
            self.box.empty()
        self.box.remember(event.question)
        options = self.take_options()
        self._sent.append(_SentQuestion(event.question, options, self._ask(event.question, options)))
        self._write_drafts()
        self.set_timer(_WAITING_SECONDS, self._show_waiting)

    def _iter_unasked(self) -> Iterator[_SentQuestion]:
        """Yield the questions that are not part of the conversation yet, oldest first."""
        return (sent for sent in self._sent if not (sent.is_asked or sent.is_taken_back))

    def _find_unasked(self, question: str, *, is_shown: bool) -> _SentQuestion | None:
        """Find the question of an event. Stopped ones before it may not have ended yet."""
        unasked = (sent for sent in self._iter_unasked() if sent.is_shown is is_shown)
        return next((sent for sent in unasked if sent.question == question), None)

    def handle_worker_end(self, worker: Worker[object]) -> None:
        """Forget the question of a worker that has ended.

        If it did not become part of the conversation, it is in the box's history, so that it does not disturb
        the person.
        """
        sent = next((sent for sent in self._sent if sent.worker is worker), None)
        if sent is None or not worker.is_finished:
            return
        self._sent.remove(sent)
        if not (sent.is_asked or sent.is_taken_back):
            place = "" if self.box.has_focus else " in the question box"
            self.notify(f"Not asked · ↑{place} brings it back", markup=False)
        self._keep_draft_soon()
        self._show_waiting()

    def _show_waiting(self) -> None:
        waiting = [sent.question for sent in self._iter_unasked() if not sent.is_shown]
        lines = [f"{number}. {sanitise_line(question)}" for number, question in enumerate(waiting, 1)]
        if len(lines) > _WAITING_LINES_MAX:
            more = len(lines) - _WAITING_LINES_MAX + 1
            lines = [*lines[: _WAITING_LINES_MAX - 1], f"and {more} more"]
        heading = f"Asked next ({self._keys.first_keys['global.back']} takes back the last):"
        self._waiting_lines.update(Content("\n".join((heading, *lines))))
        self._waiting_lines.display = bool(lines)

    def unsend_last(self) -> bool:
        """Put the last sent question back into the box, unless it was asked. Return whether there was one."""
        unasked = [*self._iter_unasked()]
        if not unasked:
            return False
        sent = unasked[-1]
        sent.is_taken_back = True
        self._cancel(sent)
        self._return_to_box(sent.question, sent.options)
        self._keep_draft_soon()
        self._show_waiting()
        if self.box.hides_draft:
            back_key = self._keys.first_keys["global.back"]
            self.notify(f"{back_key} shows your draft", markup=False)
        return True

    def _return_to_box(self, question: str, options: AskOptions, *, is_retry: bool = False) -> None:
        self.box.return_question(question)
        self._set_options(options, is_retry=is_retry)

    def propose_retry(self, number: int, open_first: tuple[str, ...]) -> None:
        """Put a question into the box, to be asked again after opening sections.

        If it is the last one, its answers become earlier answers to the question asked in its place.
        """
        exchanges = self._conversation.state.exchanges
        exchange = exchanges[number - 1]
        replaced = exchange if number == len(exchanges) else None
        options = AskOptions(replaces=replaced, within=exchange.within, open_first=open_first)
        self._return_to_box(exchange.question, options, is_retry=True)

    def stop(self) -> bool:
        """Stop the current question. Return whether there was one. Waiting questions stay."""
        current = next((sent for sent in self._sent if not sent.is_taken_back), None)
        if current is not None:
            self._cancel(current)
        return current is not None

    def _cancel(self, sent: _SentQuestion) -> None:
        sent.worker.cancel()
        self.run_worker(_await_cancelled(sent.worker), group="stopping", exit_on_error=False)
