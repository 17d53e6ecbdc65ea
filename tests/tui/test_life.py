"""From the first paint to the end: models are started and closed, editors opened, conversations kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.session import Session
from roamtui.conversation.store import Store
from roamtui.conversation.transcript import Stopped, Usage
from roamtui.document.build import build_library
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.sources.read import RawText
from roamtui.tui import conversing
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from roamtui.tui.screens.overlays import ConfirmScreen
from tests.tui.driving import TEXT, ask, expand, find_id, make_app, screen_text, wait_until

if TYPE_CHECKING:
    from roamtui.models.base import Model


async def test_a_model_is_started_before_it_is_asked_and_closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Model] = []

    async def start_model(model: Model) -> None:
        started.append(model)

    monkeypatch.setattr(conversing, "start_model", start_model)
    app = make_app()
    model = app.app_context.agent.model
    assert isinstance(model, ScriptedModel)
    async with app.run_test() as pilot:
        await wait_until(pilot, lambda: started == [model])
        assert not model.is_closed
    assert model.is_closed


@pytest.mark.parametrize(("key", "stopped"), [("y", Stopped.ANSWERED), ("n", Stopped.COST), ("escape", Stopped.COST)])
async def test_a_question_past_the_spending_limit_waits_for_a_yes(key: str, stopped: Stopped) -> None:
    library = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
    usage = Usage(input_tokens=10, output_tokens=10, cost_usd=0.5, source="provider")
    model = ScriptedModel([ScriptedReply(text="One.", usage=usage), ScriptedReply(text="Two.", usage=usage)])
    agent = Agent(Session.start(library), model, options=AgentOptions(cost_usd_max=0.4))
    app = RoamApp(AppContext(agent=agent))
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot, "One?")
        app.main.question_box.fill("Two?")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ConfirmScreen) or not app.main.is_asking)
        assert "spent $0.50 · limit $0.40" in screen_text(app)
        await pilot.press(key)
        await wait_until(pilot, lambda: not app.main.is_asking)
        assert app.main.session.state.transcript.exchanges[-1].stopped is stopped


async def test_a_conversation_goes_on_after_a_restart(tmp_path: Path) -> None:
    library = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
    store = Store(tmp_path / "conversations.sqlite3")
    session = Session.start(library, store=store)
    app = RoamApp(AppContext(agent=Agent(session, ScriptedModel())))
    async with app.run_test(size=(120, 35)) as pilot:
        stone = find_id(app, "Stone oven")
        model = app.app_context.agent.model
        assert isinstance(model, ScriptedModel)
        answer = f'It takes "forty loaves" [{stone}].'
        model.add_replies(expand(stone), ScriptedReply(text=answer))
        await ask(pilot, "How many?")
        before = screen_text(app)

    session = Session.resume(library, session.state.id, store=store)
    app = RoamApp(AppContext(agent=Agent(session, ScriptedModel())))
    async with app.run_test(size=(120, 35)) as pilot:
        await wait_until(pilot, lambda: "1/1 quote found in the text" in screen_text(app))
        after = screen_text(app)
    for words in (
        "❯ How many?",
        'It takes "forty loaves" [1].',
        "◆ Stone oven ❝",
        "✓ in the text",
        "◆ 1 open",
    ):
        assert words in before, words
        assert words in after, words


async def test_the_editor_gets_the_file_and_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bakery.md"
    file.write_text(TEXT, "utf-8")
    called: list[list[str]] = []
    monkeypatch.setenv("EDITOR", "vim")
    monkeypatch.setattr("subprocess.run", lambda command, **_given: called.append(command))
    library = build_library(RawText(text=TEXT, source=str(file), name="bakery"))
    app = RoamApp(AppContext(agent=Agent(Session.start(library), ScriptedModel())))
    async with app.run_test(size=(120, 35)) as pilot:
        monkeypatch.setattr(app, "suspend", FakeSuspend)
        await pilot.press("escape", "E", "G", "k", "3", "e")
        await wait_until(pilot, lambda: bool(called))
    line = TEXT.splitlines().index("### Starter") + 1
    assert called == [["vim", f"+{line}", str(file)]]


class FakeSuspend:
    """Stands for the terminal given back for a while."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_error: object) -> None: ...
