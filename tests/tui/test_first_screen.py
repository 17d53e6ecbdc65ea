"""The first screen stands before the agent is made, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from rich.console import RenderableType
from textual.screen import Screen
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from tests.fakes.scripted_model import ScriptedReply
from tests.tui.driving import EXAMPLES, make_context, running, screen_text, wait_until


def make_late_app(context: AppContext, note: Callable[[], None] = lambda: None) -> RoamApp:
    """Return an app that makes the agent of `context` once its first screen stands, after `note` was called."""

    def make_agent() -> Agent:
        note()
        return context.agent

    return RoamApp(replace(context, make_agent=make_agent))


async def test_outline_and_welcome_stand_before_the_agent_is_made() -> None:
    seen: list[str] = []
    app = make_late_app(make_context(), lambda: seen.append(screen_text(app)))
    async with app.run_test(size=(120, 35)) as pilot:
        await wait_until(pilot, lambda: bool(seen))
    assert len(seen) == 1
    assert "▸ Ovens" in seen[0]
    assert "3 chapters, ~13" in seen[0]
    assert EXAMPLES[0] in seen[0]


async def test_the_first_paint_shows_all_panes_that_fit() -> None:
    seen: list[str] = []

    class PaintedApp(RoamApp):
        @override
        def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
            seen.append(screen_text(self))
            super()._display(screen, renderable)

    async with running(PaintedApp(make_context()), (160, 35)) as (_, pilot):
        await wait_until(pilot, lambda: any("3 chapters" in text for text in seen))
    first = next(text for text in seen if "3 chapters" in text)
    assert "▸ Ovens" in first
    assert "3 Reader" in first


async def test_a_question_that_is_typed_at_once_is_answered() -> None:
    app = make_late_app(make_context([ScriptedReply(text="Forty.")]))
    async with app.run_test(size=(120, 35)) as pilot:
        app.main_screen.question_box.fill("How many?")
        app.main_screen.question_box.action_send()
        await wait_until(pilot, "Forty.")


async def test_an_app_can_be_left_before_the_agent_is_made() -> None:
    app = make_late_app(make_context())
    app.call_later(app.exit)
    await app.run_async(headless=True)
    assert app.return_code == 0
