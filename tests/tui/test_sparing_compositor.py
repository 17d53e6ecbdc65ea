from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual._compositor import Compositor
from textual.widget import Widget
from typing_extensions import override

from roamtui.tui.header_line import HeaderLine
from roamtui.tui.sparing_compositor import Pieces, SparingCompositor
from tests.tui.driving import make_app, wait_until

if TYPE_CHECKING:
    from collections.abc import Collection

    from textual.geometry import Region
    from textual.strip import Strip

_PRESSES_MAX = 10
_KEYS = "j l j pagedown space k G f s o v enter escape a enter pagedown escape"


class ComparingCompositor(SparingCompositor):
    """Holds what it draws against the whole screen as Textual draws it."""

    def __init__(self) -> None:
        super().__init__()
        self.updates = 0

    @override
    def _draw(self, wanted: dict[int, Pieces], regions: Collection[Region]) -> list[dict[int, Strip | None]]:
        expected = {(y, x) for y, pieces in wanted.items() for x in pieces}
        drawn = super()._draw(wanted, regions)
        whole = Compositor._render_chops(self, self.size.region, lambda _: True)
        assert {(y, x) for y, line in enumerate(drawn) for x, strip in line.items() if strip is not None} == expected
        for y, x in expected:
            piece = drawn[y][x]
            assert piece is not None
            assert piece.simplify() == whole[y][x].simplify()
        self.updates += 1
        return drawn


@pytest.mark.parametrize("size", [(160, 40), (60, 20)])
async def test_what_changed_looks_as_on_a_screen_drawn_whole(size: tuple[int, int]) -> None:
    app = make_app()
    compositor = app.main._compositor = ComparingCompositor()
    async with app.run_test(size=size) as pilot:
        await pilot.press("escape", *_KEYS.split())
        await wait_until(pilot, lambda: compositor.updates > 1)


@pytest.mark.parametrize(("columns", "lines"), [(3, 0), (0, 1)])
async def test_a_widget_may_be_smaller_than_its_place_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, columns: int, lines: int
) -> None:
    def render_lines(header: HeaderLine, crop: Region) -> list[Strip]:
        strips = Widget.render_lines(header, crop)
        return [strip.crop(0, crop.width - columns) for strip in strips[: len(strips) - lines]]

    app = make_app()
    compositor = app.main._compositor = ComparingCompositor()
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        monkeypatch.setattr(HeaderLine, "render_lines", render_lines)
        updates = compositor.updates
        app.query_one(HeaderLine).refresh()
        await wait_until(pilot, lambda: compositor.updates > updates)


async def test_a_widget_that_did_not_change_is_not_asked_for_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Region] = []

    def render_lines(header: HeaderLine, crop: Region) -> list[Strip]:
        asked.append(crop)
        return Widget.render_lines(header, crop)

    monkeypatch.setattr(HeaderLine, "render_lines", render_lines)
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press("escape", "g")
        await wait_until(pilot, lambda: bool(asked))
        for _ in range(_PRESSES_MAX):  # a screen that has just come may be laid out again for reasons of its own
            asked.clear()
            await pilot.press("j", "k")
            if not asked:
                return
        pytest.fail("the header was drawn with every movement of the cursor")
