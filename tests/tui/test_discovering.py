"""How a person finds out what they can do: the list of commands, marks, and hints that fit the place."""

from __future__ import annotations

from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.screens.lists import PickerItem, filter_items
from tests.tui.driving import make_app, press_until, running, screen_text, type_at_once, wait_until


async def test_keys_typed_at_once_go_to_the_list_of_commands_and_then_to_what_it_opens() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        type_at_once(pilot, "ctrl+p", *"theme", "enter", *"beacon", "enter", *"hm")
        await wait_until(pilot, lambda: app.main_screen.question_box.text == "hm")
        assert app.theme == "beacon"


def test_the_best_match_comes_first() -> None:
    names = (("a", "Pin"), ("a", "Unpin"), ("b", "Spin"), ("b", "A pin"), ("c", "pinned"), ("c", "Note"))
    choices = [PickerItem(value=name, label=name, group=group) for group, name in names]
    assert [choice.value for choice in filter_items(choices, "PIN")] == ["Pin", "pinned", "A pin", "Unpin", "Spin"]
    assert filter_items(choices, "") == tuple(choices)
    assert filter_items(choices, "pin x") == ()


async def test_help_is_filtered_as_typed() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await press_until(pilot, HelpDialog, "f1")
        await wait_until(pilot, "Question box · current pane")
        assert screen_text(app).index("current pane") < screen_text(app).index("Everywhere")
        await pilot.press(*"pin")
        await wait_until(pilot, lambda: "Pin or unpin" in screen_text(app) and "Fold or unfold" not in screen_text(app))
        await press_until(pilot, "No match", *"zz")
        await press_until(pilot, "Go to the outline.", "escape")
        await press_until(pilot, lambda: app.screen is app.main_screen, "escape")
