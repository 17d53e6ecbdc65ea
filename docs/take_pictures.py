"""Makes the README's picture and page: the app and the example handbook, one question and its answer: `make docs`.

The model's replies are written here, so that they are the same on every machine; what it read is counted of the
requests that roamtui made.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from roamtui.agent.generated_texts import suggest_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions, RetrievalStart
from roamtui.agent.token_budget import estimate_request_tokens
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Usage
from roamtui.document.source_loader import build_library
from roamtui.export.html import render_html
from roamtui.models.base import ModelEvent, ModelRequest
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import read_file
from roamtui.tui.context import AppContext, TuiOptions
from roamtui.tui.recording import record
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_PROJECT = Path(__file__).resolve().parents[1]
_SOURCE = "examples/handbook.md"
_QUESTION = "How long is the grace period for a late bicycle?"
_CALL = ("expand_sections", {"section_ids": ["Late fees"]})
_ANSWER = (
    'A day: bicycles "have a grace period of 24 hours after the due time" [9fa2bd4a], and "counting starts with the '
    'first day that begins after it ends" [9fa2bd4a].\n\n'
    '- After it a late bicycle "costs £3 for each day the Bike Shed is open, up to £45" [9fa2bd4a].\n'
    '- Cargo bikes differ: they "have 2 hours" [9fa2bd4a].'
)


class PacedModel(ScriptedModel):
    """Opens a section and answers as fast as a model of a provider does, with the usage that a cache would report."""

    def __init__(self) -> None:
        self._sizes = [0]
        super().__init__([self._reply, self._reply], name="any model")

    def _reply(self, request: ModelRequest) -> ScriptedReply:
        self._sizes.append(estimate_request_tokens(request))
        usage = Usage(input_tokens=self._sizes[-1], cached_tokens=self._sizes[-2], source="provider")
        is_last = len(self._sizes) > 2
        return ScriptedReply(text=_ANSWER, usage=usage) if is_last else ScriptedReply(calls=(_CALL,), usage=usage)

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        await asyncio.sleep(1)
        async for event in super().stream(request):
            await asyncio.sleep(0.1)
            yield event


async def make_pictures() -> tuple[str, str]:
    """Return the app answering as an SVG that moves, and the conversation as a page that replays it."""
    library = build_library(replace(read_file(_PROJECT / _SOURCE), source=_SOURCE))
    options = AgentOptions(confident_start=RetrievalStart.REMOTE)
    agent = Agent(Session.start(library), PacedModel(), KeywordSearcher(library), options)
    context = AppContext(agent=agent, options=TuiOptions(examples=suggest_questions(library)))
    film, _ = await record(context, [_QUESTION], ".svg")
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
