"""How a person finds out what they can do: the palette, help that is filtered, marks, and hints that fit the place."""

from __future__ import annotations

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from roamtui.models.offline import OfflineModel
from roamtui.tui.actions import build_keymap
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.help import HelpScreen, LegendScreen
from tests.tui.driving import make_app, make_context, running, screen_text, wait_until


async def test_the_palette_finds_a_command_by_what_it_does_and_begins_with_what_was_used() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"preview")
        await wait_until(pilot, lambda: "Choose a theme, with live" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "dusk · dark" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)
        commands = list(app.get_system_commands(app.screen))
    assert [command.title for command in commands[:2]] == ["Theme", "Open"]


@pytest.mark.parametrize("size", [(1, 40), (4, 40), (40, 1), (40, 5)])
async def test_the_palette_without_room_for_its_list_takes_keys(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        await pilot.press("ctrl+p", "pagedown", "home", "escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)


@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_over_a_box_no_command_opens_another_one(key: str) -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press(key)
        await wait_until(pilot, lambda: app.screen is not app.main_screen)
        assert not list(app.get_system_commands(app.screen))


async def test_help_is_filtered_as_typed() -> None:
    async with running(make_app(), (120, 35)) as (app, pilot):
        await pilot.press("f1")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("/", *"pin")
        await wait_until(pilot, lambda: "tree.pin" in screen_text(app) and "tree.fold" not in screen_text(app))
        await pilot.press(*"zz")
        await wait_until(pilot, lambda: "No matching keys" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "global.go_tree" in screen_text(app))
        assert app.screen.query_one(Input).display is False
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is app.main_screen)


async def test_what_the_marks_mean_is_a_key_away() -> None:
    async with running(make_app(), (80, 20)) as (app, pilot):
        await pilot.press("escape", "m")
        await wait_until(
            pilot, lambda: isinstance(app.screen, LegendScreen) and "pinned, stays open" in screen_text(app)
        )
        assert "esc to close" in screen_text(app)
        await pilot.press("end")
        await wait_until(pilot, lambda: "quote found in that" in screen_text(app))
        assert "esc to close" in screen_text(app)
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
        await wait_until(pilot, lambda: "beacon · dark, high contrast" in screen_text(app))
        shown = screen_text(app)
    assert "noon · light, high contrast" in shown
    assert shown.count("high contrast") == 2
