"""The panes of the main screen: how they are laid out, and how a person goes from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from typing_extensions import override

from roamtui.tui.actions import Scope
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.welcome import Welcome
from roamtui.tui.commands import NothingDone
from roamtui.tui.header_line import HeaderLine
from roamtui.tui.keys import Keys, bind
from roamtui.tui.layout import HEADER_ROWS, Pane
from roamtui.tui.model_label import label_model
from roamtui.tui.panes.chat_pane import ChatPane
from roamtui.tui.panes.field_line import FieldLine
from roamtui.tui.panes.pane_title import PaneTitle
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.question_box import QuestionBox
from roamtui.tui.screens.pane_switch import PaneSwitch
from roamtui.tui.status_line import ActionLine, HintLine, Status, StatusLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widget import Widget

    from roamtui.conversation.session import Session
    from roamtui.tui.context import AppContext, FirstContext


class PanesScreen(Screen[None], inherit_bindings=False):
    """Holds the panes, follows the focus, and shows what fits."""

    AUTO_FOCUS = "#question-box"
    BINDINGS = bind(Scope.GLOBAL)
    DEFAULT_CSS = """
    PanesScreen {
        background: $background;
        & #body { height: 1fr; }
        & TreePane { width: 36%; max-width: 46; min-width: 24; border-right: vkey $background; }
        & TreePane.-alone { width: 1fr; max-width: 100%; border-right: none; }
        & TreePane.-alone OutlineTree { padding: 0 1; }
        & #right { width: 1fr; }
        & #upper { height: 1fr; }
        & ChatPane, & ReaderPane { width: 1fr; }
        & #ask { height: auto; padding: 0 1; }
        & #ask-frame {
            height: auto;
            padding: 0 1;
            border: round $faint;
            background: $background;
            &:focus-within { border: round $primary; }
        }
        & #prompt { width: 2; height: 1; color: $secondary; text-style: bold; }
        &.-short {
            & HeaderLine, & HintLine { display: none; }
            & Messages { padding-top: 0; }
        }
    }
    """

    def __init__(self, first: FirstContext, keys: Keys) -> None:
        super().__init__(classes="-tall")  # as most terminals are: a change of class styles every widget anew
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (HEADER_ROWS, "-tall")]
        self._first = first
        self._keys = keys
        state = first.state
        label = label_model(first.model_name)
        self._welcome = Welcome(state.library.title, first.options.examples, label, keys)
        self.chat_log = ChatLog(first, self._welcome)
        self.tree_pane = TreePane(state)
        self.chat_pane = ChatPane(self.chat_log)
        self.reader_pane = ReaderPane(keys)
        asked = [exchange.question for exchange in state.transcript.exchanges]
        self.question_box = QuestionBox([*reversed(first.options.examples), *asked])
        self.status_line = StatusLine(Status(model=label.name, model_note=label.short_note), keys)
        self._hints = HintLine(keys)
        self._right = Vertical(id="right")
        self.switch = PaneSwitch(self.tree_pane, self.chat_pane, self.reader_pane, self.question_box, self._right)
        """Where the person is among the panes."""

    @property
    def app_context(self) -> AppContext:
        """Everything that the app shows and drives."""
        return self._first.whole

    @property
    def session(self) -> Session:
        """The conversation that is shown."""
        return self.app_context.agent.session

    @override
    def compose(self) -> ComposeResult:
        library = self._first.state.library
        yield HeaderLine(library.title, library.source)
        with Horizontal(id="body"):
            yield self.tree_pane
            with self._right:
                with Horizontal(id="upper"):
                    yield self.chat_pane
                    yield self.reader_pane
                with Container(id="ask"), Horizontal(id="ask-frame"):
                    yield Static(Content("❯"), id="prompt")
                    yield self.question_box
        yield self.status_line
        yield self._hints

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

    @on(events.DescendantFocus)
    def _follow_focus(self, event: events.DescendantFocus) -> None:
        self.switch.note_focus(event.widget)
        field = next((one for one in event.widget.ancestors if isinstance(one, FieldLine)), None)
        self._hints.show_scope(self.scope_of(event.widget), enter=field.enter if field else "")

    def scope_of(self, widget: Widget) -> Scope:
        """Return the scope whose keys work where a widget has the focus."""
        ancestors = widget.ancestors_with_self
        inside = (Scope.TREE, Scope.CHAT, Scope.READER, Scope.INPUT)
        scopes = (scope for scope in inside if self.find_owner(scope) in ancestors)
        return next(scopes, Scope.GLOBAL)

    @on(PaneTitle.PaneChosen)
    def _go_to_pane(self, event: PaneTitle.PaneChosen) -> None:
        event.stop()
        match event.pane:
            case Pane.TREE:
                self.switch.go_tree()
            case Pane.CHAT:
                self.action_go_chat()
            case Pane.READER:
                self.action_go_reader()

    @on(QuestionBox.PageWanted)
    def _scroll_page(self, event: QuestionBox.PageWanted) -> None:
        event.stop()
        above = self.chat_log if Pane.CHAT in self.switch.visible else self.reader_pane
        if event.direction > 0:
            above.action_page_down()
        else:
            above.action_page_up()

    @on(ActionLine.Clicked)
    async def _run_clicked(self, event: ActionLine.Clicked) -> None:
        event.stop()
        await self.app.run_action(event.action.method, self.find_owner(event.action.scope))

    @on(NothingDone)
    def _tell_nothing_done(self, event: NothingDone) -> None:
        event.stop()
        self.status_line.change(message=event.reason)

    @on(events.Resize)
    def _fit_panes(self, event: events.Resize) -> None:
        self.switch.resize(event.size.width)
        self._welcome.show_title(has_title=event.size.height < HEADER_ROWS)

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
        self.switch.show_chat()
        self.switch.go_box()

    def action_go_reader(self) -> None:
        """Go to the reader; where it is empty, read the section under the cursor."""
        if self.reader_pane.section_id is None:
            self.tree_pane.action_read()
        self.switch.go_reader(came_from=self.focused)

    def action_suspend(self) -> None:
        """Put the program into the background, where a shell can bring it back."""
        from roamtui.tui import suspending  # noqa: PLC0415 - not for the first screen

        if suspending.is_job_of_shell():
            self.app.action_suspend_process()
        else:
            self.status_line.change(message="no shell started this that could bring it back")

    def action_step_out(self) -> None:
        """Leave what the focus is in, one step."""
        match self.switch.active:
            case Pane.TREE:
                if not self.tree_pane.end_fields():
                    self.switch.go_box()
            case Pane.READER:
                if not self.reader_pane.end_search():
                    self.switch.leave_reader()
            case Pane.CHAT:
                if self.focused is self.question_box or not self.chat_log.clear_selection():
                    self.switch.go_tree()
