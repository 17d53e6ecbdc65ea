"""The list below a field that filters it."""

import pytest
from textual.widgets import OptionList

from roamtui.tui.actions import Scope, make_keymap
from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.tree.visible_lines import SIGNS
from tests.tui.driving import make_app, running


async def test_a_resize_keeps_the_cursor_on_its_line_if_an_equal_item_is_listed_too() -> None:
    async with running(make_app(), (100, 30)) as ui:
        ui.app.push_screen(HelpDialog(make_keymap(), Scope.TREE, list(SIGNS.items())))
        await ui.press_until("Answer symbols", "end", *["up"] * 5)
        options = ui.app.screen.query_one(OptionList)
        for size in ((90, 28), (80, 26)):
            before = options.highlighted
            await ui.press("up")
            assert options.highlighted != before
            line = options.highlighted
            await ui.pilot.resize_terminal(*size)
            await ui.pause()
            assert options.highlighted == line


@pytest.mark.parametrize(
    ("typed", "first"),
    [("x", "section.close"), ("f5", "global.reload"), ("open", "global.open_document"), ("export", "chat.export")],
)
async def test_the_best_match_of_what_is_typed_in_the_list_of_keys_comes_first(typed: str, first: str) -> None:
    async with running(make_app(), (100, 30)) as ui:
        dialog = HelpDialog(make_keymap(), Scope.INPUT)
        ui.app.push_screen(dialog)
        await ui.wait_until(HelpDialog)
        assert first == next(iter(dialog.list_rows(typed))).item
