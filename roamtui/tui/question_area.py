"""`QuestionArea`: the question box with the lines above it, and the questions that were sent and not asked yet."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker
from typing_extensions import override

from roamtui.conversation.events import ConversationEvent, ConversationStarted, QuestionAsked
from roamtui.conversation.state import AskOptions, ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten
from roamtui.tui.labels import format_full_path
from roamtui.tui.question_box import QuestionBox

_WAITING_SECONDS = 0.3
"""A question that waits longer than this is shown above the box."""
_SELECTION_LENGTH_MAX = 500
"""Maximum number of selected characters in a question. The model receives the whole section with the question."""


def make_retry_options(exchange: Exchange, library: Library) -> AskOptions:
    """Return the options to ask an exchange's question again, about the same section if the document still has it."""
    within = exchange.within if exchange.within is not None and exchange.within in library else None
    return AskOptions(replaces=exchange, within=within)


class _SentQuestion(Struct, frozen=True, kw_only=True):
    question: str
    options: AskOptions
    worker: Worker[None]


class QuestionArea(Container):
    """Asks one question at a time; one more can wait. A label on the box says how the next one will be asked."""

    def __init__(
        self, box: QuestionBox, state: ConversationState, back_key: str, ask: Callable[[str, AskOptions], Worker[None]]
    ) -> None:
        """Ask the questions that are typed into `box`. `back_key` takes a waiting question back."""
        super().__init__(id="ask")
        self.box = box
        self.state = state
        """The state of the conversation. The screen replaces it."""
        self._back_key = back_key
        self._ask = ask
        self._sent_line = Static(id="queued")
        self._sent_line.display = False
        self._frame = Horizontal(Static(Content("❯"), id="prompt"), box, id="ask-frame")
        self._options = AskOptions()
        self._worker: Worker[None] | None = None
        """Answers the question that became part of the conversation last."""
        self._sent: _SentQuestion | None = None
        """The question that was sent and is not part of the conversation yet, for example while another is answered."""

    @override
    def compose(self) -> ComposeResult:
        yield self._sent_line
        yield self._frame

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for its answer."""
        return self._sent is not None or (self._worker is not None and not self._worker.is_finished)

    def _show_label(self, words: str) -> None:
        """Say on the border of the box how the next question will be asked."""
        self._frame.border_title = Content(words)

    def edit_last(self) -> None:
        """Put the last question into the box. The edited question will replace it."""
        exchange = self.state.transcript.exchanges[-1]
        self._options = make_retry_options(exchange, self.state.library)
        self.box.fill(exchange.question)
        within = self._options.within
        where = f" in {format_full_path(self.state.library, within)}" if within is not None else ""
        self._show_label(f"Editing last question{where} · esc to cancel")

    def ask_about_section(self, section_id: str | None, selected: str = "") -> None:
        """Limit the next question to one section. If text is selected there, begin the question with it as a quote."""
        if section_id is None:
            return
        self._options = AskOptions(within=section_id)
        if selected:
            self.box.fill(f"“{shorten(sanitise_line(selected), _SELECTION_LENGTH_MAX)}”\n{self.box.text}")
        path = format_full_path(self.state.library, section_id)
        self._show_label(f"in {path} · esc for the whole document")

    def reset_options(self) -> bool:
        """Make the next question a new one about the whole document. Return whether that changes anything."""
        options = self._pop_options()
        if options.replaces is not None:
            self.box.clear()
        return options != AskOptions()

    def _pop_options(self) -> AskOptions:
        options, self._options = self._options, AskOptions()
        if options != AskOptions():
            self._show_label("")
        return options

    def show_event(self, event: ConversationEvent) -> None:
        """Follow the questions of the conversation."""
        match event:
            case QuestionAsked():
                if (sent := self._pop_sent()) is not None:
                    self._worker = sent.worker
            case ConversationStarted():
                self.reset_options()
                for exchange in self.state.transcript.exchanges:
                    self.box.remember(exchange.question)
            case _:
                pass

    def edit(self, exchange: Exchange) -> None:
        """Put a question into the box, to be asked again as a new one."""
        self.box.fill(exchange.question)
        self.ask_about_section(make_retry_options(exchange, self.state.library).within)

    @on(QuestionBox.Submitted)
    def _submit(self, event: QuestionBox.Submitted) -> None:
        """Ask a question from the box, or queue it while another question is being answered."""
        if self._sent is not None:
            problem = "A question is already queued. Wait for its turn, or take it back."
            self.notify(problem, severity="warning", markup=False)
            return
        self.box.clear()
        self.box.remember(event.question)
        options = self._pop_options()
        self._send(event.question, replace(options, needs_previous_answer=self.is_asking))

    def _send(self, question: str, options: AskOptions) -> None:
        self._sent = _SentQuestion(question=question, options=options, worker=self._ask(question, options))
        self._sent_line.update(Content(f"Next, {self._back_key} takes it back: {sanitise_line(question)}"))
        self.set_timer(_WAITING_SECONDS, self._show_sent)

    def _show_sent(self) -> None:
        self._sent_line.display = self._sent is not None

    def take_back(self) -> bool:
        """Put the waiting question back into the box, before any text typed meanwhile. Return whether there was one."""
        sent = self._pop_sent()
        if sent is None:
            return False
        sent.worker.cancel()
        typed = self.box.text
        self.box.fill(f"{sent.question}\n{typed}" if typed else sent.question)
        if not typed:
            self.ask_about_section(sent.options.within)
        return True

    def _pop_sent(self) -> _SentQuestion | None:
        sent, self._sent = self._sent, None
        self._show_sent()
        return sent

    def ask_again(self, number: int, open_first: tuple[str, ...] = ()) -> None:
        """Ask question `number` again, after opening the sections `open_first`.

        If it was the last question, the new answer replaces the old one. Otherwise, it becomes a new question.
        """
        exchanges = self.state.transcript.exchanges
        exchange = exchanges[number - 1]
        options = replace(make_retry_options(exchange, self.state.library), open_first=open_first)
        if number < len(exchanges):
            options = replace(options, replaces=None)
        self._send(exchange.question, options)

    def stop(self) -> None:
        """Stop the current answer. A waiting question returns to the box."""
        if self._worker is not None:
            self._worker.cancel()
        self.take_back()

    def restore_unasked(self, worker: Worker[object]) -> None:
        """Put a question back into the box if its worker ended before the question became part of the conversation."""
        if self._sent is not None and worker is self._sent.worker and worker.is_finished:
            self.take_back()
