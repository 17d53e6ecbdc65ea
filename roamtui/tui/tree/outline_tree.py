"""`OutlineTree`: the outline of a library, drawn from the state of a conversation.

It owns only the cursor and the scroll position. The conversation owns which nodes are unfolded and open, so keys and
clicks only post messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events, on
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.tui.labels import format_node
from roamtui.tui.tree.line_renderer import BACKGROUND_STYLES, FOREGROUND_STYLES, LineRenderer, Palette, TreeHighlights
from roamtui.tui.tree.visible_lines import FoldState, VisibleLines

_STYLE_NAMES = (*FOREGROUND_STYLES, *BACKGROUND_STYLES, "cursor")
_MARGIN = 2
"""Lines kept above and below a revealed line, to show its context."""


class OutlineTree(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the outline of a conversation's library, one strip per line. `show` replaces the state that it draws.

    CSS may set its left and right padding, but no border.
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"outline-tree--{name}" for name in _STYLE_NAMES}

    @dataclass
    class CursorMoved(Message):
        """The cursor moved to another node."""

        section_id: str

    @dataclass
    class NodeActivated(Message):
        """The person activated a node, to read it."""

        section_id: str

    @dataclass
    class FoldToggled(Message):
        """The person asked to show or hide the children of a node."""

        section_id: str

    def __init__(self, state: ConversationState, *, id: str | None = None) -> None:  # noqa: A002 (Textual's own name)
        super().__init__(id=id)
        self.lines = VisibleLines(state.library, state.unfolded)
        self.cursor_line = 0
        self.cursor_id = self._id_at(0)
        """Id of the node under the cursor, or None in an empty outline."""
        self.highlights = TreeHighlights()
        """Nodes with marks that do not follow from the conversation state."""
        self._state = state
        self._renderer = LineRenderer(self.lines, state, self.highlights)
        self._palette: Palette = {}
        self._revealed_id: str | None = None
        """The node to scroll into view once the widget has a size, or None."""

    @override
    def render_line(self, y: int) -> Strip:
        line, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        palette = self._read_palette()
        if not 0 <= line < len(self.lines):
            return Strip.blank(width, palette["base"])
        is_cursor = line == self.cursor_line
        return self._renderer.draw(line, width, palette, is_cursor=is_cursor, has_focus=self.has_focus)

    @override
    def notify_style_update(self) -> None:
        self._palette = {}
        super().notify_style_update()

    def _read_palette(self) -> Palette:
        if not self._palette:
            styles = {name: self.get_component_rich_style(f"outline-tree--{name}") for name in _STYLE_NAMES}
            inks = {name: styles[name].without_color + Style(color=styles[name].color) for name in FOREGROUND_STYLES}
            grounds = {name: Style(bgcolor=styles[name].bgcolor) for name in BACKGROUND_STYLES}
            self._palette = {"base": self.rich_style, "cursor": styles["cursor"], **inks, **grounds}
        return self._palette

    def sync_size(self) -> None:
        """Set the scrollable height to the number of lines. Lay out the screen only if the scrollbar comes or goes."""
        size = Size(self.scrollable_content_region.width, len(self.lines))
        is_scrolling = size.height > self.container_size.height
        if is_scrolling and self.show_vertical_scrollbar:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.scroll_to_line(min(round(self.scroll_target_y), self.max_scroll_y))
        else:
            self.virtual_size = size

    def scroll_to_line(self, line: int) -> None:
        """Scroll a line to the top of the view, or as close as the last line allows, without animation."""
        self.scroll_to(y=max(0, line), animate=False, force=True)

    def reveal(self, section_id: str) -> None:
        """Scroll a node, or its nearest visible ancestor, into view with some lines around it."""
        if not self.size.height:
            self._revealed_id = section_id
            return
        line = self.lines.find_nearest_line(section_id)
        if line is not None:
            top, height = round(self.scroll_target_y), self.scrollable_content_region.height
            margin = max(0, min(_MARGIN, (height - 1) // 2))
            if line < top + margin:
                self.scroll_to_line(line - margin)
            elif line > top + height - 1 - margin:
                self.scroll_to_line(line - height + 1 + margin)

    def move_to(self, section_id: str) -> None:
        """Move the cursor to a node, or to its nearest visible ancestor, and scroll it into view."""
        line = self.lines.find_nearest_line(section_id)
        if line is not None:
            self.move_to_line(line)

    def move_to_line(self, line: int) -> None:
        """Move the cursor to a line, or to the first or last one if out of range, and scroll it into view."""
        self._set_cursor(line)
        if self.cursor_id is not None:
            self.reveal(self.cursor_id)

    def move_cursor(self, lines: int) -> None:
        """Move the cursor down by `lines`, or up if negative. It stops at the ends."""
        self.move_to_line(self.cursor_line + lines)

    def move_page(self, pages: int) -> None:
        """Move the cursor down by `pages` screens, or up if negative."""
        self.move_cursor(pages * max(1, self.scrollable_content_region.height - 1))

    def _set_cursor(self, line: int) -> None:
        before_line, before_id = self.cursor_line, self.cursor_id
        self.cursor_line = max(0, min(line, len(self.lines) - 1))
        self.cursor_id = self._id_at(self.cursor_line)
        if self.cursor_line != before_line:
            self.refresh_line(before_line)
            self.refresh_line(self.cursor_line)
        if self.cursor_id is not None and self.cursor_id != before_id:
            self.post_message(self.CursorMoved(self.cursor_id))

    def get_cut_title(self) -> str:
        """Return the title under the cursor if its line shows only a part of it, otherwise an empty string."""
        width = self.scrollable_content_region.width
        if self.cursor_id is None or not width:
            return ""
        title = format_node(self.lines.library, self.cursor_id)
        parts = self._renderer.list_segments(self.cursor_line, width, self._read_palette())
        return "" if title in "".join(part.text for part in parts) else title

    def _id_at(self, line: int) -> str | None:
        return self.lines.id_at(line) if 0 <= line < len(self.lines) else None

    def on_resize(self) -> None:
        self.sync_size()
        if self._revealed_id is not None:
            revealed_id, self._revealed_id = self._revealed_id, None
            self.reveal(revealed_id)

    @on(events.Focus)
    @on(events.Blur)
    def _redraw_cursor(self) -> None:
        self.refresh_line(self.cursor_line)

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation. The cursor and the view stay on the same nodes."""
        cursor_id, top_id = self.cursor_id, self._id_at(round(self.scroll_target_y))
        self._state = state
        self.lines.update(state.library, state.unfolded)
        self._rebuild_lines()
        line = self.lines.find_nearest_line(cursor_id) if cursor_id else None
        self._set_cursor(self.cursor_line if line is None else line)
        top = self.lines.find_nearest_line(top_id) if top_id else None
        if top is not None and top != round(self.scroll_target_y):
            self.scroll_to_line(top)

    def set_highlights(self, **section_ids: Iterable[str]) -> None:
        """Replace the marked nodes. The arguments are fields of `TreeHighlights`."""
        self.highlights = replace(self.highlights, **{field: frozenset(ids) for field, ids in section_ids.items()})
        self._rebuild_lines()

    def _rebuild_lines(self) -> None:
        self._renderer = LineRenderer(self.lines, self._state, self.highlights)
        self.sync_size()
        self.refresh()

    def go_child(self) -> None:
        """Move the cursor to the first child of its node. If the node is folded, ask to unfold it."""
        if self.cursor_id is None:
            return
        match self.lines.fold_at(self.cursor_line):
            case FoldState.UNFOLDED:
                self.move_to_line(self.cursor_line + 1)
            case FoldState.FOLDED | FoldState.UNLOADED | FoldState.FAILED:
                self.post_message(self.FoldToggled(self.cursor_id))
            case FoldState.LEAF:
                pass

    def go_parent(self) -> None:
        """Move the cursor to the parent of its node."""
        above = None if self.cursor_id is None else self.lines.parent(self.lines.numbers[self.cursor_line])
        line = self.lines.get_line(above)
        if line is not None:
            self.move_to_line(line)

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        line = -1 if offset is None else offset.y + self.scroll_offset.y
        if offset is None or not 0 <= line < len(self.lines):
            return
        section_id = self.lines.id_at(line)
        width, palette = self.scrollable_content_region.width, self._read_palette()
        parts = self._renderer.list_segments(line, width, palette)
        ends = accumulate(cell_len(part.text) for part in parts)
        part = next((part for part, end in zip(parts, ends, strict=True) if offset.x < end), parts[-1])
        if part.toggles_fold:
            self.post_message(self.FoldToggled(section_id))
            return
        self.move_to_line(line)
        if event.chain == (1 if part.activates else 2):
            self.post_message(self.NodeActivated(section_id))
