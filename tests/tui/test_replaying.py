"""The recorded answer is watched in the app, which says what to know about a model."""

from __future__ import annotations

from roamtui.agent.loop import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.transcript import QuoteState
from roamtui.document.loader import build_library
from roamtui.launch import EXAMPLE, Launch
from roamtui.models.options import OFFLINE
from roamtui.models.recorded import RecordedModel
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import TEXT, ask, screen_text, wait_until


class NotedModel(ScriptedModel):
    """A model of which there is something to know once it was started."""

    note = ""

    async def start(self) -> None:
        """Find out."""
        self.note = "It has no [b]tool calls[/b]."


async def test_the_app_says_what_to_know_of_a_model_once() -> None:
    library = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
    app = RoamApp(context_of(Agent(Conversation(library), NotedModel([ScriptedReply(text="Not found: no.")]))))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, "It has no [b]tool calls[/b].")
        await ask(pilot, "How many loaves?")
        assert screen_text(app).count("tool calls") == 1


async def test_the_recorded_answer_shows_a_false_quote_and_then_the_box_is_free() -> None:
    model = RecordedModel(seconds_per_word=0)
    app = RoamApp(Launch(bootstrap=Bootstrap(), sources=(str(EXAMPLE),)).open((str(EXAMPLE),), None, model))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, "Pay early to keep borrowing.")
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        (exchange,) = app.main_screen.conversation.state.transcript.exchanges
        states = [citation.state for citation in exchange.citations]
        assert [state.value for state in states].count("not_found") == 1
        assert QuoteState.FOUND in states
        assert "Recorded: a person played the model" in screen_text(app)
        await ask(pilot, "When does the main counter open on Saturday?")
        assert "no model has read them" in screen_text(app)


async def test_esc_stops_the_recorded_answer() -> None:
    app = RoamApp(Launch(bootstrap=Bootstrap()).open((str(EXAMPLE),), None, RecordedModel(seconds_per_word=60)))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, lambda: app.main_screen.is_asking)
        await pilot.press("escape")
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert app.main_screen.agent.model.name == OFFLINE
