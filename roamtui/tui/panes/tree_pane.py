"""The outline's pane and its actions."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.tui.actions import Scope, make_bindings
from roamtui.tui.labels import format_ancestors, format_library_size
from roamtui.tui.messages import CommandRequested, StatusMessage, make_unfold_command
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.tree.outline_tree import OutlineTree

_NOTHING_OPEN = "No open sections"


class TreePane(Vertical):
    """The outline. Keys post messages or move the cursor."""

    BINDINGS = make_bindings(Scope.TREE, Scope.SECTION, Scope.MOVE)

    @dataclass
    class ResizeRequested(Message):
        """The person dragged the edge of the outline by `columns` to the right, or to the left if negative."""

        columns: int

    def __init__(self, state: ConversationState) -> None:
        super().__init__(id="tree-pane")
        self._state = state
        self.outline = OutlineTree(state, id="tree")
        """The tree widget."""
        self._pending_id: str | None = None
        self._is_edge_dragged = False
        self.title_line = PaneTitle(Pane.TREE)
        """Shows the path above the node under the cursor, or else the size of the document."""

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.outline

    def on_mount(self) -> None:
        self._show_note()

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation."""
        self._state = state
        self.outline.show(state)
        self._go_to_pending()
        self._show_note()

    def reveal_cited(self) -> None:
        """Scroll the first section that the last answer cites into view without moving the cursor."""
        for section_id in self._list_cited_ids()[:1]:
            self.outline.reveal(section_id)

    def go_to(self, section_id: str) -> None:
        """Move the cursor to a section, after unfolding its ancestors if it is hidden."""
        self._pending_id = section_id
        if section_id in self._state.library:
            ancestors = self._state.library.ancestors(section_id)
            self.post_message(CommandRequested(lambda state: make_unfold_command(state, *ancestors)))
        self._go_to_pending()

    def _go_to_pending(self) -> None:
        """Move the cursor to the requested section, once its ancestors are unfolded."""
        section_id, library = self._pending_id, self._state.library
        if section_id is None or section_id not in library:
            return
        if all(ancestor_id in self._state.unfolded for ancestor_id in library.ancestors(section_id)):
            self._pending_id = None
            self.outline.move_to(section_id)

    @on(OutlineTree.CursorMoved)
    def _show_note(self) -> None:
        ancestors = format_ancestors(self._state.library, self.outline.cursor_id)
        self.title_line.show_note(*((ancestors,) if ancestors else format_library_size(self._state.library)))

    def action_go_to_cited(self) -> None:
        """Go to the next section that the last answer cites, or else to the section opened last."""
        ids = self._list_cited_ids() or tuple(section.section_id for section in self._state.open_sections[-1:])
        if ids:
            next_index = ids.index(self.outline.cursor_id) + 1 if self.outline.cursor_id in ids else 0
            self.go_to(ids[next_index % len(ids)])
        else:
            self.post_message(StatusMessage(_NOTHING_OPEN))

    def _list_cited_ids(self) -> tuple[str, ...]:
        """List the sections that the last answer cites, in the order of its citations."""
        citations = self._state.transcript.exchanges[-1].citations if self._state.transcript.exchanges else ()
        ids = dict.fromkeys(citation.section_id for citation in citations)
        return tuple(section_id for section_id in ids if section_id in self._state.library)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._is_edge_dragged = event.screen_x == self.region.right - 1 and not self.has_class("-alone")
        self.capture_mouse(self._is_edge_dragged)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._is_edge_dragged and (columns := event.screen_x - self.region.right + 1):
            self.post_message(self.ResizeRequested(columns))

    def on_mouse_up(self) -> None:
        self._is_edge_dragged = False
        self.release_mouse()

    def action_move(self, lines: int) -> None:
        self.outline.move_cursor(lines)
        self._show_note()  # now, so that it is painted with the cursor instead of after the cursor's message

    def action_page(self, pages: int) -> None:
        self.outline.move_page(pages)
        self._show_note()

    def action_first(self) -> None:
        self.outline.move_to_line(0)

    def action_last(self) -> None:
        self.outline.move_to_line(len(self.outline.lines) - 1)

    def action_move_sideways(self, direction: int) -> None:
        """Unfold the section or go to its first child (1); fold it or go to its parent (-1)."""
        if direction > 0:
            self.outline.go_child()
            return
        section_id = self.outline.cursor_id
        library = self._state.library
        if section_id in self._state.unfolded and section_id in library and library.children(section_id):
            self.action_fold()
        else:
            self.outline.go_parent()

    def action_fold(self) -> None:
        if self.outline.cursor_id:
            self.post_message(OutlineTree.FoldToggled(self.outline.cursor_id))

    def action_read(self) -> None:
        if self.outline.cursor_id:
            self.post_message(OutlineTree.NodeActivated(self.outline.cursor_id))
