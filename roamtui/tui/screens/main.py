"""`MainScreen`: composes the panes, shows the state of the conversation, and routes messages to controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.reactive import Initialize, reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.commands import ApprovalRequest, Origin
from roamtui.conversation.events import (
    ConversationEvent,
    ConversationSwitched,
    DocumentReloaded,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    SectionsExpanded,
    SectionsSearched,
)
from roamtui.conversation.notices import Severity
from roamtui.conversation.state import AskOptions, ConversationState, Exchange
from roamtui.conversation.transcript import Citation
from roamtui.document.counts import format_count
from roamtui.document.node import Span
from roamtui.errors import StoreError
from roamtui.sources.file_sources import stamp_source
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.content_view import (
    ConversationTarget,
    EarlierTarget,
    ExampleTarget,
    LinkTarget,
    SectionTarget,
    Target,
    TargetActivated,
    TargetSelected,
)
from roamtui.tui.chat.welcome import WelcomeView
from roamtui.tui.context import AppContext
from roamtui.tui.labels import format_error
from roamtui.tui.messages import (
    CommandRequested,
    CopyRequested,
    DocumentRequested,
    ReadingPositionChanged,
    StatusMessage,
    make_section_command,
)
from roamtui.tui.panes.pane import Pane
from roamtui.tui.panes.pane_switcher import PaneSwitcher
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.question_area import QuestionArea
from roamtui.tui.question_box import QuestionBox
from roamtui.tui.status_line import (
    OFFLINE,
    HeaderLine,
    HintLine,
    StatusLine,
    StatusLineState,
    adapt_flags,
)
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:  # the first screen does without them
    from roamtui.agent.loop import Agent
    from roamtui.conversation.conversation import CommandFactory, Conversation
    from roamtui.tui.controllers.notes import NotesController
    from roamtui.tui.controllers.reload import ReloadController
    from roamtui.tui.finder import FindResult, FindResults, TextMatches
    from roamtui.tui.reader.document_reader import DocumentReader
    from roamtui.tui.screens.find import FindDialog

_CHECK_SECONDS = 2.0
"""Interval between two checks of the document on disk."""
_HEADER_ROWS_MIN = 20
"""Minimum height of a terminal with a header and hints. In a lower one, the panes need their lines."""


class MainScreen(Screen[None], inherit_bindings=False):
    """The panes of one document, and the conversation about it."""

    AUTO_FOCUS = "#question-box"
    BINDINGS = make_bindings(Scope.GLOBAL)

    def _get_initial_state(self) -> ConversationState:
        return self.conversation.state

    # Comparing two states of 100,000 sections would take long. The panes draw changes, so the screen is not repainted.
    state: reactive[ConversationState] = reactive(
        Initialize(_get_initial_state), always_update=True, repaint=False, init=False
    )
    """The state after the last event that was published."""

    def __init__(self, context: AppContext, keys: Keymap, problems: tuple[str, ...] = ()) -> None:
        """Make the screen. `problems` are sentences about the configuration."""
        super().__init__(classes="-tall")  # as in most terminals: a change of class would style every widget again
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (_HEADER_ROWS_MIN, "-tall")]
        self.app_context = context
        """The document, its conversation, and what the app can do with them."""
        self.has_started = False
        """Whether the first screen has been shown, and all else is there."""
        self.keys = keys
        self._problems = problems
        state = context.conversation.state
        self._first_place: str | SectionTarget | None = None
        """The anchor or quote to show as soon as the screen has started, if a link or a cell of a table led to it."""
        self._found: FindResults | None = None
        """The results of the last search."""
        self._match_index: int | None = None
        """The match of the last search that was shown last."""
        self._stamp = stamp_source(state.library.source)
        self.welcome = WelcomeView(state.library, context.options.examples, context.model_name, keys)
        self.chat_log = ChatLog(context.conversation, self.welcome, keys)
        self.tree_pane = TreePane(state)
        self.reader_pane = ReaderPane(state, keys, context.options.image_mode)
        asked = [exchange.question for exchange in state.transcript.exchanges]
        self.question_box = QuestionBox([*reversed(context.options.examples), *asked])
        self.status_line = StatusLine(StatusLineState(model=context.model_name), keys)
        self.header = HeaderLine(state.library.title, state.library.source)
        self._hints = HintLine(keys)
        back_key = keys.format_first_key("global.back")
        show_pending = self._show_pending_question
        self.questions = QuestionArea(self.question_box, state, back_key, self._run_question, show_pending)
        self.panes = PaneSwitcher(self.tree_pane, self.chat_log, self.reader_pane, self.questions)

    @property
    def agent(self) -> Agent:
        """Answers the questions."""
        return self.app_context.agent

    @cached_property
    def _notes_controller(self) -> NotesController:
        from roamtui.tui.controllers.notes import NotesController

        return NotesController(self.app, self.agent, self.keys)

    @cached_property
    def _reload_controller(self) -> ReloadController:
        from roamtui.tui.controllers.reload import ReloadController

        key = self.keys.format_first_key("global.reload")
        context, chat = self.app_context, self.chat_log
        return ReloadController(context, self.agent, chat, self._stamp, key)

    @property
    def conversation(self) -> Conversation:
        """The conversation on the screen."""
        return self.app_context.conversation

    @property
    def is_asking(self) -> bool:
        """Whether a question is being answered."""
        return self.questions.is_asking

    @override
    def compose(self) -> ComposeResult:
        yield self.header
        yield self.panes
        yield self.status_line
        yield self._hints

    def on_mount(self) -> None:
        self.set_interval(_CHECK_SECONDS, self.check_for_changes)
        self.watch(self.chat_log, "has_selected_passage", self._update_hints, init=False)

    @on(ChatLog.Ready)
    def _restore_conversation(self) -> None:
        """Show a saved conversation, and what is to be said at the start."""
        self.status_line.show_state(self.conversation.state)
        for problem in self._problems:
            self.chat_log.add_notice(problem, Severity.WARNING)
        self.chat_log.load_saved()
        self._update_hints()
        for note in self.app_context.notices:
            self.chat_log.add_notice(note)
        self.conversation.approver = self._approve
        self._unsubscribe = self.conversation.subscribe(self._show_event)
        self.call_after_refresh(self._prepare)

    def _prepare(self) -> None:
        """Make the agent, and show what the first screen did not need."""
        if not self.is_attached:  # the person, or the terminal, has gone already
            return
        self.has_started = True
        self._warm_up()
        self._index_ahead()
        if self.reader_pane.section_id is None:  # the person may have opened a section already
            self._show_last_read()
        if self._first_place is not None:
            self.show_place(self._first_place)
        self._show_saved_conversations(is_announced=True)

    def show_place(self, place: str | SectionTarget) -> None:
        """Show an anchor of the document, or a section or quote, as soon as the screen has started."""
        if not self.has_started:
            self._first_place = place
        elif isinstance(place, str):
            self.reader_pane.reader.show_anchor(place)
            self.panes.focus_reader()
        elif self.reader_pane.reader.open_target(place):
            self.panes.focus_reader()

    def _show_last_read(self) -> None:
        self.reader_pane.reader.show_last_read()
        if self.reader_pane.section_id is not None:
            self.tree_pane.outline.move_to(self.reader_pane.section_id)

    def on_unmount(self) -> None:
        """Save unsaved notes."""
        if self.has_started:
            self._notes_controller.flush()
            self._unsubscribe()

    @on(Worker.StateChanged)
    def _on_worker_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR:
            self.chat_log.add_notice(adapt_flags(format_error(error)), Severity.ERROR)
        if error is not None:
            # A widget keeps the worker that made it, the worker keeps its error, and the frames of the error keep all
            # their values, such as a request with the whole conversation.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        if self.questions.restore_unasked(event.worker):
            self.chat_log.discard_pending()
            self.status_line.update_status(is_asking=False)

    def warn(self, reason: str | None) -> None:
        """Show for a moment why something cannot be done. None shows nothing."""
        if reason is not None:
            self.notify(reason, severity="warning", markup=False)

    def warn_if_busy(self) -> bool:
        """Return whether a question is being answered, and if so, tell the person."""
        if self.is_asking:
            stop_key = self.keys.format_first_key("global.copy_or_cancel")
            self.notify(f"The model is still answering. Wait, or press {stop_key} to stop.", markup=False)
        return self.is_asking

    @on(StatusMessage)
    def _show_status(self, event: StatusMessage) -> None:
        if event.is_alert:
            self.status_line.update_status(alert=event.words)
        else:
            self.status_line.show_message(event.words, is_progress=event.is_progress)
            if event.is_progress or not event.words:
                self.chat_log.show_waiting(event.words or self._waiting_words)

    @work(group="commands", exit_on_error=False)
    async def dispatch(self, make_command: CommandFactory) -> None:
        """Run a command once earlier requests are done. If there is nothing to do, show why."""
        if reason := await self.conversation.dispatch(make_command):
            self.post_message(StatusMessage(reason))

    async def _approve(self, approval: ApprovalRequest) -> bool:
        """Ask the person. Must be called from a worker."""
        from roamtui.tui.screens.dialogs import ApprovalDialog

        return await self.app.push_screen_wait(ApprovalDialog(approval))

    @work(group="warming", exit_on_error=False)
    async def _warm_up(self) -> None:
        """Prepare the model for the first question, and show its note."""
        if note := await self.agent.warm_up():
            self.chat_log.add_notice(note)

    @work(group="earlier", exit_on_error=False)
    async def _show_saved_conversations(self, *, is_announced: bool) -> None:
        """Show the saved conversations. With `is_announced`, the status line shows how many there are."""
        from roamtui.conversation.library_sync import get_source_key

        state, store = self.conversation.state, self.conversation.store
        if store is None or store.problem:
            return
        with suppress(StoreError):
            summaries = await asyncio.to_thread(store.list, get_source_key(state.library))
            answered = (summary for summary in summaries if summary.is_answered and not summary.is_one_shot)
            saved = tuple(summary for summary in answered if summary.id != state.id)
            if saved and is_announced:
                words = format_count(len(saved), "earlier conversation")
                self.post_message(StatusMessage(f"{words}: {self.keys.format_first_key('global.conversations')}"))
            self.welcome.show_saved_conversations(saved)

    @work(group="indexing", exit_on_error=False)
    async def _index_ahead(self) -> None:
        """Bring the search index of a large source up to date before a question needs it, and show the progress."""
        loop = asyncio.get_running_loop()

        def report(done: int, total: int) -> None:  # called in another thread, where no message may be posted
            words = f"Indexing {done:,} of {total:,} sections…"
            loop.call_soon_threadsafe(self.post_message, StatusMessage(words, is_progress=True))

        try:
            await self.agent.index_ahead(report)
        finally:
            self.post_message(StatusMessage("", is_progress=True))

    def watch_state(self, state: ConversationState) -> None:
        self.tree_pane.show(state)
        self.reader_pane.show(state)
        self.questions.state = state
        self.status_line.show_state(state)

    def _show_event(self, event: ConversationEvent) -> None:
        """Show an event, and the state after it."""
        state = self.conversation.state
        if state is not self.state:  # many events, such as each piece of an answer, do not change it
            self.state = state
        self.status_line.show_event(event)
        words = self.chat_log.show_event(event, state)
        outline = self.tree_pane.outline
        match event:
            case QuestionAsked():
                self.questions.on_question_asked()
            case QuestionAnswered():
                outline.reveal_cited()
                self._update_hints()
                if self.panes.scope is not Scope.READER and Pane.CHAT in self.panes.shown:
                    self._show_citation(self.chat_log.first_citation)
            case SectionsSearched(hits=hits):
                outline.mark_found(hit.section_id for hit in hits)
            case SectionsExpanded(origin=Origin.AGENT, opened_ids=opened) if opened:
                outline.mark_opened(opened)
                outline.reveal(opened[-1])
            case NodesLoaded(section_ids=ids):
                self.reader_pane.reader.show_loaded(ids)
            case QuestionsRewound():
                self._update_hints()
                self.questions.show_pending()
            case ConversationSwitched():
                self._update_hints()
                outline.mark_found(())
                self.questions.show_pending()
            case DocumentReloaded():
                self.header.show(state.library.title, state.library.source)
                self.welcome.show_library(state.library)
                self.reader_pane.refresh_library()
            case _:
                pass
        if words:
            self.status_line.update_status(message=words, is_progress=False)

    def action_apply(self, command_name: str) -> None:
        section_id, _ = self._selection
        if section_id is not None:
            self.dispatch(lambda state: make_section_command(command_name, state, section_id))
        else:
            self._ask_for_selection()

    def _ask_for_selection(self) -> None:
        if self.panes.scope is Scope.CHAT:
            self.post_message(StatusMessage("Select a passage or a citation first (j, k)"))

    @on(CommandRequested)
    def _dispatch(self, event: CommandRequested) -> None:
        self.dispatch(event.make_command)

    async def action_run(self, action_id: str, *, is_focused: bool = False) -> None:
        """Run an action. With `is_focused`, first focus the pane of its scope."""
        action = next(action for action in self.keys.actions if action.id == action_id)
        if is_focused:
            self.panes.focus_scope(action.scope)
        await self.app.run_action(action.call, self.panes.get_scope_widget(action.scope))

    @on(events.Resize)
    def _fit_welcome(self, event: events.Resize) -> None:
        self.welcome.set_title_shown(is_shown=event.size.height < _HEADER_ROWS_MIN)

    @on(events.DescendantFocus)
    def _update_hints(self) -> None:
        self._hints.show_scope(
            self.panes.scope,
            is_offline=self.status_line.status.model == OFFLINE,
            has_citations=self.chat_log.has_citations,
            has_passage=self.chat_log.has_selected_passage,
        )

    def action_step_pane(self, direction: int) -> None:
        self.panes.focus_adjacent(direction)

    def action_go(self, scope: str) -> None:
        self.panes.focus_scope(Scope(scope))

    def action_step_out(self) -> None:
        is_done = self.focused is self.question_box and (self.questions.reset_options() or self.questions.take_back())
        if not is_done:
            self.panes.step_out()

    @on(QuestionBox.Submitted)
    def _submit_question(self, event: QuestionBox.Submitted) -> None:
        self.panes.show_chat()
        self.warn(self.questions.submit(event.question))

    @work(group="asking", exit_on_error=False, description="")  # Textual would describe it by a whole exchange
    async def _run_question(self, question: str, options: AskOptions) -> None:
        await self.agent.ask(question, options)

    @property
    def _waiting_words(self) -> str:
        return f"Waiting for {self.status_line.status.model}"

    def _show_pending_question(self, question: str, within: str | None) -> None:
        progress = self.status_line.status.message if self.status_line.status.is_progress else ""
        self.chat_log.show_pending(question, within, progress or self._waiting_words)
        self.status_line.update_status(is_asking=True, step=0, message="")

    @on(ChatLog.RetryRequested)
    def _retry_question(self, event: ChatLog.RetryRequested) -> None:
        """Ask a question again. If it needs a model and none is in use, let the person choose one."""
        if self.warn_if_busy():
            return
        ask = partial(self.questions.ask_again, event.number, event.open_first)
        if event.is_edited:
            self.questions.edit_last()
            self.panes.focus_question_box()
        elif event.needs_model and self.app_context.agent.model.name == OFFLINE:
            self._choose_model(ask)
        else:
            ask()

    @property
    def _selection(self) -> tuple[str | None, Span | None]:
        """The section that the person points at, and the span of the text selected or highlighted in it, or None."""
        match self.panes.scope:
            case Scope.READER:
                return self.reader_pane.reader.selection
            case Scope.CHAT:
                target = self.chat_log.selected_section
                return None if target is None else target.section_id, None
            case _:
                return self.tree_pane.outline.cursor_id, None

    def action_ask_about(self) -> None:
        section_id, span = self._selection
        if self.panes.scope is Scope.CHAT and self.chat_log.request_model():
            return
        if section_id is None:
            self._ask_for_selection()
        else:
            is_selected = span is not None and self.reader_pane.reader.text_selection is not None
            selected = self.conversation.state.library.text_at(span) if span and is_selected else ""
            self.questions.ask_about_section(section_id, selected)
            self.clear_selection()
            self.panes.focus_question_box()

    def action_add_note(self) -> None:
        section_id, span = self._selection
        if section_id is None:
            self._ask_for_selection()
        else:
            cited = self.chat_log.selected_section if self.panes.scope is Scope.CHAT else None
            self._add_note(section_id, span, cited.citation if cited is not None else None)

    @work(group="noting", exit_on_error=False)
    async def _add_note(self, section_id: str, span: Span | None, citation: Citation | None) -> None:
        if words := await self._notes_controller.add_note(section_id, span, citation):
            self.clear_selection()
            self.post_message(StatusMessage(words))

    @work(group="noting", exit_on_error=False)
    async def action_notes(self) -> None:
        chosen = await self._notes_controller.choose()
        if isinstance(chosen, SectionTarget):
            self._open_target(chosen, came_from=self.tree_pane.outline)
        elif chosen:
            self.post_message(StatusMessage(chosen))

    @on(CopyRequested)
    def _copy(self, event: CopyRequested) -> None:
        self.app.copy_to_clipboard(event.text)
        self.notify(f"Copied {event.description}.", markup=False)

    def action_copy_or_cancel(self) -> None:
        selected = self.question_box.selected_text if self.focused is self.question_box else ""
        selected = selected or self.get_selected_text() or ""
        if selected:
            self.post_message(CopyRequested(selected, "the selection"))
            self.clear_selection()
        elif self.is_asking:
            self.questions.stop()
        else:
            quit_key = self.keys.format_first_key("global.quit")
            self.notify(f"Nothing to copy or stop. Press {quit_key} to quit.", markup=False)

    def action_conversations(self) -> None:
        from roamtui.tui.screens.conversations import ConversationsScreen

        def switch(chosen: DocumentRequested | None) -> None:
            if chosen is not None and chosen.source:
                self.post_message(chosen)
            elif chosen is not None and chosen.conversation_id != self.conversation.state.id:
                self.resume_conversation(chosen.conversation_id)

        if self.warn_if_busy():
            return
        if (store := self.conversation.store) is None:
            self.warn("No saved conversations: saving is off here.")
        else:
            self.app.push_screen(ConversationsScreen(self.agent, store, self.keys), switch)

    def resume_conversation(self, conversation_id: str | None) -> None:
        """Switch to a saved conversation about this document, or to a new one for None."""
        if self.warn_if_busy():
            return
        if conversation_id is None:
            self._switch(self.conversation.start_new(), "Started a new conversation")
        else:
            self._switch(self.conversation.open(conversation_id), "Resumed the conversation")

    def action_new_conversation(self) -> None:
        self.questions.take_back()
        self.resume_conversation(None)

    @on(ChatLog.ForkRequested)
    def _fork_conversation(self, event: ChatLog.ForkRequested) -> None:
        if not self.warn_if_busy():
            exchange = self.conversation.state.transcript.exchanges[event.number - 1]
            words = f"Branched before question {event.number}; the original is kept"
            self._switch(self.conversation.fork(exchange), words, exchange)

    @work(group="commands", exit_on_error=False, description="")  # Textual would describe it by a whole exchange
    async def _switch(self, switching: Awaitable[None], words: str, edited: Exchange | None = None) -> None:
        """Switch to another conversation. The person will edit the question of `edited`, if it is given."""
        before_id = self.conversation.state.id
        await switching
        if self.conversation.state.id != before_id:
            self._show_last_read()
            self._show_saved_conversations(is_announced=False)
            self.panes.show_chat()
            self.panes.focus_question_box()
            self.questions.on_conversation_switched(edited)
            self.post_message(StatusMessage(words))

    def action_choose_model(self) -> None:
        if not self.warn_if_busy():
            self._choose_model()

    @work(group="models", exit_on_error=False)
    async def _choose_model(self, after_switch: Callable[[], None] | None = None) -> None:
        """Let the person choose a model, and offer to save it for the next start."""
        from roamtui.tui.screens.model_dialog import ModelPicker, offer_to_save

        agent, options, tried = self.agent, self.app_context.options, self.app_context.tried_models
        before = agent.model
        name = await self.app.push_screen_wait(ModelPicker(agent, options, tried))
        if agent.model is not before:
            self.status_line.update_status(model=agent.model.name)
            self.welcome.show_model(agent.model.name)
            self._warm_up()
            if after_switch is not None:
                after_switch()
        if name is not None:
            offer_to_save(self.app, name, options, tried)

    @on(TargetActivated)
    def _show_target(self, event: TargetActivated) -> None:
        match event.target:
            case ExampleTarget(question):
                self.question_box.fill(question)
                self.panes.focus_question_box()
            case EarlierTarget():
                self.chat_log.show_earlier()
            case ConversationTarget(conversation_id):
                self.resume_conversation(conversation_id)
            case LinkTarget():
                if self.reader_pane.reader.follow_answer_link(event.target):
                    self.panes.show_reader(came_from=None)
            case SectionTarget():
                self._open_target(event.target, came_from=self.chat_log)

    def _open_target(self, target: SectionTarget, *, came_from: Widget) -> None:
        if self.reader_pane.reader.open_target(target):
            self.panes.show_reader(came_from=came_from)

    @on(TargetSelected)
    def _show_selected(self, event: TargetSelected) -> None:
        self._show_citation(event.target)

    def _show_citation(self, target: Target | None) -> None:
        """Show the passage of a citation in the reader if that is in view. Otherwise, the conversation shows it."""
        if isinstance(target, SectionTarget) and target.citation is not None and Pane.READER in self.panes.shown:
            self.reader_pane.reader.show_citation(target)

    @on(OutlineTree.NodeActivated)
    def _read(self, event: OutlineTree.NodeActivated) -> None:
        if event.section_id in self.conversation.state.library:
            self.reader_pane.reader.open(event.section_id)
            self.panes.show_reader(came_from=self.tree_pane.outline)

    def on_document_reader_opened(self, event: DocumentReader.Opened) -> None:
        """Let the outline follow the reader."""
        if event.is_read:
            self.tree_pane.outline.go_to(event.section_id)

    @on(ReadingPositionChanged)
    def _move_cursor(self, event: ReadingPositionChanged) -> None:
        if not self.tree_pane.outline.has_focus:
            self.tree_pane.outline.move_to(event.section_id)

    def action_find(self) -> None:
        from roamtui.tui.screens.find import FindDialog

        dialog = FindDialog(self.agent, self._found.query if self._found is not None else "")
        self.app.push_screen(dialog, partial(self._show_found, dialog))

    def _show_found(self, dialog: FindDialog, chosen: FindResult | None) -> None:
        """Mark what was found in the outline, and show the chosen result in the reader."""
        from roamtui.quotes.cited_passage import locate_in_span

        found = self._found = dialog.found
        self.tree_pane.outline.mark_found(found.text_ids)
        if chosen is not None and chosen.section_id in self.state.library:
            quote = locate_in_span(chosen.sentence, self.state.library, self.state.library.own_span(chosen.section_id))
            self.reader_pane.reader.open(chosen.section_id, highlight=(quote,) if quote else ())
            self.panes.show_reader(came_from=self.tree_pane.outline)
            self._mark_match(found.matches, chosen.words, chosen.match)

    def _mark_match(self, matches: TextMatches, words: tuple[str, ...], index: int | None) -> None:
        self._match_index = index
        offset = None if index is None else matches.positions[index].offset
        label = f"“{' '.join(words)}”" if index is None else matches.format_number(index)
        self.reader_pane.reader.highlight_matches(words, offset, label)

    @work(group="matches", exit_on_error=False)
    async def action_step_match(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) match of the last search, wrapping around."""
        from roamtui.tui.finder import find_text

        library = await self.agent.load_library()
        if self._found is not None and self._found.matches.library is not library:
            self._found = replace(self._found, matches=await find_text(library, self._found.matches.phrase))
        if self._found is None or not self._found.matches.positions:
            self.post_message(StatusMessage("No matches"))
            return
        matches = self._found.matches
        start = self._match_index if self._match_index is not None else min(0, -direction)
        index = (start + direction) % len(matches.positions)
        self.reader_pane.reader.show_match(matches.positions[index])
        self.panes.show_reader_unfocused()
        self._mark_match(matches, (matches.phrase,), index)

    @work(group="pages", exclusive=True, exit_on_error=False)
    async def action_go_page(self) -> None:
        came_from = self.focused
        if await self.reader_pane.reader.ask_for_page(self.tree_pane.outline.cursor_id):
            self.panes.show_reader(came_from=came_from)

    @work(group="looking", exit_on_error=False)
    async def check_for_changes(self) -> None:
        """Check whether the document has changed on disk."""
        await self._reload_controller.check()

    def action_reload(self) -> None:
        if not self.warn_if_busy():
            self._reload()

    @work(group="reloading", exit_on_error=False)
    async def _reload(self) -> None:
        await self._reload_controller.reload()
