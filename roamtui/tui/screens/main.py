"""The main screen: puts up the panes, and hands what a person wants to the part of it that does that."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.narration import Weight
from roamtui.document.library import Library
from roamtui.tui.actions import Action, Scope
from roamtui.tui.app import describe_failure, forget_frames, is_job_of_shell
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.content_view import EarlierTarget, ExampleTarget, LinkTarget, SectionTarget, TargetChosen
from roamtui.tui.chat.welcome import Welcome
from roamtui.tui.commands import (
    AskAboutWanted,
    CommandWanted,
    CopyWanted,
    DocumentDone,
    DocumentTurnWanted,
    DocumentWanted,
    FindWanted,
    KeepWanted,
    Kind,
    MakeCommand,
    MatchWanted,
    NothingDone,
    Otherwise,
)
from roamtui.tui.context import AppContext, FirstContext
from roamtui.tui.keys import Keys, bind
from roamtui.tui.panes.chat_pane import ChatPane
from roamtui.tui.panes.pane import HEADER_ROWS
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.question_box import PASTE_LENGTH_MAX, QuestionBox
from roamtui.tui.reader.messages import EndPassed, LinkClicked, PlaceChanged
from roamtui.tui.screens.asking import Asking
from roamtui.tui.screens.pane_switch import Panes, PaneSwitch
from roamtui.tui.screens.reloading import Reloading
from roamtui.tui.source_watch import SourceWatch
from roamtui.tui.status_line import OFFLINE, ActionLine, HeaderLine, HintLine, Status, StatusLine, label_model
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.conversation.session import Session
    from roamtui.tui.screens.choosing import Choosing
    from roamtui.tui.screens.conversations import Turning
    from roamtui.tui.screens.find import Finding
    from roamtui.tui.screens.notes import Noting
    from roamtui.tui.screens.reading import Following, Reading

_LOOK_SECONDS = 2.0
"""Between two looks at the document on disk; each costs one question to the file system."""


class MainScreen(Screen[None], inherit_bindings=False):
    """Holds the panes, and the parts that ask, find, read and reload for a person."""

    AUTO_FOCUS = "#question-box"
    BINDINGS = bind(Scope.GLOBAL)
    DEFAULT_CSS = """
    MainScreen {
        background: $background;
        &.-short {
            & HeaderLine, & HintLine { display: none; }
            & Messages { padding-top: 0; }
        }
    }
    """

    def __init__(self, first: FirstContext, keys: Keys, problems: tuple[str, ...] = ()) -> None:
        """Show `first`, and `problems` of the configuration in sentences."""
        super().__init__(classes="-tall")  # as most terminals are: a change of class styles every widget anew
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (HEADER_ROWS, "-tall")]
        self.first = first
        """What the screen shows and drives."""
        self._keys = keys
        self._problems = problems
        state = first.state
        self._watch = SourceWatch.of_file(state.library.source)
        label = label_model(first.model_name)
        self._welcome = Welcome(state.library.title, first.options.examples, label, keys)
        self.chat_log = ChatLog(first, self._welcome)
        self.tree_pane = TreePane(state)
        self.chat_pane = ChatPane(self.chat_log)
        self.reader_pane = ReaderPane(keys)
        asked = [exchange.question for exchange in state.transcript.exchanges]
        self.question_box = QuestionBox([*reversed(first.options.examples), *asked])
        self.status_line = StatusLine(Status(model=label.name, model_note=label.short_note), keys)
        self._header = HeaderLine(state.library.title, state.library.source)
        self._hints = HintLine(keys)
        self._panes = Panes(
            tree=self.tree_pane,
            chat=self.chat_pane,
            reader=self.reader_pane,
            box=self.question_box,
            status=self.status_line,
        )
        self.switch = PaneSwitch(self._panes)
        """Where the person is among the panes."""
        self._asking = Asking(self, first, self._panes)

    @cached_property
    def _reading(self) -> Reading:
        from roamtui.tui.places import Places  # noqa: PLC0415 - not for the first screen
        from roamtui.tui.screens.reading import Reading  # noqa: PLC0415

        places = Places(self.first.options.places_path)
        return Reading(self.session, self._panes, self.switch, self.send, places)

    @cached_property
    def _following(self) -> Following:
        from roamtui.tui.screens.reading import Following  # noqa: PLC0415 - not for the first screen

        return Following(self, self._reading, self.switch)

    @cached_property
    def _finding(self) -> Finding:
        from roamtui.tui.screens.find import Finding  # noqa: PLC0415 - not for the first screen

        return Finding(self._asking, self._reading, self._panes, self.send)

    @cached_property
    def _noting(self) -> Noting:
        from roamtui.tui.screens.notes import Noting  # noqa: PLC0415 - not for the first screen

        return Noting(self, self._asking, self._reading, self._panes, self._keys)

    @cached_property
    def _turning(self) -> Turning:
        from roamtui.tui.screens.conversations import Turning  # noqa: PLC0415 - not for the first screen

        return Turning(self, self._asking, self._reading, self._panes, self.switch)

    @cached_property
    def _choosing(self) -> Choosing:
        from roamtui.tui.screens.choosing import Choosing  # noqa: PLC0415 - not for the first screen

        return Choosing(self, self.app_context, self._asking, self._welcome, self.status_line)

    @cached_property
    def _reloading(self) -> Reloading:
        return Reloading(self.app_context, self._watch, self._asking.conversing, self.status_line, self._keys)

    @property
    def app_context(self) -> AppContext:
        """Everything that the app shows and drives."""
        return self.first.whole

    @property
    def session(self) -> Session:
        """The conversation that is shown."""
        return self.app_context.agent.session

    @property
    def is_asking(self) -> bool:
        """Whether an answer is under way."""
        return self._asking.is_under_way

    @override
    def compose(self) -> ComposeResult:
        yield self._header
        yield self.switch
        yield self.status_line
        yield self._hints

    def on_mount(self) -> None:
        """Look at the document on disk from time to time."""
        self.set_interval(_LOOK_SECONDS, self.look_at_source)

    @on(ChatLog.Ready)
    def _show_past(self, event: ChatLog.Ready) -> None:
        """Show what was there before: what could not be used, and a saved conversation."""
        event.stop()
        self.status_line.show_state(self.first.state)
        for problem in self._problems:
            self.warn(problem)
        self.chat_log.restore()
        self.call_after_refresh(self._get_ready)

    def on_unmount(self) -> None:
        """Keep where the person was reading."""
        if "_reading" in vars(self):
            self._reading.keep_place()
            self._noting.save_left()

    def _get_ready(self) -> None:
        """Make and show all that the first screen did without."""
        context = self.app_context
        if context.options.examples != self.first.options.examples:
            self._welcome.show_examples(context.options.examples)
            self.question_box.propose(reversed(context.options.examples))
        for note in context.notes:
            self.chat_log.add_notice(note)
        conversing = self._asking.conversing
        for happened in self.session.list_undrawn():
            conversing.show(happened)
        self._work(conversing.warm_up(), "warming")
        self._work(conversing.index_ahead(lambda words: self.status_line.change(message=words)), "indexing")
        self._reading.resume()
        self._work(self._turning.tell_earlier(self._keys), "earlier")
        self._work(self._noting.mark(), "noting")

    def _work(self, work: Coroutine[None, None, None], group: str, *, is_exclusive: bool = False) -> None:
        """Work on something beside all else; what fails of it is told in the conversation."""
        self.run_worker(work, group=group, exclusive=is_exclusive, exit_on_error=False)

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.chat_log.add_notice(describe_failure(event.worker.error), Weight.ERROR)
        if event.worker.error is not None:
            forget_frames(event.worker.error)
        self._asking.note_worker(event.worker)

    def warn(self, text: str) -> None:
        """Say in the conversation that something is not as it should be."""
        self.chat_log.add_notice(text, Weight.WARNING)

    def complain(self, reason: str | None) -> None:
        """Say for a moment why something cannot be done; nothing for None."""
        if reason is not None:
            self.notify(reason, severity="warning", markup=False)

    def is_busy(self) -> bool:
        """Return whether an answer is under way, and say so."""
        if self.is_asking:
            stop_key = self._keys.show_first("global.copy_or_cancel")
            self.notify(f"An answer is under way. Wait for its end, or {stop_key} stops it.", markup=False)
        return self.is_asking

    @on(NothingDone)
    def _tell_nothing_done(self, event: NothingDone) -> None:
        event.stop()
        self.status_line.change(message=event.reason)

    def send(self, make: MakeCommand, *, otherwise: Otherwise = "") -> None:
        """Dispatch a command in its turn, and tell `otherwise` where there is nothing to do."""
        self._work(self._send(make, otherwise), "commands")

    async def _send(self, make: MakeCommand, otherwise: Otherwise) -> None:
        if not await self._asking.conversing.dispatch(make) and otherwise:
            reason = otherwise if isinstance(otherwise, str) else otherwise(self.session.state)
            self.status_line.change(message=reason)

    @on(CommandWanted)
    def _dispatch(self, event: CommandWanted) -> None:
        event.stop()
        self.send(event.make, otherwise=event.otherwise)

    def find_owner(self, scope: Scope) -> Widget:
        """Return the widget of this screen that carries out the actions of a scope."""
        owners: dict[Scope, Widget] = {
            Scope.GLOBAL: self,
            Scope.TREE: self.tree_pane,
            Scope.CHAT: self.chat_log,
            Scope.READER: self.reader_pane,
            Scope.INPUT: self.question_box,
        }
        return owners[scope]

    def scope_of(self, widget: Widget) -> Scope:
        """Return the scope whose keys work where a widget has the focus."""
        ancestors = widget.ancestors_with_self
        inside = (Scope.TREE, Scope.CHAT, Scope.READER, Scope.INPUT)
        scopes = (scope for scope in inside if self.find_owner(scope) in ancestors)
        return next(scopes, Scope.GLOBAL)

    async def run_chosen(self, action: Action) -> None:
        """Go where an action belongs and carry it out, as the command palette does."""
        match action.scope:
            case Scope.TREE:
                self.switch.go_tree()
            case Scope.CHAT:
                self.switch.go_log()
            case Scope.READER:
                self.action_go_reader()
            case Scope.GLOBAL | Scope.INPUT | Scope.CONVERSATIONS | Scope.FIND | Scope.NOTES | Scope.START:
                pass
        await self._run(action)

    @on(ActionLine.Clicked)
    async def _run_clicked(self, event: ActionLine.Clicked) -> None:
        event.stop()
        await self._run(event.action)

    async def _run(self, action: Action) -> None:
        await self.app.run_action(action.method, self.find_owner(action.scope))

    @on(events.Resize)
    def _fit_welcome(self, event: events.Resize) -> None:
        self._welcome.show_title(has_title=event.size.height < HEADER_ROWS)

    @on(events.DescendantFocus)
    def _show_hints(self, event: events.DescendantFocus) -> None:
        is_offline = self.status_line.status.model == OFFLINE
        self._hints.show_scope(self.scope_of(event.widget), is_offline=is_offline)

    def action_next_pane(self) -> None:
        """Go to the next pane."""
        self.switch.step(1, self.focused)

    def action_previous_pane(self) -> None:
        """Go to the previous pane."""
        self.switch.step(-1, self.focused)

    def action_go_tree(self) -> None:
        """Go to the outline."""
        self.switch.go_tree()

    def action_go_chat(self) -> None:
        """Go to the question box and the conversation."""
        self.switch.go_chat()

    def action_go_reader(self) -> None:
        """Go to the reader; where it is empty, read the section under the cursor."""
        self.switch.read_or_go(came_from=self.focused)

    def action_step_out(self) -> None:
        """Leave what the focus is in, one step."""
        if self.focused is not self.question_box or not self._asking.next.leave():
            self.switch.step_out(self.focused)

    @on(QuestionBox.Sent)
    def _ask(self, event: QuestionBox.Sent) -> None:
        event.stop()
        if not self.is_busy():
            self.switch.show_chat()
            self._asking.send(event.question)

    @on(QuestionBox.PasteRefused)
    def _refuse_paste(self, event: QuestionBox.PasteRefused) -> None:
        event.stop()
        self.complain(
            f"That paste has {event.length:,} characters; a question may have {PASTE_LENGTH_MAX:,}. Nothing was"
            " pasted. Save it as a file and open that instead."
        )

    @on(ChatLog.AgainWanted)
    def _ask_again(self, event: ChatLog.AgainWanted) -> None:
        event.stop()
        if self.is_asking or not self.session.state.transcript.exchanges:
            return
        if event.is_edited:
            self._asking.change()
            self.switch.go_box()
        else:
            self._asking.repeat(event.opening)

    @on(AskAboutWanted)
    def _ask_about(self, event: AskAboutWanted) -> None:
        event.stop()
        self._asking.next.narrow(event.section_id, self.session.state.library, event.words)
        self.clear_selection()
        self.switch.go_box()

    @on(KeepWanted)
    def _keep(self, event: KeepWanted) -> None:
        event.stop()
        self._work(self._noting.keep(event), "noting")

    def action_notes(self) -> None:
        """List what is kept of this document."""
        self._work(self._noting.show(), "noting")

    def action_propose(self) -> None:
        """Have the model propose questions, and put the chosen one into the question box."""
        if not self.is_busy():
            self._work(self._choosing.choose_question(self._take_question), "proposing", is_exclusive=True)

    def _take_question(self, question: str | None) -> None:
        if question is not None:
            self.question_box.fill(question)
            self.switch.go_box()

    @on(CopyWanted)
    def _copy(self, event: CopyWanted) -> None:
        event.stop()
        self.app.copy_to_clipboard(event.text)
        self.notify(f"Copied {event.what}.", markup=False, timeout=2)

    def action_copy_or_cancel(self) -> None:
        """Copy the selection; without one, stop the answer under way."""
        selected = self.question_box.selected_text if self.focused is self.question_box else ""
        selected = selected or self.get_selected_text() or ""
        if selected:
            self.post_message(CopyWanted(selected, "the selection"))
            self.clear_selection()
        elif self.is_asking:
            self._asking.stop()
        else:
            quit_key = self._keys.show_first("global.quit")
            self.notify(f"Nothing is selected and nothing is under way. {quit_key} quits.", markup=False)

    def action_conversations(self) -> None:
        """List the saved conversations."""
        if not self.is_busy():
            self.complain(self._turning.choose(self._keys))

    def resume(self, conversation_id: str) -> None:
        """Go on with another conversation about this document."""
        if not self.is_busy():
            self._turning.resume(conversation_id)

    def action_open_document(self) -> None:
        """Open another document."""
        self.post_message(DocumentWanted())

    def action_next_document(self) -> None:
        """Turn to the next open document."""
        self.post_message(DocumentTurnWanted(0))

    def action_close_document(self) -> None:
        """Close this document."""
        if not self.is_busy():
            self.post_message(DocumentDone())

    def show_documents(self, titles: Sequence[str], place: int) -> None:
        """Show which documents are open, this one at `place`."""
        self._header.show_documents(titles, place)

    def action_new_conversation(self) -> None:
        """Begin a new conversation."""
        if not self.is_busy():
            self._turning.begin_anew()

    @on(ChatLog.ForkWanted)
    def _branch_off(self, event: ChatLog.ForkWanted) -> None:
        event.stop()
        if not self.is_busy():
            self._turning.branch_off(event.number)

    def action_choose_model(self) -> None:
        """Choose the model that answers."""
        if not self.is_busy():
            self._choosing.choose_model()

    def action_choose_theme(self) -> None:
        """Choose the colours."""
        self._choosing.choose_theme()

    @on(TargetChosen)
    def _show_target(self, event: TargetChosen) -> None:
        event.stop()
        match event.target:
            case ExampleTarget(question):
                self._take_question(question)
            case EarlierTarget():
                self.chat_log.show_earlier()
            case LinkTarget():
                self.complain(self._reading.follow_answer(event.target, self.app))
            case SectionTarget():
                self.complain(self._reading.jump(event.target, came_from=self.chat_log))

    @on(OutlineTree.NodeActivated)
    def _read(self, event: OutlineTree.NodeActivated) -> None:
        event.stop()
        self._reading.read(event.section_id, came_from=self.tree_pane.outline)

    @on(TreePane.Grown)
    def _show_grown(self, event: TreePane.Grown) -> None:
        event.stop()
        self._reading.show_loaded(event.section_ids)

    @on(OutlineTree.CursorMoved)
    def _follow_cursor(self, event: OutlineTree.CursorMoved) -> None:
        event.stop()
        self._following.note_cursor(event.section_id, has_focus=self.focused is self.tree_pane.outline)

    @on(TreePane.BatchShown)
    def _follow_model(self, event: TreePane.BatchShown) -> None:
        event.stop()
        self._following.note_opened(event.section_id)

    def action_follow(self) -> None:
        """Let the reader follow the outline, or stay."""
        is_following = self._following.toggle()
        self.reader_pane.show_following(is_following=is_following)
        self.status_line.change(message="the reader follows the outline" if is_following else "the reader stays")
        if is_following and self.tree_pane.outline.cursor_id is not None:
            self._reading.read_beside(self.tree_pane.outline.cursor_id)

    @on(ReaderPane.WentBack)
    def _note_reading(self, event: ReaderPane.WentBack) -> None:
        event.stop()
        self._reading.refresh()

    @on(PlaceChanged)
    def _note_place(self, event: PlaceChanged) -> None:
        event.stop()
        self._reading.note_place(event.section_id)

    @on(ReaderPane.StepWanted)
    def _step_section(self, event: ReaderPane.StepWanted) -> None:
        event.stop()
        if not self._reading.step(event.direction):
            self.status_line.change(message=f"this is the {'last' if event.direction > 0 else 'first'} section")

    @on(EndPassed)
    def _read_on(self, event: EndPassed) -> None:
        event.stop()
        self._reading.read_on(event.direction)

    @on(LinkClicked)
    def _follow_link(self, event: LinkClicked) -> None:
        event.stop()
        self.complain(self._reading.follow(event.href, self.app))

    @on(ReaderPane.EditWanted)
    def _edit(self, event: ReaderPane.EditWanted) -> None:
        event.stop()
        self.complain(self._reading.edit(event.section_id, self.app))

    @on(FindWanted)
    def _find(self, event: FindWanted) -> None:
        event.stop()
        self._finding.show(self.app, self._keys, event.kind, is_onward=event.is_onward)

    def action_find(self) -> None:
        """Find titles, text and meaning."""
        self._finding.show(self.app, self._keys, Kind.ALL, is_onward=False)

    @on(MatchWanted)
    def _step_match(self, event: MatchWanted) -> None:
        event.stop()
        self._work(self._go_to_match(event.direction), "matches")

    async def _go_to_match(self, direction: int) -> None:
        if reason := await self._finding.step(direction):
            self.status_line.change(message=reason)

    def action_go_page(self) -> None:
        """Go to a page of a document that has pages."""
        self.complain(self._reading.choose_page(self.app, came_from=self.focused))

    def look_at_source(self) -> None:
        """Look whether the document has changed on disk."""
        self._work(self._look_at_source(), "looking", is_exclusive=True)

    async def _look_at_source(self) -> None:
        self._show_library(await self._reloading.look())

    def action_reload(self) -> None:
        """Read the document again."""
        if not self.is_busy():
            self._work(self._reload(), "reloading", is_exclusive=True)

    async def _reload(self) -> None:
        self._show_library(await self._reloading.reload())

    def _show_library(self, library: Library | None) -> None:
        if library is not None:
            self._header.show(library.title, library.source)
            self.reader_pane.show_again(library)

    def action_palette(self) -> None:
        """Find a command by its name."""
        self.app.action_command_palette()

    def action_help(self) -> None:
        """Show all keys."""
        from roamtui.tui.screens.help import HelpScreen  # noqa: PLC0415 - not for the first screen

        here = self.scope_of(self.focused) if self.focused is not None else Scope.GLOBAL
        self.app.push_screen(HelpScreen(self._keys, here))

    def action_marks(self) -> None:
        """Show what the signs of the outline mean."""
        from roamtui.tui.screens.help import MarksScreen  # noqa: PLC0415 - not for the first screen

        self.app.push_screen(MarksScreen())

    def action_suspend(self) -> None:
        """Put the program into the background, where a shell can bring it back."""
        if is_job_of_shell():
            self.app.action_suspend_process()
        else:
            self.status_line.change(message="no shell started this that could bring it back")

    def action_quit(self) -> None:
        """Leave the program."""
        self.app.exit()
