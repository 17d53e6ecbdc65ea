"""Finding sections by what they say: typed, walked, read, opened and marked in the outline."""

from __future__ import annotations

from textual.pilot import Pilot
from textual.widgets import Input

from roamtui.agent.loop import Agent
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from roamtui.tui.screens.find import FindScreen
from tests.tui.driving import app_of, ask, find_id, make_context, screen_text, wait_until


def make_searching_app(*replies: ScriptedReply) -> RoamApp:
    context = make_context()
    session = context.agent.session
    searcher = KeywordSearcher(session.state.library)
    return RoamApp(AppContext(agent=Agent(session, ScriptedModel(replies), searcher)))


async def find(pilot: Pilot[None], words: str) -> FindScreen:
    """Open the screen, type, and wait for hits."""
    await pilot.press("ctrl+f")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, FindScreen))
    screen = pilot.app.screen
    assert isinstance(screen, FindScreen)
    screen.query_one(Input).value = words
    await wait_until(pilot, lambda: screen.found.query == words)
    await pilot.pause()
    return screen


async def test_hits_come_as_typed_with_place_sentence_and_reason() -> None:
    app = make_searching_app()
    async with app.run_test(size=(120, 35)) as pilot:
        screen = await find(pilot, "how many loaves does the stone oven take")
        assert screen.found.hits[0].section_id == find_id(app, "Stone oven")
        text = screen_text(app)
        assert " 1  Stone oven  Ovens" in text
        assert "The stone oven takes forty loaves." in text
        assert screen.found.hits[0].why == "text rank 1"
        assert "text rank 1" not in text, "the number says it"


async def test_enter_reads_the_chosen_hit_with_its_sentence_marked() -> None:
    app = make_searching_app()
    async with app.run_test(size=(120, 35)) as pilot:
        second = (await find(pilot, "loaves")).found.hits[1]
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: app.main.reader_pane.section_id is not None)
        assert app.main.reader_pane.section_id == second.section_id
        await wait_until(pilot, lambda: app.main.tree_pane.outline.cursor_id == second.section_id)
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: "The deck oven takes ninety loaves." in screen_text(app))


async def test_what_was_found_is_marked_in_the_outline_by_whoever_searched() -> None:
    app = make_searching_app()
    async with app.run_test(size=(120, 35)) as pilot:
        await find(pilot, "rye at noon")
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main)
        assert "Dough ⌕1" in screen_text(app)
        app.main.tree_pane.go_to(find_id(app, "Starter"))
        await wait_until(pilot, lambda: "Starter ⌕" in screen_text(app))
        model = app_of(pilot).app_context.agent.model
        assert isinstance(model, ScriptedModel)
        search = ScriptedReply(calls=(("search_sections", {"query": "ninety"}),))
        model.add_replies(search, ScriptedReply(text="Ninety."))
        await ask(pilot, "How many loaves fit?")
        assert "Starter ⌕" not in screen_text(app)
        assert "Ovens ⌕" in screen_text(app)
