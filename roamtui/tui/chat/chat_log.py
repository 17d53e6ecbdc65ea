"""`ChatLog`: the newest part of the conversation, with one selection over all its targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.scrollbar import ScrollTo, ScrollUp
from typing_extensions import override

from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    ConversationStarted,
    DocumentReloaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ThinkingStreamed,
)
from roamtui.conversation.notices import NoticeSlot, Severity, make_notices
from roamtui.conversation.state import Exchange
from roamtui.document.node import Span
from roamtui.document.plain import format_count, sanitise_text
from roamtui.export.markdown import format_source_line
from roamtui.quotes.recheck import resolve_citation
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.chat.content_view import (
    ContentView,
    SectionTarget,
    Target,
    TargetActivated,
    TargetSelected,
    TextView,
)
from roamtui.tui.chat.welcome import WelcomeView
from roamtui.tui.labels import format_full_path
from roamtui.tui.messages import StatusMessage, copy

if TYPE_CHECKING:
    from roamtui.conversation.conversation import Conversation
    from roamtui.tui.chat.exchange_view import ExchangeView

EXCHANGES_MAX = 40
"""Maximum number of exchanges shown, the newest ones, because each slows down every change below it."""
_QUESTION_SHARE = 0.25
"""Maximum share of the view that a question and its steps may take above the start of a long answer."""


class Messages(Vertical):
    """The container of exchanges and notices.

    Its minimum height is that of the view: an anchored scroll view puts shorter content below its top edge.
    """


class ChatLog(VerticalScroll, inherit_bindings=False):
    """Exchanges and notices.

    The newest one, or the start of a long answer, stays in view until the person scrolls away.
    """

    BINDINGS = make_bindings(Scope.CHAT, Scope.SECTION, Scope.MOVE)

    @dataclass
    class RetryRequested(Message):
        """The person wants to ask a question again."""

        number: int
        open_first: tuple[str, ...] = ()
        """Sections to open first."""
        is_edited: bool = False
        """Whether the person edits the question first. It is the last one."""
        needs_model: bool = False
        """Whether passages are not enough as an answer."""

    def __init__(self, conversation: Conversation, welcome: WelcomeView, keys: Keymap) -> None:
        """Show `welcome` until the first question."""
        super().__init__(id="chat-log")
        self._keys = keys
        self._conversation = conversation
        self._welcome = welcome
        self._earlier = TextView(Content())
        """The number of earlier questions, which are not shown."""
        self._always_shown = (self._earlier, welcome)
        self._messages = Messages(*self._always_shown)
        self._shown: list[ExchangeView] = []
        self._selected: ContentView | None = None
        """The view with the selected target."""
        self._typed_digit = ""
        """The digit of the last key, because an action is not told which key called it."""
        self._keeps_newest_in_view = False
        """Whether the newest message is kept in view. Of a long answer, the start is kept in view, to be read."""

    @override
    def compose(self) -> ComposeResult:
        yield self._messages

    def on_mount(self) -> None:
        self.watch(self, "virtual_size", self.on_exchange_view_resized, init=False)

    @property
    def current(self) -> ExchangeView | None:
        """The running exchange, or the last one."""
        return self._shown[-1] if self._shown else None

    def _start_exchange(self, number: int) -> None:
        """Show a question that has started at the end."""
        self.clear_selection()
        view = self._make_view(self._conversation.state.transcript.exchanges[number - 1])
        view.activity.show_status()
        self._messages.mount(view)
        self._welcome.display = False
        self._shown.append(view)
        if len(self._shown) > EXCHANGES_MAX:
            del self._shown[0]
            first = self._messages.children.index(self._shown[0])
            for child in self._messages.children[len(self._always_shown) : first]:
                child.remove()
        self._show_earlier_count()
        self._follow_newest()

    def reload(self) -> None:
        """Show the last exchanges of the conversation, and the notices that followed them, in place of everything."""
        self.clear_selection()
        self._keeps_newest_in_view = False
        self.scroll_home(animate=False, immediate=True)
        for child in self._messages.children[len(self._always_shown) :]:
            child.remove()
        exchanges, library = self._conversation.state.transcript.exchanges, self._conversation.state.library
        self._shown = []
        for exchange in exchanges[-EXCHANGES_MAX:]:
            view = self._make_view(exchange)
            view.finish(exchange, library)
            self._shown.append(view)
            notices = (notice for event in exchange.events for notice in make_notices(event, library))
            said = (NoticeView(one.format(), one.severity) for one in notices if one.slot is NoticeSlot.CHAT)
            self._messages.mount(view, *said)
        self._show_earlier_count()
        self._welcome.display = not exchanges
        if exchanges:
            self._follow_newest()

    def _show_earlier_count(self) -> None:
        number = self._shown[0].number - 1 if self._shown else 0
        self._earlier.display = number > 0
        self._earlier.show_words(Content.styled(f"{format_count(number, 'earlier question')} not shown", "$muted"))

    def add_notice(self, text: str, severity: Severity = Severity.INFO) -> None:
        """Add a notice at the end."""
        self._messages.mount(NoticeView(text, severity))
        is_still_following = severity is Severity.INFO and self._keeps_newest_in_view
        if severity is Severity.ERROR or (self.current is not None and not is_still_following):
            self.anchor()
            self._keeps_newest_in_view = False  # else the end of an answer would scroll back to its start

    def show_event(self, event: ConversationEvent) -> None:
        """Show an event of the conversation."""
        current, state = self.current, self._conversation.state
        match event:
            case QuestionAsked(number=number):
                self._start_exchange(number)
            case AnswerStreamed(text=text) if current is not None:
                current.append_answer(text, state)
                return
            case ThinkingStreamed(text=text) if current is not None:
                current.activity.add_thought(text)
            case QuestionAnswered(number=number) if current is not None:
                self._finish_exchange(current, state.transcript.exchanges[number - 1])
            case QuestionsRewound() | ConversationStarted():
                self.reload()
            case DocumentReloaded():
                self._welcome.show_library(state.library)
            case _ if current is not None and state.is_asking:
                current.show_actions(state.transcript.exchanges[-1], state.library)
            case _:
                pass
        notices = [*make_notices(event, state.library)]
        for notice in notices:
            if notice.slot is NoticeSlot.CHAT:
                self.add_notice(notice.format(), notice.severity)
        if status := "; ".join(notice.text for notice in notices if notice.slot is NoticeSlot.STATUS):
            self.post_message(StatusMessage(status))

    def _finish_exchange(self, view: ExchangeView, exchange: Exchange) -> None:
        view.finish(exchange, self._conversation.state.library)
        self.call_after_refresh(self._scroll_to_newest)
        for target in view.citation_view.targets[:1]:
            self.post_message(TargetSelected(target))

    def _make_view(self, exchange: Exchange) -> ExchangeView:
        from roamtui.tui.chat.exchange_view import ExchangeView  # noqa: PLC0415 - not for the first screen

        within, library = exchange.within, self._conversation.state.library
        about = "" if within is None else format_full_path(library, within)
        return ExchangeView(exchange.number, exchange.question, about, self._keys)

    @property
    def has_targets(self) -> bool:
        """Whether there are targets to select."""
        return next(self._walk_targets(), None) is not None

    def clear_selection(self) -> bool:
        """Clear the selection. Return whether there was one."""
        if self._selected is None:
            return False
        self._selected.select_target(None)
        self._selected = None
        return True

    def on_key(self, event: events.Key) -> None:
        self._typed_digit = event.key[-1] if event.key[-1].isdecimal() else ""

    def action_move_sideways(self, step: int) -> None:
        """Select the next citation (1) or the previous one (-1) of an answer."""
        view = self._get_exchange(is_cited=True)
        if view is None:
            self.post_message(StatusMessage("No citations yet"))
            return
        cited = view.citation_view
        index = min(0, step) if cited.selected is None else cited.selected + step
        self._select(cited, index % len(cited.targets))

    def action_select_citation(self) -> None:
        """Select the citation with the typed number."""
        view, number = self._get_exchange(is_cited=True), int(self._typed_digit or 0)
        if view is not None and 0 < number <= len(view.citation_view.targets):
            self._select(view.citation_view, number - 1)
        else:
            self.post_message(StatusMessage(f"No citation {number}"))

    def _get_exchange(self, *, is_cited: bool = False) -> ExchangeView | None:
        """Return the exchange with the selection, else the last one: of all, or of those with citations."""
        views = [view for view in self._shown if view.citation_view.targets or not is_cited]
        selected = self._selected.ancestors if self._selected is not None else ()
        return next((view for view in views if view in selected), views[-1] if views else None)

    def action_show_target(self) -> None:
        """Activate the selected target. If none is selected, first select one as `action_move` does."""
        if self._selected is None:
            self.action_move(1)
        if (target := self._selected_target) is not None:
            self.post_message(TargetActivated(target))

    def action_page(self, direction: int) -> None:
        if direction > 0:
            self.scroll_page_down(animate=False)
        else:
            self._stop_following()
            self.scroll_page_up(animate=False)

    def action_first(self) -> None:
        self._stop_following()
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self.anchor()

    def action_retry(self) -> None:
        if self.current is not None:
            self.post_message(self.RetryRequested(self.current.number))

    def action_open_and_ask(self) -> None:
        """Ask the last question again, after opening the likely search results that were not opened."""
        if self.current is not None and self.current.unopened:
            opening = tuple(hit.section_id for hit in self.current.unopened)
            self.post_message(self.RetryRequested(self.current.number, opening))

    def action_edit(self) -> None:
        if self.current is not None:
            self.post_message(self.RetryRequested(self.current.number, is_edited=True))

    def action_toggle_steps(self) -> None:
        view = self._get_exchange()
        if view is not None and view.unfold_passages():
            return
        if view is None or not view.activity.toggle():
            self.post_message(StatusMessage("No steps to show"))
            return
        if self._selected is view.activity:
            self.clear_selection()
        self._stop_following()
        self.call_after_refresh(self.scroll_to_widget, view.activity, animate=False)

    @property
    def _selected_target(self) -> Target | None:
        view = self._selected
        return view.targets[view.selected] if view is not None and view.selected is not None else None

    @property
    def selection(self) -> tuple[str | None, Span | None]:
        """The section of the selected passage or quote, and its span. If there is none, the person is told."""
        target = self._selected_target
        if isinstance(target, SectionTarget):
            return target.section_id, resolve_citation(target.citation, self._conversation.state.library)
        self.post_message(StatusMessage("Select a passage or a citation first (j, k)"))
        return None, None

    def request_model(self) -> bool:
        """Ask a model the question of the selected passages, or else of the last ones, after opening their sections.

        Return whether there are passages.
        """
        view = self._get_exchange()
        if view is None or view.passage_ids is None:
            return False
        self.post_message(self.RetryRequested(view.number, view.passage_ids, needs_model=True))
        return True

    def action_copy(self) -> None:
        """Copy the last answer with its sources, as Markdown."""
        if self.current is not None and (answer := self.current.answer.strip()):
            sources = [*map(format_source_line, self.current.citations, count(1))]
            copy(self, "\n".join([answer, *(["", "Sources:", "", *sources] if sources else []), ""]), "the answer")

    @on(events.MouseScrollUp)
    @on(ScrollUp)
    @on(ScrollTo)
    def _stop_following(self) -> None:
        """Stop following the newest message."""
        self._keeps_newest_in_view = False
        self.release_anchor()

    # Textual finds the handler by its name, so that the first screen need not import the message's class.
    def on_exchange_view_resized(self) -> None:
        self.call_after_refresh(self._scroll_to_newest)

    def _follow_newest(self) -> None:
        """Keep the newest message in view from now on."""
        self.anchor(anchor=False)  # Textual's own anchor would scroll past the start of an answer
        self._keeps_newest_in_view = True
        self._scroll_to_newest()

    def _scroll_to_newest(self) -> None:
        """Scroll to the end of the newest message, or to the start of a long answer. Scroll up only if it has ended.

        The question is in view too if it is near that start.
        """
        newest = self.current
        line, has_ended = self.max_scroll_y, newest is not None and newest.unopened is not None
        if newest is not None and newest.answer_line is not None:
            first = self._messages.gutter.top + newest.virtual_region.y
            is_near = newest.answer_line <= self.size.height * _QUESTION_SHARE
            start = first if is_near else first + newest.answer_line - 1  # with the empty line before it
            line = min(line, max(0, start))
        if self._keeps_newest_in_view and (line > self.scroll_y or has_ended):
            self.scroll_to(y=line, animate=False, immediate=True)

    def _walk_targets(self) -> Iterator[tuple[ContentView, int]]:
        for view in self.query(ContentView):
            if view.display:
                for index in range(len(view.targets)):
                    yield view, index

    def action_move(self, step: int) -> None:
        """Select the next target (1) or the previous one (-1)."""
        targets = list(self._walk_targets())
        if not targets:
            return
        selected = (self._selected, self._selected.selected if self._selected is not None else None)
        if selected in targets:
            position = targets.index(selected) + step
        elif step < 0:
            position = len(targets) - 1
        else:  # start at the first source of the last exchange, else at its first target
            cited = self.current.citation_view if self.current is not None else None
            views = {cited} if cited is not None and cited.targets else set((self.current or self).query(ContentView))
            position = next((number for number, (view, _) in enumerate(targets) if view in views), 0)
        self._select(*targets[max(0, min(position, len(targets) - 1))])

    def _select(self, view: ContentView, index: int) -> None:
        self.clear_selection()
        self._selected = view
        view.select_target(index)
        self._stop_following()
        self.call_after_refresh(self._scroll_to_selected)
        self.post_message(TargetSelected(view.targets[index]))

    def _scroll_to_selected(self) -> None:
        if self._selected is not None:
            lines, top = self._selected.selected_lines, self._selected.region.y - self.region.y + round(self.scroll_y)
            self.scroll_to_region(Region(0, top + lines.start, 1, len(lines)), animate=False, force=True)


_SIGNS = {
    Severity.INFO: ("·", "$muted"),
    Severity.WARNING: ("!", "$warning"),
    Severity.ERROR: ("✗", "$error"),
}


class NoticeView(TextView):
    """A notice with a sign, so that its severity is clear without colour."""

    def __init__(self, text: str, severity: Severity = Severity.INFO) -> None:
        sign, style = _SIGNS[severity]
        super().__init__(
            Content.styled(sanitise_text(text), style), lead=Content.styled(f"{sign} ", style), follow="  "
        )
        self.text = text
        self.severity = severity
