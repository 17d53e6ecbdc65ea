"""Where links lead, and how editors are told where to go."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.document.links import locate_section
from roamtui.document.source_loader import open_sources
from roamtui.library_loader import open_library
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions
from roamtui.tui.controllers import reader
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import RYE, ask, expand, find_id, make_app, model_of, run, running, screen_text, wait_until


def test_the_file_of_a_section_is_found_alone_and_in_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "sub" / "a.md"
    path.parent.mkdir(parents=True)
    path.write_text("# A\n", "utf-8")
    for source in (path, tmp_path / "docs"):
        library = open_library([str(source)])
        file = locate_section(library, [*library.walk()][-1])
        assert file is not None
        assert file.path == path
    library = open_library([str(tmp_path / "docs")])
    assert locate_section(library, next(iter(library.walk()))) is None


BOOK = "# Book\n\n" + "".join(f"## Chapter {number}\n\n" + "So it went.\n\n" * 12 for number in range(6))


def read(app: RoamApp) -> str:
    """Return the title of the section that is read."""
    section_id = app.main_screen.reader_pane.section_id
    return app.main_screen.conversation.state.library.title_of(section_id) if section_id else ""


def cursor(app: RoamApp) -> str:
    section_id = app.main_screen.tree_pane.outline.cursor_id
    return app.main_screen.conversation.state.library.title_of(section_id) if section_id else ""


async def test_scrolling_past_the_end_of_a_section_shows_the_next_one_and_outline_and_conversation_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "_READING_SECONDS", 3600.0)
    async with running(make_app(text=BOOK), (120, 30)) as (app, pilot):
        await pilot.press("escape", "j", "enter", "3")
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.reader_pane.reader)
        assert (read(app), cursor(app)) == ("Chapter 0", "Chapter 0")
        passed = {read(app)}
        for _ in range(8):
            await pilot.press("pagedown")
            await wait_until(pilot, lambda: read(app) == cursor(app))
            passed.add(read(app))
        assert passed == {f"Chapter {number}" for number in range(6)}
        # What is only scrolled past is not read.
        assert app.main_screen.conversation.state.reading_id == find_id(app, "Chapter 0")
        monkeypatch.setattr(reader, "_READING_SECONDS", 0.01)
        await pilot.press("pageup", "pagedown")
        await wait_until(pilot, lambda: app.main_screen.conversation.state.reading_id == find_id(app, "Chapter 5"))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: app.main_screen.status_line.status.message == "Nothing to go back to")


async def test_keys_go_to_the_next_section_and_the_one_before() -> None:
    async with running(make_app(text=BOOK), (120, 30)) as (app, pilot):
        await pilot.press("escape", "G", "k", "enter", "3", "]")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Chapter 5")
        assert "Chapter 5" in "\n".join(screen_text(app).splitlines()[2:4])  # the last one stands at the top too
        await pilot.press("]")
        await wait_until(pilot, lambda: app.main_screen.status_line.status.message == "Last section")
        await pilot.press(*"[[[[[[")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Book")
        await pilot.press("[")
        await wait_until(pilot, lambda: app.main_screen.status_line.status.message == "First section")
        await pilot.press("backspace", "backspace")
        await wait_until(pilot, lambda: read(app) == "Chapter 1")


def make_folder_app(tmp_path: Path, places: Path | None = None) -> RoamApp:
    root = tmp_path / "docs"
    (root / "guides").mkdir(parents=True, exist_ok=True)
    (root / "a.md").write_text("# Ovens\n\n## Stone\n\nOne.\n", "utf-8")
    (root / "guides/b.md").write_text("# Dough\n\n## Rye\n\n" + "Two.\n\n" * 60, "utf-8")
    library, loader = open_sources([str(root)])
    agent = Agent(Conversation.start(library, loader=loader), ScriptedModel(()))
    return RoamApp(AppContext(agent=agent, options=TuiOptions(reading_positions_path=places)))


async def test_the_place_in_a_document_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "data/places.json"
    async with running(make_folder_app(tmp_path, path), (160, 30)) as (app, pilot):
        await pilot.press("escape", "l", "j", "enter", "3")
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.reader_pane.reader)
        await pilot.press("]", "]", "]")
        await wait_until(pilot, lambda: "Two." in screen_text(app))
        await pilot.press("pagedown")
        await wait_until(pilot, lambda: app.main_screen.reader_pane.reader.top_y > 20)
        place = app.main_screen.reader_pane.reader.position
    assert place is not None
    assert place.offset > 0
    assert path.stat().st_mode & 0o777 == 0o600
    again = make_folder_app(tmp_path, path)
    async with again.run_test(size=(160, 30)) as pilot:
        await wait_until(pilot, lambda: again.main_screen.reader_pane.reader.position == place)
        assert again.main_screen.focused is again.main_screen.question_box


async def test_the_reader_follows_the_cursor_until_it_is_told_to_stay() -> None:
    async with running(make_app(text=RYE), (160, 30)) as (app, pilot):
        await pilot.press("escape")
        await run(pilot, "global.follow")
        await wait_until(pilot, lambda: read(app) == "Mill")
        assert "following · Mill" in screen_text(app)
        await pilot.press("j")
        await wait_until(pilot, lambda: read(app) == "Stones")
        assert app.main_screen.focused is app.main_screen.tree_pane.outline
        state = app.main_screen.conversation.state
        await wait_until(
            pilot, lambda: state.library.title_of(app.main_screen.conversation.state.reading_id or "") == "Stones"
        )
        await run(pilot, "global.follow")
        await pilot.press("j")
        await pilot.pause(0.1)
        assert (cursor(app), read(app)) == ("Store", "Stones")
        assert "following" not in screen_text(app).split("\n")[1]
        await pilot.press("3", "backspace")
        await pilot.pause()
        assert read(app) == "Stones", "what only passed by is no way back"


@pytest.mark.parametrize(("width", "is_shown"), [(160, True), (100, False)])
async def test_the_reader_follows_the_model_where_it_does_not_hide_the_answer(width: int, *, is_shown: bool) -> None:
    async with running(make_app(text=RYE), (width, 30)) as (app, pilot):
        await run(pilot, "global.follow")
        await pilot.press("2")
        await pilot.pause()
        reading = app.main_screen.conversation.state.reading_id
        loft = find_id(app, "Loft")
        model_of(app).add_replies(expand(loft), ScriptedReply(text="Dried."))
        await ask(pilot, "Where?")
        assert (read(app) == "Loft") is is_shown
        assert app.main_screen.conversation.state.reading_id == reading, "the person did not choose it"
        assert "Dried." in screen_text(app)
