"""What is over is let go of: earlier conversations with their widgets, and what made a question fail."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING
from weakref import ref

import pytest
from textual.widget import Widget
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Exchange
from roamtui.document.build import build_library
from roamtui.models.base import TextDelta
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.sources.read import RawText
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.context import AppContext
from tests.tui.driving import TEXT, ask, expand, find_id, make_app, wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from textual.pilot import Pilot

    from roamtui.models.base import ModelEvent, Request


class Burden:
    """What a model works with."""


class DefectiveModel(ScriptedModel):
    """Fails as no model should, with something at hand."""

    def __init__(self) -> None:
        super().__init__()
        self.burden: ref[Burden] | None = None

    @override
    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        burden = Burden()
        self.burden = ref(burden)
        yield TextDelta("It is")
        raise ZeroDivisionError


class StuckModel(DefectiveModel):
    """Waits for ever, with something at hand."""

    @override
    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        burden = Burden()
        self.burden = ref(burden)
        yield TextDelta("It is")
        await asyncio.Event().wait()


async def begin_anew(pilot: Pilot[None], app: RoamApp) -> None:
    first_id = app.main.session.state.id
    await pilot.press("ctrl+n")
    await wait_until(pilot, lambda: app.main.session.state.id != first_id)
    await wait_until(pilot, lambda: all(worker.is_finished for worker in app.workers))
    await pilot.pause()


async def test_an_earlier_conversation_leaves_neither_words_nor_widgets() -> None:
    app = make_app()
    model = app.app_context.agent.model
    assert isinstance(model, ScriptedModel)
    async with app.run_test(size=(100, 30)) as pilot:
        model.add_replies(expand(find_id(app, "Steam")), ScriptedReply(text='It says "eight minutes".'))
        await ask(pilot, "How long is steam let in?")
        views = [found for view in app.main.query(ExchangeView) for found in view.walk_children(Widget, with_self=True)]
        left = [ref(view) for view in views]
        assert len(left) > 3
        del views
        await begin_anew(pilot, app)
        model.requests.clear()
        gc.collect()
        assert [held for held in (weak() for weak in left) if held is not None] == []
        exchanges = [held for held in gc.get_objects() if type(held) is Exchange]
        assert [held for held in exchanges if held.question == "How long is steam let in?"] == []


@pytest.mark.parametrize("model", [DefectiveModel(), StuckModel()], ids=["failed", "cancelled"])
async def test_what_a_question_that_did_not_end_well_worked_with_is_let_go_of(model: DefectiveModel) -> None:
    library = build_library(RawText(text=TEXT, source="bakery.md", name="bakery"))
    app = RoamApp(AppContext(agent=Agent(Session.start(library), model)))
    async with app.run_test(size=(100, 30)) as pilot:
        app.main.question_box.fill("How many?")
        await pilot.press("enter")
        await wait_until(pilot, lambda: model.burden is not None)
        if isinstance(model, StuckModel):
            app.main.action_copy_or_cancel()
        await wait_until(pilot, lambda: not app.main.is_asking)
        await pilot.pause()
        gc.collect()
        assert app.main.session.state.transcript.exchanges
        assert model.burden is not None
        assert model.burden() is None
