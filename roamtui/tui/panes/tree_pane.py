"""The outline with its title filter, and what a person's keys do there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical
from textual.widgets import Input
from typing_extensions import override

from roamtui.tui.actions import Scope
from roamtui.tui.commands import (
    AskAboutWanted,
    CommandWanted,
    MakeCommand,
    close_agent_sections,
    close_section,
    fold_subtree,
    open_section,
    toggle_fold,
    toggle_pin,
    undo_batch,
    unfold,
    unfold_ancestors,
    unfold_subtree,
)
from roamtui.tui.layout import Pane
from roamtui.tui.panes.field_line import FieldLine
from roamtui.tui.panes.pane_title import PaneTitle
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from roamtui.conversation.state import ConversationState
    from roamtui.tui.keys import Keys


class KeylessTree(OutlineTree, inherit_bindings=False):
    """The outline without the keys of a scroll view: its pane has them all."""


class TreePane(Vertical):
    """Shows the outline; keys become commands or movements of the cursor."""

    DEFAULT_CSS = """
    TreePane {
        background: $surface;
        & OutlineTree { height: 1fr; padding-left: 1; }
    }
    """

    def __init__(self, state: ConversationState, keys: Keys) -> None:
        super().__init__(id="tree-pane")
        self._bindings = keys.bindings(Scope.TREE)
        self._state = state
        self._wanted_id: str | None = None
        self.title_line = PaneTitle(Pane.TREE)
        """Its first line."""
        self.outline = KeylessTree(state, id="tree")
        self._filter = FieldLine("filter")

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.outline
        yield self._filter

    def on_mount(self) -> None:
        """Say how many sections there are."""
        self._show_note()

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation."""
        self._state = state
        self.outline.show(state)
        self._go_to_wanted()
        self._show_note()

    def show_batch(self, section_ids: tuple[str, ...]) -> None:
        """Mark what was just opened and scroll the last of it into view; the cursor stays where it is."""
        self.outline.highlight(section_ids)
        self.outline.reveal(section_ids[-1])

    def go_to(self, section_id: str) -> None:
        """Put the cursor on a section; where it is folded away, unfold what is above it first."""
        self.end_filter()
        self._wanted_id = section_id
        self._send(unfold_ancestors(section_id))
        self._go_to_wanted()

    def _go_to_wanted(self) -> None:
        wanted = self._wanted_id
        if wanted is None or wanted not in self._state.library:
            return
        if all(node_id in self._state.unfolded for node_id in self._state.library.ancestors(wanted)):
            self._wanted_id = None
            self.outline.move_to(wanted)

    def end_filter(self) -> bool:
        """Show all titles again; return whether some were hidden."""
        if not self._filter.is_open:
            return False
        had_focus = self._filter.is_focused
        self._filter.close()
        self.outline.filter_titles("")
        self._show_note()
        if had_focus:
            self.screen.set_focus(self.outline)
        return True

    def _show_note(self, matches: int | None = None) -> None:
        if matches is not None:
            self.title_line.show_note("1 match" if matches == 1 else f"{matches} matches")
            return
        count = len(self._state.library)
        self.title_line.show_note("1 section" if count == 1 else f"{count:,} sections")

    def _send(self, make: MakeCommand) -> None:
        self.post_message(CommandWanted(make))

    @on(Input.Changed)
    def _filter_titles(self, event: Input.Changed) -> None:
        event.stop()
        if self._filter.is_open:
            matches = self.outline.filter_titles(event.value)
            self._show_note(matches if event.value.strip() else None)

    @on(Input.Submitted)
    def _keep_filter(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.screen.set_focus(self.outline)
        else:
            self.end_filter()

    @on(OutlineTree.FoldToggled)
    def _toggle_fold(self, event: OutlineTree.FoldToggled) -> None:
        event.stop()
        self._send(toggle_fold(event.section_id))

    @on(OutlineTree.NodesRevealWanted)
    def _unfold_wanted(self, event: OutlineTree.NodesRevealWanted) -> None:
        event.stop()
        self._send(unfold(*event.section_ids))

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_focus(self) -> None:
        self.title_line.refresh()

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
            self._send(close_section(self.outline.cursor_id))

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
        self._send(close_agent_sections)

    def action_undo(self) -> None:
        """Take back the model's last batch."""
        self._send(undo_batch)

    def action_last_opened(self) -> None:
        """Go to the section that was opened last."""
        if self._state.open:
            self.go_to(self._state.open[-1].section_id)

    def action_next_open(self) -> None:
        """Go to the next open section."""
        self.outline.next_open(1)

    def action_previous_open(self) -> None:
        """Go to the previous open section."""
        self.outline.next_open(-1)

    def action_filter(self) -> None:
        """Filter the titles."""
        self._filter.open()
