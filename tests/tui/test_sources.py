"""Folders, sites and added sources in the app: read when they are opened, and asked about before another site is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import Loader, open_sources
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.content_view import LinkTarget
from roamtui.tui.context import AppContext
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.tree.visible_lines import FoldState
from tests.case_files import read_case
from tests.fakes.scripted_model import Reply, ScriptedReply
from tests.fakes.services import app_over, context_of, make_options
from tests.fakes.site import FakeSite, SitePage
from tests.tui.driving import ask, expand, find_id, make_context, press_until, run, running, screen_text, wait_until


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
        reader = app.main_screen.reader_pane.reader
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
        reader = app.main_screen.reader_pane.reader
        await wait_until(pilot, lambda: "There is no page" in reader.get_selected_or_section_text())
        await wait_until(pilot, "✗ Fees")
        site.pages["/fees.md"] = FEES
        await press_until(pilot, lambda: reader.get_selected_or_section_text().startswith("# Fees"), "1", "enter")
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
        assert "is not approved" in screen.conversation.state.library.node(far).problem
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
        session = Conversation(library, store=store, loader=loader, open_source=Bootstrap().open_added)
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
        app.main_screen.conversation.loader.source_loader = loader = NotingLoader()
        await app.main_screen.action_run("global.close_document")
        assert loader.is_closed
