"""Finding: titles, text and meaning as typed, narrowed, read, opened, and walked from match to match."""

from itertools import groupby
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.widgets import Input
from typing_extensions import override

from roamtui.bootstrap import Bootstrap
from roamtui.document.library import Library
from roamtui.launch import AppServices
from roamtui.opening.loader import open_sources
from roamtui.search.base import Hit, RetrievalOptions
from roamtui.search.searcher import Searcher
from roamtui.settings import Settings
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.reader.lazy_lines import HighlightKind
from roamtui.tui.screens import find as find_module
from roamtui.tui.screens.find import FindDialog
from tests.fakes.services import app_over
from tests.tui.driving import RYE, TEXT, RunningApp, make_app, running
from tests.tui.reader.sections import list_marked


def make_searching_app(text: str = TEXT) -> RoamApp:
    return make_app(text=text, searcher=Searcher)


async def find(ui: RunningApp, words: str, *keys: str) -> FindDialog:
    """Open the screen by keys, type, and wait for all that is found."""
    await ui.press_until(FindDialog, *(keys or ("ctrl+f",)))
    screen = ui.app.screen
    assert isinstance(screen, FindDialog)
    screen.query_one(Input).value = words
    await ui.wait_until(lambda: screen.found.query == words and screen.found.is_complete)
    await ui.pause()
    return screen


def list_found(screen: FindDialog) -> list[tuple[str, list[str]]]:
    """Return the groups with the titles in each."""
    library = screen.found.library
    groups = groupby(screen.found.results, key=lambda result: result.group)
    return [(group, [library.node(result.section_id).title for result in results]) for group, results in groups]


@pytest.mark.usefixtures("forked_models")
async def test_what_a_search_warns_of_is_said_in_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    path = tmp_path / "ovens.md"
    path.write_text(TEXT, "utf-8")
    settings = Settings(model="openai/tiny", api_base="http://127.0.0.1:9/v1", retrieval=RetrievalOptions(rerank="on"))
    app = app_over(AppServices(Bootstrap(settings=settings)).open((str(path),)))
    async with running(app, (120, 35)) as ui:
        await find(ui, "stone oven")
        await ui.press_until(lambda: not isinstance(ui.app.screen, FindDialog), "escape")
        await ui.wait_until("The search results stay in their usual order")


async def test_titles_and_text_come_as_typed_with_place_and_words_and_no_rank() -> None:
    async with running(make_searching_app(), (120, 35)) as ui:
        screen = await find(ui, "stone oven")
        assert list_found(screen) == [
            ("Titles · 1", ["Stone oven"]),
            ("Text · 2 matches", ["Stone oven"]),
            ("Related · closest first", ["Ovens", "Deck oven", "Steam"]),
        ]
        assert "Stone oven  Ovens" in ui.text
        assert "The stone oven takes forty loaves." in ui.text
        assert "rank" not in ui.text
        await ui.wait_until("It must rest")  # beside the list


async def test_without_room_for_the_preview_the_keys_that_scroll_it_scroll_the_list() -> None:
    async with running(make_searching_app(), (60, 20)) as ui:
        screen = await find(ui, "oven")
        await ui.press_until(lambda: screen.list.highlighted_position > 1, "pagedown")


async def test_above_sections_that_are_only_related_it_says_that_none_has_the_typed_words() -> None:
    async with running(make_searching_app(), (120, 35)) as ui:
        screen = await find(ui, "loaves stone")
        assert [group for group, _ in list_found(screen)] == ["Related · closest first"]
        assert ui.text.index("No exact match in the document.") < ui.text.index("Related")
        await find(ui, "stone oven", "escape", "ctrl+f")
        assert "No exact match" not in ui.text


async def test_one_search_runs_at_a_time_and_of_those_that_wait_only_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(find_module, "_PAUSE_SECONDS", 0)
    may_end = Event()
    searched: list[str] = []

    class SlowSearcher(Searcher):
        @override
        def search(self, library: Library, query: str, **options: Any) -> tuple[Hit, ...]:
            searched.append(query)
            may_end.wait(60)
            return super().search(library, query, **options)

    async with running(make_app(searcher=SlowSearcher), (120, 35)) as ui:
        await ui.press_until(FindDialog, "ctrl+f")
        screen = ui.app.screen
        assert isinstance(screen, FindDialog)
        for words in ("stone", "stone ov", "stone oven"):
            screen.query_one(Input).value = words
            await ui.wait_until(lambda words=words: screen.found.query == words)  # type: ignore[misc]
            await ui.pause()
        assert searched == ["stone"]
        assert "The stone oven takes forty loaves." in ui.text, "what is found at once waits for nothing"
        may_end.set()
        await ui.wait_until(lambda: screen.found.is_complete)
        assert searched == ["stone", "stone oven"]


async def test_a_match_is_read_and_the_next_ones_are_walked_to_from_outline_and_reader() -> None:
    async with running(make_searching_app(RYE), (160, 30)) as ui:
        screen = await find(ui, "rye", "escape", "/")
        assert [group for group, _ in list_found(screen)] == ["Text · 4 matches"]
        await ui.press_until(lambda: ui.read_title and ui.reader.has_focus, "enter")
        assert "n next match   N previous match" in ui.text
        seen = []
        for key in "nnnn":
            await ui.press(key)
            await ui.wait_until(lambda: len(list_marked(ui.reader, HighlightKind.CURRENT_MATCH)) == 1)
            seen.append(ui.text.split("“rye” ")[1][:3])
        assert sorted(seen) == ["1/4", "2/4", "3/4", "4/4"]
        await ui.press_until(f"“rye” {seen[-2]}", "N", "tab")
        assert ui.outline.has_focus
        await ui.press_until(f"“rye” {seen[-1]}", "n", "shift+tab")
        assert len(list_marked(ui.reader, HighlightKind.MATCH)) == 3
        await ui.press_until(lambda: not list_marked(ui.reader, HighlightKind.MATCH), "escape")
        assert ui.main.focused is ui.reader
        assert "“rye”" not in ui.text
        await find(ui, "ston", "/")
        await ui.reach("Stones", "enter")
        for title in ("Stones", "Upper stone", "Stones"):
            await ui.reach(title, "n")
            assert ui.cursor_title == title
        await find(ui, "two stones", "/")
        await ui.press_until(lambda: ui.app.screen is ui.main, "enter")
        await ui.press_until("No other match for “two stones”", "n")
        await find(ui, "stones grind", "/")  # two sections have the words, but not side by side
        await ui.press_until(lambda: ui.read_title == "Upper stone", "enter")
        await ui.press_until(lambda: ui.read_title == "Stones", "n")
        await ui.press_until(lambda: ui.read_title == "Upper stone", "N")


@pytest.mark.parametrize("pane", [Scope.TREE, Scope.INPUT])
async def test_whichever_pane_had_the_focus_a_match_is_read_in_the_reader_where_the_next_one_is_a_key_away(
    pane: Scope,
) -> None:
    async with running(make_app(["Forty."], text=RYE, searcher=Searcher), (160, 30)) as ui:
        await ui.ask("How many?")
        ui.focus(pane)
        await find(ui, "rye")
        await ui.press_until(lambda: ui.reader.has_focus and ui.app.screen is ui.main, "enter")
        assert "next match" in ui.text
        for typing in (Scope.INPUT, Scope.CHAT):  # there, n is text
            ui.focus(typing)
            await ui.wait_until(lambda: "next match" not in ui.text)
            ui.focus(Scope.READER)
            await ui.wait_until("next match")


async def test_a_section_whose_title_has_the_words_comes_before_its_subsections() -> None:
    text = "# Bread\n\n## All about the rye oven\n\nWarm.\n\n### Rye oven\n\nHot.\n\n## Rye oven pots\n\nRed.\n"
    async with running(make_searching_app(text), (160, 30)) as ui:
        titles = list_found(await find(ui, "rye oven"))[0]
        assert titles == ("Titles · 3", ["All about the rye oven", "Rye oven", "Rye oven pots"])


async def test_while_files_are_read_find_says_so_and_enter_waits_for_the_first_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("# Of a\n\nIt is rye.\n", "utf-8")
    library, loader = open_sources([str(tmp_path)])
    assert loader is not None
    gate = Event()
    load = loader.load_batch
    monkeypatch.setattr(loader, "load_batch", lambda *given: (gate.wait(), load(*given))[1])
    async with running(make_app(library=library, loader=loader), (160, 30)) as ui:
        await ui.press_until(FindDialog, "ctrl+f")
        await ui.press_until("Searching…", *"rye", "enter")
        gate.set()
        await ui.wait_until(lambda: ui.read_title in ("a.md", "Of a"))


async def test_a_phrase_in_quotation_marks_is_found_as_a_phrase() -> None:
    text = "# Bread\n\nThe rye oven.\n\n## Rye oven\n\nWarm.\n\n## Rye\n\nThe oven has rye.\n"
    async with running(make_searching_app(text), (160, 30)) as ui:
        screen = await find(ui, '"rye  oven"')
        assert list_found(screen)[:2] == [("Titles · 1", ["Rye oven"]), ("Text · 2 matches", ["Bread", "Rye oven"])]
        assert {result.words for result in screen.found.results[1:3]} == {("rye oven",)}
