"""From the first paint to the end: what is shown first, started, kept, and told when it fails."""

import errno
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen
from typing_extensions import override

from roamtui.agent.options import AgentOptions
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.citations import QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.messages import OFFLINE, Usage
from roamtui.conversation.notices import Severity
from roamtui.launch import EXAMPLE, AppServices, run_until_exit
from roamtui.models.base import Model, ModelRequest
from roamtui.models.recorded import RecordedModel
from roamtui.opening.loader import make_document_library
from roamtui.paths import get_conversations_path
from roamtui.sources.read import SourceText
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.chat_log import NoticeView
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.main import MainScreen
from tests.agent.asking import FakeSearcher
from tests.anomalies.faulty_disk import FaultyDisk
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import app_over
from tests.tui.driving import TEXT, RunningApp, make_app, make_session, running, screen_text


async def test_a_model_is_started_before_it_is_asked_and_closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Model] = []
    model = ScriptedModel()

    async def start_model() -> None:
        started.append(model)

    monkeypatch.setattr(model, "start", start_model)
    async with running(make_app(model=model)) as ui:
        await ui.wait_until(lambda: started == [model])
        assert not model.is_closed
    assert model.is_closed


async def test_the_document_is_embedded_while_nobody_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.tui.background_work._AHEAD_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("roamtui.tui.background_work._IDLE_SECONDS", 600.0)
    searcher = FakeSearcher()
    left = [True, True, False]
    monkeypatch.setattr(searcher, "embed_ahead", lambda _: left.pop(0))
    async with running(make_app(searcher=lambda _: searcher)) as ui:
        await ui.press("a")
        assert len(left) == 3
        monkeypatch.setattr("roamtui.tui.background_work._IDLE_SECONDS", 0.0)
        await ui.wait_until(lambda: not left)


@pytest.mark.parametrize(("key", "stopped"), [("y", StopReason.ANSWERED), ("n", StopReason.COST)])
async def test_a_question_past_the_spending_limit_waits_for_a_yes(
    key: str, stopped: StopReason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.tui.screens.dialogs.TYPING_SECONDS", 0.0)
    usage = Usage(input_tokens=10, output_tokens=10, cost_usd=0.5, source="provider")
    replies = [ScriptedReply(text="One.", usage=usage), ScriptedReply(text="Two.", usage=usage)]
    app = make_app(replies, agent_options=AgentOptions(cost_usd_max=0.4, sends_hits=False))
    async with running(app, (100, 30)) as ui:
        await ui.ask("One?")
        await ui.send("Two?", "Spent so far: $0.50. Your limit is $0.4.")
        await ui.press_until(lambda: not ui.main.is_asking, key)
        assert ui.exchanges[-1].stopped is stopped


@pytest.mark.parametrize("suffix", [".md", ".html"])
async def test_the_editor_gets_the_file_and_the_line_and_may_fail_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    file = tmp_path / f"bakery{suffix}"
    file.write_text(TEXT, "utf-8")
    called: list[list[str]] = []
    resumed: list[bool] = []

    @contextmanager
    def suspend() -> Iterator[None]:
        yield
        resumed.append(True)  # as in Textual, not after an error

    library = make_document_library(SourceText(text=TEXT, source=str(file), name="bakery"))
    async with running(make_app(library=library), (120, 35)) as ui:
        monkeypatch.setattr(ui.app, "suspend", suspend)
        await ui.press("escape")
        await ui.run("tree.unfold_all")
        monkeypatch.setenv("EDITOR", str(tmp_path / "vim"))
        await ui.press_until("Could not start", "G", "k", "enter", "enter", "e")
        assert resumed == [True]
        await ui.wait_until(lambda: "vim: No such file or directory. Set $EDITOR" in ui.words)
        monkeypatch.setenv("EDITOR", "vim")
        monkeypatch.setattr("subprocess.run", lambda command, **_given: called.append(command))
        await ui.press_until(lambda: len(resumed) == 2, "e")
    line = TEXT.splitlines().index("### Starter") + 1
    # the reader counts the lines of the text that a page was converted to
    assert called == [["vim", *([f"+{line}"] if suffix == ".md" else []), str(file)]]


async def test_the_first_paint_shows_all_panes_that_fit() -> None:
    seen: list[str] = []

    class PaintedApp(RoamApp):
        @override
        def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
            seen.append(screen_text(self))
            super()._display(screen, renderable)

    session = make_session()
    async with running(PaintedApp(session.options, session), (160, 35)) as ui:
        await ui.wait_until(lambda: any("8 sections" in text for text in seen))
    first = next(text for text in seen if "8 sections" in text)
    assert "▸ Ovens" in first
    assert " Reader" in first


async def test_the_recorded_answer_shows_a_false_quote_and_then_the_box_is_free() -> None:
    model = RecordedModel(seconds_per_word=0)
    app = app_over(AppServices(Bootstrap()).open((str(EXAMPLE),), None, model))
    async with running(app, (120, 45)) as ui:
        await ui.wait_until("Pay early to keep borrowing.")
        await ui.wait_until(lambda: not ui.main.is_asking)
        (exchange,) = ui.exchanges
        states = [citation.state for citation in exchange.citations]
        assert [state.value for state in states].count("not_found") == 1
        assert QuoteState.EXACT in states
        assert "This is a recorded demo. A person wrote" in ui.text
        store = ui.conversation.store
        assert store is not None
        assert store.list() == (), "the person has asked nothing"
        await ui.ask("When does the main counter open on Saturday?")
        assert "no model has read them" in ui.text
        assert [one.questions for one in store.list()] == [2]


async def test_escape_stops_the_recorded_answer() -> None:
    app = app_over(AppServices(Bootstrap()).open((str(EXAMPLE),), None, RecordedModel(seconds_per_word=60)))
    async with running(app, (220, 40)) as ui:
        await ui.wait_until(lambda: ui.main.is_asking)
        await ui.press_until(lambda: not ui.main.is_asking, "escape")
        assert ui.main.agent.model.name == OFFLINE


async def test_an_unexpected_failure_of_a_worker_is_a_message_and_never_an_exit() -> None:
    def fail(_request: ModelRequest) -> ScriptedReply:
        raise ZeroDivisionError("[/red] by zero")

    async with running(make_app([fail, "Forty."]), (100, 30)) as ui:
        await ui.ask("How many?")
        await ui.wait_until(lambda: ui.app.screen.query(NoticeView))
        notice = ui.app.screen.query_one(NoticeView)
        assert notice.severity is Severity.ERROR
        assert "ZeroDivisionError: [/red] by zero" in notice.text
        assert "Traceback" not in notice.text
        await ui.ask("And now?")
        assert ui.exchanges[-1].answer == "Forty."


async def test_a_web_page_is_opened_after_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    app = make_app()
    monkeypatch.setattr(app, "open_url", lambda url, **_given: opened.append(url))
    async with running(app, (160, 40)) as ui:
        await ui.read("Starter")
        await ui.reach("Steam", "o", "1")
        await ui.press_until(lambda: ui.state.reading_id == ui.find_id("Starter"), "backspace")
        for key, shown in (("n", []), ("y", ["https://example.org/x"])):
            await ui.press_until(ConfirmDialog, "o", "2")
            await ui.press_until(MainScreen, key)
            await ui.wait_until(lambda shown=shown: opened == shown)  # type: ignore[misc]


def test_a_defect_ends_the_app_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ROAMTUI_DEBUG", raising=False)
    app = make_app()
    app.call_later(lambda: 1 / 0)
    monkeypatch.setattr(app, "run", partial(app.run, headless=True))
    assert run_until_exit(app) == 1
    told = capsys.readouterr().err
    assert told.startswith("roamtui: there was an internal error.")
    assert "ZeroDivisionError" not in told


@pytest.mark.parametrize("case", ["asked", "demo", "other", "not saved"])
def test_the_last_line_names_the_conversation_on_the_screen_or_says_what_became_of_it(
    case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Other\n", "utf-8")
    model = RecordedModel(seconds_per_word=0) if case == "demo" else None
    session = AppServices(Bootstrap()).open((str(EXAMPLE),), None, model)
    app = app_over(session)
    conversation = session.conversation
    disk = FaultyDisk(monkeypatch, get_conversations_path())

    async def use(pilot: Pilot[Any]) -> None:
        ui = RunningApp(app, pilot)
        if case == "demo":
            await ui.wait_until(lambda: conversation.state.exchanges and not ui.main.is_asking)
        else:
            await ui.ask("When does the main counter open on Saturday?")
        if case == "other":
            ui.app.post_message(DocumentRequested(str(other)))
            await ui.wait_until(lambda: len(ui.app.documents) == 2 and ui.app.screen is ui.main)
        elif case == "not saved":
            disk.passes, disk.faults, disk.error = 0, math.inf, errno.ENOSPC
            await ui.ask("And on Sunday?")
        ui.app.exit()

    monkeypatch.setattr(app, "run", partial(app.run, headless=True, auto_pilot=use))
    assert run_until_exit(app) == 0
    named = f"To continue this conversation: roamtui --conversation {conversation.state.id}"
    told = {
        "asked": [named],
        "not saved": ["roamtui: Could not save the conversation: No space left on device"],
    }
    lines = capsys.readouterr().err.splitlines()
    assert all(words in line for words, line in zip(told.get(case, ()), lines, strict=True))


async def test_a_key_is_typed_although_the_terminal_had_no_focus_at_the_start() -> None:
    app = make_app()
    for kind in (events.AppBlur, events.AppFocus, events.AppBlur):
        app.post_message(kind())
    async with running(app, (100, 30)) as ui:
        assert app.focused is None
        await ui.press_until(lambda: ui.box.text == "hi", *"hi")
