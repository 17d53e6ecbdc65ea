"""Which panes show, and where keys lead, at each width."""

import pytest

from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.panes.panes import PaneTitle, choose_panes
from tests.tui.driving import find_id, make_app, running, screen_text, wait_until

TREE, CHAT, READER = Scope.TREE, Scope.CHAT, Scope.READER


@pytest.mark.parametrize(
    ("columns", "active", "main", "shown"),
    [
        (150, TREE, CHAT, {TREE, CHAT, READER}),
        (149, TREE, CHAT, {TREE, CHAT}),
        (149, READER, READER, {TREE, READER}),
        (64, CHAT, READER, {TREE, READER}),
        (63, TREE, READER, {TREE}),
        (63, CHAT, CHAT, {CHAT}),
        (63, CHAT, READER, {READER}),
        (20, READER, READER, {READER}),
    ],
)
def test_panes_fit_the_width(columns: int, active: Scope, main: Scope, shown: set[Scope]) -> None:
    assert choose_panes(columns, active=active, main=main) == shown


WIDE, MIDDLE, NARROW = (160, 40), (100, 30), (50, 20)


def place(app: RoamApp) -> str | None:
    focused = app.main_screen.focused
    return None if focused is None else focused.id


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW])
async def test_escape_goes_to_the_tree_and_digits_go_on_from_there(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        await pilot.press("escape")
        await pilot.pause()
        assert place(app) == "tree"
        assert "▸ Ovens" in screen_text(app)
        for key, pane in (("3", "reader"), ("1", "tree"), ("3", "reader"), ("2", "chat-log")):
            await pilot.press(key)
            await pilot.pause()
            assert place(app) == pane


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW])
async def test_tab_goes_round_all_places(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        app.main_screen.tree_pane.outline.go_to(find_id(app, "Ovens"))
        await pilot.press("escape", "3")
        await pilot.pause()
        assert place(app) == "reader"
        seen = []
        for _ in range(4):
            await pilot.press("tab")
            await pilot.pause()
            seen.append(place(app))
        assert seen == ["tree", "chat-log", "question-box", "reader"]
        for expected in ("question-box", "chat-log", "tree", "reader"):
            await pilot.press("shift+tab")
            await pilot.pause()
            assert place(app) == expected


@pytest.mark.parametrize("size", [WIDE, MIDDLE])
async def test_reading_leaves_keys_with_the_outline(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        screen = app.main_screen
        await pilot.press("escape", "j", "enter", "enter")
        await wait_until(pilot, lambda: screen.conversation.state.reading_id == find_id(app, "Ovens"))
        assert screen.reader_pane.section_id == find_id(app, "Ovens")
        assert Scope.READER in screen.panes.shown
        await pilot.press("j")
        await pilot.pause()
        assert place(app) == "tree"
        assert screen.tree_pane.outline.cursor_id == find_id(app, "Dough")
        assert screen.reader_pane.section_id == find_id(app, "Ovens")
        await pilot.press("3", "escape")
        assert place(app) == "tree"


async def test_where_one_pane_fits_reading_goes_to_the_reader_and_escape_comes_back() -> None:
    async with running(make_app(), NARROW) as (app, pilot):
        await pilot.press("escape", "j", "enter")
        assert place(app) == "reader"
        await pilot.press("escape")
        assert place(app) == "tree"


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW, (20, 6)])
@pytest.mark.parametrize("key", ["f1", "f2", "f3", "ctrl+p", "ctrl+f"])
async def test_what_lies_over_the_screen_can_be_left_and_the_app_quit(key: str, size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        assert len(app.screen_stack) == 2
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert place(app) == "question-box"
        await pilot.press(key, "ctrl+q")
        await pilot.pause()
        assert not app.is_running


async def test_a_click_on_a_tab_shows_its_pane() -> None:
    async with running(make_app(), MIDDLE) as (app, pilot):
        title = app.main_screen.panes.query_one("#chat-pane PaneTitle", PaneTitle)
        await pilot.click(title, offset=(title.render().plain.index("Reader"), 0))
        await wait_until(pilot, lambda: place(app) == "reader")
