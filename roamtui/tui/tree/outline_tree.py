"""`OutlineTree`: the outline of a library as lines, drawn from the state of a conversation.

It owns the cursor, the scroll position and the title filter, nothing else: what is unfolded and open belongs to the
conversation, so keys and clicks only post messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.message import Message
from typing_extensions import override

from roamtui.tui.tree.line_looks import LineLooks, Marked
from roamtui.tui.tree.line_render import find_title_cells, measure_guides
from roamtui.tui.tree.title_filter import TitleSearch, run_steps
from roamtui.tui.tree.tree_cursor import Place, TreeCursor
from roamtui.tui.tree.visible_lines import Fold, VisibleLines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from roamtui.conversation.state import ConversationState
    from roamtui.tui.tree.line_look import LineLook
    from roamtui.tui.tree.title_filter import Steps


class OutlineTree(TreeCursor, can_focus=True, inherit_bindings=False):
    """Shows the outline of the library of `state`; `show` takes each later state."""

    @dataclass
    class CursorMoved(Message):
        """The cursor stands on another node."""

        section_id: str

    @dataclass
    class NodeActivated(Message):
        """A node was chosen to be read."""

        section_id: str

    @dataclass
    class FoldToggled(Message):
        """The children of a node are to be shown, or hidden."""

        section_id: str

    @dataclass
    class NodesRevealWanted(Message):
        """Nodes are to be unfolded, so that the cursor can go to a node below them."""

        section_ids: tuple[str, ...]

    def __init__(
        self,
        state: ConversationState,
        *,
        ascii_only: bool = False,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        lines = VisibleLines(state.library, state.unfolded)
        super().__init__(lines, ascii_only=ascii_only, id=id, classes=classes)
        self._state = state
        self._looks = LineLooks(self.lines, state)
        self._wanted_id: str | None = None
        self._revealed_id: str | None = None
        self._batch_ids: frozenset[str] = frozenset()
        self._found_ids: frozenset[str] = frozenset()
        self._titles = TitleSearch(self.lines.tree)
        self._place_before_filter: Place | None = None
        self._chosen_id: str | None = None

    @property
    def filter_pattern(self) -> str:
        """The characters that titles are filtered by, empty without a filter."""
        return self._looks.marked.pattern

    @override
    def look_at(self, line: int) -> LineLook:
        return self._looks.look_at(line, is_cursor=line == self.cursor_line, has_focus=self.has_focus)

    @override
    def announce_cursor(self, section_id: str) -> None:
        self._wanted_id = None
        self._chosen_id = section_id
        self.post_message(self.CursorMoved(section_id))

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation; what is in view stays where it is."""
        place = self.place
        is_grown = state.library is not self._state.library
        self._state = state
        self.lines.update(state.library, state.unfolded)
        if self.filter_pattern and is_grown:
            self.lines.narrow(self._search_titles().find(self.filter_pattern))
        self._look_anew(self.filter_pattern)
        self.return_to(place)
        if self._wanted_id is not None and self.lines.line_of(self._wanted_id) is not None:
            self.move_to(self._wanted_id)

    def highlight(self, section_ids: Iterable[str]) -> None:
        """Mark the lines of these nodes as the newest batch, and no others."""
        self._batch_ids = frozenset(section_ids)
        self._look_anew(self.filter_pattern)

    def mark_found(self, section_ids: Iterable[str]) -> None:
        """Mark the lines of these nodes as found by a search, and no others."""
        self._found_ids = frozenset(section_ids)
        self._look_anew(self.filter_pattern)

    def reveal(self, section_id: str) -> None:
        """Scroll a node, or its nearest visible ancestor, into view without moving the cursor."""
        if not self.size.height:
            self._revealed_id = section_id
            return
        line = self.lines.nearest_line(section_id)
        if line is not None:
            self.show_line(line)

    def go_child(self) -> None:
        """Put the cursor on the first node below its own; where it is folded, ask for it to be unfolded."""
        if self.cursor_id is None:
            return
        match self.lines.fold_at(self.cursor_line):
            case Fold.UNFOLDED:
                self.move_cursor(1)
            case Fold.FOLDED | Fold.UNLOADED:
                self.post_message(self.FoldToggled(self.cursor_id))
            case Fold.LEAF:
                pass

    def next_open(self, direction: int) -> bool:
        """Put the cursor on the open node after (1) or before (-1) it, folded or not; return whether there is one."""
        target = self._looks.next_open(self.cursor_id, direction) if self.cursor_id else None
        if target is not None:
            self._go_to(target)
        return target is not None

    def next_match(self, direction: int) -> None:
        """Put the cursor on the match of the filter after (1) or before (-1) it, round the end."""
        line = self.lines.next_match(self.cursor_line, direction)
        if line is not None:
            self.move_to(self.lines.id_at(line))

    def filter_titles(self, pattern: str) -> int:
        """Show only nodes whose titles match, and those above them; an empty pattern shows again what was there.

        Returns:
            How many nodes match.
        """
        return run_steps(self.filter_in_steps(pattern))

    def filter_in_steps(self, pattern: str) -> Steps[int]:
        """Filter titles in slices of work; nothing changes on the screen before the last one."""
        if not pattern.strip():
            self._end_filter()
            return 0
        matches = yield from self._search_titles().find_in_steps(pattern)
        yield
        narrowed = yield from self.lines.find_narrowed(matches)
        place, chosen_id = self.place, self._chosen_id
        if self._place_before_filter is None:
            self._place_before_filter = place
            chosen_id = None
        self.lines.show_narrowed(narrowed)
        self._look_anew(pattern)
        self.return_to(place)
        if not self.lines.is_match(self.cursor_line):
            self.next_match(1)
        self.show_line(self.cursor_line)
        self._chosen_id = chosen_id if chosen_id == self.cursor_id else None
        return len(matches)

    def accept_filter(self) -> None:
        """Stay on the section under the cursor when the filter ends."""
        self._chosen_id = self.cursor_id

    def _search_titles(self) -> TitleSearch:
        if self._titles.tree is not self.lines.tree:
            self._titles = TitleSearch(self.lines.tree)
        return self._titles

    def _end_filter(self) -> None:
        before = self._place_before_filter
        if before is None:
            return
        self._place_before_filter = None
        chosen_id = self._chosen_id
        self.lines.widen()
        self._look_anew("")
        self.return_to(before)
        if chosen_id is not None:
            self._go_to(chosen_id)

    def _go_to(self, section_id: str) -> None:
        """Put the cursor on a node; where it is folded away, ask for what is above it to be unfolded first."""
        if self.lines.line_of(section_id) is None:
            folded = self.lines.find_folded(section_id)
            self._wanted_id = section_id
            self.post_message(self.NodesRevealWanted(folded))
        else:
            self.move_to(section_id)

    def _look_anew(self, pattern: str) -> None:
        marked = Marked(batch=self._batch_ids, found=self._found_ids, pattern=pattern)
        self._looks = LineLooks(self.lines, self._state, marked)
        self.redraw()

    @on(events.Resize)
    def _show_revealed(self) -> None:
        if self._revealed_id is not None:
            revealed_id, self._revealed_id = self._revealed_id, None
            self.reveal(revealed_id)

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        line = -1 if offset is None else offset.y + self.scroll_offset.y
        if offset is None or not 0 <= line < self.line_count:
            return
        look = self.look_at(line)
        width = self.scrollable_content_region.width
        section_id = self.lines.id_at(line)
        is_on_title = offset.x in find_title_cells(look, width, self.glyphs)
        triangle_start = measure_guides(len(look.has_next), width)
        if triangle_start <= offset.x < triangle_start + 2 and look.fold is not Fold.LEAF:
            self.post_message(self.FoldToggled(section_id))
            return
        self.move_to(section_id)
        if event.chain == (1 if is_on_title else 2):
            self.post_message(self.NodeActivated(section_id))
