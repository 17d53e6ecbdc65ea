"""The first screen: it stands before the agent is made, says what the document is, and plays the recorded answer."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from textual.screen import Screen
from typing_extensions import override

from roamtui.bootstrap import Bootstrap
from roamtui.conversation.events import QuoteState
from roamtui.conversation.log import ConversationStore
from roamtui.launch import EXAMPLE, AppServices
from roamtui.models.base import OFFLINE
from roamtui.models.recorded import RecordedModel
from roamtui.tui.app import RoamApp
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import app_over
from tests.tui.driving import EXAMPLES, ask, make_app, make_context, running, screen_text, wait_until


async def test_the_first_paint_shows_all_panes_that_fit() -> None:
    seen: list[str] = []

    class PaintedApp(RoamApp):
        @override
        def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
            seen.append(screen_text(self))
            super()._display(screen, renderable)

    context = make_context()
    async with running(PaintedApp(context.options, context), (160, 35)) as (_, pilot):
        await wait_until(pilot, lambda: any("3 chapters" in text for text in seen))
    first = next(text for text in seen if "3 chapters" in text)
    assert "▸ Ovens" in first
    assert " Reader" in first


async def test_a_question_that_is_typed_at_once_is_answered() -> None:
    app = make_app([ScriptedReply(text="Forty.")])
    async with app.run_test(size=(120, 35)) as pilot:
        app.main_screen.question_box.fill("How many?")
        app.main_screen.question_box.action_send()
        await wait_until(pilot, "Forty.")


async def test_an_app_can_be_left_before_its_first_screen() -> None:
    app = make_app()
    app.call_later(app.exit)
    await app.run_async(headless=True)
    assert app.return_code == 0


async def test_a_newcomer_sees_what_the_document_is_and_how_to_take_a_question(tmp_path: Path) -> None:
    async with running(make_app(store=ConversationStore(tmp_path / "conversations"))) as (app, pilot):
        await wait_until(pilot, "Try · ↑ takes one")
        text = screen_text(app)
        assert "3 chapters, ~" in text
        assert "Saved" not in text
        await pilot.press("up")
        assert app.main_screen.question_box.text == EXAMPLES[0]


class NotedModel(ScriptedModel):
    """A model of which there is something to know once it was started."""

    note = ""

    @override
    async def start(self) -> None:
        self.note = "It has no [b]tool calls[/b]."


async def test_the_app_says_what_to_know_of_a_model_once() -> None:
    app = make_app(model=NotedModel([ScriptedReply(text="Not found: no.")]))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, "It has no [b]tool calls[/b].")
        await ask(pilot, "How many loaves?")
        assert screen_text(app).count("tool calls") == 1


async def test_the_recorded_answer_shows_a_false_quote_and_then_the_box_is_free() -> None:
    model = RecordedModel(seconds_per_word=0)
    app = app_over(AppServices(Bootstrap()).open((str(EXAMPLE),), None, model))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, "Pay early to keep borrowing.")
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        (exchange,) = app.main_screen.conversation.state.exchanges
        states = [citation.state for citation in exchange.citations]
        assert [state.value for state in states].count("not_found") == 1
        assert QuoteState.FOUND in states
        assert "A recorded demo: a person wrote" in screen_text(app)
        store = app.main_screen.conversation.store
        assert store is not None
        assert store.list() == (), "the person has asked nothing"
        await ask(pilot, "When does the main counter open on Saturday?")
        assert "no model has read them" in screen_text(app)
        assert [one.questions for one in store.list()] == [2]


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
async def test_the_key_that_is_named_stops_the_recorded_answer_and_so_does_esc(key: str) -> None:
    app = app_over(AppServices(Bootstrap()).open((str(EXAMPLE),), None, RecordedModel(seconds_per_word=60)))
    async with app.run_test(size=(220, 40)) as pilot:
        await wait_until(pilot, lambda: app.main_screen.is_asking)
        await wait_until(pilot, "ctrl+c stops")
        assert "esc stops" not in screen_text(app)
        await pilot.press(key)
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert app.main_screen.agent.model.name == OFFLINE
