"""What the first view says to a person who was here before."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.document.source_loader import build_library
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import EXAMPLES, TEXT, expand, find_id, running, screen_text, wait_until

QUESTION = "How many loaves?"
QUOTE = "The deck oven takes ninety loaves"


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "conversations")


def make_app(store: ConversationStore, text: str = TEXT) -> RoamApp:
    library = build_library(RawText(text=text, source="bakery.md", name="bakery"))
    places = store.notes_folder.with_name("places.json")
    agent = Agent(Conversation.start(library, store=store), ScriptedModel())
    return RoamApp(AppContext(agent=agent, options=TuiOptions(examples=EXAMPLES, reading_positions_path=places)))


async def ask_about_deck_oven(store: ConversationStore) -> None:
    library: Library = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
    deck = next(one for one in library.walk() if library.title_of(one) == "Deck oven")
    model = ScriptedModel([expand(deck), ScriptedReply(text=f'"{QUOTE}" [{deck}].')])
    session = Conversation.start(library, store=store)
    await Agent(session, model).ask(QUESTION)
    session.close()


async def test_a_newcomer_sees_what_the_program_does_and_how_to_take_a_question(store: ConversationStore) -> None:
    async with running(make_app(store)) as (app, pilot):
        await wait_until(pilot, lambda: "Try · ↑ takes one" in screen_text(app))
        text = screen_text(app)
        assert "A model reads the outline" in text
        assert not any(word in text for word in ("Reading ", "Saved", "/reader"))
        await pilot.press("up")
        assert app.main_screen.question_box.text == EXAMPLES[0]


async def test_a_command_continues_where_the_reader_was(store: ConversationStore) -> None:
    async with running(make_app(store), (120, 35)) as (app, pilot):
        await wait_until(pilot, lambda: app.main_screen.startup.is_ready)
        app.main_screen.reader_controller.read(find_id(app, "Dough"), came_from=None)
        await wait_until(pilot, lambda: app.main_screen.reader_pane.reader.position is not None)
    async with running(make_app(store), (120, 35)) as (app, pilot):
        await wait_until(pilot, lambda: "Reading  Dough, " in screen_text(app))
        text = screen_text(app)
        assert "% · /reader continues" in text
        assert "A model reads the outline" not in text
        await pilot.press(*"/reader", "enter")
        await wait_until(pilot, lambda: "Dough is made the evening before." in screen_text(app))
        assert app.main_screen.focused is app.main_screen.reader_pane.reader


async def test_saved_conversations_are_named_and_one_can_be_resumed(store: ConversationStore) -> None:
    await ask_about_deck_oven(store)
    async with running(make_app(store)) as (app, pilot):
        await wait_until(pilot, lambda: "Saved · f4 lists them" in screen_text(app) and QUESTION in screen_text(app))
        assert "no longer in the document" not in screen_text(app)
        app.main_screen.panes.focus_chat()
        await pilot.press("j", "enter")
        await wait_until(pilot, lambda: QUOTE in screen_text(app))
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: "Saved · f4" in screen_text(app))


async def test_quotes_that_a_changed_document_has_lost_are_listed(store: ConversationStore) -> None:
    await ask_about_deck_oven(store)
    async with running(make_app(store, TEXT.replace("ninety", "eighty"))) as (app, pilot):
        await wait_until(pilot, lambda: "! 1 quote is no longer in the document" in screen_text(app))
        assert f"“{QUOTE}”" in screen_text(app)
    async with running(make_app(store, f"{TEXT}\nMore.\n")) as (app, pilot):
        await wait_until(pilot, lambda: "Saved · f4" in screen_text(app))
        await wait_until(pilot, lambda: all(worker.is_finished for worker in app.workers))
        assert "no longer in the document" not in screen_text(app)
