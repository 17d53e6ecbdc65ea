"""Makes the README's picture and page: the app and the example handbook, one question and its answer: `make docs`.

A person played the model, by hand, and quoted one figure wrong. `examples/answer.json` has their words, so the picture
is the same on every machine.
"""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from roamtui.agent.generated_texts import suggest_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.document.loader import build_library
from roamtui.export.html import render_html
from roamtui.models.recorded import RecordedModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import read_file
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions

_PROJECT = Path(__file__).resolve().parents[1]
_SOURCE = "examples/handbook.md"
_SCREEN_SIZE = (120, 34)
"""In columns and lines."""


async def make_pictures() -> tuple[str, str]:
    """Return the app with its answer as an SVG, and the conversation as a page that replays it."""
    library = build_library(replace(read_file(_PROJECT / _SOURCE), source=_SOURCE))
    model = RecordedModel(seconds_per_word=0)
    model.name = "any model"
    agent = Agent(Conversation(library), model, KeywordSearcher(library), AgentOptions(sends_hits=True))
    context = AppContext(agent=agent, options=TuiOptions(examples=suggest_questions(library)))
    app = RoamApp(context)
    app.console = Console(color_system="truecolor", file=io.StringIO(), legacy_windows=False)  # the same everywhere
    app.animation_level = "none"
    app.main_screen.question_box.cursor_blink = False
    async with app.run_test(size=_SCREEN_SIZE) as pilot:
        await app.main_screen.agent.ask(model.question)
        await pilot.pause()
        picture = app.export_screenshot(title=f"roamtui {_SOURCE}")
    return picture, render_html(agent.conversation.state, _SOURCE, library)


def main() -> int:
    """Write them."""
    picture, page = asyncio.run(make_pictures())
    (_PROJECT / "docs" / "screenshot.svg").write_text(picture, "utf-8")
    (_PROJECT / "docs" / "replay.html").write_text(page, "utf-8")
    sys.stdout.write("Wrote docs/screenshot.svg and docs/replay.html.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
