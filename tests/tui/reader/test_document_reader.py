"""Reading: how far one is, on which page, the way back, selected words, one column alone."""

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import Input

from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import NoteStore
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.text import Span
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.reader import document_reader
from roamtui.tui.screens.dialogs import PromptDialog
from tests.tui.driving import TEXT, app_of, find_id, make_app, press_until, read_title, running, screen_text, wait_until

BOOK = "# Book\n\n" + "".join(f"## Chapter {number}\n\n" + "So it went.\n\n" * 12 for number in range(6))


def read(app: RoamApp) -> str:
    """Return the title of the section that is read."""
    return read_title(app, app.main_screen.reader_pane.section_id)


def cursor(app: RoamApp) -> str:
    return read_title(app, app.main_screen.tree_pane.outline.cursor_id)


async def test_scrolling_past_the_end_of_a_section_shows_the_next_one_and_outline_and_conversation_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document_reader, "_READING_SECONDS", 3600.0)
    async with running(make_app(text=BOOK), (120, 30)) as (app, pilot):
        await pilot.press("escape", "j", "enter", "enter")
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.reader_pane.ensure_reader())
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
        await wait_until(pilot, "Nothing to go back to")


async def test_keys_go_to_the_next_section_and_the_one_before() -> None:
    async with running(make_app(text=BOOK), (120, 30)) as (app, pilot):
        await pilot.press("escape", "G", "k", "enter", "enter", "]")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Chapter 5")
        assert "Chapter 5" in "\n".join(screen_text(app).splitlines()[2:4])  # the last one stands at the top too
        await pilot.press("]")
        await wait_until(pilot, "Last section")
        await pilot.press(*"[[[[[[")
        await wait_until(pilot, lambda: read(app) == cursor(app) == "Book")
        await pilot.press("[")
        await wait_until(pilot, "First section")
        await pilot.press("backspace", "backspace")
        await wait_until(pilot, lambda: read(app) == "Chapter 1")


_PAGES = (
    "# Annual report\n\n## Letter\n\nA good year was had by all of us, and it\n",
    "went on like that to its end.\n\n## Risks\n\nThe sea is deep.\n\n",
    "",
    "## Figures\n\n" + "Income rose again, by more than anyone had thought. \n\n" * 30,
    "The last page has few words.\n",
)


def _make_paged_app(pages: tuple[str, ...] = _PAGES) -> RoamApp:
    starts = tuple(sum(map(len, pages[:number])) for number in range(len(pages)))
    raw = RawText(text="".join(pages), source="report.pdf", name="report.pdf", page_starts=starts, is_converted=True)
    return make_app(library=build_library(raw))


def _line_of(app: RoamApp, words: str) -> str:
    return next(line for line in screen_text(app).splitlines() if words in line)


async def _go_to(app: RoamApp, page: str) -> None:
    field = app.screen.query_one(Input)
    field.value = page
    await field.action_submit()


async def test_the_reader_says_its_page_and_marks_where_pages_begin() -> None:
    async with running(_make_paged_app(), (120, 30)) as (app, pilot):
        app.main_screen.panes.focus_scope(Scope.TREE)
        await press_until(pilot, "had by all of us", "enter")
        assert "Annual report · p. 1" in _line_of(app, "Reader")
        text = screen_text(app)
        assert text.index("all of us, and it") < text.index("─ p. 2") < text.index("went on like that")
        assert "─ p. 3" not in text  # it is empty: what stands there is on the page after it
        await press_until(pilot, lambda: "Figures · p. 4" in _line_of(app, "Reader"), "enter", "pagedown")


async def test_what_is_scrolled_to_on_a_page_is_the_section_that_keys_mean() -> None:
    pages = (
        "# One\n\n" + "First. \n\n" * 30,
        "its end\n\n# Two\n\n" + "Second.\n\n" * 30,
        "more\n\n# Three\n\nThird.\n",
    )
    async with running(_make_paged_app(pages), (120, 30)) as (app, pilot):
        await pilot.press("ctrl+g")
        await _go_to(app, "4")
        await wait_until(pilot, "Type a number from 1 to 3, or press esc to cancel.")
        assert app.screen.query_one(Input).value == "4"
        await _go_to(app, "2")
        await wait_until(pilot, "Second.")
        text = screen_text(app)
        assert text.index("─ p. 2") < text.index("its end") < text.index("Second.")
        app.main_screen.panes.focus_scope(Scope.READER)
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.reader_pane.ensure_reader())
        await press_until(pilot, lambda: app.main_screen.reader_pane.section_id == find_id(app, "Two"), "pagedown")
        await press_until(pilot, lambda: bool(app.main_screen.conversation.state.open_sections), "a")
        assert next(iter(app.main_screen.conversation.state.open_sections.values())).section_id == find_id(app, "Two")


LONG_BOOK = "# Book\n\n" + "".join(f"## Chapter {number}\n\n" + "So it went on.\n\n" * 110 for number in range(6))
NOTED = "# Top\n\nSee [below](#part) and[^1] more.\n\n" + "Words.\n\n" * 60 + "## Part\n\nHere.\n\n[^1]: The note.\n"


async def open_reader(pilot: Pilot[None], *keys: str) -> None:
    main = app_of(pilot).main_screen
    main.panes.focus_scope(Scope.TREE)
    await press_until(pilot, lambda: main.focused is main.reader_pane.ensure_reader(), *keys, "enter", "enter")
    await pilot.pause()


@pytest.mark.parametrize(("jump", "count"), [("]", 1), ("oo", 1), ("olo", 1), ("]G", 1), ("]]", 2)])
async def test_backspace_undoes_each_jump_but_no_scrolling(jump: str, count: int) -> None:
    async with running(make_app(text=NOTED), (120, 30)) as (app, pilot):
        await open_reader(pilot)
        reader = app.main_screen.reader_pane.ensure_reader()
        await press_until(pilot, lambda: reader.top_y == 1, "pagedown", "pageup", "j", "k", "j")
        for key in jump:
            await pilot.press(key)
            await pilot.pause()
        await pilot.press("j", "pageup")
        for _ in range(count):
            await pilot.press("backspace")
            await pilot.pause()
        await wait_until(pilot, lambda: reader.top_y == 0)  # the start of what was at the top
        await pilot.press("backspace")
        await wait_until(pilot, "Nothing to go back to")


REST = "It must rest for one hour after each batch."


async def select_rest(pilot: Pilot[None]) -> None:
    """Select the sentence `REST`, as the mouse does."""
    await open_reader(pilot, "g", "j", "l", "j")
    screen = app_of(pilot).main_screen
    reader = screen.reader_pane.ensure_reader()
    texts = [found.line.text if (found := reader.lines.get_line(y)) else "" for y in range(len(reader.lines))]
    first = next(y for y, text in enumerate(texts) if "It must rest" in text)
    last = next(y for y, text in enumerate(texts) if "batch." in text)
    start, end = texts[first].index("It must"), texts[last].index("batch.") + len("batch.")
    screen.selections = {reader: Selection(Offset(start, first), Offset(end, last))}


async def test_words_selected_are_kept_and_asked_about(store: ConversationStore) -> None:
    async with running(make_app(store=store), (120, 30)) as (app, pilot):
        await select_rest(pilot)
        await press_until(pilot, PromptDialog, "b")
        await press_until(pilot, "Note saved", "enter")
        await wait_until(pilot, lambda: not app.main_screen.selections)
        (note,) = NoteStore(store.notes_folder, "bakery.md").read()
        assert " ".join((note.citation.quote or "").split()) == REST
        await select_rest(pilot)
        await press_until(pilot, lambda: not app.main_screen.selections, "escape")
        assert app.main_screen.panes.scope is Scope.READER
        await select_rest(pilot)
        await press_until(pilot, lambda: app.main_screen.question_box.text == f"“{REST}”\n", "i")
        assert not app.main_screen.selections
        screen, span = app.main_screen, Span(doc="", start=TEXT.index(REST), end=TEXT.index(REST) + len(REST))
        screen.question_box.clear()
        screen.reader_pane.ensure_reader().open(note.citation.section_id, highlight=span)
        screen.panes.focus_scope(Scope.READER)
        await press_until(pilot, lambda: screen.panes.scope is Scope.INPUT, "i")
        assert screen.question_box.text == "", "a quote that is only marked is no selection"


async def test_focus_mode_shows_one_column_of_88_characters_until_another_pane_is_wanted() -> None:
    async with running(make_app(text=LONG_BOOK), (160, 30)) as (app, pilot):
        await open_reader(pilot)
        main = app.main_screen
        await pilot.press("Z")
        await wait_until(
            pilot, lambda: not main.tree_pane.display and main.reader_pane.ensure_reader().lines.text_width > 0
        )
        await wait_until(pilot, lambda: main.reader_pane.ensure_reader().view_size.width == 89)
        region = main.reader_pane.ensure_reader().region
        assert abs(region.x - (160 - region.right)) <= 1
        assert not main.panes.query_one("#chat-pane").display
        assert not main.question_box.is_on_screen
        await press_until(pilot, lambda: main.tree_pane.display and main.question_box.is_on_screen, "escape")
        assert main.focused is main.reader_pane.ensure_reader()
        for pane, key in ((Scope.TREE, "tab"), (Scope.CHAT, "shift+tab"), (Scope.READER, "Z")):
            main.panes.focus_scope(pane)
            await press_until(pilot, lambda: not main.tree_pane.display, "Z")
            await press_until(pilot, lambda: main.tree_pane.display, key)
