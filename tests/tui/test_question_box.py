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


async def queue(pilot: Pilot[None], question: str = SECOND) -> None:
    """Send a question, and another while the first is answered."""
    screen = app_of(pilot).main_screen
    for text in (FIRST, question):
        screen.question_box.fill(text)
        await press_until(pilot, lambda: screen.is_asking and not screen.question_box.text, "enter")
    await wait_until(pilot, lambda: "takes it back): " in screen_text(app_of(pilot)))
    await wait_until(pilot, lambda: len(model_of(app_of(pilot)).requests) == 1)


def questions(app: RoamApp) -> list[str]:
    return [exchange.question for exchange in app.main_screen.conversation.state.exchanges]


async def test_a_question_waits_dimmed_above_the_box_and_is_asked_after_the_answer() -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate), ScriptedReply(text="Ninety.")]
    async with running(make_app(replies)) as (app, pilot):
        await queue(pilot)
        await pilot.pause()
        rows = screen_text(app).splitlines()
        line = next(number for number, row in enumerate(rows) if "Next (esc takes it back): And the deck oven?" in row)
        assert "╭" in rows[line + 1]
        app.main_screen.question_box.fill("A third?")
        await press_until(pilot, "A question is already queued", "enter")
        assert app.main_screen.question_box.text == "A third?"
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert questions(app) == [FIRST, SECOND]
        assert app.main_screen.question_box.text == "A third?"
        await wait_until(pilot, lambda: "takes it back): " not in screen_text(app))


@pytest.mark.parametrize("key", ["escape", "ctrl+n", "ctrl+c"])
async def test_a_key_returns_the_question_to_the_box_before_what_was_typed_since(key: str) -> None:
    gate = asyncio.Event()
    async with running(make_app([ScriptedReply(text="Forty.", gate=gate)])) as (app, pilot):
        await queue(pilot)
        await press_until(pilot, lambda: app.main_screen.question_box.text == f"{SECOND}\nx", "x", key)
        await wait_until(pilot, lambda: "takes it back): " not in screen_text(app))
        gate.set()
        await wait_until(pilot, lambda: not app.main_screen.is_asking)
        assert questions(app) == [FIRST]


async def test_after_a_failure_the_question_returns_to_the_box_with_its_section() -> None:
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Forty.", gate=gate, error=ModelError("The key was refused."))]
    async with running(make_app(replies)) as (app, pilot):
        screen = app.main_screen
        screen.question_box.fill(FIRST)
        await press_until(pilot, lambda: len(model_of(app).requests) == 1, "enter")
        screen.questions.ask_about_section(find_id(app, "Deck oven"))
        screen.question_box.fill(SECOND)
        await press_until(pilot, lambda: "takes it back): " in screen_text(app_of(pilot)), "enter")
        gate.set()
        await wait_until(pilot, lambda: screen.question_box.text == SECOND)
        assert questions(app) == [FIRST]
        assert "takes it back): " not in screen_text(app)
        assert "in Ovens › Deck oven" in screen_text(app)


async def test_a_slash_lists_the_commands_only_in_an_empty_box() -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press(*"a/", "backspace", "backspace")
        assert app.screen is app.main_screen
        type_at_once(pilot, *"/outline", "enter")
        await wait_until(pilot, lambda: app.main_screen.focused is app.main_screen.tree_pane.outline)
        assert app.main_screen.question_box.text == ""
