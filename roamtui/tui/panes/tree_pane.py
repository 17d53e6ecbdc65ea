"""The outline, and what a person's keys do there."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.tui.actions import Scope
from roamtui.tui.commands import (
    NOTHING_OPEN,
    AskAboutWanted,
    CommandWanted,
    FindWanted,
    KeepWanted,
    Kind,
    MakeCommand,
    MatchWanted,
    NothingDone,
    Otherwise,
    close_agent_sections,
    close_section,
    explain_not_closed,
    fold_subtree,
    open_section,
    redo_deed,
    toggle_fold,
    toggle_pin,
    undo_deed,
    unfold_ancestors,
    unfold_subtree,
)
from roamtui.tui.keys import bind
from roamtui.tui.node_names import describe_size, name_above
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.tree.outline_tree import OutlineTree

_COLUMNS_STEP = 4


class TreePane(Vertical):
    """Shows the outline; keys become commands or movements of the cursor."""

    BINDINGS = bind(Scope.TREE)
    DEFAULT_CSS = """
    TreePane {
        background: $surface;
        & OutlineTree { height: 1fr; padding-left: 1; scrollbar-gutter: stable; }
    }
    """

    class Grown(Message):
        """Files or pages were read; their sections stand below these nodes now."""

        def __init__(self, section_ids: tuple[str, ...]) -> None:
            super().__init__()
            self.section_ids = section_ids

    class Widened(Message):
        """A person wants it wider by some columns, narrower by a negative number."""

        def __init__(self, columns: int) -> None:
            super().__init__()
            self.columns = columns

    class BatchShown(Message):
        """The model has opened a section, the last of a batch."""

        def __init__(self, section_id: str) -> None:
            super().__init__()
            self.section_id = section_id

    def __init__(self, state: ConversationState) -> None:
        super().__init__(id="tree-pane")
        self._state = state
        self.outline = OutlineTree(state, id="tree")
        """The lines themselves."""
        self._wanted_id: str | None = None
        self._is_dragged = False
        self.title_line = PaneTitle(Pane.TREE, unit="tok")
        """Its first line."""

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.outline

    def on_mount(self) -> None:
        """Say how many sections there are."""
        self._show_note()

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation."""
        self._state = state
        self.outline.show(state)
        self._go_to_wanted()
        self._show_note()

    def tell_growth(self, section_ids: tuple[str, ...]) -> None:
        """Tell the screen of nodes that were loaded."""
        self.post_message(self.Grown(section_ids))

    def show_batch(self, section_ids: tuple[str, ...]) -> None:
        """Mark what was just opened and scroll the last of it into view; the cursor stays where it is."""
        self.outline.mark(batch=section_ids)
        self.outline.reveal(section_ids[-1])
        self.post_message(self.BatchShown(section_ids[-1]))

    def reveal_cited(self) -> None:
        """Scroll the first section that the last answer cites into view; the cursor stays where it is."""
        for section_id in self._list_cited()[:1]:
            self.outline.reveal(section_id)

    def show_found(self, section_ids: tuple[str, ...]) -> None:
        """Mark what a search found, in place of what the one before found."""
        self.outline.mark(found=section_ids)

    def go_to(self, section_id: str) -> None:
        """Put the cursor on a section; where it is folded away, unfold what is above it first."""
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

    @on(OutlineTree.CursorMoved)
    def _show_note(self) -> None:
        place = name_above(self._state.library, self.outline.cursor_id)
        self.title_line.show_note(*((place,) if place else describe_size(self._state.library)))

    @on(OutlineTree.FoldToggled)
    def _toggle_fold(self, event: OutlineTree.FoldToggled) -> None:
        event.stop()
        self._send(toggle_fold(event.section_id))

    def action_last_opened(self) -> None:
        """Go to the next section that the last answer cites; without one to the section that was opened last."""
        ids = self._list_cited() or tuple(section.section_id for section in self._state.open[-1:])
        if ids:
            place = ids.index(self.outline.cursor_id) + 1 if self.outline.cursor_id in ids else 0
            self.go_to(ids[place % len(ids)])
        else:
            self.post_message(NothingDone(NOTHING_OPEN))

    def _list_cited(self) -> tuple[str, ...]:
        """Return the sections that the last answer cites, in its order."""
        citations = self._state.transcript.exchanges[-1].citations if self._state.transcript.exchanges else ()
        ids = dict.fromkeys(citation.section_id for citation in citations)
        return tuple(section_id for section_id in ids if section_id in self._state.library)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Let the edge be dragged."""
        self._is_dragged = event.screen_x == self.region.right - 1 and not self.has_class("-alone")
        self.capture_mouse(self._is_dragged)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Have the edge follow the mouse."""
        if self._is_dragged:
            self._widen(event.screen_x - self.region.right + 1)

    def on_mouse_up(self) -> None:
        """Leave the edge there."""
        self._is_dragged = False
        self.release_mouse()

    def _widen(self, columns: int) -> None:
        if columns and not self.has_class("-alone"):
            self.post_message(self.Widened(columns))

    def action_wider(self) -> None:
        """Make the outline wider."""
        self._widen(_COLUMNS_STEP)

    def action_narrower(self) -> None:
        """Make the outline narrower."""
        self._widen(-_COLUMNS_STEP)

    def action_filter(self) -> None:
        """Find titles."""
        self.post_message(FindWanted(Kind.TITLES))

    def action_search(self) -> None:
        """Find words in the text."""
        self.post_message(FindWanted(Kind.TEXT))

    def action_find(self) -> None:
        """Find titles, text and meaning."""
        self.post_message(FindWanted(Kind.ALL))

    def action_next_hit(self) -> None:
        """Go to the next match."""
        self.post_message(MatchWanted(1))

    def action_previous_hit(self) -> None:
        """Go to the previous match."""
        self.post_message(MatchWanted(-1))

    def _send(self, make: MakeCommand, *, otherwise: Otherwise = "") -> None:
        self.post_message(CommandWanted(make, otherwise=otherwise))

    def _move(self, move: Callable[[int], None], distance: int) -> None:
        """Move the cursor, and say at once where it is: what the message sets off later is painted once more."""
        move(distance)
        self._show_note()

    def action_cursor_down(self) -> None:
        """Move to the next line."""
        self._move(self.outline.move_cursor, 1)

    def action_cursor_up(self) -> None:
        """Move to the previous line."""
        self._move(self.outline.move_cursor, -1)

    @override
    def action_page_down(self) -> None:
        """Move down by a page."""
        self._move(self.outline.move_page, 1)

    @override
    def action_page_up(self) -> None:
        """Move up by a page."""
        self._move(self.outline.move_page, -1)

    def action_first(self) -> None:
        """Move to the first line."""
        self.outline.move_to_line(0)

    def action_last(self) -> None:
        """Move to the last line."""
        self.outline.move_to_line(len(self.outline.lines) - 1)

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
            section_id = self.outline.cursor_id
            self._send(close_section(section_id), otherwise=explain_not_closed(section_id))

    def action_pin(self) -> None:
        """Pin the section, or let go of it."""
        if self.outline.cursor_id:
            self._send(toggle_pin(self.outline.cursor_id))

    def action_ask(self) -> None:
        """Ask about the section alone."""
        if self.outline.cursor_id:
            self.post_message(AskAboutWanted(self.outline.cursor_id))

    def action_keep(self) -> None:
        """Keep the section."""
        if self.outline.cursor_id:
            self.post_message(KeepWanted(self.outline.cursor_id))

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
        """Take back what was last opened, closed or pinned."""
        self._send(undo_deed, otherwise="there is nothing to take back")

    def action_redo(self) -> None:
        """Do again what was taken back."""
        self._send(redo_deed, otherwise="nothing was taken back that could be done again")

    def action_next_open(self) -> None:
        """Go to the next open section."""
        self._go_open(1)

    def action_previous_open(self) -> None:
        """Go to the previous open section."""
        self._go_open(-1)

    def _go_open(self, direction: int) -> None:
        section_id = self.outline.find_open(direction)
        if section_id is None:
            self.post_message(NothingDone(NOTHING_OPEN))
        else:
            self.go_to(section_id)
