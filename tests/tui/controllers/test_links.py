"""Links in the reader: to files of this machine and back, to names and to nothing, and the links to a section."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.document.library import Library
from roamtui.document.link_targets import DeadLink, SectionLink, list_backlinks
from roamtui.library_loader import open_library
from roamtui.models.base import Model
from roamtui.sources.convert.converted import PageReport
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, DocumentOpener, StartupContext
from roamtui.tui.controllers.links import FileLink, GuessedLink, LostLink, resolve_reader_link
from roamtui.tui.panes.pane import Pane
from roamtui.tui.screens.dialogs import ConfirmDialog, PickerDialog
from roamtui.tui.screens.open_document import OpenDialog
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import ask, model_of, running, screen_text, wait_until

_NOTES = {
    "start.md": "# Start\n\n[Rules](rules.md#late-fees), [[Recipes#Rye bread|rye]], [here](#end).\n\n## End\n\nDone.\n",
    "rules.md": "# Rules\n\n## Loans\n\nSee [late](#late-fees).\n\n## Late fees\n\nTwo euros. [Back](start.md)\n",
    "sub/Recipes.md": "# Recipes\n\n## Rye bread\n\n[x](../rules.md#late-fees)\n\n<a id='odd'></a>Odd.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, text in _NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (tmp_path / "secret.md").write_text("# Secret\n", "utf-8")
    return folder


def _first(library: Library) -> str:
    return [*library.walk()][-1] if library.root.columns.has_files else next(library.walk())


def _title(library: Library, link: object) -> str:
    assert isinstance(link, SectionLink), link
    return library.title_of(link.section_id)


def test_links_from_a_file_opened_alone_lead_to_the_files_beside_it(notes: Path) -> None:
    library = open_library([str(notes / "start.md")])
    origin = _first(library)
    rules, recipes = (notes / "rules.md").resolve(), (notes / "sub" / "Recipes.md").resolve()
    for href, expected in (
        ("rules.md#late-fees", FileLink(rules, "late-fees", is_outside=False)),
        ("rules", FileLink(rules, "", is_outside=False)),
        ("rules.html", FileLink(rules, "", is_outside=False)),
        ("/rules.md", FileLink(rules, "", is_outside=False)),
        ("sub", FileLink(notes.resolve() / "sub", "", is_outside=False)),
        ("[[Recipes#Rye bread]]", FileLink(recipes, "Rye bread", is_outside=False)),
        ("[[recipes]]", FileLink(recipes, "", is_outside=False)),
        ("../secret.md", FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)),
    ):
        assert resolve_reader_link(href, library, origin) == expected
        assert isinstance(resolve_reader_link(href, library, origin, with_files=False), DeadLink | LostLink)
    assert _title(library, resolve_reader_link("start.md#end", library, origin)) == "End"
    assert _title(library, resolve_reader_link("[[#End]]", library, origin)) == "End"
    assert _title(library, resolve_reader_link("[[End]]", library, origin)) == "End"


def test_in_a_folder_wikilinks_lead_to_files_by_their_names(notes: Path) -> None:
    library = open_library([str(notes)])
    rules = next(i for i in library.walk() if library.node(i).doc == "rules.md")
    for href, title in (
        ("[[Recipes]]", "Recipes.md"),
        ("[[sub/recipes.md]]", "Recipes.md"),
        ("[[recipes#rye bread]]", "Rye bread"),
        ("[[Rules#Loans]]", "Loans"),
    ):
        link = resolve_reader_link(href, library, rules)
        assert isinstance(link, SectionLink)
        assert library.title_of(link.section_id) in (title, title.removesuffix(".md"))
    odd = resolve_reader_link("#odd", library, next(i for i in library.walk() if library.title_of(i) == "Rye bread"))
    assert isinstance(odd, SectionLink)
    assert odd.span is not None


def test_a_link_to_the_top_folder_leads_to_its_index_page_and_back(notes: Path) -> None:
    (notes / "README.md").write_text("# Notes\n", "utf-8")
    (notes / "sub" / "up.md").write_text("# Up\n\n[notes](../)\n", "utf-8")
    library = open_library([str(notes)])
    origin = next(i for i in library.walk() if library.node(i).doc == "sub/up.md")
    for href in ("..", "../", "/", "../README.md"):
        assert _title(library, resolve_reader_link(href, library, origin)) == "README.md"
    index = next(i for i in library.walk() if library.title_of(i) == "README.md")
    assert [library.title_of(i) for i in list_backlinks(library, index)] == ["Up"]


def test_a_symbolic_link_out_of_the_folder_is_outside_and_a_loop_is_no_file(notes: Path) -> None:
    (notes / "out.md").symlink_to(notes.parent / "secret.md")
    (notes / "loop.md").symlink_to(notes / "loop.md")
    library = open_library([str(notes / "start.md")])
    out = resolve_reader_link("out.md", library, _first(library))
    assert out == FileLink((notes.parent / "secret.md").resolve(), "", is_outside=True)
    for href in ("loop.md", "a\0b.md", "x" * 5_000, "nothing/here.md", "rules.md/x"):
        assert isinstance(resolve_reader_link(href, library, _first(library)), LostLink)


def test_a_link_to_a_binary_file_says_where_the_file_is(notes: Path) -> None:
    (notes / "picture.png").write_bytes(b"\x89PNG\0\0")
    library = open_library([str(notes / "start.md")])
    link = resolve_reader_link("picture.png", library, _first(library))
    assert isinstance(link, DeadLink)
    assert str(notes / "picture.png") in link.reason


def test_a_dead_link_names_what_is_nearest(notes: Path) -> None:
    alone, folder = open_library([str(notes / "start.md")]), open_library([str(notes)])
    sub = next(i for i in folder.walk() if folder.node(i).doc == "sub/Recipes.md")
    for library, origin, href, nearest in (
        (alone, _first(alone), "rule.md#x", ("rules.md#x",)),
        (alone, _first(alone), "[[Recipe]]", ("[[sub/Recipes]]",)),
        (alone, _first(alone), "#ende", ("#end",)),
        (folder, sub, "../rulez.md", ("../rules.md",)),
    ):
        link = resolve_reader_link(href, library, origin)
        assert isinstance(link, LostLink)
        assert set(nearest) <= set(link.nearest)
        assert not isinstance(resolve_reader_link(link.nearest[0], library, origin), LostLink | DeadLink)


def test_a_link_between_joined_files_is_guessed_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "all.md").write_text("# A\n\n[b](b/setup.md) [c](x.md#late)\n\n## Setup\n\n## Late\n", "utf-8")
    library = open_library([str(tmp_path / "all.md")])
    for href, title in (("b/setup.md", "Setup"), ("x.md#late", "Late")):
        link = resolve_reader_link(href, library, _first(library))
        assert isinstance(link, GuessedLink)
        assert library.title_of(link.section_id) == title
        assert "No file" in link.note


def test_the_links_to_a_section_are_listed(notes: Path) -> None:
    library = open_library([str(notes)])

    def find(title: str) -> str:
        return next(i for i in library.walk() if library.title_of(i) == title)

    titles = [library.title_of(i) for i in list_backlinks(library, find("Late fees"))]
    assert sorted(titles) == ["Loans", "Rye bread", "Start"]
    assert [library.title_of(i) for i in list_backlinks(library, find("Rye bread"))] == ["Start"]
    assert list_backlinks(library, find("Loans")) == []


def _open_source(source: str, _id: str | None, model: Model | None, _report: PageReport) -> StartupContext:
    agent = Agent(Session.start(open_library([source])), model or ScriptedModel())
    return StartupContext.from_app_context(AppContext(agent=agent))


def _make_app(source: Path) -> RoamApp:
    opener = DocumentOpener(
        list_offers=lambda: ((), ""),
        open_source=_open_source,
        suggest_address=lambda _name: None,
        save_settings=lambda _settings: None,
    )
    return RoamApp(_open_source(str(source), None, None, lambda *_given: None), opener)


async def _follow(app: RoamApp, pilot: Pilot[None], href: str) -> None:
    screen = app.main_screen
    await wait_until(pilot, lambda: screen.has_started)
    library = screen.session.state.library
    screen.reader_controller.read(screen.reader_pane.section_id or next(library.walk()), came_from=None)
    screen.panes.focus_reader()
    screen.warn(screen.reader_controller.open_link(href, screen.reader_pane.section_id))
    await pilot.pause()


def _is_at(app: RoamApp, source: Path, title: str) -> Callable[[], bool]:
    def check() -> bool:
        library = app.main_screen.startup.state.library
        section_id = app.main_screen.reader_pane.section_id
        return (
            library.source == str(source.resolve())
            and section_id in library
            and section_id is not None
            and library.title_of(section_id) == title
        )

    return check


async def test_a_link_opens_a_file_at_its_anchor_and_a_key_comes_back(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as (app, pilot):
        first = app.main_screen
        await _follow(app, pilot, "rules.md#late-fees")
        await wait_until(pilot, _is_at(app, notes / "rules.md", "Late fees"))
        assert Pane.READER in app.main_screen.panes.shown
        assert app.main_screen.focused is app.main_screen.reader_pane.reader
        await _follow(app, pilot, "start.md#end")  # open already, so no third tab
        await wait_until(pilot, _is_at(app, notes / "start.md", "End"))
        assert len(app.documents) == 2
        await pilot.press("backspace", "backspace")  # within the document, then to the one before
        await wait_until(pilot, _is_at(app, notes / "rules.md", "Late fees"))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: app.main_screen is first)
        await pilot.press("backspace")
        await wait_until(pilot, lambda: "Nothing to go back to" in screen_text(app))


async def test_a_file_outside_the_folder_is_opened_only_after_asking(notes: Path) -> None:
    secret = (notes.parent / "secret.md").resolve()
    async with running(_make_app((notes / "start.md").resolve()), (200, 35)) as (app, pilot):
        await _follow(app, pilot, "../secret.md")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert isinstance(app.screen, ConfirmDialog)
        assert app.screen._detail == str(secret)
        await pilot.press("n")
        await wait_until(pilot, lambda: app.screen is app.main_screen)
        assert len(app.documents) == 1
        await _follow(app, pilot, "../secret.md")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await wait_until(pilot, _is_at(app, secret, "Secret"))


async def test_a_link_that_a_model_wrote_opens_no_file(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as (app, pilot):
        model_of(app).add_replies(ScriptedReply(text="See [this](rules.md), [that](../secret.md) and [[Recipes]]."))
        await ask(pilot, "Where?")
        for _ in range(3):
            app.main_screen.panes.focus_chat()
            await pilot.press("j", "enter")
            await pilot.pause()
            assert not isinstance(app.screen, ConfirmDialog | OpenDialog)
            if isinstance(app.screen, PickerDialog):
                await pilot.press("escape")
        assert len(app.documents) == 1


async def test_the_nearest_names_of_a_dead_link_are_offered(notes: Path) -> None:
    async with running(_make_app((notes / "start.md").resolve()), (120, 35)) as (app, pilot):
        await _follow(app, pilot, "rule.md#late-fees")
        await wait_until(pilot, lambda: isinstance(app.screen, PickerDialog))
        assert 'No file "rule.md" here. Nearest:' in screen_text(app)
        await pilot.press("enter")
        await wait_until(pilot, _is_at(app, notes / "rules.md", "Late fees"))


async def test_a_web_page_that_was_opened_is_named(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = _make_app((notes / "start.md").resolve())
    opened: list[str] = []
    monkeypatch.setattr(app, "open_url", lambda url, **_given: opened.append(url))
    async with running(app, (120, 35)) as (app, pilot):
        await _follow(app, pilot, "https://a.invalid/x")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await wait_until(pilot, lambda: "Opened https://a.invalid/x in your browser" in screen_text(app))
        assert opened == ["https://a.invalid/x"]


async def test_a_key_lists_the_sections_that_link_here(notes: Path) -> None:
    async with running(_make_app((notes / "rules.md").resolve()), (120, 35)) as (app, pilot):
        await _follow(app, pilot, "#late-fees")
        await pilot.press("L")
        await wait_until(pilot, lambda: isinstance(app.screen, PickerDialog))
        assert "1 section links here" in screen_text(app)
        await pilot.press("enter")
        await wait_until(pilot, _is_at(app, notes / "rules.md", "Loans"))
        await pilot.press("L")
        await wait_until(pilot, lambda: "No section links here" in screen_text(app))
