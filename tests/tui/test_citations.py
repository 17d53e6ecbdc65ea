"""The citations of an answer are selected by keys, and their passages are shown without leaving the answer."""

from __future__ import annotations

from textual.pilot import Pilot

from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import SourcesView
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import (
    app_of,
    ask,
    expand,
    find_id,
    make_app,
    model_of,
    press_until,
    running,
    wait_until,
)

USUAL, WIDE = (120, 35), (160, 45)


async def answer(pilot: Pilot[None], app: RoamApp) -> None:
    """Have a question answered with three citations: two in the text, one not."""
    stone, deck = find_id(app, "Stone oven"), find_id(app, "Deck oven")
    text = (
        f'The deck oven: "The deck oven takes ninety loaves" [{deck}].\n\n'
        f'The stone oven: "It must rest for one hour" [{stone}].\n\n'
        f'Both: "The stone oven takes fifty loaves" [{stone}].'
    )
    model_of(app).add_replies(expand(stone, deck), ScriptedReply(text=text))
    await ask(pilot, "Which oven is larger?")


def get_selected(app: RoamApp) -> int | None:
    return app.main_screen.query(SourcesView).last().selected


async def test_digits_select_citations_in_the_conversation_and_panes_elsewhere() -> None:
    async with running(make_app(), USUAL) as (app, pilot):
        await answer(pilot, app)
        screen = app.main_screen
        screen.panes.focus_chat()
        await pilot.press("2")
        assert get_selected(app) == 1
        await press_until(pilot, lambda: screen.status_line.message == "No citation 9", "9")
        assert (get_selected(app), app.focused) == (1, screen.chat_log)
        screen.panes.focus_tree()
        await pilot.press("2")
        assert app.focused is screen.chat_log


async def test_where_the_reader_has_room_it_shows_the_first_citation_and_each_selected_one() -> None:
    async with running(make_app(), WIDE) as (app, pilot):
        screen = app.main_screen
        await answer(pilot, app)
        await wait_until(pilot, lambda: screen.reader_pane.section_id == find_id(app, "Deck oven"))
        assert app.focused is screen.question_box
        app_of(pilot).main_screen.chat_log.action_move_sideways(1)
        app_of(pilot).main_screen.chat_log.action_move_sideways(1)
        await wait_until(pilot, lambda: screen.reader_pane.section_id == find_id(app, "Stone oven"))
