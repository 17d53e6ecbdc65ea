"""What of a conversation is in view while it grows; of a long one the newest, and earlier questions on demand."""

import asyncio

from msgspec.structs import replace

from roamtui.conversation.events import StopReason
from roamtui.conversation.state import Exchange
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import EXCHANGES_MAX
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.fakes.scripted_model import ScriptedReply
from tests.fakes.services import app_over
from tests.tui.driving import (
    ask,
    expand,
    find_id,
    make_app,
    make_context,
    model_of,
    press_until,
    screen_text,
    wait_until,
)

LONG = "The answer begins here.\n\n" + "\n\n".join(f"Paragraph {number}." for number in range(40))
SIZE = (80, 24)


async def test_a_long_answer_stays_at_its_beginning() -> None:
    app = make_app([ScriptedReply(text=LONG)])
    async with app.run_test(size=SIZE) as pilot:
        await ask(pilot, "What?")
        text = screen_text(app)
        assert "The answer begins here." in text
        assert "Paragraph 39." not in text
        assert app.main_screen.chat_log.scroll_y < app.main_screen.chat_log.max_scroll_y


async def test_a_person_who_scrolled_back_stays_there_while_an_answer_grows() -> None:
    gate = asyncio.Event()
    app = make_app([ScriptedReply(text=f"{LONG}\n\nMore of it.", chunk_size=len(LONG), gate=gate, gate_after=1)])
    async with app.run_test(size=SIZE) as pilot:
        log = app.main_screen.chat_log
        app.main_screen.question_box.fill("What?")
        await press_until(pilot, "The answer begins here.", "enter")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await press_until(pilot, lambda: log.scroll_y == 0, "g")
        before = log.max_scroll_y
        gate.set()
        await wait_until(pilot, lambda: log.max_scroll_y > before and not app.main_screen.is_asking)
        await pilot.pause()
        assert log.scroll_y == 0
        await wait_until(pilot, lambda: "Answer complete ↓ G" in screen_text(app))
        await press_until(pilot, "More of it.", "G")


def make_long_app(count: int, *replies: ScriptedReply) -> RoamApp:
    context = make_context(replies)
    exchanges = tuple(
        Exchange(number=number, question=f"Question {number}?", answer=f"Answer {number}.", stopped=StopReason.ANSWERED)
        for number in range(1, count + 1)
    )
    conversation = context.agent.conversation
    conversation.state = replace(conversation.state, exchanges=exchanges)
    return app_over(context)


def numbers(app: RoamApp) -> list[int]:
    return [view.exchange.number for view in app.screen.query(ExchangeView)]


async def test_only_the_newest_are_shown() -> None:
    app = make_long_app(EXCHANGES_MAX + 5, ScriptedReply(text="One more."))
    async with app.run_test(size=(100, 24)) as pilot:
        await wait_until(pilot, lambda: numbers(app) == list(range(6, EXCHANGES_MAX + 6)))
        await ask(pilot, "And?")
        await wait_until(pilot, lambda: numbers(app) == list(range(7, EXCHANGES_MAX + 7)))
        await pilot.press("shift+tab", "g")
        await wait_until(pilot, "6 earlier questions not shown")


async def test_an_answer_is_copied_with_its_sources() -> None:
    app = make_app()
    async with app.run_test(size=SIZE) as pilot:
        stone = find_id(app, "Stone oven")
        model_of(app).add_replies(expand(stone), ScriptedReply(text=f'It takes "forty loaves" [{stone}].'))
        await press_until(pilot, "No question yet", "shift+tab", "r")
        await press_until(pilot, "No answer yet", "y")
        await ask(pilot, "How many?")
        app.main_screen.panes.focus_scope(Scope.CHAT)
        await pilot.press("y")
        sources = (
            f'1. ✓ [{stone}] Larch Lane Bakery > Ovens > Stone oven, line 11 (quote found in the text): "forty loaves"'
        )
        assert app.clipboard == f'It takes "forty loaves" [{stone}].\n\nSources:\n\n{sources}\n'
