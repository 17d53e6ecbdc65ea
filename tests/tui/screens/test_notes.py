"""Keeping places and words, the list of what is kept, and asking about selected words."""

from pathlib import Path

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import Note, NoteStore
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.dialogs import PromptDialog
from roamtui.tui.screens.notes import NotesScreen
from tests.fakes.services import app_over
from tests.tui.driving import (
    TEXT,
    app_of,
    find_id,
    go_to,
    make_context,
    press_until,
    running,
    screen_text,
    show_answer,
    wait_until,
)

BATCH = "It must rest for one hour after each batch"
REST = "must rest for one hour"


def make_app(store: ConversationStore | None, text: str = TEXT) -> RoamApp:
    return app_over(make_context(store=store, text=text))


def on_disk(store: ConversationStore) -> list[Note]:
    return list(NoteStore(store.notes_folder, "bakery.md").read())


async def open_section(pilot: Pilot[None], title: str) -> None:
    """Read a section, the focus in the reader."""
    main = app_of(pilot).main_screen
    section_id = find_id(app_of(pilot), title)
    main.panes.focus_scope(Scope.TREE)
    await go_to(pilot, section_id)
    await pilot.press("enter", "enter")
    await pilot.pause()


async def select(pilot: Pilot[None], words: str, cut: int = 0) -> None:
    """Select words of one line in the reader, without their first and last `cut` letters."""
    reader = app_of(pilot).main_screen.reader_pane.ensure_reader()
    assert reader.lines is not None
    for y in range(len(reader.lines)):
        found = reader.lines.get_line(y)
        if found and words in found[1].text:
            x = found[1].text.index(words)
            app_of(pilot).main_screen.selections = {
                reader: Selection(Offset(x + cut, y), Offset(x + len(words) - cut, y))
            }
            await pilot.pause()
            return
    pytest.fail(f"{words} is not in view")


async def keep(pilot: Pilot[None], words: str = "") -> None:
    """Press the key, type words of one's own and take them."""
    await press_until(pilot, PromptDialog, "b")
    await press_until(pilot, "Note saved · f6 lists all notes", *words, "enter")


async def open_list(pilot: Pilot[None]) -> NotesScreen:
    await press_until(pilot, NotesScreen, "f6")
    await pilot.pause()
    assert isinstance(pilot.app.screen, NotesScreen)
    return pilot.app.screen


async def test_a_section_selected_words_and_a_cited_quote_are_kept_and_listed_in_order(
    store: ConversationStore,
) -> None:
    async with running(make_app(store), (120, 35)) as (app, pilot):
        await show_answer(pilot)
        await open_section(pilot, "Starter")
        await select(pilot, "with 200 g of rye", cut=2)
        await keep(pilot, "hm")
        assert "Steam ❝" in screen_text(app), "open as part of another, and cited"
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("j")
        await keep(pilot)
        app.main_screen.panes.focus_scope(Scope.TREE)
        app.main_screen.tree_pane.outline.move_to(find_id(app, "Ovens"))
        await keep(pilot)
        starter, batch, ovens = on_disk(store)
        assert (starter.citation.quote, starter.comment) == ("with 200 g of rye", "hm")
        assert starter.citation.section_id == find_id(app, "Starter")
        assert (batch.citation.quote, batch.citation.section_id) == (BATCH, find_id(app, "Stone oven"))
        assert (ovens.citation.quote, ovens.citation.section_id) == (None, find_id(app, "Ovens"))
        app.main_screen.question_box.focus()
        screen = await open_list(pilot)
        text = screen_text(app)
        assert text.index("Ovens · lines") < text.index(f"“{BATCH}”") < text.index("✎ hm")
        await press_until(pilot, lambda: not screen.is_attached, "j", "enter")
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == batch.citation.section_id)
        span = app.main_screen.reader_pane.ensure_reader().get_selection_span()
        assert span is not None
        assert app.main_screen.conversation.state.library.text_at(span) == BATCH, "the words that were kept are marked"


async def test_words_are_changed_a_note_is_deleted_after_a_yes_and_the_rest_exported(
    store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(store), (80, 24)) as (app, pilot):
        await open_section(pilot, "Steam")
        await keep(pilot, "one")
        await keep(pilot, "!")  # kept already: its words go on
        await open_section(pilot, "Dough")
        await keep(pilot, "two")
        await open_list(pilot)
        await press_until(pilot, PromptDialog, "e")
        await pilot.press("ctrl+u", "[", "b", "]", "enter")
        await wait_until(pilot, lambda: [note.comment for note in on_disk(store)] == ["[b]", "two"])
        await wait_until(pilot, "✎ [b]")
        await press_until(pilot, lambda: "✎ [b]" not in screen_text(app), "/", *"two")
        await press_until(pilot, "✎ [b]", "escape")
        await press_until(pilot, "Deleted.", "d", "y")
        assert [note.comment for note in on_disk(store)] == ["two"]
        monkeypatch.chdir(tmp_path)
        await press_until(pilot, PromptDialog, "w")
        assert "chooses the format" not in screen_text(app), "there is only one"
        await press_until(pilot, (tmp_path / "bakery-notes.md").exists, "enter")


async def test_a_changed_document_says_what_became_of_the_places(store: ConversationStore) -> None:
    async with running(make_app(store), (120, 35)) as (app, pilot):
        await open_section(pilot, "Stone oven")
        await select(pilot, REST)
        await keep(pilot, "why")
        await open_section(pilot, "Starter")
        await keep(pilot)
        await wait_until(pilot, "Starter ¶✎")
    changed = TEXT.replace("one hour", "two hours").replace("### Starter\n\nFeed", "").replace("## Dough", "## Doughs")
    async with running(make_app(store, changed[: changed.index("the starter with")]), (120, 35)) as (app, pilot):
        await pilot.press("escape")
        await open_list(pilot)
        text = " ".join(screen_text(app).split())
        assert "now reads “must rest for two hours”" in text
        assert "this section is no longer in the document" in text
        await press_until(pilot, "This section is no longer in the document.", "j", "enter")
        assert isinstance(app.screen, NotesScreen), "there is nowhere to go"
        await press_until(pilot, lambda: app.screen is app.main_screen, "k", "enter")
        await wait_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Stone oven"))
        await wait_until(pilot, "✎ why")
        await press_until(pilot, lambda: "✎ why" not in screen_text(app), "j")
        assert "Stone oven ¶✎" in screen_text(app)
