"""Makes the README's pictures and page, of one question about the example handbook: `make docs`.

A person played the model, by hand, and quoted one figure wrong. `examples/answer.json` has their words, so
the pictures are the same on every machine.
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.agent.introductions import suggest_questions
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.export.html import render_html
from roamtui.launch import AppServices
from roamtui.models.base import ModelEvent, ModelRequest, TextDelta
from roamtui.models.recorded import RecordedModel
from roamtui.opening.loader import make_document_library
from roamtui.search.searcher import Searcher
from roamtui.sources.read import read_source
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentSession

_PROJECT = Path(__file__).resolve().parents[1]
_SOURCE = "examples/handbook.md"
_SCREEN_SIZE = (120, 34)
"""In columns and lines."""
_WORDS_BEFORE_LOOK = 12


class _WatchedModel(RecordedModel):
    """Lets somebody look while it answers."""

    def __init__(self) -> None:
        super().__init__(seconds_per_word=0)
        self.name = "any model"
        self.look: Callable[[], Awaitable[None]]

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        words = 0
        async for event in super().stream(request):
            yield event
            words += isinstance(event, TextDelta)
            if words == _WORDS_BEFORE_LOOK:
                await self.look()


async def make_pictures() -> tuple[dict[str, str], str]:
    """Return the app while it answers, with its answer and with a quote in its section, as SVG by name.

    The other value is the conversation as a page that replays it.
    """
    library = make_document_library(replace(read_source(str(_PROJECT / _SOURCE)), source=_SOURCE))
    model = _WatchedModel()
    agent = Agent(Conversation(library), model, Searcher(library))
    options = AppServices(Bootstrap()).options
    session = DocumentSession(agent=agent, options=options, examples=suggest_questions(library))
    app = RoamApp(options, session)
    # the same everywhere
    app.console = Console(color_system="truecolor", file=io.StringIO(), legacy_windows=False)
    app.animation_level = "none"
    app.main_screen.question_box.cursor_blink = False
    pictures: dict[str, str] = {}
    async with app.run_test(size=_SCREEN_SIZE) as pilot:

        async def take(name: str) -> None:
            await pilot.pause()
            pictures[name] = app.export_screenshot(title=f"roamtui {_SOURCE}")

        model.look = lambda: take("reading")
        await app.main_screen.agent.ask(model.question)
        await take("answer")
        await pilot.press("escape", "1", "enter")
        await take("quote")
    return pictures, render_html(agent.conversation.state, _SOURCE)


def main() -> int:
    """Write them."""
    pictures, page = asyncio.run(make_pictures())
    for name, picture in pictures.items():
        (_PROJECT / "docs" / f"{name}.svg").write_text(picture, "utf-8")
    (_PROJECT / "docs" / "replay.html").write_text(page, "utf-8")
    sys.stdout.write(f"Wrote docs/replay.html and the pictures {', '.join(pictures)}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
