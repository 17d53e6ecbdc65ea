"""`PaneSwitcher`: chooses the visible panes and moves the focus between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.events import ConversationEvent, ConversationStarted, QuestionAnswered, QuestionAsked
from roamtui.document.node import Span
from roamtui.tui.actions import Keymap, Scope
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.messages import ReadingPositionChanged
from roamtui.tui.panes.pane import ReaderPane, TitledPane, TreePane
from roamtui.tui.panes.question_area import QuestionArea

if TYPE_CHECKING:
    pass

PANES = (Scope.TREE, Scope.CHAT, Scope.READER)
# Widths are in cells.
_TWO_PANES_COLUMNS = 64
"""Minimum width of the terminal for two panes."""
_THREE_PANES_COLUMNS = 150
_FOCUS_MODE_WIDTH = 92
"""Width of the reader in focus mode: 88 characters of text, with padding, margin and scrollbar."""


def choose_panes(columns: int, *, active: Scope, main: Scope) -> frozenset[Scope]:
    """Choose the visible panes.

    Args:
        columns: Width of the terminal in cells.
        active: The pane with the focus, or the chat if the question box has it.
        main: The pane next to the outline if there is room for one: chat or reader.
    """
    if columns >= _THREE_PANES_COLUMNS:
        return frozenset(PANES)
    if columns >= _TWO_PANES_COLUMNS:
        return frozenset({Scope.TREE, main})
    return frozenset({Scope.TREE if active is Scope.TREE else main})


class PaneSwitcher(Horizontal):
    """The container of the panes. It shows the panes that fit and moves the focus between visible widgets."""

    def __init__(self, tree: TreePane, log: ChatLog, reader: ReaderPane, questions: QuestionArea, keys: Keymap) -> None:
        super().__init__(id="body")
        self._tree, self._log_view, self._reader, self._questions = tree, log, reader, questions
        self._panes: dict[Scope, TitledPane] = {
            Scope.TREE: tree,
            Scope.CHAT: TitledPane(Scope.CHAT, log),
            Scope.READER: reader,
        }
        self._keys = keys
        self._right = Vertical(id="right")
        self._columns = 0
        self.active = Scope.CHAT
        """The pane with the focus, or the chat if the question box has it."""
        self.main = Scope.CHAT
        """The pane next to the outline if there is room for one."""
        self._is_focus_mode = False
        """Whether only the reader is shown, as one column in the middle. It ends when another pane gets the focus."""
        self._return_scope = Scope.TREE
        """Where the focus goes when the person leaves the reader."""

    @override
    def compose(self) -> ComposeResult:
        yield self._tree
        with self._right:
            with Horizontal(id="upper"):
                yield self._panes[Scope.CHAT]
                yield self._reader
            yield self._questions

    def on_mount(self) -> None:
        # The switcher's own width is known only after the first layout. Until then, it would show a single pane.
        self._columns = self.app.size.width
        self.show()

    @property
    def shown(self) -> frozenset[Scope]:
        """The visible panes."""
        if self._is_focus_mode:
            return frozenset({Scope.READER})
        return choose_panes(self._columns, active=self.active, main=self.main)

    def on_resize(self, event: events.Resize) -> None:
        self._columns = event.size.width
        self.show()

    @on(events.DescendantFocus)
    def _follow_focus(self) -> None:
        self._activate(self.scope)
        self.show()

    def _activate(self, scope: Scope) -> None:
        """Make a pane active. For the question box, that is the chat, but the pane above the box stays."""
        self.active = scope if scope in PANES else Scope.CHAT
        if scope in (Scope.CHAT, Scope.READER):
            self.main = scope
        self._is_focus_mode = self._is_focus_mode and scope is Scope.READER

    def toggle_focus_mode(self) -> None:
        """Show only the reader, or the other panes again."""
        self.focus_scope(Scope.READER)
        self._is_focus_mode = not self._is_focus_mode
        self.show()

    def scroll_page(self, direction: int) -> None:
        """Scroll the pane above the question box by a page."""
        (self._log_view if Scope.CHAT in self.shown else self._reader.reader).action_page(direction)

    def get_scope_widget(self, scope: Scope) -> Widget:
        """Return the widget that runs a scope's actions: the screen for the global scope."""
        match scope:
            case Scope.TREE:
                return self._tree.outline
            case Scope.CHAT:
                return self._log_view
            case Scope.READER:
                return self._reader.reader
            case Scope.INPUT:
                return self._questions.box
            case _:
                return self.screen

    @property
    def scope(self) -> Scope:
        """The scope of the focused widget, whose keys apply."""
        focused = self.screen.focused
        if focused is self._questions.box:
            return Scope.INPUT
        ancestors = focused.ancestors_with_self if focused is not None else []
        return next((scope for scope, pane in self._panes.items() if pane in ancestors), Scope.GLOBAL)

    @property
    def selection(self) -> tuple[str | None, Span | None]:
        """The section that the person points at, and the span of the text selected, cited or highlighted in it."""
        match self.scope:
            case Scope.READER:
                return self._reader.reader.selection
            case Scope.CHAT:
                return self._log_view.selection
            case _:
                return self._tree.outline.cursor_id, None

    def focus_scope(self, scope: Scope) -> None:
        """Focus a pane or the question box, which leaves the pane above it visible.

        If the reader is empty, show the section under the cursor first.
        """
        if scope is Scope.READER:
            if self._reader.section_id is None:
                self._tree.outline.action_read()
            self._remember_return(self.scope)
        if scope in PANES or scope is Scope.INPUT:
            self._activate(scope)
            self.show()
            # Focus at once instead of by message: keys that were already typed belong to the new pane.
            self.screen.set_focus(self.get_scope_widget(scope), scroll_visible=False)

    def show_event(self, event: ConversationEvent) -> None:
        """Show the conversation when it continues, and where to type when another one starts."""
        match event:
            case QuestionAsked() | ConversationStarted():
                self.show_chat()
            case QuestionAnswered():
                self.show()
            case _:
                pass
        if isinstance(event, ConversationStarted):
            self.focus_scope(Scope.INPUT)

    def show_chat(self) -> None:
        """Show the conversation without moving the focus."""
        self.main = Scope.CHAT
        self.show()

    def show_reader(self) -> None:
        """Show the reader. Focus it only if it hides the widget with the focus."""
        scope = self.scope
        self._remember_return(scope)
        if {scope, Scope.READER} <= choose_panes(self._columns, active=self.active, main=Scope.READER):
            self.main = Scope.READER
            self.show()
        elif Scope.READER not in self.shown:
            self.focus_scope(Scope.READER)

    def show_place(self, place: str | SectionTarget) -> None:
        """Show an anchor of the document, or a section or quote, in the reader."""
        if isinstance(place, str):
            self._reader.reader.show_anchor(place)
        else:
            self._reader.reader.open_target(place)
        self.focus_scope(Scope.READER)

    @on(ReadingPositionChanged)
    def _move_cursor(self, event: ReadingPositionChanged) -> None:
        if not self._tree.outline.has_focus:
            self._tree.outline.move_to(event.section_id)

    def _remember_return(self, scope: Scope) -> None:
        if scope not in (Scope.READER, Scope.GLOBAL):
            self._return_scope = scope

    def step_out(self) -> None:
        """Go one step back: end a search or selection, otherwise leave the pane.

        When the person leaves the reader, the conversation replaces it.
        """
        reader = self._reader.reader
        match self.active:
            case Scope.TREE if not reader.end_search():
                self.focus_scope(Scope.INPUT)
            case Scope.READER if not (reader.end_selection() or reader.end_search()):
                if self._is_focus_mode:
                    self.toggle_focus_mode()
                else:
                    self.main = Scope.CHAT
                    self.focus_scope(self._return_scope)
            case Scope.CHAT if not self._log_view.clear_selection():
                self.focus_scope(Scope.TREE)
            case _:
                pass

    def _get_adjacent(self, direction: int) -> Scope:
        """Return where the next (1) or previous (-1) step of the tab key leads, wrapping around."""
        is_log_empty = self._log_view.current is None and not self._log_view.has_targets
        skipped = {Scope.CHAT: is_log_empty, Scope.READER: self._reader.section_id is None}
        order = (Scope.TREE, Scope.CHAT, Scope.INPUT, Scope.READER)
        stops = [scope for scope in order if not skipped.get(scope)]
        current = stops.index(self.scope) if self.scope in stops else -direction
        return stops[(current + direction) % len(stops)]

    def focus_adjacent(self, direction: int) -> None:
        """Focus the next (1) or previous (-1) widget in the order of the tab key."""
        self.focus_scope(self._get_adjacent(direction))

    def show(self) -> None:
        """Show the panes that fit, each with the key that goes there. In two of them, digits do something else."""
        shown, focus_scope = self.shown, self.scope
        keys = {scope: self._keys.format_first_key(f"global.go_{scope}") for scope in PANES}
        if focus_scope in (Scope.INPUT, Scope.CHAT):
            steps = {-1: "global.previous_pane", 1: "global.next_pane"}
            keys = {self._get_adjacent(step): self._keys.format_first_key(key) for step, key in steps.items()}
        for scope, pane in self._panes.items():
            hides_others = scope is not Scope.TREE or len(shown) == 1
            tabs = [tab for tab in PANES if tab is scope or (tab not in shown and hides_others)]
            pane.display = scope in shown
            pane.title_line.tabs = tuple((tab, keys.get(tab, "")) for tab in tabs)
            pane.title_line.is_active = scope is focus_scope
        self._right.display = bool(shown & {Scope.CHAT, Scope.READER})
        self._tree.set_class(len(shown) == 1, "-alone")
        self._reader.styles.padding = (0, max(0, self._columns - _FOCUS_MODE_WIDTH) // 2 if self._is_focus_mode else 0)
        self._questions.display = not self._is_focus_mode
