"""`TreeCanvas`: draws the lines of a tree that are in view. What they are, and what a click means, others decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from roamtui.tui.tree.line_render import ASCII, UNICODE, Palette, render_line

if TYPE_CHECKING:
    from roamtui.tui.tree.line_look import LineLook

_STRIPS_MAX = 1024
_MARGIN = 2
"""Lines kept above and below a revealed line, so that it is seen among its neighbours."""


class TreeCanvas(ScrollView):
    """A scroll view of one strip a line. A subclass sets `line_count` and says in `look_at` how each line looks.

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
        "outline-tree--match",
        "outline-tree--batch",
        "outline-tree--cursor",
        "outline-tree--cursor-blurred",
    }
    DEFAULT_CSS = """
    TreeCanvas {
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
        & > .outline-tree--match { text-style: bold underline; }
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

    def __init__(
        self,
        *,
        ascii_only: bool = False,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.glyphs = ASCII if ascii_only else UNICODE
        self._strips: dict[LineLook, Strip] = {}
        self._palette: Palette | None = None

    @property
    def line_count(self) -> int:
        """How many lines there are, in view or not."""
        raise NotImplementedError

    def look_at(self, line: int) -> LineLook:
        """Return how a line looks."""
        raise NotImplementedError

    @override
    def render_line(self, y: int) -> Strip:
        line, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if not 0 <= line < self.line_count:
            return Strip.blank(width, self.palette.base)
        look = self.look_at(line)
        strip = self._strips.get(look)
        if strip is None or strip.cell_length != width:
            if len(self._strips) > _STRIPS_MAX:
                self._strips.clear()
            strip = self._strips[look] = render_line(look, width, self.palette, self.glyphs)
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
            self._palette = self._read_palette()
        return self._palette

    def redraw(self) -> None:
        """Draw all lines in view again, after any change to what they are."""
        self.fit_lines()
        self.refresh()

    def fit_lines(self) -> None:
        """Take on the number of lines; the screen is laid out again only where a scrollbar comes or goes by that."""
        size = Size(self.scrollable_content_region.width, self.line_count)
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

    def _read_palette(self) -> Palette:
        def read(name: str) -> Style:
            style = self.get_component_rich_style(f"outline-tree--{name}")
            return style.without_color + Style(color=style.color)

        def read_background(name: str) -> Style:
            return Style(bgcolor=self.get_component_rich_style(f"outline-tree--{name}").bgcolor)

        return Palette(
            base=self.rich_style,
            guides=read("guides"),
            triangle=read("triangle"),
            title=read("title"),
            untitled=read("untitled"),
            open_agent=read("open-agent"),
            open_person=read("open-person"),
            mark=read("mark"),
            count=read("count"),
            size=read("size"),
            match=self.get_component_rich_style("outline-tree--match", partial=True),
            batch=read_background("batch"),
            cursor=self.get_component_rich_style("outline-tree--cursor"),
            cursor_blurred=read_background("cursor-blurred"),
        )
