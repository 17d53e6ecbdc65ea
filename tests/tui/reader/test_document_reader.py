"""Reading: how far one is, on which page, the way back, selected words, one column alone."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from roamtui.bootstrap import open_library
from roamtui.opening.loader import make_document_library
from roamtui.sources.read import SourceText
from roamtui.text import Span
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.reader import document_reader
from roamtui.tui.screens.dialogs import ConfirmDialog
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.tui.driving import TEXT, RunningApp, make_app, running

BOOK = "# Book\n\n" + "".join(f"## Chapter {number}\n\n" + "So it went.\n\n" * 12 for number in range(6))


async def test_scrolling_past_the_end_of_a_section_shows_the_next_one_and_outline_and_conversation_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document_reader, "_READING_SECONDS", 3600.0)
    async with running(make_app(text=BOOK), (120, 30)) as ui:
        await ui.press_until(lambda: ui.main.focused is ui.reader, "tab", "j", "enter", "enter")
        assert (ui.read_title, ui.cursor_title) == ("Chapter 0", "Chapter 0")
        passed = {ui.read_title}
        for _ in range(8):
            await ui.press_until(lambda: ui.read_title == ui.cursor_title, "pagedown")
            passed.add(ui.read_title)
        assert passed == {f"Chapter {number}" for number in range(6)}
        # What is only scrolled past is not read.
        assert ui.state.reading_id == ui.find_id("Chapter 0")
        monkeypatch.setattr(document_reader, "_READING_SECONDS", 0.01)
        await ui.press_until(lambda: ui.state.reading_id == ui.find_id("Chapter 5"), "pageup", "pagedown")
        await ui.press_until("Nothing to go back to", "backspace")


async def test_keys_go_to_the_next_section_and_the_one_before() -> None:
    async with running(make_app(text=BOOK), (120, 30)) as ui:
        await ui.press("tab", "G", "k", "enter", "enter", "]")
        await ui.wait_until(lambda: ui.read_title == ui.cursor_title == "Chapter 5")
        assert "Chapter 5" in "\n".join(ui.rows[2:4])  # the last one stands at the top too
        await ui.press_until("Last section", "]")
        await ui.press_until(lambda: ui.read_title == ui.cursor_title == "Book", *"[[[[[[")
        await ui.press_until("First section", "[")
        await ui.reach("Chapter 1", "backspace", "backspace")


_PAGES = (
    "# Annual report\n\n## Letter\n\nA good year was had by all of us, and it\n",
    "went on like that to its end.\n\n## Risks\n\nThe sea is deep.\n\n",
    "",
    "## Figures\n\n" + "Income rose again, by more than anyone had thought. \n\n" * 30,
    "The last page has few words.\n",
)


def _make_paged_app(pages: tuple[str, ...] = _PAGES) -> RoamApp:
    starts = tuple(sum(map(len, pages[:number])) for number in range(len(pages)))
    raw = SourceText(text="".join(pages), source="report.pdf", name="report.pdf", page_starts=starts, is_converted=True)
    raw = replace(raw, page_labels=tuple("A-1" if number == 3 else "" for number in range(len(pages))))
    return make_app(library=make_document_library(raw))


async def _go_to(app: RoamApp, page: str) -> None:
    field = app.screen.query_one(Input)
    field.value = page
    await field.action_submit()


async def test_the_reader_says_its_page_and_marks_where_pages_begin() -> None:
    async with running(_make_paged_app(), (120, 30)) as ui:
        await ui.focus(Scope.TREE).press_until("had by all of us", "enter")
        assert "Annual report · p. 1" in ui.text
        text = ui.text
        assert text.index("all of us, and it") < text.index("─ p. 2") < text.index("went on like that")
        assert "─ p. 3" not in text  # it is empty: what stands there is on the page after it
        await ui.press_until(lambda: "Figures · p. 4 (printed A-1)" in ui.text, "enter", "pagedown")


async def test_what_is_scrolled_to_on_a_page_is_the_section_that_keys_mean() -> None:
    pages = (
        "# One\n\n" + "First. \n\n" * 30,
        "its end\n\n# Two\n\n" + "Second.\n\n" * 30,
        "more\n\n# Three\n\nThird.\n",
    )
    async with running(_make_paged_app(pages), (120, 30)) as ui:
        await ui.press("ctrl+g")
        await _go_to(ui.app, "4")
        await ui.wait_until("Type a number from 1 to 3, or press esc to cancel.")
        assert ui.field.value == "4"
        await _go_to(ui.app, "2")
        await ui.wait_until("Second.")
        text = ui.text
        assert text.index("─ p. 2") < text.index("its end") < text.index("Second.")
        ui.focus(Scope.READER)
        await ui.wait_until(lambda: ui.main.focused is ui.reader)
        await ui.reach("Two", "pagedown")
        await ui.press_until(lambda: bool(ui.state.open_sections), "a")
        assert next(iter(ui.state.open_sections.values())).section_id == ui.find_id("Two")


async def test_of_several_files_pages_are_those_of_the_file_under_the_cursor_or_of_the_only_one_that_has_any(
    tmp_path: Path,
) -> None:
    files = [tmp_path / name for name in ("boats.pdf", "notes.md", "sails.pdf")]
    for file in files:
        file.write_bytes(make_pdf([lay_out(f"# {file.stem}", "", f"Of {file.stem}, page {n}.") for n in (1, 2)]))
    files[1].write_text("# Notes\n\nMine.\n", "utf-8")
    async with running(make_app(library=open_library([str(file) for file in files[:2]])), (120, 30)) as ui:
        ui.focus(Scope.TREE)
        await ui.press_until("Go to page (1 to 2)", "G", "ctrl+g")
        await _go_to(ui.app, "2")
        await ui.wait_until("Of boats, page 2.")
    async with running(make_app(library=open_library([str(file) for file in files])), (120, 30)) as ui:
        ui.focus(Scope.TREE)
        await ui.press_until("Go to page (1 to 2)", "G", "ctrl+g")
        await _go_to(ui.app, "2")
        await ui.wait_until("Of sails, page 2.")
        await ui.read("Notes")
        await ui.press_until("Move the outline's cursor to a file that has pages first.", "ctrl+g")
    async with running(make_app(), (120, 30)) as ui:
        await ui.press_until("This document has no pages.", "ctrl+g")


NOTED = "# Top\n\nSee [below](#part) and[^1] more.\n\n" + "Words.\n\n" * 60 + "## Part\n\nHere.\n\n[^1]: The note.\n"


@pytest.mark.parametrize(("jump", "count"), [("olo", 1), ("]G", 1), ("]]", 2)])
async def test_backspace_undoes_each_jump_but_no_scrolling(jump: str, count: int) -> None:
    async with running(make_app(text=NOTED), (120, 30)) as ui:
        await ui.read("Top")
        await ui.press_until(lambda: ui.reader.top_y == 1, "pagedown", "pageup", "j", "k", "j")
        for key in jump:
            await ui.press(key)
        await ui.press("j", "pageup")
        for _ in range(count):
            await ui.press("backspace")
        await ui.wait_until(lambda: ui.reader.top_y == 0)  # the start of what was at the top
        await ui.press_until("Nothing to go back to", "backspace")


REST = "It must rest for one hour after each batch."


async def test_escape_first_removes_the_numbers_of_links() -> None:
    async with running(make_app(text="# Page\n\n## Part\n\nThe [table](#page) is here.\n"), (120, 30)) as ui:
        await ui.read("Part")
        await ui.press_until("The 1able is here.", "o")
        await ui.press_until("The table is here.", "escape")
        assert ui.reader.has_focus


async def select_rest(ui: RunningApp) -> None:
    await ui.read("Stone oven")
    await ui.select("It must rest", "batch.")


async def test_selected_words_are_copied_and_asked_about() -> None:
    async with running(make_app(), (120, 30)) as ui:
        await select_rest(ui)
        await ui.press_until(lambda: REST.split(maxsplit=1)[0] in ui.app.clipboard, "y")
        await ui.press_until(lambda: not ui.main.selections, "escape")
        assert ui.main.panes.scope is Scope.READER
        await select_rest(ui)
        await ui.press_until(lambda: ui.box.text == f"“{REST}”\n", "i")
        assert not ui.main.selections
        span = Span(doc="", start=TEXT.index(REST), end=TEXT.index(REST) + len(REST))
        ui.box.clear()
        ui.reader.open(ui.find_id("Stone oven"), highlight=span)
        ui.focus(Scope.READER)
        await ui.press_until(lambda: ui.main.panes.scope is Scope.INPUT, "i")
        assert ui.box.text == "", "a quote that is only marked is no selection"


async def test_a_double_click_selects_a_word_and_a_third_click_the_line() -> None:
    text = TEXT.replace("The stone oven takes forty", "From 18:00, it takes 2 500")
    async with running(make_app(text=text), (120, 35)) as ui:
        await ui.read("Stone oven")
        row = next(number for number, line in enumerate(ui.rows) if "It must" in line)
        for words, word in (("It must", "It"), ("18:00,", "18:00"), ("500", "2 500")):
            await ui.pilot.click(offset=(ui.rows[row].index(words), row), times=2)
            await ui.wait_until(lambda: ui.main.get_selected_text() == word)  # noqa: B023 - awaited at once
        await ui.pilot.click(offset=(ui.rows[row].index("It must"), row), times=3)
        await ui.wait_until(lambda: (ui.main.get_selected_text() or "").endswith("for one hour after each"))


async def test_a_picture_after_asking_or_the_pdf_is_opened_in_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def open_file(file: Path) -> bool:
        opened.append(file)
        return True

    monkeypatch.setattr(document_reader, "open_in_viewer", open_file)
    picture = tmp_path / "a.png"
    picture.write_bytes(b"")
    guide = tmp_path / "guide.md"
    guide.write_text("# Guide\n\n![Two stripes](a.png) and ![Gone](gone.png)\n", "utf-8")
    async with running(make_app(library=open_library([str(guide)])), (60, 24)) as ui:
        await ui.read("Guide")
        await ui.press_until('No file "gone.png" here.', "o", "2")
        await ui.press_until(ConfirmDialog, "v")
        await ui.press_until(lambda: ui.app.screen is ui.main, "n")
        assert opened == []
        await ui.press_until(ConfirmDialog, "v")
        await ui.press_until(lambda: opened == [picture], "y")
    boats = tmp_path / "boats.pdf"
    boats.write_bytes(make_pdf([lay_out("# Boats", "", "A boat floats.")]))
    async with running(make_app(library=open_library([str(boats)])), (60, 24)) as ui:
        await ui.read("Boats")
        await ui.press_until(lambda: opened == [picture, boats], "v")
