"""Links in the reader to other files and back, to web pages and to nothing, and the list of links to a section."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from roamtui.bootstrap import open_library
from roamtui.markdown.blocks import Link
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.open_document import OpenDialog
from roamtui.tui.screens.pickers import PickerDialog
from tests.document.linked_notes import write_notes
from tests.fakes.scripted_model import ScriptedReply
from tests.fakes.services import make_options
from tests.tui.driving import ask, make_context, model_of, press_until, running, wait_until


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
    screen.reader_pane.reader.open(screen.reader_pane.section_id or next(library.walk()))
    screen.panes.focus_scope(Scope.READER)
    screen.reader_pane.reader.follow(Link(href))
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
        assert app.main_screen.focused is app.main_screen.reader_pane.reader
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
