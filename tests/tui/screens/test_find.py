"""Finding: titles, text and meaning as typed, narrowed, read, opened, and walked from match to match."""

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input

from roamtui.document.loader import open_sources
from roamtui.document.parse import parse_document
from roamtui.search.keyword import KeywordSearcher
from roamtui.tui.app import RoamApp
from roamtui.tui.reader.lazy_lines import HighlightKind
from roamtui.tui.reader.reader import Reader
from roamtui.tui.screens import find as find_module
from roamtui.tui.screens.find import FindDialog, find_text
from tests.fakes.scripted_model import ScriptedReply
from tests.search.libraries import make_library
from tests.tui.driving import (
    RYE,
    TEXT,
    app_of,
    ask,
    find_id,
    make_app,
    model_of,
    press_until,
    read_title,
    running,
    screen_text,
    type_at_once,
    wait_until,
)


def make_searching_app(text: str = TEXT) -> RoamApp:
    return make_app(text=text, searcher=KeywordSearcher)


async def find(pilot: Pilot[None], words: str, *keys: str) -> FindDialog:
    """Open the screen by keys, type, and wait for all that is found."""
    await press_until(pilot, FindDialog, *(keys or ("ctrl+f",)))
    screen = pilot.app.screen
    assert isinstance(screen, FindDialog)
    screen.query_one(Input).value = words
    await wait_until(pilot, lambda: screen.outcome.query == words and screen.outcome.is_complete)
    await pilot.pause()
    return screen


def list_found(screen: FindDialog) -> list[tuple[str, list[str]]]:
    """Return the groups with the titles in each."""
    library = screen.outcome.library
    groups = groupby(screen.outcome.results, key=lambda result: result.group)
    return [(group, [library.node(result.section_id).title for result in results]) for group, results in groups]


def read(pilot: Pilot[None]) -> str:
    app = app_of(pilot)
    return read_title(app, app.main_screen.reader_pane.section_id)


def list_marks(reader: Reader, overlay: HighlightKind) -> list[str]:
    """Return what is marked in some way on the lines of a reader that are in view."""
    assert reader.lines is not None
    lines = [line for y in range(reader.size.height) if (line := reader.lines.get_line(reader.top_y + y))]
    found = [(line.line.text, mark) for line in lines for mark in reader.lines.iter_highlights(line)]
    return [text[start:end] for text, (start, end, kind) in found if kind is overlay]


async def test_titles_and_text_come_as_typed_with_place_and_words_and_no_rank() -> None:
    async with running(make_searching_app(), (120, 35)) as (app, pilot):
        screen = await find(pilot, "stone oven")
        assert list_found(screen) == [
            ("Titles · 1", ["Stone oven"]),
            ("Text · 2 matches", ["Stone oven"]),
            ("Related · closest first", ["Ovens", "Deck oven", "Steam"]),
        ]
        text = screen_text(app)
        assert "Stone oven  Ovens" in text
        assert "The stone oven takes forty loaves." in text
        assert "rank" not in text
        await wait_until(pilot, lambda: "It must rest" in screen_text(app))  # beside the list


async def test_a_match_is_read_and_the_next_ones_are_walked_to_from_outline_and_reader() -> None:
    async with running(make_searching_app(RYE), (160, 30)) as (app, pilot):
        screen = await find(pilot, "rye", "escape", "/")
        assert [group for group, _ in list_found(screen)] == ["Text · 4 matches"]
        await pilot.press("enter")
        reader = app.main_screen.reader_pane.ensure_reader()
        await wait_until(pilot, lambda: bool(read(pilot)))
        assert app.main_screen.focused is app.main_screen.tree_pane.outline
        assert "n next match   N previous match" in screen_text(app)
        seen = []
        for key in "nnnn":
            await pilot.press(key)
            await pilot.pause()
            await wait_until(pilot, lambda: len(list_marks(reader, HighlightKind.CURRENT_MATCH)) == 1)
            note = screen_text(app).split("“rye” ")[1][:3]
            seen.append(note)
        assert sorted(seen) == ["1/4", "2/4", "3/4", "4/4"]
        await press_until(pilot, f"“rye” {seen[-2]}", "N", "shift+tab")
        assert reader.has_focus
        await press_until(pilot, f"“rye” {seen[-1]}", "n", "tab")
        assert len(list_marks(reader, HighlightKind.MATCH)) == 3
        await press_until(pilot, lambda: not list_marks(reader, HighlightKind.MATCH), "escape")
        assert app.main_screen.focused is app.main_screen.tree_pane.outline
        assert "“rye”" not in screen_text(app)
        for words in ("two stones", "stones grind"):
            await find(pilot, words, "/")
            await press_until(pilot, lambda: app.screen is app.main_screen, "enter")
            await press_until(pilot, f"No other match for “{words}”", "n")


async def test_from_the_box_a_match_is_read_in_the_reader_where_the_next_one_is_a_key_away() -> None:
    async with running(make_searching_app(RYE), (160, 30)) as (app, pilot):
        await find(pilot, "rye")
        await press_until(pilot, lambda: app.main_screen.reader_pane.ensure_reader().has_focus, "enter")
        await press_until(pilot, lambda: app.main_screen.question_box.has_focus, "escape", "escape")
        assert "next match" not in screen_text(app), "there, n is text"


async def test_what_was_found_is_marked_in_the_outline_by_whoever_searched() -> None:
    async with running(make_searching_app(), (120, 35)) as (app, pilot):
        await find(pilot, "rye at noon")
        await press_until(pilot, lambda: app.screen is app.main_screen, "escape")
        app.main_screen.tree_pane.outline.go_to(find_id(app, "Starter"))
        await wait_until(pilot, "Starter ⌕")
        search = ScriptedReply(calls=(("search_sections", {"query": "ninety"}),))
        model_of(app_of(pilot)).add_replies(search, ScriptedReply(text="Ninety."))
        await ask(pilot, "How many loaves fit?")
        assert "Starter ⌕" not in screen_text(app)


async def test_files_that_nobody_opened_are_searched_too(tmp_path: Path) -> None:
    for name, word in (("a", "boat"), ("b", "rye"), ("c", "rye")):
        (tmp_path / f"{name}.md").write_text(f"# Of {name}\n\nIt is {word}.\n", "utf-8")
    library, loader = open_sources([str(tmp_path)])
    async with running(make_app(library=library, loader=loader), (160, 30)) as (_, pilot):
        screen = await find(pilot, "rye")
        assert [group for group, _ in list_found(screen)] == ["Text · 2 matches"]
        await press_until(pilot, "“rye” 2/2", "enter", "escape", "n")
        assert read(pilot) in ("c.md", "Of c")


@pytest.mark.parametrize("typed", ['"rye  oven"', "„rye oven“"])
async def test_a_phrase_in_quotation_marks_is_found_as_a_phrase(typed: str) -> None:
    text = "# Bread\n\nThe rye oven.\n\n## Rye oven\n\nWarm.\n\n## Rye\n\nThe oven has rye.\n"
    async with running(make_searching_app(text), (160, 30)) as (_, pilot):
        screen = await find(pilot, typed)
        assert list_found(screen)[:2] == [("Titles · 1", ["Rye oven"]), ("Text · 2 matches", ["Bread", "Rye oven"])]
        assert {result.words for result in screen.outcome.results[1:3]} == {("rye oven",)}


async def test_matches_go_through_all_documents_in_reading_order() -> None:
    library = make_library("# A\n\nRye.\n\n## B\n")
    host = [*library.walk()][-1]
    library = library.graft_all({host: parse_document("# C\n\nRye, rye.\n", key="c")})
    matches = await find_text(library, "rye")
    assert [(match.doc, match.start, match.end) for match in matches] == [("", 5, 8), ("c", 5, 8), ("c", 10, 13)]


@given(st.lists(st.sampled_from(["# A", "## B", "rye", "wheat rye", "", "x"]), max_size=30))
async def test_exactly_the_sections_whose_own_text_contains_the_word_are_found(lines: list[str]) -> None:
    library = make_library("\n".join(lines) + "\n")
    matches = await find_text(library, "rye")
    expected = [
        section_id for section_id in library.walk() if "rye" in library.text_at(library.node(section_id).own_span)
    ]
    assert [*dict.fromkeys(library.section_at("", match.start) for match in matches)] == expected
    assert len(matches) == library.root.text.count("rye")


@pytest.mark.parametrize("window", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("One two.\nONE\tTwo, one\r\ntwo", "one two", [0, 9]),
        ("aaaaa", "AA", [0, 2]),
        ("İİ word", "word", [3]),
        ("any", " ", []),
    ],
)
async def test_case_line_ends_and_window_sizes_do_not_matter(
    text: str, words: str, found: list[int], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_module, "_WINDOW_LENGTH", window)
    matches = await find_text(make_library(text), words)
    assert [match.start for match in matches] == found


async def test_enter_counts_only_for_the_text_that_was_typed_when_it_was_pressed() -> None:
    async with running(make_searching_app(), (120, 35)) as (app, pilot):
        await press_until(pilot, FindDialog, "ctrl+f")
        type_at_once(pilot, *"zzzqqqn", "enter")
        await wait_until(pilot, "No match")
        screen = app.screen
        assert isinstance(screen, FindDialog)
        await pilot.press("ctrl+u", *"stone")
        await wait_until(pilot, lambda: screen.outcome.query == "stone" and screen.outcome.is_complete)
        assert app.screen is screen


async def test_a_search_that_was_left_does_not_replace_the_last_one() -> None:
    async with running(make_searching_app(RYE), (160, 30)) as (app, pilot):
        await find(pilot, "rye")
        await press_until(pilot, "“rye” ", "enter")
        seen = screen_text(app).split("“rye” ")[1][:3]
        await find(pilot, "zzzqqqn")
        await press_until(pilot, lambda: app.screen is app.main_screen, "escape")
        await press_until(pilot, f"“rye” {int(seen[0]) % 4 + 1}/4", "n")
