"""The screen that opens documents: filtering, naming, completing, opening, failing and leaving."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from msgspec.structs import replace

from roamtui import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore, ConversationSummary, open_store
from roamtui.errors import StoreError
from roamtui.launch import make_offers
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentSession, OfferGroup
from roamtui.tui.screens.conversations import ConversationsDialog
from roamtui.tui.screens.dialogs import PromptDialog
from roamtui.tui.screens.open_document import list_path_completions
from tests.agent.asking import NO_HITS
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import make_options, session_of
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


async def test_the_list_of_keys_runs_what_works_here(app: RoamApp) -> None:
    async with choosing(app) as ui:
        await ui.press_until("This does not work here.", "f1", *"global.notes", "enter")
        await ui.press_until(ConversationsDialog, "escape", *"global.conversations", "enter")


async def test_a_key_that_acts_in_a_document_says_so(app: RoamApp) -> None:
    async with choosing(app) as ui:
        await ui.press_until("This key works only in a document.", "f2")


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


async def test_esc_stops_a_conversion_after_other_work_has_failed(
    app: RoamApp, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Event()

    def fail() -> ConversationStore:
        asked.set()
        raise StoreError("The conversations cannot be read.")

    monkeypatch.setattr("roamtui.tui.screens.open_document.open_store", fail)
    async with choosing(app) as ui:
        ui.field.value = "https://odd.example/a.pdf"
        await ui.press_until("7 of 1,200", "enter")
        await ui.press_until(asked.is_set, "f4")
        await ui.press_until(opener.pages_read.is_set, "escape")


async def test_a_conversation_that_opens_too_late_is_closed(store: ConversationStore) -> None:
    saved = Conversation(make_library(), store=store)
    await Agent(saved, ScriptedModel(["At nine."]), options=NO_HITS).ask("When are lamps lit?")
    saved.close()
    gate = Event()
    opened: list[Conversation] = []

    def open_slowly(*_given: object) -> DocumentSession:
        gate.wait()
        opened.append(Conversation(make_library(), store=store).resume(saved.state.id))
        return session_of(Agent(opened[0], ScriptedModel(), options=NO_HITS))

    async with choosing(RoamApp(make_options(list_offers=lambda: OFFERS, open_source=open_slowly))) as ui:
        await ui.press_until("Opening", "enter")
        await ui.press("escape")
        gate.set()
        await ui.wait_until(lambda: opened)
        await ui.wait_until(lambda: not store.open(saved.state.id)[2])


async def test_a_host_without_a_scheme_is_offered_as_a_url(app: RoamApp, opener: Opener) -> None:
    async with choosing(app) as ui:
        ui.field.value = "docs.example.org"
        await ui.wait_until("https://docs.example.org  enter opens it")
        await ui.press_until(lambda: bool(ui.app.documents), "enter")
    assert opener.opened == [("https://docs.example.org", None)]


async def test_what_cannot_be_opened_is_a_sentence_and_the_screen_stays(app: RoamApp) -> None:
    async with choosing(app) as ui:
        ui.field.value = "letters/gone.pdf"
        await ui.wait_until("No such file, and no match. Change the text.")
        ui.field.value = "https://bad"
        await ui.pause()
        await ui.press_until("https://bad cannot be read: it is bad.", "enter")
        assert ui.app.screen.query(".message.-problem"), "it stands out"
        await ui.press("escape")
        assert ui.field.value == ""
        await ui.press_until("There is nothing to go back to. ctrl+q quits.", "escape")
        await ui.press("ctrl+q")
    assert not ui.app.documents
    assert ui.app.return_code == 0


async def test_an_offer_with_a_model_of_its_own_opens_although_its_document_is_open(opener: Opener) -> None:
    model = ScriptedModel()
    offers = [replace(offer, model=model) for offer in OFFERS]
    app = RoamApp(
        make_options(list_offers=lambda: offers, open_source=opener.open), opener.make_first("/d/handbook.md")
    )
    async with running(app) as ui:
        await ui.press_until("A handbook", "ctrl+o")
        await ui.press_until(lambda: len(ui.app.documents) == 2, *"handbook", "enter")
    assert opener.models == [model]


@pytest.mark.parametrize("is_another_there", [False, True])
async def test_only_the_document_of_a_conversation_that_has_moved_is_asked_for(
    opener: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_another_there: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("new.md", "kept.md"):
        (tmp_path / name).write_text("# New\n")
    source = f"/d/fees.md, {tmp_path}/kept.md" if is_another_there else "/d/fees.md"
    offer = replace(OFFERS[0], source=source, is_missing=True)
    async with choosing(RoamApp(make_options(list_offers=lambda: (offer,), open_source=opener.open))) as ui:
        await ui.press_until(PromptDialog, *"What of fees", "enter")
        assert ui.field.value == "/d/fees.md"
        ui.field.value = "new.md, /nowhere.md"
        await ui.press_until("There is no file or folder", "enter")
        ui.field.value = typed = f"new.md, {tmp_path}"
        await ui.press_until(lambda: bool(opener.opened), "enter")
    both = f"{tmp_path}/kept.md, {tmp_path}/new.md, {tmp_path}"
    assert opener.opened == [(both if is_another_there else typed, "c1")]


async def test_all_conversations_are_listed_before_a_document_is_open(opener: Opener, tmp_path: Path) -> None:
    file = tmp_path / "lamps.md"
    file.write_text("# Lamps\n", "utf-8")
    saved = Conversation(open_library([str(file)]), store=open_store())
    await Agent(saved, ScriptedModel(["At nine."]), options=NO_HITS).ask("Of lamps?")
    saved.close()
    async with running(RoamApp(make_options(open_source=opener.open))) as ui:
        await ui.press_until("Of lamps?", "f4")
        await ui.press_until("Renamed to “x”.", "e", "x", "enter")
        await ui.press_until(lambda: bool(opener.opened), "enter")
    assert opener.opened == [(str(file), saved.state.id)]


_MOMENT = "2026-01-01T00:00:00+00:00"
_SUMMARY = ConversationSummary(id="", source="", title="Fees?", model="offline", used_at=_MOMENT, questions=2)


def test_conversations_and_the_documents_that_are_still_there_are_offered(tmp_path: Path) -> None:
    handbook, script = tmp_path / "handbook.md", tmp_path / "script.md"
    handbook.write_text("# Handbook\n")
    script.write_text("# Script\n")
    summaries = (
        replace(_SUMMARY, id="one", source=str(handbook)),
        replace(_SUMMARY, id="asked", source=str(script), is_one_shot=True),
        replace(_SUMMARY, id="two", source=str(tmp_path / "gone.md")),
        replace(_SUMMARY, id="three", source=f"-{'0123' * 8}"),
        replace(_SUMMARY, id="four", source="https://site.example/llms.txt", title=""),
    )
    offers = make_offers(summaries)
    late = [offer for offer in offers if offer.group in (OfferGroup.CONVERSATION, OfferGroup.SOURCE)]
    assert [(offer.conversation_id, offer.source) for offer in late] == [
        ("one", str(handbook)),
        ("two", str(tmp_path / "gone.md")),
        ("four", "https://site.example/llms.txt"),
        (None, str(handbook)),
        (None, "https://site.example/llms.txt"),
    ]
    assert late[2].name == "(untitled)"
