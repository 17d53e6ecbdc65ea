"""A conversation comes back from its log alone: the same lines in the same colours, the same request."""

import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.strip import Strip

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Usage
from roamtui.models.base import ModelRequest
from roamtui.opening.loader import make_document_library
from roamtui.search.searcher import Searcher
from roamtui.sources.read import SourceText
from roamtui.tui.app import RoamApp
from roamtui.tui.chat.exchange_view import ExchangeView
from tests.agent.asking import NO_HITS
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.fakes.services import app_over, session_of
from tests.tui.driving import TEXT, RunningApp, expand, running

_SIZE = (100, 120)
_PRICE = Usage(input_tokens=1_000, output_tokens=50, cached_tokens=200, cost_usd=0.0123, source="provider")
_LIBRARY = make_document_library(SourceText(text=TEXT, source="bakery.md", name="bakery"))
_IDS = {_LIBRARY.node(section_id).title: section_id for section_id in _LIBRARY.walk()}
_QUOTES = {
    "Stone oven": "The stone oven takes forty loaves.",
    "Steam": "Steam is let in for the first eight minutes.",
}


def _answer(title: str) -> ScriptedReply:
    """Return an answer that quotes a section, so that it is taken for one."""
    return ScriptedReply(text=f"So: “{_QUOTES[title]}” [{_IDS[title]}]", usage=_PRICE)


def _make_app(session: Conversation, replies: Iterable[Reply], options: AgentOptions) -> RoamApp:
    searcher = Searcher(session.state.library)
    return app_over(session_of(Agent(session, ScriptedModel(replies), searcher, options)))


@asynccontextmanager
async def _play(folder: Path, *replies: Reply, options: AgentOptions) -> AsyncIterator[RunningApp]:
    """Run an app; when this ends, assert that another one, which has but its log, shows and asks the same."""
    session = Conversation(_LIBRARY, store=ConversationStore(folder / "conversations"))
    async with running(_make_app(session, replies, options), _SIZE) as ui:
        yield ui
        seen = await _look(ui)
    shutil.copytree(folder / "conversations", folder / "copy")
    store = ConversationStore(folder / "copy")
    again = Conversation(_LIBRARY, store=store).resume(session.state.id)
    async with running(_make_app(again, (), options), _SIZE) as ui:
        await ui.wait_until(lambda: ui.chat.current is not None)
        assert await _look(ui) == seen
    assert await _ask_next(again) == await _ask_next(session)


async def _ask_next(session: Conversation) -> ModelRequest:
    """Return what is sent of one more question."""
    model = ScriptedModel([_answer("Steam")])
    await Agent(session, model, Searcher(session.state.library), NO_HITS).ask("What now?")
    return model.requests[0]


async def _draw(ui: RunningApp) -> list[Strip]:
    """Return the lines of the conversation, with all steps unfolded."""
    for view in ui.main.query(ExchangeView):
        if view._is_folded:
            view.fold_steps()
    await ui.pause()
    region = ui.chat.region
    lines = ui.app.screen._compositor.render_strips()
    return [line.crop(region.x, region.right) for line in lines[region.y : region.bottom]]


async def _look(ui: RunningApp) -> tuple[object, ...]:
    """Return all that the conversation shows, with its colours, what is open, and what it cost."""
    ui.app.screen.set_focus(None)
    lines = [[(part.text, str(part.style)) for part in line.simplify()] for line in await _draw(ui)]
    return lines, [*ui.state.open_sections], ui.state.unfolded, sum((e.usage for e in ui.exchanges), Usage())


async def _check_words(ui: RunningApp, *expected: str) -> None:
    words = " ".join(" ".join(line.text.split()) for line in await _draw(ui))
    assert [text for text in expected if text not in words] == []


def _search(query: str) -> ScriptedReply:
    return ScriptedReply(text=f"Let me search for {query}.", calls=(("search_sections", {"query": query}),))


async def test_what_the_agent_did_and_what_its_quotes_are_worth(tmp_path: Path) -> None:
    stone, steam = _IDS["Stone oven"], _IDS["Steam"]
    quotes = (
        f"“The stone oven takes forty loaves.” [{stone}] “It must rest for *one* hour” [{stone}] "
        f"“It takes fifty loaves a day.” [{stone}] “Steam is let in for the first eight minutes.” [{stone}] "
        f"See [{steam}]."
    )
    replies = (
        expand(stone, _IDS["Dough"], _IDS["Starter"], "0badc0de"),
        expand(stone, steam),
        ScriptedReply(text=quotes, reason="length"),
        _search("oven loaves"),
        _search("zeppelin"),
        _answer("Stone oven"),
        "I know this: forty.",
        ScriptedReply(text="Hm.", calls=(("no_tool", "{"),)),
        expand(_IDS["Deck oven"]),
        ScriptedReply(text="Out of steps.", calls=(("expand_sections", {"section_ids": [steam]}),)),
    )
    async with _play(tmp_path, *replies, options=AgentOptions(steps_max=4, sends_hits=False)) as ui:
        for question in ("How many loaves?", "How many loaves does the oven take?", "Why?"):
            await ui.ask(question)
        await _check_words(
            ui,
            *("Opened 2 sections", "Already open", "Unknown: 1 section", "Already open"),
            *("✓", "these words are in", "not in the text that the model read", "cut off here"),
            *("1 ✓ Stone oven", "no results", "Asked the model for quotes", "step limit"),
        )
