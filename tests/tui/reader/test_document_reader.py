"""Where links lead, and how editors are told where to go."""

from __future__ import annotations

import pytest

from roamtui.tui.app import RoamApp
from roamtui.tui.reader import document_reader
from tests.tui.driving import find_id, make_app, running, screen_text, wait_until

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
    monkeypatch.setattr(document_reader, "_READING_SECONDS", 3600.0)
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
        monkeypatch.setattr(document_reader, "_READING_SECONDS", 0.01)
        await pilot.press("pageup", "pagedown")
        await wait_until(pilot, lambda: app.main_screen.conversation.state.reading_id == find_id(app, "Chapter 5"))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: app.main_screen.status_line.message == "Nothing to go back to")


async def test_keys_go_to_the_next_section_and_the_one_before() -> None:
    async with running(make_app(text=BOOK), (120, 30)) as (app, pilot):
        await pilot.press("escape", "G", "k", "enter", "3", "]")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Chapter 5")
        assert "Chapter 5" in "\n".join(screen_text(app).splitlines()[2:4])  # the last one stands at the top too
        await pilot.press("]")
        await wait_until(pilot, lambda: app.main_screen.status_line.message == "Last section")
        await pilot.press(*"[[[[[[")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Book")
        await pilot.press("[")
        await wait_until(pilot, lambda: app.main_screen.status_line.message == "First section")
        await pilot.press("backspace", "backspace")
        await wait_until(pilot, lambda: read(app) == "Chapter 1")
