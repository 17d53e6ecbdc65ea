"""What a person's keys do to the cursor of the outline and to the section under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from typing_extensions import override

from roamtui.tui.actions import Scope
from roamtui.tui.commands import (
    NOT_OPEN,
    NOTHING_OPEN,
    AskAboutWanted,
    CommandWanted,
    MakeCommand,
    NothingDone,
    close_agent_sections,
    close_section,
    fold_subtree,
    open_section,
    toggle_fold,
    toggle_pin,
    undo_batch,
    unfold_subtree,
)
from roamtui.tui.keys import bind
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState


class KeylessTree(OutlineTree, inherit_bindings=False):
    """The outline without the keys of a scroll view: its pane has them all."""


class OutlineKeys(Vertical):
    """Holds the outline; keys become commands or movements of its cursor."""

    BINDINGS = bind(Scope.TREE)

    def __init__(self, state: ConversationState, *, id: str) -> None:  # noqa: A002 (Textual's own name)
        super().__init__(id=id)
        self._state = state
        self.outline = KeylessTree(state, id="tree")
        """The lines themselves."""

    def _send(self, make: MakeCommand, *, otherwise: str = "") -> None:
        self.post_message(CommandWanted(make, otherwise=otherwise))

    def action_cursor_down(self) -> None:
        """Move to the next line."""
        self.outline.move_cursor(1)

    def action_cursor_up(self) -> None:
        """Move to the previous line."""
        self.outline.move_cursor(-1)

    @override
    def action_page_down(self) -> None:
        """Move down by a page."""
        self.outline.move_page(1)

    @override
    def action_page_up(self) -> None:
        """Move up by a page."""
        self.outline.move_page(-1)

    def action_first(self) -> None:
        """Move to the first line."""
        self.outline.go_first()

    def action_last(self) -> None:
        """Move to the last line."""
        self.outline.go_last()

    def action_into(self) -> None:
        """Unfold, or move to the first child."""
        self.outline.go_child()

    def action_out(self) -> None:
        """Fold, or move to the parent."""
        section_id = self.outline.cursor_id
        library = self._state.library
        if section_id in self._state.unfolded and section_id in library and library.children(section_id):
            self._send(toggle_fold(section_id))
        else:
            self.outline.go_parent()

    def action_fold(self) -> None:
        """Show or hide what is below."""
        if self.outline.cursor_id:
            self._send(toggle_fold(self.outline.cursor_id))

    def action_read(self) -> None:
        """Read the section."""
        if self.outline.cursor_id:
            self.post_message(OutlineTree.NodeActivated(self.outline.cursor_id))

    def action_open(self) -> None:
        """Open the section for the conversation."""
        if self.outline.cursor_id:
            self._send(open_section(self.outline.cursor_id))

    def action_close(self) -> None:
        """Close the section."""
        if self.outline.cursor_id:
            self._send(close_section(self.outline.cursor_id), otherwise=NOT_OPEN)

    def action_pin(self) -> None:
        """Pin the section, or let go of it."""
        if self.outline.cursor_id:
            self._send(toggle_pin(self.outline.cursor_id))

    def action_ask(self) -> None:
        """Ask about the section alone."""
        if self.outline.cursor_id:
            self.post_message(AskAboutWanted(self.outline.cursor_id))

    def action_unfold_all(self) -> None:
        """Unfold everything below."""
        if self.outline.cursor_id:
            self._send(unfold_subtree(self.outline.cursor_id))

    def action_fold_all(self) -> None:
        """Fold everything below."""
        if self.outline.cursor_id:
            self._send(fold_subtree(self.outline.cursor_id))

    def action_close_agent(self) -> None:
        """Close and fold what the model opened."""
        self._send(close_agent_sections, otherwise="the model has nothing open that could be closed")

    def action_undo(self) -> None:
        """Take back the model's last batch."""
        self._send(undo_batch, otherwise="the model opened nothing that could be taken back")

    def action_next_open(self) -> None:
        """Go to the next open section."""
        self._go_open(1)

    def action_previous_open(self) -> None:
        """Go to the previous open section."""
        self._go_open(-1)

    def _go_open(self, direction: int) -> None:
        if not self.outline.next_open(direction):
            self.post_message(NothingDone(NOTHING_OPEN))
