from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from typing_extensions import override

from roamtui.tui.scrollbar_picture import PiecedScrollBar, find_thumb, give_scrollbar, move_scrollbar
from tests.tui.driving import wait_until

_HEIGHT = 20


class Lines(ScrollView):
    """Shows as many empty lines as it is told."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.virtual_size = Size(10, lines)

    @property
    @override
    def vertical_scrollbar(self) -> ScrollBar:
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = give_scrollbar(self)
        return self._vertical_scrollbar

    @override
    def render_line(self, y: int) -> Strip:
        return Strip.blank(10)


class LinesApp(App[None]):
    CSS = f"Lines {{ height: {_HEIGHT}; }}"

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.lines = Lines(lines)

    @override
    def compose(self) -> ComposeResult:
        yield self.lines


def _draw(bar: ScrollBar, position: float) -> str:
    segments = bar.renderer.render_bar(
        size=bar.size.height,
        virtual_size=bar.window_virtual_size,
        window_size=bar.window_size,
        position=position,
    ).segments
    return repr([(segment.text, segment.style.reverse if segment.style else None) for segment in segments])


@pytest.mark.parametrize("lines", [21, 90, 1_000, 100_000])
async def test_where_the_thumb_is_says_how_the_bar_looks(lines: int) -> None:
    app = LinesApp(lines)
    async with app.run_test() as pilot:
        bar = app.lines.vertical_scrollbar
        await wait_until(pilot, lambda: bar.size.height == _HEIGHT)
        last = lines - _HEIGHT
        pictures: dict[tuple[int, int], set[str]] = {}
        for position in range(0, last + 1, max(1, last // 700)):
            pictures.setdefault(find_thumb(bar, position), set()).add(_draw(bar, position))
        assert all(len(drawn) == 1 for drawn in pictures.values())
        assert len(pictures) == len(set().union(*pictures.values()))


async def test_the_bar_of_a_long_list_is_drawn_again_only_where_it_looks_different() -> None:
    app = LinesApp(100_000)
    async with app.run_test() as pilot:
        bar = app.lines.vertical_scrollbar
        await wait_until(pilot, lambda: bar.size.height == _HEIGHT)
        await pilot.pause()
        drawn: list[float] = []

        def note(position: float) -> None:
            drawn.append(position)

        bar.watch(bar, "position", note, init=False)
        move_scrollbar(app.lines, 40)
        assert (bar.position, drawn) == (40, [])
        move_scrollbar(app.lines, 50_000)
        await wait_until(pilot, lambda: drawn == [50_000])


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
@pytest.mark.parametrize("lines", [21, 100_000])
async def test_a_bar_of_pieces_looks_like_one_of_textual(lines: int, theme: str) -> None:
    app = LinesApp(lines)
    app.theme = theme
    async with app.run_test() as pilot:
        bar = app.lines.vertical_scrollbar
        await wait_until(pilot, lambda: bar.size.height == _HEIGHT)
        assert isinstance(bar, PiecedScrollBar)
        for position in {0, 1, (lines - _HEIGHT) // 2, lines - _HEIGHT}:
            for is_under_mouse in (False, True):
                bar.mouse_over = is_under_mouse
                bar.position = position
                expected = ScrollBar.render_lines(bar, bar.size.region)
                assert bar.render_lines(bar.size.region) == expected
                assert bar.render_lines(Region(0, 3, 1, 2)) == expected[3:5]
