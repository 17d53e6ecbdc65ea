"""The screen that opens documents: filtering, naming, completing, opening, failing and leaving."""

import gc
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from roamtui import Agent, RetrievalOptions, make_model, make_searcher, open_library
from roamtui.agent.introductions import suggest_questions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore, ConversationSummary, open_store
from roamtui.offers import make_offers
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, OfferGroup
from roamtui.tui.screens.conversations import ConversationsScreen
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.open_document import OpenDialog, list_path_completions
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import context_of, make_options
from tests.tui.driving import RunningApp, running
from tests.tui.opening import OFFERS, Opener


@pytest.fixture
def opener() -> Opener:
    return Opener()


@pytest.fixture
def app(opener: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RoamApp:
    folder = tmp_path / "here"
    (folder / "letters").mkdir(parents=True)
    for name in ("bread.md", "bream.md", "letters/one.txt", "tool.exe"):
        (folder / name).write_text("x")
    monkeypatch.chdir(folder)
    return opener.make_app()


@asynccontextmanager
async def choosing(app: RoamApp, size: tuple[int, int] = (80, 24)) -> AsyncIterator[RunningApp]:
    """Run the app until it offers what can be opened."""
    async with running(app, size) as ui:
        await ui.wait_until("What of fees?")
        yield ui


async def test_a_chosen_conversation_goes_on_and_examples_come_before_files(app: RoamApp, opener: Opener) -> None:
    async with choosing(app) as ui:
        text = ui.text
        assert text.index("Recent conversations") < text.index("A handbook") < text.index("bread.md")
        assert "tool.exe" not in text
        await ui.press_until(lambda: ui.app.documents != {} and "Of /d/fees.md" in ui.text, "enter")
        assert ui.app.screen is ui.main
    assert opener.opened == [("/d/fees.md", "c1")]


async def test_tab_completes_a_path_step_by_step_and_the_field_keeps_the_keys(app: RoamApp, opener: Opener) -> None:
    async with choosing(app) as ui:
        await ui.press_until(lambda: ui.field.value == "bread.md", "b", "tab")
        await ui.press_until(lambda: ui.field.value == "letters/", "escape", "l", "e", "tab")
        await ui.press_until(lambda: ui.field.value == "letters/one.txt", "tab")
        await ui.press_until(lambda: bool(ui.app.documents), "enter")
    assert opener.opened == [("letters/one.txt", None)]
    offered = {typed: [offer.name for offer in list_path_completions(typed)] for typed in ("tool", "./tool")}
    assert offered["./tool"] == ["./tool.exe"], "a path may name any file"
    assert "tool.exe" not in offered["tool"]


@pytest.mark.parametrize("words", ["one lett", "tters/on"])
async def test_a_file_below_the_folder_is_found_by_parts_of_its_name(app: RoamApp, opener: Opener, words: str) -> None:
    async with choosing(app) as ui:
        ui.field.value = words
        await ui.wait_until("letters/one.txt")
        await ui.press_until(lambda: bool(ui.app.documents), "enter")
    assert opener.opened == [("letters/one.txt", None)]


async def test_a_conversion_tells_its_progress_and_ends_where_it_is_stopped(
    app: RoamApp, opener: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    async with choosing(app) as ui:
        ui.field.value = "https://odd.example/a.pdf"
        await ui.press_until("7 of 1,200", "enter")
        await ui.press_until(opener.pages_read.is_set, "escape")
        await ui.wait_until(lambda: "7 of 1,200" not in ui.text)
        assert not ui.app.documents
    gc.collect()
    assert not caplog.records, "it would stand in the terminal"


async def test_a_conversation_that_opens_too_late_is_closed(store: ConversationStore) -> None:
    saved = Conversation(make_library(), store=store)
    await Agent(saved, ScriptedModel(["At nine."])).ask("When are lamps lit?")
    saved.close()
    gate = Event()
    opened: list[Conversation] = []

    def open_slowly(*_given: object) -> AppContext:
        gate.wait()
        opened.append(Conversation(make_library(), store=store, saved_id=saved.state.id))
        return context_of(Agent(opened[0], ScriptedModel()))

    async with choosing(RoamApp(make_options(list_offers=lambda: OFFERS, open_source=open_slowly))) as ui:
        await ui.press_until("Opening", "enter")
        await ui.press("escape")
        gate.set()
        await ui.wait_until(lambda: opened)
        await ui.wait_until(lambda: not store.open(saved.state.id)[2])


async def test_a_bare_name_is_asked_about_before_it_is_fetched(app: RoamApp, opener: Opener) -> None:
    async with choosing(app) as ui:
        ui.field.value = "site.example"
        await ui.wait_until("https://site.example  no match; enter fetches it")
        await ui.press_until(ConfirmDialog, "enter")
        assert "https://site.example" in ui.text
        await ui.press_until(OpenDialog, "n")
        assert opener.opened == []
        await ui.press_until(ConfirmDialog, "enter")
        await ui.press_until(lambda: bool(ui.app.documents), "y")
    assert opener.opened == [("https://site.example", None)]


async def test_the_first_screen_lists_all_conversations(opener: Opener, app: RoamApp, tmp_path: Path) -> None:
    source = f"{tmp_path}/here/bread.md"
    conversation = Conversation(replace(make_library(), source=source), store=open_store())
    await Agent(conversation, ScriptedModel(["At nine."])).ask("When are lamps lit?")
    conversation.close()
    async with choosing(app) as ui:
        await ui.press_until(ConversationsScreen, "f4")
        await ui.press_until(OpenDialog, "escape")
        await ui.press_until("When are lamps lit?", "f4")
        await ui.press_until(lambda: bool(ui.app.documents), "enter")
    assert opener.opened == [(source, conversation.state.id)]


@pytest.mark.parametrize("words", [":q", "quit"])
async def test_who_wants_to_leave_the_first_screen_learns_the_key(app: RoamApp, words: str) -> None:
    async with choosing(app) as ui:
        await ui.press(*words)
        await ui.wait_until("ctrl+q quits")


async def test_a_path_that_names_no_file_is_told_before_anybody_presses_enter(app: RoamApp) -> None:
    async with choosing(app) as ui:
        ui.field.value = "letters/gone.pdf"
        await ui.wait_until("letters/gone.pdf  no such file")
        assert "letters/one.txt" in ui.text
        ui.field.value = "zzz/gone.pdf"
        await ui.wait_until("No such file, and no match. Change the text.")


@pytest.mark.parametrize(("words", "similar"), [("leters", "letters/one.txt"), ("breead", "bread.md")])
async def test_enter_opens_no_other_file_than_was_typed_until_the_person_moves_to_it(
    app: RoamApp, opener: Opener, words: str, similar: str
) -> None:
    async with choosing(app) as ui:
        ui.field.value = words
        await ui.wait_until("Similar names:")
        await ui.press_until("No such file. Change the text, or choose a similar name (↓).", "enter")
        assert opener.opened == []
        await ui.press_until(lambda: bool(ui.app.documents), "down", "enter")
    assert opener.opened == [(similar, None)]


async def test_what_cannot_be_opened_is_a_sentence_and_the_screen_stays(app: RoamApp) -> None:
    async with choosing(app) as ui:
        ui.field.value = "https://bad"
        await ui.pause()
        await ui.press_until("https://bad cannot be read: it is bad.", "enter")
        assert ui.app.screen.query(".message.-problem"), "it stands out"
        await ui.press("escape")
        assert ui.field.value == ""
        await ui.press("escape")
    assert not ui.app.documents
    assert ui.app.return_code == 0


_MOMENT = "2026-01-01T00:00:00+00:00"
_SUMMARY = ConversationSummary(
    id="", source="", title="Fees?", model="offline", created_at=_MOMENT, updated_at=_MOMENT, questions=2
)


async def test_the_examples_answer_the_questions_that_are_proposed_for_them() -> None:
    model = make_model("offline")
    for offer in make_offers(())[:3]:
        library = open_library([offer.source])
        searcher = make_searcher(library, RetrievalOptions())
        questions = suggest_questions(library)
        assert questions
        for question in questions:
            exchange = await Agent(Conversation(library), model, searcher).ask(question)
            assert exchange is not None
            assert any("](" not in (citation.quote or "](") for citation in exchange.citations), question


def test_answered_conversations_and_documents_that_are_still_there_are_offered(tmp_path: Path) -> None:
    handbook, script = tmp_path / "handbook.md", tmp_path / "script.md"
    handbook.write_text("# Handbook\n")
    script.write_text("# Script\n")
    summaries = (
        replace(_SUMMARY, id="one", source=str(handbook)),
        replace(_SUMMARY, id="failed", source=str(handbook), is_answered=False),
        replace(_SUMMARY, id="asked", source=str(script), is_one_shot=True),
        replace(_SUMMARY, id="two", source=str(tmp_path / "gone.md")),
        replace(_SUMMARY, id="three", source="-0123"),
        replace(_SUMMARY, id="four", source="https://site.example/llms.txt", title=""),
    )
    offers = make_offers(summaries)
    late = [offer for offer in offers if offer.group in (OfferGroup.CONVERSATION, OfferGroup.SOURCE)]
    assert [(offer.conversation_id, offer.source) for offer in late] == [
        ("one", str(handbook)),
        ("four", "https://site.example/llms.txt"),
        (None, str(handbook)),
        (None, "https://site.example/llms.txt"),
    ]
    assert late[1].name == "(untitled)"


@pytest.mark.parametrize("width", [200, 120, 80, 60])
async def test_what_stands_beside_the_names_begins_in_one_column_and_tells_documents_apart(
    width: int, tmp_path: Path
) -> None:
    names = ("The handbook of the tool library, with everything in it, third edition.md", "a.md")
    summaries = []
    for number, name in enumerate(names):
        file = tmp_path / f"folder-{number}" / name
        file.parent.mkdir()
        file.write_text("# Handbook\n")
        title = "How long is the grace period for the return of a late cargo bike in winter?"
        summaries.append(replace(_SUMMARY, id=f"c{number}", source=str(file), title=title))
    app = RoamApp(make_options(list_offers=lambda: make_offers(summaries)))
    async with running(app, (width, 50)) as ui:
        await ui.wait_until("Watch an answer")
        found = [re.search(r"\S(?=  +(\S ?\S.*))", row) for row in ui.rows]
        starts = [(match.start(1), match[1]) for match in found if match is not None]
        assert len({start for start, _ in starts}) == 1, ui.text
        assert {"The handbo", "a.md · 2 q"} <= {note[:10] for _, note in starts}, ui.text


async def test_a_damaged_conversation_is_offered_with_a_sentence_that_says_so(opener: Opener, tmp_path: Path) -> None:
    script = tmp_path / "script.md"
    script.write_text("# Script\n")
    summaries = (
        replace(_SUMMARY, id="c2", source="", title="", is_answered=False, problem="It is damaged and cannot be read."),
        replace(
            _SUMMARY, id="c3", source=str(script), title="Torn?", problem="It is damaged: the rest cannot be read."
        ),
        replace(_SUMMARY, id="c4", source=str(script), title="Whole?"),
    )
    app = RoamApp(make_options(list_offers=lambda: make_offers(summaries), open_source=opener.open))
    async with running(app, (120, 30)) as ui:
        await ui.wait_until("Whole?")
        shown = ui.text
        assert re.search("Conversation c2 +It is damaged and cannot be read", shown)
        assert re.search("Torn[?] +It is damaged: the rest", shown)
        await ui.press_until("Cannot resume the conversation. It is damaged", "down", "enter")
        assert opener.opened == []
        await ui.press_until(lambda: bool(ui.app.documents), "down", "enter")
    assert opener.opened == [(str(script), "c3")]
