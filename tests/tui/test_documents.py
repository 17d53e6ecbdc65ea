"""Documents, folders and sites in the app: side by side, read when they are opened, and reached by links."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from textual.widgets import OptionList

from roamtui.agent.agent import Agent
from roamtui.bootstrap import Bootstrap, open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from roamtui.markdown.blocks import Link
from roamtui.models.registry import NoModel
from roamtui.opening.loader import open_sources
from roamtui.search.searcher import Searcher
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentSession
from roamtui.tui.messages import LinkTarget
from roamtui.tui.screens.conversations import ConversationsDialog
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.open_document import OpenDialog
from roamtui.tui.screens.pickers import PickerDialog
from roamtui.tui.tree.visible_lines import FoldState
from tests.case_files import read_case
from tests.document.linked_notes import write_notes
from tests.fakes.scripted_model import ScriptedReply
from tests.fakes.services import app_over, make_options, session_of
from tests.fakes.site import FakeSite, SitePage
from tests.tui.driving import RunningApp, expand, make_session, running
from tests.tui.opening import OFFERS, Opener


@pytest.fixture
def opener(tmp_path: Path, store: ConversationStore, monkeypatch: pytest.MonkeyPatch) -> Opener:
    monkeypatch.chdir(tmp_path)
    return Opener(store)


async def open_second(ui: RunningApp) -> None:
    """Open the example beside the document that is shown."""
    await ui.press_until("A handbook", "ctrl+o")
    await ui.press_until(lambda: len(ui.app.documents) == 2 and ui.app.screen is ui.main, *"handbook", "enter")
    await ui.pause()


async def test_another_document_opens_beside_the_first_and_a_key_and_the_list_of_documents_turn_between_them(
    opener: Opener,
) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as ui:
        model = ui.model
        await ui.press_until("No other document is open.", "ctrl+t")
        await ui.ask("How many loaves?", "Forty.")
        await open_second(ui)
        assert "Of /d/handbook.md (2 of 2 · ctrl+t)" in ui.rows[0]
        assert "Forty." not in ui.text
        assert opener.models == [model], "the same model answers"
        await ui.press_until("Forty.", "ctrl+t")
        assert "Of /d/bread.md (1 of 2 · ctrl+t)" in ui.rows[0]
        assert ui.main.focused is ui.box
        await ui.press_until(lambda: "(2 of 2" in ui.rows[0], "ctrl+t")
        await ui.press_until("Open documents", "ctrl+o")
        assert "Of /d/bread.md 1 question" in ui.words
        await ui.press_until(lambda: "Of /d/bread.md (1 of 2" in ui.rows[0], "enter")
        assert len(ui.app.documents) == 2


async def test_quitting_is_asked_while_another_document_answers(opener: Opener) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as ui:
        ui.model.add_replies(ScriptedReply(text="Forty.", gate=asyncio.Event()))
        await ui.send("How many loaves?", lambda: len(ui.model.requests) == 1)
        await open_second(ui)
        await ui.press_until("Quit while questions are being answered?", "ctrl+q")
        await ui.press_until(lambda: ui.app.screen is ui.main, "n")
        ui.app.push_screen(ConfirmDialog("Fetch this page?", "https://d.example", yes="Fetch"))
        await ui.press_until("Of /d/bread.md. Finished answers are kept.", "ctrl+q")
        await ui.press_until(lambda: ui.app._exit, "ctrl+q")


async def test_closing_the_last_document_shows_the_start_screen(opener: Opener) -> None:
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as ui:
        await open_second(ui)
        model = ui.model
        await ui.run("global.close_document")
        await ui.wait_until(lambda: ui.state.library.source == "/d/bread.md")
        assert not model.is_closed, "it still answers for the other one"
        await ui.focus(Scope.TREE).press_until("A path, a URL, or text to filter the list", "ctrl+w")
        await ui.wait_until(lambda: model.is_closed)
        await ui.press_until("Of https://d.example", *"https://d.example", "enter")
        await ui.focus(Scope.TREE).press_until("A path, a URL, or text to filter the list", "ctrl+w")
        await ui.press_until("There is nothing to go back to.", "escape")
        assert ui.app.return_code is None


async def test_a_conversation_about_another_document_opens_it_and_goes_on(opener: Opener, tmp_path: Path) -> None:
    file = tmp_path / "other.md"
    file.write_text("# Other\n")
    async with running(opener.make_app(str(file)), (100, 30)) as ui:
        await ui.ask("How many loaves?", "Forty.")
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as ui:
        await ui.press_until(ConversationsDialog, "f4")
        await ui.wait_until(lambda: ui.app.screen.query_one(OptionList).option_count > 0)
        await ui.press_until("Forty.", "enter")
        assert [source for source, _ in opener.opened] == [str(file)]
        assert len(ui.app.documents) == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "guides").mkdir(parents=True)
    (root / "README.md").write_text("# Bakery\n\nHow it is run.\n\n## Ovens\n\nTwo ovens.\n", "utf-8")
    (root / "guides/dough.md").write_text("# Dough\n\nMade in the evening.\n\n## Starter\n\nFeed it.\n", "utf-8")
    (root / "guides/odd.md").write_text("# Odd [/red]\n\nText.\n", "utf-8")
    return root


def make_app(source: Path | str) -> RoamApp:
    library, loader = open_sources([str(source)])
    return app_over(make_session(library=library, loader=loader))


def shown(ui: RunningApp) -> list[str]:
    lines = ui.outline.lines
    return [lines.library.node(node_id).title for node_id in lines.ids]


async def test_a_file_is_read_when_it_is_unfolded(folder: Path) -> None:
    async with running(make_app(folder), (120, 30)) as ui:
        await ui.wait_until(lambda: ui.outline.size.height > 0)
        assert shown(ui) == ["README.md", "guides"]
        assert "3 documents" in ui.text
        assert ui.outline.lines.fold_at(0) is FoldState.UNLOADED
        await ui.focus(Scope.TREE).press_until(lambda: len(shown(ui)) == 4, "space")
        assert shown(ui) == ["README.md", "Bakery", "Ovens", "guides"]
        await ui.wait_until(lambda: "Loading" not in ui.text)
        await ui.press_until(lambda: "odd.md" in shown(ui), "G", "l")
        assert len(ui.state.library.grafts) == 1


async def test_a_question_reads_all_files_and_what_the_model_opens_unfolds(folder: Path) -> None:
    async with running(make_app(folder), (120, 30)) as ui:
        guides, dough = ui.find_id("guides"), ui.find_id("dough.md")
        await ui.ask("When is the dough made?", expand(dough), f'It is "Made in the evening." [{dough}]')
        state = ui.state
        assert len(state.library.grafts) == 3
        assert tuple(state.open_sections) == (dough,)
        assert {guides, dough} <= state.unfolded
        assert [citation.is_verified for citation in state.exchanges[-1].citations] == [True]
        assert "Starter" in shown(ui)
        ui.reader.follow_answer_link(LinkTarget("odd.md", dough))  # from the cited section, not from the first one
        await ui.wait_until(lambda: ui.reader.get_text_to_copy().startswith("# Odd"))


FEES = read_case("bikes_fees.md")
LIST = read_case("bikes_llms.txt")


@pytest.fixture
def site() -> Iterator[FakeSite]:
    pages = {"/llms.txt": LIST, "/fees.md": FEES, "/renting.md": "# Renting\n\n## Keys\n\nTwo keys.\n"}
    with FakeSite(pages) as site:
        yield site


async def test_a_page_is_fetched_when_its_link_is_chosen_or_says_why_not_and_enter_tries_again(site: FakeSite) -> None:
    site.pages["/fees.md"] = SitePage(status=404)
    async with running(make_app(site.origin), (120, 30)) as ui:
        assert "3 linked pages " in ui.text, "and not the size of the list of links"
        await ui.focus(Scope.TREE).press("j", "enter")
        await ui.wait_until(lambda: "There is no page" in ui.reader.get_text_to_copy())
        await ui.wait_until("✗ Fees")
        site.pages["/fees.md"] = FEES
        await ui.press_until(lambda: ui.reader.get_text_to_copy().startswith("# Fees"), "enter")
        await ui.wait_until(lambda: "✗ Fees" not in ui.text)
        assert ui.state.library.node(ui.find_id("Fees")).is_loaded
        assert "/renting.md" not in site.counts.paths


async def test_another_site_is_asked_about_by_its_host(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.screens.dialogs.TYPING_SECONDS", 0.0)
    async with running(make_app(site.origin), (120, 30)) as ui:
        far = ui.find_id("Elsewhere")
        ui.model.add_replies(expand(far), "Not found: it is elsewhere.")
        await ui.send("What is elsewhere?")
        await ui.wait_until("from other.example")
        assert "http://other.example/x" in ui.words
        await ui.press_until(lambda: len(ui.exchanges) == 1 and not ui.main.is_asking, "n")
        assert "is not allowed" in ui.state.library.node(far).problem
        assert ui.state.approved_origins == frozenset()


async def test_no_letter_of_a_text_that_is_being_typed_allows_a_site(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.tui.app.TYPING_SECONDS", 600.0)
    monkeypatch.setattr("roamtui.tui.screens.dialogs.TYPING_SECONDS", 600.0)
    async with running(make_app(site.origin), (120, 30)) as ui:
        ui.model.add_replies(expand(ui.find_id("Elsewhere")), "Not found.")
        await ui.send("What is elsewhere?")
        await ui.wait_until(lambda: len(ui.model.requests) == 1)
        await ui.press(*"yyyyyyyy")
        assert ui.box.text == "yyyyyyyy"
        ui.focus(Scope.TREE)
        monkeypatch.setattr("roamtui.tui.app.TYPING_SECONDS", 0.0)
        await ui.wait_until(ConfirmDialog)
        await ui.press("y", "right", "enter")
        assert isinstance(ui.app.screen, ConfirmDialog), "the person may not have seen it yet"


@pytest.fixture
def contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "contract.md").write_text("# Contract\n\n## Notice\n\nThe notice period is 60 days.\n")
    (tmp_path / "acts").mkdir()
    (tmp_path / "acts" / "lease.md").write_text("# Lease act\n\n## Term\n\nThe notice period is 90 days.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_a_source_is_added_and_asked(contracts: Path, store: ConversationStore) -> None:
    library, loader = Bootstrap().open([str(contracts / "contract.md")])
    session = Conversation(library, store=store, source_loader=loader, open_source=Bootstrap().open_added)
    agent = Agent(session, NoModel(), Searcher(library))
    offered = session_of(agent, options=make_options(list_offers=lambda: OFFERS))
    async with running(app_over(offered), (150, 34)) as ui:
        notice = ui.find_id("Notice")
        await ui.run("global.add_source")
        await ui.wait_until("Add a source to this conversation")
        assert "enter to add, tab to complete a path" in ui.words
        await ui.wait_until("A handbook")
        assert "What of fees?" not in ui.text
        await ui.press_until("This key works in the document below · esc closes this", "f5")
        await ui.press_until("▸ acts", *"acts", "slash", "enter")
        assert [source.key for source in ui.state.library.sources] == ["", "acts"]
        await ui.wait_until("Added acts · i on it in the outline asks about it only")
        assert shown(ui) == ["contract.md", "Contract", "Notice", "acts"], "what was unfolded stays so"
        assert ui.find_id("Notice") == notice

        await ui.ask("What is the notice period?")
        await ui.wait_until("acts › lease.md › Lease act › Term")
        assert "contract.md › Notice" in ui.text

        await ui.go_to(notice)
        await ui.run("global.remove_source")
        await ui.wait_until("Only a source that was added can be taken out.")
        await ui.go_to(ui.find_id("acts"))
        await ui.run("global.remove_source")
        await ui.wait_until("Took out acts. Answers about it stay.")
        assert not ui.state.added_sources
        assert ui.find_id("Notice") == notice
        assert "lease.md" not in "\n".join(shown(ui))
        assert "90 days" in ui.exchanges[-1].answer
    restored = store.load(ui.state.id)
    assert not restored.added_sources


async def test_a_question_about_costs_names_its_document_if_several_are_open(opener: Opener) -> None:
    request = ApprovalRequest(question="Compare the whole document by meaning?", detail="", yes="Continue")
    async with running(opener.make_app("/d/bread.md"), (100, 30)) as ui:
        first = ui.main
        await open_second(ui)
        first.run_worker(first.conversation.approver(request))
        await ui.wait_until("Of /d/bread.md: Compare the whole document by meaning?")


async def test_keys_on_a_section_act_in_their_order_also_while_it_is_loaded(
    contracts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.bootstrap._LOADED_AT_START_BYTES", 0)
    library, loader = Bootstrap().open([str(contracts)])
    assert loader is not None
    gate = Event()
    load = loader.load_batch
    monkeypatch.setattr(loader, "load_batch", lambda *given: (gate.wait(), load(*given))[1])
    async with running(app_over(make_session(library=library, loader=loader)), (120, 34)) as ui:
        await ui.focus(Scope.TREE).go_to(ui.find_id("contract.md"))
        await ui.press("a", "x")
        gate.set()
        await ui.rest()
        assert not ui.state.open_sections
        assert "not open" not in ui.text


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path)


def _open_source(source: str, *_given: object) -> DocumentSession:
    return make_session(library=open_library([source]))


def _make_app(source: Path) -> RoamApp:
    options = make_options(open_source=_open_source, save_settings=lambda _settings: None)
    return RoamApp(options, _open_source(str(source)))


async def _follow(ui: RunningApp, href: str) -> None:
    await ui.wait_until(ui.main.started.is_set)
    ui.reader.open(ui.main.reader_pane.section_id or next(ui.state.library.walk()))
    ui.focus(Scope.READER)
    ui.reader.follow(Link(href))
    await ui.pause()


async def _wait_until_at(ui: RunningApp, source: Path, title: str, *keys: str) -> None:
    await ui.press_until(lambda: ui.state.library.source == str(source.resolve()), *keys)
    await ui.reach(title)


async def test_a_link_opens_a_file_at_its_anchor_and_a_key_comes_back(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as ui:
        first = ui.main
        await _follow(ui, "rules.md#late-fees")
        await _wait_until_at(ui, notes / "rules.md", "Late fees")
        assert Scope.READER in ui.main.panes.shown
        assert ui.main.focused is ui.reader
        await _follow(ui, "start.md#end")  # open already, so no third tab
        await _wait_until_at(ui, notes / "start.md", "End")
        assert len(ui.app.documents) == 2
        await ui.press("backspace", "backspace")  # within the document, then to the one before
        await _wait_until_at(ui, notes / "rules.md", "Late fees")
        await ui.press_until(lambda: ui.main is first, "backspace")
        await ui.press_until("Nothing to go back to", "backspace")


async def test_a_file_outside_the_folder_is_opened_only_after_asking(notes: Path) -> None:
    secret = (notes.parent / "secret.md").resolve()
    async with running(_make_app((notes / "start.md").resolve()), (200, 35)) as ui:
        await _follow(ui, "../secret.md")
        await ui.wait_until(ConfirmDialog)
        assert isinstance(ui.app.screen, ConfirmDialog)
        assert ui.app.screen._detail == str(secret)
        await ui.press_until(lambda: ui.app.screen is ui.main, "n")
        assert len(ui.app.documents) == 1
        await _follow(ui, "../secret.md")
        await ui.wait_until(ConfirmDialog)
        await _wait_until_at(ui, secret, "Secret", "y")


async def test_a_link_that_a_model_wrote_opens_no_file(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as ui:
        await ui.ask("Where?", "See [this](rules.md), [that](../secret.md) and [[Recipes]].")
        for _ in range(3):
            await ui.focus(Scope.CHAT).press("j", "enter")
            assert not isinstance(ui.app.screen, ConfirmDialog | OpenDialog)
            if isinstance(ui.app.screen, PickerDialog):
                await ui.press("escape")
        assert len(ui.app.documents) == 1
