"""Choosing colours and models."""

from __future__ import annotations

from textual.widgets import OptionList

from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.notice_view import NoticeView
from roamtui.tui.context import ModelOffer, TuiOptions
from roamtui.tui.screens.confirm import ConfirmScreen
from roamtui.tui.screens.picker import PickerScreen
from roamtui.tui.themes import DEFAULT_THEME
from tests.tui.driving import ask, make_app, screen_text


def refuse() -> Model:
    raise RoamtuiError("The key is gone.")


def make_offering_app() -> RoamApp:
    other = ScriptedModel([ScriptedReply(text="Other.")], name="openai/[b]other")
    offers = (
        ModelOffer(name="openai/[b]other", note="key found", choose=lambda: other),
        ModelOffer(name="broken", note="key gone", choose=refuse),
    )
    return make_app([ScriptedReply(text="First.")], options=TuiOptions(model_offers=offers))


async def test_a_theme_shows_itself_and_stays_when_chosen() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f3")
        assert isinstance(app.screen, PickerScreen)
        await pilot.press("home")
        await pilot.pause()
        assert app.theme == "beacon"
        await pilot.press("enter")
        await pilot.pause()
        assert app.theme == "beacon"
        assert len(app.screen_stack) == 1


async def test_leaving_the_list_brings_the_old_theme_back() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f3", "home", "escape")
        await pilot.pause()
        assert app.theme == DEFAULT_THEME


async def test_bundled_themes_go_before_those_of_textual() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f3")
        options = app.screen.query_one(OptionList)
        names = [str(options.get_option_at_index(index).prompt) for index in range(6)]
    assert [name[2:].split(" · ")[0] for name in names] == [
        "beacon",
        "dawn",
        "dusk",
        "harbour",
        "noon",
        "parchment",
    ]


async def test_another_model_is_used_only_after_a_yes() -> None:
    app = make_offering_app()
    async with app.run_test(size=(100, 30)) as pilot:
        before = app.app_context.agent.model
        await pilot.press("f2", "j", "enter")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        assert "openai/[b]other" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.app_context.agent.model is before, "the button with the focus says no"
        await pilot.press("f2", "j", "enter", "y")
        await pilot.pause()
        assert app.app_context.agent.model.name == "openai/[b]other"
        assert "openai/[b]other" in screen_text(app)
        await ask(pilot, "Who?")
        assert app.main.session.state.transcript.exchanges[-1].answer == "Other."


async def test_a_model_that_cannot_be_used_is_told() -> None:
    app = make_offering_app()
    async with app.run_test(size=(100, 30)) as pilot:
        before = app.app_context.agent.model
        await pilot.press("f2", "j", "j", "enter", "y")
        await pilot.pause()
        assert app.app_context.agent.model is before
        assert [notice.text for notice in app.screen.query(NoticeView)] == ["The key is gone."]


async def test_without_offers_the_list_says_how_to_get_some() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f2")
        await pilot.pause()
        assert "OPENAI_API_KEY" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen is app.main
