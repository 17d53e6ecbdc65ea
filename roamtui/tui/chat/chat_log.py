"""`ChatLog`: the newest part of the conversation, at first a description of the document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events, work
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Static, TextArea
from typing_extensions import override

from roamtui.agent.presentation import format_sources, list_passages
from roamtui.conversation.events import (
    AnswerChosen,
    CitationsChecked,
    ConversationEvent,
    ConversationStarted,
    DocumentReloaded,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionDropped,
    QuestionReceived,
    QuestionsRestored,
    QuestionsRewound,
)
from roamtui.conversation.notices import NoticeSlot, Severity, make_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.update import ChooseAnswer, Command
from roamtui.document.parse import strip_log_indent
from roamtui.plain import format_count, sanitise_line, sanitise_text
from roamtui.program import locate_programs
from roamtui.quotes.verdicts import resolve_citation
from roamtui.text import Span
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import ContentView, draw_band, draw_question, find_line_again, wrap
from roamtui.tui.chat.welcome import WelcomeView
from roamtui.tui.clipboard import copy
from roamtui.tui.messages import (
    CommandRequested,
    SectionTarget,
    StatusMessage,
    Target,
    TargetActivated,
    TargetSelected,
)

if TYPE_CHECKING:
    from roamtui.conversation.conversation import Conversation
    from roamtui.tui.chat.exchange_view import ExchangeView

EXCHANGES_MAX = 40
"""Maximum number of exchanges shown, the newest ones, because each slows down every change below it."""
_QUESTION_SHARE = 0.5
"""Maximum share of the view that a question and its steps may take above the start of a long answer."""


class _Top(NamedTuple):
    """A place in the log: a line of a part of a view, and all lines from the start of that part."""

    view: ContentView
    part: int
    lines: list[Content]
    line: int


class ChatLog(VerticalScroll, inherit_bindings=False):
    """Exchanges and notices. A letter that does not move, copy or show anything is typed in the question box.

    The newest one, or the start of a long answer, stays in view until the person scrolls. Then what they
    scrolled to stays, at any width.
    """

    BINDINGS = make_bindings(Scope.CHAT, Scope.MOVE)

    @dataclass
    class Typed(Message):
        """The person types or pastes a question."""

        event: events.Key | events.Paste

    def __init__(self, conversation: Conversation, welcome: WelcomeView, keys: Keymap) -> None:
        """Show `welcome` until the first question."""
        self._earlier = Static(id="earlier")
        """The number of earlier questions, which are not shown."""
        self._always_shown = (self._earlier, welcome)
        self.question_line = QuestionLine()
        """Stands above this widget."""
        self._messages = Vertical(*self._always_shown, id="messages")
        super().__init__(self._messages)
        self._keys = keys
        self._conversation = conversation
        self._welcome = welcome
        self._shown: list[ExchangeView] = []
        self._received: ReceivedQuestion | None = None
        """The question whose turn has come, until it is part of the conversation."""
        self.current: ExchangeView | None = None
        """The running exchange, or the last one."""
        self._selected: ContentView | None = None
        self._is_scroll_due = False
        """Whether the selected target is about to be scrolled into view."""
        self._keeps_newest_in_view = False
        """Whether the newest message is kept in view, a long answer with its start."""
        self._top: _Top | None = None

    def on_mount(self) -> None:
        """Keep the place whenever the height changes."""
        self.watch(self, "virtual_size", self._keep_place_soon, init=False)

    def on_key(self, event: events.Key) -> None:
        """Pass on a letter that is no key here. One that leads to the question box is a letter there too."""
        active = self.screen.active_bindings.get(event.key)
        is_action = active is not None and not (active.binding.id or "").startswith("global.go_")
        if event.is_printable and not is_action:
            event.stop()
            self.post_message(self.Typed(event))

    def on_paste(self, event: events.Paste) -> None:
        """Pass on what is pasted."""
        event.stop()
        self.post_message(self.Typed(event))

    @override
    def scroll_to(self, *args: Any, **options: Any) -> None:
        """Scroll at once: keeping the place ends an animation, and Textual fails if that is its last step."""
        super().scroll_to(*args, **{**options, "animate": False})

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Keep the new place, unless the text has only become shorter."""
        super().watch_scroll_y(old_value, new_value)
        self._name_question()
        if old_value > new_value >= self.max_scroll_y:
            return
        if new_value < self.max_scroll_y:
            self._stop_following()
        else:
            self._follow_end()

    def _stop_following(self) -> None:
        """Keep what is at the top instead of the newest message."""
        self._keeps_newest_in_view = False
        self._top = None
        for view in self._messages.query_children(ContentView):
            line = round(self.scroll_y) - self._find_top(view)
            if view.display and line < view.size.height:
                lines = view.lines
                part = max(0, bisect_right(view.part_starts, line) - 1)
                start = view.part_starts[part]
                self._top = _Top(view, part, lines[start:], line - start)
                break

    def _name_question(self) -> None:
        """Show the question at the top if it is out of view, but something after it is in view."""
        question = ""
        top = round(self.scroll_y)
        for view in self._shown:
            line = top - self._find_top(view)
            is_after_question = bisect_right(view.part_starts, line) > 1  # not so if it is not drawn yet
            if is_after_question and line < view.size.height:
                question = view.exchange.question
        self.question_line.show(question)

    def _follow_end(self) -> None:
        self._keeps_newest_in_view = False
        self._top = None
        self.anchor()

    def _find_top(self, view: ContentView) -> int:
        """Return the line of the conversation where a view starts."""
        return self._messages.gutter.top + view.virtual_region.y

    def _keep_place_soon(self) -> None:
        self.call_after_refresh(self._keep_place)

    def _keep_place(self) -> None:
        if self._keeps_newest_in_view:
            self._scroll_to_newest()
        elif self._top is not None:
            top = self._top
            lines = top.view.lines
            start, end = [*top.view.part_starts, len(lines)][top.part : top.part + 2]
            line = start + find_line_again(top.lines, top.line, lines[start:end])
            self.scroll_to(y=self._find_top(top.view) + line, immediate=True)
        self._name_question()

    def reload(self, number: int = 0) -> None:
        """Show only the last exchanges of the conversation, and the notices that followed them.

        Stay at the question with this number, if one is given, so that the next key goes on there.
        """
        self.scroll_home(immediate=True)
        self._keeps_newest_in_view = False
        self._top = None
        for child in self._messages.children[len(self._always_shown) :]:
            child.remove()
        self._shown = []
        self._show_exchanges(self._conversation.state.exchanges[-EXCHANGES_MAX:])
        self._selected = next((view for view in self._shown if view.exchange.number == number), None)
        if self._selected not in (None, self.current):
            self._stop_following()
            self.call_after_refresh(self._scroll_to_lines, self._selected, range(1))

    def _show_exchanges(self, exchanges: Iterable[Exchange]) -> None:
        """Show exchanges at the end, each with the notices that followed it, and only the newest of all."""
        self._hide_received()
        self.clear_selection()
        for exchange in exchanges:
            self._add_exchange(exchange)
        if len(self._shown) > EXCHANGES_MAX:
            del self._shown[:-EXCHANGES_MAX]
            first = self._messages.children.index(self._shown[0])
            for child in self._messages.children[len(self._always_shown) : first]:
                child.remove()
        self.current = self._shown[-1] if self._shown else None
        number = self._shown[0].exchange.number - 1 if self._shown else 0
        self._earlier.display = number > 0
        self._earlier.update(Content(f"{format_count(number, 'earlier question')} not shown"))
        self._welcome.display = not self._shown
        if self._shown:
            self._scroll_to_newest()

    def _add_exchange(self, exchange: Exchange) -> None:
        from roamtui.tui.chat.exchange_view import ExchangeView  # noqa: PLC0415 - not for the first screen

        library = self._conversation.state.library
        above = self._shown[-1].exchange if self._shown else None
        view = ExchangeView(exchange, library, self._keys, above)
        self._shown.append(view)
        notices = (notice for event in exchange.events for notice in make_notices(event, library))
        said = (NoticeView(told.format(), told.severity) for told in notices if told.slot is NoticeSlot.CHAT)
        self._messages.mount(view, *said)

    def _show_received(self, question: str) -> None:
        """Show a question at once, although what comes with it is not known yet."""
        self._hide_received()
        self._received = ReceivedQuestion(question)
        self._messages.mount(self._received)
        self._welcome.display = False
        self._follow_end()

    def _hide_received(self) -> None:
        if self._received is not None:
            self._received.remove()
            self._received = None
            self._welcome.display = not self._shown

    def add_notice(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Add a notice at the end. What a person reads stays where it is."""
        self._messages.mount(NoticeView(text, severity))
        if self._keeps_newest_in_view or self._top is not None:
            kind = "notice" if severity is Severity.INFO else severity
            self.call_after_refresh(self._say_below, f"New {kind}")
        elif self.current is not None or severity is Severity.ERROR:
            self._follow_end()

    def show_event(self, event: ConversationEvent) -> None:
        """Show an event of the conversation."""
        state = self._conversation.state
        self._show_change(event)
        notices = [*make_notices(event, state.library)]
        for notice in notices:
            if notice.slot is NoticeSlot.CHAT:
                self.add_notice(notice.format(), notice.severity)
        status = "; ".join(notice.text for notice in notices if notice.slot is NoticeSlot.STATUS)
        if status or isinstance(event, NodesLoaded):  # no longer "Loading 3 documents"
            self.post_message(StatusMessage(status))

    def _show_change(self, event: ConversationEvent) -> None:
        current = self.current
        state = self._conversation.state
        match event:
            case QuestionReceived(question=question):
                self._show_received(question)
            case QuestionDropped():
                self._hide_received()
            case QuestionAsked():
                self._show_exchanges(state.exchanges[-1:])
            case QuestionsRewound() | QuestionsRestored() | ConversationStarted() | AnswerChosen():
                self.reload(event.number if isinstance(event, AnswerChosen) else 0)
            case CitationsChecked(number=number):
                for view in self._shown:
                    if view.exchange.number == number:
                        view.show_progress(state.exchanges[number - 1], state.library)
            case DocumentReloaded():
                self._welcome.show_library(state.library)
            case QuestionAnswered() if current is not None:
                current.show_event(event, state)
                if not self._keeps_newest_in_view:
                    self.call_after_refresh(self._say_below, "Answer complete")
            case _ if current is not None and current.exchange.stopped is None:
                current.show_event(event, state)
            case _:
                pass

    def _say_below(self, words: str) -> None:
        """Say what is further down, if anything is, and which key goes there from where the focus is."""
        if self.scroll_y >= self.max_scroll_y:
            return
        key = ""
        if self.has_focus:
            key = self._keys.first_keys["move.last"]
        elif isinstance(self.screen.focused, TextArea):  # the question box
            key = self._keys.first_keys["input.page_down"]
        self.post_message(StatusMessage(f"{words} ↓ {key}".rstrip()))

    def clear_selection(self) -> None:
        """Clear the selection."""
        if self._selected is not None:
            self._selected.select_target(None)
        self._selected = None

    def action_move_sideways(self, step: int) -> None:
        """Select the next citation (1) or the previous one (-1) of an answer."""
        view = self._get_exchange(is_cited=True)
        if view is None:
            self.post_message(StatusMessage("No citations yet"))
            return
        index = min(0, step)
        if view.selected is not None and view.selected in view.cited:
            index = view.cited.index(view.selected) + step
        self._select(view, view.cited[index % len(view.cited)])

    def select_quote(self, *numbers: int) -> Target | None:
        """Select and return the first quote with one of `numbers`. If no answer has any, say so."""
        view = self._get_exchange(is_cited=True)
        for number in numbers:
            if view is not None and 0 < number <= len(view.cited):
                self._select(view, view.cited[number - 1])
                return self._selected_target
        self.post_message(StatusMessage(f"There is no quote {numbers[-1]}"))
        return None

    def _get_exchange(self, *, is_cited: bool = False) -> ExchangeView | None:
        """Return the exchange with the selection, else the last one: of all, or of those with citations."""
        views = [view for view in self._shown if view.cited or not is_cited]
        return next((view for view in views if view is self._selected), views[-1] if views else None)

    def action_show_target(self) -> None:
        """Activate the selected target. If none is selected, first select one as `action_move` does."""
        if self._selected_target is None:
            self.action_move(1)
        if (target := self._selected_target) is not None:
            self.post_message(TargetActivated(target))

    def action_page(self, direction: int) -> None:
        if direction > 0:
            self.scroll_page_down()
        else:
            self.scroll_page_up()

    def action_first(self) -> None:
        self.scroll_home()

    def action_last(self) -> None:
        self._follow_end()

    @property
    def retried(self) -> ExchangeView | None:
        """The exchange whose question a person may ask again."""
        return self._get_exchange()

    def action_step_answer(self, step: int) -> None:
        """Let the next answer (1) or the previous one (-1) to a question be the one that counts."""
        if (view := self._get_exchange()) is not None:
            number = view.exchange.number
            self.post_message(CommandRequested(lambda state: _choose_answer(state, number, step)))

    def action_toggle_steps(self) -> None:
        view = self._get_exchange()
        is_long = view is not None and view.fold_question()
        if view is None or not (view.action_fold_passages() or view.fold_steps() or is_long):
            self.post_message(StatusMessage("No steps to show"))
        elif view.passages is None or is_long:
            self._stop_following()
            self.call_after_refresh(self._scroll_to_lines, view, range(1) if is_long else view.step_lines)

    @property
    def _selected_target(self) -> Target | None:
        view = self._selected
        return view.targets[view.selected] if view is not None and view.selected is not None else None

    @property
    def selection(self) -> tuple[str | None, Span | None]:
        """The section of the selected passage or quote, and its span, or None for both."""
        target = self._selected_target
        if isinstance(target, SectionTarget):
            return target.section_id, resolve_citation(target.citation, self._conversation.state.library)
        return None, None

    def action_copy(self) -> None:
        if self.current is not None and (answer := self.current.answer.rstrip()):
            for passage in reversed(list_passages(self.current.exchange)):
                quote = passage.quote or ""
                if (log := strip_log_indent(quote)) != quote:
                    answer = f"{answer[: passage.start]}```\n{log}\n```{answer[passage.end :]}"
            lines = [answer.strip()]
            if sources := format_sources(self.current.exchange):
                lines += ["", "Sources:", "", *sources]
            copy(self, "\n".join([*lines, ""]), "the answer")
        else:
            self.post_message(StatusMessage("No answer yet"))

    @work(exit_on_error=False)
    async def action_export(self) -> None:
        from roamtui.tui.screens.conversations import make_export_dialog  # noqa: PLC0415 - few export

        if not (state := self._conversation.state).exchanges:
            self.post_message(StatusMessage("No question yet"))
            return
        words = await self.app.push_screen_wait(make_export_dialog(lambda: state, state, state.library))
        self.post_message(StatusMessage(words or ""))

    def _scroll_to_newest(self) -> None:
        """Scroll to the newest message's end, or a long answer's start, and keep it in view.

        The question is in view too if it is near that start.
        """
        newest = self.current
        line = self.max_scroll_y
        if newest is not None and newest.answer_start is not None:
            first = self._find_top(newest)
            is_near = newest.answer_start < self.size.height * _QUESTION_SHARE
            line = min(line, first if is_near else first + newest.answer_start)
        self.scroll_to(y=line, immediate=True)
        self.anchor(anchor=False)  # Textual's own anchor would scroll past the start of an answer
        self._keeps_newest_in_view = True

    @property
    def is_selectable(self) -> bool:
        """Whether there is an exchange or an example to go to."""
        shown = (view for view in self.query(ContentView) if view.display)
        return self.current is not None or any(view.targets for view in shown)

    def _list_targets(self) -> dict[tuple[ContentView, int], range]:
        """List all targets that can be selected, each by its view and its index there, with its lines."""
        places = {}
        for view in self.query(ContentView):
            top = self._find_top(view)
            for index, lines in enumerate(view.list_target_lines() if view.display else ()):
                places[view, index] = range(top + lines.start, top + lines.stop)
        return places

    def action_move(self, step: int) -> None:
        """Select the next target (1) or the previous one (-1).

        If the selected one is out of view, select the first or last one in view, else the nearest that way.
        """
        places = self._list_targets()
        if not places:
            return
        targets = [*places]
        selected = (self._selected, self._selected.selected if self._selected is not None else None)
        start = None  # the first source of the last exchange
        if self.current is not None and self.current.cited:
            start = (self.current, self.current.cited[0])
        top = round(self.scroll_y)
        bottom = top + self.size.height
        in_view = [target for target, lines in places.items() if lines.start < bottom and lines.stop > top]
        if selected in in_view or (selected in places and self._is_scroll_due):
            position = targets.index(selected) + step
        elif step > 0 and selected not in targets and start in in_view:
            position = targets.index(start)
        elif step > 0:
            position = sum(lines.start < top for lines in places.values())
        else:
            position = sum(lines.start < bottom for lines in places.values()) - 1
        self._select(*targets[max(0, min(position, len(targets) - 1))])

    def _select(self, view: ContentView, index: int) -> None:
        self.clear_selection()
        self._selected = view
        view.select_target(index)
        self._stop_following()
        self._is_scroll_due = True
        self.call_after_refresh(self._scroll_to_target, view, index)
        self.post_message(TargetSelected(view.targets[index]))

    def _scroll_to_target(self, view: ContentView, index: int) -> None:
        self._is_scroll_due = False
        self._scroll_to_lines(view, view.list_target_lines()[index])

    def _scroll_to_lines(self, view: ContentView, lines: range) -> None:
        region = Region(0, self._find_top(view) + lines.start, 1, len(lines))
        self.scroll_to_region(region, force=True, immediate=True)


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


class ReceivedQuestion(ContentView):
    """A question until the model and the search are ready for it. It looks as it will in its exchange."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    @override
    def draw(self, width: int) -> list[Content]:
        return draw_question(self._question, width)


class QuestionLine(ContentView):
    """A line that names a question above the view, or an empty line."""

    def __init__(self) -> None:
        super().__init__()
        self._question = ""

    def show(self, question: str) -> None:
        """Show a question, or nothing if it is empty."""
        if question != self._question:
            self._question = question
            self.invalidate()

    @override
    def draw(self, width: int) -> list[Content]:
        if not self._question:
            return [Content()]
        words = Content.styled(sanitise_line(self._question), "bold")
        return draw_band(words.truncate(max(1, width - 4), ellipsis=True), width)


class NoticeView(ContentView):
    """A notice with a sign, so that its severity is clear without colour."""

    def __init__(self, text: str, severity: Severity) -> None:
        super().__init__()
        self.text = locate_programs(text)
        self.severity = severity

    @override
    def draw(self, width: int) -> list[Content]:
        sign, style = _SIGNS[self.severity]
        words = Content.styled(sanitise_text(self.text), style)
        return wrap(words, width, lead=Content.styled(f"{sign} ", style), follow="  ")
