"""`OutlineTree`: the outline of a library as lines, drawn from the state of a conversation.

It owns the cursor and the scroll position, nothing else: what is unfolded and open belongs to the conversation, so keys
and clicks only post messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events, on
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.tui.tree.line_looks import LineLook, LineLooks, Marked, TokensRead
from roamtui.tui.tree.line_render import Palette, find_title_cells, measure_guides, render_line
from roamtui.tui.tree.visible_lines import Fold, VisibleLines

_STRIPS_MAX = 1024
_MARGIN = 2
"""Lines kept above and below a revealed line, so that it is seen among its neighbours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a person is in a tree."""

    cursor_id: str | None
    cursor_line: int
    top_id: str | None
    """Node of the first line in view."""


class OutlineTree(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the outline of the library of `state`, one strip a line; `show` takes each later state.

    It may be padded at its sides, and has no border.
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "outline-tree--guides",
        "outline-tree--triangle",
        "outline-tree--title",
        "outline-tree--untitled",
        "outline-tree--open-agent",
        "outline-tree--open-person",
        "outline-tree--mark",
        "outline-tree--count",
        "outline-tree--size",
        "outline-tree--batch",
        "outline-tree--cursor",
        "outline-tree--cursor-blurred",
    }
    DEFAULT_CSS = """
    OutlineTree {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        & > .outline-tree--guides { color: $foreground 30%; }
        & > .outline-tree--triangle { color: $text-muted; }
        & > .outline-tree--untitled { color: $text-muted; text-style: italic; }
        & > .outline-tree--open-agent { color: $text-accent; text-style: bold; }
        & > .outline-tree--open-person { color: $text-success; text-style: bold; }
        & > .outline-tree--mark { color: $text-warning; }
        & > .outline-tree--count { color: $text-muted; }
        & > .outline-tree--size { color: $text-muted; }
        & > .outline-tree--batch { background: $accent 18%; }
        & > .outline-tree--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .outline-tree--cursor-blurred { background: $foreground 15%; }
        &:ansi > .outline-tree--batch { background: ansi_bright_black; }
        &:ansi > .outline-tree--cursor-blurred { background: ansi_bright_black; }
    }
    """

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

    def __init__(self, state: ConversationState, *, id: str | None = None) -> None:  # noqa: A002 (Textual's own name)
        super().__init__(id=id)
        self.lines = VisibleLines(state.library, state.unfolded)
        self.cursor_line = 0
        self._cursor_id = self._id_at(0)
        self._must_show_cursor = False
        self._state = state
        self._tokens_read = TokensRead()
        self._looks = LineLooks(self.lines, state)
        self._strips: dict[LineLook, Strip] = {}
        self._palette: Palette | None = None
        self._wanted_id: str | None = None
        self._revealed_id: str | None = None
        self._batch_ids: frozenset[str] = frozenset()
        self._found_ids: frozenset[str] = frozenset()
        self._noted_ids: frozenset[str] = frozenset()

    @property
    def cursor_id(self) -> str | None:
        """The id of the node under the cursor, None in an empty outline."""
        return self._cursor_id

    @property
    def place(self) -> Place:
        """Where the cursor and the view are."""
        return Place(
            cursor_id=self._cursor_id,
            cursor_line=self.cursor_line,
            top_id=self._id_at(round(self.scroll_target_y)),
        )

    @override
    def render_line(self, y: int) -> Strip:
        line, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if not 0 <= line < len(self.lines):
            return Strip.blank(width, self.palette.base)
        look = self.look_at(line)
        strip = self._strips.get(look)
        if strip is None or strip.cell_length != width:
            if len(self._strips) > _STRIPS_MAX:
                self._strips.clear()
            strip = self._strips[look] = render_line(look, width, self.palette)
        return strip

    @override
    def notify_style_update(self) -> None:
        self._palette = None
        self._strips.clear()
        super().notify_style_update()

    @property
    def palette(self) -> Palette:
        """The styles of the theme in use."""
        if self._palette is None:
            self._palette = read_palette(self)
        return self._palette

    def redraw(self) -> None:
        """Draw all lines in view again, after any change to what they are."""
        self.fit_lines()
        self.refresh()

    def fit_lines(self) -> None:
        """Take on the number of lines; the screen is laid out again only where a scrollbar comes or goes by that."""
        size = Size(self.scrollable_content_region.width, len(self.lines))
        is_scrolling = size.height > self.container_size.height
        if is_scrolling and self.show_vertical_scrollbar:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.scroll_to_line(min(round(self.scroll_target_y), self.max_scroll_y))
        else:
            self.virtual_size = size

    def scroll_to_line(self, line: int) -> None:
        """Bring a line to the top of the view at once, as far as there are lines below it."""
        self.scroll_to(y=max(0, line), animate=False, force=True)

    def show_line(self, line: int) -> None:
        """Scroll as little as brings a line into view, with some of its neighbours."""
        top, height = round(self.scroll_target_y), self.scrollable_content_region.height
        margin = max(0, min(_MARGIN, (height - 1) // 2))
        if line < top + margin:
            self.scroll_to_line(line - margin)
        elif line > top + height - 1 - margin:
            self.scroll_to_line(line - height + 1 + margin)

    def move_to(self, section_id: str) -> None:
        """Put the cursor on a node, or on its nearest visible ancestor, and scroll it into view."""
        line = self.lines.nearest_line(section_id)
        if line is not None:
            self._move_to_line(line)

    def move_cursor(self, lines: int) -> None:
        """Move the cursor down by a number of lines, up by a negative one; it stops at the ends."""
        self._move_to_line(self.cursor_line + lines)

    def move_page(self, pages: int) -> None:
        """Move the cursor down by screens of lines, up by a negative number."""
        self.move_cursor(pages * max(1, self.scrollable_content_region.height - 1))

    def go_first(self) -> None:
        """Put the cursor on the first line."""
        self._move_to_line(0)

    def go_last(self) -> None:
        """Put the cursor on the last line."""
        self._move_to_line(len(self.lines) - 1)

    def go_parent(self) -> None:
        """Put the cursor on the node above its own."""
        line = self.lines.parent_line(self.cursor_line)
        if line is not None:
            self._move_to_line(line)

    def return_to(self, place: Place) -> None:
        """Put cursor and view where they were, on the same nodes, after the lines have changed."""
        line = self.lines.nearest_line(place.cursor_id) if place.cursor_id else None
        self._set_cursor(place.cursor_line if line is None else line)
        top = self.lines.nearest_line(place.top_id) if place.top_id else None
        if top is not None and top != round(self.scroll_target_y):
            self.scroll_to_line(top)

    def _move_to_line(self, line: int) -> None:
        self._set_cursor(line)
        if self.size.height:
            self.show_line(self.cursor_line)
        else:
            self._must_show_cursor = True

    def _set_cursor(self, line: int) -> None:
        """Put the cursor on a line and draw what changed."""
        before_line, before_id = self.cursor_line, self._cursor_id
        self.cursor_line = max(0, min(line, len(self.lines) - 1))
        self._cursor_id = self._id_at(self.cursor_line)
        if self.cursor_line != before_line:
            self.refresh_line(before_line)
            self.refresh_line(self.cursor_line)
        if self._cursor_id is not None and self._cursor_id != before_id:
            self._wanted_id = None
            self.post_message(self.CursorMoved(self._cursor_id))

    def _id_at(self, line: int) -> str | None:
        return self.lines.id_at(line) if 0 <= line < len(self.lines) else None

    def on_resize(self) -> None:
        """Fit the lines into another size."""
        self.fit_lines()
        if self._must_show_cursor:
            self._must_show_cursor = False
            self.show_line(self.cursor_line)
        if self._revealed_id is not None:
            revealed_id, self._revealed_id = self._revealed_id, None
            self.reveal(revealed_id)

    def on_focus(self) -> None:
        """Show that keys go to the cursor."""
        self.refresh_line(self.cursor_line)

    def on_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.refresh_line(self.cursor_line)

    def look_at(self, line: int) -> LineLook:
        """Return how a line looks."""
        return self._looks.look_at(line, is_cursor=line == self.cursor_line, has_focus=self.has_focus)

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation; what is in view stays where it is."""
        place = self.place
        self._state = state
        self.lines.update(state.library, state.unfolded)
        self._look_anew()
        self.return_to(place)
        if self._wanted_id is not None and self.lines.line_of(self._wanted_id) is not None:
            self.move_to(self._wanted_id)

    def highlight(self, section_ids: Iterable[str]) -> None:
        """Mark the lines of these nodes as the newest batch, and no others."""
        self._batch_ids = frozenset(section_ids)
        self._look_anew()

    def mark_found(self, section_ids: Iterable[str]) -> None:
        """Mark the lines of these nodes as found by a search, and no others."""
        self._found_ids = frozenset(section_ids)
        self._look_anew()

    def mark_noted(self, section_ids: Iterable[str]) -> None:
        """Mark the lines of these nodes as kept among a person's notes, and no others."""
        self._noted_ids = frozenset(section_ids)
        self._look_anew()

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

    def _go_to(self, section_id: str) -> None:
        """Put the cursor on a node; where it is folded away, ask for what is above it to be unfolded first."""
        if self.lines.line_of(section_id) is None:
            folded = self.lines.find_folded(section_id)
            self._wanted_id = section_id
            self.post_message(self.NodesRevealWanted(folded))
        else:
            self.move_to(section_id)

    def _look_anew(self) -> None:
        marked = Marked(batch=self._batch_ids, found=self._found_ids, noted=self._noted_ids)
        self._looks = LineLooks(self.lines, self._state, marked, self._tokens_read)
        self.redraw()

    @on(events.Click)
    def _choose_clicked(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        line = -1 if offset is None else offset.y + self.scroll_offset.y
        if offset is None or not 0 <= line < len(self.lines):
            return
        look = self.look_at(line)
        width = self.scrollable_content_region.width
        section_id = self.lines.id_at(line)
        is_on_title = offset.x in find_title_cells(look, width)
        triangle_start = measure_guides(len(look.has_next), width)
        if triangle_start <= offset.x < triangle_start + 2 and look.fold is not Fold.LEAF:
            self.post_message(self.FoldToggled(section_id))
            return
        self.move_to(section_id)
        if event.chain == (1 if is_on_title else 2):
            self.post_message(self.NodeActivated(section_id))


def read_palette(widget: Widget) -> Palette:
    """Return the styles of a widget's component classes."""

    def read(name: str) -> Style:
        style = widget.get_component_rich_style(f"outline-tree--{name}")
        return style.without_color + Style(color=style.color)

    def read_background(name: str) -> Style:
        return Style(bgcolor=widget.get_component_rich_style(f"outline-tree--{name}").bgcolor)

    return Palette(
        base=widget.rich_style,
        guides=read("guides"),
        triangle=read("triangle"),
        title=read("title"),
        untitled=read("untitled"),
        open_agent=read("open-agent"),
        open_person=read("open-person"),
        mark=read("mark"),
        count=read("count"),
        size=read("size"),
        batch=read_background("batch"),
        cursor=widget.get_component_rich_style("outline-tree--cursor"),
        cursor_blurred=read_background("cursor-blurred"),
    )
