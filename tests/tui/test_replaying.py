"""A trace of the app is replayed in the app, which says what to know of a model."""

from __future__ import annotations

from pathlib import Path

from roamtui.agent.loop import Agent
from roamtui.conversation.log import Trace
from roamtui.conversation.session import Session
from roamtui.document.source_loader import build_library
from roamtui.models.recorded import RecordedModel
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import TEXT, ask, expand, find_id, running, screen_text

QUESTIONS = ("How many loaves does the deck oven take?", "And the stone oven?")


def start_session() -> Session:
    return Session.start(build_library(RawText(text=TEXT, source="bakery.md", name="bakery")))


async def converse(agent: Agent, script: ScriptedModel | None = None) -> tuple[str, ...]:
    """Ask both questions in an app and return the answers, and what stands on the screen."""
    async with running(RoamApp(AppContext(agent=agent)), (120, 40)) as (app, pilot):
        if script is not None:
            deck, stone = find_id(app, "Deck oven"), find_id(app, "Stone oven")
            script.add_replies(
                expand(deck, stone),
                ScriptedReply(text=f'It takes "ninety loaves" [{deck}].'),
                ScriptedReply(text=f'It takes "forty loaves" [{stone}].'),
            )
        for question in QUESTIONS:
            await ask(pilot, question)
        screen = screen_text(app)
        answers = [exchange.answer for exchange in app.main_screen.session.state.transcript.exchanges]
    return (*answers, screen)


async def test_the_app_shows_the_recorded_answers_again(tmp_path: Path) -> None:
    path = tmp_path / "app.jsonl"
    script = ScriptedModel()
    session = start_session()
    session.trace = Trace(path, lambda entry: entry)
    recorded = await converse(Agent(session, script), script)
    assert "ninety loaves" in recorded[0]
    model = RecordedModel(path)
    assert model.questions == QUESTIONS
    replayed = await converse(Agent(start_session(), model))
    assert replayed[:2] == recorded[:2]
    assert "forty loaves" in replayed[2]
    assert "▸ opened 2 sections · " in replayed[2]
