"""What fails is a sentence in the conversation; the app goes on."""

from collections.abc import AsyncGenerator
from functools import partial

import pytest
from textual.content import Content
from typing_extensions import override

from roamtui.conversation.notices import Severity
from roamtui.errors import ModelError
from roamtui.launch import run_until_exit
from roamtui.models.base import ModelEvent, ModelRequest, TextDelta
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import NoticeView
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.tui.driving import ask, go_to, make_app, make_context, press_until, wait_until


class BrokenModel(ScriptedModel):
    """Fails in a way that nobody expects."""

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        yield TextDelta("Forty")
        raise ZeroDivisionError("[/red] by zero")


def notices(app: RoamApp, severity: Severity) -> list[str]:
    return [notice.text for notice in app.screen.query(NoticeView) if notice.severity is severity]


async def test_a_failing_model_is_told_and_the_next_question_works() -> None:
    app = make_app(
        [
            ScriptedReply(error=ModelError("Nothing answers there; check --api-base or choose one with --model.")),
            ScriptedReply(text="Forty."),
        ]
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot, "How many?")
        ending = app.screen.query(ExchangeView).last().render()
        assert isinstance(ending, Content)
        assert "✗ Nothing answers there; check the server's URL (f2) or choose one with f2." in " ".join(
            ending.plain.split()
        )
        await ask(pilot, "How many now?")
        assert app.main_screen.conversation.state.exchanges[-1].answer == "Forty."


async def test_an_unexpected_failure_of_a_worker_is_a_message_and_never_an_exit() -> None:
    app = make_app()
    app.main_screen.app_context.agent.model = BrokenModel()
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot, "How many?")
        await wait_until(pilot, lambda: bool(notices(app, Severity.ERROR)))
        (text,) = notices(app, Severity.ERROR)
        assert "ZeroDivisionError: [/red] by zero" in text
        assert "Traceback" not in text
        app.main_screen.app_context.agent.model = ScriptedModel([ScriptedReply(text="Forty.")])
        await ask(pilot, "And now?")
        assert app.main_screen.conversation.state.exchanges[-1].answer == "Forty."


async def test_links_jump_inside_ask_before_a_web_page_and_say_where_they_cannot_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    app = make_app()
    monkeypatch.setattr(app, "open_url", lambda url, **_given: opened.append(url))
    async with app.run_test(size=(160, 40)) as pilot:
        screen = app.main_screen
        library = screen.conversation.state.library
        starter = next(i for i in library.walk() if library.node(i).title == "Starter")
        steam = next(i for i in library.walk() if library.node(i).title == "Steam")
        await go_to(pilot, starter)
        await press_until(pilot, lambda: screen.reader_pane.section_id == steam, "escape", "enter", "3", "o", "1")
        assert screen.conversation.state.reading_id == steam
        await press_until(pilot, lambda: screen.conversation.state.reading_id == starter, "backspace")
        await press_until(pilot, lambda: type(app.screen).__name__ == "ConfirmDialog", "o", "2")
        await pilot.press("n")
        await pilot.pause()
        assert opened == []
        await press_until(pilot, "No link 9 in view", "o", "9")
        await press_until(pilot, lambda: type(app.screen).__name__ == "ConfirmDialog", "o", "2")
        await pilot.press("y")
        await pilot.pause()
        assert opened == ["https://example.org/x"]


class DefectiveApp(RoamApp):
    """Fails where nobody catches it."""

    def on_ready(self) -> None:
        raise ZeroDivisionError


def test_a_defect_ends_the_app_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ROAMTUI_DEBUG", raising=False)
    context = make_context()
    app = DefectiveApp(context.options, context)
    monkeypatch.setattr(app, "run", partial(app.run, headless=True))
    assert run_until_exit(app) == 1
    told = capsys.readouterr().err
    assert told.startswith("roamtui: internal error.")
    assert "ZeroDivisionError" not in told
