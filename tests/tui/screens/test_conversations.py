"""The list of saved conversations: going on, beginning anew, branching off, renaming, deleting, exporting."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import OptionList

from roamtui.agent.agent import Agent
from roamtui.bootstrap import Bootstrap, open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationRenamed
from roamtui.conversation.log import ConversationStore, ConversationSummary
from roamtui.errors import UsageError
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.conversations import ConversationsDialog, make_export_dialog
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog
from tests.agent.asking import NO_HITS
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import app_over, make_options, session_of
from tests.tui.driving import TEXT, RunningApp, expand, make_session, running


@pytest.fixture
def app(store: ConversationStore) -> RoamApp:
    return app_over(make_session(store=store))


async def talk(ui: RunningApp, question: str, title: str) -> None:
    """Ask a question for which the model opens and cites a section."""
    section_id = ui.find_id(title)
    await ui.ask(question, expand(section_id), f"See [{section_id}].")


async def make_two(ui: RunningApp) -> None:
    """Hold a conversation about steam, then one about the starter."""
    await talk(ui, "What of steam?", "Steam")
    await ui.press_until(lambda: not ui.exchanges, "ctrl+n")
    await talk(ui, "What of the starter?", "Starter")


async def open_list(ui: RunningApp) -> None:
    await ui.press_until(ConversationsDialog, "f4")
    await ui.wait_until(lambda: ui.app.screen.query_one(OptionList).option_count > 0)
    await ui.pause()


@asynccontextmanager
async def listing(app: RoamApp) -> AsyncIterator[RunningApp]:
    async with running(app, (120, 35)) as ui:
        await talk(ui, "What of the starter?", "Starter")
        await open_list(ui)
        yield ui


def listed(app: RoamApp) -> list[str]:
    assert isinstance(app.screen, ConversationsDialog)
    return [row.line.plain.split("\n")[0] for row in app.screen.list_rows(app.screen.typed)]


@pytest.mark.parametrize(("name", "server"), [("openai/other", ""), ("scripted", "http://127.0.0.1:9/v1")])
async def test_a_conversation_is_resumed_with_its_own_model_and_server(
    name: str, server: str, store: ConversationStore
) -> None:
    made: list[tuple[str, str | None]] = []

    def make_model(name: str, api_base: str | None) -> ScriptedModel:
        made.append((name, api_base))
        return ScriptedModel([], name=name)

    session = make_session(store=store)
    app = app_over(replace(session, options=make_options(make_model=make_model)))
    async with running(app, (120, 35)) as ui:
        await make_two(ui)
        first = session.agent.model.name
        other = ScriptedModel(["Other."], name=name)
        other.facts = replace(other.facts, server=server)
        session.agent.use_model(other)
        await ui.press_until(lambda: not ui.exchanges, "ctrl+n")
        await ui.ask("And now?")
        await open_list(ui)
        await ui.press_until(lambda: len(ui.exchanges) == 1 and "starter" in ui.exchanges[0].question, "j", "enter")
        await ui.wait_until(lambda: session.agent.model is not other)
        assert made == [(first, None)]


async def test_each_conversation_keeps_its_draft_and_its_earlier_answers(
    app: RoamApp, store: ConversationStore
) -> None:
    async with running(app, (120, 35)) as ui:
        await ui.ask("What of steam?", "Hot.")
        ui.model.add_replies("Wet.")
        await ui.ask_again()
        await ui.wait_until("answer 2 of 2")
        await ui.focus(Scope.CHAT).press_until("answer 1 of 2", "[")
        steam = ui.state.id
        ui.focus(Scope.INPUT)
        await ui.press(*"new")
        await ui.press_until(lambda: not ui.exchanges, "ctrl+n")
        assert ui.box.text == "new", "what was typed may be meant for the new conversation"
        await ui.ask("What of the starter?", "Fed.")
        starter = ui.state.id
        visited = set[str]()
        for conversation_id, draft in (
            (starter, "of rye"),
            (steam, "of ovens"),
            (starter, "of rye"),
            (steam, "of ovens"),
        ):
            if ui.state.id != conversation_id:
                await ui.conversation.open(conversation_id)
                await ui.pause()
            assert ui.box.text == (draft if conversation_id in visited else "")
            visited.add(conversation_id)
            await ui.press(*draft.removeprefix(ui.box.text))
            assert ui.box.text == draft
        assert [exchange.answer for exchange in ui.exchanges[0].answers] == ["Hot.", "Wet."]
        assert ui.exchanges[0].answer == "Hot."
    ui.conversation.close()
    async with running(app_over(make_session(store=store)), (120, 35)) as ui:
        await ui.wait_until(lambda: ui.box.text == "of ovens")  # the newest draft of the document
        await ui.conversation.open(steam)
        await ui.wait_until("answer 1 of 2")
    async with running(app_over(make_session(store=store)), (120, 35)) as ui:
        await ui.conversation.open(starter)
        await ui.wait_until(lambda: ui.box.text == "of rye")


async def test_search_as_typed_goes_over_questions_and_answers(app: RoamApp) -> None:
    async with running(app, (120, 35)) as ui:
        await make_two(ui)
        steam = ui.find_id("Steam")
        await open_list(ui)
        await ui.press_until(lambda: listed(ui.app) == ["What of steam?"], "/", *steam)
        await ui.press_until(lambda: len(listed(ui.app)) == 2, "escape")
        await ui.press_until(lambda: listed(ui.app) == ["What of steam?"], "/", *"steam")
        await ui.press_until("❯ What of steam?", "enter", "enter")


@pytest.mark.parametrize("yes", [("Y",), ("right", "space")])
async def test_a_damaged_conversation_is_listed_and_is_not_resumed_but_deleted(
    app: RoamApp, store: ConversationStore, yes: tuple[str, ...]
) -> None:
    log = store.start("da3a9ed", ())
    log.events.append(ConversationRenamed(title="Lost"))
    log.save()
    log.close()
    async with running(app, (120, 35)) as ui:
        await talk(ui, "What of steam?", "Steam")
        await open_list(ui)
        assert listed(ui.app) == ["What of steam?  ● now", "Conversation da3a9ed"]
        await ui.press_until("Cannot resume this conversation. It is damaged and cannot be read.", "j", "enter")
        await ui.press_until(ConfirmDialog, "d")
        await ui.press(*"irty")
        assert isinstance(ui.app.screen, ConfirmDialog), "a letter of a word is no answer"
        await ui.press("escape")
        for no in ("n", "N", "space"):
            await ui.press_until(ConfirmDialog, "d")
            await ui.press(no)
            assert listed(ui.app) == ["What of steam?  ● now", "Conversation da3a9ed"]
        await ui.press_until("Deleted.", "d", *yes)
        assert listed(ui.app) == ["What of steam?  ● now"]
        assert [summary.id for summary in store.list()] == [ui.state.id]


async def test_an_empty_line_is_refused_with_a_sentence_until_something_is_typed(app: RoamApp) -> None:
    async with listing(app) as ui:
        await ui.press_until("What of the starter?", "e")
        ui.field.value = " "
        await ui.press_until("Type something, or press esc to cancel.", "enter")
        await ui.press_until(lambda: "Type something" not in ui.text, "x")
        await ui.press_until("Renamed to “x”.", "enter")


async def type_path(ui: RunningApp, path: Path | None = None) -> None:
    """Answer the prompt for a path with another one, or with the one that it proposes, whose end is in view."""
    if not isinstance(ui.app.screen, PromptDialog):
        await ui.press_until(PromptDialog, "w")
    if path is None:
        await ui.wait_until("what-of-the-starter.md")
    else:
        ui.field.value = str(path)
    await ui.press("enter")


@pytest.mark.parametrize(("name", "start"), [(None, "# What of"), ("a.JSON", "{")])
async def test_the_suffix_of_the_path_chooses_the_format_of_an_export_and_others_are_refused(
    app: RoamApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None, start: str
) -> None:
    folder = tmp_path / "two  spaces"
    folder.mkdir()
    monkeypatch.chdir(folder)
    file = folder / (name or "what-of-the-starter.md")
    async with listing(app) as ui:
        if name is not None:
            await type_path(ui, tmp_path / "a.doc")
            await ui.wait_until("must end in .md, .json or .html")
            assert "a.doc" in ui.text, "what was typed can be corrected"
            await type_path(ui, tmp_path / "no" / "such" / "folder.md")
            await ui.wait_until("There is no folder")
            assert f"{Path('no')}. Create it, or choose another." in ui.words
            assert "folder.md" in ui.field.value
        await type_path(ui, None if name is None else file)
        await ui.wait_until(lambda: file.exists() and "Saved" in ui.text)
    assert not (tmp_path / "a.doc").exists()
    text = file.read_text("utf-8")
    assert text.lower().startswith(start.lower())
    assert "What of the starter?" in text


async def test_a_file_is_replaced_only_after_a_yes(app: RoamApp, tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("mine", "utf-8")
    async with listing(app) as ui:
        await type_path(ui, file)
        await ui.wait_until(ConfirmDialog)
        await ui.press_until("Choose another name, or press esc to cancel.", "n")
        await ui.press_until(ConversationsDialog, "escape")
        assert "Saved" not in ui.text
        await type_path(ui, file)
        await ui.wait_until(ConfirmDialog)
        assert file.read_text("utf-8") == "mine"
        await ui.press_until("Saved", "y")
    assert file.read_text("utf-8") != "mine"


async def test_an_export_of_what_is_shown_never_overwrites_the_document_and_needs_no_working_folder(
    store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bakery.md"
    file.write_text(TEXT, "utf-8")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    async with running(app_over(make_session(library=open_library([str(tmp_path)]), store=store)), (120, 35)) as ui:
        gone.rmdir()
        await talk(ui, "What of steam?", "Steam")
        await ui.main.action_run("chat.export")
        await ui.wait_until(PromptDialog)
        await type_path(ui, file)
        await ui.wait_until("is one of the documents")
        await type_path(ui, tmp_path / "a.html")
        await ui.wait_until("Saved")
    assert "What of steam?" in (tmp_path / "a.html").read_text("utf-8")
    assert file.read_text("utf-8") == TEXT


async def test_an_export_never_overwrites_a_source_that_was_added_to_its_conversation(
    app: RoamApp, tmp_path: Path
) -> None:
    file = tmp_path / "extra.md"
    file.write_text("Extra", "utf-8")
    added = (str(file),)
    summary = ConversationSummary(id="a", source="other.md", added_sources=added, used_at="")
    async with running(app, (120, 35)) as ui:
        ui.app.push_screen(make_export_dialog(lambda: ui.state, summary, ui.state.library))
        await ui.wait_until("Export conversation to")
        await type_path(ui, file)
        await ui.wait_until("is one of the documents")


async def test_an_export_looks_up_the_quotes_again_and_says_if_it_cannot(
    store: ConversationStore, tmp_path: Path
) -> None:
    document = tmp_path / "oven.md"
    document.write_text("# Oven\n\nIt takes ninety loaves.\n", "utf-8")
    library = open_library([str(document)])
    conversation = Conversation(library, store=store)
    oven = next(node_id for node_id in library.walk() if library.node(node_id).title == "Oven")
    model = ScriptedModel([expand(oven), f'"It takes ninety loaves" [{oven}].'])
    await Agent(conversation, model, options=NO_HITS).ask("How many?")
    conversation.close()
    document.write_text("# Oven\n\nIt takes a hundred loaves.\n", "utf-8")
    options = make_options(reopen=Bootstrap().reopen_conversation)
    session = make_session(library=open_library([str(document)]), store=store, options=options)
    export = tmp_path / "a.md"
    async with running(app_over(session), (120, 35)) as ui:
        await open_list(ui)
        await type_path(ui, export)
        await ui.wait_until("Saved")
        assert "(changed since the answer)" in export.read_text("utf-8")
        document.unlink()
        export = tmp_path / "b.md"
        await type_path(ui, export)
        words = "b.md, but where the text cannot be read, quotes keep the signs of the day of their answer."
        await ui.wait_until(lambda: words in " ".join(ui.text.replace("│", " ").split()))
        assert "(quote found in the text)" in export.read_text("utf-8")


@pytest.mark.parametrize("is_piped", [False, True])
async def test_a_conversation_whose_document_has_moved_is_resumed_where_it_is_now(
    store: ConversationStore, tmp_path: Path, *, is_piped: bool
) -> None:
    old = tmp_path / "lamps.md"
    old.write_text("# Lamps\n\nThe lamp is lit at nine.\n", "utf-8")
    library = open_library([str(old)])
    conversation = Conversation(replace(library, source="-" if is_piped else library.source), store=store)
    await Agent(conversation, ScriptedModel(["At nine."]), options=NO_HITS).ask("Of lamps?")
    conversation.close()
    new = old.rename(old.with_name("two  lights.md"))
    opened: list[tuple[str, str | None]] = []

    def open_source(source: str, conversation_id: str | None, *_: object) -> None:
        opened.append((source, conversation_id))
        raise UsageError("Nothing can be opened here.")

    async with running(RoamApp(make_options(open_source=open_source), make_session(store=store)), (120, 35)) as ui:
        await open_list(ui)
        assert listed(ui.app) == ["Of lamps?"]
        await ui.press_until(PromptDialog, "enter")
        assert ui.field.value == ("" if is_piped else str(old))
        await ui.press_until(lambda: ui.field.value == "x", "x")
        for name in ("nowhere.md", "~nobody-has-this-name/lights.md"):
            ui.field.value = name
            await ui.press_until("There is no file or folder", "enter")
        ui.field.value = str(new)
        await ui.press_until(lambda: bool(opened), "enter")
    assert opened == [(str(new), conversation.state.id)]


async def test_the_draft_of_a_conversation_is_found_where_its_document_has_moved(
    store: ConversationStore, tmp_path: Path
) -> None:
    old = tmp_path / "lamps.md"
    old.write_text("# Lamps\n\nThe lamp is lit at nine.\n", "utf-8")
    async with running(app_over(make_session(library=open_library([str(old)]), store=store))) as ui:
        await ui.ask("Of lamps?", "At nine.")
        await ui.press(*"half")
        saved_id = ui.state.id
        await ui.press_until(lambda: ui.app._exit, "ctrl+q")
    ui.conversation.close()
    new = old.rename(old.with_name("lights.md"))
    resumed = Conversation(open_library([str(new)]), store=store).resume(saved_id)
    async with running(app_over(session_of(Agent(resumed, ScriptedModel(), options=NO_HITS)))) as ui:
        await ui.wait_until("Kept from last time")
        assert ui.box.text == "half"
        assert "↑ more" not in ui.text, "what the key shows was not kept"
