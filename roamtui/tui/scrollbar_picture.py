"""Scrollbars of long lists: drawn again only where they look different afterwards."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from textual.scrollbar import ScrollBar

if TYPE_CHECKING:
    from textual.scroll_view import ScrollView

_STEPS = len(ScrollBar.renderer.VERTICAL_BARS)
"""In which a cell of a scrollbar is divided."""


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
