"""The list of saved conversations: going on, beginning anew, branching off, renaming, deleting, exporting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList
from typing_extensions import override

from roamtui.conversation.events import ConversationRenamed
from roamtui.conversation.log import ConversationLog, ConversationStore
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.conversations import ConversationsScreen
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog
from tests.fakes.scripted_model import ScriptedReply, SlowModel
from tests.fakes.services import app_over
from tests.tui.driving import app_of, ask, expand, find_id, make_context, model_of, press_until, screen_text, wait_until


@pytest.fixture
def app(store: ConversationStore) -> RoamApp:
    return app_over(make_context(store=store))


async def talk(pilot: Pilot[None], question: str, title: str) -> None:
    """Ask a question for which the model opens and cites a section."""
    app = app_of(pilot)
    section_id = find_id(app, title)
    model_of(app).add_replies(expand(section_id), ScriptedReply(text=f"See [{section_id}]."))
    await ask(pilot, question)


async def make_two(pilot: Pilot[None]) -> None:
    """Hold a conversation about steam, then one about the starter."""
    await talk(pilot, "What of steam?", "Steam")
    await press_until(pilot, lambda: not app_of(pilot).main_screen.conversation.state.exchanges, "ctrl+n")
    await talk(pilot, "What of the starter?", "Starter")


async def open_list(pilot: Pilot[None]) -> None:
    await press_until(pilot, ConversationsScreen, "f4")
    await wait_until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count > 0)
    await pilot.pause()


@asynccontextmanager
async def listing(app: RoamApp) -> AsyncIterator[Pilot[None]]:
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        await open_list(pilot)
        yield pilot


def listed(app: RoamApp) -> list[str]:
    assert isinstance(app.screen, ConversationsScreen)
    return [row.line.plain.split("\n")[0] for row in app.screen.list_rows(app.screen.typed)]


async def test_while_one_types_the_foot_says_how_to_get_to_the_keys_of_the_list(app: RoamApp) -> None:
    async with listing(app) as pilot:
        await press_until(pilot, "enter to go to the list and its keys, esc to clear the search", "/", "s")
        assert "d delete" not in screen_text(app)
        await press_until(pilot, "d delete", "enter")
        assert listed(app), "what was typed still filters"


@pytest.mark.parametrize("height", [1, 2, 5])
async def test_a_list_without_room_for_a_line_takes_every_key(app: RoamApp, height: int) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await make_two(pilot)
        await press_until(pilot, ConversationsScreen, "f4")
        app.screen.query_one(OptionList).focus()
        await pilot.resize_terminal(100, height)
        await pilot.press("pagedown", "pageup", "down", "end", "home")
        await pilot.pause()
        assert isinstance(app.screen, ConversationsScreen)


async def test_a_new_conversation_shows_nothing_of_the_one_before(app: RoamApp, store: ConversationStore) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await press_until(pilot, "No conversations yet", "f4")
        await press_until(pilot, lambda: app.screen is app.main_screen, "escape")
        await talk(pilot, "What of steam?", "Steam")
        first = app.main_screen.conversation.state.id
        await press_until(pilot, lambda: app.main_screen.conversation.state.id != first, "ctrl+n")
        await wait_until(pilot, "Try")
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
        await press_until(pilot, lambda: listed(app) == ["What of steam?"], "/", *steam)
        await press_until(pilot, "❯ What of steam?", "enter", "enter")


async def test_a_damaged_conversation_is_listed_and_is_not_resumed(app: RoamApp, store: ConversationStore) -> None:
    log = store.start("da3a9ed", ())
    log.events.append(ConversationRenamed(title="Lost"))
    log.save()
    log.close()
    async with app.run_test(size=(120, 35)) as pilot:
        await talk(pilot, "What of steam?", "Steam")
        await open_list(pilot)
        assert listed(app) == ["What of steam?  ● now", "Conversation da3a9ed"]
        await press_until(pilot, "Cannot resume this conversation. It is damaged and cannot be read.", "j", "enter")
        await press_until(pilot, "Deleted.", "d", "y")


async def test_a_conversation_is_deleted_after_a_yes(app: RoamApp, store: ConversationStore) -> None:
    async with listing(app) as pilot:
        await press_until(pilot, lambda: len(listed(app)) == 2, "j", "d", "n")
        await press_until(pilot, "Deleted.", "d", "y")
        assert listed(app) == ["What of the starter?  ● now"]
        assert [one.title for one in store.list()] == ["What of the starter?"]


async def test_an_empty_line_is_refused_with_a_sentence_until_something_is_typed(app: RoamApp) -> None:
    async with listing(app) as pilot:
        await press_until(pilot, "What of the starter?", "e")
        app.screen.query_one(Input).value = " "
        await press_until(pilot, "Type something, or press esc to cancel.", "enter")
        await press_until(pilot, lambda: "Type something" not in screen_text(app), "x")
        await press_until(pilot, "Renamed to “x”.", "enter")


async def type_path(pilot: Pilot[None], path: Path | None = None) -> None:
    """Answer the prompt for a path with another one, or with the one that it proposes, whose end is in view."""
    if not isinstance(pilot.app.screen, PromptDialog):
        await press_until(pilot, PromptDialog, "w")
    if path is None:
        await wait_until(pilot, "what-of-the-starter.md")
    else:
        pilot.app.screen.query_one(Input).value = str(path)
    await pilot.press("enter")
    await pilot.pause()


@pytest.mark.parametrize(("name", "start"), [(None, "# What of"), ("a.JSON", "{"), ("a.html", "<!doctype html>")])
async def test_the_suffix_of_the_path_chooses_the_format_of_an_export_and_others_are_refused(
    app: RoamApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None, start: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / (name or "what-of-the-starter.md")
    async with listing(app) as pilot:
        if name is not None:
            await type_path(pilot, tmp_path / "a.doc")
            await wait_until(pilot, "must end in .md or .json or .html")
            assert "a.doc" in screen_text(app), "what was typed can be corrected"
            await type_path(pilot, tmp_path / "no" / "such" / "folder.md")
            await wait_until(pilot, lambda: "There is no folder" in screen_text(app))
            assert f"{Path('no')}. Create it, or choose another." in " ".join(screen_text(app).split())
            assert "folder.md" in app.screen.query_one(Input).value
        await type_path(pilot, None if name is None else file)
        await wait_until(pilot, lambda: file.exists() and "Saved" in screen_text(app))
    assert not (tmp_path / "a.doc").exists()
    text = file.read_text("utf-8")
    assert text.lower().startswith(start.lower())
    assert "What of the starter?" in text


async def test_the_conversation_that_is_shown_is_exported_from_there(app: RoamApp, tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    async with app.run_test(size=(120, 35)) as pilot:
        await talk(pilot, "What of steam?", "Steam")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await type_path(pilot, file)
        await wait_until(pilot, "Saved")
    assert "What of steam?" in file.read_text("utf-8")


@pytest.mark.parametrize("key", ["n", "y"])
async def test_a_file_is_replaced_only_after_a_yes(app: RoamApp, tmp_path: Path, key: str) -> None:
    file = tmp_path / "mine.md"
    file.write_text("mine", "utf-8")
    async with listing(app) as pilot:
        await type_path(pilot, file)
        await wait_until(pilot, ConfirmDialog)
        assert file.read_text("utf-8") == "mine"
        await pilot.press(key)
        if key == "n":
            await wait_until(pilot, "Choose another name, or press esc to cancel.")
            await pilot.press("escape")
        await wait_until(pilot, ConversationsScreen)
        assert ("Saved" in screen_text(app)) is (key == "y")
    assert (file.read_text("utf-8") == "mine") is (key == "n")


class SlowStore(ConversationStore):
    """Opens a conversation when a gate is opened."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = Event()

    @override
    def open(self, conversation_id: str) -> tuple[ConversationLog, str]:
        assert self.gate.wait(20)
        return super().open(conversation_id)


@pytest.mark.parametrize("is_asked_again", [False, True])
async def test_a_question_sent_while_another_conversation_opens_is_asked_there_or_goes_back_into_the_box(
    tmp_path: Path, *, is_asked_again: bool
) -> None:
    store = SlowStore(tmp_path / "conversations")
    app = app_over(make_context(store=store))
    async with app.run_test(size=(120, 35)) as pilot:
        await make_two(pilot)
        screen = app.main_screen
        second_id = screen.conversation.state.id
        first_id = next(summary.id for summary in store.list() if summary.id != second_id)
        await talk(pilot, "And who feeds it?", "Starter")
        gate = asyncio.Event()
        app.main_screen.app_context.agent.model = SlowModel([ScriptedReply(text="Yes.")] * 2, gate=gate)
        screen.run_worker(screen.conversation.open(first_id))
        if is_asked_again:
            screen.panes.focus_scope(Scope.CHAT)
        else:
            screen.question_box.fill("Is it hot?")
        await pilot.press("r" if is_asked_again else "enter")
        store.gate.set()
        await wait_until(pilot, lambda: screen.conversation.state.id == first_id)
        gate.set()
        await wait_until(pilot, lambda: not screen.is_asking)
        await pilot.pause()
        questions = {s.id: [e.question for e in store.load(s.id).exchanges] for s in store.list()}
        assert screen.question_box.text == ("And who feeds it?" if is_asked_again else "")
        assert screen_text(app).count("Is it hot?") == (not is_asked_again)
    assert questions == {
        first_id: ["What of steam?", *([] if is_asked_again else ["Is it hot?"])],
        second_id: ["What of the starter?", "And who feeds it?"],
    }
