"""Which panes show, and where keys lead, at each width."""

import asyncio
from functools import partial

import pytest

from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.panes.switcher import PaneLayout, compute_layout
from roamtui.tui.panes.titled_panes import PaneTitle
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import ask, find_id, make_app, press_until, running, screen_text, show_answer, wait_until

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
    layout = compute_layout(columns, active=active, main=main)
    assert layout == PaneLayout(shown=frozenset(shown))
    tabs = {tab for pane in shown for tab in layout.list_tabs(pane)}
    assert tabs == {TREE, CHAT, READER}, "each hidden pane is a tab of a visible one"


@pytest.mark.parametrize(("columns", "padding"), [(160, 34), (93, 0), (20, 0)])
def test_focus_mode_shows_the_reader_in_the_middle(columns: int, padding: int) -> None:
    layout = compute_layout(columns, active=READER, main=CHAT, is_focus_mode=True)
    assert layout == PaneLayout(shown=frozenset({READER}), reader_padding=padding, has_question_box=False)


WIDE, MIDDLE, NARROW = (160, 40), (100, 30), (50, 20)


def place(app: RoamApp) -> str:
    return app.main_screen.panes.scope


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW])
async def test_escape_goes_back_to_where_one_was(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.key_queue._TWICE_SECONDS", 0.0)
    async with running(make_app([ScriptedReply(text="Forty.")]), size) as (app, pilot):
        await pilot.press("escape")
        assert place(app) == "tree", "the conversation is empty"
        assert "▸ Ovens" in screen_text(app)
        await pilot.press("escape")
        assert place(app) == "input"
        await pilot.press("escape", "j", "enter", "enter")
        assert place(app) == "reader"
        await pilot.press("escape")
        assert place(app) == "tree", "it was in the outline before"
        await pilot.press("shift+tab", "shift+tab", "escape")
        assert place(app) == "reader", "it was in the reader before the box"


async def test_escape_in_the_box_leads_from_the_first_answer_to_the_conversation() -> None:
    async with running(make_app([ScriptedReply(text="Forty.")]), MIDDLE) as (app, pilot):
        await ask(pilot, "How many?")
        await pilot.press("escape")
        assert place(app) == "chat"


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW])
async def test_escape_leads_from_a_selected_quote_to_the_question_box(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        await show_answer(pilot)
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, lambda: app.main_screen.reader_pane.section_id is not None, "1", "enter")
        app.main_screen.panes.focus_scope(Scope.READER)
        await pilot.press("escape")
        assert place(app) == "chat"
        await pilot.press("escape")
        assert place(app) == "input"
        assert app.main_screen.chat_log.selection == (None, None)


async def test_who_reads_goes_on_reading_when_the_turn_of_a_waiting_question_comes() -> None:
    gate = asyncio.Event()
    app = make_app([ScriptedReply(text="Forty.", gate=gate), ScriptedReply(text="Ninety.")])
    async with running(app, NARROW) as (_, pilot):
        screen = app.main_screen
        for question in ("How many?", "And then?"):
            screen.question_box.fill(question)
            await pilot.press("enter")
        screen.panes.focus_scope(Scope.READER)
        await wait_until(pilot, lambda: screen.conversation.state.reading_id is not None)
        await pilot.pause()
        gate.set()
        await wait_until(pilot, lambda: len(screen.conversation.state.exchanges) == 2 and not screen.is_asking)
        assert place(app) == "reader"
        assert screen.panes.shown == {Scope.READER}


ELSEWHERE = (
    ("tree", "o", "o works in the reader · press o again to go there", "reader"),
    ("tree", "left_square_bracket", "[ works in the reader · press [ again to go there", "reader"),
    ("tree", "r", "r works in the conversation · press r again to go there", "chat"),
    ("tree", "y", "y works in the conversation and the reader · press y again to go to the conversation", "chat"),
    (
        "reader",
        "space",
        "space works in the conversation and the outline · press space again to go to the conv",
        "chat",
    ),
    ("reader", "u", "u works in the outline · press u again to go there", "tree"),
    ("chat", "backspace", "backspace works in the reader · press backspace again to go there", "reader"),
    ("chat", "ctrl+j", "ctrl+j works in the question box · press ctrl+j again to go there", "input"),
    ("tree", "c", "c does nothing here · f1 shows the keys", "tree"),
)


def says(app: RoamApp, words: str) -> bool:
    return words in " ".join(screen_text(app).split())


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW, (40, 12)])
async def test_a_key_that_does_nothing_in_a_pane_says_where_it_works_and_goes_there_the_second_time(
    size: tuple[int, int],
) -> None:
    async with running(make_app(), size) as (app, pilot):
        for pane, key, words, target in ELSEWHERE:
            app.main_screen.panes.focus_scope(Scope(pane))
            await pilot.press(key)
            await wait_until(pilot, partial(says, app, words))
            await pilot.press("down", key)
            assert place(app) != target or pane == target, "another key came between"
            await pilot.press(key)
            assert place(app) == target, (pane, key)
            assert app.main_screen.question_box.text == ""


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW])
async def test_tab_goes_round_all_places(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        app.main_screen.tree_pane.outline.go_to(find_id(app, "Ovens"))
        app.main_screen.panes.focus_scope(Scope.READER)
        await pilot.pause()
        assert place(app) == "reader"
        seen = []
        for _ in range(4):
            await pilot.press("tab")
            await pilot.pause()
            seen.append(place(app))
        assert seen == ["tree", "chat", "input", "reader"]
        for expected in ("input", "chat", "tree", "reader"):
            await pilot.press("shift+tab")
            await pilot.pause()
            assert place(app) == expected


@pytest.mark.parametrize("size", [WIDE, MIDDLE])
async def test_reading_leaves_keys_with_the_outline(size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        screen = app.main_screen
        await pilot.press("escape", "j", "enter")
        await wait_until(pilot, lambda: screen.conversation.state.reading_id == find_id(app, "Ovens"))
        assert screen.reader_pane.section_id == find_id(app, "Ovens")
        assert Scope.READER in screen.panes.shown
        await pilot.press("j")
        await pilot.pause()
        assert place(app) == "tree"
        assert screen.tree_pane.outline.cursor_id == find_id(app, "Dough")
        assert screen.reader_pane.section_id == find_id(app, "Ovens")
        await pilot.press("enter")
        await wait_until(pilot, lambda: screen.reader_pane.section_id == find_id(app, "Dough"))
        assert place(app) == "tree"
        await pilot.press("enter")
        assert place(app) == "reader", "the second time, it goes there"
        await pilot.press("escape")
        assert place(app) == "tree"


async def test_where_one_pane_fits_reading_goes_to_the_reader_and_escape_comes_back() -> None:
    async with running(make_app(), NARROW) as (app, pilot):
        await pilot.press("escape", "j", "enter")
        assert place(app) == "reader"
        await pilot.press("escape")
        assert place(app) == "tree"


@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW, (20, 6)])
@pytest.mark.parametrize("key", ["ctrl+p", "f2", "f3", "ctrl+f"])
async def test_what_lies_over_the_screen_can_be_left_and_the_app_quit(key: str, size: tuple[int, int]) -> None:
    async with running(make_app(), size) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        assert len(app.screen_stack) == 2
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert place(app) == "input"
        await pilot.press(key, "ctrl+q")
        await pilot.pause()
        assert not app.is_running


async def test_a_click_on_a_tab_shows_its_pane() -> None:
    async with running(make_app(), MIDDLE) as (app, pilot):
        title = app.main_screen.panes.query_one("#chat-pane PaneTitle", PaneTitle)
        await pilot.click(title, offset=(title.render().plain.index("Reader"), 0))
        await wait_until(pilot, lambda: place(app) == "reader")
