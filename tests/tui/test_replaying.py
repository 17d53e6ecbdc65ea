"""A conversation is replayed in the app, which says what to know about a model."""

from __future__ import annotations

from pathlib import Path

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import build_library
from roamtui.models.recorded import RecordedModel
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import TEXT, ask, expand, find_id, running, screen_text, wait_until

QUESTIONS = ("How many loaves does the deck oven take?", "And the stone oven?")


def start_conversation(store: ConversationStore | None = None) -> Conversation:
    return Conversation(build_library(RawText(text=TEXT, source="bakery.md", name="bakery")), store=store)


async def converse(agent: Agent, script: ScriptedModel | None = None) -> tuple[str, ...]:
    """Ask both questions in an app and return the answers, and what stands on the screen."""
    async with running(RoamApp(context_of(agent)), (120, 40)) as (app, pilot):
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
        answers = [exchange.answer for exchange in app.main_screen.conversation.state.transcript.exchanges]
    return (*answers, screen)


class NotedModel(ScriptedModel):
    """A model of which there is something to know once it was started."""

    note = ""

    async def start(self) -> None:
        """Find out."""
        self.note = "It has no [b]tool calls[/b]."


async def test_the_app_says_what_to_know_of_a_model_once() -> None:
    app = RoamApp(context_of(Agent(start_conversation(), NotedModel([ScriptedReply(text="Not found: no.")]))))
    async with app.run_test(size=(120, 40)) as pilot:
        await wait_until(pilot, "It has no [b]tool calls[/b].")
        await ask(pilot, QUESTIONS[0])
        assert screen_text(app).count("tool calls") == 1


async def test_the_app_shows_the_recorded_answers_again(tmp_path: Path) -> None:
    script = ScriptedModel()
    conversation = start_conversation(ConversationStore(tmp_path / "conversations"))
    recorded = await converse(Agent(conversation, script), script)
    assert "ninety loaves" in recorded[0]
    model = RecordedModel(tmp_path / "conversations" / f"{conversation.state.id}.jsonl")
    assert model.questions == QUESTIONS
    replayed = await converse(Agent(start_conversation(), model))
    assert replayed[:2] == recorded[:2]
    assert "forty loaves" in replayed[2]
    assert "▸ opened 2 sections" in replayed[2]
