"""Makes the README's picture and page: the app and the example handbook, one question and its answer: `make docs`.

A person played the model, by hand, and quoted one figure wrong. `docs/answer.jsonl` is the log of that conversation, so
the picture is the same on every machine.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from roamtui.agent.generated_texts import suggest_questions
from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.document.source_loader import build_library
from roamtui.export.html import render_html
from roamtui.models.base import ModelEvent, ModelRequest, TextDelta
from roamtui.models.recorded import RecordedModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import read_file
from roamtui.tui.context import AppContext, TuiOptions
from roamtui.tui.recording import record

_PROJECT = Path(__file__).resolve().parents[1]
_SOURCE = "examples/handbook.md"
_WORDS = re.compile(r"(?:\S+\s*){1,4}")


class PacedModel(RecordedModel):
    """Replays the recorded replies some words at a time, as fast as a model of a provider writes."""

    name = "any model"

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        await asyncio.sleep(1)
        async for event in super().stream(request):
            for piece in map(TextDelta, _WORDS.findall(event.text)) if isinstance(event, TextDelta) else (event,):
                await asyncio.sleep(0.1)
                yield piece


async def make_pictures() -> tuple[str, str]:
    """Return the app answering as an SVG that moves, and the conversation as a page that replays it."""
    library = build_library(replace(read_file(_PROJECT / _SOURCE), source=_SOURCE))
    model = PacedModel(_PROJECT / "docs" / "answer.jsonl")
    agent = Agent(Session.start(library), model, KeywordSearcher(library))
    context = AppContext(agent=agent, options=TuiOptions(examples=suggest_questions(library)))
    film, _ = await record(context, [*model.questions], ".svg")
    return film, render_html(agent.session.state, _SOURCE, library)


def main() -> int:
    """Write them."""
    film, page = asyncio.run(make_pictures())
    (_PROJECT / "docs" / "screenshot.svg").write_text(film, "utf-8")
    (_PROJECT / "docs" / "replay.html").write_text(page, "utf-8")
    sys.stdout.write("Wrote docs/screenshot.svg and docs/replay.html.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
