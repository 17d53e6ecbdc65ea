"""The main screen: asks, dispatches, jumps and copies as a person wants, and tells what fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.errors import RoamtuiError
from roamtui.tui.actions import Action, Scope
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.narration import name_section
from roamtui.tui.chat.notice_view import NoticeKind
from roamtui.tui.chat.targets import EarlierTarget, ExampleTarget, SectionTarget, TargetChosen
from roamtui.tui.commands import AskAboutWanted, CommandWanted, MakeCommand
from roamtui.tui.conversing import Conversing
from roamtui.tui.copying import CopyWanted
from roamtui.tui.dispatch import EventDispatcher
from roamtui.tui.model_label import label_model
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.question_box import PASTE_LENGTH_MAX, QuestionBox
from roamtui.tui.reader.reader import Reader
from roamtui.tui.screens.approving import AskingApprover
from roamtui.tui.screens.choosing import choose_model, choose_theme
from roamtui.tui.screens.help import HelpScreen
from roamtui.tui.screens.next_question import Aim, NextQuestion
from roamtui.tui.screens.panes import PanesScreen
from roamtui.tui.screens.reading import Reading
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.models.base import Model
    from roamtui.tui.context import AppContext
    from roamtui.tui.keys import Keys


class MainScreen(PanesScreen):
    """Carries out what a person wants of the panes."""

    def __init__(self, context: AppContext, keys: Keys, problems: tuple[str, ...] = ()) -> None:
        """Show `context`, and `problems` of the configuration in sentences."""
        super().__init__(context, keys)
        self._problems = problems
        self.app_context = context
        dispatcher = EventDispatcher(self.session, self.tree_pane, self.chat_log, self.status_line)
        self._conversing = Conversing(context.agent, dispatcher)
        self._reading = Reading(self.session, self.tree_pane, self.reader_pane, self.switch, self.send)
        context.agent.approver = AskingApprover(self)
        self._asking: Worker[None] | None = None
        self._next = NextQuestion(self.question_box, self.status_line)

    @on(ChatLog.Ready)
    def _show_past(self, event: ChatLog.Ready) -> None:
        """Show what was there before: what could not be used, notes on the document, a saved conversation."""
        event.stop()
        state = self.session.state
        self.status_line.show_state(state)
        for problem in self._problems:
            self.warn(problem)
        for note in self.app_context.notes:
            self.chat_log.add_notice(note)
        self.chat_log.restore()
        for happened in self.session.opening_events:
            self._conversing.show(happened)
        self.call_after_refresh(self._warm_up)

    def _warm_up(self) -> None:
        self.run_worker(self._conversing.warm_up(), group="warming", exit_on_error=False)

    def warn(self, text: str) -> None:
        """Say in the conversation that something is not as it should be."""
        self.chat_log.add_notice(text, NoticeKind.WARNING)

    def send(self, make: MakeCommand) -> None:
        """Dispatch a command in its turn."""
        self.run_worker(self._conversing.dispatch(make), group="commands", exit_on_error=False)

    async def run_chosen(self, action: Action) -> None:
        """Go where an action belongs and carry it out, as the command palette does."""
        match action.scope:
            case Scope.TREE:
                self.switch.go_tree()
            case Scope.CHAT:
                self.switch.go_log()
            case Scope.READER:
                self.action_go_reader()
            case Scope.GLOBAL | Scope.INPUT:
                pass
        await self.app.run_action(action.method, self.find_owner(action.scope))

    @on(QuestionBox.Sent)
    def _ask(self, event: QuestionBox.Sent) -> None:
        event.stop()
        if self.is_asking:
            self.notify("An answer is under way. ctrl+c stops it.", markup=False)
            return
        self.question_box.clear()
        self.question_box.remember(event.question)
        self.switch.show_chat()
        self._start_asking(event.question, self._next.take())

    def _start_asking(self, question: str, aim: Aim) -> None:
        asking = self._conversing.ask(question, instead_of=aim.instead_of, within=aim.within)
        self._asking = self.run_worker(asking, group="asking", exit_on_error=False)

    @on(ChatLog.AgainWanted)
    def _ask_again(self, event: ChatLog.AgainWanted) -> None:
        event.stop()
        exchanges = self.session.state.transcript.exchanges
        if self.is_asking or not exchanges:
            return
        if not event.is_edited:
            self._start_asking(exchanges[-1].question, Aim(instead_of=exchanges[-1].number))
            return
        self._next.change(exchanges[-1])
        self.switch.go_box()

    @on(AskAboutWanted)
    def _ask_about(self, event: AskAboutWanted) -> None:
        event.stop()
        self._next.narrow(event.section_id, name_section(event.section_id, self.session.state.library))
        self.switch.go_box()

    @property
    def is_asking(self) -> bool:
        """Whether an answer is under way."""
        return self._asking is not None and not self._asking.is_finished

    @on(QuestionBox.PasteRefused)
    def _refuse_paste(self, event: QuestionBox.PasteRefused) -> None:
        event.stop()
        self.notify(
            f"That paste has {event.length:,} characters; a question may have {PASTE_LENGTH_MAX:,}. Nothing was"
            " pasted. Save it as a file and open that instead.",
            severity="warning",
            markup=False,
        )

    @on(CommandWanted)
    def _dispatch(self, event: CommandWanted) -> None:
        event.stop()
        self.send(event.make)

    @on(TargetChosen)
    def _show_target(self, event: TargetChosen) -> None:
        event.stop()
        match event.target:
            case ExampleTarget(question):
                self.question_box.fill(question)
                self.switch.go_box()
            case EarlierTarget():
                self.chat_log.show_earlier()
            case SectionTarget():
                self._complain(self._reading.jump(event.target, came_from=self.chat_log))

    @on(OutlineTree.NodeActivated)
    def _read(self, event: OutlineTree.NodeActivated) -> None:
        event.stop()
        self._reading.read(event.section_id, came_from=self.tree_pane.outline)

    @on(ReaderPane.WentBack)
    def _note_reading(self, event: ReaderPane.WentBack) -> None:
        event.stop()
        self._reading.refresh()

    @on(Reader.LinkClicked)
    def _follow_link(self, event: Reader.LinkClicked) -> None:
        event.stop()
        self._complain(self._reading.follow(event.href, self.app))

    @on(ReaderPane.EditWanted)
    def _edit(self, event: ReaderPane.EditWanted) -> None:
        event.stop()
        self._complain(self._reading.edit(event.section_id, self.app))

    @on(CopyWanted)
    def _copy(self, event: CopyWanted) -> None:
        event.stop()
        self.app.copy_to_clipboard(event.text)
        self.notify(f"Copied {event.what}.", markup=False, timeout=2)

    def _complain(self, reason: str | None) -> None:
        if reason is not None:
            self.notify(reason, severity="warning", markup=False)

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.chat_log.add_notice(describe_failure(event.worker.error), NoticeKind.ERROR)

    @override
    def action_step_out(self) -> None:
        if self.focused is not self.question_box or not self._next.leave():
            super().action_step_out()

    def action_copy_or_cancel(self) -> None:
        """Copy the selection; without one, stop the answer under way."""
        selected = self.question_box.selected_text if self.focused is self.question_box else ""
        selected = selected or self.get_selected_text() or ""
        if selected:
            self.post_message(CopyWanted(selected, "the selection"))
            self.clear_selection()
        elif self._asking is not None and self.is_asking:
            self._asking.cancel()
        else:
            quit_key = self._keys.show_first("global.quit")
            self.notify(f"Nothing is selected and nothing is under way. {quit_key} quits.", markup=False)

    def action_palette(self) -> None:
        """Find a command by its name."""
        self.app.action_command_palette()

    def action_help(self) -> None:
        """Show all keys."""
        self.app.push_screen(HelpScreen(self._keys))

    def action_choose_theme(self) -> None:
        """Choose the colours."""
        choose_theme(self.app)

    def action_choose_model(self) -> None:
        """Choose the model that answers."""
        if self.is_asking:
            self.notify("An answer is under way. Choose another model when it has ended.", markup=False)
        else:
            agent = self.app_context.agent
            offers = self.app_context.options.model_offers
            choose_model(self.app, agent.model.name, offers, self._use_model, self.warn)

    def _use_model(self, model: Model) -> None:
        before = self.app_context.agent.model
        self.app_context.agent.model = model
        label = label_model(model.name)
        self.status_line.change(model=label.name, model_note=label.short_note)
        self._welcome.show_model(label)
        self.run_worker(before.close(), group="closing", exit_on_error=False)
        self._warm_up()

    def action_quit(self) -> None:
        """Leave the program."""
        self.app.exit()


def describe_failure(error: BaseException | None) -> str:
    """Return a failure in one sentence; our own errors are sentences already."""
    if isinstance(error, RoamtuiError):
        return str(error)
    kind = type(error).__name__
    return f"Something went wrong inside roamtui ({kind}: {error}). The conversation goes on; ask again."
