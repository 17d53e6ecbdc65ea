"""How a person finds out what they can do: the palette, help that is filtered, marks, and hints that fit the place."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from roamtui.models.offline import OfflineModel
from roamtui.tui.actions import build_keymap
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.dialogs import ItemList, PickerDialog, PickerItem, filter_items
from roamtui.tui.screens.help import HelpDialog
from tests.tui.driving import make_app, make_context, running, screen_text, wait_until
from tests.tui.test_key_queue import type_at_once


async def test_the_palette_finds_a_command_by_what_it_does_and_begins_with_what_was_used() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: "Suggested" in screen_text(app))
        await pilot.press(*"preview")
        await wait_until(pilot, lambda: "Choose a theme, with live" in screen_text(app))
        assert "Suggested" not in screen_text(app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "dark, high contrast" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)
        assert [action.label for action in app.palette.list_actions()[:2]] == ["Theme", "Open"]
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: isinstance(app.screen, PickerDialog))
        assert app.screen.query_one(ItemList).chosen == "global.choose_theme"


async def test_the_palette_is_grouped_by_where_a_command_works() -> None:
    async with running(make_app(), (120, 60)) as (app, pilot):
        await pilot.press("ctrl+p", *"keep")
        await wait_until(pilot, lambda: "Add a note on this section." in screen_text(app))
        text = screen_text(app)
        assert text.index("Outline") < text.index("Conversation") < text.index("Reader")


async def test_keys_typed_at_once_go_to_the_palette_and_then_to_what_it_opens() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        type_at_once(pilot, "ctrl+p", *"theme", "enter", *"beacon", "enter", *"hm")
        await wait_until(pilot, lambda: app.main_screen.question_box.text == "hm")
        assert app.theme == "beacon"


def test_the_best_match_comes_first_and_brings_its_group() -> None:
    names = (("a", "Pin"), ("a", "Unpin"), ("b", "Spin"), ("b", "A pin"), ("c", "pinned"), ("c", "Note"))
    choices = [PickerItem(value=name, label=name, group=group) for group, name in names]
    found = [(choice.group, choice.value) for choice in filter_items(choices, "PIN")]
    assert found == [("a", "Pin"), ("a", "Unpin"), ("c", "pinned"), ("b", "A pin"), ("b", "Spin")]
    assert filter_items(choices, "") == tuple(choices)
    assert filter_items(choices, "pin x") == ()


@pytest.mark.parametrize("key", ["ctrl+p", "f2", "f3"])
@pytest.mark.parametrize("size", [(1, 40), (4, 40), (40, 1), (40, 3), (40, 5), (80, 10)])
async def test_a_list_to_choose_from_takes_keys_without_room_for_its_lines(size: tuple[int, int], key: str) -> None:
    async with running(make_app(), size) as (app, pilot):
        await pilot.press(key, "pagedown", "up", "x", "pageup", "backspace", "down", "escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)


@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_over_a_box_no_command_opens_another_one(key: str) -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press(key)
        await wait_until(pilot, lambda: app.screen is not app.main_screen)
        assert app.palette.list_actions() == ()


async def test_help_is_filtered_as_typed() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press("f1")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await pilot.press("/", *"pin")
        await wait_until(pilot, lambda: "tree.pin" in screen_text(app) and "tree.fold" not in screen_text(app))
        await pilot.press(*"zz")
        await wait_until(pilot, lambda: "No matching keys" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "global.go_tree" in screen_text(app))
        assert app.screen.query_one(Input).display is False
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)


async def test_hints_tell_what_helps_where_one_is() -> None:
    context = make_context()
    context.agent.model = OfflineModel()
    async with running(RoamApp(context), (120, 35)) as (app, pilot):
        await wait_until(pilot, lambda: "f2 model" in screen_text(app))
        assert "ctrl+o open" in screen_text(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "space fold" in screen_text(app))
        assert "f2 model" not in screen_text(app).split("\n")[-1]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-kitty"}, "shift+enter"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "shift+enter"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "ctrl+j"),
        ({"TERM": "xterm-kitty", "TMUX": "socket"}, "ctrl+j"),
        ({}, "ctrl+j"),
    ],
)
def test_the_key_for_a_new_line_is_one_that_the_terminal_sends(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], expected: str
) -> None:
    for name in ("TERM", "TERM_PROGRAM", "TMUX", "STY", "TEXTUAL_DRIVER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert build_keymap().format_first_key("input.insert_line") == expected


async def test_themes_of_high_contrast_say_so() -> None:
    async with running(make_app(), (100, 30)) as (app, pilot):
        await pilot.press("f3")
        await wait_until(pilot, lambda: "dark, high contrast" in screen_text(app))
        shown = screen_text(app)
    assert "light, high contrast" in shown
    assert shown.count("high contrast") == 2
