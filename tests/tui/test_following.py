"""A reader that follows the cursor of the outline, or the model."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import app_of, ask, expand, find_id, make_app, screen_text, wait_until

TEXT = """# Mill

Rye comes by boat.

## Stones

Two stones.

### Upper stone

It grinds rye, and rye alone.

## Store

Wheat.

### Loft

Rye is dried here.
"""


def cursor(pilot: Pilot[None]) -> str:
    app = app_of(pilot)
    section_id = app.main.tree_pane.outline.cursor_id
    assert section_id is not None
    return app.main.session.state.library.title_of(section_id)


def read(pilot: Pilot[None]) -> str:
    app = app_of(pilot)
    section_id = app.main.reader_pane.section_id
    return app.main.session.state.library.title_of(section_id) if section_id else ""


async def test_the_reader_follows_the_cursor_until_it_is_told_to_stay() -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(160, 30)) as pilot:
        await pilot.press("escape", "f8")
        await wait_until(pilot, lambda: read(pilot) == "Mill")
        assert "follows · Mill" in screen_text(app)
        await pilot.press("j")
        await wait_until(pilot, lambda: read(pilot) == "Stones")
        assert app.main.focused is app.main.tree_pane.outline
        assert app.main.session.state.library.title_of(app.main.session.state.reading or "") == "Stones"
        await pilot.press("f8", "j")
        await pilot.pause(0.1)
        assert (cursor(pilot), read(pilot)) == ("Store", "Stones")
        assert "follows" not in screen_text(app).split("\n")[1]
        await pilot.press("3", "backspace")
        await pilot.pause()
        assert read(pilot) == "Stones", "what only passed by is no way back"


@pytest.mark.parametrize(("width", "is_shown"), [(160, True), (100, False)])
async def test_the_reader_follows_the_model_where_it_does_not_hide_the_answer(width: int, *, is_shown: bool) -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(width, 30)) as pilot:
        await pilot.press("f8")
        await pilot.press("2")
        await pilot.pause()
        reading = app.main.session.state.reading
        loft = find_id(app, "Loft")
        model = app.app_context.agent.model
        assert isinstance(model, ScriptedModel)
        model.add_replies(expand(loft), ScriptedReply(text="Dried."))
        await ask(pilot, "Where?")
        assert (read(pilot) == "Loft") is is_shown
        assert app.main.session.state.reading == reading, "the person did not choose it"
        assert "Dried." in screen_text(app)
