"""Links in an answer: clicked and reached by key; inside the document they jump, outside they are asked about first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.tui.screens.confirm import ConfirmScreen
from tests.tui.driving import app_of, ask, find_id, make_app, screen_text, wait_until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from roamtui.tui.app import RoamApp


async def answer(pilot: Pilot[None], text: str) -> RoamApp:
    """Have the model answer with `text`."""
    app = app_of(pilot)
    model = app.app_context.agent.model
    assert isinstance(model, ScriptedModel)
    model.add_replies(ScriptedReply(text=text), ScriptedReply(text=text))
    await ask(pilot, "Where?")
    return app


async def test_keys_walk_over_the_links_of_an_answer() -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        starter = find_id(app, "Starter")
        await answer(pilot, f"See [steam](#steam), the [starter]({starter}) and [a page](https://example.org/x).")
        app.main.switch.go_log()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: app.main.reader_pane.section_id == find_id(app, "Steam"))
        app.main.switch.go_log()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: app.main.reader_pane.section_id == starter)
        app.main.switch.go_log()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "https://example.org/x" in screen_text(app)


async def test_a_click_on_a_link_follows_it_and_on_a_citation_jumps() -> None:
    app = make_app()
    async with app.run_test(size=(120, 35)) as pilot:
        deck = find_id(app, "Deck oven")
        await answer(pilot, f"Of **[steam *let in*](#steam)** and loaves [{deck}].")
        rows = screen_text(app).split("\n")
        line = next(y for y, row in enumerate(rows) if "Of steam let in" in row)
        await pilot.click(offset=(rows[line].index("let in") + 2, line))
        await wait_until(pilot, lambda: app.main.reader_pane.section_id == find_id(app, "Steam"))
        await pilot.press("2")
        app.main.switch.show_chat()
        await pilot.pause()
        rows = screen_text(app).split("\n")
        await pilot.click(offset=(rows[line].index("[1]") + 1, line))
        await wait_until(pilot, lambda: app.main.reader_pane.section_id == deck)


async def test_a_link_that_leads_nowhere_or_is_no_web_address_is_a_sentence() -> None:
    app = make_app()
    async with app.run_test(size=(120, 35), notifications=True) as pilot:
        await answer(pilot, "[run](javascript:alert) and [gone](#nowhere)")
        app.main.switch.go_log()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: "anchor" in screen_text(app))
        assert app.screen is app.main
