"""The outline with its title filter, and what a person's keys do there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.tui.actions import Scope
from roamtui.tui.commands import (
    NO_SEARCH,
    NOTHING_OPEN,
    AskAboutWanted,
    CommandWanted,
    MakeCommand,
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
    unfold,
    unfold_ancestors,
    unfold_subtree,
)
from roamtui.tui.keys import bind
from roamtui.tui.node_names import describe_size, name_above
from roamtui.tui.panes.field_line import FieldLine
from roamtui.tui.panes.pane import Pane, PaneTitle
from roamtui.tui.tree.outline_tree import OutlineTree
from roamtui.tui.tree.text_hits import HitWalk
from roamtui.tui.tree.title_filter import Steps, run_steps

_COLUMNS_STEP = 4
_FILTERING = "filtering"
"""Name of the workers that filter titles."""


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

    class HitChosen(Message):
        """A section with a match is to be shown beside the outline, its matches marked."""

        def __init__(self, section_id: str) -> None:
            super().__init__()
            self.section_id = section_id

    class SearchEnded(Message):
        """Nothing is searched for any more."""

    class Widened(Message):
        """A person wants it wider by some columns, narrower by a negative number."""

        def __init__(self, columns: int) -> None:
            super().__init__()
            self.columns = columns

    class FindWanted(Message):
        """A person wants to find sections by what they say."""

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
        self._filter = FieldLine("filter", enter="walk the matches")
        self._search = FieldLine("search", enter="first match")
        self._hits = HitWalk()

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.outline
        yield self._filter
        yield self._search

    def on_mount(self) -> None:
        """Say how many sections there are."""
        self._show_note()

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation."""
        has_changed = state.library is not self._state.library
        self._state = state
        self.outline.show(state)
        if has_changed and self._search.is_open:
            self._find(self._search.value)
        self._go_to_wanted()
        self._show_note()

    def tell_growth(self, section_ids: tuple[str, ...]) -> None:
        """Tell the screen of nodes that were loaded."""
        self.post_message(self.Grown(section_ids))

    def show_batch(self, section_ids: tuple[str, ...]) -> None:
        """Mark what was just opened and scroll the last of it into view; the cursor stays where it is."""
        self.outline.highlight(section_ids)
        self.outline.reveal(section_ids[-1])
        self.post_message(self.BatchShown(section_ids[-1]))

    def reveal_cited(self) -> None:
        """Scroll the first section that the last answer cites into view; the cursor stays where it is."""
        for section_id in self._list_cited()[:1]:
            self.outline.reveal(section_id)

    def show_found(self, section_ids: tuple[str, ...]) -> None:
        """Mark what a search found, in place of what the one before found."""
        self.outline.mark_found(section_ids)

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
        self.workers.cancel_group(self, _FILTERING)
        self._filter.close()
        self.outline.filter_titles("")
        self._show_note()
        if had_focus:
            self.screen.set_focus(self.outline)
        return True

    @property
    def text_pattern(self) -> str:
        """What is searched for in the text, empty for nothing."""
        return self._hits.pattern

    def end_search(self) -> bool:
        """Search the text no longer; return whether it was searched."""
        if not self._search.is_open:
            return False
        had_focus = self._search.is_focused
        self._search.close()
        self._hits = HitWalk()
        self._show_note()
        self.post_message(self.SearchEnded())
        if had_focus:
            self.screen.set_focus(self.outline)
        return True

    def _find(self, pattern: str, *, must_go: bool = False) -> None:
        """Search for a pattern where nobody waits for it, then go to the first match from the cursor on if wanted."""
        library = self._state.library

        async def find() -> None:
            hits = await asyncio.to_thread(self._hits.search, library, pattern)
            if self._search.is_open:
                self._hits = hits
                self.title_line.show_note(*hits.describe())
                if must_go:
                    self._go_to_hit(0)

        self.run_worker(find(), group="finding", exclusive=True, exit_on_error=False)

    def _go_to_hit(self, direction: int) -> None:
        section_id = self._hits.step(self.outline.lines.tree, self.outline.cursor_id, direction)
        if section_id is not None:
            self.title_line.show_note(*self._hits.describe())
            self.go_to(section_id)
            self.post_message(self.HitChosen(section_id))
        elif not self._search.is_open:
            self.post_message(NothingDone(NO_SEARCH))

    def _show_note(self, matches: int | None = None) -> None:
        if matches is not None:
            self.title_line.show_note("1 match" if matches == 1 else f"{matches:,} matches")
            return
        if self._search.is_open and self._search.value.strip():
            self.title_line.show_note(*self._hits.describe())
            return
        place = name_above(self._state.library, self.outline.cursor_id)
        self.title_line.show_note(*((place,) if place else describe_size(self._state.library)))

    @on(OutlineTree.CursorMoved)
    def _show_place(self) -> None:
        if not (self._filter.is_open or self._search.is_open):
            self._show_note()

    @on(Input.Changed)
    def _filter_titles(self, event: Input.Changed) -> None:
        event.stop()
        if self._search.owns(event.input):
            if self._search.is_open:
                self._find(event.value)
        elif self._filter.is_open:
            self.run_worker(self._narrow(event.value), group=_FILTERING, exclusive=True, exit_on_error=False)

    async def _narrow(self, pattern: str) -> None:
        """Filter titles; a next letter leaves this one where it is, and keys are taken between slices of work."""
        for _ in self._narrow_in_steps(pattern):
            await asyncio.sleep(0)

    def _narrow_in_steps(self, pattern: str) -> Steps[None]:
        if self.outline.filter_pattern != pattern:
            matches = yield from self.outline.filter_in_steps(pattern)
            self._show_note(matches if pattern.strip() else None)

    @on(Input.Submitted)
    def _keep_filter(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip():
            self.end_fields()
            return
        self.screen.set_focus(self.outline)
        if self._search.owns(event.input):
            self._find(event.value, must_go=True)
        else:
            self.workers.cancel_group(self, _FILTERING)
            run_steps(self._narrow_in_steps(event.value))
            self.outline.accept_filter()

    def end_fields(self) -> bool:
        """Close filter and search; return whether there was one."""
        return self.end_filter() or self.end_search()

    @on(OutlineTree.FoldToggled)
    def _toggle_fold(self, event: OutlineTree.FoldToggled) -> None:
        event.stop()
        self._send(toggle_fold(event.section_id))

    @on(OutlineTree.NodesRevealWanted)
    def _unfold_wanted(self, event: OutlineTree.NodesRevealWanted) -> None:
        event.stop()
        self._send(unfold(*event.section_ids))

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
        """Filter the titles."""
        self.end_search()
        self._filter.open()

    def action_search(self) -> None:
        """Search the text of the whole document."""
        self.end_filter()
        self._search.open()

    def action_find(self) -> None:
        """Find sections by what they say."""
        self.post_message(self.FindWanted())

    def action_next_hit(self) -> None:
        """Go to the next match of the filter, or the next section with a match of the search."""
        if self._filter.is_open:
            self.outline.next_match(1)
        else:
            self._go_to_hit(1)

    def action_previous_hit(self) -> None:
        """Go to the previous match."""
        if self._filter.is_open:
            self.outline.next_match(-1)
        else:
            self._go_to_hit(-1)

    def _send(self, make: MakeCommand, *, otherwise: Otherwise = "") -> None:
        self.post_message(CommandWanted(make, otherwise=otherwise))

    def _move(self, move: Callable[[int], None], distance: int) -> None:
        """Move the cursor, and say at once where it is: what the message sets off later is painted once more."""
        move(distance)
        self._show_place()

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
        if not self.outline.next_open(direction):
            self.post_message(NothingDone(NOTHING_OPEN))
