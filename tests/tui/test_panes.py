"""Which panes show, and where keys lead, at each width."""

import asyncio
from collections.abc import Callable

import pytest
from textual.screen import Screen
from textual.widgets import Input

from roamtui.conversation.log import ConversationStore
from roamtui.tui.actions import Scope
from roamtui.tui.panes.switcher import choose_panes, list_tabs
from roamtui.tui.panes.titled_panes import PaneTitle
from roamtui.tui.screens.dialogs import ConfirmDialog
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import RunningApp, make_app, running, show_answer

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
    chosen = choose_panes(columns, active=active, beside_outline=main)
    assert chosen == shown
    tabs = {tab for pane in shown for tab in list_tabs(pane, chosen)}
    assert tabs == {TREE, CHAT, READER}, "each hidden pane is a tab of a visible one"


WIDE, MIDDLE, NARROW = (160, 40), (100, 30), (50, 20)


def place(ui: RunningApp) -> str:
    return ui.main.panes.scope


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_escape_goes_back_to_where_one_was(size: tuple[int, int]) -> None:
    async with running(make_app(["Forty."]), size) as ui:
        await ui.press("tab")
        assert place(ui) == "tree"
        assert "▸ Ovens" in ui.text
        await ui.press("escape")
        assert place(ui) == "input"
        await ui.press("escape", "j", "enter", "enter")
        assert place(ui) == "reader"
        await ui.press("escape")
        assert place(ui) == "tree", "it was in the outline before"
        await ui.press("shift+tab", "shift+tab", "escape")
        assert place(ui) == "reader", "it was in the reader before the box"


async def test_a_question_typed_after_escape_once_too_often_stands_in_the_box() -> None:
    async with running(make_app(["Forty."]), MIDDLE) as ui:
        await ui.press("escape", "escape", *"abx")
        assert place(ui) == "input"
        assert ui.box.text == "abx"
        assert not ui.state.open_sections


async def test_escape_in_the_box_leads_from_an_answer_to_the_conversation_that_shows_it() -> None:
    async with running(make_app(["Forty."]), MIDDLE) as ui:
        await ui.read("Steam")
        await ui.ask("How many?")
        assert Scope.READER not in ui.main.panes.shown
        await ui.press("escape")
        assert place(ui) == "chat"


async def test_escape_leads_from_a_selected_quote_to_the_question_box() -> None:
    async with running(make_app(), NARROW) as ui:
        await show_answer(ui)
        await ui.focus(Scope.CHAT).press_until(lambda: ui.read_title, "1", "enter")
        await ui.focus(Scope.READER).press("escape")
        assert place(ui) == "chat"
        await ui.press("escape")
        assert place(ui) == "input"
        assert ui.chat.selected_place == (None, None)


@pytest.mark.parametrize("reads", [False, True])
async def test_an_empty_reader_takes_no_room_from_the_conversation(*, reads: bool) -> None:
    async with running(make_app(), WIDE) as ui:
        assert ui.main.panes.shown == {TREE, CHAT}
        if reads:
            await ui.read("Steam")
        else:
            await show_answer(ui)  # the reader shows its first source
        await ui.wait_until(lambda: ui.main.panes.shown == {TREE, CHAT, READER})
        assert ui.read_title == ("Steam" if reads else "Stone oven")
        assert ui.main.reader_pane.display


async def test_who_reads_goes_on_reading_when_the_turn_of_a_waiting_question_comes() -> None:
    gate = asyncio.Event()
    async with running(make_app([ScriptedReply(text="Forty.", gate=gate), "Ninety."]), NARROW) as ui:
        for question in ("How many?", "And then?"):
            ui.box.fill(question)
            await ui.press("enter")
        ui.focus(Scope.READER)
        await ui.wait_until(lambda: ui.state.reading_id is not None)
        await ui.pause()
        gate.set()
        await ui.wait_until(lambda: len(ui.exchanges) == 2 and not ui.main.is_asking)
        assert place(ui) == "reader"
        assert ui.main.panes.shown == {Scope.READER}


async def test_a_key_that_does_nothing_in_a_pane_says_so() -> None:
    async with running(make_app(), MIDDLE) as ui:
        for pane, key in ((TREE, "o"), (READER, "space")):
            await ui.focus(pane).press_until("does nothing here · f1 lists the keys", key)
            await ui.press(key)
            assert place(ui) == pane
            assert ui.box.text == ""


async def test_tab_goes_round_all_places() -> None:
    async with running(make_app(), NARROW) as ui:
        ui.outline.go_to(ui.find_id("Ovens"))
        ui.focus(Scope.READER)
        await ui.pause()
        for key, way in (("tab", "tree chat input reader"), ("shift+tab", "input chat tree reader")):
            for expected in way.split():
                await ui.press(key)
                assert place(ui) == expected


async def test_reading_leaves_keys_with_the_outline() -> None:
    async with running(make_app(), MIDDLE) as ui:
        await ui.press_until(lambda: ui.state.reading_id == ui.find_id("Ovens"), "tab", "j", "enter")
        assert ui.read_title == "Ovens"
        assert Scope.READER in ui.main.panes.shown
        await ui.press("j")
        assert place(ui) == "tree"
        assert ui.outline.cursor_id == ui.find_id("Dough")
        assert ui.read_title == "Ovens"
        await ui.reach("Dough", "enter")
        assert place(ui) == "tree"
        await ui.press("enter")
        assert place(ui) == "reader", "the second time, it goes there"
        await ui.press("escape")
        assert place(ui) == "tree"


@pytest.mark.parametrize(
    "way",
    [
        *("ctrl+f", "f4", "section.note"),
        lambda: ConfirmDialog("Fetch this from the web?", "https://site.example/" * 9, yes="Fetch"),
    ],
)
async def test_each_dialog_shows_what_has_the_focus_in_a_tiny_terminal_and_is_as_before_in_a_large_one(
    way: str | Callable[[], Screen[object]], store: ConversationStore
) -> None:
    async with running(make_app(["Forty."], store=store)) as ui:
        await ui.ask("How many?")
        ui.focus(Scope.TREE)
        if isinstance(way, str):
            await (ui.main.action_run(way) if "." in way else ui.press(way))
        else:
            ui.app.push_screen(way())
        await ui.wait_until(lambda: ui.app.screen is not ui.main)
        await ui.rest()
        before = ui.text
        await ui.pilot.resize_terminal(20, 5)
        await ui.wait_until(lambda: ui.app.screen.size == (20, 5))
        focused = ui.app.focused
        assert focused is not None
        await ui.wait_until(lambda: focused.region.height > 0 and focused.region.bottom <= 5)
        if isinstance(focused, Input):
            await ui.press("x")
            await ui.wait_until(lambda: "x" in ui.rows[focused.region.y])
            await ui.press("backspace")
        await ui.pilot.resize_terminal(80, 24)
        await ui.wait_until(lambda: ui.text == before)
        await ui.press_until(lambda: ui.app.screen is ui.main, "escape")
        await ui.press("ctrl+q")
        assert not ui.app.is_running


@pytest.mark.parametrize(
    ("key", "words"), [("f4", "enter choose"), ("f1", "enter to run, esc"), ("b", "Ovens enter to save")]
)
async def test_a_dialog_in_a_small_terminal_names_its_keys_and_what_it_is_about(
    key: str, words: str, store: ConversationStore
) -> None:
    async with running(make_app(store=store), (40, 12)) as ui:
        await ui.go_to(ui.find_id("Ovens"))
        await ui.focus(TREE).press_until(lambda: words in ui.words, key)


async def test_a_click_on_the_empty_conversation_and_typing_fill_the_box() -> None:
    async with running(make_app()) as ui:
        await ui.click("ChatLog", offset=(5, 10))
        await ui.press("o", "k")
        assert ui.box.text == "ok"


async def test_a_click_on_a_tab_shows_its_pane() -> None:
    async with running(make_app(), MIDDLE) as ui:
        title = ui.main.panes.query_one("#chat-pane PaneTitle", PaneTitle)
        await ui.click(title, offset=(title.render().plain.index("Reader"), 0))
        await ui.wait_until(lambda: place(ui) == "reader")
