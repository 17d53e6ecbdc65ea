"""`PaneSwitcher`: shows the panes that fit, and moves the focus between them."""

from collections.abc import Container, Sequence

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from roamtui.conversation.events import (
    ConversationEvent,
    ConversationStarted,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionReceived,
)
from roamtui.text import Span
from roamtui.tui.actions import PANES, Keymap, Scope
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.question_area import QuestionArea
from roamtui.tui.messages import ReadingPositionChanged, ReturnRequested, SectionTarget
from roamtui.tui.panes.titled_panes import ReaderPane, TitledPane, TreePane

# Widths are in cells.
_TWO_PANES_COLUMNS = 64
"""Minimum width of the terminal for two panes."""
_THREE_PANES_COLUMNS = 150
_TAB_ORDER = (Scope.TREE, Scope.CHAT, Scope.INPUT, Scope.READER)
"""The order in which the tab key goes through panes and question box."""


def choose_panes(columns: int, *, active: Scope, beside_outline: Scope) -> frozenset[Scope]:
    """Return the panes to show on a screen that is `columns` cells wide.

    `active` is the pane with the focus, or the chat if the question box has it. `beside_outline`
    is the pane next to the outline if there is room for one: chat or reader.
    """
    if columns >= _THREE_PANES_COLUMNS:
        return frozenset(PANES)
    if columns >= _TWO_PANES_COLUMNS:
        return frozenset({Scope.TREE, beside_outline})
    return frozenset({Scope.TREE if active is Scope.TREE else beside_outline})


def list_tabs(pane: Scope, shown: frozenset[Scope]) -> list[Scope]:
    """List a pane and the panes that it hides, in order. The outline hides others only if it is alone."""
    hides_others = pane is not Scope.TREE or len(shown) == 1
    return [tab for tab in PANES if tab is pane or (hides_others and tab not in shown)]


def get_adjacent(scope: Scope, direction: int, empty: Container[Scope]) -> Scope:
    """Return where the next (1) or previous (-1) step of the tab key leads, without `empty` panes."""
    stops = [stop for stop in _TAB_ORDER if stop not in empty]
    current = stops.index(scope) if scope in stops else -direction
    return stops[(current + direction) % len(stops)]


class PaneSwitcher(Horizontal):
    """The container of the panes and the question box."""

    def __init__(
        self, tree: TreePane, log: ChatLog, reader: ReaderPane, questions: QuestionArea, keys: Keymap
    ) -> None:
        chat = TitledPane(Scope.CHAT, log.question_line, log)
        self._right = Vertical(Horizontal(chat, reader), questions)
        super().__init__(tree, self._right)
        self._tree = tree
        self._log_view = log
        self._reader = reader
        self._questions = questions
        self._panes: dict[Scope, TitledPane] = {Scope.TREE: tree, Scope.CHAT: chat, Scope.READER: reader}
        self._keys = keys
        self.active = Scope.CHAT
        """The pane with the focus, or the chat if the question box has it."""
        self.beside_outline = Scope.CHAT
        """The pane next to the outline if there is room for one."""
        self._before_reader: Scope | None = Scope.TREE
        """Where the focus was before the reader: a pane or the question box, or None for another page."""
        self._before_box: Scope | None = None
        """The pane that had the focus before the question box, or None if none had it yet."""

    @property
    def fitting(self) -> frozenset[Scope]:
        """The panes that have room."""
        return choose_panes(self.app.size.width, active=self.active, beside_outline=self.beside_outline)

    @property
    def shown(self) -> frozenset[Scope]:
        """The visible panes: those that have room, without a reader beside the others that is empty."""
        is_empty = self._reader.section_id is None and self.beside_outline is not Scope.READER
        return self.fitting - {Scope.READER} if is_empty else self.fitting

    @property
    def scope(self) -> Scope:
        """The scope whose keys apply: that of the focused widget."""
        focused = self.screen.focused
        if focused is self._questions.box:
            return Scope.INPUT
        ancestors = focused.ancestors_with_self if focused is not None else []
        return next((scope for scope, pane in self._panes.items() if pane in ancestors), Scope.GLOBAL)

    @property
    def selected_place(self) -> tuple[str | None, Span | None]:
        """The current section of the focused pane, and the span selected, cited or highlighted in it."""
        match self.scope:
            case Scope.READER:
                return self._reader.ensure_reader().selected_place
            case Scope.CHAT:
                return self._log_view.selected_place
            case _:
                return self._tree.outline.cursor_id, None

    def explain_signs(self) -> Sequence[tuple[str, str]]:
        """Return the signs of the outline's selected line, or of the selected source, with their meanings."""
        log = self._log_view
        view = log.target_selection.get_exchange()
        target = log.target_selection.target
        if self.scope is Scope.TREE:
            return self._tree.outline.explain_signs()
        is_source = self.scope is Scope.CHAT and view is not None and view.outcome.passages is None
        citation = target.citation if is_source and isinstance(target, SectionTarget) else None
        return [(citation.state.sign, citation.label)] if citation is not None and citation.state.sign else ()

    def get_scope_widget(self, scope: Scope) -> Widget:
        """Return the widget that runs a scope's actions. Scopes without a widget belong to the screen."""
        match scope:
            case Scope.TREE:
                return self._tree.outline
            case Scope.CHAT:
                return self._log_view
            case Scope.READER:
                return self._reader.ensure_reader()
            case Scope.INPUT:
                return self._questions.box
            case _:
                return self.screen

    def focus_scope(self, scope: Scope) -> None:
        """Focus a pane or the question box. An empty reader first shows the section under the cursor."""
        if scope is Scope.READER and self._reader.section_id is None:
            self._tree.outline.action_read()
        if scope in PANES or scope is Scope.INPUT:
            self._activate(scope)
            # Focus at once instead of by message: keys that were already typed belong to the new pane.
            self.screen.set_focus(self.get_scope_widget(scope), scroll_visible=False)

    @on(events.DescendantFocus)
    def _follow_focus(self) -> None:
        self._activate(self.scope)

    @on(events.Click)
    def _focus_box(self) -> None:
        """A click on an empty conversation focuses the question box, because there is nothing to select."""
        if self.scope is Scope.CHAT and self._log_view.current is None:
            self.focus_scope(Scope.INPUT)

    def _activate(self, scope: Scope) -> None:
        """Make a pane active. For the question box this is the chat, but the pane above the box stays."""
        self.active = scope if scope in PANES else Scope.CHAT
        if scope in (Scope.CHAT, Scope.READER):
            self.beside_outline = scope
        if scope not in (Scope.READER, Scope.GLOBAL):
            self._before_reader = scope
        if scope in PANES:
            self._before_box = scope
        self.show()

    def focus_adjacent(self, direction: int) -> None:
        """Focus the next (1) or previous (-1) widget in the order of the tab key."""
        self.focus_scope(get_adjacent(self.scope, direction, self._list_empty()))

    def _list_empty(self) -> set[Scope]:
        filled = {Scope.CHAT: self._log_view.is_selectable, Scope.READER: self._reader.section_id is not None}
        return {scope for scope, is_filled in filled.items() if not is_filled}

    def step_out(self) -> None:
        """Go one step back: end a selection, choice of links or search, or go where the focus was before.

        When the person leaves the reader, the conversation replaces it.
        """
        reader = self._reader.existing
        match self.scope:
            case Scope.INPUT:
                before = self._before_box
                if before is None or (before is Scope.READER and before not in self.shown):
                    before = Scope.CHAT
                if before not in self._list_empty():  # else letters typed next would be keys of the outline
                    self.focus_scope(before)
            case Scope.READER:
                if reader is not None and (
                    reader.end_selection() or reader.end_hints() or reader.end_search()
                ):
                    return
                self.beside_outline = Scope.CHAT
                if self._before_reader is None:
                    self._before_reader = Scope.CHAT
                    self.post_message(ReturnRequested())
                else:
                    self.focus_scope(self._before_reader)
            case scope:
                if scope is Scope.TREE and reader is not None and reader.end_search():
                    return
                if scope is Scope.CHAT:
                    self._log_view.target_selection.clear()
                self.focus_scope(Scope.INPUT)

    def scroll_page(self, direction: int) -> None:
        """Scroll the pane above the question box by a page."""
        (self._log_view if Scope.CHAT in self.shown else self._reader.ensure_reader()).action_page(direction)

    def handle_event(self, event: ConversationEvent) -> None:
        """Show the chat for a question, and in the reader what was loaded or, after a switch, last read."""
        match event:
            # the focus stays, and so does a reader that has it
            case QuestionReceived() | QuestionAsked() if self.scope is not Scope.READER:
                self.beside_outline = Scope.CHAT
                self.show()
            case QuestionAnswered():
                self.show()
            case ConversationStarted():
                self._reader.ensure_reader().show_last_read()
                self._before_box = None
                self.beside_outline = Scope.CHAT
                self.focus_scope(Scope.INPUT)
            case NodesLoaded(section_ids=ids) if (section_id := self._reader.section_id) in ids:
                self._reader.ensure_reader().open(section_id, is_visit=False)
            case _:
                pass

    def show_reader(self) -> None:
        """Show the reader. Focus it only if it hides the widget with the focus."""
        shown = choose_panes(self.app.size.width, active=self.active, beside_outline=Scope.READER)
        if {self.scope, Scope.READER} <= shown:
            self.beside_outline = Scope.READER
            self.show()
        elif Scope.READER not in self.shown:
            self.focus_scope(Scope.READER)

    def show_place(self, place: str | SectionTarget, *, can_return: bool) -> None:
        """Show an anchor of the document, or a section or quote, in the reader.

        With `can_return`, the person came from another document or a table, and `esc` leads back there.
        """
        if isinstance(place, str):
            self._reader.ensure_reader().show_anchor(place)
        else:
            self._reader.ensure_reader().open_target(place)
        self.focus_scope(Scope.READER)
        if can_return:
            self._before_reader = None

    @on(ReadingPositionChanged)
    def _move_cursor(self, event: ReadingPositionChanged) -> None:
        if not self._tree.outline.has_focus:
            self._tree.outline.move_to(event.section_id)

    @on(events.Resize)
    def show(self) -> None:
        """Show the panes that fit. Their titles name the key that goes there in one step."""
        shown = self.shown
        focus_scope = self.scope
        empty = self._list_empty()
        keys = {}
        for step, action_id in ((-1, "global.previous_pane"), (1, "global.next_pane")):
            keys[get_adjacent(focus_scope, step, empty)] = self._keys.first_keys[action_id]
        for scope, pane in self._panes.items():
            pane.display = scope in shown
            pane.title_line.tabs = tuple((tab, keys.get(tab, "")) for tab in list_tabs(scope, shown))
            pane.title_line.is_active = scope is focus_scope
        self._right.display = shown != {Scope.TREE}
        self._tree.set_class(len(shown) == 1, "-alone")
