"""`ChatLog`: the newest exchanges of the conversation, or at first a description of the document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from typing_extensions import override

from roamtui.conversation.events import (
    AnswerChosen,
    CitationsChecked,
    ConversationEvent,
    ConversationStarted,
    QuestionAnswered,
    QuestionAsked,
    QuestionDropped,
    QuestionReceived,
    WarningRaised,
)
from roamtui.conversation.notices import NoticeSlot, Severity, iter_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.update import ChooseAnswer, Command
from roamtui.outline.labels import PATH_STEP
from roamtui.program import qualify_commands
from roamtui.sanitiser import sanitise_text
from roamtui.text import Span, format_count
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import ContentView, wrap
from roamtui.tui.chat.following import FollowingScroll
from roamtui.tui.chat.target_selection import TargetSelection
from roamtui.tui.chat.welcome import WelcomeView
from roamtui.tui.clipboard import copy
from roamtui.tui.messages import CommandRequested, SectionTarget, TargetActivated

if TYPE_CHECKING:
    from roamtui.conversation.conversation import Conversation
    from roamtui.tui.chat.exchange_view import ExchangeView

EXCHANGES_MAX = 40
"""Only this many of the newest exchanges are shown, because each slows down every change below it."""


class ChatLog(FollowingScroll, inherit_bindings=False):
    """Exchanges and notices. A typed letter that is not a key here goes into the question box."""

    BINDINGS = make_bindings(Scope.CHAT, Scope.MOVE)

    @dataclass
    class Typed(Message):
        """The person typed a character for the question box."""

        event: events.Key

    def __init__(self, conversation: Conversation, welcome: WelcomeView, keys: Keymap) -> None:
        """Show `welcome` until the first question."""
        self._earlier = Static(id="earlier")
        """The number of earlier questions, which are not shown."""
        self._always_shown = (self._earlier, welcome)
        super().__init__(*self._always_shown)
        self.target_selection = TargetSelection(self)
        self._keys = keys
        self._conversation = conversation
        self._welcome = welcome
        self._received: ExchangeView | None = None
        """The question whose turn has come, until it is part of the conversation."""
        self._news: tuple[ContentView, str] | None = None
        """A view that has changed, and what to say if its end is out of view, until it is laid out."""

    @override
    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # if no existing section is selected, the letter begins a question
        section_id, _ = self.selected_place if action == "note" else (None, None)
        return action != "note" or section_id in self._conversation.state.library

    def on_key(self, event: events.Key) -> None:
        """Pass a typed character on to the question box, unless it is a key here. Few letters are."""
        is_letter = (event.character or "").isalpha()
        is_key = not is_letter or event.key in self._keys.chat_keys
        if event.is_printable and not (is_key and event.key in self.screen.active_bindings):
            event.stop()
            self.post_message(self.Typed(event))

    def reload(self) -> None:
        """Show only the last exchanges of the conversation, and the notices that followed them."""
        self.scroll_home(immediate=True)
        self.forget_place()
        for child in self.messages.children[len(self._always_shown) :]:
            child.remove()
        self.shown = []
        self._show_exchanges(self._conversation.state.exchanges[-EXCHANGES_MAX:])

    def _show_exchanges(self, exchanges: Iterable[Exchange]) -> None:
        """Add exchanges at the end, each with its notices. Remove the oldest beyond `EXCHANGES_MAX`."""
        self._hide_received()
        self.target_selection.clear()
        library = self._conversation.state.library
        for exchange in exchanges:
            view = self._make_view(exchange)
            self.shown.append(view)
            notices = (notice for event in exchange.events for notice in iter_notices(event, library))
            said = [note for note in notices if note.slot is NoticeSlot.CHAT]
            self.messages.mount(view, *(NoticeView(note.format(), note.severity) for note in said))
        if len(self.shown) > EXCHANGES_MAX:
            del self.shown[:-EXCHANGES_MAX]
            first = self.messages.children.index(self.shown[0])
            for child in self.messages.children[len(self._always_shown) : first]:
                child.remove()
        number = self.shown[0].exchange.number - 1 if self.shown else 0
        self._earlier.display = number > 0
        self._earlier.update(Content(f"{format_count(number, 'earlier question')} not shown"))
        self._welcome.display = not self.shown
        if self.shown:
            self.show_newest()

    def _make_view(self, exchange: Exchange) -> ExchangeView:
        from roamtui.tui.chat.exchange_view import ExchangeView  # noqa: PLC0415

        return ExchangeView(exchange, self._conversation.state.library, self._keys)

    def _hide_received(self) -> None:
        if self._received is not None:
            self._received.remove()
            self._received = None
            self._welcome.display = not self.shown

    def add_notice(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Add a notice at the end. The view stays on what a person reads."""
        notice = NoticeView(text, severity)
        self.messages.mount(notice)
        if self._keeps_newest_in_view or self._top is not None:
            self._say_if_below(notice, f"New {'notice' if severity is Severity.INFO else severity}")
        elif self.current is not None or severity is Severity.ERROR:
            self.follow_end()

    def handle_event(self, event: ConversationEvent) -> None:
        """Show an event of the conversation, unless it is the warning in the warning line."""
        if isinstance(event, WarningRaised) and event.message == self._conversation.save_failure:
            return
        state = self._conversation.state
        self._show_change(event)
        notices = [*iter_notices(event, state.library)]
        for notice in notices:
            if notice.slot is NoticeSlot.CHAT:
                self.add_notice(notice.format(), notice.severity)
        if words := "; ".join(notice.text for notice in notices if notice.slot is NoticeSlot.MESSAGE):
            self.notify(words, markup=False)

    def _show_change(self, event: ConversationEvent) -> None:
        current = self.current
        state = self._conversation.state
        match event:
            case QuestionReceived(question=question):
                self._hide_received()
                # shown at once, although the text that is sent with it is not known yet
                self._received = self._make_view(Exchange(number=0, question=question))
                self.messages.mount(self._received)
                self._welcome.display = False
                self.follow_end()
            case QuestionDropped():
                self._hide_received()
            case QuestionAsked() if not state.exchanges[-1].earlier:
                self._show_exchanges(state.exchanges[-1:])
            case QuestionAsked() | ConversationStarted():
                self.reload()
            case CitationsChecked(number=number) | AnswerChosen(number=number):
                for view in self.shown:
                    if view.exchange.number == number:
                        view.show_progress(state.exchanges[number - 1], state.library)
            case QuestionAnswered() if current is not None:
                current.handle_event(event, state)
                if not self._keeps_newest_in_view:
                    self._say_if_below(current, "End of the answer")
            case _ if current is not None and current.exchange.stopped is None:
                current.handle_event(event, state)
            case _:
                pass

    def _say_if_below(self, news: ContentView, words: str) -> None:
        """If the end of `news` is out of view, say so with `words`, and name the key that shows it."""
        self._news = (news, words)
        self._keep_place_soon()

    @override
    def _keep_place(self) -> None:
        super()._keep_place()
        news, words = self._news or (None, "")
        if news is None or news.size.height != len(news.lines):  # its layout, which is due, calls this again
            return
        self._news = None
        if self.compute_top(news) + news.size.height > self.scroll_offset.y + self.size.height:
            key = self._keys.first_keys["move.last" if self.has_focus else "input.page_down"]
            self.notify(f"{words} below · {key} shows it", markup=False)

    def action_move(self, step: int) -> None:
        self.target_selection.step(step)

    def action_move_sideways(self, step: int) -> None:
        self.target_selection.step(step)

    @override
    def action_first(self) -> None:
        super().action_first()
        self.call_after_refresh(self.target_selection.select_in_view, 1)

    @override
    def action_last(self) -> None:
        super().action_last()
        self.call_after_refresh(self.target_selection.select_in_view, -1)

    def action_show_target(self) -> None:
        """Activate the selected target. If none is selected, first select one as `action_move` does."""
        if self.target_selection.target is None:
            self.target_selection.step(1)
        if (target := self.target_selection.target) is not None:
            self.post_message(TargetActivated(target))

    def action_step_answer(self, step: int) -> None:
        """Choose the next answer (1) or the previous one (-1) as the one that counts."""
        if (view := self.target_selection.get_exchange()) is not None:
            number = view.exchange.number
            self.post_message(CommandRequested(lambda state: _choose_answer(state, number, step)))

    def action_toggle_steps(self) -> None:
        view = self.target_selection.get_exchange()
        is_card = (
            view is not None
            and view.outcome.passages is not None
            and view.selected_index in view.source_range
        )
        if view is None or not (view.action_fold_passages() or (not is_card and view.fold_steps())):
            self.notify("The whole passage is shown" if is_card else "No steps to show", markup=False)
        elif view.outcome.passages is None:
            self.stop_following()
            self.call_after_refresh(self.scroll_to_lines, view, view.step_lines)

    async def action_note(self) -> None:
        await self.run_action("screen.add_note")

    @property
    def selected_place(self) -> tuple[str | None, Span | None]:
        """The section of the selected passage or quote, and its span, or None for both."""
        from roamtui.quotes.verdicts import resolve_citation  # noqa: PLC0415

        target = self.target_selection.target
        if isinstance(target, SectionTarget):
            return target.section_id, resolve_citation(target.citation, self._conversation.state.library)
        return None, None

    def action_copy(self) -> None:
        """Copy the selected quote or passage, or else the last answer, with its source or sources."""
        from roamtui.answer_report import AnswerReport  # noqa: PLC0415
        from roamtui.quotes.wording import PASSAGE_LABEL, list_path_titles  # noqa: PLC0415

        view = self.target_selection.get_exchange()
        target = self.target_selection.target
        citation = target.citation if isinstance(target, SectionTarget) else None
        if view is not None and citation is not None and citation.quote:
            path = PATH_STEP.join(list_path_titles(citation, ""))
            label = PASSAGE_LABEL if view.exchange.has_passages else citation.label
            source = " · ".join(filter(None, (path, citation.place, label)))
            copy(self, f"{citation.quote.strip()}\n\n({source})\n", "the quote with its source")
        elif view is not None and (answer := view.answer.strip()):
            lines = [answer]
            if sources := AnswerReport(view.exchange, self._conversation.state.library).sources:
                lines += ["", "Sources:", "", *sources]
            copy(self, "\n".join([*lines, ""]), "the answer")
        else:
            self.notify("No answer yet", markup=False)

    @work(exit_on_error=False)
    async def action_export(self) -> None:
        from roamtui.tui.screens.conversations import make_export_dialog  # noqa: PLC0415 - few export

        if not (state := self._conversation.state).exchanges:
            self.notify("No question yet", markup=False)
            return
        if words := await self.app.push_screen_wait(make_export_dialog(lambda: state, state, state.library)):
            self.notify(words, markup=False)

    @property
    def is_selectable(self) -> bool:
        """Whether there is an exchange or an example to go to."""
        shown = (view for view in self.query(ContentView) if view.display)
        return self.current is not None or any(view.targets for view in shown)


def _choose_answer(state: ConversationState, number: int, step: int) -> Command | str:
    exchange = state.exchanges[number - 1]
    index = len(exchange.earlier) + step
    if state.is_asking:
        return "Wait until the answer is complete"
    if index not in range(len(exchange.answers)):
        return "No other answer"
    return ChooseAnswer(number=number, index=index)


_SIGNS = {
    Severity.INFO: ("·", "$muted"),
    Severity.WARNING: ("!", "$warning"),
    Severity.ERROR: ("✗", "$error"),
}


class NoticeView(ContentView):
    """A notice with a sign, so that its severity is clear without colour."""

    def __init__(self, text: str, severity: Severity) -> None:
        super().__init__()
        self.text = qualify_commands(text)
        self.severity = severity

    @override
    def draw(self, width: int) -> list[Content]:
        sign, style = _SIGNS[self.severity]
        words = Content.styled(sanitise_text(self.text), style)
        return wrap(words, width, lead=Content.styled(f"{sign} ", style), follow="  ")
