"""What the first view says to a person who was here before."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import TuiOptions
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import EXAMPLES, TEXT, expand, press_until, running, screen_text, wait_until

QUESTION = "How many loaves?"
QUOTE = "The deck oven takes ninety loaves"


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "conversations")


def make_app(store: ConversationStore, text: str = TEXT) -> RoamApp:
    library = build_library(RawText(text=text, source="bakery.md", name="bakery"))
    agent = Agent(Conversation(library, store=store), ScriptedModel())
    return RoamApp(context_of(agent, options=TuiOptions(examples=EXAMPLES)))


async def ask_about_deck_oven(store: ConversationStore) -> None:
    library: Library = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
    deck = next(one for one in library.walk() if library.title_of(one) == "Deck oven")
    model = ScriptedModel([expand(deck), ScriptedReply(text=f'"{QUOTE}" [{deck}].')])
    session = Conversation(library, store=store)
    await Agent(session, model).ask(QUESTION)
    session.close()


async def test_a_newcomer_sees_what_the_document_is_and_how_to_take_a_question(store: ConversationStore) -> None:
    async with running(make_app(store)) as (app, pilot):
        await wait_until(pilot, "Try · ↑ takes one")
        text = screen_text(app)
        assert "3 chapters, ~" in text
        assert not any(word in text for word in ("Saved",))
        await pilot.press("up")
        assert app.main_screen.question_box.text == EXAMPLES[0]


async def test_saved_conversations_are_named_and_one_can_be_resumed(store: ConversationStore) -> None:
    await ask_about_deck_oven(store)
    async with running(make_app(store)) as (app, pilot):
        await wait_until(pilot, lambda: "Saved · f4 lists them" in screen_text(app) and QUESTION in screen_text(app))
        assert "no longer in the document" not in screen_text(app)
        app.main_screen.panes.focus_chat()
        await press_until(pilot, lambda: QUOTE in screen_text(app), "j", "enter")
        await press_until(pilot, "Saved · f4", "ctrl+n")
