"""Keys that come in together go where they would have gone one by one."""

from __future__ import annotations

import re

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.tui.driving import app_of, find_id, make_app, running, screen_text, wait_until


def type_at_once(pilot: Pilot[None], *words: str) -> None:
    """Put all keys into the app's queue before it comes to the first; a word of several letters is a key's name."""
    for word in words:
        name = word if len(word) > 1 else _character_to_key(word)
        pilot.app.post_message(events.Key(name, word if len(word) == 1 else None))


async def test_a_search_is_typed_sent_and_walked_in_one_go() -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("escape")
        type_at_once(pilot, *"j/oven", "enter", "n")
        await wait_until(pilot, lambda: re.search(r"“oven” [2-6]/6", screen_text(app)) is not None)
        assert app.main_screen.focused is app.main_screen.tree_pane.outline
        type_at_once(pilot, *"/starter", "enter")
        await wait_until(pilot, lambda: app.main_screen.tree_pane.outline.cursor_id == find_id(app, "Starter"))


async def test_keys_after_one_that_opens_a_screen_go_to_that_screen() -> None:
    async with running(make_app()) as (app, pilot):
        before = app.theme
        type_at_once(pilot, "escape", "f3", "down", "enter")
        await wait_until(pilot, lambda: app.theme != before and app.screen is app.main_screen)


@pytest.mark.parametrize("count", [1, 20])
async def test_a_key_is_never_lost_where_the_widget_before_it_goes_away(count: int) -> None:
    async with running(make_app()) as (_, pilot):
        type_at_once(pilot, *(["f1", "escape"] * count), *"abc")
        await wait_until(pilot, lambda: app_of(pilot).main_screen.question_box.text == "abc")
