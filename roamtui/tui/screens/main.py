"""`MainScreen`: composes the panes, passes the state of the conversation down, and routes messages.

Dialogs are imported when they open, because their imports would delay the first screen.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.screen import Screen
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.events import ConversationEvent
from roamtui.conversation.messages import OFFLINE, RECORDED
from roamtui.conversation.notices import Severity
from roamtui.conversation.update import AskOptions
from roamtui.text import Span
from roamtui.tui.actions import DIGITS, DOCUMENT_PARTS, Keymap, Scope, make_bindings
from roamtui.tui.background_work import BackgroundWork
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.question_area import QuestionArea
from roamtui.tui.chat.question_box import QuestionBox
from roamtui.tui.chat.welcome import WelcomeView
from roamtui.tui.clipboard import copy_or_stop
from roamtui.tui.context import DocumentSession
from roamtui.tui.key_queue import KeyQueue
from roamtui.tui.messages import (
    CommandRequested,
    DocumentRequested,
    ExampleTarget,
    LinkTarget,
    ModelReleased,
    NoticeRaised,
    SectionRead,
    SectionTarget,
    TargetActivated,
    TargetSelected,
    WorkReported,
)
from roamtui.tui.panes.switcher import PaneSwitcher
from roamtui.tui.panes.titled_panes import ReaderPane, TreePane
from roamtui.tui.screen_words import format_error
from roamtui.tui.section_commands import make_section_command
from roamtui.tui.status_line import HeaderLine, HintLine, StatusLine, WarningLine

if TYPE_CHECKING:  # the first screen does without them
    from roamtui.models.base import Model
    from roamtui.tui.reader.document_reader import DocumentReader
    from roamtui.tui.screens.find import MatchCursor


class MainScreen(Screen[None], inherit_bindings=False):
    """The panes of one document, and the conversation about it."""

    AUTO_FOCUS = "#question-box"
    BINDINGS = make_bindings(Scope.GLOBAL, Scope.CHAT, works_in=DOCUMENT_PARTS)

    def __init__(self, session: DocumentSession, keys: Keymap, key_queue: KeyQueue) -> None:
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-tiny"), (10, "-tall")]
        self.session = session
        self.agent = session.agent
        self.conversation = session.conversation
        self.keys = keys
        self.started = asyncio.Event()
        """Set once the first screen is shown and everything else has started."""
        self._commands = asyncio.Lock()
        """Held by the command that runs. The next one waits, because it depends on the changes."""
        self._digit = 0
        self._match_cursor: MatchCursor | None = None
        """The results of the last search."""
        state = session.conversation.state
        self.welcome = WelcomeView(session, keys)
        self.chat_log = ChatLog(session.conversation, self.welcome, keys)
        self.tree_pane = TreePane(state)
        self.reader_pane = ReaderPane(session.conversation)
        self.question_box = QuestionBox([*reversed(session.examples), *state.questions], keys)
        self.header = HeaderLine(session.conversation, keys)
        self._hints = HintLine(keys)
        self._warning_line = WarningLine()
        self.questions = QuestionArea(self.question_box, session.conversation, keys, self._run_question)
        self.panes = PaneSwitcher(self.tree_pane, self.chat_log, self.reader_pane, self.questions, keys)
        self._shown_state = state
        reload_key = keys.first_keys["global.reload"]
        self.background_work = BackgroundWork(self, session, key_queue, self.questions, reload_key)
        self.status_line = StatusLine(self.agent, self.background_work, keys)

    @property
    def is_asking(self) -> bool:
        """Whether a question is being answered."""
        return self.questions.is_asking

    @override
    def compose(self) -> ComposeResult:
        yield self.header
        yield self.panes
        yield self._warning_line
        yield self.status_line
        yield self._hints

    def on_mount(self) -> None:
        """Show a saved conversation, and the notices for the start."""
        self.chat_log.reload()
        self.session.notices.deliver_to(lambda words: self.post_message(NoticeRaised(words)))
        self._unsubscribe = self.conversation.subscribe(self._handle_event)
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """Start the model, and show what the first screen did not need."""
        if self.is_attached:  # the app may have ended already
            self.background_work.start()
            if self.reader_pane.section_id is None:  # the person may have opened a section already
                self.reader_pane.ensure_reader().show_last_read()
            self.questions.open_draft()
            self.started.set()
            if self.session.first_question:
                self.question_box.post_message(QuestionBox.Submitted(self.session.first_question))

    def on_unmount(self) -> None:
        """Receive no more events of the conversation, and save the typed text."""
        self.questions.release_drafts()
        self._unsubscribe()

    @work(group="placing", exit_on_error=False)
    async def fulfil_request(self, request: DocumentRequested, *, can_return: bool) -> None:
        """Resume the requested conversation and show the requested place, once the screen has started.

        With `can_return`, the person came from another document or a table.
        """
        await self.started.wait()
        wanted_id = request.conversation_id or ""
        if wanted_id not in ("", self.conversation.state.id) and not self.warn_if_busy():
            await self.conversation.open(wanted_id)
            self._resume_model()
        if request.place is not None:
            self.panes.show_place(request.place, can_return=can_return)

    @on(Worker.StateChanged)
    def _on_worker_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and self.is_attached:
            self.chat_log.add_notice(format_error(error, self.keys), Severity.ERROR)
        if error is not None:
            # A widget keeps the worker that made it, the worker keeps its error, and the frames of the error
            # keep all their values, such as a request with the whole conversation.
            error.__traceback__ = error.__context__ = error.__cause__ = None
        self.questions.handle_worker_end(event.worker)

    def warn_if_busy(self) -> bool:
        """Return whether a question is being answered, and if so, tell the person."""
        if self.is_asking:
            stop_key = self.keys.first_keys["global.copy_or_cancel"]
            self.notify(f"An answer is still running. Wait, or press {stop_key} to stop.", markup=False)
        return self.is_asking

    @on(WorkReported)
    def _show_work(self) -> None:
        self.status_line.refresh()

    @on(NoticeRaised)
    def _show_notice(self, event: NoticeRaised) -> None:
        self.chat_log.add_notice(event.words)

    def show_help(self, typed: str) -> None:
        """List commands and keys. A chosen command runs as if its key were pressed where it works.

        `typed` is text from the question box. It returns there if it is not a command.
        """
        from roamtui.tui.screens.help import HelpDialog, SlashCommandsDialog

        dialog = HelpDialog(self.keys, self.panes.scope, self.panes.explain_signs())
        if typed:
            dialog = SlashCommandsDialog(self.keys, typed, self.question_box.fill)
        self.app.push_screen(dialog, self.action_run)

    def _handle_event(self, event: ConversationEvent) -> None:
        """Pass the state and the event to all parts, unless the app is ending."""
        if not self.is_attached:
            return
        state = self.conversation.state
        self._warning_line.failure = self.conversation.save_failure
        if state is not self._shown_state:  # many events, such as each piece of an answer, do not change it
            if state.library is not self._shown_state.library:
                self.header.refresh()
                self.welcome.invalidate()
                self.reader_pane.show_library(state.library)
            self._shown_state = state
            self.status_line.refresh()
            self.tree_pane.outline.show(state)
        above = (self.background_work, self.status_line, self.chat_log, self.tree_pane.outline)
        for part in (*above, self.questions, self.panes):
            part.handle_event(event)

    @on(CommandRequested)
    @work(group="commands", exit_on_error=False)
    async def _dispatch(self, event: CommandRequested) -> None:
        """Run a command once earlier ones are done. If there is nothing to do, show why."""
        async with self._commands:
            command = event.make_command(self.conversation.state)
            if not isinstance(command, str):
                await self.conversation.execute(command)
            elif command:
                self.notify(command, markup=False)

    @on(SectionRead)
    @work(group="commands", exit_on_error=False)
    async def _record_reading(self, event: SectionRead) -> None:
        await self.conversation.record_reading(event.section_id)

    def _get_selection_or_warn(self) -> tuple[str | None, Span | None]:
        """Return the selected section, and the span in it. If the chat has no selection, tell the person."""
        section_id, span = self.panes.selected_place
        if section_id is None and self.panes.scope is Scope.CHAT:
            down, up = (self.keys.first_keys[name] for name in ("move.down", "move.up"))
            self.notify(f"Select a passage or a quote first ({down}, {up})", markup=False)
        return section_id, span

    def action_apply(self, command_name: str) -> None:
        section_id, _ = self._get_selection_or_warn()
        if section_id is not None:
            make_command = partial(make_section_command, command_name, section_id=section_id)
            self.post_message(CommandRequested(make_command))

    async def action_run(self, action_id: str | None) -> None:
        """Run an action, if one is given, as if its key were pressed in its scope."""
        if action_id is not None:
            action = self.keys.actions[action_id]
            self.panes.focus_scope(action.scope)
            await self.app.run_action(action.call, self.panes.get_scope_widget(action.scope))

    @on(events.DescendantFocus)
    def _show_hints(self) -> None:
        self._hints.scope = self.panes.scope

    def on_key(self, event: events.Key) -> None:
        """Remember a digit for `action_select_quote`, which gets no key. Say if a key does nothing here."""
        _, _, name = event.key.rpartition("+")  # a person may have bound alt+1
        if name in DIGITS:
            self._digit = int(name)
        is_text = self.panes.scope is Scope.INPUT
        if event.is_printable and not is_text and event.key not in self.active_bindings:
            help_key = self.keys.first_keys["global.help"]
            self.notify(f"{event.character} does nothing here · {help_key} lists the keys", markup=False)

    def action_select_quote(self) -> None:
        """Select the quote with the typed number, and show it outside the conversation."""
        number = self._digit
        self._digit = 0  # a click on the hint comes without a digit
        cursor = self.chat_log.target_selection
        if not cursor.select_quote(number):
            words = f"There is no quote {number}" if number else "Press the number of a quote"
            self.notify(words, markup=False)
        elif isinstance(target := cursor.target, SectionTarget) and self.panes.scope is not Scope.CHAT:
            self.reader_pane.open_target(target)

    @on(ChatLog.Typed)
    def _type_question(self, event: ChatLog.Typed) -> None:
        self._write_question(event.event)

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the question box even if another pane has the focus."""
        if self.panes.scope is not Scope.INPUT:
            self._write_question(event)

    def _write_question(self, event: events.Key | events.Paste) -> None:
        self.panes.focus_scope(Scope.INPUT)
        self.question_box.post_message(event)

    def action_step_pane(self, direction: int) -> None:
        self.panes.focus_adjacent(direction)

    def action_scroll_page(self, direction: int) -> None:
        self.panes.scroll_page(direction)

    def action_go(self, scope: str) -> None:
        self.panes.focus_scope(Scope(scope))

    def action_step_out(self) -> None:
        """In the question box, cancel options of the next question, or else take back the last question.

        If there are neither, stop the answer if the box is empty, or else leave the box.
        """
        if self.focused is self.question_box:
            questions = self.questions
            is_empty = not self.question_box.text.strip()
            if questions.cancel_options() or questions.unsend_last() or (is_empty and questions.stop()):
                return
        self.panes.step_out()

    # Without this, Textual would put the repr of a whole exchange into the worker's description.
    @work(group="asking", exit_on_error=False, description="")
    async def _run_question(self, question: str, options: AskOptions) -> None:
        # since Python 3.12, a worker runs up to its first wait before `questions` knows the worker
        await asyncio.sleep(0)
        await self.started.wait()
        try:
            await self.agent.ask(question, options)
        finally:
            if self.agent.model.name == RECORDED:  # it has only one answer
                self._use_model(self.session.options.services.make_model())

    @work(group="choosing", exit_on_error=False)
    async def action_retry(self) -> None:
        """Put a question into the box, to ask it again. If no model gave the answer, first choose a model."""
        view = self.chat_log.target_selection.get_exchange()
        if view is None:
            self.notify("No question yet", markup=False)
        elif not self.warn_if_busy():
            number = view.exchange.number
            has_model = view.outcome.passages is None or self.agent.model.name != OFFLINE
            if has_model or await self._choose_model():
                self.questions.propose_retry(number, view.outcome.unread)
                self.panes.focus_scope(Scope.INPUT)

    def action_ask_about(self) -> None:
        section_id, span = self._get_selection_or_warn()
        if section_id is not None:
            selected = ""
            if span is not None and self.reader_pane.ensure_reader().text_selection is not None:
                selected = self.reader_pane.ensure_reader().library.text_at(span)
            self.questions.ask_about_section(section_id, selected)
            self.clear_selection()
            self.panes.focus_scope(Scope.INPUT)

    @work(group="noting", exit_on_error=False)
    async def action_add_note(self) -> None:
        from roamtui.tui.screens.notes import add_note

        section_id, span = self._get_selection_or_warn()
        if section_id is not None and await add_note(self.app, self.conversation, section_id, span):
            self.clear_selection()
            list_key = self.keys.first_keys["global.notes"]
            self.notify(f"Note saved · {list_key} lists all notes", markup=False)

    @work(group="noting", exit_on_error=False)
    async def action_notes(self) -> None:
        from roamtui.tui.screens.notes import NotesDialog

        if target := await self.app.push_screen_wait(NotesDialog(self.agent, self.keys)):
            self.reader_pane.ensure_reader().open_target(target)

    def action_copy_or_cancel(self) -> None:
        is_in_box = self.focused is self.question_box
        typed = self.question_box.selected_text if is_in_box else ""
        discard = self.questions.discard if is_in_box else lambda: False
        copy_or_stop(self, typed, lambda: self.questions.stop() or discard(), self.keys)

    @work(group="listing", exit_on_error=False)
    async def action_conversations(self) -> None:
        from roamtui.tui.screens.conversations import ConversationsDialog

        store = self.conversation.store
        assert store is not None, "the app saves its conversations"
        if not self.warn_if_busy():
            dialog = ConversationsDialog(self.conversation, store, self.keys, self.session.options.services)
            before = self.conversation.switch_count
            if request := await self.app.push_screen_wait(dialog):
                self.app.post_message(request)
            elif self.conversation.switch_count != before:
                self._resume_model()

    @work(group="commands", exit_on_error=False)
    async def action_new_conversation(self) -> None:
        if not self.warn_if_busy():
            await self.conversation.start_new()

    def _resume_model(self) -> None:
        """Use the model and server of the conversation that the person has resumed."""
        state = self.conversation.state
        current = self.agent.model
        is_same = state.model == current.name and state.server in (None, current.facts.server)
        if not is_same and state.model not in ("", RECORDED):
            self._use_model(self.session.options.services.make_model(state.model, state.server or None))

    def _use_model(self, model: Model) -> None:
        self.post_message(ModelReleased(self.agent.model))
        self.agent.use_model(model)
        self.status_line.refresh()
        self.welcome.invalidate()
        self.background_work.prepare_agent()

    @work(group="choosing", exit_on_error=False)
    async def action_choose_model(self) -> None:
        if not self.warn_if_busy():
            await self._choose_model()

    async def _choose_model(self) -> bool:
        """Let the person choose a model. Return False if they leave."""
        from roamtui.tui.screens.pickers import ModelDialog

        model = await self.app.push_screen_wait(ModelDialog(self.session))
        if model is not None:
            self._use_model(model)
        return model is not None

    @work(group="sources", exit_on_error=False)
    async def action_add_source(self) -> None:
        """Add a document, folder or site to the conversation, after the current question."""
        from roamtui.tui.screens.open_document import AddSourceDialog

        dialog = AddSourceDialog(self.session.options.services, self.keys)
        if name := await self.app.push_screen_wait(dialog):
            self.background_work.report(f"Adding {name}…")
            try:
                source = await self.conversation.add_source(name)
            finally:
                self.background_work.report("")
            key = self.keys.first_keys["section.ask"]
            self.notify(f"Added {source.title} · {key} on it in the outline asks about it only", markup=False)

    @work(group="sources", exit_on_error=False)
    async def action_remove_source(self) -> None:
        """Take out the added source of the selected section, after the current question."""
        section_id, _ = self.panes.selected_place
        library = self.conversation.state.library
        source = library.source_of(section_id) if section_id is not None else None
        if source is None or not source.key or len(library.sources) == 1:
            words = "Only a source that was added can be taken out. Select it in the outline first."
            self.notify(words, markup=False)
            return
        await self.conversation.remove_source(source)
        self.notify(f"Took out {source.title}. Answers about it stay.", markup=False)

    # Not in `PaneSwitcher`, because Textual does not pass a message beyond the widget that posts it.
    @on(TargetActivated)
    def _show_target(self, event: TargetActivated) -> None:
        match event.target:
            case ExampleTarget(question):
                self.question_box.return_question(question)
                self.panes.focus_scope(Scope.INPUT)
            case LinkTarget():
                self.reader_pane.ensure_reader().follow_answer_link(event.target)
            case SectionTarget() if Scope.READER in self.panes.shown and self.reader_pane.shows(event.target):
                self.panes.focus_scope(Scope.READER)
            case SectionTarget():
                self.reader_pane.open_target(event.target)

    @on(TargetSelected)
    def _show_citation(self, event: TargetSelected) -> None:
        """Show a citation's passage in the reader, if the reader has room and not the focus."""
        target = event.target
        has_room = Scope.READER in self.panes.fitting and self.panes.scope is not Scope.READER
        if isinstance(target, SectionTarget) and target.citation is not None and has_room:
            self.reader_pane.ensure_reader().open_target(target, is_visit=False)

    def on_document_reader_opened(self, event: DocumentReader.Opened) -> None:
        """Show what the person reads, and let the outline follow."""
        if event.moves_outline:
            self.tree_pane.outline.go_to(event.section_id)
            self.panes.show_reader()
        self.panes.show()

    @work(group="finding", exit_on_error=False)
    async def action_find(self) -> None:
        """Search. Mark the results in the outline, and show the chosen one in the reader."""
        from roamtui.tui.screens.find import FindDialog, MatchCursor

        before = self._match_cursor
        dialog = FindDialog(self.agent, before.found.query if before else "")
        chosen = await self.app.push_screen_wait(dialog)
        found = dialog.found
        self.status_line.refresh()  # a reranker may have cost something
        if chosen is None and before is not None and not found.results:
            return
        self._match_cursor = MatchCursor(found)
        self.tree_pane.outline.mark([result.section_id for result in found.results])
        if chosen is not None:
            if self._has_current_matches(self._match_cursor):
                self._match_cursor.open(self.reader_pane.ensure_reader(), chosen)
            self.panes.focus_scope(Scope.READER)
        self._hints.has_matches = len(found.matches or found.results) > 1

    def action_step_match(self, direction: int) -> None:
        cursor = self._match_cursor
        if cursor is None:
            self.notify("No search yet", markup=False)
        elif self._has_current_matches(cursor) and not cursor.step(
            self.reader_pane.ensure_reader(), direction
        ):
            self.notify(f"No other match for “{cursor.found.query}”", markup=False)

    def _has_current_matches(self, cursor: MatchCursor) -> bool:
        """Return whether the searched document is still the current one. If not, tell the person."""
        is_current = cursor.found.library is self.conversation.state.library
        if not is_current:
            self.notify("The document has changed since the search · search again", markup=False)
        return is_current

    def action_go_page(self) -> None:
        self.reader_pane.ensure_reader().ask_for_page(self.tree_pane.outline.cursor_id)

    def action_reload(self) -> None:
        if not self.warn_if_busy():
            self.background_work.reload()
