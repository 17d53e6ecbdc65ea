"""Choosing colours and models."""

from __future__ import annotations

from itertools import pairwise

import pytest

from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.choose import ModelOffer
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.tui.app import RoamApp
from roamtui.tui.context import TuiOptions
from roamtui.tui.screens.overlays import ConfirmScreen, PickerScreen
from roamtui.tui.themes import DEFAULT_THEME
from tests.tui.driving import ask, make_app, screen_text, wait_until


def refuse() -> Model:
    raise RoamtuiError("The key is gone.")


def make_offering_app() -> RoamApp:
    other = ScriptedModel([ScriptedReply(text="Other.")], name="openai/[b]other")
    offers = (
        ModelOffer(name="openai/[b]other", note="key found", choose=lambda: other, provider="OpenAI"),
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


async def test_another_model_is_used_only_after_a_yes() -> None:
    app = make_offering_app()
    async with app.run_test(size=(100, 30)) as pilot:
        before = app.app_context.agent.model
        await pilot.press("f2", "j", "enter")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        assert "openai/[b]other" in screen_text(app)
        assert "OpenAI." in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.app_context.agent.model is before, "the button with the focus says no"
        await pilot.press("f2", "j", "enter", "y")
        await pilot.pause()
        assert app.app_context.agent.model.name == "openai/[b]other"
        assert "openai/[b]other" in screen_text(app)
        await ask(pilot, "Who?")
        assert app.main.session.state.transcript.exchanges[-1].answer == "Other."


async def test_in_mid_conversation_the_next_question_goes_to_the_other_model_and_is_rebuilt_once() -> None:
    replies = [ScriptedReply(text=f"Other {number}.") for number in range(3)]
    other = ScriptedModel(replies, name="local")
    offers = (ModelOffer(name="local", note="on this machine", choose=lambda: other),)
    app = make_app([ScriptedReply(text="First.")], options=TuiOptions(model_offers=offers))
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot, "One?")
        await pilot.press("f2", "j", "enter")
        await wait_until(pilot, lambda: app.main.status_line.status.model == "local")
        assert app.screen is app.main, "nobody else gets the text, so nobody is asked"
        for question in ("Two?", "Three?", "Four?"):
            await ask(pilot, question)
        exchanges = app.main.session.state.transcript.exchanges
    assert [exchange.model for exchange in exchanges] == ["scripted", "local", "local", "local"]
    sent = [request.messages for request in other.requests]
    assert len(sent) == 3
    assert "First." in [message.text for message in sent[0]]
    for before, after in pairwise(sent):
        assert after[: len(before)] == before, "after one rebuild each request begins with the one before"


async def test_a_chosen_theme_is_kept_and_one_that_was_only_looked_at_is_not() -> None:
    kept: list[tuple[str, str]] = []
    app = make_app(options=TuiOptions(save_setting=lambda key, value: kept.append((key, value))))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f3", "home", "escape", "f3", "enter")
        await pilot.pause()
        assert kept == []
        await pilot.press("f3", "home", "enter")
        await wait_until(pilot, lambda: kept == [("theme", "beacon")])


@pytest.mark.parametrize(("key", "expected"), [("n", []), ("y", [("model", "local")])])
async def test_a_model_is_kept_only_after_a_question(key: str, expected: list[tuple[str, str]]) -> None:
    kept: list[tuple[str, str]] = []
    offers = (ModelOffer(name="local", note="here", choose=lambda: ScriptedModel(name="local")),)
    options = TuiOptions(
        model_offers=offers, save_setting=lambda key, value: kept.append((key, value)), may_save_model=True
    )
    app = make_app(options=options)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("f2", "j", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert kept == []
        await pilot.press(key)
        await wait_until(pilot, lambda: app.screen is app.main and kept == expected)
        assert app.app_context.agent.model.name == "local"


async def test_models_on_this_machine_are_looked_for_when_the_list_is_opened() -> None:
    local = ScriptedModel([ScriptedReply(text="Local.")], name="ollama_chat/tiny")
    asked: list[bool] = []

    def look() -> tuple[tuple[ModelOffer, ...], str]:
        asked.append(True)
        offer = ModelOffer(name=local.name, note="runs on this machine", choose=lambda: local)
        return (offer,), "Ollama at http://127.0.0.1:1: 1 model"

    app = make_app(options=TuiOptions(look_for_models=look))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        assert asked == [], "nothing is asked before a person wants to choose"
        await pilot.press("f2")
        await wait_until(pilot, lambda: "ollama_chat/tiny · runs on this machine" in screen_text(app))
        assert "Ollama at http://127.0.0.1:1: 1 model" in screen_text(app)
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: app.app_context.agent.model is local)
