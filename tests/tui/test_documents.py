"""Documents side by side: opened, turned to and closed, each with its own conversation."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from roamtui.conversation.log import ConversationStore
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.conversations import ConversationsScreen
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import ask, model_of, press_until, run, running, screen_text, wait_until
from tests.tui.opening import Opener


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    monkeypatch.chdir(tmp_path)
    return Opener(ConversationStore(tmp_path / "conversations"))


async def open_second(app: RoamApp, pilot: Pilot[None]) -> None:
    """Open the example beside the document that is shown."""
    await press_until(pilot, "A handbook", "ctrl+o")
    await press_until(pilot, lambda: len(app.documents) == 2 and app.screen is app.main_screen, *"handbook", "enter")
    await pilot.pause()


async def test_another_document_opens_beside_the_first_and_a_key_turns_between_them(opener: Opener) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as (app, pilot):
        model = model_of(app)
        model.add_replies(ScriptedReply(text="Forty."))
        await press_until(pilot, "No other document is open.", "ctrl+t")
        await ask(pilot, "How many loaves?")
        await open_second(app, pilot)
        head, *rest = screen_text(app).split("\n")
        assert " Of /d/bread.md " in head
        assert "  Of /d/handbook.md " in head
        assert "Forty." not in "\n".join(rest)
        assert opener.models == [model], "the same model answers"
        await press_until(pilot, "Forty.", "ctrl+t")
        assert app.main_screen.focused is app.main_screen.question_box
        await pilot.click(offset=(30, 0))
        await wait_until(pilot, lambda: "Forty." not in screen_text(app))


async def test_what_is_open_is_turned_to_and_not_opened_again(opener: Opener) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as (app, pilot):
        await open_second(app, pilot)
        await press_until(pilot, lambda: app.main_screen.conversation.state.library.source == "/d/bread.md", "ctrl+t")
        await open_second(app, pilot)
        assert app.main_screen.conversation.state.library.source == "/d/handbook.md"
        assert len(opener.opened) == 1


async def test_an_answer_goes_on_behind_another_document(opener: Opener) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as (app, pilot):
        first = app.main_screen
        await open_second(app, pilot)
        model_of(app).add_replies(ScriptedReply(text="Forty."))
        first.question_box.fill("How many?")
        first.question_box.action_send()
        await wait_until(pilot, lambda: bool(first.conversation.state.exchanges) and not first.is_asking)
        assert "Forty." not in screen_text(app)
        await press_until(pilot, "Forty.", "ctrl+t")


async def test_closing_the_last_document_leaves(opener: Opener) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as (app, pilot):
        await open_second(app, pilot)
        model = model_of(app)
        await run(pilot, "global.close_document")
        await wait_until(pilot, lambda: app.main_screen.conversation.state.library.source == "/d/bread.md")
        assert not model.is_closed, "it still answers for the other one"
        await app.main_screen.action_run("global.close_document")
    assert app.return_code == 0
    assert model.is_closed


async def test_a_conversation_about_another_document_opens_it_and_goes_on(opener: Opener, tmp_path: Path) -> None:
    file = tmp_path / "other.md"
    file.write_text("# Other\n")
    async with running(opener.make_app(str(file)), (100, 30)) as (app, pilot):
        model_of(app).add_replies(ScriptedReply(text="Forty."))
        await ask(pilot, "How many loaves?")
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as (app, pilot):
        await press_until(pilot, ConversationsScreen, "f4")
        await wait_until(pilot, lambda: app.screen.query_one(OptionList).option_count > 0)
        await press_until(pilot, "Forty.", "enter")
        assert [source for source, _ in opener.opened] == [str(file)]
        assert len(app.documents) == 2
