"""Tables wider than the view, and titles with anchors."""

from __future__ import annotations

from tests.tui.driving import make_app, screen_text, wait_until

ROW = " | ".join(f"column-{number:02}" for number in range(20))
TEXT = f"# Mill {{#mill}}\n\n## Prices {{#prices}}\n\n| {ROW} |\n|{'---|' * 20}\n| {ROW} |\n\n## Narrow\n\nShort.\n"


async def test_wide_lines_are_hinted_at_and_scrolled_sideways() -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(160, 24)) as pilot:
        await pilot.press("escape", "j", "enter", "3")
        await wait_until(pilot, lambda: "Prices ▸" in screen_text(app))
        assert "column-00" in screen_text(app)
        await pilot.press("right", ">")
        await wait_until(pilot, lambda: "Prices ◂▸" in screen_text(app))
        assert "column-00" not in screen_text(app)
        await pilot.press(*["right"] * 40)
        await wait_until(
            pilot, lambda: "Prices ◂ " in screen_text(app) or screen_text(app).split("\n")[1].endswith("◂")
        )
        assert "column-19" in screen_text(app)
        await pilot.press(*["left"] * 50)
        await wait_until(pilot, lambda: "Prices ▸" in screen_text(app))


async def test_what_fits_has_no_hint() -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(160, 24)) as pilot:
        await pilot.press("escape", "G", "enter")
        await wait_until(pilot, lambda: "Narrow" in screen_text(app).split("\n")[1])
        assert "▸" not in screen_text(app).split("\n")[1]


async def test_anchors_of_titles_are_hidden_in_outline_breadcrumb_and_heading() -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(160, 24)) as pilot:
        await pilot.press("escape", "j", "enter")
        await wait_until(pilot, lambda: "Prices ▸" in screen_text(app) and "column-00" in screen_text(app))
        assert "{#" not in screen_text(app)
