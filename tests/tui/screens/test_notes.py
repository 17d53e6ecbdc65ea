"""Keeping places and words, the list of what is kept, and asking about selected words."""

from pathlib import Path

import pytest
from textual.widgets import Input

from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import Note, NoteStore
from roamtui.tui.actions import Scope
from roamtui.tui.screens.dialogs import PromptDialog
from roamtui.tui.screens.notes import NotesDialog
from tests.tui.driving import TEXT, RunningApp, make_app, running, show_answer

BATCH = "It must rest for one hour after each batch"


def on_disk(store: ConversationStore) -> list[Note]:
    return list(NoteStore(store.notes_folder, "bakery.md").read())


async def keep(ui: RunningApp, words: str = "") -> None:
    """Press the key, type words of one's own and take them."""
    await ui.press_until(PromptDialog, "b")
    await ui.press_until("Note saved · f6 lists all notes", *words, "enter")


async def open_list(ui: RunningApp) -> NotesDialog:
    await ui.press_until(NotesDialog, "f6")
    await ui.pause()
    assert isinstance(ui.app.screen, NotesDialog)
    return ui.app.screen


async def test_a_comment_that_cannot_be_saved_is_asked_for_again(store: ConversationStore) -> None:
    store.notes_folder.parent.mkdir(parents=True, exist_ok=True)
    store.notes_folder.write_text("a file where the folder should be")
    async with running(make_app(store=store), (120, 35)) as ui:
        await ui.read("Starter")
        await ui.press_until(PromptDialog, "b")
        await ui.press_until("Not a directory", *"hm", "enter")
        assert ui.app.screen.query_one(Input).value == "hm"
        assert "Add note" in ui.text
        assert "Dough › Starter" in ui.text.split("Add note")[1]
        store.notes_folder.unlink()
        await ui.press_until("Note saved", "enter")
        assert [note.comment for note in on_disk(store)] == ["hm"]


async def test_a_section_selected_words_and_a_cited_quote_are_kept_and_listed_in_order(
    store: ConversationStore,
) -> None:
    async with running(make_app(store=store), (120, 35)) as ui:
        await show_answer(ui)
        await ui.read("Starter")
        await ui.select("th 200 g of r")
        await keep(ui, "hm")
        assert "Steam ❝" in ui.text, "open as part of another, and cited"
        await ui.focus(Scope.CHAT).press("j")
        await ui.main.action_run("section.note")
        await ui.wait_until(PromptDialog)
        await ui.press_until("Note saved · f6 lists all notes", "enter")
        ui.focus(Scope.TREE)
        ui.outline.move_to(ui.find_id("Ovens"))
        await keep(ui)
        starter, batch, ovens = on_disk(store)
        assert (starter.citation.quote, starter.comment) == ("with 200 g of rye", "hm")
        assert starter.citation.section_id == ui.find_id("Starter")
        assert (batch.citation.quote, batch.citation.section_id) == (BATCH, ui.find_id("Stone oven"))
        assert (ovens.citation.quote, ovens.citation.section_id) == (None, ui.find_id("Ovens"))
        ui.box.focus()
        screen = await open_list(ui)
        text = ui.text
        assert text.index("Ovens · lines") < text.index(f"“{BATCH}”") < text.index("✎ hm")
        await ui.press_until(lambda: not screen.is_attached, "j", "enter")
        await ui.reach("Stone oven")
        span = ui.reader.get_selection_span()
        assert span is not None
        assert ui.state.library.text_at(span) == BATCH, "the words that were kept are marked"


async def test_words_are_changed_a_note_is_deleted_after_a_yes_and_the_rest_exported(
    store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(store=store), (80, 24)) as ui:
        await ui.read("Steam")
        await keep(ui, "one")
        await ui.press_until("Edit comment", "b")  # kept already: its words go on
        await ui.press_until(lambda: ui.app.screen is ui.main, "escape")
        await keep(ui, "!")
        await ui.read("Dough")
        await keep(ui, "two")
        await open_list(ui)
        await ui.press_until(PromptDialog, "e")
        await ui.press("ctrl+u", "[", "b", "]", "enter")
        await ui.wait_until(lambda: [note.comment for note in on_disk(store)] == ["[b]", "two"])
        await ui.wait_until("✎ [b]")
        await ui.press_until(lambda: "✎ [b]" not in ui.text, "/", *"two")
        await ui.press_until("✎ [b]", "escape")
        await ui.press_until("Deleted.", "d", "y")
        assert [note.comment for note in on_disk(store)] == ["two"]
        monkeypatch.chdir(tmp_path)
        await ui.press_until(PromptDialog, "w")
        assert "chooses the format" not in ui.text, "there is only one"
        await ui.press_until((tmp_path / "bakery-notes.md").exists, "enter")


async def test_what_is_typed_in_a_note_is_found_again_after_escape_and_a_kill_until_it_is_saved(
    store: ConversationStore,
) -> None:
    async with running(make_app(store=store), (80, 24)) as ui:
        await ui.read("Steam")
        await keep(ui, "one")
        await ui.press_until(PromptDialog, "b")
        await ui.press("escape")
        await ui.press_until(PromptDialog, "b")
        assert "draft" not in ui.text.split("enter to save")[0], "nothing was typed"
        await ui.press(*" and two", "escape")
        await ui.read("Dough")
        await ui.press_until(PromptDialog, "b")
        assert ui.field.value == "", "each note has its own"
        await ui.press_until(lambda: ui.field.value == "three", *"three")  # and the program ends here
    async with running(make_app(store=store), (80, 24)) as ui:
        assert ui.box.text == "", "no draft of a question"
        await ui.read("Dough")
        await ui.press_until("Your draft, not saved yet", "b")
        await ui.press_until("Note saved", "enter")
        await open_list(ui)
        await ui.press_until(PromptDialog, "e")
        assert ui.field.value == "one and two"
        await ui.press_until("✎ one and two", "enter")
        await ui.press("escape")
        await ui.read("Steam")
        await ui.press_until(PromptDialog, "b")
        assert "draft" not in ui.text.split("enter to save")[0], "it is saved"
    assert [note.comment for note in on_disk(store)] == ["one and two", "three"]
    assert not [*store.drafts_folder.glob("*.json")]


async def test_a_changed_document_says_what_became_of_the_places(store: ConversationStore) -> None:
    async with running(make_app(store=store), (120, 35)) as ui:
        await ui.read("Stone oven")
        await ui.select("must rest for one hour")
        await keep(ui, "why")
        await ui.read("Starter")
        await keep(ui)
    changed = TEXT.replace("one hour", "two hours").replace("### Starter\n\nFeed", "").replace("## Dough", "## Doughs")
    async with running(make_app(store=store, text=changed[: changed.index("the starter with")]), (120, 35)) as ui:
        await ui.press("escape")
        await open_list(ui)
        text = ui.words
        assert "now reads “must rest for two hours”" in text
        assert "this section is no longer in the document" in text
        await ui.press_until("This section is no longer in the document.", "j", "enter")
        assert isinstance(ui.app.screen, NotesDialog), "there is nowhere to go"
        await ui.press_until(lambda: ui.app.screen is ui.main, "k", "enter")
        await ui.reach("Stone oven")
        await ui.wait_until("✎ why")
        await ui.press_until(lambda: "✎ why" not in ui.text, "j")


async def test_selected_and_noted_words_are_shown_without_their_markup(store: ConversationStore) -> None:
    text = "# Fees\n\nIt is **not** [waived](rules.md) here.\n"
    async with running(make_app(store=store, text=text), (120, 35)) as ui:
        await ui.read("Fees")
        await ui.select("It is", "here.")
        await ui.press_until(lambda: ui.box.text == "“It is not waived here.”\n", "i")
        await ui.read("Fees")
        await ui.select("It is", "here.")
        await ui.press_until(PromptDialog, "b")
        await ui.pause()
        assert "“It is not waived here.”" in ui.words
        await ui.press_until("Note saved", "enter")
        await open_list(ui)
        assert "“It is not waived here.”" in ui.words
        await ui.press("d")
        assert "It is not waived here." in ui.words.split("Delete this for good?")[1]
    changed = text.replace(" here", " *there*")
    async with running(make_app(store=store, text=changed), (120, 35)) as ui:
        await open_list(ui)
        assert "now reads “It is not waived there.”" in ui.words
