"""The lines at the foot of the screen: hints, and a message that stands in their place until the next key or click."""

import pytest
from textual.geometry import Region
from textual.widget import Widget

from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.help import HelpDialog
from roamtui.tui.status_line import HintLine, MessageLine
from tests.tui.driving import app_of, make_app, press_until, running, screen_text, wait_until

_NOTHING = "Nothing to copy or stop. Press ctrl+q to quit."


def tell(app: RoamApp) -> list[str]:
    """Return the messages that stand on any screen."""
    return [str(line.render()) for screen in app.screen_stack for line in screen.query(MessageLine)]


async def test_a_message_stands_in_place_of_the_hints_until_the_next_key() -> None:
    async with make_app().run_test(size=(120, 30), notifications=True) as pilot:
        app = app_of(pilot)
        await wait_until(pilot, lambda: app.main_screen.chat_log.region.x > 0 and "ctrl+q" in screen_text(app))

        def list_places() -> dict[Widget, Region]:
            shown = app.main_screen.panes.walk_children(Widget)
            return {pane: pane.region for pane in shown if pane.region.area}

        places = list_places()
        hints = screen_text(app).splitlines()[-1]
        await press_until(pilot, lambda: tell(app) == [_NOTHING], "ctrl+c")
        assert screen_text(app).splitlines()[-1].strip() == _NOTHING
        assert list_places() == places
        await press_until(pilot, lambda: not tell(app) and app.main_screen.query_one(HintLine).display, "tab")
        await press_until(pilot, lambda: screen_text(app).splitlines()[-1] == hints, "shift+tab")


async def test_at_80_by_24_the_keys_to_open_documents_and_conversations_are_in_view_in_every_pane() -> None:
    async with running(make_app()) as (app, pilot):
        for pane in (Scope.INPUT, Scope.TREE, Scope.CHAT, Scope.READER):
            app.main_screen.panes.focus_scope(pane)
            await pilot.pause()
            assert "ctrl+o open  f4 conversations" in screen_text(app).splitlines()[0]


async def test_hints_that_have_no_room_leave_a_sign_beside_the_key_that_shows_all_keys() -> None:
    for width, is_cut in ((80, True), (250, False)):
        async with running(make_app(), (width, 24)) as (app, pilot):
            for pane in (Scope.TREE, Scope.CHAT, Scope.READER):
                app.main_screen.panes.focus_scope(pane)
                await pilot.pause()
                hints = screen_text(app).splitlines()[-1].rstrip()
                assert hints.endswith("   f1 keys   ctrl+q quit")
                assert (" …   " in hints) is is_cut


async def test_a_document_from_standard_input_has_this_name_in_the_header() -> None:
    library = build_library(RawText(text="# Fees\n", source="-", name="standard input"))
    async with running(make_app(library=library)) as (app, _):
        assert "standard input  ctrl+o open" in screen_text(app).splitlines()[0]


async def test_where_the_app_cannot_be_suspended_the_key_says_so() -> None:
    async with make_app().run_test(notifications=True) as pilot:
        await press_until(
            pilot,
            lambda: tell(app_of(pilot)) == ["roamtui cannot go into the background here."],
            "escape",
            "ctrl+z",
        )


def find_cell(text: str, words: str) -> tuple[int, int]:
    """Return column and row where words stand on the screen."""
    rows = text.splitlines()
    row = next(number for number, line in enumerate(rows) if words in line)
    return rows[row].index(words), row


async def test_a_click_on_a_hint_does_what_its_key_does() -> None:
    async with make_app().run_test(size=(120, 30)) as pilot:
        main = app_of(pilot).main_screen
        await pilot.press("escape", "j")
        await pilot.pause()
        assert await pilot.click(offset=find_cell(screen_text(app_of(pilot)), "a open"))
        await wait_until(pilot, lambda: bool(main.conversation.state.open_sections))
        assert await pilot.click(offset=find_cell(screen_text(app_of(pilot)), "f1 keys"))
        await wait_until(pilot, "all help")
        assert await pilot.click(offset=find_cell(screen_text(app_of(pilot)), "all help"))
        await wait_until(pilot, lambda: isinstance(app_of(pilot).screen, HelpDialog))
        await wait_until(pilot, "esc to clear or close")
        assert await pilot.click(offset=find_cell(screen_text(app_of(pilot)), "esc to clear or close"))
        await wait_until(pilot, lambda: app_of(pilot).screen is main)


async def test_a_long_name_of_a_model_is_cut_on_a_narrow_screen() -> None:
    async with make_app().run_test(size=(30, 20)) as pilot:
        line = app_of(pilot).main_screen.status_line
        line.model, line.message = "openrouter/anthropic/claude-sonnet-4.5", "Redid 1 section"
        assert str(line.render()) == "openrouter/anthropic/claude…"


async def test_the_window_of_a_server_of_ones_own_stands_beside_the_model_and_in_the_list_of_models() -> None:
    app = make_app()
    model = app.main_screen.agent.model
    model.window_tokens, model.window_note = 8_192, "the server reports this size"
    async with app.run_test(size=(120, 20)) as pilot:
        await wait_until(pilot, lambda: f"{model.name} · 8k window" in screen_text(app))
        await press_until(pilot, lambda: "in use, 8k window (the server reports this size)" in screen_text(app), "f2")


@pytest.mark.parametrize(("title", "has_keys"), [("Guide", True), ("The Guide to the Ovens of Larch Lane", False)])
async def test_a_title_that_has_no_room_beside_the_keys_takes_their_place(title: str, *, has_keys: bool) -> None:
    async with running(make_app(text=f"# {title}\n"), (60, 20)) as (app, _):
        head = str(app.main_screen.header.render())
        assert title in head
        assert ("ctrl+o open" in head) is has_keys
