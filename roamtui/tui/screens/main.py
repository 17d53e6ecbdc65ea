"""The main screen: puts up the panes, and hands what a person wants to the part of it that does that."""

from __future__ import annotations

import asyncio
from functools import cached_property, partial
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState, WorkType
from typing_extensions import override

from roamtui.conversation.commands import ApprovalRequest, Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    ConversationSwitched,
    LoadingProgressed,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ReminderSent,
    RetryScheduled,
    SectionsExpanded,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
)
from roamtui.conversation.notices import Severity
from roamtui.conversation.state import ConversationState
from roamtui.document.node import Span
from roamtui.sources.file_sources import stamp_source
from roamtui.tui.actions import Action, Keymap, Scope, make_bindings
from roamtui.tui.app import clear_traceback, format_error, has_job_control
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.content_view import EarlierTarget, ExampleTarget, LinkTarget, SectionTarget, TargetActivated
from roamtui.tui.chat.welcome import WelcomeView
from roamtui.tui.context import AppContext, StartupContext
from roamtui.tui.messages import (
    SECTION_COMMANDS,
    ActionUnavailable,
    CopyRequested,
    LinkClicked,
    NoteRequested,
    ReadingPositionChanged,
    ScrolledPastEnd,
    SearchKind,
    toggle_fold,
    unfold,
)
from roamtui.tui.panes.pane_switcher import PaneSwitcher
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.question_box import QuestionBox
from roamtui.tui.screens.asking import QuestionController
from roamtui.tui.status_line import (
    OFFLINE,
    HeaderLine,
    HintLine,
    StatusLine,
    StatusLineState,
    adapt_flags,
    make_model_label,
)
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.agent.controller import CommandFactory, ConversationController
    from roamtui.conversation.session import Session
    from roamtui.tui.screens.find import FindController
    from roamtui.tui.screens.notes import NotesController
    from roamtui.tui.screens.reading import ReaderController
    from roamtui.tui.screens.reloading import ReloadController

_LOOK_SECONDS = 2.0
"""Between two looks at the document on disk; each costs one question to the file system."""
_HEADER_ROWS = 22
"""Rows from which the header and the line of hints are worth theirs."""
_STATELESS_EVENTS = (
    AnswerStreamed,
    LoadingProgressed,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
)
"""Events that leave the state as it was. Some come many times a second, so the outline is not drawn again for them."""


class MainScreen(Screen[None], inherit_bindings=False):
    """Holds the panes, and the parts that ask, find, read and reload for a person."""

    AUTO_FOCUS = "#question-box"
    BINDINGS = make_bindings(Scope.GLOBAL)
    DEFAULT_CSS = """
    MainScreen {
        background: $background;
        &.-short {
            & HeaderLine, & HintLine { display: none; }
            & Messages { padding-top: 0; }
        }
    }
    """

    def __init__(self, first: StartupContext, keys: Keymap, problems: tuple[str, ...] = ()) -> None:
        """Show `first`, and `problems` of the configuration in sentences."""
        super().__init__(classes="-tall")  # as most terminals are: a change of class styles every widget anew
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (_HEADER_ROWS, "-tall")]
        self.startup = first
        """What the screen shows and drives."""
        self.keys = keys
        """Keys in force."""
        self._problems = problems
        state = first.state
        self._stamp = stamp_source(state.library.source)
        label = make_model_label(first.model_name)
        self.welcome = WelcomeView(state.library.title, first.options.examples, label, keys)
        self.chat_log = ChatLog(first, self.welcome)
        self.tree_pane = TreePane(state)
        self.reader_pane = ReaderPane(keys)
        asked = [exchange.question for exchange in state.transcript.exchanges]
        self.question_box = QuestionBox([*reversed(first.options.examples), *asked])
        self.status_line = StatusLine(StatusLineState(model=label.name, model_note=label.short_note), keys)
        self.header = HeaderLine(state.library.title, state.library.source)
        self._hints = HintLine(keys)
        self.panes = PaneSwitcher(self.tree_pane, self.chat_log, self.reader_pane, self.question_box)
        """Where the person is among the panes."""
        self.question_controller = QuestionController(self)
        """What becomes of a question."""

    @cached_property
    def controller(self) -> ConversationController:
        """Changes the conversation."""
        from roamtui.agent.controller import ConversationController  # noqa: PLC0415 - not for the first screen

        controller = ConversationController(self.app_context.agent, self._approve)
        controller.subscribe(lambda update: self._show_event(update.event, update.state))
        return controller

    @cached_property
    def reader_controller(self) -> ReaderController:
        """What the person reads."""
        from roamtui.tui.screens.reading import ReaderController  # noqa: PLC0415 - not for the first screen

        return ReaderController(self)

    @cached_property
    def _find_controller(self) -> FindController:
        from roamtui.tui.screens.find import FindController  # noqa: PLC0415 - not for the first screen

        return FindController(self)

    @cached_property
    def _notes_controller(self) -> NotesController:
        from roamtui.tui.screens.notes import NotesController  # noqa: PLC0415 - not for the first screen

        return NotesController(self)

    @cached_property
    def _reload_controller(self) -> ReloadController:
        from roamtui.tui.screens.reloading import ReloadController  # noqa: PLC0415 - not for the first screen

        return ReloadController(self, self._stamp)

    @property
    def app_context(self) -> AppContext:
        """Everything that the app shows and drives."""
        return self.startup.app_context

    @property
    def session(self) -> Session:
        """The conversation that is shown."""
        return self.app_context.agent.session

    @property
    def is_asking(self) -> bool:
        """Whether an answer is under way."""
        return self.question_controller.is_running

    @override
    def compose(self) -> ComposeResult:
        yield self.header
        yield self.panes
        yield self.status_line
        yield self._hints

    def on_mount(self) -> None:
        """Look at the document on disk from time to time."""
        self.set_interval(_LOOK_SECONDS, self.check_for_changes)

    @on(ChatLog.Ready)
    def _restore_conversation(self) -> None:
        """Show what was there before: what could not be used, and a saved conversation."""
        self.status_line.show_state(self.startup.state)
        for problem in self._problems:
            self.chat_log.add_notice(problem, Severity.WARNING)
        self.chat_log.load_saved()
        self.call_after_refresh(self._finish_startup)

    def _finish_startup(self) -> None:
        """Make and show all that the first screen did without."""
        from roamtui.tui.screens.conversations import show_earlier_count  # noqa: PLC0415 - not for the first screen

        context = self.app_context
        if context.options.examples != self.startup.options.examples:
            self.welcome.show_examples(context.options.examples)
            self.question_box.prepend_history(reversed(context.options.examples))
        for note in context.notes:
            self.chat_log.add_notice(note)
        for happened in self.session.list_unshown_events():
            self._show_event(happened, self.session.state)
        self.start_worker(self.warm_up(), "warming")
        self.start_worker(self._index_ahead(), "indexing")
        self.reader_controller.resume()
        self.start_worker(show_earlier_count(self), "earlier")
        self.start_worker(self._notes_controller.refresh_markers(), "noting")

    def on_unmount(self) -> None:
        """Keep where the person was reading."""
        if "reader_controller" in vars(self):
            self.reader_controller.save_position()
            self._notes_controller.flush()

    def start_worker(self, work: WorkType[None], group: str, *, is_exclusive: bool = False) -> None:
        """Work on something beside all else; what fails of it is told in the conversation.

        Args:
            work: A coroutine, or what makes one where it may be put an end to before it begins.
            group: What kind of work it is.
            is_exclusive: Whether it takes the place of what was begun of its kind.
        """
        self.run_worker(work, group=group, exclusive=is_exclusive, exit_on_error=False)

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.chat_log.add_notice(adapt_flags(format_error(event.worker.error)), Severity.ERROR)
        if event.worker.error is not None:
            clear_traceback(event.worker.error)
        self.question_controller.on_worker_done(event.worker)

    def warn(self, reason: str | None) -> None:
        """Say for a moment why something cannot be done; nothing for None."""
        if reason is not None:
            self.notify(reason, severity="warning", markup=False)

    def warn_if_busy(self) -> bool:
        """Return whether an answer is under way, and say so."""
        if self.is_asking:
            stop_key = self.keys.format_first_key("global.copy_or_cancel")
            self.notify(f"An answer is under way. Wait for its end, or {stop_key} stops it.", markup=False)
        return self.is_asking

    @on(ActionUnavailable)
    def _on_action_unavailable(self, event: ActionUnavailable) -> None:
        self.status_line.update_status(message=event.reason)

    def dispatch(self, make: CommandFactory) -> None:
        """Dispatch a command in its turn, and tell why where there is nothing to do."""
        self.start_worker(self._send(make), "commands")

    async def _send(self, make: CommandFactory) -> None:
        if reason := await self.controller.dispatch(make):
            self.status_line.update_status(message=reason)

    async def _approve(self, approval: ApprovalRequest) -> bool:
        """Ask the person; must be called from a worker."""
        from roamtui.tui.screens.dialogs import ApprovalScreen  # noqa: PLC0415 - not for the first screen

        return await self.app.push_screen_wait(ApprovalScreen(approval))

    async def warm_up(self) -> None:
        """Start what the model and the first question need, so that nobody waits for it; show the model's note."""
        if note := await self.controller.warm_up():
            self.chat_log.add_notice(note)

    async def _index_ahead(self) -> None:
        """Bring the search index of a large source up to date before a question needs it, and show the progress."""
        loop, has_reported = asyncio.get_running_loop(), False

        def report(done: int, total: int) -> None:
            nonlocal has_reported
            has_reported = True
            message = f"indexing {done:,} of {total:,} sections"
            loop.call_soon_threadsafe(partial(self.status_line.update_status, message=message))

        try:
            await self.controller.index_ahead(report)
        finally:
            if has_reported:
                self.status_line.update_status(message="")

    def _show_event(self, event: ConversationEvent, state: ConversationState) -> None:  # noqa: PLR0912 - by event
        """Show an event, with the state after it."""
        if not isinstance(event, _STATELESS_EVENTS):
            self.tree_pane.show(state)
            self.status_line.show_state(state)
        chat, outline, current = self.chat_log, self.tree_pane.outline, self.chat_log.current
        match event:
            case QuestionAsked(number=number, question=question):
                self.question_controller.note_begun()
                chat.start_exchange(number, question)
                self.status_line.update_status(is_asking=True, step=0, message="")
            case StepStarted(number=number):
                chat.show_drafts(state.library)
                self.status_line.update_status(step=number)
            case AnswerStreamed(text=text) if current is not None:
                current.append_answer(text)
            case ThinkingStreamed(text=text) if current is not None:
                current.show_thinking(text)
            case QuestionAnswered(number=number):
                self.status_line.update_status(is_asking=False, step=0)
                self.tree_pane.reveal_cited()
                if current is not None:
                    current.finish(state.transcript.exchanges[number - 1], state.library)
            case SectionsSearched(hits=hits):
                outline.set_highlights(found=(hit.section_id for hit in hits))
            case SectionsExpanded(origin=Origin.AGENT, opened_ids=opened) if opened:
                outline.set_highlights(opened=opened)
                outline.reveal(opened[-1])
                self.reader_controller.follow_opened(opened[-1])
            case NodesLoaded(section_ids=ids):
                self.status_line.update_status(message="")
                self.reader_controller.show_loaded(ids)
            case QuestionsRewound(first=number):
                chat.remove_from(number)
                self.status_line.update_status(message="")
                self.question_controller.expect()
            case ConversationSwitched():
                chat.reload()
                outline.set_highlights(found=())
                self.status_line.update_status(is_asking=False, step=0, message="")
                self.question_controller.expect()
            case _:
                pass
        if not isinstance(event, AnswerStreamed) and (message := chat.narrate(event, state)):
            self.status_line.update_status(message=message)

    def action_send(self, deed: str) -> None:
        """Do one of the `DEEDS` to the section under the cursor, or to the one that is read."""
        is_read = self.scope is Scope.READER
        section_id = self.reader_pane.section_id if is_read else self.tree_pane.outline.cursor_id
        if section_id is not None:
            self.dispatch(lambda state: SECTION_COMMANDS[deed](state, section_id))

    @on(OutlineTree.FoldToggled)
    def _toggle_fold(self, event: OutlineTree.FoldToggled) -> None:
        self.dispatch(lambda state: toggle_fold(state, event.section_id))

    @on(TreePane.UnfoldRequested)
    def _unfold_wanted(self, event: TreePane.UnfoldRequested) -> None:
        self.dispatch(lambda state: unfold(state, *event.section_ids))

    def get_scope_widget(self, scope: Scope) -> Widget:
        """Return the widget of this screen that carries out the actions of a scope."""
        owners: dict[Scope, Widget] = {
            Scope.TREE: self.tree_pane,
            Scope.CHAT: self.chat_log,
            Scope.READER: self.reader_pane,
            Scope.INPUT: self.question_box,
        }
        return owners.get(scope, self)

    @property
    def scope(self) -> Scope:
        """The scope whose keys work where the focus is."""
        ancestors = self.focused.ancestors_with_self if self.focused is not None else []
        inside = (Scope.TREE, Scope.CHAT, Scope.READER, Scope.INPUT)
        return next((scope for scope in inside if self.get_scope_widget(scope) in ancestors), Scope.GLOBAL)

    async def run_in_pane(self, action: Action) -> None:
        """Go where an action belongs and carry it out, as the command palette does."""
        match action.scope:
            case Scope.TREE:
                self.panes.focus_tree()
            case Scope.CHAT:
                self.panes.focus_chat()
            case Scope.READER:
                self.panes.focus_reader()
            case _:
                pass
        await self.app.run_action(action.call, self.get_scope_widget(action.scope))

    async def action_run(self, action_id: str) -> None:
        """Carry out an action that was clicked on."""
        action = next(action for action in self.keys.actions if action.id == action_id)
        await self.app.run_action(action.call, self.get_scope_widget(action.scope))

    @on(events.Resize)
    def _fit_welcome(self, event: events.Resize) -> None:
        self.welcome.show_title(has_title=event.size.height < _HEADER_ROWS)

    @on(events.DescendantFocus)
    def _show_hints(self) -> None:
        self._hints.show_scope(self.scope, is_offline=self.status_line.status.model == OFFLINE)

    def action_step_pane(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) pane."""
        self.panes.focus_adjacent(direction)

    def action_go_tree(self) -> None:
        """Go to the outline."""
        self.panes.focus_tree()

    def action_go_chat(self) -> None:
        """Go to the question box and the conversation."""
        self.panes.show_chat()
        self.panes.focus_question_box()

    def action_go_reader(self) -> None:
        """Go to the reader; where it is empty, read the section under the cursor."""
        self.panes.focus_reader()

    def action_step_out(self) -> None:
        """Leave what the focus is in, one step."""
        if self.focused is not self.question_box or not self.question_controller.reset_options():
            self.panes.step_out()

    @on(QuestionBox.Submitted)
    def _ask(self, event: QuestionBox.Submitted) -> None:
        if not self.warn_if_busy():
            self.panes.show_chat()
            self.question_controller.submit(event.question)

    @on(ChatLog.RetryRequested)
    def _ask_again(self, event: ChatLog.RetryRequested) -> None:
        if self.is_asking or not self.session.state.transcript.exchanges:
            return
        if event.is_edited:
            self.question_controller.edit_last()
            self.panes.focus_question_box()
        else:
            self.question_controller.retry(event.open_first)

    @property
    def _selection(self) -> tuple[str | None, Span | None]:
        """The section that a person points at, and where words of it that they selected or marked stand."""
        return self.reader_pane.selection if self.scope is Scope.READER else (self.tree_pane.outline.cursor_id, None)

    def action_ask_about(self) -> None:
        """Ask about one section alone, or words of it."""
        section_id, span = self._selection
        if section_id is not None:
            is_selected = span is not None and self.reader_pane.reader.text_selection is not None
            self.question_controller.ask_about_section(
                section_id, self.session.state.library.text_at(span) if span and is_selected else ""
            )
            self.clear_selection()
            self.panes.focus_question_box()

    def action_keep(self) -> None:
        """Keep a section, or words of it, among the notes."""
        section_id, span = self._selection
        if section_id is not None:
            self.start_worker(self._notes_controller.save_note(section_id, span), "noting")

    @on(NoteRequested)
    def _keep_cited(self, event: NoteRequested) -> None:
        self.start_worker(self._notes_controller.save_note(event.section_id, None, event.citation), "noting")

    def action_notes(self) -> None:
        """List what is kept of this document."""
        self.start_worker(self._notes_controller.show(), "noting")

    def action_propose(self) -> None:
        """Have the model propose questions, and put the chosen one into the question box."""
        from roamtui.tui.screens.pickers import pick_question  # noqa: PLC0415 - not for the first screen

        if not self.warn_if_busy():
            self.start_worker(partial(pick_question, self), "proposing", is_exclusive=True)

    def fill_question(self, question: str | None) -> None:
        """Put a question that was chosen into the question box."""
        if question is not None:
            self.question_box.fill(question)
            self.panes.focus_question_box()

    @on(CopyRequested)
    def _copy(self, event: CopyRequested) -> None:
        self.app.copy_to_clipboard(event.text)
        self.notify(f"Copied {event.what}.", markup=False)

    def action_copy_or_cancel(self) -> None:
        """Copy the selection; without one, stop the answer under way."""
        selected = self.question_box.selected_text if self.focused is self.question_box else ""
        selected = selected or self.get_selected_text() or ""
        if selected:
            self.post_message(CopyRequested(selected, "the selection"))
            self.clear_selection()
        elif self.is_asking:
            self.question_controller.stop()
        else:
            quit_key = self.keys.format_first_key("global.quit")
            self.notify(f"Nothing is selected and nothing is under way. {quit_key} quits.", markup=False)

    def action_conversations(self) -> None:
        """List the saved conversations."""
        from roamtui.tui.screens.conversations import show_conversations  # noqa: PLC0415 - not for the first screen

        if not self.warn_if_busy():
            self.warn(show_conversations(self))

    def resume(self, conversation_id: str | None) -> None:
        """Go on with another conversation about this document, a new one for None."""
        from roamtui.tui.screens.conversations import resume  # noqa: PLC0415 - not for the first screen

        if not self.warn_if_busy():
            resume(self, conversation_id)

    def action_new_conversation(self) -> None:
        """Begin a new conversation."""
        self.resume(None)

    @on(ChatLog.ForkRequested)
    def _branch_off(self, event: ChatLog.ForkRequested) -> None:
        from roamtui.tui.screens.conversations import fork_conversation  # noqa: PLC0415 - not for the first screen

        if not self.warn_if_busy():
            fork_conversation(self, event.number)

    def action_choose_model(self) -> None:
        """Choose the model that answers."""
        from roamtui.tui.screens.pickers import pick_model  # noqa: PLC0415 - not for the first screen

        if not self.warn_if_busy():
            pick_model(self)

    @on(TargetActivated)
    def _show_target(self, event: TargetActivated) -> None:
        match event.target:
            case ExampleTarget(question):
                self.fill_question(question)
            case EarlierTarget():
                self.chat_log.show_earlier()
            case LinkTarget():
                self.warn(self.reader_controller.open_answer_link(event.target))
            case SectionTarget():
                self.warn(self.reader_controller.jump_to_target(event.target, came_from=self.chat_log))

    @on(OutlineTree.NodeActivated)
    def _read(self, event: OutlineTree.NodeActivated) -> None:
        self.reader_controller.read(event.section_id, came_from=self.tree_pane.outline)

    @on(OutlineTree.CursorMoved)
    def _follow_cursor(self, event: OutlineTree.CursorMoved) -> None:
        if self.focused is self.tree_pane.outline and "reader_controller" in vars(self):
            self.reader_controller.follow_cursor(event.section_id)

    def action_follow(self) -> None:
        """Let the reader follow the outline, or stay."""
        self.reader_controller.toggle_following()

    def action_back(self) -> None:
        """Go back to what was read before."""
        self.reader_controller.go_back()

    @on(ReadingPositionChanged)
    def _note_place(self, event: ReadingPositionChanged) -> None:
        self.reader_controller.on_position_changed(event.section_id)

    def action_go_on(self, direction: int) -> None:
        """Read the next section (1) or the one before (-1)."""
        self.reader_controller.step(direction)

    @on(ScrolledPastEnd)
    def _read_on(self, event: ScrolledPastEnd) -> None:
        self.reader_controller.continue_past_end(event.direction)

    @on(LinkClicked)
    def _follow_link(self, event: LinkClicked) -> None:
        self.warn(self.reader_controller.open_link(event.href, self.reader_pane.section_id))

    def action_edit(self) -> None:
        """Open the file that is read in the person's editor."""
        if self.reader_pane.section_id is not None:
            self.warn(self.reader_controller.edit(self.reader_pane.section_id))

    def action_find(self, kind: str) -> None:
        """Find titles, text or meaning; in the reader, text from here on."""
        self._find_controller.show(SearchKind(kind), is_onward=kind == SearchKind.TEXT and self.scope is Scope.READER)

    def action_step_match(self, direction: int) -> None:
        """Go to the next match of what was searched for (1), or the one before (-1)."""
        self.start_worker(self._find_controller.go_to_match(direction), "matches")

    def action_go_page(self) -> None:
        """Go to a page of a document that has pages."""
        self.warn(self.reader_controller.choose_page())

    def check_for_changes(self) -> None:
        """Look whether the document has changed on disk."""
        self.start_worker(self._reload_controller.check, "looking")

    def action_reload(self) -> None:
        """Read the document again."""
        if not self.warn_if_busy():
            self.start_worker(self._reload_controller.reload, "reloading")

    def action_suspend(self) -> None:
        """Put the program into the background, where a shell can bring it back."""
        if has_job_control():
            self.app.action_suspend_process()
        else:
            self.status_line.update_status(message="no shell started this that could bring it back")
