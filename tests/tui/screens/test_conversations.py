"""The list of saved conversations: going on, beginning anew, branching off, renaming, deleting, exporting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationLog, ConversationStore
from roamtui.conversation.question_flow import begin_question
from roamtui.document.library import Library
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.conversations import ConversationsScreen
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog
from tests.conversation.conversations import PROMPT_CONTEXT
from tests.fakes.scripted_model import ScriptedReply, SlowModel
from tests.tui.driving import (
    app_of,
    ask,
    expand,
    find_id,
    make_context,
    model_of,
    screen_text,
    wait_until,
)


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "conversations")


@pytest.fixture
def app(store: ConversationStore) -> RoamApp:
    return RoamApp(make_context(store=store))


async def talk(pilot: Pilot[None], question: str, title: str) -> None:
    """Ask a question for which the model opens and cites a section."""
    app = app_of(pilot)
    section_id = find_id(app, title)
    model_of(app).add_replies(expand(section_id), ScriptedReply(text=f"See [{section_id}]."))
    await ask(pilot, question)


async def make_two(pilot: Pilot[None]) -> None:
    """Hold a conversation about steam, then one about the starter."""
    await talk(pilot, "What of steam?", "Steam")
    await pilot.press("ctrl+n")
    await wait_until(pilot, lambda: not app_of(pilot).main_screen.conversation.state.transcript.exchanges)
    await talk(pilot, "What of the starter?", "Starter")


async def open_list(pilot: Pilot[None]) -> None:
    await pilot.press("f4")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, ConversationsScreen))
    await wait_until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)
    await pilot.pause()


def listed(app: RoamApp) -> list[str]:
    assert isinstance(app.screen, ConversationsScreen)
    return [row.line.plain.split("\n")[0] for row in app.screen.list_rows(app.screen.typed)]


async def test_a_new_conversation_shows_nothing_of_the_one_before(app: RoamApp, store: ConversationStore) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await talk(pilot, "What of steam?", "Steam")
        first = app.main_screen.conversation.state.id
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: app.main_screen.conversation.state.id != first)
        await wait_until(pilot, lambda: "Try" in screen_text(app))
        shown = screen_text(app)
        assert "❯ What of steam?" not in shown  # only the welcome names it, among the saved ones
        assert "No open sections" in shown
        assert app.main_screen.focused is app.main_screen.question_box
        assert [summary.id for summary in store.list()] == [first]


async def test_search_as_typed_goes_over_questions_and_answers(app: RoamApp) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        steam = find_id(app, "Steam")
        await open_list(pilot)
        await pilot.press("/", *steam)
        await wait_until(pilot, lambda: listed(app) == ["What of steam?"])
        await pilot.press("enter", "enter")
        await wait_until(pilot, lambda: "❯ What of steam?" in screen_text(app))


async def test_a_conversation_is_deleted_after_a_yes(app: RoamApp, store: ConversationStore) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        await open_list(pilot)
        await pilot.press("j", "d", "n")
        await wait_until(pilot, lambda: len(listed(app)) == 2)
        await pilot.press("d", "y")
        await wait_until(pilot, lambda: "Deleted." in screen_text(app))
        assert listed(app) == ["What of the starter?  ● now"]
        assert [one.title for one in store.list()] == ["What of the starter?"]


@pytest.mark.parametrize("downs", [0, 1])
async def test_a_new_title_is_shown_and_saved(app: RoamApp, store: ConversationStore, downs: int) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        await open_list(pilot)
        await pilot.press(*["j"] * downs, "e")
        await wait_until(pilot, lambda: isinstance(app.screen, PromptDialog))
        app.screen.query_one(Input).value = "[b]Mine[/b]"
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await wait_until(pilot, lambda: "[b]Mine[/b]" in " ".join(listed(app)))
        renamed_id = next(summary.id for summary in store.list() if summary.title == "[b]Mine[/b]")
        assert store.load(renamed_id).title == "[b]Mine[/b]"
        await pilot.press("escape")
        await talk(pilot, "And?", "Dough")
        assert store.load(renamed_id).title == "[b]Mine[/b]", "a save does not bring the old title back"


async def type_path(pilot: Pilot[None], path: Path | None = None) -> None:
    """Answer the prompt for a path with another one, or with the one that it proposes."""
    await pilot.press("w")
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, PromptDialog))
    if path is not None:
        pilot.app.screen.query_one(Input).value = str(path)
    await pilot.press("enter")
    await pilot.pause()


@pytest.mark.parametrize(
    ("name", "start"), [(None, "# What of"), ("mine.TXT", "# What of"), ("a.JSON", "{"), ("a.html", "<!doctype html>")]
)
async def test_the_suffix_of_the_path_chooses_the_format_of_an_export(
    app: RoamApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None, start: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / (name or "what-of-the-starter.md")
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        await open_list(pilot)
        await type_path(pilot, None if name is None else file)
        await wait_until(pilot, lambda: file.exists() and "Saved" in screen_text(app))
    text = file.read_text("utf-8")
    assert text.lower().startswith(start.lower())
    assert "What of the starter?" in text


@pytest.mark.parametrize("key", ["n", "y"])
async def test_a_file_is_replaced_only_after_a_yes(app: RoamApp, tmp_path: Path, key: str) -> None:
    file = tmp_path / "mine.md"
    file.write_text("mine", "utf-8")
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        await open_list(pilot)
        await type_path(pilot, file)
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert file.read_text("utf-8") == "mine"
        await pilot.press(key)
        await wait_until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await wait_until(pilot, lambda: "Saved" in screen_text(app) or "Not saved" in screen_text(app))
    assert (file.read_text("utf-8") == "mine") is (key == "n")


async def test_the_page_of_another_document_loads_it_or_says_that_it_cannot(
    app: RoamApp, store: ConversationStore, tmp_path: Path
) -> None:
    library = build_library(RawText(text="# Other\n\n## Marmots\n", source="/x/other.md", name="o"))
    other = Conversation.start(library, store=store)
    await other.apply(begin_question(other.state, "Elsewhere?", PROMPT_CONTEXT))
    other.close()
    async with app.run_test(size=(120, 35)) as pilot:
        await talk(pilot, "What of steam?", "Steam")
        await open_list(pilot)
        await pilot.press("t", "j")
        await pilot.pause()
        await type_path(pilot, tmp_path / "a.html")
        await wait_until(pilot, lambda: "A page needs its document" in screen_text(app))
        assert not (tmp_path / "a.html").exists()
        opened: list[str] = []

        def open_source(source: str) -> tuple[Library, None]:
            opened.append(source)
            return library, None

        app.main_screen.conversation.open_source = open_source
        await type_path(pilot, tmp_path / "a.html")
        await wait_until(pilot, (tmp_path / "a.html").exists)
    assert opened == ["/x/other.md"]


async def test_of_a_document_that_is_gone_the_list_says_how_its_conversation_goes_on(
    app: RoamApp, store: ConversationStore
) -> None:
    other = Conversation.start(build_library(RawText(text="# Other\n", source="/x/gone.md", name="o")), store=store)
    await other.apply(begin_question(other.state, "Elsewhere?", PROMPT_CONTEXT))
    other.close()
    async with app.run_test(size=(120, 35)) as pilot:
        await talk(pilot, "What of steam?", "Steam")
        await open_list(pilot)
        assert listed(app) == ["What of steam?  ● now"]
        await pilot.press("t", "j")
        await pilot.pause()
        assert listed(app) == ["What of steam?  ● now", "Elsewhere?"]
        await pilot.press("enter")
        await pilot.pause()
        assert f"roamtui NEW_PATH --conversation {other.state.id}" in screen_text(app)


async def test_a_branch_leaves_the_other_conversation_as_it_was(app: RoamApp, store: ConversationStore) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        for question, title in (("One?", "Steam"), ("Two?", "Starter"), ("Three?", "Dough")):
            await talk(pilot, question, title)
        trunk = app.main_screen.conversation.state
        app.main_screen.panes.focus_chat()
        await pilot.press("f")
        await wait_until(pilot, lambda: app.main_screen.conversation.state.id != trunk.id)
        await wait_until(pilot, lambda: app.main_screen.question_box.text == "Three?")
        assert app.main_screen.conversation.state.open_ids == trunk.open_ids[:2]
        assert "Three?" not in screen_text(app).split("╭")[0]
        await talk(pilot, "Otherwise?", "Deck oven")
        questions = {s.id: [e.question for e in store.load(s.id).transcript.exchanges] for s in store.list()}
    assert questions == {
        trunk.id: ["One?", "Two?", "Three?"],
        app.main_screen.conversation.state.id: ["One?", "Two?", "Otherwise?"],
    }


class SlowStore(ConversationStore):
    """Opens a conversation when a gate is opened."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = Event()

    @override
    def open(self, conversation_id: str) -> tuple[ConversationLog, str]:
        assert self.gate.wait(20)
        return super().open(conversation_id)


@dataclass
class Turning:
    """A conversation of two questions, and a question sent while an earlier one is being opened in its place."""

    app: RoamApp
    pilot: Pilot[None]
    store: SlowStore
    first_id: str
    second_id: str
    model_gate: asyncio.Event

    async def finish(self) -> None:
        """Let the conversation open, then the model start."""
        self.store.gate.set()
        await wait_until(self.pilot, lambda: self.app.main_screen.conversation.state.id == self.first_id)
        self.model_gate.set()
        await wait_until(self.pilot, lambda: not self.app.main_screen.is_asking)
        await self.pilot.pause()

    def questions(self, conversation_id: str) -> list[str]:
        """Return the questions that a conversation has on disk."""
        return [exchange.question for exchange in self.store.load(conversation_id).transcript.exchanges]


@asynccontextmanager
async def turning(tmp_path: Path) -> AsyncIterator[Turning]:
    store = SlowStore(tmp_path / "conversations")
    app = RoamApp(make_context(store=store))
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        second_id = app.main_screen.conversation.state.id
        first_id = next(summary.id for summary in store.list() if summary.id != second_id)
        await talk(pilot, "And who feeds it?", "Starter")
        gate = asyncio.Event()
        model = SlowModel([ScriptedReply(text="Yes.")] * 2, gate=gate)
        app.app_context.agent.model = model
        yield Turning(app, pilot, store, first_id, second_id, gate)


async def test_a_question_sent_while_another_conversation_opens_is_asked_there_and_once(tmp_path: Path) -> None:
    async with turning(tmp_path) as case:
        screen = case.app.main_screen
        screen.resume_conversation(case.first_id)
        screen.question_box.fill("Is it hot?")
        await case.pilot.press("enter")
        await case.finish()
        assert case.questions(case.first_id) == ["What of steam?", "Is it hot?"]
        assert case.questions(case.second_id) == ["What of the starter?", "And who feeds it?"]
        assert screen.question_box.text == ""
        assert screen_text(case.app).count("Is it hot?") == 1


async def test_a_question_asked_again_while_another_conversation_opens_goes_back_into_the_box(tmp_path: Path) -> None:
    async with turning(tmp_path) as case:
        screen = case.app.main_screen
        screen.panes.focus_chat()
        screen.resume_conversation(case.first_id)
        await case.pilot.press("r")
        await case.finish()
        assert case.questions(case.first_id) == ["What of steam?"]
        assert case.questions(case.second_id) == ["What of the starter?", "And who feeds it?"]
        assert screen.question_box.text == "And who feeds it?"
