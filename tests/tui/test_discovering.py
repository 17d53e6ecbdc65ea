"""How a person finds out what they can do: the palette, help that is filtered, marks, and hints that fit the place."""

from __future__ import annotations

from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.screens.lists import ItemList, PickerDialog, PickerItem, filter_items
from tests.tui.driving import make_app, running, screen_text, wait_until
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
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: isinstance(app.screen, PickerDialog))
        assert app.screen.query_one(ItemList).items[:2] == ["global.choose_theme", "global.open_document"]


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


async def test_help_is_filtered_as_typed() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press("f1")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await pilot.press(*"pin")
        await wait_until(pilot, lambda: "section.pin" in screen_text(app) and "tree.fold" not in screen_text(app))
        await pilot.press(*"zz")
        await wait_until(pilot, lambda: "No match" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "global.go_tree" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)
