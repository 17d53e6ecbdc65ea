"""`PaneSwitcher`: chooses the visible panes and moves the focus between them."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from typing_extensions import override

from roamtui.tui.actions import Scope
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.messages import FocusModeToggled
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.question_area import QuestionArea
from roamtui.tui.question_box import QuestionBox

# Widths are in cells.
_TWO_PANES_COLUMNS = 64
"""Minimum width of the terminal for two panes."""
_THREE_PANES_COLUMNS = 150
_FOCUS_MODE_WIDTH = 92
"""Width of the reader in focus mode: 88 characters of text, with padding, margin and scrollbar."""


def choose_panes(columns: int, *, active: Pane, main: Pane) -> frozenset[Pane]:
    """Choose the visible panes.

    Args:
        columns: Width of the terminal in cells.
        active: The pane with the focus, or the chat if the question box has it.
        main: The pane next to the outline if there is room for one: chat or reader.
    """
    if columns >= _THREE_PANES_COLUMNS:
        return frozenset(Pane)
    if columns >= _TWO_PANES_COLUMNS:
        return frozenset({Pane.TREE, main})
    return frozenset({Pane.TREE if active is Pane.TREE else main})


class ChatPane(Vertical):
    """The conversation with its title line."""

    def __init__(self, log: ChatLog) -> None:
        super().__init__(id="chat-pane")
        self.title_line = PaneTitle(Pane.CHAT)
        self._log_view = log

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self._log_view


class PaneSwitcher(Horizontal):
    """The container of the panes. It shows the panes that fit and moves the focus between visible widgets."""

    def __init__(self, tree: TreePane, log: ChatLog, reader: ReaderPane, questions: QuestionArea) -> None:
        super().__init__(id="body")
        self._tree = tree
        self._log_view = log
        self._chat = ChatPane(log)
        self._reader = reader
        self._box = questions.box
        self._scope_widgets = {
            Scope.TREE: tree.outline,
            Scope.CHAT: log,
            Scope.READER: reader,
            Scope.INPUT: questions.box,
        }
        self._right = Vertical(id="right")
        self._question_area = questions
        self._columns = 0
        self.active = Pane.CHAT
        """The pane with the focus, or the chat if the question box has it."""
        self.main = Pane.CHAT
        """The pane next to the outline if there is room for one."""
        self._is_focus_mode = False
        """Whether only the reader is shown, as one column in the middle. It ends when another pane gets the focus."""
        self._return_widget: Widget = tree.outline
        """The widget that gets the focus when the person leaves the reader."""

    @override
    def compose(self) -> ComposeResult:
        yield self._tree
        with self._right:
            with Horizontal(id="upper"):
                yield self._chat
                yield self._reader
            yield self._question_area

    def on_mount(self) -> None:
        # The switcher's own width is known only after the first layout. Until then, it would show a single pane.
        self._columns = self.app.size.width
        self._show()

    @property
    def shown(self) -> frozenset[Pane]:
        """The visible panes."""
        if self._is_focus_mode:
            return frozenset({Pane.READER})
        return choose_panes(self._columns, active=self.active, main=self.main)

    def on_resize(self, event: events.Resize) -> None:
        self._columns = event.size.width
        self._show()

    @on(events.DescendantFocus)
    def _follow_focus(self, event: events.DescendantFocus) -> None:
        self._activate(event.widget)
        self._show()
        for pane in (self._tree, self._chat, self._reader):
            pane.title_line.refresh()

    def _activate(self, widget: Widget) -> None:
        """Make a widget's pane active. For the question box, that is the chat, but the pane above the box stays."""
        pane = self._find_pane(widget)
        self.active = pane or Pane.CHAT
        if pane in (Pane.CHAT, Pane.READER):
            self.main = pane
        self._is_focus_mode = self._is_focus_mode and pane is Pane.READER

    @on(FocusModeToggled)
    def _toggle_focus_mode(self) -> None:
        self.focus_reader()
        self._is_focus_mode = not self._is_focus_mode
        self._show()

    def _find_pane(self, widget: Widget) -> Pane | None:
        """Return the pane that contains a widget, or None for the question box."""
        containers = {Pane.TREE: self._tree, Pane.READER: self._reader, Pane.CHAT: self._chat}
        return next((pane for pane, container in containers.items() if container in widget.ancestors_with_self), None)

    @on(QuestionBox.ScrollRequested)
    def _scroll_page(self, event: QuestionBox.ScrollRequested) -> None:
        if Pane.CHAT not in self.shown:
            self._reader.reader.action_page(event.direction)
        else:
            self._log_view.action_page(event.direction)

    def get_scope_widget(self, scope: Scope) -> Widget:
        """Return the widget that runs a scope's actions: the screen for the global scope."""
        if scope is Scope.READER:
            return self._reader.reader
        return self._scope_widgets.get(scope, self.screen)

    @property
    def scope(self) -> Scope:
        """The scope of the focused widget, whose keys apply."""
        focused = self.screen.focused
        ancestors = focused.ancestors_with_self if focused is not None else []
        return next((scope for scope, widget in self._scope_widgets.items() if widget in ancestors), Scope.GLOBAL)

    def focus_scope(self, scope: Scope) -> None:
        """Focus the pane of a scope, if it has one."""
        match scope:
            case Scope.TREE:
                self.focus_tree()
            case Scope.CHAT:
                self.focus_chat()
            case Scope.READER:
                self.focus_reader()
            case _:
                pass

    def focus_tree(self) -> None:
        self._focus(self._tree.outline)

    def focus_question_box(self) -> None:
        """Focus the question box. The pane above it stays visible."""
        self._focus(self._box)

    def focus_chat(self) -> None:
        self._focus(self._log_view)

    def focus_reader(self) -> None:
        """Focus the reader, and remember where to return. If it is empty, show the section under the cursor first."""
        if self._reader.section_id is None:
            self._tree.outline.action_read()
        self._remember_return(self.screen.focused)
        self._focus(self._reader.reader)

    def _focus(self, widget: Widget) -> None:
        self._activate(widget)
        self._show()
        # Focus at once instead of by message: keys that were already typed belong to the new pane.
        widget.screen.set_focus(widget, scroll_visible=False)

    def show_chat(self) -> None:
        """Show the conversation without moving the focus."""
        self.main = Pane.CHAT
        self._show()

    def show_reader(self, *, came_from: Widget | None) -> None:
        """Show the reader. Focus it only if it hides the widget that the person came from."""
        self._remember_return(came_from)
        if Pane.READER in self.shown:
            return
        pane = None if came_from is None else self._find_pane(came_from)
        if {pane, Pane.READER} <= choose_panes(self._columns, active=self.active, main=Pane.READER):
            self.main = Pane.READER
            self._show()
        else:
            self._focus(self._reader.reader)

    def _remember_return(self, came_from: Widget | None) -> None:
        if came_from is not None and self._reader not in came_from.ancestors_with_self:
            self._return_widget = came_from

    def step_out(self) -> None:
        """Go one step back: end a search or selection, otherwise leave the pane.

        When the person leaves the reader, the conversation replaces it.
        """
        match self.active:
            case Pane.TREE:
                if not self._reader.end_search():
                    self.focus_question_box()
            case Pane.READER:
                if self._reader.end_selection() or self._reader.end_search():
                    return
                if self._is_focus_mode:
                    self._toggle_focus_mode()
                else:
                    self.main = Pane.CHAT
                    self._focus(self._return_widget)
            case Pane.CHAT:
                if not self._log_view.clear_selection():
                    self.focus_tree()

    def focus_adjacent(self, direction: int) -> None:
        """Focus the next (1) or previous (-1) widget in the order of the tab key, wrapping around."""
        stops: list[Widget] = [self._tree.outline]
        if self._log_view.current is not None or self._log_view.has_targets:
            stops.append(self._log_view)
        stops.append(self._box)
        if self._reader.section_id is not None:
            stops.append(self._reader.reader)
        focused = self.screen.focused
        current = next((number for number, stop in enumerate(stops) if stop is focused), -direction)
        self._focus(stops[(current + direction) % len(stops)])

    def _show(self) -> None:
        visible = self.shown
        self._tree.display = Pane.TREE in visible
        self._chat.display = Pane.CHAT in visible
        self._reader.display = Pane.READER in visible
        self._right.display = bool(visible & {Pane.CHAT, Pane.READER})
        self._tree.set_class(len(visible) == 1, "-alone")
        self._reader.styles.padding = (0, max(0, self._columns - _FOCUS_MODE_WIDTH) // 2 if self._is_focus_mode else 0)
        self._question_area.display = not self._is_focus_mode
        hidden = frozenset(Pane) - visible
        self._tree.title_line.hidden = hidden if len(visible) == 1 else frozenset()
        self._chat.title_line.hidden = self._reader.title_line.hidden = hidden
