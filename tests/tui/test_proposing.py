"""Example questions from the model, only when a person asks for them."""

from __future__ import annotations

from roamtui.errors import ModelError
from roamtui.tui.screens.overlays import PickerScreen
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import make_app, screen_text, wait_until


async def test_a_proposed_question_goes_into_the_question_box() -> None:
    app = make_app((ScriptedReply(text="1. How hot is the oven?\n2. Who lights it?\n3. Why steam?"),))
    async with app.run_test() as pilot:
        await pilot.press("f9")
        await wait_until(pilot, lambda: isinstance(app.screen, PickerScreen))
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: app.main.question_box.text == "Who lights it?")
        assert app.main.session.state.transcript.exchanges == ()


async def test_nothing_is_asked_unasked() -> None:
    app = make_app(())
    async with app.run_test() as pilot:
        await pilot.pause()
        model = app.app_context.agent.model
        assert isinstance(model, ScriptedModel)
        assert model.requests == []


async def test_a_failing_model_is_a_message() -> None:
    app = make_app((ScriptedReply(error=ModelError("The server is down.")),))
    async with app.run_test() as pilot:
        await pilot.press("f9")
        await wait_until(pilot, lambda: "The server is down." in screen_text(app))
