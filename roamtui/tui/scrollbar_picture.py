"""Scrollbars of long lists: drawn again only where they look different afterwards, and then by few pieces."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from typing_extensions import override

if TYPE_CHECKING:
    from textual.geometry import Region
    from textual.scroll_view import ScrollView

_STEPS = len(ScrollBar.renderer.VERTICAL_BARS)
"""In which a cell of a scrollbar is divided."""


class PiecedScrollBar(ScrollBar):
    """A vertical scrollbar that draws each of its few different cells once; Textual's own one draws line by line."""

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        bar = self.render()
        height = self.size.height
        assert isinstance(bar, ScrollBarRender)
        style = self.app.console.get_style(bar.style)
        assert style.color is not None
        assert style.bgcolor is not None
        cells = bar.render_bar(
            size=height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            thickness=bar.thickness,
            vertical=True,
            back_color=style.bgcolor,
            bar_color=style.color,
        ).segments
        base, background = self.visual_style.rich_style, self.background_colors[1]
        pieces: dict[int, Strip] = {}
        for cell in cells:
            if id(cell) not in pieces:
                strip = Strip([*Segment.apply_style([cell], base)], bar.thickness)
                for line_filter in self.get_line_filters():
                    strip = strip.apply_filter(line_filter, background)
                pieces[id(cell)] = strip
        return [pieces[id(cell)] for cell in cells[crop.y : crop.bottom]]


def give_scrollbar(view: ScrollView) -> ScrollBar:
    """Return a new vertical scrollbar of a view, which must keep it."""
    bar = PiecedScrollBar(name="vertical", thickness=view.scrollbar_size_vertical)
    bar.display = False
    view.app._start_widget(view, bar)  # noqa: SLF001 - as Textual does for its own
    return bar


def move_scrollbar(view: ScrollView, position: float) -> None:
    """Tell the vertical scrollbar of a view where the view is now.

    A scrollbar costs as much to draw as a screen of lines, and in a long list a page moves it by less than can be seen.
    """
    if not view.show_vertical_scrollbar:
        return
    bar = view.vertical_scrollbar
    if find_thumb(bar, position) == find_thumb(bar, bar.position):
        bar.set_reactive(ScrollBar.position, position)
    else:
        bar.position = position


def find_thumb(bar: ScrollBar, position: float) -> tuple[int, int]:
    """Return where the thumb of a vertical scrollbar begins and ends, in steps, at a position of its view."""
    size, window = bar.size.height, ceil(bar.window_size)
    lines = ceil(bar.window_virtual_size)
    if not 0 < window < lines or not size:
        return 0, 0
    thumb = max(1, window * size / lines)
    start = int((size - thumb) * position / (lines - window) * _STEPS)
    return start, start + ceil(thumb * _STEPS)
