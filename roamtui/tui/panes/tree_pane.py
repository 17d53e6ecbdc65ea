"""`TreePane`: the outline with its title line."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.tui.labels import format_ancestors, format_library_size
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.tree.outline_tree import OutlineTree


class TreePane(Vertical):
    """The outline. Its title line has the path above the node under the cursor, or else the size of the document."""

    def __init__(self, state: ConversationState) -> None:
        super().__init__(id="tree-pane")
        self.outline = OutlineTree(state, id="tree")
        """The tree widget."""
        self.title_line = PaneTitle(Pane.TREE)

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.outline

    def on_mount(self) -> None:
        self._show_note()

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation."""
        self.outline.show(state)
        self._show_note()

    @on(OutlineTree.CursorMoved)
    def _show_note(self) -> None:
        library = self.outline.lines.library
        self.title_line.note = format_ancestors(library, self.outline.cursor_id) or format_library_size(library)
