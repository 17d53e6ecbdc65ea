"""Which panes show, and where the focus goes when a person changes between them."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from typing_extensions import override

from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.panes.chat_pane import ChatPane
from roamtui.tui.panes.pane import Pane, PaneTitle, choose_panes
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.question_box import QuestionBox
from roamtui.tui.status_line import StatusLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    """What of the main screen its parts work on."""

    tree: TreePane
    chat: ChatPane
    reader: ReaderPane
    box: QuestionBox
    status: StatusLine


_TREE_COLUMNS_MIN = 16
_RIGHT_COLUMNS_MIN = 30
"""What stays of the screen for the panes beside the outline."""


class PaneSwitch(Horizontal):
    """Holds the panes, shows those that the width allows, and moves the focus over what a person can reach."""

    DEFAULT_CSS = """
    PaneSwitch {
        height: 1fr;
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
            border-title-color: $accent;
            background: $background;
            &:focus-within { border: round $primary; }
        }
        & #prompt { width: 2; height: 1; color: $secondary; text-style: bold; }
    }
    """

    def __init__(self, panes: Panes) -> None:
        super().__init__(id="body")
        self._tree = panes.tree
        self._chat = panes.chat
        self._reader = panes.reader
        self._box = panes.box
        self._right = Vertical(id="right")
        self._columns = 0
        self._tree_columns: int | None = None
        """How wide the person made the outline."""
        self.active = Pane.CHAT
        """Where the person is."""
        self.main = Pane.CHAT
        """What stands beside the outline where there is room for one."""
        self._before_reader: Widget = panes.tree.outline

    @override
    def compose(self) -> ComposeResult:
        yield self._tree
        with self._right:
            with Horizontal(id="upper"):
                yield self._chat
                yield self._reader
            with Container(id="ask"), Horizontal(id="ask-frame"):
                yield Static(Content("❯"), id="prompt")
                yield self._box

    @property
    def shown(self) -> frozenset[Pane]:
        """The panes on the screen."""
        return choose_panes(self._columns, active=self.active, main=self.main)

    def on_resize(self, event: events.Resize) -> None:
        """Show what fits into a new width."""
        self._columns = event.size.width
        self._show()

    @on(events.DescendantFocus)
    def _follow_focus(self, event: events.DescendantFocus) -> None:
        """Follow the focus to the pane where it is now."""
        focused = event.widget
        pane = self._pane_of(focused)
        if pane is not None:
            self.active = pane
            if pane is not Pane.TREE:
                self.main = pane
        elif focused is self._box:
            self.active = Pane.CHAT
        self._show()
        for one in (self._tree, self._chat, self._reader):
            one.title_line.refresh()

    def _pane_of(self, widget: Widget) -> Pane | None:
        """Return the pane that a widget is in, None for the question box, which is in none."""
        panes = {Pane.TREE: self._tree, Pane.READER: self._reader, Pane.CHAT: self._chat}
        return next((pane for pane, one in panes.items() if one in widget.ancestors_with_self), None)

    @on(PaneTitle.PaneChosen)
    def _go_to_pane(self, event: PaneTitle.PaneChosen) -> None:
        event.stop()
        match event.pane:
            case Pane.TREE:
                self.go_tree()
            case Pane.CHAT:
                self.go_chat()
            case Pane.READER:
                self.read_or_go(came_from=self.screen.focused)

    @on(TreePane.Widened)
    def _widen_tree(self, event: TreePane.Widened) -> None:
        event.stop()
        self._tree_columns = self._tree.region.width + event.columns
        self._show()

    @on(QuestionBox.PageWanted)
    def _scroll_page(self, event: QuestionBox.PageWanted) -> None:
        event.stop()
        above = self._chat.log_view if Pane.CHAT in self.shown else self._reader
        if event.direction > 0:
            above.action_page_down()
        else:
            above.action_page_up()

    def go_tree(self) -> None:
        """Go to the outline."""
        self._go(Pane.TREE, self._tree.outline)

    def go_box(self) -> None:
        """Go to the question box; what stands above it stays."""
        self._go(Pane.CHAT, self._box)

    def go_chat(self) -> None:
        """Go to the question box, the conversation above it."""
        self.show_chat()
        self.go_box()

    def go_log(self) -> None:
        """Go to the conversation itself."""
        self.main = Pane.CHAT
        self._go(Pane.CHAT, self._chat.log_view)

    def show_chat(self) -> None:
        """Bring the conversation into view, the focus unchanged."""
        self.main = Pane.CHAT
        self._show()

    def go_reader(self, *, came_from: Widget | None = None) -> None:
        """Go to the reader and remember the way back."""
        self._note_way_back(came_from)
        self.main = Pane.READER
        self._go(Pane.READER, self._reader.reader)

    def read_or_go(self, *, came_from: Widget | None) -> None:
        """Go to the reader; where it is empty, read the section under the cursor of the outline."""
        if self._reader.section_id is None:
            self._tree.action_read()
        self.go_reader(came_from=came_from)

    def show_reader(self, *, came_from: Widget | None) -> None:
        """Bring the reader into view; go there only where it hides what the person came from."""
        if Pane.READER in self.shown:
            self._note_way_back(came_from)
            return
        pane = None if came_from is None else self._pane_of(came_from)
        beside = choose_panes(self._columns, active=self.active, main=Pane.READER)
        if {pane, Pane.READER} <= beside:
            self._note_way_back(came_from)
            self.main = Pane.READER
            self._show()
        else:
            self.go_reader(came_from=came_from)

    def _note_way_back(self, came_from: Widget | None) -> None:
        if came_from is not None and self._reader not in came_from.ancestors_with_self:
            self._before_reader = came_from

    def show_reader_beside(self) -> None:
        """Bring the reader into view beside the outline, the focus unchanged; where one pane fits it stays hidden."""
        if self.active is Pane.TREE:
            self._before_reader = self._tree.outline
        self.main = Pane.READER
        self._show()

    def leave_reader(self) -> None:
        """Go back to where the reader was called from; the conversation takes its place again."""
        self.main = Pane.CHAT
        back = self._before_reader
        if self._tree in back.ancestors_with_self:
            self.go_tree()
        elif isinstance(back, ChatLog):
            self.go_log()
        else:
            self.go_box()

    def step_out(self, focused: Widget | None) -> None:
        """Leave what the focus is in, one step."""
        match self.active:
            case Pane.TREE:
                if not self._reader.end_search():
                    self.go_box()
            case Pane.READER:
                if not self._reader.end_search():
                    self.leave_reader()
            case Pane.CHAT:
                if focused is self._box or not self._chat.log_view.clear_selection():
                    self.go_tree()

    def step(self, direction: int, focused: Widget | None) -> None:
        """Go to the next (1) or previous (-1) place that can have the focus."""
        stops: list[Widget] = [self._tree.outline]
        if self._chat.log_view.has_targets:
            stops.append(self._chat.log_view)
        stops.append(self._box)
        if self._reader.section_id is not None:
            stops.append(self._reader.reader)
        here = next(
            (i for i, stop in enumerate(stops) if focused is not None and _is_within(focused, stop)), 0 - direction
        )
        target = stops[(here + direction) % len(stops)]
        if target is self._tree.outline:
            self.go_tree()
        elif target is self._box:
            self.go_box()
        elif target is self._reader.reader:
            self.go_reader()
        else:
            self.go_log()

    def _go(self, pane: Pane, widget: Widget) -> None:
        self.active = pane
        self._show()
        # At once, not when the app comes to it: keys that were typed already belong to the new pane.
        widget.screen.set_focus(widget, scroll_visible=False)

    def _show(self) -> None:
        visible = self.shown
        self._tree.display = Pane.TREE in visible
        self._chat.display = Pane.CHAT in visible
        self._reader.display = Pane.READER in visible
        self._right.display = bool(visible & {Pane.CHAT, Pane.READER})
        self._tree.set_class(len(visible) == 1, "-alone")
        hidden = frozenset(Pane) - visible
        beside_tree = Pane.TREE in visible and len(visible) > 1
        width = self._tree_columns if beside_tree else None
        if width is not None:
            width = self._tree_columns = max(_TREE_COLUMNS_MIN, min(width, self._columns - _RIGHT_COLUMNS_MIN))
        styles = self._tree.styles
        styles.width = styles.min_width = styles.max_width = width
        self._tree.title_line.show_hidden(frozenset() if beside_tree else hidden)
        self._chat.title_line.show_hidden(hidden)
        self._reader.title_line.show_hidden(hidden)


def _is_within(widget: Widget, stop: Widget) -> bool:
    """Return whether a widget is a stop, or a line that belongs to it such as its search."""
    return widget is stop or (stop.parent is not None and stop.parent is widget.parent)
