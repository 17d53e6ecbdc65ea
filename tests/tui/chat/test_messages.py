"""Long conversations: the newest exchanges are shown, earlier ones on demand."""

from __future__ import annotations

from dataclasses import replace

from roamtui.conversation.session import Session
from roamtui.conversation.state import Exchange, Transcript
from roamtui.conversation.transcript import Stopped
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.chat.messages import EXCHANGES_MAX, EXCHANGES_STEP
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import ask, make_context, screen_text, wait_until


def make_long_app(count: int, *replies: ScriptedReply) -> RoamApp:
    context = make_context(replies)
    exchanges = tuple(
        Exchange(number=number, question=f"Question {number}?", answer=f"Answer {number}.", stopped=Stopped.ANSWERED)
        for number in range(1, count + 1)
    )
    state = replace(context.agent.session.state, transcript=Transcript(exchanges=exchanges))
    context.agent.session = Session(state)
    return RoamApp(context)


def numbers(app: RoamApp) -> list[int]:
    return [view.number for view in app.screen.query(ExchangeView)]


async def test_a_saved_conversation_is_shown_again_with_its_end_in_view() -> None:
    app = make_long_app(3)
    async with app.run_test(size=(100, 24)) as pilot:
        await wait_until(pilot, lambda: numbers(app) == [1, 2, 3])
        await pilot.pause()
        text = screen_text(app)
    assert "Answer 3." in text
    assert "Try" not in text
    assert "earlier question" not in text


async def test_only_the_newest_are_shown_and_earlier_ones_come_by_key() -> None:
    count = 2 * EXCHANGES_STEP + 5
    app = make_long_app(count)
    async with app.run_test(size=(100, 24)) as pilot:
        await wait_until(pilot, lambda: len(numbers(app)) == EXCHANGES_STEP)
        assert numbers(app)[-1] == count
        await pilot.press("shift+tab", "g", "k", "enter")
        await wait_until(pilot, lambda: len(numbers(app)) == 2 * EXCHANGES_STEP)
        assert numbers(app) == list(range(6, count + 1))
        await pilot.press("k", "enter")
        await wait_until(pilot, lambda: numbers(app) == list(range(1, count + 1)))
        await pilot.pause()
        assert not app.main.chat_log.has_targets


async def test_a_new_question_sheds_the_oldest() -> None:
    app = make_long_app(EXCHANGES_MAX + 1, ScriptedReply(text="New."))
    async with app.run_test(size=(100, 24)) as pilot:
        app.main.chat_log.show_earlier()
        app.main.chat_log.show_earlier()
        await wait_until(pilot, lambda: len(numbers(app)) == EXCHANGES_MAX + 1)
        await ask(pilot, "One more?")
        await wait_until(pilot, lambda: len(numbers(app)) == EXCHANGES_STEP)
        assert numbers(app)[-1] == EXCHANGES_MAX + 2
