"""Reading goes on past the end of a section and of a file, and where it was left."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.document.build import open_named
from roamtui.tui.app import RoamApp
from roamtui.tui.commands import ReadingPlace
from roamtui.tui.context import AppContext, TuiOptions
from roamtui.tui.screens.reading import Places
from tests.fakes.scripted_model import ScriptedModel
from tests.tui.driving import find_id, make_app, screen_text, wait_until

TEXT = "# Book\n\n" + "".join(f"## Chapter {number}\n\n" + "So it went.\n\n" * 12 for number in range(6))


def read(app: RoamApp) -> str:
    """Return the title of the section that is read."""
    section_id = app.main.reader_pane.section_id
    return app.main.session.state.library.title_of(section_id) if section_id else ""


def cursor(app: RoamApp) -> str:
    section_id = app.main.tree_pane.outline.cursor_id
    return app.main.session.state.library.title_of(section_id) if section_id else ""


async def test_scrolling_past_the_end_of_a_section_shows_the_next_one_and_outline_and_conversation_follow() -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", "j", "enter", "3")
        await wait_until(pilot, lambda: app.main.focused is app.main.reader_pane.reader)
        assert (read(app), cursor(app)) == ("Chapter 0", "Chapter 0")
        passed = {read(app)}
        for _ in range(8):
            await pilot.press("pagedown")
            await wait_until(pilot, lambda: read(app) == cursor(app))
            passed.add(read(app))
        assert passed == {f"Chapter {number}" for number in range(6)}
        assert app.main.session.state.reading == find_id(app, "Chapter 0")  # what is scrolled past is not read
        await wait_until(pilot, lambda: app.main.session.state.reading == find_id(app, "Chapter 5"))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: app.main.status_line.status.message == "nothing was read before this")


async def test_keys_go_to_the_next_section_and_the_one_before() -> None:
    app = make_app(text=TEXT)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", "G", "k", "enter", "3", "]")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Chapter 5")
        assert "Chapter 5" in "\n".join(screen_text(app).splitlines()[2:4])  # the last one stands at the top too
        await pilot.press("]")
        await wait_until(pilot, lambda: app.main.status_line.status.message == "this is the last section")
        await pilot.press(*"[[[[[[")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Book")
        await pilot.press("[")
        await wait_until(pilot, lambda: app.main.status_line.status.message == "this is the first section")
        await pilot.press("backspace", "backspace")
        await wait_until(pilot, lambda: read(app) == "Chapter 1")


def make_folder_app(tmp_path: Path, places: Path | None = None) -> RoamApp:
    root = tmp_path / "docs"
    (root / "guides").mkdir(parents=True, exist_ok=True)
    (root / "a.md").write_text("# Ovens\n\n## Stone\n\nOne.\n", "utf-8")
    (root / "guides/b.md").write_text("# Dough\n\n## Rye\n\n" + "Two.\n\n" * 60, "utf-8")
    library, loader = open_named([str(root)])
    agent = Agent(Session.start(library, loader=loader), ScriptedModel(()))
    return RoamApp(AppContext(agent=agent, options=TuiOptions(places_path=places)))


async def test_after_the_end_of_a_file_comes_the_next_one_and_back(tmp_path: Path) -> None:
    app = make_folder_app(tmp_path)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", "enter", "3")
        await wait_until(pilot, lambda: "One." in screen_text(app))
        await pilot.press("]")
        await wait_until(pilot, lambda: read(app) == "Stone")
        await pilot.press("pagedown")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "b.md")
        await wait_until(pilot, lambda: "Two." in screen_text(app))  # it was not loaded before
        await pilot.press("up")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Ovens")  # all of it fits into the view
        assert "One." in screen_text(app)


async def test_an_empty_file_is_passed_too(tmp_path: Path) -> None:
    app = make_folder_app(tmp_path)
    (tmp_path / "docs/a.md").write_text("", "utf-8")
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("escape", "enter", "3")
        await wait_until(pilot, lambda: read(app) == "a.md" and app.main.focused is app.main.reader_pane.reader)
        await pilot.press("pagedown")
        await wait_until(pilot, lambda: read(app) == "b.md")


async def test_the_place_in_a_document_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "data/places.json"
    app = make_folder_app(tmp_path, path)
    async with app.run_test(size=(160, 30)) as pilot:
        await pilot.press("escape", "l", "j", "enter", "3")
        await wait_until(pilot, lambda: app.main.focused is app.main.reader_pane.reader)
        await pilot.press("]", "]", "]")
        await wait_until(pilot, lambda: "Two." in screen_text(app))
        await pilot.press("pagedown")
        await wait_until(pilot, lambda: app.main.reader_pane.reader.top_y > 20)
        place = app.main.reader_pane.reader.place
    assert place is not None
    assert place.into > 0
    assert path.stat().st_mode & 0o777 == 0o600
    again = make_folder_app(tmp_path, path)
    async with again.run_test(size=(160, 30)) as pilot:
        await wait_until(pilot, lambda: again.main.reader_pane.reader.place == place)
        assert again.main.focused is again.main.question_box


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b'{"a.md": ["0a"], "b.md": 3, "c.md": ["0a", 1, 2]}'])
def test_a_damaged_file_of_places_holds_none_and_is_written_anew(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "places.json"
    path.write_bytes(data)
    places = Places(path)
    assert [places.find(name) for name in ("a.md", "b.md", "c.md")] == [None] * 3
    places.keep("a.md", ReadingPlace("0a", 7, "0b"))
    assert places.find("a.md") == ReadingPlace("0a", 7, "0b")
