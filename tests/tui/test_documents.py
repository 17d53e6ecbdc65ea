"""Documents, folders and sites in the app: side by side, read when they are opened, and reached by links."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.bootstrap import Bootstrap, open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import Loader, open_sources
from roamtui.markdown.blocks import Link
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from roamtui.tui.messages import DocumentRequested, LinkTarget
from roamtui.tui.screens.conversations import ConversationsScreen
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.open_document import OpenDialog
from roamtui.tui.screens.pickers import PickerDialog
from roamtui.tui.tree.visible_lines import FoldState
from tests.case_files import read_case
from tests.document.linked_notes import write_notes
from tests.fakes.scripted_model import Reply, ScriptedReply
from tests.fakes.services import app_over, context_of, make_options
from tests.fakes.site import FakeSite, SitePage
from tests.tui.driving import (
    ask,
    expand,
    find_id,
    make_context,
    model_of,
    press_until,
    run,
    running,
    screen_text,
    wait_until,
)
from tests.tui.opening import Opener


@pytest.fixture
def opener(tmp_path: Path, store: ConversationStore, monkeypatch: pytest.MonkeyPatch) -> Opener:
    monkeypatch.chdir(tmp_path)
    return Opener(store)


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "guides").mkdir(parents=True)
    (root / "README.md").write_text("# Bakery\n\nHow it is run.\n\n## Ovens\n\nTwo ovens.\n", "utf-8")
    (root / "guides/dough.md").write_text("# Dough\n\nMade in the evening.\n\n## Starter\n\nFeed it.\n", "utf-8")
    (root / "guides/odd.md").write_text("# Odd [/red]\n\nText.\n", "utf-8")
    return root


def make_app(source: Path | str, *replies: Reply) -> RoamApp:
    library, loader = open_sources([str(source)])
    return app_over(make_context(replies, library=library, loader=loader))


def shown(app: RoamApp) -> list[str]:
    lines = app.main_screen.tree_pane.outline.lines
    return [lines.library.node(node_id).title for node_id in lines.ids]


async def test_a_file_is_read_when_it_is_unfolded(folder: Path) -> None:
    async with running(make_app(folder), (120, 30)) as (app, pilot):
        outline = app.main_screen.tree_pane.outline
        await wait_until(pilot, lambda: outline.size.height > 0)
        assert shown(app) == ["README.md", "guides"]
        assert outline.lines.fold_at(0) is FoldState.UNLOADED
        app.main_screen.panes.focus_scope(Scope.TREE)
        await press_until(pilot, lambda: len(shown(app)) == 4, "space")
        assert shown(app) == ["README.md", "Bakery", "Ovens", "guides"]
        await wait_until(pilot, lambda: "Loading" not in screen_text(app))
        await press_until(pilot, lambda: "odd.md" in shown(app), "G", "l")
        assert len(app.main_screen.conversation.state.library.grafts) == 1


async def test_a_question_reads_all_files_and_what_the_model_opens_unfolds(folder: Path) -> None:
    probe = make_app(folder)
    guides, dough = find_id(probe, "guides"), find_id(probe, "dough.md")
    answer = ScriptedReply(text=f'It is "Made in the evening." [{dough}]')
    async with running(make_app(folder, expand(dough), answer), (120, 30)) as (app, pilot):
        await ask(pilot, "When is the dough made?")
        state = app.main_screen.conversation.state
        assert len(state.library.grafts) == 3
        assert tuple(state.open_sections) == (dough,)
        assert {guides, dough} <= state.unfolded
        assert [citation.is_verified for citation in state.exchanges[-1].citations] == [True]
        assert "Starter" in shown(app)
        reader = app.main_screen.reader_pane.ensure_reader()
        reader.follow_answer_link(LinkTarget("odd.md", dough))  # from the cited section, not from the first one
        await wait_until(pilot, lambda: reader.get_selected_or_section_text().startswith("# Odd"))


FEES = read_case("bikes_fees.md")
LIST = read_case("bikes_llms.txt")


@pytest.fixture
def site() -> Iterator[FakeSite]:
    pages = {"/llms.txt": LIST, "/fees.md": FEES, "/renting.md": "# Renting\n\n## Keys\n\nTwo keys.\n"}
    with FakeSite(pages) as site:
        yield site


async def test_a_page_is_fetched_when_its_link_is_chosen_or_says_why_not_and_enter_tries_again(site: FakeSite) -> None:
    site.pages["/fees.md"] = SitePage(status=404)
    async with running(make_app(site.origin), (120, 30)) as (app, pilot):
        app.main_screen.panes.focus_scope(Scope.TREE)
        await pilot.press("j", "enter")
        reader = app.main_screen.reader_pane.ensure_reader()
        await wait_until(pilot, lambda: "There is no page" in reader.get_selected_or_section_text())
        await wait_until(pilot, "✗ Fees")
        site.pages["/fees.md"] = FEES
        await press_until(pilot, lambda: reader.get_selected_or_section_text().startswith("# Fees"), "enter")
        await wait_until(pilot, lambda: "✗ Fees" not in screen_text(app))
        assert app.main_screen.conversation.state.library.node(find_id(app, "Fees")).is_loaded
        assert "/renting.md" not in site.counts.paths


async def test_another_site_is_asked_about_by_its_host(site: FakeSite) -> None:
    probe = make_app(site.origin)
    far = find_id(probe, "Elsewhere")
    app = make_app(site.origin, expand(far), ScriptedReply(text="Not found: it is elsewhere."))
    async with app.run_test(size=(120, 30)) as pilot:
        screen = app.main_screen
        screen.question_box.fill("What is elsewhere?")
        screen.question_box.focus()
        await press_until(pilot, ConfirmDialog, "enter")
        shown = " ".join(screen_text(app).split())
        assert "from other.example" in shown
        assert "http://other.example/x" in shown
        await press_until(pilot, lambda: len(screen.conversation.state.exchanges) == 1 and not screen.is_asking, "n")
        assert "is not allowed" in screen.conversation.state.library.node(far).problem
        assert screen.conversation.state.approved_origins == frozenset()


@pytest.fixture
def contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "contract.md").write_text("# Contract\n\n## Notice\n\nThe notice period is 60 days.\n")
    (tmp_path / "acts").mkdir()
    (tmp_path / "acts" / "lease.md").write_text("# Lease act\n\n## Term\n\nThe notice period is 90 days.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_adding_app(contracts: Path) -> RoamApp:
    def open_source(source: str, *_given: object) -> AppContext:
        library, loader = Bootstrap().open([source])
        store = ConversationStore(contracts / "conversations")
        session = Conversation(library, store=store, source_loader=loader, open_source=Bootstrap().open_added)
        return context_of(Agent(session, NoModel(), KeywordSearcher(library)))

    options = make_options(open_source=open_source, save_settings=lambda _: None)
    return RoamApp(options, open_source("contract.md"))


def list_keys(app: RoamApp) -> list[str]:
    return [source.key for source in app.main_screen.conversation.state.library.sources]


async def test_a_source_is_added_and_asked(contracts: Path) -> None:
    async with running(make_adding_app(contracts), (150, 34)) as (app, pilot):
        notice = find_id(app, "Notice")
        await run(pilot, "global.add_source")
        await wait_until(pilot, "Add a source to this conversation")
        await press_until(pilot, lambda: list_keys(app) == ["", "acts"], *"acts", "slash", "enter")
        await wait_until(pilot, "▸ acts")
        await wait_until(pilot, "Added acts, 2 sections · i on it in the outline asks about it only")
        assert shown(app) == ["contract.md", "Contract", "Notice", "acts"], "what was unfolded stays so"
        assert find_id(app, "Notice") == notice

        await ask(pilot, "What is the notice period?")
        await wait_until(pilot, "acts/lease.md › Lease act › Term")
        assert "contract.md › Contract › Notice" in screen_text(app)


class NotingLoader(Loader):
    """Notes that its connections were closed."""

    is_closed = False

    @override
    def close(self) -> None:
        self.is_closed = True
        super().close()


async def test_closing_a_document_closes_the_connections_of_its_site(site: FakeSite, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n", "utf-8")
    options = make_options(open_source=lambda *_: make_app(site.origin).main_screen.app_context)
    async with running(RoamApp(options, make_app(path).main_screen.app_context)) as (app, pilot):
        app.action_open_document(DocumentRequested(site.origin))
        await wait_until(pilot, lambda: len(app.documents) == 2 and app.screen is app.main_screen)
        app.main_screen.conversation.library_loader.source_loader = loader = NotingLoader()
        await app.main_screen.action_run("global.close_document")
        assert loader.is_closed


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path)


def _open_source(source: str, *_given: object) -> AppContext:
    return make_context(library=open_library([source]))


def _make_app(source: Path) -> RoamApp:
    options = make_options(open_source=_open_source, save_settings=lambda _settings: None)
    return RoamApp(options, _open_source(str(source)))


async def _follow(app: RoamApp, pilot: Pilot[None], href: str) -> None:
    screen = app.main_screen
    await wait_until(pilot, screen.started.is_set)
    library = screen.conversation.state.library
    screen.reader_pane.ensure_reader().open(screen.reader_pane.section_id or next(library.walk()))
    screen.panes.focus_scope(Scope.READER)
    screen.reader_pane.ensure_reader().follow(Link(href))
    await pilot.pause()


def _is_at(app: RoamApp, source: Path, title: str) -> Callable[[], bool]:
    def check() -> bool:
        library = app.main_screen.conversation.state.library
        section_id = app.main_screen.reader_pane.section_id
        if library.source != str(source.resolve()) or section_id is None or section_id not in library:
            return False
        return library.node(section_id).title == title

    return check


async def test_a_link_opens_a_file_at_its_anchor_and_a_key_comes_back(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as (app, pilot):
        first = app.main_screen
        await _follow(app, pilot, "rules.md#late-fees")
        await wait_until(pilot, _is_at(app, notes / "rules.md", "Late fees"))
        assert Scope.READER in app.main_screen.panes.shown
        assert app.main_screen.focused is app.main_screen.reader_pane.ensure_reader()
        await _follow(app, pilot, "start.md#end")  # open already, so no third tab
        await wait_until(pilot, _is_at(app, notes / "start.md", "End"))
        assert len(app.documents) == 2
        await pilot.press("backspace", "backspace")  # within the document, then to the one before
        await wait_until(pilot, _is_at(app, notes / "rules.md", "Late fees"))
        await press_until(pilot, lambda: app.main_screen is first, "backspace")
        await press_until(pilot, "Nothing to go back to", "backspace")


async def test_a_file_outside_the_folder_is_opened_only_after_asking(notes: Path) -> None:
    secret = (notes.parent / "secret.md").resolve()
    async with running(_make_app((notes / "start.md").resolve()), (200, 35)) as (app, pilot):
        await _follow(app, pilot, "../secret.md")
        await wait_until(pilot, ConfirmDialog)
        assert isinstance(app.screen, ConfirmDialog)
        assert app.screen._detail == str(secret)
        await press_until(pilot, lambda: app.screen is app.main_screen, "n")
        assert len(app.documents) == 1
        await _follow(app, pilot, "../secret.md")
        await wait_until(pilot, ConfirmDialog)
        await press_until(pilot, _is_at(app, secret, "Secret"), "y")


async def test_a_link_that_a_model_wrote_opens_no_file(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as (app, pilot):
        model_of(app).add_replies(ScriptedReply(text="See [this](rules.md), [that](../secret.md) and [[Recipes]]."))
        await ask(pilot, "Where?")
        for _ in range(3):
            app.main_screen.panes.focus_scope(Scope.CHAT)
            await pilot.press("j", "enter")
            await pilot.pause()
            assert not isinstance(app.screen, ConfirmDialog | OpenDialog)
            if isinstance(app.screen, PickerDialog):
                await pilot.press("escape")
        assert len(app.documents) == 1
