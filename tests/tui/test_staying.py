"""What keeps a person in the reader: how far they are, the way back, selecting by keyboard, one column alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import NoteStore
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.dialogs import PromptDialog
from tests.tui.driving import app_of, make_app, make_context, press_until, running, wait_until

BOOK = "# Book\n\n" + "".join(f"## Chapter {number}\n\n" + "So it went on.\n\n" * 110 for number in range(6))
NOTED = "# Top\n\nSee [below](#part) and[^1] more.\n\n" + "Words.\n\n" * 60 + "## Part\n\nHere.\n\n[^1]: The note.\n"


def header(pilot: Pilot[None]) -> str:
    pane = app_of(pilot).main_screen.reader_pane
    return pane.title_line.render_line(0).text.strip()


async def open_reader(pilot: Pilot[None], *keys: str) -> None:
    main = app_of(pilot).main_screen
    main.panes.focus_tree()
    await press_until(pilot, lambda: main.focused is main.reader_pane.reader, *keys, "enter", "3")
    await pilot.pause()


async def test_the_header_says_how_much_is_read() -> None:
    async with running(make_app(text=BOOK), (120, 30)) as (_, pilot):
        await open_reader(pilot)
        await wait_until(pilot, lambda: header(pilot).endswith("Book · 0 %"))
        await press_until(pilot, lambda: header(pilot).endswith("Chapter 3 · 50 %"), "]", "]", "]", "]")
        await press_until(pilot, lambda: header(pilot).endswith("Chapter 3 · 56 %"), *["pagedown"] * 4)
        await press_until(pilot, lambda: header(pilot).endswith("Chapter 5 · 100 %"), "G")


@pytest.mark.parametrize(("jump", "count"), [("]", 1), ("oo", 1), ("olo", 1), ("]G", 1), ("]]", 2)])
async def test_backspace_undoes_each_jump_but_no_scrolling(jump: str, count: int) -> None:
    async with running(make_app(text=NOTED), (120, 30)) as (app, pilot):
        await open_reader(pilot)
        reader = app.main_screen.reader_pane.reader
        await press_until(pilot, lambda: reader.top_y == 1, "pagedown", "pageup", "j", "k", "j")
        for key in jump:
            await pilot.press(key)
            await pilot.pause()
        await pilot.press("j", "pageup")
        for _ in range(count):
            await wait_until(pilot, lambda: not app.main_screen.status_line.message)
            await pilot.press("backspace")
            await pilot.pause()
        await wait_until(pilot, lambda: reader.top_y == 0)  # the start of what was at the top
        await pilot.press("backspace")
        await wait_until(pilot, lambda: app.main_screen.status_line.message == "Nothing to go back to")


REST = "It must rest for one hour after each batch."


async def select_rest(pilot: Pilot[None]) -> None:
    """Select the sentence `REST`, as the mouse does."""
    await open_reader(pilot, "g", "j", "l", "j")
    screen = app_of(pilot).main_screen
    reader = screen.reader_pane.reader
    texts = [found.line.text if (found := reader.lines.get_line(y)) else "" for y in range(len(reader.lines))]
    first = next(y for y, text in enumerate(texts) if "It must rest" in text)
    last = next(y for y, text in enumerate(texts) if "batch." in text)
    start, end = texts[first].index("It must"), texts[last].index("batch.") + len("batch.")
    screen.selections = {reader: Selection(Offset(start, first), Offset(end, last))}


async def test_words_selected_are_kept_and_asked_about(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "conversations")
    app = RoamApp(make_context(store=store))
    async with app.run_test(size=(120, 30)) as pilot:
        await select_rest(pilot)
        await press_until(pilot, PromptDialog, "b")
        await press_until(pilot, lambda: app.main_screen.status_line.message.startswith("Note saved"), "enter")
        await wait_until(pilot, lambda: not app.main_screen.selections)
        (note,) = NoteStore(store.notes_folder, "bakery.md").read()
        assert " ".join((note.citation.quote or "").split()) == REST
        await select_rest(pilot)
        await press_until(pilot, lambda: app.main_screen.question_box.text == f"“{REST}”\n", "i")
        assert not app.main_screen.selections


async def test_focus_mode_shows_one_column_of_88_characters_until_another_pane_is_wanted() -> None:
    async with running(make_app(text=BOOK), (160, 30)) as (app, pilot):
        await open_reader(pilot)
        main = app.main_screen
        await pilot.press("Z")
        await wait_until(pilot, lambda: not main.tree_pane.display and main.reader_pane.reader.lines.text_width > 0)
        await wait_until(pilot, lambda: main.reader_pane.reader.view_size.width == 89)
        region = main.reader_pane.reader.region
        assert abs(region.x - (160 - region.right)) <= 1
        assert not main.panes._chat.display
        assert not main.question_box.is_on_screen
        await press_until(pilot, lambda: main.tree_pane.display and main.question_box.is_on_screen, "escape")
        assert main.focused is main.reader_pane.reader
        for key in ("1", "2", "tab", "Z"):
            main.panes.focus_reader()
            await press_until(pilot, lambda: not main.tree_pane.display, "Z")
            await press_until(pilot, lambda: main.tree_pane.display, key)
