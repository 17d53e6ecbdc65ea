"""The question box: its history, and a question that is sent while another is answered."""

import asyncio

import pytest
from textual import events, on
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from typing_extensions import override

from roamtui.errors import ModelError
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.question_area import QuestionBox
from roamtui.tui.themes import derive_defaults
from tests.fakes.scripted_model import ScriptedReply
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import (
    app_of,
    find_id,
    make_app,
    model_of,
    press_until,
    running,
    screen_text,
    type_at_once,
    wait_until,
)


class BoxApp(App[None]):
    CSS_PATH = PROJECT_DIR / "roamtui/tui/app.tcss"

    def __init__(self, *history: str) -> None:
        super().__init__()
        self.box = QuestionBox(history)
        self.sent: list[str] = []

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return derive_defaults(self.current_theme)

    @override
    def compose(self) -> ComposeResult:
        yield self.box

    @on(QuestionBox.Submitted)
    def note_sent(self, event: QuestionBox.Submitted) -> None:
        self.sent.append(event.question)


async def test_up_and_down_walk_the_history_at_the_edges_and_keep_the_draft() -> None:
    async with running(BoxApp("first", "second\nin two lines")) as (app, pilot):
        await pilot.press("d", "up")
        assert app.box.text == "second\nin two lines"
        await pilot.press("up")
        assert app.box.text == "second\nin two lines", "first the cursor goes up through the lines"
        await pilot.press("up")
        assert app.box.text == "first"
        await pilot.press("up")
        assert app.box.text == "first"
        await pilot.press("down", "down")
        assert app.box.text == "d"
        await pilot.press("down")
        assert app.box.text == "d"


async def test_a_paste_of_a_megabyte_is_refused_at_once_and_told() -> None:
    async with running(BoxApp()) as (app, pilot):
        app.box.fill("kept")
        app.box.post_message(events.Paste("x" * 1_000_000))
        await pilot.pause()
        assert "too long" in next(iter(app._notifications)).message
        assert app.box.text == "kept"


FIRST, SECOND = "How many loaves?", "And the deck oven?"


WAITS = "takes back the last):"


async def queue(pilot: Pilot[None], *waiting: str) -> None:
    """Send a question, and others while the first is answered."""
    screen = app_of(pilot).main_screen
    for text in (FIRST, *waiting):
        screen.question_box.fill(text)
        await press_until(pilot, lambda: screen.is_asking and not screen.question_box.text, "enter")
    await wait_until(pilot, lambda: WAITS in screen_text(app_of(pilot)))
    await wait_until(pilot, lambda: len(model_of(app_of(pilot)).requests) == 1)


def questions(app: RoamApp) -> list[str]:
    return [exchange.question for exchange in app.main_screen.conversation.state.exchanges]


async def test_questions_wait_dimmed_below_the_box_and_are_asked_one_by_one() -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate), *(ScriptedReply(text="Ninety.") for _ in range(5))]
    waiting = [f"And oven {number}?" for number in range(1, 6)]
    async with running(make_app(replies)) as (app, pilot):
        await queue(pilot, *waiting)
        await wait_until(pilot, lambda: "and 2 more" in screen_text(app))
        rows = [row.rpartition("▕")[2].strip() for row in screen_text(app).splitlines()]
        first = rows.index("Asked next (esc takes back the last):")
        assert rows[first - 1].startswith("╰")
        assert rows[first + 1 : first + 5] == ["1. And oven 1?", "2. And oven 2?", "3. And oven 3?", "and 2 more"]
        app.main_screen.question_box.fill("Half a question")
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert questions(app) == [FIRST, *waiting]
        assert app.main_screen.question_box.text == "Half a question"
        await wait_until(pilot, lambda: WAITS not in screen_text(app))


@pytest.mark.parametrize("key", ["escape", "ctrl+n"])
async def test_a_key_takes_back_the_last_question_and_keeps_what_was_typed_since(key: str) -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate), ScriptedReply(text="Ninety.")]
    async with running(make_app(replies)) as (app, pilot):
        box = app.main_screen.question_box
        await queue(pilot, "And one?", SECOND)
        await press_until(pilot, lambda: box.text == SECOND, "x", key)
        await pilot.press("down")
        assert box.text == "x"
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert questions(app) == [FIRST, "And one?"]


async def test_a_question_that_is_taken_back_and_sent_again_is_asked_once() -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate), ScriptedReply(text="Ninety.")]
    async with running(make_app(replies)) as (app, pilot):
        box = app.main_screen.question_box
        await queue(pilot, SECOND)
        await press_until(pilot, lambda: box.text == SECOND, "escape")
        await press_until(pilot, lambda: not box.text, "enter")
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert questions(app) == [FIRST, SECOND]
        assert box.text == ""


async def test_a_question_that_is_stopped_before_it_was_begun_is_in_the_box_again() -> None:
    async with running(make_app([ScriptedReply(text="Forty.")])) as (app, pilot):
        area = app.main_screen.questions
        app.main_screen.question_box.fill("How many?")
        app.main_screen.question_box.action_send()
        await wait_until(pilot, lambda: area.is_asking or bool(app.main_screen.conversation.state.exchanges))
        await wait_until(pilot, lambda: not area.is_asking)

        area.ask_again(1)
        assert area.stop()
        await wait_until(pilot, lambda: not area.is_asking)
        assert app.main_screen.question_box.text == "How many?"
        assert len(app.main_screen.conversation.state.exchanges) == 1


async def test_after_a_stop_each_waiting_question_is_asked_as_it_was_sent() -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate), ScriptedReply(text="Ninety."), ScriptedReply(text="Ten.")]
    async with running(make_app(replies)) as (app, pilot):
        box = app.main_screen.question_box
        await queue(pilot, "And one?", SECOND)
        await pilot.press("x", "ctrl+c")
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert questions(app) == [FIRST, "And one?", SECOND]
        assert box.text == "x"


async def test_after_a_failure_the_waiting_questions_return_with_their_sections() -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate, error=ModelError("The key was refused."))]
    async with running(make_app(replies)) as (app, pilot):
        screen = app.main_screen
        screen.question_box.fill(FIRST)
        await press_until(pilot, lambda: len(model_of(app).requests) == 1, "enter")
        for question in (SECOND, "And a third?"):
            screen.questions.ask_about_section(find_id(app, "Deck oven"))
            screen.question_box.fill(question)
            await press_until(pilot, lambda: screen.question_box.text == "", "enter")
        gate.set()
        await wait_until(pilot, lambda: screen.question_box.text == SECOND)
        await wait_until(pilot, "A waiting question was not asked")
        assert questions(app) == [FIRST]
        assert WAITS not in screen_text(app)
        assert "in Ovens › Deck oven" in screen_text(app)


async def test_a_question_is_on_the_screen_while_the_model_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = asyncio.Event()
    async with running(make_app([ScriptedReply(text="Forty.")])) as (app, pilot):
        monkeypatch.setattr(model_of(app), "start", gate.wait)
        app.main_screen.question_box.fill(FIRST)
        await press_until(pilot, f"❯ {FIRST}", "enter")
        assert questions(app) == []
        await press_until(pilot, lambda: app.main_screen.question_box.text == FIRST, "ctrl+c")
        assert f"❯ {FIRST} " in screen_text(app)  # in the box alone
        assert not app.main_screen.status_line.reply.is_running
        gate.set()
        await press_until(pilot, "Forty.", "enter")
        assert questions(app) == [FIRST]


async def test_a_slash_lists_the_commands_only_in_an_empty_box() -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press(*"a/", "backspace", "backspace")
        assert app.screen is app.main_screen
        type_at_once(pilot, *"/outline", "enter")
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.tree_pane.outline)
        assert app.main_screen.question_box.text == ""
